package search_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// together runs explorers at the same time, with an executor each. stopped,
// when not nil, is asked by each worker after each path.
func (s small) together(t failer, explorers []strategy.Explorer, stopped func(worker int) bool) found {
	t.Helper()
	x := s.exploration(t, nil) // for what it is made of
	m, err := memo.Open(x.Space.System, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := memo.NewPool(m)
	all := newFound()
	all.coverage.Ends = map[string]int{}
	hows := map[string]bool{}
	seen := &space.Set{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	for i, e := range explorers {
		workers.Go(func() {
			part := newFound()
			nodes := pool.Worker(memo.NewExecutor(m,
				(&memotest.Instances{Programs: s.programs, Instant: s.instant, Outages: s.outagesOf,
					Grid: s.rules.Grid}).Boot(), memo.Limits{Checkpoints: 20}))
			w := &search.Exploration{Space: s.space(x.Space.System, m, nodes), Explorer: e, Bounds: s.bounds,
				Checks: x.Checks, Seen: seen}
			if s.uneven > 0 {
				w.Stopped = pauses(s.uneven, uint64(i))
			}
			w.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				part.ended(p, end, v)
				return stopped == nil || !stopped(i)
			}
			how, err := w.Run()
			err = errors.Join(err, nodes.Close())
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				how = err.Error()
			}
			hows[how] = true
			maps.Copy(all.traces, part.traces)
			maps.Copy(all.violations, part.violations)
			all.coverage.Paths += w.Coverage.Paths
			all.coverage.Bounded += w.Coverage.Bounded
			for end, n := range w.Coverage.Ends {
				all.coverage.Ends[end] += n
			}
		})
	}
	workers.Wait()
	seen.All(func(h hash.Hash) { all.states[h] = true })
	for how := range hows {
		all.how = how
	}
	if len(hows) != 1 {
		all.how = fmt.Sprint(hows)
	}
	return all
}

// pauses returns what never stops a search but holds it up before one step in n or so,
// so that workers meet each other at ever other places.
func pauses(n int, seed uint64) func() bool {
	r := rand.New(rand.NewPCG(uint64(n), seed))
	return func() bool {
		switch r.IntN(n) {
		case 0:
			time.Sleep(time.Duration(r.IntN(50)) * time.Microsecond)
		case 1:
			runtime.Gosched()
		}
		return false
	}
}

// divisible are fresh explorers that work for several.
func divisible() map[string]strategy.Divisible {
	return map[string]strategy.Divisible{
		"depth first": &strategy.DepthFirst{}, "all paths": &strategy.DepthFirst{All: true},
		"breadth first":     &strategy.BreadthFirst{},
		"fewest deviations": &strategy.FewestDeviations{}, "sleep sets": &strategy.SleepSets{},
		"scripted": &strategy.Scripted{Ask: askAll},
		"DPOR":     &strategy.DPOR{},
	}
}

// askAll names all that is enabled, with priorities that make a search go to and fro.
func askAll(p *space.Path) []strategy.Choice {
	var choices []strategy.Choice
	for i := range p.Last().Enabled {
		choices = append(choices, strategy.Choice{Event: i, Priority: float64((p.Len()*5 + i*3) % 7)})
	}
	return choices
}

