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
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

const (
	list   = "../../examples/bugs/list.yaml"
	papers = "../../examples/papers.yaml"
)

func some() result {
	b := &bug{Name: "lost", Program: "store 1.0", Bug: "it forgets", Reference: "store#1", Needs: "a crash",
		Spec: "lost/a.yaml", Sibling: "lost/b.yaml", Beside: "store 1.1",
		violation: regexp.MustCompile("is gone")}
	return result{b, []outcome{
		{Seed: 0, Budget: 10 * time.Minute, Found: true, RealTime: 3 * time.Second, Executions: 10,
			Faults: []string{"crash", "restart"}},
		{Seed: 1, Budget: 10 * time.Minute, Found: true, RealTime: time.Second, Executions: 30},
		{Seed: 2, Budget: 10 * time.Minute, Found: true, RealTime: 9 * time.Second, Executions: 20},
	}, &outcome{Budget: time.Minute, RealTime: 61 * time.Second, Executions: 99},
		&outcome{Replays: true, Critical: "crash n1", From: &harness.Size{Faults: 2, Deviations: 3, Steps: 99},
			To: &harness.Size{Faults: 1, Steps: 44}}}
}

func TestPage(t *testing.T) {
	missed := some()
	missed.bug = &bug{Name: "kept", Program: "p", Spec: "../far/a.yaml"}
	missed.seeds[0].Found, missed.seeds[0].Wrong = false, "another violation: n1: x"
	missed.sibling.Found = true
	o := options{budget: 10 * time.Minute, least: time.Minute}
	data, err := o.writePage([]result{some(), missed, {bug: &bug{Name: "new", Beside: "2.0"}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, want := range []string{
		"for 10m at most", "at least 1m, and",
		"| `lost` | store 1.0 | a crash | 3 of 3 | 3.0 s | 20 | crash, restart | 2, 3, 99 → 1, 0, 44 | store 1.1: nothing found (61.0 s, 99 executions) |\n",
		"| 2 of 3 (10m each) | 1.0 s | 20 |", "**found too**", "Seed 0: another violation: n1: x.\n",
		"| `new` |  | an order | not looked for yet |", "2.0: not searched yet |\n",
		"    ariadne check examples/bugs/lost/a.yaml\n", "    ariadne check examples/far/a.yaml\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page:\n%s", want, page)
		}
	}
	// What nothing is kept of here stays: all of the first one, or what some of its searches have
	// shown.
	first := some()
	for _, kept := range []result{{bug: first.bug}, {bug: first.bug, shrunk: first.shrunk},
		{bug: first.bug, seeds: first.seeds}, {bug: first.bug, sibling: first.sibling}} {
		again, err := o.writePage([]result{kept, missed, {bug: &bug{Name: "new", Beside: "2.0"}}}, harness.Page(page))
		if err != nil || string(again) != page {
			t.Errorf("%v\n%s", err, again)
		}
	}
	again, err := o.writePage([]result{{bug: missed.bug}}, harness.Page(page))
	if err != nil || !strings.Contains(string(again), "Seed 0: another violation: n1: x.\n") {
		t.Errorf("%v\n%s", err, again)
	}
}

func TestPapersPage(t *testing.T) {
	dir := t.TempDir()
	o := options{list: filepath.Join(dir, "list.yaml"), budget: 10 * time.Minute, least: time.Minute}
	found, dies := some(), some()
	found.bug.Spec, dies.bug.Spec, dies.bug.Name = "a.yaml", "b.yaml", "dies"
	dies.shrunk = &outcome{Replays: true, From: &harness.Size{Steps: 23}}
	for name, text := range map[string]string{"a.yaml": "name: a\nproperties:\n  one leader: {one: leader}\n  another: {agree: x}\n", "b.yaml": "name: b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := o.writePapers([]result{found, dies}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `lost` | store#1 | 3 of 3 | 3.0 s | 20 | crash, restart | 2, 3, 99 → 1, 0, 44 | nothing found (61.0 s, 99 executions) |\n",
		"Sentence: `one leader: {one: leader}`.\n\n    ariadne check examples/a.yaml\n", "Sentence: none: a node that dies is a violation.\n",
		"Critical transition of the smaller execution: `crash n1`.\n", "| 3.0 s | 20 | crash, restart | 0, 0, 23 |",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q is not in the page:\n%s", want, data)
		}
	}
	again, err := o.writePapers([]result{{bug: found.bug}, {bug: dies.bug, seeds: dies.seeds}}, harness.Page(data))
	if err != nil || string(again) != string(data) {
		t.Errorf("%v: it was\n%sand is\n%s", err, data, again)
	}
}

