package search_test

import (
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
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// sampling are the explorers that do not take all paths.
func sampling(seed uint64) map[string]strategy.Explorer {
	var seen space.Set
	return map[string]strategy.Explorer{
		"walks":          &strategy.Walks{Seed: seed},
		"weighted walks": &strategy.Walks{Seed: seed, Weights: strategy.Weights{ariadne.ActFire: 3}},
		"rounds":         &strategy.Rounds{Seed: seed, Backtracks: space.AtMost(10)},
		"periphery":      &strategy.Periphery{Seed: seed, Depth: 5, Walks: 100},
		"priorities":     &strategy.Priorities{Seed: seed},
		"slow":           &strategy.Slow{Seed: seed},
		"pos":            &strategy.Sampling{Seed: seed},
		"novelty": &strategy.Portfolio{News: func() strategy.News { return strategy.NewLocal },
			Members: []*strategy.Member{
				{Explorer: &strategy.Novelty{Seed: seed, Features: &strategy.Features{}, New: func(p *space.Path) bool {
					return seen.Add(p.Last().State.Trace())
				}}}}},
		"default": strategy.Default{Paths: 20, Rounds: strategy.Rounds{Seed: seed}}.Explorers()[0],
		"default with novelty": strategy.Default{Paths: 20, Rounds: strategy.Rounds{Seed: seed},
			News: func(int) func() strategy.News { return func() strategy.News { return strategy.NewLocal } },
			Novelty: func(int) *strategy.Novelty {
				return &strategy.Novelty{Seed: seed, Features: &strategy.Features{}}
			}}.Explorers()[0],
	}
}

func (s system) small() small {
	return small{rules: world.Rules{Latency: time.Millisecond, Delays: s.delays}, programs: s.programs,
		clients: s.clients}
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
		x := small{rules: world.Rules{Latency: time.Millisecond, Delays: 2},
			programs: worldtest.LostUpdate}.exploration(t, e)
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
	x := small{rules: world.Rules{Latency: time.Millisecond, Delays: 1},
		programs: worldtest.TwoPhaseCommit}.exploration(t,
		&strategy.Periphery{Depth: 7, Walks: 3})
	from := map[hash.Hash]int{}
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

// counted counts the steps and beginnings of an explorer.
type counted struct {
	strategy.Explorer
	steps int
}

func (c *counted) Begin(p *space.Path) (keep int, ok bool) {
	c.steps++
	return c.Explorer.Begin(p)
}

func (c *counted) Next(p *space.Path) (event int, ok bool) {
	if event, ok = c.Explorer.Next(p); ok {
		c.steps++
	}
	return event, ok
}

// thorough is a counted one that is exhaustive.
type thorough struct{ counted }

func (t *thorough) Missed() string { return t.Explorer.(strategy.Exhaustive).Missed() }

// TestPortfolio: each gets its share of the steps, and the others do not keep the
// exhaustive one from finding all states.
func TestPortfolio(t *testing.T) {
	want := explore(t, larger().exploration(t, &strategy.DepthFirst{}), 0)
	near := &thorough{counted{Explorer: &strategy.FewestDeviations{}}}
	walks, late := &counted{Explorer: &strategy.Walks{}}, &counted{Explorer: &strategy.Priorities{}}
	x := larger().exploration(t, &strategy.Thorough{Portfolio: strategy.Portfolio{
		Members: []*strategy.Member{{Explorer: near}, {Explorer: walks}, {Explorer: late, Share: 2}}}})
	paths, longest := 0, 0 // a path's steps
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		paths, longest = paths+1, max(longest, p.Len())
		if d := near.steps - walks.steps; max(d, -d) > 2*longest {
			t.Errorf("%d and %d steps after %d paths", near.steps, walks.steps, paths)
		}
		if d := late.steps - 2*walks.steps; max(d, -d) > 4*longest {
			t.Errorf("%d and %d steps after %d paths, of a double share and one", late.steps, walks.steps, paths)
		}
		return !t.Failed()
	}
	how, err := x.Run()
	if err != nil || how != search.SearchExhausted || x.Seen.Len() != len(want.states) {
		t.Errorf("%s with %d states of %d, %v", how, x.Seen.Len(), len(want.states), err)
	}
}

// TestPortfolioWhole: the paths of a turn stay together.
func TestPortfolioWhole(t *testing.T) {
	x := larger().exploration(t, &strategy.Portfolio{Members: []*strategy.Member{
		{Explorer: &strategy.Rounds{Seed: 1, Backtracks: 5}}, {Explorer: &strategy.Walks{}}}})
	rounds := &strategy.Rounds{Seed: 1, Backtracks: 5}
	alone := map[hash.Hash]bool{}
	y := larger().exploration(t, rounds)
	n := 0
	y.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		alone[p.Last().State.Trace()] = true
		n++
		return n < 300
	}
	if _, err := y.Run(); err != nil {
		t.Fatal(err)
	}
	both := map[hash.Hash]bool{}
	n = 0
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		both[p.Last().State.Trace()] = true
		n++
		return n < 1500
	}
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	for h := range alone {
		if !both[h] {
			t.Fatal("a path of the rounds alone is not among those of the portfolio")
		}
	}
}