// TestWorkersFindTheSame: any number of workers explores the same, no more and no less.
func TestWorkersFindTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		s.bounds.Deviations = space.Bound(rapid.IntRange(0, 4).Draw(t, "deviations"))
		s.bounds.Depth = rapid.SampledFrom([]int{0, 0, 9}).Draw(t, "depth")
		brute(t, s)
		for name := range divisible() {
			want := s.together(t, divisible()[name].Divide(1), nil)
			alone := explore(t, s.exploration(t, divisible()[name]), 0)
			paths := name == "sleep sets" || name == "DPOR" // one of each trace
			if !paths && !maps.Equal(alone.states, want.states) || !maps.Equal(alone.traces, want.traces) ||
				alone.coverage.Paths != want.coverage.Paths {
				t.Fatalf("%s: one of several is not like one alone", name)
			}
			for _, n := range []int{2, 5} {
				got := s.together(t, divisible()[name].Divide(n), nil)
				if got.how != want.how || want.how != search.SearchExhausted && !paths {
					t.Fatalf("%s, %d workers: %s, want %s", name, n, got.how, want.how)
				}
				if paths && want.how != search.SearchExhausted {
					continue // under bounds it depends on the order what it takes for known
				}
				// Which order of independent events DPOR takes depends on the order of its paths.
				if name != "DPOR" && !maps.Equal(got.states, want.states) {
					t.Fatalf("%s, %d workers: %d states, want %d", name, n, len(got.states), len(want.states))
				}
				if !maps.Equal(got.traces, want.traces) || !maps.Equal(got.violations, want.violations) {
					t.Fatalf("%s, %d workers: %d traces, want %d; %d violations, want %d", name, n, len(got.traces),
						len(want.traces),
						len(got.violations), len(want.violations))
				}
				for _, c := range []*search.Coverage{&got.coverage, &want.coverage} {
					// Whether a path that is given up leads to a known state depends on the order.
					delete(c.Ends, search.EndSeen)
					delete(c.Ends, search.EndStrategy)
				}
				if got.coverage.Paths != want.coverage.Paths || got.coverage.Bounded != want.coverage.Bounded ||
					!maps.Equal(got.coverage.Ends, want.coverage.Ends) {
					t.Fatalf("%s, %d workers: %+v, want %+v", name, n, got.coverage, want.coverage)
				}
			}
		}
	})
}

// TestWorkersShareDPOR: any number of workers takes one path of each trace, or, with
// timers, as many as sleep sets take.
func TestWorkersShareDPOR(t *testing.T) {
	long := os.Getenv("ARIADNE_LONG") != ""
	most := 500 // paths of a system
	if long {
		most = 2000
	}
	for _, timers := range []bool{false, true} {
		t.Run(fmt.Sprint("timers ", timers), func(t *testing.T) {
			paths, alone, blocked, widened := 0, 0, 0, 0
			check := func(t *rapid.T) {
				s := drawSystem(t, 4, 5, timers)
				s.uneven = rapid.SampledFrom([]int{0, 2, 5, 30}).Draw(t, "uneven")
				kept := rapid.SampledFrom([]int{0, 0, 1, 10}).Draw(t, "kept")
				d := &strategy.DPOR{}
				want := explore(t, s.exploration(t, d), most)
				if want.how != search.SearchExhausted {
					t.SkipNow()
				}
				for _, n := range []int{1, 2, 5} {
					explorers := (&strategy.DPOR{Kept: kept}).Divide(n)
					got := s.together(t, explorers, nil)
					same(t, got, want)
					if got.coverage.Paths != want.coverage.Paths {
						t.Fatalf("%d workers take %d paths, one takes %d", n, got.coverage.Paths, want.coverage.Paths)
					}
					up := 0
					for _, e := range explorers {
						w := e.(*strategy.DPOR)
						up += w.Blocked
						widened += w.Widened
						if w.Impossible > 0 {
							t.Fatalf("%d reversals were not possible", w.Impossible)
						}
					}
					// all that there is a choice of
					orders := !timers && !s.chooses && s.rules.Faults == (world.Faults{})
					if orders && s.clients == nil && up > 0 || n == 1 && up != d.Blocked {
						t.Fatalf("%d workers give up %d paths, one gives up %d", n, up, d.Blocked)
					}
					paths, alone, blocked = paths+got.coverage.Paths, alone+d.Blocked, blocked+up
				}
			}
			rapid.Check(t, check)
			for i := 1; i < 20 && long; i++ {
				rapid.Check(t, check)
			}
			t.Logf("%d paths and %d given up, %d by a worker alone; %d states were widened", paths, blocked, alone, widened)
		})
	}
}

