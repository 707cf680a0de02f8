package main

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// TestClassify: what an execution with a failure came to, compared with the natural one.
func TestClassify(t *testing.T) {
	s := &spec.Spec{Nodes: []spec.Node{{Name: "server", Commands: []spec.Command{{Args: []string{"/bin/server"}}}},
		{Name: "client", Client: true, Commands: []spec.Command{{Args: []string{"./client"}}}}},
		Fail: spec.Fail{Programs: []string{"server"}}}
	step := func(node int, exits []ariadne.Exit, lines ...string) ariadne.Step {
		o := ariadne.Output{Exits: exits}
		for _, l := range lines {
			o.Logs = append(o.Logs, ariadne.LogLine{Stream: 2, Text: l})
		}
		return ariadne.Step{Action: ariadne.Action{Node: ariadne.NodeID(node)}, Output: o}
	}
	ended := func(status, signal int) []ariadne.Exit { return []ariadne.Exit{{Status: status, Signal: signal}} }
	natural := &execution{end: search.EndClients,
		steps: []ariadne.Step{step(0, nil, "ready"), step(1, ended(0, 0), "value 1")}}
	for _, c := range []struct {
		what  string
		end   string
		steps []ariadne.Step
		want  outcome
		words string
	}{
		{"the same", search.EndClients,
			[]ariadne.Step{step(0, nil, "ready", "a warning"), step(1, ended(0, 0), "value 1")}, unchanged, ""},
		{"another answer", search.EndClients, []ariadne.Step{step(0, nil, "ready"), step(1, ended(0, 0), "value 0")},
			told, "client: value 0"},
		{"a client that fails", search.EndViolation,
			[]ariadne.Step{step(0, nil, "ready"), step(1, ended(1, 0), "no answer")}, told,
			"client exited with status 1: no answer"},
		{"a message", search.EndViolation, []ariadne.Step{step(0, nil, "no room"), step(0, ended(3, 0), "ready")},
			exits, "server exited with status 3: no room"},
		{"no message", search.EndViolation, []ariadne.Step{step(0, ended(3, 0), "ready")}, silent,
			"server exited with status 3"},
		{"without a word of failure", search.EndClients,
			[]ariadne.Step{step(0, ended(0, 0), "bye"), step(1, ended(0, 0), "value 1")}, stops,
			"server exited with status 0: bye"},
		{"abort", search.EndViolation, []ariadne.Step{step(0, ended(-1, 6))}, aborts, "server was killed by SIGABRT"},
		{"abort in a shell", search.EndViolation, []ariadne.Step{step(0, ended(134, 0), "Aborted")}, aborts,
			"server exited with status 134"},
		{"SIGSEGV", search.EndViolation, []ariadne.Step{step(0, ended(-1, 11))}, crashes,
			"server was killed by SIGSEGV"},
		{"nil in Go", search.EndViolation,
			[]ariadne.Step{step(0, ended(2, 0), "panic: runtime error: index out of range")}, crashes,
			"server exited with status 2: panic: runtime error: index out of range"},
		{"nil in Go, after a warning", search.EndViolation,
			[]ariadne.Step{step(0, nil, "failed to sync", "panic: runtime error: nil"), step(0, ended(2, 0))}, crashes,
			"server exited with status 2: panic: runtime error: nil"},
		{"no end", search.EndTime, []ariadne.Step{step(0, nil, "ready")}, hangs, "ends otherwise: time limit"},
		{"not modelled", search.EndFatal, []ariadne.Step{step(0, nil, "ready")}, inconclusive, search.EndFatal},
	} {
		o, words := classify(s, natural, &execution{end: c.end, steps: c.steps}, 1)
		if o != c.want || words != c.words {
			t.Errorf("%s: %s, %q; want %s, %q", c.what, o, words, c.want, c.words)
		}
	}
}

func TestPlaceOf(t *testing.T) {
	for name, want := range map[string]string{
		"7/write:/node/temp-12.rdb<redis-server:rdbSave+0x1f#3": "write /node/temp-N.rdb at redis-server:rdbSave+0x1f",
		"2/pread64:/node/db<etcd:a+0x1<etcd:b+0x2#1":            "pread64 /node/db at etcd:a+0x1<etcd:b+0x2",
		"2/socket:<nginx+0x76c#1":                               "socket at nginx+0x76c",
		"2/socket:<#1":                                          "socket at ",
	} {
		if got := placeOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPage: a bad outcome without a triage is told to be so, and makes the sweep fail.
func TestPage(t *testing.T) {
	targets, err := harness.ReadList[target]("../../examples/sweep.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := result{Places: 3, Beyond: 1,
		Sites: []site{{Place: "read /node/redis.conf at x+0x1", Vary: "fail:EIO@2/read:/node/redis.conf<x+0x1#1",
			Outcome: hangs, Words: "a|b"},
			{Place: "read /other at x+0x2", Vary: "fail:EIO@2/read:/other<x+0x2#1", Outcome: hangs}}}
	if left := unexplained(targets[0], r); len(left) != 1 || left[0].Place != "read /other at x+0x2" {
		t.Errorf("unexplained: %v", left)
	}
	page := string(writePage([]row{{targets[0], &r}}, ""))
	for _, want := range []string{"| EIO: `read /node/redis.conf at x+0x1` | a\\|b | real: ",
		"| EIO: `read /other at x+0x2` |  | not looked at |", "| 0 | 2 | 2 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if again := string(writePage([]row{{targets[0], nil}}, harness.Page(page))); again != page {
		t.Errorf("without what is kept\n%s\nbecomes\n%s", page, again)
	}
}
