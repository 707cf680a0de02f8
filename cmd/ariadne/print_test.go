package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestProgressIsCleared: the line of progress is gone before anything else is printed.
func TestProgressIsCleared(t *testing.T) {
	var screen strings.Builder
	p := newTextPrinter(&screen, &screen, []string{"n1"}, 0, false)
	p.terminal = true
	p.limits(check.Options{Time: time.Minute, KeepGoing: true})
	p.progress(check.Progress{Elapsed: time.Second, Executions: 3, Steps: 40})
	p.violation(record.Violation{NodeName: "n1"})
	p.progress(check.Progress{Done: true})
	want := "\r\x1b[K   1.0s  3 executions  40 steps  40 steps/s  left: 59s" +
		"\r\x1b[Kviolation: : node n1:  (at 0.000000s, step 0, execution 0)\n"
	if screen.String() != want {
		t.Errorf("got  %q\nwant %q", screen.String(), want)
	}
}

// TestProgressLines: without a terminal there is a line of progress every half a minute of this
// part of the check.
func TestProgressLines(t *testing.T) {
	var log strings.Builder
	p := newTextPrinter(&log, &log, nil, 0, false)
	for at := 100 * time.Second; at < 3*time.Minute; at += 200 * time.Millisecond {
		p.progress(check.Progress{Elapsed: at, Executions: 3, Steps: 40})
	}
	want := " 130.0s  3 executions  40 steps  0 steps/s\n 160.0s  3 executions  40 steps  0 steps/s\n"
	if log.String() != want {
		t.Errorf("got  %q\nwant %q", log.String(), want)
	}
}

// TestNoProgress: without a terminal, or quietly, there is no progress at first.
func TestNoProgress(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var screen strings.Builder
		p := newTextPrinter(&screen, &screen, nil, 0, quiet)
		p.terminal = quiet
		p.progress(check.Progress{Executions: 1})
		if screen.Len() > 0 {
			t.Errorf("got %q", screen.String())
		}
	}
}

// TestReportFits: the report fits a screen, and quietly it is the outcome.
func TestReportFits(t *testing.T) {
	r := &record.Report{Command: "check", Notes: []string{"a note"}, Doubts: []string{"a doubt"},
		Coverage: &record.Coverage{Strategy: "default"}}
	for _, kind := range []string{"crash", "stop", "power", "cut", "lose", "duplicate", "reset", "refuse", "preempt"} {
		f := record.Faults{Kind: kind}
		f.Paths, f.Offered, f.Taken = 1234, 56789, 2345
		for i := range 9 {
			f.By = append(f.By,
				record.Struck{Node: fmt.Sprintf("a-server-with-a-name-%d", i),
					Phases: [search.NumPhases]int{1, 234567, 34, i}})
		}
		f.Spared = []string{"n7", "n8"}
		r.Coverage.Faults = append(r.Coverage.Faults, f)
	}
	var screen strings.Builder
	p := newTextPrinter(&screen, &screen, nil, 0, false)
	p.verbose = true
	p.report(r)
	for line := range strings.Lines(screen.String()) {
		if len(line) > report.DefaultWidth {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if text := strings.Join(strings.Fields(screen.String()), " "); !strings.Contains(text, "note: a note") || !strings.Contains(text, "crash a-server-with-a-name-3 1 234567 34 3 crash") || !strings.Contains(text, "57 more in report.json never crash at n7 n8, stop at") || !strings.Contains(text, "reset in 1234 executions (possible in 56789 states), refuse in") {
		t.Error(screen.String())
	}
	screen.Reset()
	newTextPrinter(&screen, &screen, nil, 0, true).report(r)
	if text := screen.String(); strings.Contains(text, "note") || !strings.Contains(text, "inconclusive: a doubt") {
		t.Error(text)
	}
}

// TestJSONPage: the page on the output for programs shows it as it is.
func TestJSONPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/json.md")
	if err != nil {
		t.Fatal(err)
	}
	events := map[string]func() any{
		"step":      func() any { return new(report.Step) },
		"progress":  func() any { return new(progressEvent) },
		"violation": func() any { return new(record.Violation) },
		"report":    func() any { return new(record.Report) },
		"script":    func() any { return new(scriptEvent) },
	}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, `{"event":"`) {
			continue
		}
		name, _, _ := strings.Cut(line[len(`{"event":"`):], `"`)
		e := events[name]()
		delete(events, name)
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(e); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var again strings.Builder
		newEncoder(&again).Encode(e)
		if again.String() != line {
			t.Errorf("%s is printed as\n%s", name, again.String())
		}
	}
	for name := range events {
		t.Errorf("nothing of %s", name)
	}
}

// TestReportHasOneShape: what --json prints as its last object is report.json, without the checksum
// of the file.
func TestReportHasOneShape(t *testing.T) {
	r := &record.Report{Event: "report", Version: record.Version, Command: "check", Name: "x", Outcome: record.Violated,
		ExitStatus: 1, Executions: 3, RealTime: time.Second,
		Nodes:    []record.NodeReport{{Name: "n1"}},
		Refusals: []record.Refusal{{Node: "n1", Refusal: ariadne.Refusal{Name: "bpf", Count: 2}}},
		Violations: []record.Violation{{Event: "violation", Violation: ariadne.Violation{Kind: "death", Message: "m"},
			NodeName: "n1"}},
		Coverage: &record.Coverage{Strategy: "dpor", Faults: []record.Faults{{Kind: "crash", Budget: 1}}}}
	kept, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	newJSONPrinter(&text, nil, true).report(r)
	var inFile, printed map[string]any
	if err := json.Unmarshal(kept, &inFile); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text.String()), &printed); err != nil {
		t.Fatal(err)
	}
	if sum, ok := inFile["checksum"].(string); !ok || len(sum) != 16 {
		t.Errorf("checksum %v", inFile["checksum"])
	}
	delete(inFile, "checksum")
	if !reflect.DeepEqual(inFile, printed) {
		t.Errorf("report.json %v\nprinted %v", inFile, printed)
	}
	if v := printed["violations"].([]any)[0].(map[string]any); v["node"] != "n1" || v["event"] != "violation" {
		t.Errorf("a violation is %v", v)
	}
}