// TestWorkersShareDPORInHardSystems: systems in which races told late of what belongs below
// branches of which nobody knew yet what they come to.
func TestWorkersShareDPORInHardSystems(t *testing.T) {
	timers := func(e time.Duration) world.Rules {
		return world.Rules{Latency: 3 * time.Millisecond, ClockError: e * time.Millisecond, Delays: 1}
	}
	for _, c := range []struct {
		s     small
		chaos worldtest.Chaos
	}{
		{small{rules: timers(1), starts: []int{2, 0, 1, 2}},
			worldtest.Chaos{Nodes: 4, Seed: 0x29b7, Acts: 3, Exits: 40}},
		{small{rules: timers(0), starts: []int{2, 0, 1}}, worldtest.Chaos{Nodes: 3, Seed: 0x2915, Acts: 3, Exits: 40}},
		{small{rules: timers(1), starts: []int{2, 0, 1}}, worldtest.Chaos{Nodes: 3, Seed: 0x2d5a, Acts: 3, Exits: 40}},
		{small{rules: timers(1), starts: []int{2, 0, 1, 2}},
			worldtest.Chaos{Nodes: 4, Seed: 0x2f17, Acts: 3, Exits: 40}},
		{small{rules: timers(1), starts: []int{2, 0, 1, 2}},
			worldtest.Chaos{Nodes: 4, Seed: 0x2f9e, Acts: 3, Exits: 40}},
		{small{rules: world.Rules{Latency: 774 * time.Microsecond, ClockError: time.Millisecond, Delays: 2},
			starts: []int{0, 3, 1, 0}, clients: []int{0}},
			worldtest.Chaos{Nodes: 4, Seed: 0, Acts: 4, Exits: 3}},
		{small{rules: world.Rules{Latency: time.Millisecond}, clients: []int{0}},
			worldtest.Chaos{Nodes: 4, Seed: 0x5b0, Acts: 5, Exits: 40, NoTimers: true}},
	} {
		c.s.programs = func() []worldtest.Program {
			var p []worldtest.Program
			for range c.chaos.Nodes {
				x := c.chaos
				p = append(p, &x)
			}
			return p
		}
		want := explore(t, c.s.exploration(t, &strategy.SleepSets{}), 0)
		for i, n := range []int{1, 2, 2, 5} {
			for _, kept := range []int{0, 1} {
				c.s.uneven = []int{0, 30, 2}[i%3]
				got := c.s.together(t, (&strategy.DPOR{Kept: kept}).Divide(n), nil)
				if got.how != search.SearchExhausted || !maps.Equal(got.traces, want.traces) ||
					got.coverage.Paths != want.coverage.Paths {
					t.Errorf("%+v, %d workers, %d kept: %s with %d traces and %d paths, want %d and %d", c.chaos, n, kept, got.how, len(got.traces), got.coverage.Paths,
						len(want.traces), want.coverage.Paths)
				}
			}
		}
	}
}

// TestWorkersShareBoundedDPOR: together they take as many paths as the bound allows, and
// none twice.
func TestWorkersShareBoundedDPOR(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond}, programs: fan(4, 2)} // 90 traces
	for _, c := range []struct {
		d      strategy.DPOR
		paths  int // 0: some
		missed string
	}{
		{strategy.DPOR{Backtracks: space.AtMost(9)}, 10, "the search ended after 9 backtracks (--backtracks)"},
		{strategy.DPOR{Backtracks: space.AtMost(89)}, 90, ""},
		{strategy.DPOR{Branch: space.AtMost(6)}, 0, "other orders were tried for 6 steps of a path only (--branch)"},
		{strategy.DPOR{Backtracks: space.AtMost(0)}, 1, "the search ended after 0 backtracks (--backtracks)"},
		{strategy.DPOR{Branch: space.AtMost(0)}, 1, "other orders were tried for 0 steps of a path only (--branch)"},
		{strategy.DPOR{Backtracks: space.Unbounded, Branch: space.Unbounded}, 90, ""},
	} {
		for _, n := range []int{1, 2, 5} {
			d := c.d
			explorers := d.Divide(n)
			got := s.together(t, explorers, nil)
			missed := explorers[0].(strategy.Exhaustive).Missed()
			if got.coverage.Paths != len(got.traces) || c.paths > 0 && got.coverage.Paths != c.paths ||
				got.coverage.Paths >= 90 && c.missed != "" || missed != c.missed {
				t.Errorf("%+v, %d workers: %d paths, %d traces, %q", c.d, n, got.coverage.Paths, len(got.traces),
					missed)
			}
		}
	}
}

