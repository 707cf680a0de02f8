package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

const list = "../../examples/targets.yaml"

func TestListIsWhole(t *testing.T) {
	targets, err := readTargets(list)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(list)
	var listed, folders []string
	short := 0
	for _, target := range targets {
		listed = append(listed, target.Spec)
		folders = append(folders, filepath.Dir(target.Spec))
		for _, name := range []string{filepath.Base(target.Spec), "fetch", "README.md"} {
			if _, err := os.Stat(filepath.Join(dir, filepath.Dir(target.Spec), name)); err != nil {
				t.Error(err)
			}
		}
		if target.Short {
			short++
		}
	}
	if short < 3 {
		t.Errorf("%d short targets, want at least 3", short)
	}
	specs, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		rel, err := filepath.Rel(dir, s)
		if err != nil {
			t.Fatal(err)
		}
		// Specs with a planted bug are meant to fail, and some are for ariadne watch; these are a
		// part of others, or run the same programs.
		apart := strings.HasSuffix(rel, "-bug.yaml") || strings.HasSuffix(rel, "/live.yaml") ||
			slices.Contains([]string{"etcd/one-write.yaml", "raftkv/linearizable.yaml", "raftkv/properties.yaml",
				"raftkv/ready.yaml", "raftkv/workload.yaml", "etcd/functions.yaml", "etcd/slow-disk.yaml",
				"etcd/wire.yaml", "etcd/gateway.yaml", "craft/functions.yaml", "redis-source/replication.yaml",
				"redis-source/functions.yaml", "libtorrent/faults.yaml"}, rel)
		if slices.Contains(folders, filepath.Dir(rel)) && !apart && !slices.Contains(listed, rel) {
			t.Errorf("%s is not in %s", rel, list)
		}
	}
}

func TestChoose(t *testing.T) {
	targets, err := readTargets(list)
	if err != nil {
		t.Fatal(err)
	}
	for wanted, n := range map[string]int{"": len(targets), "^etcd/": 2, "etcd-3.5": 1, "redis/cluster|^etcd/": 3,
		"etcetera": 0} {
		if chosen := choose(targets, regexp.MustCompile(wanted)); len(chosen) != n {
			t.Errorf("choose %q: %d targets; want %d", wanted, len(chosen), n)
		}
	}
}

// shown is a result of a target in which something is amiss.
func shown() *result {
	return &result{
		User: "root", Root: true, When: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Ariadne: "0.1.0",
		Version: "1.0", Fetched: true,
		Natural: natural{Ready: true, Steps: 12, Calls: 3456, VirtualTime: 2e9, RealTime: time.Second},
		Runs:    10, EqualRuns: 9, RunDifference: "step 3: a, then b",
		Replays: 10, EqualReplays: 10,
		Walks: walks{Wanted: 100, Executions: 100,
			Ends: map[string]int{"clients done": 95, "violation": 3, "time limit": 2}, Violations: []harness.Seen{
				{Kind: "exit", Node: "n1", Message: "exit status 1", Count: 2},
				{Kind: "deadlock", Message: "nothing is enabled", Count: 1},
			}},
		Check: check{Wanted: time.Minute, Outcome: harness.Nothing.String(), Executions: 7, Transitions: 89,
			RealTime: time.Minute, Stopped: "time"},
		Refusals: []harness.Refusal{
			{Node: "kv", Refusal: ariadne.Refusal{Name: "io_uring_setup", Program: "kv", Count: 1, Harmless: true}},
			{Node: "kv", Refusal: ariadne.Refusal{Name: "bpf", Program: "kv", Count: 2, Detail: "bpf(0)"}},
		},
	}
}

