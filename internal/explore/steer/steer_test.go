package steer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/script"
)

func mustLoad(t *testing.T, src string) *Script {
	t.Helper()
	s, err := load("rules.star", src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newSearch returns a search of programs with rules and without checks.
func newSearch(t *testing.T, s *Script, e strategy.Explorer, programs func() []worldtest.Program) (*search.Exploration,
	*Rules) {
	return newSearchUnder(t, world.Rules{Latency: time.Millisecond, Delays: 1}, s, e, programs)
}

func newSearchUnder(t *testing.T, rules world.Rules, s *Script, e strategy.Explorer,
	programs func() []worldtest.Program) (*search.Exploration, *Rules) {
	t.Helper()
	y := world.NewSystem(rules, worldtest.Nodes(programs()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Instances{Programs: programs}).Boot(), memo.Limits{Checkpoints: 20})
	t.Cleanup(func() { x.Close() })
	r := s.Rules(y, 1)[0]
	p := space.New(y, m, x)
	if s.HasIndependent() {
		p.Independent = r.Independent
	}
	q := &search.Exploration{Space: p, Explorer: e, Checks: func() []property.Check { return nil },
		Stopped: func() bool { return r.Err() != nil }}
	if s.HasSame() {
		q.Classes = append(q.Classes, r.Class)
	}
	if e, ok := e.(*strategy.Scripted); ok {
		e.Ask = r.Explore
	}
	return q, r
}

// views writes all that a script can see.
const views = `
def explore(path, state, enabled):
    if len(path) == 5:
        print([(a.index, a.kind, a.name, a.node, a.sender, a.text, a.size, a.port, a.flags, [l for l in a.logs]) for a in path])
        print([(m.sender, m.receiver, m.text, m.size, m.port, m.flags, m.delayed) for m in state.messages])
        print([(n.name, n.started, n.ended, list(n.logs), n.last) for n in state.nodes])
        print(state.steps, state.delays, state.deviations, state.time, state, path[-1], path[:2], len(path[1:4:2]))
        print([(a.index, a.kind, a.node, a.text, a.time, list(a.sent)) for a in enabled], dir(enabled[0]))
        print([str(m) for m in path[-1].sent], state.node("n2").name, bool(path), bool(path[:0]), type(path), [a.sent for a in path][0])
        print(match("g(o)t", "got it"), match("x", "y"), json.encode([1]), math.floor(1.5))
    return [enabled[0]] if len(path) < 6 else []
`

func TestViews(t *testing.T) {
	s := mustLoad(t, views)
	var lines []string
	s.Print = func(l string) { lines = append(lines, l) }
	x, r := newSearch(t, s, &strategy.Scripted{}, func() []worldtest.Program {
		return []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 3}, worldtest.Pong{}}
	})
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchDone {
		t.Fatal(how, err, r.Err())
	}
	want := []string{
		`[(0, "start", "start n1", "n1", None, "", 0, None, "", []), (1, "start", "start n2", "n2", None, "", 0, None, "", []), ` +
			`(2, "deliver", "deliver n1:1001>n2:1000 #1", "n2", "n1", "ping", 4, 1000, "", []), ` +
			`(3, "deliver", "deliver n2:1000>n1:1001 #1", "n1", "n2", "pong", 4, 1001, "", ["got pong"]), ` +
			`(4, "deliver", "deliver n1:1001>n2:1000 #2", "n2", "n1", "ping", 4, 1000, "", [])]`,
		`[("n2", "n1", "pong", 4, 1001, "", False)]`,
		`[("n1", True, False, ["got pong"], "got pong"), ("n2", True, False, [], None)]`,
		`5 1 0 0.003004 state after 5 steps deliver n1:1001>n2:1000 #2 [start n1, start n2] 2`,
		`[(0, "deliver", "n1", "pong", 0.004005, [])] ["concealed", "exposed", "flags", "http", "index", "json", "kind", "logs", "name", "node", "port", "resp", "sender", "sent", "size", "text", "time", "variation", "what"]`,
		`["deliver n2:1000>n1:1001 #2"] n2 True False sequence [deliver n1:1001>n2:1000 #1]`,
		`("got", "o") None [1] 1`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// talks writes a line at each start.
type talks struct{ worldtest.Idle }

func (talks) Start(c *worldtest.Ctx) { c.Log("up") }

// TestLogsBeginAtBoot: what a script sees of a node that was down is from its last start on.
func TestLogsBeginAtBoot(t *testing.T) {
	s := mustLoad(t, `
kinds = ["start", "crash", "start"]
def explore(path, state, enabled):
    n = state.node("n1")
    print(len(path), list(n.logs), n.last)
    return [a for a in enabled if len(path) < len(kinds) and a.kind == kinds[len(path)]][:1]
`)
	var lines []string
	s.Print = func(l string) { lines = append(lines, l) }
	rules := world.Rules{Grid: 1e9}
	rules.Faults[world.Crash] = 2
	rules.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0}, 0)}
	x, r := newSearchUnder(t, rules, s, &strategy.Scripted{}, func() []worldtest.Program {
		return []worldtest.Program{talks{}}
	})
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchDone {
		t.Fatal(how, err, r.Err())
	}
	want := []string{`0 [] None`, `1 ["up"] up`, `2 [] None`, `3 ["up"] up`}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// TestFaultsHaveNames: a script sees faults by the kind and the name that a trace has.
