package check_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// pings are a server and two clients that do the same.
func pings() []worldtest.Program {
	return []worldtest.Program{&worldtest.Pong{}, &worldtest.Ping{Count: 3}, &worldtest.Ping{Count: 3}}
}

func loadScript(t *testing.T, dir, text string) *steer.Script {
	t.Helper()
	systemtest.Write(t, filepath.Join(dir, "rules.star"), text)
	s, err := steer.Load(filepath.Join(dir, "rules.star"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScript: what a script leaves out is said, as is what of its word counts; its
// mistakes are errors, and no bugs of ours.
func TestScript(t *testing.T) {
	s := systemtest.Spec(t, 3, 0)
	const leaving = "print('read')\ndef explore(path, state, enabled):\n    return enabled[:1]\n"
	const rules = "def same(state):\n    return state.steps\ndef independent(a, b):\n    return True\n"
	check := func(strategy, text string) (*record.Report, []string, error) {
		var lines []string
		o := check.Options{System: system.Options{Nodes: systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.TwoPhaseCommit}}, CallName: worldtest.CallName}, KeepGoing: true,
			OnPrint: func(line string) { lines = append(lines, line) },
			Search:  check.Search{Strategy: strategy, Script: loadScript(t, s.Dir, text)}}
		r, err := check.Check(t.Context(), s, o)
		return r, lines, err
	}
	r, lines, err := check("script", leaving)
	if err != nil || r.Coverage.Exhausted || !strings.HasPrefix(r.Coverage.Missed, "explore() left out ") ||
		!slices.Equal(lines, []string{"read"}) {
		t.Errorf("%+v, %q, %v", r, lines, err)
	}
	const shown = "the script's first execution without a violation: ariadne replay "
	at := slices.IndexFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, shown) })
	if at < 0 || len(r.Violations) > 0 {
		t.Fatalf("%q, %+v", r.Notes, r.Violations)
	}
	if kept, err := system.LoadTrace(strings.TrimPrefix(r.Notes[at], shown)); err != nil || len(kept.Steps) < 5 ||
		kept.Violation != nil {
		t.Errorf("%v, %+v", err, kept)
	}
	for strategy, want := range map[string]string{
		"depth-first": "states are equal when same() of rules.star says so",
		"sleep-sets":  "the order of two steps does not matter when independent() of rules.star says so",
	} {
		r, _, err := check(strategy, rules)
		if err != nil || strings.Join(r.Coverage.Under, "; ") != want {
			t.Errorf("%s: %v, %v", strategy, r.Coverage.Under, err)
		}
	}
	for text, want := range map[string]string{
		"def explore(path, state, enabled):\n    return [1 // len(path)]\n": "rules.star:2:15: floored division by zero\nTraceback",
		"def explore(path, state, enabled):\n    return [77]\n":             "rules.star:1:1: explore() returned action 77: an index from 0 to 2",
		rules: "strategy script needs a script that has explore(path, state, enabled)",
	} {
		r, _, err := check("script", text)
		if err == nil || r != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestSymmetricNodes(t *testing.T) {
	s := systemtest.Spec(t, 3, 0, 1, 2)
	o := check.Options{KeepGoing: true, Search: check.Search{Strategy: "depth-first"}}
	all := inMemory(t, s, pings, o).Coverage
	o.Search.Symmetric = [][]ariadne.NodeID{{1, 2}}
	half := inMemory(t, s, pings, o).Coverage
	if !all.Exhausted || !half.Exhausted || half.Merged == 0 || half.States > all.States*2/3 {
		t.Errorf("%d states, %d when two nodes are interchangeable, of which %d merged", all.States, half.States, half.Merged)
	}
	if want := []string{"nodes n2, n3 are interchangeable"}; !slices.Equal(half.Under, want) || all.Under != nil {
		t.Errorf("%q", half.Under)
	}
	o.Workers = 4
	if c := inMemory(t, s, pings, o).Coverage; !c.Exhausted || c.Merged == 0 || c.States > all.States*2/3 {
		t.Errorf("several workers: %d states, %d merged", c.States, c.Merged)
	}
	o.Search.Deviations = space.AtMost(3)
	if u := inMemory(t, s, pings, o).Coverage.Under; len(u) != 1 || !strings.Contains(u[0], "bounds on deviations") {
		t.Errorf("%q", u)
	}
	o.Search.Strategy = "sleep-sets"
	if c := inMemory(t, s, pings, o).Coverage; c.Under != nil || c.Merged != 0 {
		t.Errorf("%q, %d merged", c.Under, c.Merged)
	}
}

func TestSteer(t *testing.T) {
	n := func(n int) *int { return &n }
	e := spec.Explore{Weights: [world.MaxKinds]int{ariadne.ActDeliver: 2, ariadne.ActFire: 5}, Backtracks: n(7),
		Symmetric: [][]ariadne.NodeID{{0, 1}},
		Bounds:    spec.Bounds{Depth: n(40), Deviations: n(0), Deliveries: n(30), Timers: n(2), Delays: n(1)}}
	o := check.Options{Search: check.Search{Timers: space.Unbounded, Delays: space.AtMost(3)}}
	o.Search.Weights[ariadne.ActFire] = 9
	o.Steer(&e)
	m := o.Search
	if o.Depth != 40 || m.Deviations != space.AtMost(0) || m.Deliveries != space.AtMost(30) ||
		m.Timers != space.Unbounded ||
		m.Delays != space.AtMost(3) || m.Backtracks != space.AtMost(7) ||
		m.Weights != [world.MaxKinds]int{0, 0, 2, 9} || len(m.Symmetric) != 1 {
		t.Errorf("%+v", o)
	}
}

// TestDelaysAreBounded: fewer delays than the spec allows leave fewer states.
func TestDelaysAreBounded(t *testing.T) {
	s := systemtest.Spec(t, 3, 2)
	states := func(b space.Bound) int {
		o := check.Options{KeepGoing: true, Search: check.Search{Strategy: "depth-first", Delays: b}}
		return inMemory(t, s, worldtest.TwoPhaseCommit, o).Coverage.States
	}
	if none, one, two, more := states(space.AtMost(0)), states(space.AtMost(1)), states(0),
		states(space.AtMost(5)); none >= one || one >= two || two != more {
		t.Errorf("%d, %d, %d, %d states", none, one, two, more)
	}
}
