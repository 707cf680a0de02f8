package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/property"

	"pgregory.net/rapid"
)

// goalForm is a sentence of a spec about what must happen, and what it means of an execution that
// has ended: where nothing can happen any more, nothing that is waited for does.
type goalForm struct {
	text   string
	ready  bool
	broken func(x *ended) bool
}

// ended is an execution that has ended by itself.
type ended struct {
	steps []shownStep
	exits []bool // by step: a program of its node has ended by itself
	all   []shownNow
	up    []bool // by node, at the end
}

// unserved reports whether a node is up that has written one of these numbers before the last fault
// that took it down, and none since.
func (x *ended) unserved(numbers ...int) bool {
	for node, up := range x.up {
		before, since := false, false
		for _, s := range x.steps {
			if s.node != node {
				continue
			}
			since = since || slices.ContainsFunc(s.shows, func(n int) bool { return slices.Contains(numbers, n) })
			if s.down {
				before, since = before || since, false
			}
		}
		if up && before && !since {
			return true
		}
	}
	return false
}

var goalForms = []goalForm{
	{text: "when: 'any([t.n == \"3\" for t in step])'\n    leads_to: 'len(low) > 0'", broken: func(x *ended) bool {
		waits := false
		for _, now := range x.all {
			for _, n := range now.step {
				waits = waits || n == 3
			}
			waits = waits && len(now.low) == 0
		}
		return waits
	}},
	{text: "eventually: 'len(low) > 0'", broken: func(x *ended) bool { return len(last(x.all).low) == 0 }},
	{text: "eventually: 'len(low) > 0'\n    stable_for: 3ms", broken: func(x *ended) bool {
		return len(last(x.all).low) == 0
	}},
	{text: "restarts: 'shows [34]'", ready: true, broken: func(x *ended) bool { return x.unserved(3, 4) }},
	{text: "restarts: 'shows [15]'", ready: true, broken: func(x *ended) bool { return x.unserved(1, 5) }},
	{text: "restarts: 'shows [02]'", ready: true, broken: func(x *ended) bool { return x.unserved(0, 2) }},
	{text: "answers: 1h", ready: true, broken: func(x *ended) bool {
		waits := false // the client n1
		for i, s := range x.steps {
			if s.node != 0 {
				continue
			}
			for _, n := range s.shows {
				waits = n%2 == 0
			}
			waits = waits && !s.down && !x.exits[i]
		}
		servers := 0
		for _, up := range x.up[1:] {
			if up {
				servers++
			}
		}
		return waits && x.up[0] && 2*servers > len(x.up)-1
	}},
}

// TestGoalsAgreeWithBruteForce: of drawn systems whose executions all end by themselves it is said
// that something that must happen does not if, and only if, it has not happened in one of all
// executions, tried one by one: by its sentence, whichever strategy claims to have exhausted them.
func TestGoalsAgreeWithBruteForce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.star"), []byte(mine+stageFunctions), 0o644); err != nil {
		t.Fatal(err)
	}
	broken, whole := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawShowing(t, 3, 3, rapid.Bool().Draw(t, "timers"), true)
		s.bounds, s.clients = space.Bounds{}, nil
		s.rules.Faults = worldtest.Faults("crash", rapid.SampledFrom([]int{0, 1, 1, 1}).Draw(t, "crash"))
		nodes := len(s.programs())
		out := world.Outages(ariadne.Crashed, nil,
			[][]time.Duration{{0}, {2e6}, {0, ariadne.Ever}}[rapid.IntRange(0, 2).Draw(t, "for how long")]...)
		for id := range nodes {
			out.Nodes = append(out.Nodes, ariadne.NodeID(id))
		}
		s.rules.NodeFaults = []world.NodeFaults{out}
		explored := func(e strategy.Explorer, p space.Properties,
			ended func(x *search.Exploration, p *space.Path, end string)) bool {
			s.properties = p
			x := s.exploration(t, e)
			x.Checks = func() []property.Check { return nil }
			paths := 0
			x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				if v != nil {
					t.Fatal(v)
				}
				if end != search.EndSeen && end != search.EndStrategy {
					ended(x, p, end)
				}
				paths++
				return paths < 1000
			}
			how, err := x.Run()
			if err != nil {
				t.Fatal(err)
			}
			return how == search.SearchExhausted
		}
		var executions []*ended
		if !explored(&strategy.DepthFirst{All: true}, nil, func(_ *search.Exploration, p *space.Path, end string) {
			if end != search.EndQuiet {
				t.Fatalf("an execution ended with %q", end)
			}
			x := &ended{}
			for i := range p.Steps() {
				by := p.Transition(i + 1)
				step := shownStep{node: int(by.From.Node), down: by.Effect.Down != ariadne.Up}
				for _, l := range by.Output.Logs {
					n := 0
					if _, err := fmt.Sscanf(l.Text, "shows %d", &n); err == nil {
						step.shows = append(step.shows, n)
					}
				}
				x.steps, x.exits = append(x.steps, step), append(x.exits, len(by.Output.Exits) > 0)
			}
			x.all = shown(x.steps)
			for _, n := range p.Last().State.State.Nodes {
				x.up = append(x.up, n.Started && n.Down == ariadne.Up)
			}
			executions = append(executions, x)
		}) {
			t.SkipNow()
		}
		for _, f := range goalForms {
			want := false
			for _, x := range executions {
				want = want || f.broken(x)
			}
			said := sentence(t, dir, nodes, form{text: f.text}, f.ready, true)
			for name, e := range map[string]strategy.Explorer{"depth first": &strategy.DepthFirst{},
				"breadth first": &strategy.BreadthFirst{}, "DPOR": &strategy.DPOR{},
				"deviations": &strategy.FewestDeviations{}} {
				found := ""
				var l *search.Liveness
				if exhausted := explored(e, said, func(x *search.Exploration, p *space.Path, _ string) {
					var err error
					if l == nil {
						if l, err = search.NewLiveness(x); err != nil {
							t.Fatal(err)
						}
					}
					r, err := l.TakeWalk(p, p.Steps())
					if err != nil {
						t.Fatal(err)
					}
					if r.Stuck != nil {
						v := l.Violation(r.Stuck)
						if found = v.Message; v.Kind != property.Dead {
							t.Fatalf("%s: %s: %s", f.text, v.Kind, v.Message)
						}
					}
				}); exhausted && (found != "") != want {
					t.Fatalf("%s: %s has found %q, want one: %v, of %d executions", f.text, name, found, want,
						len(executions))
				}
			}
			kind, _, _ := strings.Cut(f.text, ":")
			if want {
				broken[kind]++
			} else {
				whole[kind]++
			}
		}
	})
	for _, kind := range []string{"when", "eventually", "restarts", "answers"} {
		if broken[kind] == 0 || whole[kind] == 0 {
			t.Errorf("%s: broken in %d systems, whole in %d", kind, broken[kind], whole[kind])
		}
	}
	t.Logf("broken in %v, whole in %v", broken, whole)
}