func TestFaultsHaveNames(t *testing.T) {
	s := mustLoad(t, `
kinds = ["start", "start", "crash", "cut", "heal"]
def explore(path, state, enabled):
    if len(path) == len(kinds):
        for a in path:
            print(a.kind, a.name, a.node, a.what)
        return []
    return [a for a in enabled if a.kind == kinds[len(path)]][:1]
`)
	var lines []string
	s.Print = func(l string) { lines = append(lines, l) }
	rules := world.Rules{Latency: time.Millisecond, Grid: 1e9}
	rules.Faults[world.Crash], rules.Faults[world.Cut] = 1, 1
	rules.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0}, time.Hour)}
	rules.Partitions = []*world.Partition{world.NewPartition("n1|n2", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false,
		time.Second)}
	x, r := newSearchUnder(t, rules, s, &strategy.Scripted{}, func() []worldtest.Program {
		return []worldtest.Program{worldtest.Pong{}, worldtest.Pong{}}
	})
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchDone {
		t.Fatal(how, err, r.Err())
	}
	want := []string{
		"start start n1 n1 ", "start start n2 n2 ", "crash crash n1 for 1h0m0s n1 1h0m0s",
		"cut cut n1|n2 for 1s None n1|n2 for 1s", "heal heal n1|n2 for 1s None n1|n2 for 1s",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// teller tells of two events and says which has come.
type teller struct{ worldtest.Idle }

func (teller) Start(c *worldtest.Ctx) {
	c.Event(`{"op": "write", "key": {"a": [1, 2.5]}, "name": "mine"}`)
	c.Event(`{"op": "sync"}`)
}

func (teller) Receive(c *worldtest.Ctx, m ariadne.Message) { c.Log("%s", m.Data) }

// TestEventsHaveFields: those of an event are its attributes, unless all actions have one of the
// name; and which events may change places a script is asked.
func TestEventsHaveFields(t *testing.T) {
	s := mustLoad(t, `
def explore(path, state, enabled):
    if not path:
        return enabled
    if len(path) == 1:
        for a in enabled:
            print(a.kind, a.name, a.node, a.sender, a.op, getattr(a, "key", None), json.decode(a.text)["op"])
        print(enabled[0].key["a"][1], [a for a in dir(enabled[0]) if a in ("op", "key", "name")], hasattr(enabled[1], "key"))
        print([(m.op, str(m)) for m in state.messages])
    return [a for a in enabled if a.op == "sync"]
def independent(a, b):
    return a.kind == "event" and b.kind == "event" and a.op != b.op
`)
	var lines []string
	s.Print = func(l string) { lines = append(lines, l) }
	programs := func() []worldtest.Program { return []worldtest.Program{teller{}} }
	x, r := newSearch(t, s, &strategy.Scripted{}, programs)
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchDone {
		t.Fatal(how, err, r.Err())
	}
	want := []string{
		`event event n1 #1 n1 n1 write {"a": [1, 2.5]} write`, `event event n1 #2 n1 n1 sync None sync`,
		`2.5 ["key", "name", "op"] False`, `[("write", "event n1 #1"), ("sync", "event n1 #2")]`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, e := range []strategy.Explorer{&strategy.SleepSets{}, &strategy.DPOR{}} {
		x, r := newSearch(t, s, e, programs)
		if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchExhausted || x.Coverage.Paths != 1 {
			t.Errorf("%T: %s, %d paths, %v, %v", e, how, x.Coverage.Paths, err, r.Err())
		}
	}
}

// TestIndependentIsAskedOfFaults: whether a crash and a message of one node may change places, too.
func TestIndependentIsAskedOfFaults(t *testing.T) {
	paths := func(src string) int {
		t.Helper()
		rules := world.Rules{Latency: time.Millisecond, Grid: 1e9}
		rules.Faults[world.Crash] = 1
		rules.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0}, ariadne.Ever)}
		x, r := newSearchUnder(t, rules, mustLoad(t, src), &strategy.SleepSets{}, counting(2, false))
		how, err := x.Run()
		if err != nil || r.Err() != nil || how != search.SearchExhausted {
			t.Fatal(how, err, r.Err())
		}
		return x.Coverage.Paths
	}
	never, faults := paths("def independent(a, b):\n    return False\n"), paths("def independent(a, b):\n    return \"crash\" in (a.kind, b.kind) and \"deliver\" in (a.kind, b.kind)\n")
	if faults >= never {
		t.Errorf("%d paths where crashes and messages may change places, otherwise %d", faults, never)
	}
}

