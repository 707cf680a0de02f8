package search_test

import (
	"maps"

	"testing"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/memo/memotest"
	"ariadne/internal/property"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
	"ariadne/internal/world"
	"ariadne/internal/world/worldtest"

	"pgregory.net/rapid"
)

// small is a system that can be explored by brute force.
type small struct {
	rules    world.Rules
	programs func() []worldtest.Program
	clients  []int
	starts   []int // ms
	bounds   space.Bounds
	instant  bool // nothing that a node does takes time
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// exploration returns a fresh search of the system.
func (s small) exploration(t failer, e strategy.Explorer) *search.Exploration {
	t.Helper()
	nodes := worldtest.Nodes(s.programs()...)
	for i := range s.starts {
		nodes[i].Start = ariadne.Time(s.starts[i]) * 1e6
	}
	for _, i := range s.clients {
		nodes[i].Client = true
	}
	y := world.NewSystem(s.rules, nodes)
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Machines{Programs: s.programs, Instant: s.instant}).Boot(), memo.Limits{Checkpoints: 20})
	var checked []property.Node
	for _, n := range nodes {
		checked = append(checked, property.Node{Name: n.Name, Commands: []string{"program"}, Client: n.Client})
	}
	return &search.Exploration{Space: space.New(y, m, x), Explorer: e, Bounds: s.bounds,
		Checks: func() []property.Check { return property.Generic(checked) }}
}

// found is what a search came to.
type found struct {
	traces, states, violations map[world.Hash]bool
	coverage                   search.Coverage
	how                        string
}

// explore runs a search; it is given up after so many paths (0: never).
func explore(t failer, x *search.Exploration, paths int) found {
	t.Helper()
	f := found{traces: map[world.Hash]bool{}, states: map[world.Hash]bool{}, violations: map[world.Hash]bool{}}
	n := 0
	x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
		if v != nil {
			f.violations[p.Last().State.Trace()] = true
		}
		n++
		return paths == 0 || n < paths
	}
	var err error
	if f.how, err = x.Run(); err != nil {
		t.Fatal(err)
	}
	x.Traces.All(func(h world.Hash) { f.traces[h] = true })
	x.Seen.All(func(h world.Hash) { f.states[h] = true })
	f.coverage = x.Coverage
	return f
}

// fan is n-1 nodes that each send count messages to the first, which counts them.
func fan(n, count int) func() []worldtest.Program {
	return func() []worldtest.Program {
		p := []worldtest.Program{worldtest.Pong{}}
		p[0] = quietNode{}
		for range n - 1 {
			p = append(p, sender{count: count})
		}
		return p
	}
}

type quietNode struct{ worldtest.Idle }

type sender struct {
	worldtest.Idle
	count int
}

func (s sender) Start(c *worldtest.Ctx) {
	for range s.count {
		c.Send(0, "m")
	}
}

// ring is nodes that each send one message to the next and have none to receive but
// that: all is independent but for what is caused.
func ring(n int) func() []worldtest.Program {
	return func() []worldtest.Program {
		var p []worldtest.Program
		for i := range n {
			p = append(p, toNext{n: n, i: i})
		}
		return p
	}
}

type toNext struct {
	worldtest.Idle
	n, i int
}

func (r toNext) Start(c *worldtest.Ctx) { c.Send(ariadne.NodeID((r.i+1)%r.n), "m") }

// TestKnownCounts: the numbers of traces of these can be computed by hand. A node
// that receives k messages of each of m others, in order, has (mk)!/(k!)^m ways to
// do so.
func TestKnownCounts(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond}
	for _, c := range []struct {
		name   string
		s      small
		traces int
	}{
		{"ring of 2", small{rules: rules, programs: ring(2)}, 1},
		{"ring of 4", small{rules: rules, programs: ring(4)}, 1},
		{"1 sender", small{rules: rules, programs: fan(2, 3)}, 1},
		{"2 senders of 1", small{rules: rules, programs: fan(3, 1)}, 2},
		{"3 senders of 1", small{rules: rules, programs: fan(4, 1)}, 6},
		{"2 senders of 2", small{rules: rules, programs: fan(3, 2)}, 6},
		{"3 senders of 2", small{rules: rules, programs: fan(4, 2)}, 90},
		{"2 senders of 5", small{rules: rules, programs: fan(3, 5)}, 252},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &strategy.DPOR{}
			got := explore(t, c.s.exploration(t, d), 0)
			if got.how != search.SearchExhausted || got.coverage.Paths != c.traces || len(got.traces) != c.traces {
				t.Errorf("DPOR: %s after %d paths, %d traces, want %d", got.how, got.coverage.Paths, len(got.traces), c.traces)
			}
		})
	}
}

