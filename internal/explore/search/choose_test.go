package search_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"

	"pgregory.net/rapid"
)

// asker asks its questions one after the other when it is switched on, and tells all others
// what it was told. A question of which the one before was told 0 is left out with skips.
type asker struct {
	worldtest.Idle
	questions []int
	skips     bool
	peers     []ariadne.NodeID
}

func (a *asker) Start(c *worldtest.Ctx) {
	said := "told"
	last := 1
	for _, n := range a.questions {
		if a.skips && last == 0 {
			last = 1
			continue
		}
		last = c.Choose(n)
		said += fmt.Sprint(" ", last)
	}
	c.Log("%s", said)
	for _, p := range a.peers {
		c.Send(p, said)
	}
}

// listener asks when it hears something, and again.
type listener struct{ worldtest.Idle }

func (listener) Receive(c *worldtest.Ctx, m ariadne.Message) {
	c.Log("heard %q, %d %d", m.Data, c.Choose(2), c.Choose(2))
}

// TestAllChoicesAreBranched: all combinations of what programs are told are tried, by every
// strategy that is exhaustive, whoever shares the work, and each once.
func TestAllChoicesAreBranched(t *testing.T) {
	none := space.AtMost(0)
	for _, c := range []struct {
		name     string
		programs func() []worldtest.Program
		fails    uint8
		bounds   space.Bounds
		paths    int // of all orders
	}{
		{"one", func() []worldtest.Program { return []worldtest.Program{&asker{questions: []int{3}}} }, 0,
			space.Bounds{}, 3},
		{"three in a step", func() []worldtest.Program {
			return []worldtest.Program{&asker{questions: []int{3, 2, 4}}}
		}, 0, space.Bounds{}, 24},
		{"what follows depends", func() []worldtest.Program {
			return []worldtest.Program{&asker{questions: []int{3, 5}, skips: true}}
		}, 0, space.Bounds{}, 1 + 2*5},
		{"they are no deviations", func() []worldtest.Program {
			return []worldtest.Program{&asker{questions: []int{3, 2, 4}}}
		}, 0, space.Bounds{Deviations: none}, 24},
		{"two nodes, without deviations", func() []worldtest.Program {
			return []worldtest.Program{&asker{questions: []int{3}, peers: []ariadne.NodeID{1}}, listener{}}
		}, 0, space.Bounds{Deviations: none}, 3 * 4},
		// The start of the other is before or after.
		{"two nodes", func() []worldtest.Program {
			return []worldtest.Program{&asker{questions: []int{3}, peers: []ariadne.NodeID{1}}, listener{}}
		}, 0, space.Bounds{}, 2 * 3 * 4},
		// Nothing fails, or at one of two places in one of two ways, before and behind a choice.
		{"with calls that fail", func() []worldtest.Program { return []worldtest.Program{&troubled{}} }, 1,
			space.Bounds{}, 3 + 2*3 + 2*3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := small{rules: world.Rules{Latency: time.Millisecond}, programs: c.programs, bounds: c.bounds}
			s.rules.Faults[world.Fail] = c.fails
			want := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 0)
			if want.how != search.SearchExhausted || want.coverage.Paths != c.paths {
				t.Fatalf("%s after %d paths, want %d", want.how, want.coverage.Paths, c.paths)
			}
			if simple, ok := s.simple(t); !ok || len(simple) != len(want.states) {
				t.Fatalf("%d states, brute force reaches %d", len(want.states), len(simple))
			}
			for name := range divisible() {
				for _, workers := range []int{0, 1, 2} {
					var got found
					if workers == 0 {
						got = explore(t, s.exploration(t, divisible()[name]), 0)
					} else {
						got = s.together(t, divisible()[name].Divide(workers), nil)
					}
					traces := name == "DPOR" || name == "sleep sets"
					exhausted := got.how == search.SearchExhausted || traces && c.bounds.Deviations > 0
					if !exhausted || !traces && !maps.Equal(got.states, want.states) || c.bounds.Deviations == 0 &&
						!maps.Equal(got.traces, want.traces) {
						t.Errorf("%s, %d workers: %s with %d states and %d traces, want %d and %d", name, workers, got.how, len(got.states), len(got.traces), len(want.states), len(want.traces))
					}
				}
			}
		})
	}
}

