package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ariadne"
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
		// Specs with a planted bug are meant to fail; this one is a part of another.
		apart := strings.HasSuffix(rel, "-bug.yaml") || rel == "etcd/one-write.yaml"
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
	for wanted, n := range map[string]int{"etcd": 2, "etcd/etcd-3.5.yaml": 1, "redis/cluster": 1} {
		chosen, err := choose(targets, []string{wanted})
		if err != nil || len(chosen) != n {
			t.Errorf("choose %s: %d targets, %v; want %d", wanted, len(chosen), err, n)
		}
	}
	if _, err := choose(targets, []string{"etcetera"}); err == nil {
		t.Error("an unknown target was chosen")
	}
}

func TestPage(t *testing.T) {
	known := &target{Spec: "kv/kv.yaml", Program: "kv", Ready: "done", Triage: []triage{{Violation: "^exit status 1", Because: "Real."}}}
	if err := known.compile(); err != nil {
		t.Fatal(err)
	}
	r := &result{
		Version: "1.0", Fetched: true,
		Natural: natural{Ready: true, Steps: 12, Calls: 3456, VirtualTime: 2e9, RealTime: time.Second},
		Runs:    20, EqualRuns: 19, RunDifference: "step 3: a, then b",
		Replays: 20, EqualReplays: 20,
		Walks: walks{Executions: 100, Ends: map[string]int{"clients done": 95, "violation": 3, "time limit": 2}, Violations: []violation{
			{Kind: "exit", Node: "n1", Message: "exit status 1", Count: 2},
			{Kind: "deadlock", Message: "nothing is enabled", Count: 1},
		}},
		Refusals: []ariadne.Refusal{
			{Name: "io_uring_setup", Program: "kv", Count: 1, Harmless: true},
			{Name: "bpf", Program: "kv", Count: 2, Detail: "bpf(0)"},
		},
	}
	page := string(writePage([]row{{known, r}, {&target{Spec: "x/x.yaml", Program: "x"}, nil}}))
	for _, want := range []string{
		"| kv 1.0 | `kv/kv.yaml` | yes | 19 of 20 | 20 of 20 | 100, 3 violations | 12 | 3456 | 2.0 s | 1.0 s |",
		"| x | `x/x.yaml` | not run |",
		"- Runs differ: step 3: a, then b",
		"- Refused: `bpf` (kv, 2 times): bpf(0)",
		"- Answered as a kernel may that lacks it: `io_uring_setup` (kv, 1 times).",
		"- Walks that did not come to the client's end: 2: time limit.",
		"- 2 walks: exit at n1: exit status 1. Real.",
		"- 1 walks: deadlock: nothing is enabled. **not explained yet**",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no line %q in\n%s", want, page)
		}
	}
	if r.good(known) {
		t.Error("a result with an unequal run and an unexplained violation is good")
	}
	r.EqualRuns, r.Walks.Violations = 20, r.Walks.Violations[:1]
	if !r.good(known) {
		t.Error("a result whose violations are explained is not good")
	}
}
