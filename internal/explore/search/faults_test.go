package search_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestFaultsAreCounted: what is counted of faults is what the paths have of them.
func TestFaultsAreCounted(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("crash", 1),
		NodeFaults: []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1}, 0)}, Grid: 2e6,
		Partitions: []*world.Partition{world.NewPartition("a|b", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false, 0)}}
	rules.Faults[world.Cut], rules.Faults[world.Stop] = 2, 1
	s := small{rules: rules, programs: ring(2)}
	x := s.exploration(t, &strategy.DepthFirst{All: true})
	var want [world.MaxKinds]search.Faults
	x.Ended = func(p *space.Path, end string, _ *ariadne.Violation) bool {
		in := map[ariadne.ActionKind]bool{}
		for i := 1; i <= p.Steps(); i++ {
			e := p.Event(i)
			in[e.Kind] = true
			for _, c := range e.Varied.Variation().Choices() {
				if k, ok := world.KindNamed(c.Kind()); ok {
					in[k] = true
				}
			}
		}
		for k := range in {
			if world.KindOf(k).Fault != "" {
				want[k].Paths++
			}
		}
		return true
	}
	if how, err := x.Run(); err != nil || how != search.SearchExhausted {
		t.Fatal(how, err)
	}
	for _, k := range world.Kinds() {
		got, name := x.Coverage.Faults[k], world.KindOf(k).Name
		if got.Paths != want[k].Paths {
			t.Errorf("%s in %d paths, want %d", name, got.Paths, want[k].Paths)
		}
		tried := k == world.Crash || k == world.Cut
		if tried != (got.Taken > 0) || tried != (got.Offered > 0) || tried && want[k].Paths == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