func TestGood(t *testing.T) {
	if r := some(); !r.good() {
		t.Error("that is as it should be")
	}
	for what, change := range map[string]func(*result){
		"missed":                   func(r *result) { r.seeds[1].Found = false },
		"another violation":        func(r *result) { r.seeds[1].Found, r.seeds[1].Wrong = false, "another" },
		"found beside it":          func(r *result) { r.sibling.Found = true },
		"does not replay":          func(r *result) { r.shrunk = &outcome{From: &harness.Size{Steps: 3}} },
		"inconclusive beside it":   func(r *result) { r.sibling.Wrong = "inconclusive" },
		"another violation beside": func(r *result) { r.sibling.Wrong = "another violation" },
	} {
		if r := some(); true {
			if change(&r); r.good() {
				t.Errorf("%s: that is not as it should be", what)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.txt")
	trace := `ariadne trace 4
fault fail 1
      1     0.000000000  51c4d5c005929177       191     0     0 . start store with fail:EIO@2/fdatasync:/node/db#4
      2     0.001096150  94f5417418ea7c4d         1     0     0 . timer store
      3     0.002096650  290217bf18f8c721       153     0    28 * duplicate udp a:1>b:2 #1
      4     0.002096650  290217bf18f8c721       153     0    28 * deliver a:1>b:2 #1 with choose:2@x#1,fail:EIO@y#1
violation death store 3 0.002173150 "store exited with status 2"
`
	if err := os.WriteFile(path, []byte(trace), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := faults(f)
	if want := []string{"fail", "duplicate", "choose", "fail"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestOutcome(t *testing.T) {
	b := some().bug
	trace := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(trace, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lost := []harness.Violation{{Violation: ariadne.Violation{Message: "k is gone"}, Trace: trace}}
	for _, c := range []struct {
		report record.Report
		found  bool
		wrong  string
	}{
		{record.Report{Outcome: harness.Nothing}, false, ""},
		{record.Report{Outcome: harness.Inconclusive, Doubts: []string{"why"}}, false, "inconclusive: why"},
		{record.Report{Outcome: harness.Violated, Violations: lost}, true, ""},
		{record.Report{Outcome: harness.Suspected, Violations: lost}, true, ""},
		{record.Report{Outcome: harness.Violated,
			Violations: []harness.Violation{{Violation: ariadne.Violation{Message: "died"}, NodeName: "n",
				Trace: trace}}}, false, "another violation: n: died"},
	} {
		if r, err := newOutcome(b, &harness.Report{Report: c.report}); err != nil || r.Found != c.found ||
			r.Wrong != c.wrong {
			t.Errorf("%+v: %+v, %v", c.report, r, err)
		}
	}
}

// TestKnown: what is known of a search is not searched again until it is forgotten.
func TestKnown(t *testing.T) {
	b := some().bug
	o := options{ctx: t.Context(), ariadne: "/nonexistent", work: t.TempDir(), list: list,
		kinds: regexp.MustCompile("seed")}
	if err := os.WriteFile(o.file(b, "seed", "3")+".json", []byte(`{"Seed": 3, "Found": true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := o.search(b, b.Spec, "seed", 3, time.Minute); err != nil || !r.Found || r.Seed != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := o.load(b); err != nil || len(r.seeds) != 1 || r.sibling != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if err := o.forget(b); err != nil {
		t.Fatal(err)
	}
	if _, err := o.search(b, b.Spec, "seed", 3, time.Minute); err == nil {
		t.Error("it was not searched again")
	}
}

func TestBadLists(t *testing.T) {
	good := "{name: a, program: p, bug: b, reference: r, spec: s, sibling: t, beside: u, violation: v}"
	for list, want := range map[string]string{
		"[" + good + "," + good + "]":                                "two of this name",
		"[" + strings.Replace(good, "spec: s, ", "", 1) + "]":        "spec is needed",
		"[" + strings.Replace(good, ": v}", ": (}", 1) + "]":         "missing closing",
		"[" + strings.Replace(good, "name: a", "name: a_b", 1) + "]": "the name must",
		"[{nonsense: 1}]": "nonsense",
	} {
		path := filepath.Join(t.TempDir(), "list.yaml")
		if err := os.WriteFile(path, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readBugs(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
}

// TestList: every bug of the list has its specs and a fetch script.
func TestList(t *testing.T) {
	for _, list := range []string{list, papers} {
		bugs, err := readBugs(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bugs {
			for _, spec := range []string{b.Spec, b.Sibling} {
				path := filepath.Join(filepath.Dir(list), spec)
				for _, f := range []string{path, filepath.Join(filepath.Dir(path), "fetch"),
					filepath.Join(filepath.Dir(path), "README.md")} {
					if _, err := os.Stat(f); err != nil {
						t.Errorf("%s: %v", b.Name, err)
					}
				}
			}
		}
	}
}

// TestShort looks for a few bugs with one seed: it is the part of `make bugs` that continuous
// integration has the time for.
func TestShort(t *testing.T) {
	dir := t.TempDir()
	o := options{ctx: t.Context(), ariadne: filepath.Join(dir, "ariadne"), work: filepath.Join(dir, "work"), seeds: 1,
		budget: 2 * time.Minute, fetch: true, kinds: regexp.MustCompile(""), shrink: 10 * time.Second}
	if err := harness.Build("../..", o.ariadne); err != nil {
		t.Fatal(err)
	}
	if err := (&harness.Ariadne{Binary: o.ariadne}).Possible(); err != nil {
		t.Skip(err)
	}
	o.list, o.least = list, 5*time.Second
	lookForShort(t, o)
	o.list, o.least = papers, 5*time.Second
	lookForShort(t, o)
}

func lookForShort(t *testing.T, o options) {
	bugs, err := readBugs(o.list)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if !b.Short {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			if err := harness.Fetch(o.ctx, o.path(b.Spec)); err != nil {
				t.Skipf("its programs could not be fetched: %v", err)
			}
			if err := o.look(b); err != nil {
				t.Fatal(err)
			}
			if r, err := o.load(b); err != nil || !r.good() {
				t.Errorf("%v: %+v, beside it %+v", err, r.seeds, r.sibling)
			}
		})
	}
}