// larger is a system with some thousand states.
func larger() small {
	return small{rules: world.Rules{Latency: time.Millisecond, Delays: 2}, programs: worldtest.TwoPhaseCommit}
}

// TestWorkersShareALargerSearch: long enough that work is given away.
func TestWorkersShareALargerSearch(t *testing.T) {
	s := larger()
	want := explore(t, s.exploration(t, &strategy.DepthFirst{}), 0)
	for name, d := range divisible() {
		if name == "all paths" || name == "sleep sets" || name == "DPOR" {
			continue // too many paths, or not all states
		}
		got := s.together(t, d.Divide(5), nil)
		if got.how != search.SearchExhausted || !maps.Equal(got.states, want.states) {
			t.Errorf("%s: %s with %d states, want %d", name, got.how, len(got.states), len(want.states))
		}
		if len(got.traces) != len(want.traces) || len(got.violations) != len(want.violations) {
			t.Errorf("%s: %d traces and %d violations, want %d and %d", name, len(got.traces), len(got.violations),
				len(want.traces), len(want.violations))
		}
	}
	if len(want.states) < 1000 {
		t.Errorf("only %d states", len(want.states))
	}
	e := strategy.Periphery{Seed: 3, Depth: 10, Walks: 20}
	several := e.Divide(5)
	want = explore(t, s.exploration(t, &e), 0)
	got := s.together(t, several, nil)
	if !maps.Equal(got.states, want.states) || !maps.Equal(got.traces, want.traces) ||
		got.coverage.Paths != want.coverage.Paths || want.coverage.Paths < 500 {
		t.Errorf("periphery: %d states, %d traces and %d paths, want %d, %d and %d", len(got.states), len(got.traces), got.coverage.Paths,
			len(want.states), len(want.traces), want.coverage.Paths)
	}
}

// stop has nodes stop, unless they do already or lose their power. They are named by their content
// then, and have said different things on different ways there.
func (s *small) stop(some bool) {
	if some && s.rules.Faults[world.Stop]+s.rules.Faults[world.Power] == 0 {
		s.rules.Faults[world.Stop] = 2
		s.rules.NodeFaults = append(s.rules.NodeFaults, world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1}, 0))
	}
}

// speak has programs write lines that tell how they came to where they are, or not.
func (s *small) speak(some bool) {
	programs := s.programs
	s.programs = func() []worldtest.Program {
		all := programs()
		for _, p := range all {
			p.(*worldtest.Chaos).Speaks = some
		}
		return all
	}
}

