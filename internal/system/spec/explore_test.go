package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func TestReadExplore(t *testing.T) {
	s, err := Read("testdata/good/explore.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e := s.Explore
	if len(e.States) != 2 || e.States[0].String() != `leader (\w+)` {
		t.Errorf("states: %v", e.States)
	}
	e.States = nil
	n := func(n int) *int { return &n }
	compare(t, e, Explore{
		Line: 9, Strategy: "deviations", StrategyLine: 9, Script: filepath.Join("testdata", "good", "server"),
		ScriptLine: 10,
		Symmetric:  [][]ariadne.NodeID{{2, 3, 4}, {1, 0}},
		Weights:    [world.MaxKinds]int{ariadne.ActDeliver: 2, ariadne.ActFire: 5},
		Bounds: Bounds{From: "/became leader/", Depth: n(40), Deviations: n(0), Deliveries: n(30), Timers: n(2),
			Delays: n(1)},
		Backtracks: n(7), Branch: n(9),
	})
}

// TestDigestLeavesExploreOut: traces and remembered transitions stay good when only
// the search is changed, and nothing else is left out.
func TestDigestLeavesExploreOut(t *testing.T) {
	const explore = "explore:\n  strategy: dpor # the best\n  symmetric: [[n1, n2]]\n"
	const nodes = "nodes:\n  - {count: 2, command: sh -c 1}\n"
	digest := func(text string) ariadne.Digest {
		s, err := Parse("testdata/x.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return s.Digest
	}
	plain := digest(nodes + "seed: 3\n")
	for _, same := range []string{
		explore + nodes + "seed: 3\n", nodes + explore + "seed: 3\n", nodes + "seed: 3\n" + explore,
		nodes + strings.Replace(explore, "dpor", "rounds", 1) + "seed: 3\n",
		nodes + "explore: {strategy: dpor}\nseed: 3\n",
	} {
		if digest(same) != plain {
			t.Errorf("the section changes the digest of\n%s", same)
		}
	}
	anchor := "explore:\n  states: [&x '5']\n" + nodes + "seed: *x\n"
	flow := "{explore: {strategy: dpor}, nodes: [{command: sh -c 1}], seed: 3}\n"
	for _, other := range [][2]string{
		{nodes + "seed: 4\n", nodes + "seed: 3\n"},
		{nodes + explore + "seed: 4\n", nodes + explore + "seed: 3\n"},
		{anchor, strings.Replace(anchor, "5", "6", 1)},
		{flow, strings.Replace(flow, "3", "4", 1)},
	} {
		if digest(other[0]) == digest(other[1]) {
			t.Errorf("one digest for\n%sand\n%s", other[0], other[1])
		}
	}
}

// TestInterchangeable: copies of one description are, and so are descriptions that
// differ in names, addresses and numbers of the nodes.
func TestInterchangeable(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell")
	}
	for _, c := range []struct {
		a, b, want string
	}{
		{"{name: n1, command: sh -c 1}", "{name: n2, command: sh -c 2}", ""},
		{"{name: a, command: sh -c b:7001}", "{name: b, command: sh -c a:7002}", ""},
		{"{name: a, command: sh -l 10.0.0.1 x}", "{name: b, command: sh -l 10.0.0.2 x}", ""},
		{"{name: n1, env: {ID: 1}, command: sh}", "{name: n2, env: {ID: 2}, command: sh}", ""},
		{"{name: n1, command: sh -c 1}", "{name: n2, command: sh -c 1}", ""},
		{"{name: a, command: sh -c first}", "{name: b, command: sh -c second}",
			`"first" and "second" in their commands`},
		{"{name: a, command: sh x}", "{name: b, command: sh x y}", "one has more arguments"},
		{"{name: a, command: [sh, sh]}", "{name: b, command: sh}", "one has more commands"},
		{"{name: a, command: sh, start: 1s}", "{name: b, command: sh}", "start"},
		{"{name: a, command: sh, client: true}", "{name: b, command: sh}", "client"},
		{"{name: a, command: sh, may_fail: true}", "{name: b, command: sh}", "may_fail"},
		{"{name: a, command: sh, env: {X: 1}}", "{name: b, command: sh, env: {Y: 1}}", "env"},
	} {
		_, err := Parse("testdata/x.yaml",
			[]byte("nodes:\n  - "+c.a+"\n  - "+c.b+"\nexplore: {symmetric: [["+nameOf(c.a)+", "+nameOf(c.b)+"]]}\n"))
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), "not interchangeable: "+c.want)):
			t.Errorf("%s and %s: %v", c.a, c.b, err)
		}
	}
}

func nameOf(node string) string {
	_, rest, _ := strings.Cut(node, "name: ")
	name, _, _ := strings.Cut(rest, ",")
	return name
}