// drawSmall draws a system whose paths can all be taken.
func drawSmall(t *rapid.T, timers bool) small {
	n := rapid.IntRange(2, 3).Draw(t, "nodes")
	seed := rapid.Uint64().Draw(t, "seed")
	exits := rapid.SampledFrom([]int{3, 40}).Draw(t, "exits")
	acts := rapid.IntRange(1, 4).Draw(t, "acts")
	s := small{rules: world.Rules{Latency: time.Millisecond}}
	if timers {
		s.rules = world.Rules{
			Latency:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond,
			ClockError: time.Duration(rapid.IntRange(0, 3).Draw(t, "E ms")) * time.Millisecond,
			Delays:     rapid.IntRange(0, 2).Draw(t, "delays"),
		}
		s.starts = rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "starts ms")
	}
	if rapid.IntRange(0, 2).Draw(t, "clients") == 0 {
		s.clients = []int{0, 1}[:rapid.IntRange(1, 2).Draw(t, "how many")]
	}
	s.programs = func() []worldtest.Program {
		var p []worldtest.Program
		for range n {
			p = append(p, &worldtest.Chaos{Nodes: n, Seed: seed, Acts: acts, NoTimers: !timers, Exits: exits})
		}
		return p
	}
	return s
}

// brute takes all paths of a system, and gives it up when there are too many.
func brute(t *rapid.T, s small) found {
	all := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 3000)
	if all.how != search.SearchExhausted {
		t.SkipNow()
	}
	return all
}

// TestExhaustiveExplorersAgreeWithBruteForce: they find all states, and those that
// enumerate paths find all traces.
func TestExhaustiveExplorersAgreeWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		want := brute(t, s)
		for name, e := range map[string]strategy.Explorer{
			"depth first": &strategy.DepthFirst{}, "breadth first": &strategy.BreadthFirst{}, "fewest deviations": &strategy.FewestDeviations{},
		} {
			got := explore(t, s.exploration(t, e), 0)
			if got.how != search.SearchExhausted || !maps.Equal(got.states, want.states) {
				t.Fatalf("%s: %s with %d states, want %d", name, got.how, len(got.states), len(want.states))
			}
		}
	})
}

// TestDPORAgreesWithBruteForce: without timers it finds all traces, and takes exactly
// one path of each.
func TestDPORAgreesWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, false)
		want := brute(t, s)
		d := &strategy.DPOR{}
		got := explore(t, s.exploration(t, d), 0)
		same(t, got, want)
		if s.clients == nil && (got.coverage.Paths != len(got.traces) || d.Blocked > 0) {
			t.Fatalf("%d paths and %d given up for %d traces", got.coverage.Paths, d.Blocked, len(got.traces))
		}
	})
}

// same fails when a search has not found what another has.
func same(t *rapid.T, got, want found) {
	if got.how != search.SearchExhausted {
		t.Fatal(got.how)
	}
	if !maps.Equal(got.traces, want.traces) {
		t.Fatalf("%d traces, want %d", len(got.traces), len(want.traces))
	}
	if !maps.Equal(got.violations, want.violations) {
		t.Fatalf("%d violations, want %d", len(got.violations), len(want.violations))
	}
}

// TestSleepSetsAgreeWithBruteForce: with timers, delays and late starts too. It also
// shows that the relation of dependence is right.
func TestSleepSetsAgreeWithBruteForce(t *testing.T) {
	paths, traces, blocked := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, true)
		want := brute(t, s)
		e := &strategy.SleepSets{}
		got := explore(t, s.exploration(t, e), 0)
		same(t, got, want)
		paths, traces, blocked = paths+got.coverage.Paths, traces+len(got.traces), blocked+e.Blocked
	})
	t.Logf("%d paths and %d given up for %d traces", paths, blocked, traces)
}

// TestDPORWithTimers: it takes no path that does not exist and misses little, and
// says that it may.
func TestDPORWithTimers(t *testing.T) {
	paths, got, want := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, true)
		all := brute(t, s)
		d := &strategy.DPOR{}
		f := explore(t, s.exploration(t, d), 0)
		for h := range f.traces {
			if !all.traces[h] {
				t.Fatal("a trace that does not exist")
			}
		}
		if len(f.traces) < len(all.traces) && f.how == search.SearchExhausted {
			t.Fatalf("exhausted with %d traces of %d", len(f.traces), len(all.traces))
		}
		paths, got, want = paths+f.coverage.Paths, got+len(f.traces), want+len(all.traces)
	})
	t.Logf("%d paths, %d traces of %d", paths, got, want)
	if got < want*9/10 {
		t.Errorf("%d traces of %d", got, want)
	}
}

func TestPlantedBugsAreFound(t *testing.T) {
	for _, s := range systems {
		if s.natural {
			continue
		}
		for name, e := range map[string]strategy.Explorer{
			"depth first": &strategy.DepthFirst{}, "breadth first": &strategy.BreadthFirst{},
			"fewest deviations": &strategy.FewestDeviations{}, "DPOR": &strategy.DPOR{}, "sleep sets": &strategy.SleepSets{},
		} {
			x := small{rules: world.Rules{Latency: time.Millisecond, Delays: s.delays}, programs: s.programs, clients: s.clients}.exploration(t, e)
			got := explore(t, x, 20000)
			if (len(got.violations) > 0) != (s.bug != "") {
				t.Errorf("%s: %s with %d violations after %d paths", s.name, name, len(got.violations), got.coverage.Paths)
			}
			t.Logf("%s: %s: %+v, %s", s.name, name, got.coverage, got.how)
		}
	}
}