// TestPortfolioCountsWhatIsNew: who comes by much that is new makes fewer paths.
func TestPortfolioCountsWhatIsNew(t *testing.T) {
	same, other := &counted{Explorer: natural{}}, &counted{Explorer: &strategy.Walks{}}
	var seen space.Set
	f := &strategy.Portfolio{Members: []*strategy.Member{{Explorer: same}, {Explorer: other}}}
	x := larger().exploration(t, f)
	news := strategy.NothingNew
	f.News = func() strategy.News { return news }
	x.Watch = func(p *space.Path) {
		if news = strategy.NothingNew; seen.Add(p.Last().State.Hash()) {
			news = strategy.NewLocal
		}
	}
	n := 0
	x.Ended = func(*space.Path, string, *ariadne.Violation) bool { n++; return n < 2000 }
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	if same.steps < 4*other.steps {
		t.Errorf("%d steps where nothing is new, %d elsewhere", same.steps, other.steps)
	}
}

// natural takes the natural path again and again.
type natural struct{}

func (natural) Begin(*space.Path) (int, bool)       { return 0, true }
func (natural) Next(*space.Path) (int, bool)        { return 0, true }
func (natural) End(*space.Path, strategy.End) error { return nil }

// pendulum has a timer that fires again and again.
type pendulum struct{ worldtest.Idle }

func (pendulum) Start(c *worldtest.Ctx) { c.SetTimer(10 * time.Millisecond) }
func (pendulum) Fire(c *worldtest.Ctx)  { c.SetTimer(10 * time.Millisecond) }

// TestWhatWaitsComes: a timer that fires again and again does not keep a message waiting up
// to the limit of time.
func TestWhatWaitsComes(t *testing.T) {
	programs := func() []worldtest.Program {
		return []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 20}, worldtest.Pong{}, pendulum{}}
	}
	s := small{rules: world.Rules{Latency: time.Millisecond, Delays: 2}, programs: programs, clients: []int{0}}
	for name, e := range map[string]strategy.Explorer{"priorities": &strategy.Priorities{Seed: 1},
		"slow": &strategy.Slow{Seed: 1}} {
		x := s.exploration(t, e)
		x.Bounds.Time = ariadne.Time(time.Minute)
		natural, longest, late, n := 0, 0, 0, 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			if n++; n == 1 {
				natural = p.Len()
			}
			if longest = max(longest, p.Len()); p.Last().State.Delays < 2 {
				late++
			}
			return n < 300
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		if longest > 2*natural+300 || late == 0 {
			t.Errorf("%s: paths of up to %d steps, the natural one has %d; %d of %d have late messages", name, longest, natural, late, n)
		}
		t.Logf("%s: %d steps, up to %d, %d of %d with late messages", name, natural, longest, late, n)
	}
}