// TestWorkersMakeTheSameWalks: from the periphery, any number of workers makes the same
// walks.
func TestWorkersMakeTheSameWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		s.stop(rapid.Bool().Draw(t, "stops"))
		s.speak(rapid.Bool().Draw(t, "speaks"))
		s.bounds.Deviations = space.Bound(rapid.IntRange(0, 4).Draw(t, "deviations"))
		s.bounds.Depth = 1000 // as in every check there is one; few paths are so long
		e := strategy.Periphery{Seed: rapid.Uint64().Draw(t, "seed"), Depth: rapid.IntRange(1, 6).Draw(t, "depth"),
			Walks: rapid.IntRange(0, 5).Draw(t, "walks")}
		alone := e
		want := explore(t, s.exploration(t, &alone), 20000)
		if want.how != search.SearchDone {
			t.SkipNow() // too many paths
		}
		for _, n := range []int{1, 2, 5} {
			got := s.together(t, e.Divide(n), nil)
			delete(got.coverage.Ends, search.EndSeen)
			delete(want.coverage.Ends, search.EndSeen)
			if got.how != search.SearchDone || got.coverage.Paths != want.coverage.Paths ||
				!maps.Equal(got.coverage.Ends, want.coverage.Ends) {
				t.Fatalf("%d workers: %s, %+v, want %+v", n, got.how, got.coverage, want.coverage)
			}
			if !maps.Equal(got.states, want.states) || !maps.Equal(got.traces, want.traces) ||
				!maps.Equal(got.violations, want.violations) {
				t.Fatalf("%d workers: %d states, %d traces, %d violations, want %d, %d, %d", n, len(got.states), len(got.traces), len(got.violations),
					len(want.states), len(want.traces), len(want.violations))
			}
		}
	})
}

// TestWalksAreOfTheState: which way a walk goes from the periphery does not depend on the path by
// which a search came there.
func TestWalksAreOfTheState(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		s.stop(rapid.Bool().Draw(t, "stops"))
		s.speak(rapid.Bool().Draw(t, "speaks"))
		s.bounds.Depth = 1000
		e := &strategy.Periphery{Seed: rapid.Uint64().Draw(t, "seed"), Depth: rapid.IntRange(1, 6).Draw(t, "depth")}
		x := s.exploration(t, e)
		// it keeps nothing: there is a walk from the end of each path to the depth
		x.Seen = &space.Set{Bytes: 1}
		walks, paths := map[hash.Hash]string{}, 0
		x.Ended = func(p *space.Path, end string, _ *ariadne.Violation) bool {
			if p.Len() > e.Depth {
				h, way := p.Hash(p.Frame(e.Depth)), ""
				for i := e.Depth + 1; i <= p.Len(); i++ {
					way += fmt.Sprintf("%s at %v; ", p.Step(i).Name, p.Step(i).At)
				}
				if was, ok := walks[h]; ok && was != way+end {
					t.Fatalf("two walks from one state:\n%s\n%s", was, way+end)
				} else if ok {
					met++
				}
				walks[h] = way + end
			}
			paths++
			return paths < 1000
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	})
	if met == 0 {
		t.Error("no two paths lead to one state")
	}
}

// TestWorkersLeaveOutTheSame: each state is asked about once, whoever comes there, and
// what the answers leave out is counted together.
func TestWorkersLeaveOutTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		brute(t, s)
		salt := rapid.Uint64().Draw(t, "salt")
		run := func(n int) (found, int64, string) {
			var asked atomic.Int64
			some := func(p *space.Path) []strategy.Choice {
				asked.Add(1)
				choices := askAll(p)
				if h := p.Last().State.Hash(); (h.Lo^salt)%3 == 0 {
					choices = choices[:len(choices)/2]
				}
				return choices
			}
			explorers := (&strategy.Scripted{Ask: some}).Divide(n)
			got := s.together(t, explorers, nil)
			return got, asked.Load(), explorers[0].(strategy.Exhaustive).Missed()
		}
		want, asked, missed := run(1)
		for _, n := range []int{2, 5} {
			got, a, m := run(n)
			if got.how != want.how || m != missed || a != asked || !maps.Equal(got.states, want.states) ||
				got.coverage.Paths != want.coverage.Paths {
				t.Fatalf("%d workers: %s, %q, asked %d times, %d states, %d paths; want %s, %q, %d, %d, %d", n, got.how, m, a, len(got.states), got.coverage.Paths,
					want.how, missed, asked, len(want.states), want.coverage.Paths)
			}
		}
	})
}

