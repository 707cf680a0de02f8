package world_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// told says what it has got.
type told struct{ worldtest.Idle }

func (told) Receive(c *worldtest.Ctx, m ariadne.Message) { c.Log("got %s of %d", m.Data, m.From) }

// TestFaultsWait: a fault hits messages between the ends that are named, once either of them has
// written the line that must come before.
func TestFaultsWait(t *testing.T) {
	for _, c := range []struct {
		where world.Ends
		after string
		want  []int // faults before each step: three starts, then messages of n2 and n3 in turn
	}{
		{world.Ends{}, "", []int{0, 0, 3, 6, 5, 4, 3, 2, 1}},
		{world.Ends{Nodes: []ariadne.NodeID{2}}, "", []int{0, 0, 0, 3, 3, 2, 2, 1, 1}},
		{world.Ends{Nodes: []ariadne.NodeID{0}, Peers: []ariadne.NodeID{1}}, "", []int{0, 0, 3, 3, 2, 2, 1, 1, 0}},
		{world.Ends{Nodes: []ariadne.NodeID{1}, Peers: []ariadne.NodeID{2}}, "", []int{0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{world.Ends{}, "of 2", []int{0, 0, 0, 0, 0, 4, 3, 2, 1}},
		{world.Ends{}, "never", []int{0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		r := world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("lose", 1)}
		r.Where[world.Lose] = c.where
		if c.after != "" {
			r.After[world.Lose] = regexp.MustCompile(c.after)
		}
		w := worldtest.Of(r, told{}, sender{}, sender{})
		for i, want := range c.want {
			n := 0
			for _, a := range w.Enabled() {
				if a.Kind == world.Lose {
					n++
				}
			}
			if n != want {
				t.Errorf("%v, %q: before step %d there are %d faults, want %d", c.where, c.after, i+1, n, want)
			}
			if _, err := w.Apply(w.Enabled()[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
}
