package steer

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// voter says what it is, and what it hears.
type voter struct {
	worldtest.Idle
	votes int
}

func (*voter) Start(c *worldtest.Ctx) { c.Log("role follower"); c.Log("knows x=1") }
func (v *voter) Receive(c *worldtest.Ctx, m ariadne.Message) {
	if v.votes++; v.votes == 2 {
		c.Log("role leader")
		c.Log("knows y=2")
		c.Log("forgets x")
	}
	c.Log("done")
}

// asker sends something of each protocol.
type asker struct {
	worldtest.Idle
	texts []string
}

func (a asker) Start(c *worldtest.Ctx) {
	for _, t := range a.texts {
		c.Send(0, t)
	}
}

var voted = expose.Sources{
	{Name: "role", Line: regexp.MustCompile(`^role (?P<kind>\w+)$`)},
	{Name: "knows", Line: regexp.MustCompile(`^knows (?P<what>\w)=(\d)$`), Key: []int{1},
		Until: regexp.MustCompile(`^forgets (?P<what>\w)$`), UntilKey: []int{1}},
	{Name: "gone", Line: regexp.MustCompile(`never`), Until: regexp.MustCompile(`^done$`)},
}

// TestExposedInScripts: a script reads what nodes expose in a state, and what steps have changed of
// it.
func TestExposedInScripts(t *testing.T) {
	s := mustLoad(t, `
def explore(path, state, enabled):
    n1 = state.node("n1")
    print(len(path), [(t.node, t.kind) for t in state.exposed.role],
        [(t.key, t.value, t.what) for t in n1.exposed.knows], n1.exposed.gone, state.node("n2").exposed.role)
    if path:
        print("  ", path[-1].kind, [t.value for t in path[-1].exposed.role], path[-1].concealed.knows, path[-1].concealed.gone, dir(path[-1].exposed))
    if enabled:
        print("  ", [list(a.exposed.role) for a in enabled[:1]])
    return [a for a in enabled if a.kind != "crash" or len(path) == 4][-1:]
`)
	var lines []string
	s.Print = func(l string) { lines = append(lines, strings.TrimSpace(l)) }
	rules := world.Rules{Latency: time.Millisecond, Grid: 1e9}
	rules.Faults[world.Crash] = 1
	rules.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0}, ariadne.Ever)}
	x, r := newSearchUnder(t, rules, s, &strategy.Scripted{}, func() []worldtest.Program {
		return []worldtest.Program{&voter{}, asker{texts: []string{"a", "b", "c"}}}
	})
	x.Space.Tells, r.Sources = voted, voted
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchDone {
		t.Fatal(how, err, r.Err())
	}
	want := []string{
		`0 [] [] [] []`, `[[]]`,
		`1 [] [] [] []`, `start [] [] [] ["gone", "knows", "role"]`, `[[]]`,
		`2 [("n1", "follower")] [("x", "1", "x")] [] []`, `start ["follower"] [] [] ["gone", "knows", "role"]`, `[[]]`,
		`3 [("n1", "follower")] [("x", "1", "x")] [] []`, `deliver [] [] [None] ["gone", "knows", "role"]`, `[[]]`,
		`4 [("n1", "leader")] [("y", "2", "y")] [] []`, `deliver ["leader"] ["x"] [None] ["gone", "knows", "role"]`,
		`[[]]`,
		`5 [] [] [] []`, `crash [] [] [] ["gone", "knows", "role"]`,
	}
	if !slices.Equal(lines[:min(len(lines), len(want))], want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnknownExposed: what the spec does not have is a mistake of the script.
func TestUnknownExposed(t *testing.T) {
	s := mustLoad(t, `
def same(state):
    return str(state.exposed.rule)
`)
	x, r := newSearch(t, s, &strategy.BreadthFirst{}, func() []worldtest.Program {
		return []worldtest.Program{&voter{}}
	})
	x.Space.Tells, r.Sources = voted, voted
	_, _ = x.Run()
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "rules.star:3:29: exposed has no .rule field or method (did you mean .role?)") {
		t.Error(err)
	}
}