// troubled tries something before and behind its question.
type troubled struct{ worldtest.Idle }

func (*troubled) Start(c *worldtest.Ctx) {
	before := c.Try("a", "EIO", "ENOSPC")
	n := c.Choose(3)
	c.Log("%q %d %q", before, n, c.Try("b", "EIO", "ENOSPC"))
}

// TestChoicesAreDrawnEvenly: at random every combination is as likely, also where nodes live.
func TestChoicesAreDrawnEvenly(t *testing.T) {
	const paths, combinations = 3000, 12
	s := small{rules: world.Rules{Latency: time.Millisecond}, programs: func() []worldtest.Program {
		return []worldtest.Program{&asker{questions: []int{3, 4}}, &asker{questions: []int{2, 2}}}
	}}
	even := func(name string, said map[string]int) {
		t.Helper()
		if len(said) != combinations {
			t.Errorf("%s: %d combinations, want %d: %v", name, len(said), combinations, said)
		}
		for what, n := range said {
			if want := paths / combinations; n < want*7/10 || n > want*13/10 {
				t.Errorf("%s: %q %d times, want about %d", name, what, n, want)
			}
		}
	}
	for name, e := range map[string]strategy.Explorer{
		"walks": &strategy.Walks{Seed: 3}, "priorities": &strategy.Priorities{Seed: 3},
		"pos": &strategy.Sampling{Seed: 3}, "slow": &strategy.Slow{Seed: 3},
		"novelty":   &strategy.Novelty{Seed: 3, Features: &strategy.Features{}},
		"rounds":    &strategy.Rounds{Seed: 3, Backtracks: space.AtMost(0)},
		"periphery": &strategy.Periphery{Seed: 3, Depth: 1, Walks: paths},
	} {
		said := map[string]int{}
		x := s.exploration(t, e)
		n := 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			if p.Event(1).Node != 1 && name == "periphery" {
				return n < paths // the first step is no walk
			}
			n++
			for i := range p.Steps() {
				if st := p.Step(i + 1); st.Action.Node == 0 {
					said[st.Output.Logs[0].Text]++
				}
			}
			return n < paths
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		if name == "periphery" {
			continue // which branches the first step, and walks from each
		}
		even(name, said)
	}

	said := map[string]int{}
	index := 0
	y := world.NewSystem(s.rules, worldtest.Nodes(s.programs()...))
	x := &search.Exploration{Space: space.Live(y, memotest.Living(y, s.programs)), Checks: s.exploration(t, nil).Checks,
		Explorer: &strategy.Random{Seed: 3, Draw: func() (int, bool) { index++; return index, index <= paths }}}
	x.Watch = func(p *space.Path) {
		if by := p.Last().By; by != nil && by.From.Node == 0 {
			said[by.Output.Logs[0].Text]++
		}
	}
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	even("random", said)
}

