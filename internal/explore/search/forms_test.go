package search_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/system/spec"

	"pgregory.net/rapid"
)

// shownStep is what a step has shown: the number that its node has written, or that its programs
// are no more.
type shownStep struct {
	node  int
	shows []int
	down  bool
}

// shownNow is what the nodes show behind some steps, by the definitions of what they expose and
// nothing else.
type shownNow struct {
	step map[int]int // by node: the last number; none when the node went down since
	low  map[int]int // the last number up to 2, unless there was a 5 since
	said map[int][]int
}

func (n shownNow) equal(o shownNow) bool { return maps.Equal(n.step, o.step) }

// shown is what they show behind each number of steps.
func shown(steps []shownStep) (all []shownNow) {
	now := shownNow{step: map[int]int{}, low: map[int]int{}, said: map[int][]int{}}
	all = append(all, now)
	for _, s := range steps {
		now = shownNow{step: maps.Clone(now.step), low: maps.Clone(now.low), said: maps.Clone(now.said)}
		for _, n := range s.shows {
			now.step[s.node] = n
			now.said[s.node] = append(slices.Clone(now.said[s.node]), n)
			if n <= 2 {
				now.low[s.node] = n
			} else if n == 5 {
				delete(now.low, s.node)
			}
		}
		if s.down {
			delete(now.step, s.node)
			delete(now.low, s.node)
		}
		all = append(all, now)
	}
	return all
}

// form is a sentence of a spec, and what it means: of a prefix of an execution (the last one of
// all), or of an execution that has ended.
type form struct {
	text  string
	holds func(all []shownNow) bool
	ended func(steps []shownStep, all []shownNow) bool
}

