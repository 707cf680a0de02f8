package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

const list = "../../examples/faulty.yaml"

// TestList: every target of the list has its spec and a fetch script.
func TestList(t *testing.T) {
	targets, err := readTargets(list)
	if err != nil || len(targets) == 0 {
		t.Fatal(len(targets), err)
	}
	for _, target := range targets {
		spec := filepath.Join(filepath.Dir(list), target.Spec)
		for _, f := range []string{spec, filepath.Join(filepath.Dir(spec), "fetch")} {
			if _, err := os.Stat(f); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBadLists(t *testing.T) {
	for list, want := range map[string]string{
		"[{spec: a}]":                         "what are needed",
		"[{what: a}]":                         "what are needed",
		"[{spec: a, what: b, nonsense: c}]":   "nonsense",
		"[{triage: [{violation: '('}]}]":      "missing closing",
		"[{spec: a, what: b, executions: x}]": "x",
	} {
		path := filepath.Join(t.TempDir(), "list.yaml")
		if err := os.WriteFile(path, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readTargets(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
}

func kv() *target {
	return &target{Spec: "kv/kv.yaml", What: "a store", Faults: usualFaults, Notes: "It\nis small.",
		Triage: harness.Triage{{Violation: harness.Pattern{Regexp: regexp.MustCompile("gave up")},
			Because: "Real: it waits."}}}
}

func shown() *result {
	return &result{Origin: harness.Origin{When: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Ariadne: "0.1.0"},
		Faults: usualFaults, Wanted: 10, Executions: 10, Steps: 99, RealTime: 4200 * time.Millisecond,
		Ends:  map[string]int{"clients done": 7, "violation": 2, "time limit": 1},
		Tried: []harness.Tried{{Kind: "crash", Taken: 6}, {Kind: "cut", Taken: 11}},
		Violations: []harness.Seen{{Kind: "death", Node: "client", Message: "client  gave up\nat last", Count: 2,
			Again: true}},
		Replays: 3, EqualReplays: 3, Replayed: map[string]int{"crash": 2, "cut": 3},
		Audit: audit{Wanted: 90, Transitions: 99, Audited: 12, Faults: map[string]int{"kill": 3}}}
}

func TestPage(t *testing.T) {
	other := shown()
	other.Violations[0] = harness.Seen{Kind: "deadlock", Message: "nobody", Suspect: "refused", Count: 2}
	other.Doubts, other.Difference, other.EqualReplays = []string{"a\ndoubt"}, "execution 3: no", 2
	another := kv()
	another.Faults = "lose"
	other.Faults = another.Faults
	b := &target{What: "b", Spec: "b.yaml", Faults: usualFaults}
	page := string(writePage([]row{{kv(), shown()}, {b, nil}, {another, other}}, ""))
	for _, want := range []string{
		"| a store | `kv/kv.yaml` | crash,stop,cut | 10 of 10 | 6 crash, 11 cut | 2 | 3 of 3 | 12 of 99, 0 different | 99 | 4s | 2026-11-22, 0.1.0 |\n",
		"| b | `b.yaml` | crash,stop,cut | not run yet |", "\n## a store: lose\n",
		"- The executions that were replayed had faults: 2 crash, 3 cut.\n", "- The search that was audited had: 3 kill.\n",
		"- 1 execution ended otherwise: time limit.\n",
		"- 2 executions: death of client: client gave up at last. Real: it waits.\n",
		"- 2 executions: deadlock: nobody. **not explained yet** Suspect: refused. **The replay did not come to it again.**\n",
		"- It is small.\n", "- a doubt\n", "- A replay differs: execution 3: no\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	// Nothing is kept of a store here: its lines and its sections stay.
	if again := string(writePage([]row{{kv(), nil}, {b, nil}, {another, nil}}, harness.Page(page))); again != page {
		t.Errorf("without what is kept\n%s\nbecomes\n%s", page, again)
	}
}

func TestGood(t *testing.T) {
	explained := func() *result {
		r := shown()
		r.Violations[0].Message = "client gave up"
		return r
	}
	if !explained().good(kv()) {
		t.Error("a result whose violations are explained is not good")
	}
	for name, spoil := range map[string]func(*result){
		"an unexplained violation":       func(r *result) { r.Violations[0].Message = "what" },
		"a violation that did not recur": func(r *result) { r.Violations[0].Again = false },
		"a doubt":                        func(r *result) { r.Doubts = []string{"what"} },
		"fewer executions than wanted":   func(r *result) { r.Executions-- },
		"a transition that differs":      func(r *result) { r.Audit.Different++ },
		"fewer transitions than wanted":  func(r *result) { r.Audit.Transitions = 89 },
		"a replay that differs":          func(r *result) { r.EqualReplays-- },
	} {
		r := explained()
		if spoil(r); r.good(kv()) {
			t.Errorf("a result with %s is good", name)
		}
	}
}

// TestKept: what is kept of a target is on the page when it is not run.
func TestKept(t *testing.T) {
	o, target := options{work: t.TempDir()}, kv()
	if r, err := harness.Kept[result](o.file(target)); r != nil || err != nil {
		t.Fatal(r, err)
	}
	if err := harness.Keep(o.file(target), shown()); err != nil {
		t.Fatal(err)
	}
	if r, err := harness.Kept[result](o.file(target)); err != nil || r.Steps != 99 || r.Replayed["cut"] != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestShort runs a few executions of a store with this tool, from its list to its page.
func TestShort(t *testing.T) {
	dir := t.TempDir()
	o := options{ctx: t.Context(), list: list, ariadne: filepath.Join(dir, "ariadne"), work: filepath.Join(dir, "work"),
		executions: 8, replays: 4, audit: 100, patience: 5 * time.Minute, fetch: true}
	if err := harness.Build("../..", o.ariadne); err != nil {
		t.Fatal(err)
	}
	if err := (&harness.Ariadne{Binary: o.ariadne}).Possible(); err != nil {
		t.Skip(err)
	}
	if err := harness.Fetch(o.ctx, filepath.Join(filepath.Dir(list), "raftkv/raftkv.yaml")); err != nil {
		t.Skipf("its programs could not be fetched: %v", err)
	}
	page := filepath.Join(dir, "faulty.md")
	if _, err := o.run("^raftkv/", page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "| crash,stop,cut | 8 of 8 | ") ||
		!strings.Contains(string(text), "| 2 of 2 |") ||
		!strings.Contains(string(text), "| pause,reset,refuse,jump | 8 of 8 | ") ||
		strings.Count(string(text), ", 0 different |") != 2 {
		t.Errorf("%v:\n%s", err, text)
	}
}

// TestPowerReplays: executions in which machines lose their power and come back with some image of
// their disks are the same again, step by step.
func TestPowerReplays(t *testing.T) {
	replays, specs := 5, []string{"sqlite/power-off.yaml"}
	if os.Getenv("ARIADNE_LONG") != "" {
		replays, specs = 100, append(specs, "raftkv/raftkv.yaml", "redis/replication.yaml")
	}
	dir := t.TempDir()
	o := options{ctx: t.Context(), work: filepath.Join(dir, "work"), replays: replays}
	a := &harness.Ariadne{Binary: filepath.Join(dir, "ariadne"), Limit: 5 * time.Minute}
	if err := harness.Build("../..", a.Binary); err != nil {
		t.Fatal(err)
	}
	if err := a.Possible(); err != nil {
		t.Skip(err)
	}
	for _, name := range specs {
		t.Run(name, func(t *testing.T) {
			spec := filepath.Join(filepath.Dir(list), name)
			if err := harness.Fetch(o.ctx, spec); err != nil {
				t.Skipf("its programs could not be fetched: %v", err)
			}
			r := &result{Wanted: 10 * replays}
			if err := o.replay(a, r, o.random(a, &target{Spec: name}, spec, "power")); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d of %d replays are equal; %d executions with a power loss", r.EqualReplays, r.Replays, r.Replayed["power"])
			if r.Replays < replays || r.EqualReplays < r.Replays || r.Replayed["power"] < r.Replays {
				t.Errorf("%d of %d replays are equal, of executions with a power loss %d: %s", r.EqualReplays, r.Replays, r.Replayed["power"], r.Difference)
			}
		})
	}
}
