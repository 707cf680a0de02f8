package search_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
	"ariadne/internal/world"
	"ariadne/internal/world/worldtest"
)

// disk writes to its disk, and has the next node write. A loss of power may leave any number of the
// writes.
type disk struct {
	worldtest.Idle
	id, nodes, written int
}

func (d *disk) Start(c *worldtest.Ctx) {
	d.written++
	c.Send(ariadne.NodeID((d.id+1)%d.nodes), "write")
}

func (d *disk) Receive(*worldtest.Ctx, ariadne.Message) { d.written++ }
func (d *disk) Fall()                                   {}
func (d *disk) Images() int                             { return d.written + 1 }
func (d *disk) Left(image int)                          { d.written = image }

// leftOf are the disks that are left, in all executions, by losses of the power of all of a group with nothing
// in between.
func leftOf(t *testing.T, e strategy.Explorer, nodes, budget int, group []ariadne.NodeID, faults []world.NodeFaults) map[string]bool {
	s := small{rules: world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("power", budget), NodeFaults: faults, Grid: 2e6}, programs: func() (all []worldtest.Program) {
		for i := range nodes {
			all = append(all, &disk{id: i, nodes: nodes})
		}
		return all
	}, between: true}
	x := s.exploration(t, e)
	all := map[string]bool{}
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		var disks []string
		for i := 1; i <= p.Steps(); i++ {
			if step := p.Step(i); step.Output.Down == ariadne.PowerLost {
				disks = append(disks, fmt.Sprint(step.Action.Node, step.Output.Content))
			} else {
				disks = nil
			}
			if len(disks) == len(group) {
				all[fmt.Sprint(slices.Sorted(slices.Values(disks)))] = true
			}
		}
		return true
	}
	if how, err := x.Run(); err != nil || how != search.SearchExhausted {
		t.Fatal(how, err)
	}
	return all
}

// TestPowerOfSeveral: machines that lose power together are left with what they are left with when each loses it
// alone and nothing happens in between: each image of one with each of the others.
func TestPowerOfSeveral(t *testing.T) {
	names := []string{"n1", "n2", "n3"}
	for _, c := range []struct {
		nodes int
		group []ariadne.NodeID
	}{{2, []ariadne.NodeID{0, 1}}, {3, []ariadne.NodeID{0, 2}}, {3, []ariadne.NodeID{0, 1, 2}}} {
		want := leftOf(t, &strategy.DepthFirst{}, c.nodes, len(c.group), c.group, []world.NodeFaults{world.Outages(ariadne.PowerLost, c.group, ariadne.Ever)})
		if len(want) < 1<<len(c.group) {
			t.Errorf("%v: %d combinations", c.group, len(want))
		}
		for name, e := range map[string]strategy.Explorer{"states": &strategy.DepthFirst{}, "dpor": &strategy.DPOR{}, "sleep sets": &strategy.SleepSets{}, "deviations": &strategy.FewestDeviations{}} {
			if got := leftOf(t, e, c.nodes, 1, c.group, world.Losses(c.group, names, ariadne.Ever)); !maps.Equal(got, want) {
				t.Errorf("%v by %s: %d combinations, want %d", c.group, name, len(got), len(want))
			}
		}
	}
}
