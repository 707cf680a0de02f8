package search_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestSeldomLengths: strategies that draw have faults last for lengths that no event has, between
// two steps and within one, and come back to such a path. Those that try all events never do.
func TestSeldomLengths(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("crash", 1),
		NodeFaults: []world.NodeFaults{
			world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1}, time.Second, ariadne.Ever),
			world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1}, time.Second)}}
	rules.Faults[world.Stop] = 1
	rules.Seldom[world.Crash] = []time.Duration{0, 10 * time.Millisecond}
	rules.Seldom[world.Stop] = []time.Duration{100 * time.Millisecond}
	of := func(e *world.Event) (length time.Duration, ok bool) {
		f := ariadne.OutageOf(e.Varied.Fault())
		for _, c := range e.Varied.Variation().Choices() {
			if g := ariadne.OutageIn(c.Alternative); g.Down != ariadne.Up {
				f = g
			}
		}
		return f.For, f.Down != ariadne.Up
	}
	for name, c := range map[string]struct {
		e     strategy.Explorer
		draws bool
	}{
		"slow":       {&strategy.Slow{Seed: 1, Features: &strategy.Features{}}, true},
		"priorities": {&strategy.Priorities{Seed: 1}, true},
		"pos":        {&strategy.Sampling{Seed: 1}, true},
		"novelty": {&strategy.Novelty{Seed: 1, New: func(p *space.Path) bool {
			return p.Len()%4 == 0 && p.Last().State.AnyAway()
		}}, true},
		"rounds":     {&strategy.Rounds{Seed: 1}, true},
		"deviations": {&strategy.FewestDeviations{}, false},
		"DPOR":       {&strategy.DPOR{}, false},
	} {
		s := small{rules: rules, programs: func() []worldtest.Program {
			return []worldtest.Program{&counting{peer: 1, leads: 4, until: 6}, &counting{peer: 0, until: 6}}
		}}
		x := s.exploration(t, c.e)
		n, all := 0, map[string]int{}
		between, within := 0, 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			for i := 1; i <= p.Len(); i++ {
				e := p.Event(i)
				length, ok := of(e)
				if !ok {
					continue
				}
				all[length.String()]++
				if length < time.Second && length != ariadne.Ever {
					if e.Varied.Variation() == "" {
						between++
					} else {
						within++
					}
					grid := ariadne.Fine(length, 0)
					if s := p.Step(i); s.Output.Back%grid != 0 || s.Output.Back > s.Output.Clock.Add(length)+grid &&
						e.Kind == world.Crash {
						t.Errorf("%s: %s at %v ends at %v", name, s.Name, s.At, s.Output.Back)
					}
				}
			}
			n++
			return n < 400
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(name, err)
		}
		t.Logf("%s: %v, %d between steps, %d within", name, all, between, within)
		if c.draws != (all["0s"] > 0 && all["10ms"] > 0 && all["100ms"] > 0 && between > 0 && within > 0) || !c.draws &&
			between+within > 0 {
			t.Errorf("%s: %v, %d between steps and %d within", name, all, between, within)
		}
		if all["1s"] == 0 {
			t.Errorf("%s: %v", name, all)
		}
	}
}