// TestExamples: the scripts of the examples load, and the definitions of specs beside them.
func TestExamples(t *testing.T) {
	files, _ := filepath.Glob("../../../examples/*/*.star")
	scripts, definitions := 0, 0
	for _, path := range files {
		specs, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.yaml"))
		if slices.ContainsFunc(specs, func(s string) bool {
			text, err := os.ReadFile(s)
			return err == nil && strings.Contains(string(text), "\ndefinitions: "+filepath.Base(path)+"\n")
		}) {
			definitions++
			if _, err := judge.NewProperties(judge.Config{Definitions: path}); err != nil {
				t.Error(err)
			}
			continue
		}
		scripts++
		if _, err := Load(path); err != nil {
			t.Error(err)
		}
	}
	if scripts == 0 || definitions == 0 {
		t.Errorf("%d scripts, %d definitions", scripts, definitions)
	}
}

func TestLoadFindsMistakes(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"def same(state):\n    return 1\n", ""},
		{"x = 1\n", "rules.star: the script has none of explore(path, state, enabled), independent(a, b) and same(state)"},
		{"def same(state)\n", "rules.star:2:1: got newline, want ':'"},
		{"def same(state):\n    return sate\n", "rules.star:2:12: undefined: sate (did you mean same?)"},
		{"def same(a, b):\n    return 1\n", "rules.star:1:1: same must have the form same(state)"},
		{"def explore(*args):\n    return 1\n", "rules.star:1:1: explore must have the form explore(path, state, enabled)"},
		{"independent = 3\n", "rules.star: independent is not a function: it must have the form independent(a, b)"},
		{"def f(x):\n    return 1 // x\nf(0)\ndef same(s):\n    return 1\n", "rules.star:2:14: floored division by zero\nTraceback (most recent call last):\n  rules.star:3:2: in <toplevel>\n  rules.star:2:14: in f"},
		{"load('a', 'b')\n", "rules.star:1:1: load not implemented by this application"},
		{"def f():\n    for i in range(100000000):\n        pass\nf()\n", "rules.star:2:5: Starlark computation cancelled: too many steps"},
	} {
		_, err := load("rules.star", c.src)
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %s", c.src, err, c.want)
		}
	}
	_, err := Load(filepath.Join(t.TempDir(), "none.star"))
	if e := (*script.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "a.star")
	if err := os.WriteFile(path, []byte("def same(state):\n    return None\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil || s.Name != "a.star" || s.HasExplore() || s.HasIndependent() || !s.HasSame() {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestRulesFindMistakes: what is wrong when a rule is called, or with what it returns,
// ends the search.
func TestRulesFindMistakes(t *testing.T) {
	const head = "def explore(path, state, enabled):\n    return "
	for _, c := range []struct{ src, want string }{
		{head + "enabled", ""},
		{head + "[(a, len(path)) for a in enabled]", ""},
		{head + "None", "rules.star:1:1: explore() returned NoneType: a list of actions is needed, or of (action, priority)"},
		{head + "[0, 0]", "rules.star:1:1: explore() returned action 0 twice"},
		{head + "[99]", "rules.star:1:1: explore() returned action 99: an index from 0 to "},
		{head + "[(0, 'high')]", `rules.star:1:1: explore() returned the priority "high": a number is needed`},
		{head + "[(0, 1, 2)]", "rules.star:1:1: explore() returned a tuple of 3: (action, priority) is needed"},
		{head + "['start']", "rules.star:1:1: explore() returned string in its list: an action or its index is needed"},
		{head + "[path[0]] if path else enabled", "rules.star:1:1: explore() returned an action of the path"},
		{head + "state.nodes[0].nmae", "rules.star:2:26: node has no .nmae field or method\nTraceback (most recent call last):\n  rules.star:2:26: in explore"},
		{head + "state.node('n9')", "rules.star:2:22: node: there is no node \"n9\""},
		{head + "[x for x in range(1 << 30)]", "rules.star:2:15: Starlark computation cancelled: too many steps"},
		{"seen = []\ndef explore(path, state, enabled):\n    seen.append(1)\n    return enabled", "rules.star:3:16: append: cannot append to frozen list"},
		{"seen = {}\ndef explore(path, state, enabled):\n    seen[len(path)] = 1\n    return enabled", "rules.star:3:9: cannot insert into frozen hash table"},
		{"def keeper():\n    seen = []\n    return lambda n: seen.append(n)\nkeep = keeper()\ndef explore(path, state, enabled):\n    keep(len(path))\n    return enabled",
			"rules.star:3:33: append: cannot append to frozen list"},
		{"def keep(n, seen=set()):\n    seen.add(n)\ndef explore(path, state, enabled):\n    keep(len(path))\n    return enabled",
			"rules.star:2:13: add: cannot insert into frozen hash table"},
		{"def same(state):\n    return state.nodes", "rules.star:1:1: same() returned a value that cannot be compared: unhashable: use the fields that matter"},
		{"def same(state):\n    return [1]", "rules.star:1:1: same() returned a value that cannot be compared: unhashable type: list"},
		{"def independent(a, b):\n    return 1", "rules.star:1:1: independent() returned int: True or False is needed"},
	} {
		s := mustLoad(t, c.src)
		var e strategy.Explorer = &strategy.Scripted{}
		if !s.HasExplore() {
			e = &strategy.SleepSets{}
		}
		x, r := newSearch(t, s, e, worldtest.Race)
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		switch err := r.Err(); {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s:\ngot  %v\nwant %s", c.src, err, c.want)
		}
	}
}

// TestExplore: all that is enabled, in whatever order, is all there is; what is left
// out is counted; what has the least priority comes first.
func TestExplore(t *testing.T) {
	states := func(e strategy.Explorer, src string) (int, string) {
		s := mustLoad(t, src)
		x, r := newSearch(t, s, e, worldtest.Race)
		if _, err := x.Run(); err != nil || r.Err() != nil {
			t.Fatal(err, r.Err())
		}
		return x.Coverage.States, e.(strategy.Exhaustive).Missed()
	}
	const head = "def explore(path, state, enabled):\n    return "
	all, _ := states(&strategy.DepthFirst{}, head+"[]")
	for _, rule := range []string{"enabled", "[a.index for a in enabled]", "[(a, -len(path)) for a in enabled]",
		"[(a, a.index * 0.5) for a in reversed(enabled)]"} {
		if n, missed := states(&strategy.Scripted{}, head+rule); n != all || missed != "" {
			t.Errorf("%s: %d states of %d, %s", rule, n, all, missed)
		}
	}
	n, missed := states(&strategy.Scripted{}, head+"[a for a in enabled if a.sender != 'n3']")
	if n >= all || missed != "explore() left out 3 actions" {
		t.Errorf("%d states of %d, %s", n, all, missed)
	}
	if n, missed := states(&strategy.Scripted{Bytes: 10 * 64}, head+"enabled"); n >= all ||
		missed != "the memory for paths still to be tried was full" {
		t.Errorf("with little memory: %d states of %d, %s", n, all, missed)
	}
	first := ""
	s := mustLoad(t, head+"[(a, -1 - len(path) if a.node == 'n3' else len(path)) for a in enabled]")
	x, r := newSearch(t, s, &strategy.Scripted{}, worldtest.Race)
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		first = p.Step(1).Name
		return false
	}
	if _, err := x.Run(); err != nil || r.Err() != nil || first != "start n3" {
		t.Errorf("%s first, %v, %v", first, err, r.Err())
	}
}

// remembering is a script that looks at all kinds of globals, and at all it is given.
const remembering = `
costs = {"start": 0, "deliver": 1, "timer": 2}
servers = set(["n1", "n2"])
def keeper():
    kept = [1, 2, 3]
    return lambda i: kept[i % len(kept)]
kept = keeper()
def cost(a, weights=[1, 2]):
    return costs[a.kind] * weights[a.index % 2] + (kept(a.index) if a.node in servers else 0)
def explore(path, state, enabled):
    if len(path) == 3:
        print(str(state))
    lines = [l for n in state.nodes for l in n.logs] + [m.text for m in state.messages] + [a.name for a in path]
    return [(a, cost(a) + len([l for l in lines if match("w[o0]rd", l)])) for a in enabled]
`

// TestWorkersShareAScript: several workers call a script at the same time, and come to
// the same states.
func TestWorkersShareAScript(t *testing.T) {
	s := mustLoad(t, remembering)
	var printed atomic.Int64
	s.Print = func(string) { printed.Add(1) }
	alone, r := newSearch(t, s, &strategy.Scripted{}, counting(4, false))
	if how, err := alone.Run(); err != nil || r.Err() != nil || how != search.SearchExhausted {
		t.Fatal(how, err, r.Err())
	}
	asked := printed.Swap(0)
	first, _ := newSearch(t, s, nil, counting(4, false)) // for what it is made of
	m, err := memo.Open(first.Space.System, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool, seen := memo.NewPool(m), &space.Set{}
	var workers sync.WaitGroup
	rules := s.Rules(first.Space.System, 5)
	for i, e := range (&strategy.Scripted{}).Divide(5) {
		nodes := pool.Worker(memo.NewExecutor(m, (&memotest.Instances{Programs: counting(4, false)}).Boot(),
			memo.Limits{Checkpoints: 20}))
		workers.Go(func() {
			r := rules[i]
			e.(*strategy.Scripted).Ask = r.Explore
			x := &search.Exploration{Space: space.New(first.Space.System, m, nodes), Explorer: e, Checks: first.Checks,
				Seen: seen}
			how, err := x.Run()
			if err := errors.Join(err, r.Err(), nodes.Close()); err != nil || how != search.SearchExhausted {
				t.Error(how, err)
			}
		})
	}
	workers.Wait()
	if seen.Len() != alone.Seen.Len() || printed.Load() != asked || asked == 0 {
		t.Errorf("%d states, want %d; %d lines printed, want %d", seen.Len(), alone.Seen.Len(), printed.Load(), asked)
	}
}

// counter takes words and keeps what a script may or may not declare as mattering.
type counter struct {
	worldtest.Idle
	ordered bool
	words   []string
}

func (k *counter) Receive(c *worldtest.Ctx, m ariadne.Message) {
	k.words = append(k.words, string(m.Data))
	if len(k.words) < 2 {
		return
	}
	words := slices.Clone(k.words)
	if !k.ordered {
		slices.Sort(words)
	}
	c.Log("%s", strings.Join(words, " "))
}

// counting is a counter and n nodes that each send it a word.
func counting(n int, ordered bool) func() []worldtest.Program {
	return func() []worldtest.Program {
		p := []worldtest.Program{&counter{ordered: ordered}}
		for i := range n {
			p = append(p, saying(fmt.Sprint("word", i)))
		}
		return p
	}
}

type saying string

func (saying) Receive(*worldtest.Ctx, ariadne.Message) {}
func (saying) Fire(*worldtest.Ctx)                     {}
func (s saying) Start(c *worldtest.Ctx)                { c.Send(0, string(s)) }

const allApart = `
def independent(a, b):
    return a.kind == "deliver" and b.kind == "deliver" and a.node == "n1"
`

// TestIndependent: when what a node is given may come in any order, one path is left
// of all, with sleep sets and with DPOR.
func TestIndependent(t *testing.T) {
	for _, c := range []struct {
		src  string
		want int
	}{{"def independent(a, b):\n    return False\n", 24}, {allApart, 1},
		{"def independent(a, b):\n    return \"word0\" in (a.text, b.text)\n", 6}} {
		for name, e := range map[string]strategy.Explorer{"sleep sets": &strategy.SleepSets{},
			"DPOR": &strategy.DPOR{}} {
			x, r := newSearch(t, mustLoad(t, c.src), e, counting(4, false))
			how, err := x.Run()
			if err != nil || r.Err() != nil || x.Coverage.Paths != c.want || how != search.SearchExhausted {
				t.Errorf("%s with %s: %s after %d paths, want %d, %v, %v", name, c.src, how, x.Coverage.Paths, c.want,
					err, r.Err())
			}
		}
	}
}

func TestAuditIndependent(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		x, r := newSearch(t, mustLoad(t, allApart), &strategy.SleepSets{}, counting(2, ordered))
		r.Audit(x.Space.Source, 1)
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		err := r.Err()
		if !ordered && (err != nil || r.Audited == 0) {
			t.Errorf("%v, %d audited", err, r.Audited)
		}
		if want := "rules.star:2:1: independent() says that these steps are independent, but in the other order node n1 does something else:\n" +
			"  deliver n"; ordered &&
			(err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "word1 word0")) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestSame: states are as many as there are values, and what is left out is no state
// that a value stands for.
func TestSame(t *testing.T) {
	const bag = `
def same(state):
    if state.steps < 4:
        return None
    return (state.steps, len(state.messages))
`
	plain, r := newSearch(t, mustLoad(t, "def same(state):\n    return None\n"), &strategy.DepthFirst{},
		counting(3, false))
	if _, err := plain.Run(); err != nil || r.Err() != nil || plain.Coverage.Merged != 0 {
		t.Fatal(err, r.Err(), plain.Coverage)
	}
	x, r := newSearch(t, mustLoad(t, bag), &strategy.DepthFirst{}, counting(3, false))
	if _, err := x.Run(); err != nil || r.Err() != nil {
		t.Fatal(err, r.Err())
	}
	if x.Coverage.States >= plain.Coverage.States || x.Coverage.Merged == 0 {
		t.Errorf("%d states of %d, %d merged", x.Coverage.States, plain.Coverage.States, x.Coverage.Merged)
	}
	x, r = newSearch(t, mustLoad(t, "def same(state):\n    return 1\n"), &strategy.DepthFirst{}, counting(3, false))
	r.Audit(x.Space.Source, 1)
	if _, err := x.Run(); err != nil || r.Err() == nil ||
		!strings.Contains(r.Err().Error(), "same() says that two states are equal, but they allow different actions; one of them, after 1 steps, allows [") {
		t.Error(err, r.Err())
	}
}

// TestAuditSameAmongWorkers: it takes one worker to come to a state, and another to come to
// one that is taken for it and is not like it.
func TestAuditSameAmongWorkers(t *testing.T) {
	s := mustLoad(t, "def same(state):\n    return 1\n")
	x, _ := newSearch(t, s, &strategy.DepthFirst{}, counting(3, false))
	rules := s.Rules(x.Space.System, 2)
	p, err := space.NewPath(x.Space, space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		r.Audit(x.Space.Source, 1)
		r.Class(p)
		if r.Err() == nil {
			if err := p.Push(0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rules[0].Err() != nil || rules[1].Err() == nil || rules[0].Audited != 0 || rules[1].Audited != 1 {
		t.Error(rules[0].Err(), rules[1].Err())
	}
}

// BenchmarkExplore is a call of explore, with what a script usually looks at.
func BenchmarkExplore(b *testing.B) {
	s, err := load("rules.star", "def explore(path, state, enabled):\n    return [(a, state.deviations + a.index) for a in enabled if a.node != 'n9']\n")
	if err != nil {
		b.Fatal(err)
	}
	y := world.NewSystem(world.Rules{Latency: time.Millisecond}, worldtest.Nodes(worldtest.TwoPhaseCommit()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Instances{Programs: worldtest.TwoPhaseCommit}).Boot(), memo.Limits{})
	defer x.Close()
	p, err := space.NewPath(space.New(y, m, x), space.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	for range 3 {
		if err := p.Push(0); err != nil {
			b.Fatal(err)
		}
	}
	r := s.Rules(y, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		if len(r.Explore(p)) != len(p.Last().Enabled) {
			b.Fatal(r.Err())
		}
	}
}
