package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ariadne/tools/harness"
)

func TestPage(t *testing.T) {
	known := &target{Spec: "a/a.yaml", What: "a", Triage: harness.Triage{{Violation: harness.Pattern{Regexp: regexp.MustCompile("stale")}, Because: "known: a#1."}}}
	fresh := &target{Spec: "b/b.yaml", What: "b"}
	r := &result{Whole: true, RealTime: 90 * time.Second, Executions: 7, Transitions: 70, Tried: []harness.Tried{{Kind: "crash", Taken: 3}},
		Findings: []finding{{Kind: "linearizable", Message: "stale\nread", Count: 2, Steps: 12, Again: true}}}
	page := string(writePage([]row{{known, r}, {fresh, nil}}, ""))
	for _, want := range []string{
		"| a | `a/a.yaml` | 1m30s | 7 | 70 | 3 crash | 1 |", "| b | `b/b.yaml` | not searched yet |",
		"    ariadne check examples/a/a.yaml --keep-going\n", "- Seen 2 times, first after 12 steps: linearizable: stale read. known: a#1.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page:\n%s", want, page)
		}
	}
	// Nothing is kept of the first one here: its row and its section stay.
	if again := string(writePage([]row{{known, nil}, {fresh, nil}}, harness.Page(page))); again != page {
		t.Errorf("it was\n%sand is\n%s", page, again)
	}
	// What is explained later, without another search, is explained on the page.
	before := string(writePage([]row{{&target{Spec: known.Spec, What: known.What}, r}, {fresh, nil}}, ""))
	if again := string(writePage([]row{{known, nil}, {fresh, nil}}, harness.Page(before))); !strings.Contains(before, harness.Unexplained) || again != page {
		t.Errorf("it was\n%sand is\n%s", before, again)
	}
	if !r.good(known) {
		t.Error("all is explained")
	}
	for what, change := range map[string]func(r *result){
		"not explained": func(r *result) { r.Findings[0].Message = "other" },
		"not again":     func(r *result) { r.Findings[0].Again = false },
		"interrupted":   func(r *result) { r.Whole = false },
		"doubts":        func(r *result) { r.Doubts = []string{"why"} },
	} {
		c := *r
		c.Findings = []finding{r.Findings[0]}
		if change(&c); c.good(known) {
			t.Errorf("%s: that is not as it should be", what)
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
