package search_test

import (
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

	"pgregory.net/rapid"
)

// sampling are the explorers that do not take all paths.
func sampling(seed uint64) map[string]strategy.Explorer {
	var seen space.Set
	return map[string]strategy.Explorer{
		"walks":          &strategy.Walks{Seed: seed},
		"weighted walks": &strategy.Walks{Seed: seed, Weights: strategy.Weights{ariadne.ActFire: 3}},
		"rounds":         &strategy.Rounds{Seed: seed, Backtracks: 10},
		"periphery":      &strategy.Periphery{Seed: seed, Depth: 5, Walks: 100},
		"priorities":     &strategy.Priorities{Seed: seed},
		"novelty":        &strategy.Novelty{Seed: seed, New: func(p *space.Path) bool { return seen.Add(p.Last().State.Trace()) }},
		"default":        strategy.Default{Paths: 20, Rounds: strategy.Rounds{Seed: seed}}.Explorers()[0],
	}
}

func (s system) small() small {
	return small{rules: world.Rules{Latency: time.Millisecond, Delays: s.delays}, programs: s.programs, clients: s.clients}
}

func TestSamplingFindsPlantedBugs(t *testing.T) {
	for _, s := range systems {
		if s.natural || s.bug == "" {
			continue
		}
		for name, e := range sampling(1) {
			x := s.small().exploration(t, e)
			n, found := 0, false
			x.Ended = func(_ *space.Path, _ string, v *ariadne.Violation) bool {
				n++
				found = v != nil
				return !found && n < 500
			}
			if _, err := x.Run(); err != nil {
				t.Fatal(err)
			}
			if !found {
				t.Errorf("%s: not found by %s in %d paths", s.name, name, n)
			}
		}
	}
}

// TestSamplingTakesRealPaths: what they find, brute force finds too, and the default
// finds all of a small space and says so.
func TestSamplingTakesRealPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, true)
		want := brute(t, s)
		for name, e := range sampling(rapid.Uint64().Draw(t, "seed")) {
			got := explore(t, s.exploration(t, e), 60)
			for h := range got.traces {
				if !want.traces[h] {
					t.Fatalf("%s: a trace that does not exist", name)
				}
			}
		}
		x := s.exploration(t, strategy.Default{Rounds: strategy.Rounds{Seed: 1}}.Explorers()[0])
		if got := explore(t, x, 0); got.how != search.SearchExhausted || !maps.Equal(got.states, want.states) {
			t.Fatalf("default: %s with %d states of %d", got.how, len(got.states), len(want.states))
		}
	})
}

func TestSamplingDependsOnTheSeed(t *testing.T) {
	paths := func(e strategy.Explorer) [][]string {
		var all [][]string
		x := small{rules: world.Rules{Latency: time.Millisecond, Delays: 2}, programs: worldtest.LostUpdate}.exploration(t, e)
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			var names []string
			for i := range p.Len() {
				names = append(names, p.Step(i+1).Name)
			}
			all = append(all, names)
			return len(all) < 50
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	same := func(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal) }
	for name := range sampling(0) {
		a, b, c := paths(sampling(3)[name]), paths(sampling(3)[name]), paths(sampling(4)[name])
		if !same(a, b) {
			t.Errorf("%s: the same seed, other paths", name)
		}
		if same(a, c) {
			t.Errorf("%s: another seed, the same paths", name)
		}
	}
}

// TestPeripheryWalks counts: from each state at the depth so many walks, no more.
func TestPeripheryWalks(t *testing.T) {
	x := small{rules: world.Rules{Latency: time.Millisecond, Delays: 1}, programs: worldtest.TwoPhaseCommit}.exploration(t,
		&strategy.Periphery{Depth: 7, Walks: 3})
	from := map[world.Hash]int{}
	x.Ended = func(p *space.Path, end string, _ *ariadne.Violation) bool {
		if p.Len() > 7 {
			from[p.Frame(7).State.Hash()]++
		}
		return true
	}
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	for _, n := range from {
		if n != 3 {
			t.Errorf("%d walks from a state", n)
		}
	}
	if len(from) < 2 {
		t.Errorf("%d states at the depth", len(from))
	}
}

// counted counts the paths of an explorer.
type counted struct {
	strategy.FewestDeviations
	paths int
}

func (c *counted) Begin(p *space.Path) (keep int, ok bool) {
	c.paths++
	return c.FewestDeviations.Begin(p)
}

// TestTurns: rounds get as many paths as what they take turns with, and do not keep it
// from finding all states.
func TestTurns(t *testing.T) {
	want := explore(t, larger().exploration(t, &strategy.DepthFirst{}), 0)
	near := &counted{}
	x := larger().exploration(t, &strategy.Turns{Explorer: near, First: 10, Rounds: &strategy.Rounds{Seed: 1}})
	all, most := 0, 0
	x.Ended = func(*space.Path, string, *ariadne.Violation) bool {
		all++
		if all <= 10 && near.paths != all {
			t.Errorf("a round after %d paths", near.paths)
		}
		most = max(most, near.paths-10-(all-near.paths), (all-near.paths)-(near.paths-10))
		return true
	}
	how, err := x.Run()
	if err != nil || how != search.SearchExhausted || x.Seen.Len() != len(want.states) {
		t.Errorf("%s with %d states of %d, %v", how, x.Seen.Len(), len(want.states), err)
	}
	if all-near.paths < 100 || most > 101 { // the paths of a round
		t.Errorf("%d paths and %d in rounds, up to %d more on one side", near.paths, all-near.paths, most)
	}
}
