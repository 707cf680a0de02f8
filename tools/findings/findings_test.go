package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

func TestPage(t *testing.T) {
	known := &target{Spec: "a/a.yaml", What: "a",
		Triage: harness.Triage{{Violation: harness.Pattern{Regexp: regexp.MustCompile("stale")},
			Because: "known: a#1."}}}
	fresh := &target{Spec: "b/b.yaml", What: "b"}
	r := &result{Wanted: time.Minute, RealTime: 90 * time.Second, Jobs: 1, Executions: 7, Transitions: 70,
		Tried: []harness.Tried{{Kind: "crash", Taken: 3}},
		Findings: []finding{{Seen: harness.Seen{Kind: "linearizable", Message: "stale\nread", Count: 2, Steps: 12,
			Again: true}, Shrunk: 9}}}
	copied := []string{"a-1.txt", "c-1.txt"}
	page := string(writePage([]row{{known, r}, {fresh, nil}}, copied, ""))
	for _, want := range []string{
		"| a | `a/a.yaml` | 1m30s, 1 worker | 7 | 70 | 3 crash | 1 |", "| b | `b/b.yaml` | not searched yet |",
		"    ariadne check examples/a/a.yaml --keep-going\n", "- Seen 2 times, first after 12 steps, shrunk to 9: linearizable: stale read. known: a#1.\n\nTraces: [a-1.txt](../../examples/findings/traces/a-1.txt).\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page:\n%s", want, page)
		}
	}
	// Nothing is kept of the first one here: its row and its section stay.
	if again := string(writePage([]row{{known, nil}, {fresh, nil}}, copied, harness.Page(page))); again != page {
		t.Errorf("it was\n%sand is\n%s", page, again)
	}
	// What is explained later, without another search, is explained on the page.
	before := string(writePage([]row{{&target{Spec: known.Spec, What: known.What}, r}, {fresh, nil}}, copied, ""))
	if again := string(writePage([]row{{known, nil}, {fresh, nil}}, copied,
		harness.Page(before))); !strings.Contains(before, harness.Unexplained) || again != page {
		t.Errorf("it was\n%sand is\n%s", before, again)
	}
	if !r.good(known) {
		t.Error("all is explained")
	}
	// What has the same explanation is one line, with the shortest message.
	several := *r
	several.Findings = append(slices.Clone(r.Findings),
		finding{Seen: harness.Seen{Kind: "linearizable", Message: "stale", Count: 5, Steps: 8, Again: true}})
	want := []string{"Seen 5 times, first after 8 steps: linearizable: stale. known: a#1. The same explains other messages (1, seen 2 times)."}
	if got := several.lines(known); !slices.Equal(got, want) {
		t.Errorf("the lines are %q, want %q", got, want)
	}
	for what, change := range map[string]func(r *result){
		"not explained": func(r *result) { r.Findings[0].Message = "other" },
		"not again":     func(r *result) { r.Findings[0].Again = false },
		"interrupted":   func(r *result) { r.Wanted = time.Hour },
		"doubts":        func(r *result) { r.Doubts = []string{"why"} },
	} {
		c := *r
		c.Findings = []finding{r.Findings[0]}
		if change(&c); c.good(known) {
			t.Errorf("%s: that is not as it should be", what)
		}
	}
}

// TestTraces: of the executions that have the same explanation the smallest that came again is
// copied, and names its spec.
func TestTraces(t *testing.T) {
	dir := t.TempDir()
	o := &options{list: filepath.Join(dir, "examples", "list.yaml"), traces: filepath.Join(dir, "examples", "traces")}
	var found []finding
	for i, f := range []finding{
		{Seen: harness.Seen{Message: "stale 1", Steps: 7, Again: true}},
		{Seen: harness.Seen{Message: "stale 2", Steps: 9, Again: true}, Shrunk: 5},
		{Seen: harness.Seen{Message: "stale 3", Steps: 3}},
		{Seen: harness.Seen{Message: "other", Steps: 2, Again: true}},
	} {
		f.Trace = filepath.Join(dir, fmt.Sprintf("trace%d", i))
		if err := os.WriteFile(f.Trace,
			trace.Format(&trace.Trace{Header: trace.Header{Version: "1", Name: "a", Spec: "../../a.yaml",
				Seed: uint64(i)}, End: "violation"}), 0o644); err != nil {
			t.Fatal(err)
		}
		found = append(found, f)
	}
	a := &target{Spec: "b/a.yaml",
		Triage: harness.Triage{{Violation: harness.Pattern{Regexp: regexp.MustCompile("nothing")}},
			{Violation: harness.Pattern{Regexp: regexp.MustCompile("stale")}}}}
	if err := o.copyTraces(a, &result{Findings: found}); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(o.traces)
	if err != nil || len(all) != 1 || all[0].Name() != "a-2.txt" {
		t.Fatal(all, err)
	}
	b, err := os.ReadFile(filepath.Join(o.traces, "a-2.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := trace.Parse(b); err != nil || got.Spec != "../b/a.yaml" || got.Seed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestKeptTraces: the traces that are kept are of the specs as they are, and of what the list
// explains.
func TestKeptTraces(t *testing.T) {
	const dir = "../../examples/findings/traces"
	all, err := os.ReadDir(dir)
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	targets, err := readTargets("../../examples/findings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Parse(b)
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		s, err := spec.Read(filepath.Join(dir, tr.Spec))
		if err != nil && strings.Contains(err.Error(), ": program ") {
			t.Logf("%s: the programs are not fetched: %v", f.Name(), err)
			continue
		}
		if err != nil || s.Digest != tr.SpecDigest {
			t.Errorf("%s is of another %s: %v", f.Name(), tr.Spec, err)
		}
		if !slices.ContainsFunc(targets, func(k *target) bool {
			i := k.Triage.Index(tr.Violation.Message)
			return i >= 0 && k.traceName(i) == f.Name()
		}) {
			t.Errorf("%s: nothing of that name explains %q", f.Name(), tr.Violation.Message)
		}
	}
}

// TestResult: what a search goes on for is the time that it has not had yet.
func TestResult(t *testing.T) {
	for _, c := range []struct {
		r    result
		want bool
	}{{result{RealTime: time.Minute}, true}, {result{RealTime: 59 * time.Second}, false},
		{result{Exhausted: true}, true}} {
		if got := c.r.had(time.Minute); got != c.want {
			t.Errorf("%+v: %v", c.r, got)
		}
	}
	for reported, want := range map[int]int{150: 150, 7: 107} {
		r := result{Transitions: reported}
		if r.goesOn(&result{Transitions: 100}); r.Transitions != want {
			t.Errorf("of %d after 100 it says %d", reported, r.Transitions)
		}
	}
}

func TestList(t *testing.T) {
	const list = "../../examples/findings.yaml"
	all, err := readTargets(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range all {
		spec := filepath.Join(filepath.Dir(list), target.Spec)
		for _, f := range []string{spec, filepath.Join(filepath.Dir(spec), "fetch")} {
			if _, err := os.Stat(f); err != nil {
				t.Error(err)
			}
		}
	}
	if len(all) < 8 {
		t.Errorf("%d systems", len(all))
	}
}