// twoOf reports whether two nodes have the same number.
func twoOf(numbers map[int]int) bool {
	seen := map[int]bool{}
	for _, n := range numbers {
		if seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}

func last(all []shownNow) shownNow { return all[len(all)-1] }

var forms = []form{
	{text: `always: 'len([t for t in step if t.n == "3"]) < 2'`, holds: func(all []shownNow) bool {
		threes := 0
		for _, n := range last(all).step {
			if n == 3 {
				threes++
			}
		}
		return threes < 2
	}},
	{text: `never: 'len(low) == 2'`, holds: func(all []shownNow) bool { return len(last(all).low) != 2 }},
	{text: "number: 'len(low)'\n    at_most: 1", holds: func(all []shownNow) bool { return len(last(all).low) < 2 }},
	{text: "number: 'min([int(t.n) for t in step]) if step else None'\n    at_least: 1", holds: func(all []shownNow) bool { return !slices.Contains(slices.Collect(maps.Values(last(all).step)), 0) }},
	{text: `one: low`, holds: func(all []shownNow) bool { return len(last(all).low) < 2 }},
	{text: "one: low\n    per: n", holds: func(all []shownNow) bool { return !twoOf(last(all).low) }},
	{text: `agree: low`, holds: func(all []shownNow) bool {
		return len(slices.Compact(slices.Sorted(maps.Values(last(all).low)))) < 2
	}},
	{text: `rises: step`, holds: func(all []shownNow) bool {
		if len(all) < 2 {
			return true
		}
		before := all[len(all)-2]
		for node, n := range last(all).step {
			if was, ok := before.step[node]; ok && n < was {
				return false
			}
		}
		return true
	}},
	{text: "window: 2\n    always: 'not any([b.n == \"5\" and t.n == \"0\" for t in step for s in earlier for b in s.step if b.node == t.node])'", holds: func(all []shownNow) bool {
		now := last(all)
		for left, i := 2, len(all)-2; i >= 0 && left > 0; i-- {
			if all[i].equal(all[i+1]) {
				continue
			}
			left--
			for node, n := range now.step {
				if was, ok := all[i].step[node]; ok && n == 0 && was == 5 {
					return false
				}
			}
		}
		return true
	}},
	{text: `finally: 'len(low) > 0'`, ended: func(_ []shownStep, all []shownNow) bool {
		return len(last(all).low) > 0
	}},
	{text: "linearizable: mine", ended: func(steps []shownStep, _ []shownNow) bool {
		return explainedBy(steps, false)
	}},
	{text: "sequential: mine", ended: func(steps []shownStep, _ []shownNow) bool { return explainedBy(steps, true) }},
}

func sum(numbers map[int]int) (sum int) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// stagedForms are of what stages make of what nodes expose.
var stagedForms = []form{
	{text: `always: 'not alike'`, holds: func(all []shownNow) bool { return !twoOf(last(all).low) }},
	{text: `never: 'total[0].sum == "7"'`, holds: func(all []shownNow) bool { return sum(last(all).step) != 7 }},
	{text: `rises: total`, holds: func(all []shownNow) bool {
		return len(all) < 2 || sum(last(all).step) >= sum(all[len(all)-2].step)
	}},
	{text: `one: low_ones`, holds: func(all []shownNow) bool {
		nodes := 0
		for _, n := range last(all).low {
			if n > 0 {
				nodes++
			}
		}
		return nodes < 2
	}},
	{text: `finally: 'len(alike) + len(low_ones) > 0'`, ended: func(_ []shownStep, all []shownNow) bool {
		low := last(all).low
		return twoOf(low) || sum(low) > 0
	}},
}

// readyForms are ready-made properties, which are followed by what they are about.
var readyForms = []form{
	{text: `agreement: 'shows ([34])'`, holds: func(all []shownNow) bool {
		seen := map[int]bool{}
		for _, said := range last(all).said {
			for _, n := range said {
				if n == 3 || n == 4 {
					seen[n] = true
				}
			}
		}
		return len(seen) < 2
	}},
	{text: `one_leader: 'shows (?P<term>[0-3])'`, holds: func(all []shownNow) bool {
		by := map[int]int{}
		for node, said := range last(all).said {
			for _, n := range said {
				if was, ok := by[n]; n <= 3 && ok && was != node {
					return false
				} else if n <= 3 {
					by[n] = node
				}
			}
		}
		return true
	}},
}

// mine is a model of a user's: no operation follows one that is called so, too, and 0, or what
// follows one, is told 1, others 3.
const mine = `
def mine(state, op, value, result):
    wrong = result != None and (result == "1") != ("0" in [op, state])
    return None if state == op or wrong else op
`

// staged are stages, and their functions.
const staged = `stages:
  alike: {of: low, key: n, execute: alike}
  counts: {of: [step, low], key: [n, node], execute: count, change: recount}
  total: {of: counts, execute: total, change: more}
  low_ones: {of: low, execute: low_ones}
`

const stageFunctions = `
def alike(low):
    return [{"n": low[0].n}] if len(low) > 1 else []

def count(step, low):
    return [(step[0].n, len(step))] if step else []

def recount(before, added, removed):
    n = sum([int(b.values[1]) for b in before]) + len(added.step) - len(removed.step)
    return [((added.step + list(before))[0].values[0], n)] if n else []

def total(counts):
    return [dict(sum = sum([int(c.values[0]) * int(c.value) for c in counts]))]

def more(before, added, removed):
    gone = sum([int(c.values[0]) * int(c.value) for c in removed.counts])
    return [{"sum": int(before[0].sum) + sum([int(c.values[0]) * int(c.value) for c in added.counts]) - gone}]

def low_ones(low):
    return [t for t in low if int(t.n) > 0]

def sum(numbers):
    all = 0
    for n in numbers:
        all += n
    return all
`

// clientOp is an operation of a client's.
type clientOp struct {
	node, op, result int // -1: nobody knows
	from, to         int
}

// explainedBy tries all orders of the clients' operations.
func explainedBy(steps []shownStep, sequential bool) bool {
	var all []clientOp
	open := map[int]int{} // place in all, plus 1
	at := 0
	for _, s := range steps {
		for _, n := range s.shows {
			i := open[s.node] - 1
			switch at++; {
			case n%2 == 0:
				all = append(all, clientOp{s.node, n, -1, at, -1})
				open[s.node] = len(all)
				continue
			case i < 0:
			case n == 5: // it has failed
				all[i].op = -1
			default:
				all[i].result, all[i].to = n, at
			}
			open[s.node] = 0
		}
		if s.down {
			open[s.node] = 0
			at++
		}
	}
	all = slices.DeleteFunc(all, func(o clientOp) bool { return o.op < 0 })
	var ordered func(all []clientOp, state int) bool
	ordered = func(all []clientOp, state int) bool {
		if !slices.ContainsFunc(all, func(o clientOp) bool { return o.to >= 0 }) {
			return true
		}
		for i, o := range all {
			if slices.ContainsFunc(all, func(q clientOp) bool {
				return q.to >= 0 && q.to < o.from && (!sequential || q.node == o.node)
			}) {
				continue
			}
			if wrong := o.result >= 0 && (o.result == 1) != (o.op == 0 || state == 0); o.op != state && !wrong &&
				ordered(slices.Delete(slices.Clone(all), i, i+1), o.op) {
				return true
			}
		}
		return false
	}
	return ordered(all, -1)
}

// sentence makes properties of a sentence, as a spec has it, with n1 for a client if there are
// some.
func sentence(t *rapid.T, dir string, nodes int, f form, ready, clients bool) space.Properties {
	var b strings.Builder
	fmt.Fprintln(&b, "nodes:")
	for i := range nodes {
		fmt.Fprintf(&b, "  - {name: n%d, command: 'true', client: %v}\n", i+1, clients && i == 0)
	}
	fmt.Fprint(&b, "definitions: mine.star\nhistory: {invoke: 'shows (?P<op>[024])', ok: 'shows (?P<value>[13])', fail: 'shows 5'}\n",
		"expose:\n  step: 'shows (?P<n>[0-5])'\n  low: {line: 'shows (?P<n>[0-2])', until: 'shows 5'}\n", staged, "properties:\n")
	if ready {
		fmt.Fprintf(&b, "  %s\n", f.text)
	} else {
		fmt.Fprintf(&b, "  p:\n    %s\n", f.text)
	}
	path := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &s.Properties
	var names []string
	for i := range s.Nodes {
		names = append(names, s.Nodes[i].Name)
	}
	judged, err := judge.NewProperties(judge.Config{Path: path, Definitions: p.Definitions, Sources: p.Sources,
		Stages: p.Stages, History: p.History, Predicates: p.Predicates, Histories: p.Histories, Goals: p.Goals,
		Nodes: names})
	if err != nil {
		t.Fatal(err)
	}
	return judged.NewJudge(1)
}

// TestFormsAgreeWithBruteForce: what a sentence of a spec says of a drawn system is what it says by
// its definition of all executions, tried one by one: in the same places where all are taken, and
// whether there is such a place where a strategy claims to have exhausted them.
func TestFormsAgreeWithBruteForce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.star"), []byte(mine+stageFunctions), 0o644); err != nil {
		t.Fatal(err)
	}
	broken, whole := map[string]int{}, map[string]int{}
	agrees := func(t *rapid.T) {
		s := drawShowing(t, 3, 3, rapid.Bool().Draw(t, "timers"), true)
		s.bounds = space.Bounds{}
		crashes := s.rules.Faults[world.Crash]
		s.rules.Faults = worldtest.Faults("crash", int(min(crashes, 1)))
		explored := func(e strategy.Explorer, p space.Properties,
			ended func(p *space.Path, end string, v *ariadne.Violation)) bool {
			s.properties = p
			x := s.exploration(t, e)
			x.Checks = func() []property.Check { return nil }
			paths := 0
			x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				if end != search.EndSeen && end != search.EndStrategy {
					ended(p, end, v)
				}
				paths++
				return paths < 1500
			}
			how, err := x.Run()
			if err != nil {
				t.Fatal(err)
			}
			return how == search.SearchExhausted
		}
		// All executions, judged by nobody.
		type execution struct {
			prefixes []hash.Hash // of the steps' names
			steps    []shownStep
		}
		identities := func(p *space.Path) (all []hash.Hash) {
			h := hash.Hash{}
			for i := range p.Steps() + 1 {
				if i > 0 {
					h = h.Plus(hash.OfText(p.Step(i).Name)).Plus(hash.Of(uint64(i), uint64(p.Step(i).At), 1))
				}
				all = append(all, h)
			}
			return all
		}
		var executions []execution
		if !explored(&strategy.DepthFirst{All: true}, nil, func(p *space.Path, end string, _ *ariadne.Violation) {
			x := execution{prefixes: identities(p)}
			for i := range p.Steps() {
				by := p.Transition(i + 1)
				step := shownStep{node: int(by.From.Node), down: by.Effect.Down != ariadne.Up &&
					by.Effect.Down != ariadne.Paused}
				for _, l := range by.Output.Logs {
					n := 0
					if _, err := fmt.Sscanf(l.Text, "shows %d", &n); err == nil {
						step.shows = append(step.shows, n)
					}
				}
				x.steps = append(x.steps, step)
			}
			if end == search.EndQuiet || end == search.EndClients {
				executions = append(executions, x)
			}
		}) {
			t.SkipNow()
		}
		nodes := len(s.programs())
		for i, f := range slices.Concat(forms, stagedForms, readyForms) {
			want := map[hash.Hash]bool{}
			for _, x := range executions {
				all := shown(x.steps)
				if f.ended != nil {
					if !f.ended(x.steps, all) {
						want[x.prefixes[len(x.steps)]] = true
					}
					continue
				}
				for n := range all {
					if !f.holds(all[:n+1]) {
						want[x.prefixes[n]] = true
						break
					}
				}
			}
			said := sentence(t, dir, nodes, f, i >= len(forms)+len(stagedForms), false)
			got := map[hash.Hash]bool{}
			if !explored(&strategy.DepthFirst{All: true}, said, func(p *space.Path, _ string, v *ariadne.Violation) {
				if v != nil {
					h := identities(p)
					got[h[len(h)-1]] = true
				}
			}) || !maps.Equal(got, want) {
				t.Fatalf("%s: broken in %d places, want %d, of %d executions", f.text, len(got), len(want),
					len(executions))
			}
			for name, e := range map[string]strategy.Explorer{"breadth first": &strategy.BreadthFirst{},
				"DPOR": &strategy.DPOR{}, "default": strategy.Default{}.Explorers()[0]} {
				found := false
				if exhausted := explored(e, said, func(_ *space.Path, _ string, v *ariadne.Violation) {
					found = found || v != nil
				}); exhausted && found != (len(want) > 0) {
					t.Fatalf("%s: %s has found one: %v, want %v", f.text, name, found, len(want) > 0)
				}
			}
			if len(want) > 0 {
				broken[f.text]++
			} else {
				whole[f.text]++
			}
		}
	}
	all := slices.Concat(forms, stagedForms, readyForms)
	uncovered := func(f form) bool { return broken[f.text] == 0 || whole[f.text] == 0 }
	// A form that few of the drawn systems break may be broken by none of one check's.
	for range 6 {
		rapid.Check(t, agrees)
		if t.Failed() || !slices.ContainsFunc(all, uncovered) {
			break
		}
	}
	for _, f := range all {
		if uncovered(f) {
			t.Errorf("%s: broken in %d systems, whole in %d", f.text, broken[f.text], whole[f.text])
		}
	}
	t.Logf("broken in %v", broken)
}