// TestWhoLeavesHoldsUpNobody: when a worker ends early the others go on, and nobody
// says that all was explored.
func TestWhoLeavesHoldsUpNobody(t *testing.T) {
	for _, name := range []string{"depth first", "breadth first", "fewest deviations", "scripted", "DPOR"} {
		var left atomic.Bool
		got := larger().together(t, divisible()[name].Divide(3), func(worker int) bool {
			if worker == 0 {
				left.Store(true)
			} else if !left.Load() {
				time.Sleep(time.Millisecond) // so that there is something left for it to leave
			}
			return worker == 0
		})
		if got.how == search.SearchExhausted {
			t.Errorf("%s: %s with %d states", name, got.how, len(got.states))
		}
	}
	if got := larger().together(t, (&strategy.Periphery{Depth: 6}).Divide(3), func(worker int) bool {
		return worker == 0
	}); got.coverage.Paths == 0 {
		t.Errorf("periphery: %s after no path", got.how)
	}
}

func TestDefaultForSeveral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, true)
		want := brute(t, s)
		e := strategy.Default{Workers: 3, Rounds: strategy.Rounds{Seed: 1}}.Explorers()
		if len(e) != 3 {
			t.Fatal(len(e))
		}
		// The third makes rounds without end.
		got := s.together(t, e[:2], nil)
		if got.how != search.SearchExhausted || !maps.Equal(got.states, want.states) {
			t.Fatalf("%s with %d states of %d", got.how, len(got.states), len(want.states))
		}
	})
}

// TestFullIsSaid: without memory for more states or paths the exhaustive part ends
// and says why.
func TestFullIsSaid(t *testing.T) {
	s := larger()
	x := s.exploration(t, nil)
	x.Seen = &space.Set{Bytes: 20000}
	series := &strategy.Series{Full: x.Seen.Full,
		Parts: []strategy.Part{{Explorer: &strategy.DepthFirst{}}, {Explorer: &strategy.Walks{}, Paths: 50}}}
	x.Explorer = series
	got := explore(t, x, 0)
	if got.how != search.SearchDone || series.Cut() != "the memory for known states was full" ||
		x.Seen.Len() > 20000/16 || got.coverage.Paths < 50 {
		t.Errorf("%s after %d paths, cut %q, %d states", got.how, got.coverage.Paths, series.Cut(), x.Seen.Len())
	}
	for _, e := range []strategy.Explorer{&strategy.BreadthFirst{Bytes: 2000}, &strategy.FewestDeviations{Bytes: 2000},
		&strategy.Scripted{Ask: askAll, Bytes: 2000}} {
		series = &strategy.Series{Parts: []strategy.Part{{Explorer: e}, {Explorer: &strategy.Walks{}, Paths: 50}}}
		got = explore(t, s.exploration(t, series), 0)
		if got.how != search.SearchDone || series.Cut() != "the memory for paths still to be tried was full" {
			t.Errorf("%T: %s after %d paths, cut %q", e, got.how, got.coverage.Paths, series.Cut())
		}
	}
}

// TestWorkersShareChoices: what an event could be varied to by choices is known to who took it. A
// worker that leaves a state in which others took some has to know it, too, should more be tried
// there later.
func TestWorkersShareChoices(t *testing.T) {
	s := small{rules: world.Rules{Combined: 2, Grid: 2e6, Latency: 119 * time.Microsecond, Delays: 1},
		starts: []int{1, 1, 3, 1}, clients: []int{0, 1}, uneven: 2, chooses: true}
	s.bounds.Time = 6e6
	s.programs = func() (all []worldtest.Program) {
		for range 4 {
			all = append(all, &worldtest.Chaos{Nodes: 4, Seed: 0x13, Acts: 2, Exits: 40, Lingers: true, Chooses: true})
		}
		return all
	}
	want := explore(t, s.exploration(t, &strategy.DPOR{}), 2000)
	for range 10 {
		got := s.together(t, (&strategy.DPOR{}).Divide(5), nil)
		same(t, got, want)
		if got.coverage.Paths != want.coverage.Paths {
			t.Fatalf("5 workers take %d paths, one takes %d", got.coverage.Paths, want.coverage.Paths)
		}
	}
}