// TestNaturalIsTheFirst: on the natural schedule programs are told the first of what there is,
// and that is the first path of every strategy.
func TestNaturalIsTheFirst(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond}, programs: func() []worldtest.Program {
		return []worldtest.Program{&asker{questions: []int{3, 4}, peers: []ariadne.NodeID{1}}, listener{}}
	}}
	explorers := map[string]strategy.Explorer{"natural": &strategy.Natural{}, "slow": &strategy.Slow{Seed: 1},
		"priorities": &strategy.Priorities{Seed: 1},
		"pos":        &strategy.Sampling{Seed: 1},
		"default":    strategy.Default{Rounds: strategy.Rounds{Seed: 1}}.Explorers()[0]}
	for name, e := range divisible() {
		explorers[name] = e
	}
	for name, e := range explorers {
		x := s.exploration(t, e)
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			for i := range p.Steps() {
				if a := p.Step(i + 1).Action; a.Vary != "" {
					t.Errorf("%s: %s", name, p.System().Names().Action(a))
				}
			}
			return false
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChoicesReplay: a trace has the choices that were drawn, and to follow it makes the same
// steps, as the trace stands on disk.
func TestChoicesReplay(t *testing.T) {
	with := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t, 3, 5, true)
		s.bounds, s.clients = space.Bounds{}, nil
		nodes := worldtest.Nodes(s.programs()...)
		for i := range s.starts {
			nodes[i].Start = ariadne.Time(s.starts[i]) * 1e6
		}
		y := world.NewSystem(s.rules, nodes)
		checks := s.exploration(t, nil).Checks
		for i := range 5 {
			recorded := &trace.Trace{Header: trace.Header{MaxSteps: 1000}}
			e := &search.Execution{Space: space.Live(y, memotest.Living(y, s.programs)), Explorer: walk(7, i+1),
				Checks: checks, Limits: search.Limits{Steps: 1000}}
			e.Watch = func(s ariadne.Step) bool {
				recorded.Steps = append(recorded.Steps, trace.NewStep(s))
				if strings.Contains(s.Name, "choose:") {
					with++
				}
				return true
			}
			result, err := e.Run()
			if err != nil {
				t.Fatal(err)
			}
			recorded.End, recorded.Violation = result.End, trace.NewViolation(result.Violation, y.Names().Node)
			read, err := trace.Parse(trace.Format(recorded))
			if err != nil {
				t.Fatal(err)
			}
			r := &replay.Replay{Space: space.Live(y, memotest.Living(y, s.programs)), Trace: read, Checks: checks,
				CallName: worldtest.CallName}
			if again, mismatch, err := r.Run(); err != nil || mismatch != nil || again.Steps != result.Steps {
				t.Fatalf("%v, %+v after %d steps of %d", err, mismatch, again.Steps, result.Steps)
			}
		}
	})
	if with == 0 {
		t.Error("no step was told anything but the first")
	}
}

// TestManyChoicesInAStep: a random path executes a step once, however many choices there are in
// it, and no two of so many are alike, also when several workers draw at the same time.
func TestManyChoicesInAStep(t *testing.T) {
	const paths = 40
	questions := make([]int, 30)
	for i := range questions {
		questions[i] = 4
	}
	s := small{rules: world.Rules{Latency: time.Millisecond}, uneven: 2, programs: func() []worldtest.Program {
		return []worldtest.Program{&asker{questions: questions}}
	}}
	y := world.NewSystem(s.rules, worldtest.Nodes(s.programs()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := memo.NewPool(m)
	var mu sync.Mutex
	said := map[string]int{}
	var workers sync.WaitGroup
	for i := range 3 {
		workers.Go(func() {
			nodes := pool.Worker(memo.NewExecutor(m, (&memotest.Instances{Programs: s.programs}).Boot(),
				memo.Limits{Checkpoints: 20, Audit: 1}))
			n := 0
			x := &search.Exploration{Space: s.space(y, m, nodes),
				Explorer: &strategy.Walks{Seed: strategy.SeedOf(1, i)}, Checks: func() []property.Check { return nil }}
			x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
				mu.Lock()
				defer mu.Unlock()
				said[p.Step(1).Output.Logs[0].Text]++
				n++
				return n < paths
			}
			_, err := x.Run()
			if err := errors.Join(err, nodes.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	if len(said) != 3*paths {
		t.Errorf("%d kinds of paths, want %d", len(said), 3*paths)
	}
	if c := pool.Counts(); c.Executed != 3*paths+1 || c.Mismatches > 0 || c.Audited != c.Executed {
		t.Errorf("%+v", c)
	}
}
