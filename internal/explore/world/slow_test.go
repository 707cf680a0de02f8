package world_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestSlow: what is under way and what is sent while a part of the network is slow arrives later,
// in order on a connection, and no later than its sender waits for an acknowledgement.
func TestSlow(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		// named after how slow and for how long, in order; the first before anything arrives
		parts []string
		limit time.Duration
		later time.Duration // from when on it sends something else
		want  []ariadne.Time
	}{
		{"as ever", nil, 0, 5 * ms, []ariadne.Time{1e6, 6e6}},
		{"both are late", []string{"n1|n2 by 8ms for 9ms"}, 0, 5 * ms, []ariadne.Time{9e6, 14e6}},
		{"the other waits in its order", []string{"n1|n2 by 8ms for 3ms"}, 0, 5 * ms, []ariadne.Time{9e6, 9e6}},
		{"it is over", []string{"n1|n2 by 8ms for 3ms"}, 0, 20 * ms, []ariadne.Time{9e6, 21e6}},
		{"for ever", []string{"n1|n2 by 8ms for ever"}, 0, 20 * ms, []ariadne.Time{9e6, 29e6}},
		{"twice", []string{"n1|n2 by 8ms for 9ms", "n1|n2 by 8ms for 3ms"}, 0, 5 * ms, []ariadne.Time{17e6, 17e6}},
		{"by a minute at most", []string{"n1|n2 by 59s for 9ms", "n1|n2 by 8s for ever"}, 0, 120 * time.Second,
			[]ariadne.Time{60e9, 128.001e9}},
		{"it would give up", []string{"n1|n2 by 8ms for 9ms"}, 6 * ms, 5 * ms, []ariadne.Time{5e6, 10e6}},
		{"the other way", []string{"n2>n1 by 8ms for 9ms"}, 0, 5 * ms, []ariadne.Time{1e6, 6e6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world.Rules{Latency: ms, Grid: 1e6, Faults: worldtest.Faults("slow", 2)}
			one, other := []ariadne.NodeID{0}, []ariadne.NodeID{1}
			for _, length := range []time.Duration{3 * ms, 9 * ms, ariadne.Ever} {
				for _, by := range []time.Duration{8 * ms, 8 * time.Second, 59 * time.Second} {
					r.Partitions = append(r.Partitions,
						world.NewPartition("n1|n2", one, other, false, length).WithLateness(by),
						world.NewPartition("n2>n1", other, one, true, length).WithLateness(by))
				}
			}
			w := worldtest.Of(r, &sendsLater{after: c.later, limit: c.limit}, worldtest.Pong{})
			do(t, w, "start n1", "start n2")
			for _, p := range c.parts {
				do(t, w, "slow "+p)
			}
			var got []ariadne.Time
			for len(got) < len(c.want) {
				step, err := w.Apply(w.Enabled()[0])
				if err != nil {
					t.Fatal(err)
				}
				if step.Action.Kind == ariadne.ActDeliver && step.Action.Node == 1 {
					got = append(got, step.At-step.At%1e4) // calls take a little
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the messages arrive at %v, want %v", got, c.want)
			}
			if slow := len(w.State().Slow); c.name == "it is over" && slow > 0 {
				t.Errorf("%d parts are slow at the end", slow)
			}
		})
	}
}

// sendsLater sends node 1 a message at once and another one later.
type sendsLater struct {
	worldtest.Idle
	after, limit time.Duration
}

func (x *sendsLater) Start(c *worldtest.Ctx) {
	c.Limit(1, x.limit, 0)
	c.Send(1, "a")
	c.SetTimer(x.after)
}

func (x *sendsLater) Fire(c *worldtest.Ctx) { c.Send(1, "b") }