// TestSameByExposed: states in which the nodes expose the same are one when the script says so, and
// independent reads what its two steps have exposed.
func TestSameByExposed(t *testing.T) {
	s := mustLoad(t, `
def same(state):
    return tuple([(t.node, t.value) for t in state.exposed.role]), len(state.messages), tuple([n.started for n in state.nodes])

def independent(a, b):
    return not a.exposed.role and not b.exposed.role
`)
	programs := func() []worldtest.Program {
		return []worldtest.Program{&voter{}, asker{texts: []string{"a"}}, asker{texts: []string{"b"}},
			asker{texts: []string{"c"}}}
	}
	x, r := newSearch(t, s, &strategy.BreadthFirst{}, programs)
	x.Space.Tells, r.Sources = voted, voted
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchExhausted {
		t.Fatal(how, err, r.Err())
	}
	plain, _ := newSearch(t, mustLoad(t, "def same(state): return None"), &strategy.BreadthFirst{}, programs)
	if _, err := plain.Run(); err != nil {
		t.Fatal(err)
	}
	if x.Coverage.States >= plain.Coverage.States || x.Coverage.Merged == 0 {
		t.Errorf("%d states, %d without a script", x.Coverage.States, plain.Coverage.States)
	}
	// Of three messages to n1 only the second makes it a leader: 6 orders, in which all of the two
	// steps that say so differ.
	d, r := newSearch(t, s, &strategy.DPOR{}, programs)
	d.Classes = nil
	d.Space.Tells, r.Sources = voted, voted
	if how, err := d.Run(); err != nil || r.Err() != nil || how != search.SearchExhausted {
		t.Fatal(how, err, r.Err())
	}
	all, _ := newSearch(t, mustLoad(t, "def independent(a, b): return False"), &strategy.DPOR{}, programs)
	if _, err := all.Run(); err != nil {
		t.Fatal(err)
	}
	if all.Coverage.Paths != 6 || d.Coverage.Paths >= 6 || d.Coverage.Paths < 2 {
		t.Errorf("%d paths, %d without a word", d.Coverage.Paths, all.Coverage.Paths)
	}
}

// TestDecodedMessages: what a message says in a known form is readable; a part of it is not.
func TestDecodedMessages(t *testing.T) {
	s := mustLoad(t, `
def explore(path, state, enabled):
    for m in state.messages:
        print([str(v) for v in (m.json, m.resp, m.http)])
    for a in enabled[-1:]:
        print(a.kind, a.resp, a.http and a.http[0].body)
    return enabled[-1:] if len(path) < 2 else []
`)
	var lines []string
	s.Print = func(l string) { lines = append(lines, l) }
	texts := []string{
		`{"term": 3, "votes": ["n1"]}`,
		"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nROLE\r\n",
		"*2\r\n$3\r\nGET\r\n$1\r\n",
		"PUT /v1/k HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
		"",
	}
	x, r := newSearch(t, s, &strategy.Scripted{}, func() []worldtest.Program {
		return []worldtest.Program{&voter{}, asker{texts: texts}}
	})
	if how, err := x.Run(); err != nil || r.Err() != nil || how != search.SearchDone {
		t.Fatal(how, err, r.Err())
	}
	want := []string{
		`start None None`,
		`["{\"term\": 3, \"votes\": [\"n1\"]}", "None", "None"]`,
		`["None", "[[\"GET\", \"k\"], [\"ROLE\"]]", "None"]`,
		`["None", "None", "None"]`,
		`["None", "None", "[struct(body = \"{}\", method = \"PUT\", status = None, target = \"/v1/k\")]"]`,
		`["None", "None", "[struct(body = \"none\", method = None, status = 404, target = None)]"]`,
		`["None", "None", "None"]`,
	}
	if !slices.Equal(lines[:min(len(lines), len(want))], want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}
