package world_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestSeveralPartitions: each ends on its own. Data under way waits until nothing blocks it,
// ends hear nothing until both directions are open, and count from when the first partition has
// kept them apart that still stands.
func TestSeveralPartitions(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		second string // at 12 ms; the first, of both directions, ends at 20 ms
		giveUp time.Duration
		idle   time.Duration
		want   []string
	}{
		{"the same way, longer", "n1|n2+n3 for 29ms", 0, 0,
			[]string{"heal n1|n2 for 19ms", "heal n1|n2+n3 for 29ms", "deliver n1:1001>n2:1000 #1"}},
		{"the same way, for ever", "n1|n2+n3 for ever", 0, 0, []string{"heal n1|n2 for 19ms"}},
		{"one direction", "n1>n2 for 29ms", 0, 0,
			[]string{"heal n1|n2 for 19ms", "heal n1>n2 for 29ms", "deliver n1:1001>n2:1000 #1"}},
		{"the other direction", "n2>n1 for 29ms", 0, 0,
			[]string{"heal n1|n2 for 19ms", "deliver n1:1001>n2:1000 #1", "heal n2>n1 for 29ms"}},
		{"another link", "n3|n1 for 29ms", 0, 0,
			[]string{"heal n1|n2 for 19ms", "deliver n1:1001>n2:1000 #1", "heal n3|n1 for 29ms"}},
		{"it gives up in the second", "n1|n2+n3 for 29ms", 30 * ms, 0,
			[]string{"heal n1|n2 for 19ms", "expire n1:1001>n2:1000 #1", "heal n1|n2+n3 for 29ms"}},
		{"it gives up for want of answers", "n2>n1 for 29ms", 30 * ms, 0,
			[]string{"heal n1|n2 for 19ms", "deliver n1:1001>n2:1000 #1", "expire n1:1001>n2:1000 #1",
				"heal n2>n1 for 29ms"}},
		{"answers come", "n3|n1 for 29ms", 30 * ms, 0,
			[]string{"heal n1|n2 for 19ms", "deliver n1:1001>n2:1000 #1", "heal n3|n1 for 29ms"}},
		{"keep-alive counts from the first", "n1|n2+n3 for 29ms", 0, 35 * ms,
			[]string{"heal n1|n2 for 19ms", "expire n1:1001>n2:1000 #0", "heal n1|n2+n3 for 29ms",
				"deliver n1:1001>n2:1000 #1"}},
		{"one direction is whole", "n2>n1 for 29ms", 0, 35 * ms,
			[]string{"heal n1|n2 for 19ms", "deliver n1:1001>n2:1000 #1", "heal n2>n1 for 29ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, two, three := []ariadne.NodeID{0}, []ariadne.NodeID{1}, []ariadne.NodeID{2}
			r := world.Rules{Latency: ms, GiveUp: c.giveUp, Grid: 1e6, Faults: worldtest.Faults("cut", 2)}
			r.Partitions = []*world.Partition{world.NewPartition("n1|n2", one, two, false, 19*ms)}
			for _, length := range []time.Duration{29 * ms, ariadne.Ever} {
				r.Partitions = append(r.Partitions,
					world.NewPartition("n1|n2+n3", one, []ariadne.NodeID{1, 2}, false, length),
					world.NewPartition("n1>n2", one, two, true, length),
					world.NewPartition("n2>n1", two, one, true, length),
					world.NewPartition("n3|n1", three, one, false, length))
			}
			w := worldtest.Of(r, scripts(func(x *worldtest.Ctx) {
				x.Limit(1, 0, c.idle)
				x.Send(1, "m")
			}, nothing, timer(12*ms))...)
			do(t, w, "start n1", "start n2", "start n3", "cut n1|n2 for 19ms", "timer n3", "cut "+c.second)
			expect(t, natural(t, w), c.want...)
			if got := len(w.State().Cuts); got > 0 != (c.second == "n1|n2+n3 for ever") {
				t.Errorf("%d partitions stand at the end", got)
			}
		})
	}
}