func known(t *testing.T) *target {
	k := &target{Spec: "kv/kv.yaml", Program: "kv", Ready: "done",
		Triage: harness.Triage{{Violation: harness.Pattern{Regexp: regexp.MustCompile("^exit status 1")},
			Because: "Real."}}}
	if err := k.compile(); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestPage(t *testing.T) {
	second := shown()
	second.User, second.Root, second.Ariadne = "nobody", false, "0.2.0"
	second.Walks = walks{Wanted: 100, Executions: 40, Stopped: "time", Doubts: []string{"one thing"}}
	second.Check = check{}
	kv, x := known(t), &target{Spec: "x/x.yaml", Program: "x", Root: "its files are private"}
	page := string(writePage([]row{{kv, []*result{shown(), second}}, {x, nil}}, ""))
	const numbers = "12 | 3456 | 2.0 s | 1.0 s |"
	for _, want := range []string{
		"| kv 1.0 | `kv/kv.yaml` | root | yes | 9 of 10 | 10 of 10 | 100 of 100, 3 violations | " +
			"nothing found in 60 s: 7 executions, 89 transitions | " + numbers + " 2026-11-20, 0.1.0 |\n",
		"| kv 1.0 | `kv/kv.yaml` | nobody | yes | 9 of 10 | 10 of 10 | 40 of 100, 0 violations, time's up | - | " + numbers + " 2026-11-20, 0.2.0 |\n",
		"| x | `x/x.yaml` | | not run | | | | | | | | | |\n",
		"- Runs differ: step 3: a, then b\n",
		"- Refused: `bpf` (kv, 2 times): bpf(0)\n",
		"- Answered as a kernel may that lacks it: `io_uring_setup` (kv).\n",
		"- Walks that did not come to the client's end: 2: time limit.\n",
		"- 2 walks: exit of n1: exit status 1. Real.\n",
		"- 1 walks: deadlock: nothing is enabled. **not explained yet**\n",
		"- As nobody: one thing\n",
		"- As root alone: its files are private.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no line %q in\n%s", want, page)
		}
	}
	if n := strings.Count(page, "Runs differ"); n != 1 {
		t.Errorf("what both users saw stands there %d times", n)
	}
	// Nothing is kept of kv here: its lines and its section stay.
	if again := string(writePage([]row{{kv, nil}, {x, nil}}, harness.Page(page))); again != page {
		t.Errorf("without what is kept\n%s\nbecomes\n%s", page, again)
	}
}

func TestGood(t *testing.T) {
	good := func() *result {
		r := shown()
		r.EqualRuns, r.Walks.Violations = 10, r.Walks.Violations[:1]
		return r
	}
	if !good().good(known(t)) {
		t.Error("a result whose violations are explained is not good")
	}
	for name, spoil := range map[string]func(*result){
		"unequal runs":              func(r *result) { r.EqualRuns = 9 },
		"unequal replays":           func(r *result) { r.EqualReplays = 9 },
		"an unexplained walk":       func(r *result) { r.Walks.Violations[0].Message = "what" },
		"an unexplained execution":  func(r *result) { r.Check.Violations = []harness.Seen{{Message: "what"}} },
		"interrupted walks":         func(r *result) { r.Walks.Executions, r.Walks.Stopped = 99, "time" },
		"a doubt of the check":      func(r *result) { r.Check.Doubts = []string{"what"} },
		"a client that is not done": func(r *result) { r.Natural.Ready = false },
	} {
		r := good()
		if spoil(r); r.good(known(t)) {
			t.Errorf("a result with %s is good", name)
		}
	}
}

// TestKept holds what is kept of a target to the order of the page: root first.
func TestKept(t *testing.T) {
	o, kv := options{work: t.TempDir()}, known(t)
	for _, r := range []*result{{User: "a"}, {User: "root", Root: true}} {
		dir := filepath.Join(o.dir(kv), r.User)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := harness.Keep(filepath.Join(dir, resultFile), r); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := o.kept(kv)
	if err != nil || len(kept) != 2 || kept[0].User != "root" || kept[1].User != "a" {
		t.Errorf("%+v, %v", kept, err)
	}
	if kept, err := o.kept(&target{Spec: "x/x.yaml"}); err != nil || kept != nil {
		t.Errorf("of a target that was not measured: %v, %v", kept, err)
	}
}
