package search_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
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

// leftOf are what is left of the nodes, in all executions, by faults that take all of a group down
// with nothing in between: of a loss of power the disks, else what each node had done.
func leftOf(t *testing.T, e strategy.Explorer, down ariadne.Down, nodes, budget int, group []ariadne.NodeID,
	faults []world.NodeFaults) map[string]bool {
	all, how := leftAfter(t, e, 0, down, nodes, budget, group, faults)
	if how != search.SearchExhausted {
		t.Fatal(how)
	}
	return all
}

// leftAfter is leftOf after so many paths; 0: all there are.
func leftAfter(t *testing.T, e strategy.Explorer, paths int, down ariadne.Down, nodes, budget int,
	group []ariadne.NodeID, faults []world.NodeFaults) (all map[string]bool, how string) {
	s := small{rules: world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults(down.String(), budget),
		NodeFaults: faults, Grid: 2e6}, programs: func() (all []worldtest.Program) {
		for i := range nodes {
			all = append(all, &disk{id: i, nodes: nodes})
		}
		return all
	}, between: true}
	x := s.exploration(t, e)
	all = map[string]bool{}
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		var left []string
		did := make([]string, nodes)
		for i := 1; i <= p.Steps(); i++ {
			step := p.Step(i)
			id := step.Action.Node
			switch {
			case step.Output.Down != down:
				left = nil
			case down == ariadne.PowerLost:
				left = append(left, fmt.Sprint(id, step.Output.Content))
			default:
				left = append(left, fmt.Sprint(id, did[id]))
			}
			did[id] += step.Name + "; "
			if len(left) == len(group) {
				all[fmt.Sprint(slices.Sorted(slices.Values(left)))] = true
			}
		}
		paths--
		return paths != 0
	}
	how, err := x.Run()
	if err != nil {
		t.Fatal(err)
	}
	return all, how
}

// TestRandomLossesLeaveAll: what a loss of power between two steps may leave, random paths have it
// left: all that a search of all states comes to.
func TestRandomLossesLeaveAll(t *testing.T) {
	for id := range ariadne.NodeID(2) {
		group := []ariadne.NodeID{id}
		faults := []world.NodeFaults{world.Outages(ariadne.PowerLost, group, ariadne.Ever)}
		want := leftOf(t, &strategy.DepthFirst{}, ariadne.PowerLost, 2, 1, group, faults)
		if len(want) < 3 {
			t.Errorf("%d disks of node %d", len(want), id)
		}
		for name, e := range map[string]strategy.Explorer{
			"walks":                         &strategy.Walks{},
			"walks that know of each other": &strategy.Walks{Features: &strategy.Features{}},
			"slow":                          &strategy.Slow{Features: &strategy.Features{}},
			"priorities":                    &strategy.Priorities{Features: &strategy.Features{}},
			"pos":                           &strategy.Sampling{Features: &strategy.Features{}},
			"rounds":                        &strategy.Rounds{Features: &strategy.Features{}},
		} {
			if got, _ := leftAfter(t, e, 5000, ariadne.PowerLost, 2, 1, group, faults); !maps.Equal(got, want) {
				t.Errorf("%s: %d disks of node %d, want %d", name, len(got), id, len(want))
			}
		}
	}
}

// TestOutagesOfSeveral: nodes that go down together are left with what they are left with when each
// goes down alone and nothing happens in between: after a loss of power each image of one with each
// of the others.
func TestOutagesOfSeveral(t *testing.T) {
	names := []string{"n1", "n2", "n3"}
	for _, c := range []struct {
		nodes int
		group []ariadne.NodeID
	}{{2, []ariadne.NodeID{0, 1}}, {3, []ariadne.NodeID{0, 2}}, {3, []ariadne.NodeID{0, 1, 2}}} {
		for _, down := range []ariadne.Down{ariadne.Crashed, ariadne.Stopped, ariadne.PowerLost} {
			want := leftOf(t, &strategy.DepthFirst{}, down, c.nodes, len(c.group), c.group,
				[]world.NodeFaults{world.Outages(down, c.group, ariadne.Ever)})
			if len(want) < 1<<len(c.group) {
				t.Errorf("%v of %v: %d combinations", down, c.group, len(want))
			}
			for name, e := range map[string]strategy.Explorer{"states": &strategy.DepthFirst{},
				"dpor": &strategy.DPOR{}, "sleep sets": &strategy.SleepSets{},
				"deviations": &strategy.FewestDeviations{}} {
				if got := leftOf(t, e, down, c.nodes, 1, c.group,
					world.OutagesTogether(down, c.group, names, ariadne.Ever)); !maps.Equal(got, want) {
					t.Errorf("%v of %v by %s: %d combinations, want %d", down, c.group, name, len(got), len(want))
				}
			}
		}
	}
}
