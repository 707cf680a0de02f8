package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

func replay(t *testing.T, s *spec.Spec, f *systemtest.Fakes, path string) *record.Report {
	t.Helper()
	r, err := run.Replay(t.Context(), s, path, run.Options{System: f.Options()})
	if err != nil {
		t.Fatal(err)
	}
	f.Closed(t)
	return r
}

func TestRun(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	f := &systemtest.Fakes{Programs: systemtest.PingPong}
	var steps []string
	r, err := run.Run(t.Context(), s,
		run.Options{System: system.Options{Nodes: f}, OnStep: func(s ariadne.Step) { steps = append(steps, s.Name) }})
	if err != nil {
		t.Fatal(err)
	}
	f.Closed(t)
	if r.Outcome != record.Nothing || r.End != "clients done" || r.Steps != 8 || r.Messages != 6 || len(steps) != 8 {
		t.Errorf("report %+v", r)
	}
	if r.Out != "ariadne-runs/system-1" || r.Trace != "ariadne-runs/system-1/trace.txt" ||
		r.Nodes[0].Log != "ariadne-runs/system-1/nodes/n1.log" {
		t.Errorf("out %s, trace %s, log %s", r.Out, r.Trace, r.Nodes[0].Log)
	}
	if got := systemtest.Read(t, r.Nodes[0].Log); !strings.HasPrefix(got, "0.002003s out 1 got pong\n") {
		t.Errorf("log:\n%s", got)
	}
	if got := systemtest.Read(t, r.Out, "timeline.txt"); !strings.Contains(got, "n2 -> n1") {
		t.Errorf("timeline:\n%s", got)
	}
	lines := strings.Split(strings.TrimSpace(systemtest.Read(t, r.Out, "steps.jsonl")), "\n")
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
	}
	tr, err := system.LoadTrace(r.Trace)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Steps) != 8 || len(lines) != 8 || tr.Spec != "../../system.yaml" || len(tr.Programs) != 2 ||
		tr.Programs[1].Path != "/spec/program" {
		t.Errorf("trace %+v, %d lines", tr, len(lines))
	}
	if systemtest.Read(t, r.Out, "spec.yaml") != "name: system\n" {
		t.Error("no copy of the spec")
	}
	if again := replay(t, s, f, r.Trace); again.Outcome != record.Nothing || again.Out != "ariadne-runs/system-2" ||
		again.Steps != 8 {
		t.Errorf("replay: %+v", again)
	}
}

func TestRunConfirmsItsViolation(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	r, err := run.Run(t.Context(), s,
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: worldtest.Stuck}}})
	if err != nil || r.Outcome != record.Violated || len(r.Violations) != 1 || r.Violations[0].Kind != "deadlock" ||
		r.Violations[0].Trace != r.Trace {
		t.Errorf("report %+v, %v", r, err)
	}
}

func TestChangesSinceTheTrace(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	f := &systemtest.Fakes{Programs: systemtest.PingPong}
	r, err := run.Run(t.Context(), s, run.Options{System: system.Options{Nodes: f}})
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Write(t, filepath.Join(s.Dir, "program"), "#!/bin/false\n")
	changed := *s
	changed.Digest = ariadne.Digest{2}
	changed.Seed = 7 // the trace's counts
	_, err = run.Replay(t.Context(), &changed, r.Trace, run.Options{System: system.Options{Nodes: f}})
	if err == nil {
		t.Fatal("it replayed")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "spec "+s.Path+" has changed") ||
		!strings.HasPrefix(lines[2], "  node n1: program /spec/program has changed (digest ") ||
		!strings.HasPrefix(lines[3], "  node n2: ") {
		t.Errorf("err = %v", err)
	}
	forced, err := run.Replay(t.Context(), &changed, r.Trace,
		run.Options{System: system.Options{Nodes: f}, Force: true})
	if err != nil || forced.Outcome != record.Nothing || forced.Seed != 1 {
		t.Errorf("forced: %+v, %v", forced, err)
	}
	// With other programs a mismatch is nobody's bug.
	other := &systemtest.Fakes{Programs: worldtest.Stuck}
	forced, err = run.Replay(t.Context(), &changed, r.Trace,
		run.Options{System: system.Options{Nodes: other}, Force: true})
	if err != nil || forced.Outcome != record.Inconclusive || forced.Mismatch == nil || forced.Mismatch.Step != 3 {
		t.Errorf("forced: %+v, %v", forced, err)
	}
}

func TestReplayMismatchIsABug(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	r, err := run.Run(t.Context(), s,
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: systemtest.PingPong}}})
	if err != nil {
		t.Fatal(err)
	}
	again := replay(t, s, &systemtest.Fakes{Programs: worldtest.Stuck}, r.Trace)
	if again.Outcome != record.ToolBug || again.Mismatch == nil || !strings.Contains(again.Mismatch.Message, "expected send = 4 in thread 1\n    got      no further call") {
		t.Errorf("report %+v", again.Mismatch)
	}
	// The trace alone, without its calls, is enough to see that there is one.
	if err := os.Remove(r.Trace + trace.CallsSuffix); err != nil {
		t.Fatal(err)
	}
	again = replay(t, s, &systemtest.Fakes{Programs: worldtest.Stuck}, r.Trace)
	if again.Outcome != record.ToolBug || again.Mismatch.Step != 3 {
		t.Errorf("report %+v", again.Mismatch)
	}
	systemtest.Write(t, r.Trace+trace.CallsSuffix, "nonsense")
	if _, err := run.Replay(t.Context(), s, r.Trace,
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: systemtest.PingPong}}}); err == nil ||
		!strings.Contains(err.Error(), "trace.txt.calls: not a file of system calls") {
		t.Errorf("err = %v", err)
	}
	systemtest.Write(t, r.Trace+trace.CallsSuffix, "ariadne calls 1\n\x07")
	if _, err := run.Replay(t.Context(), s, r.Trace,
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: systemtest.PingPong}}}); !errors.Is(err,
		trace.ErrDamagedCalls) {
		t.Errorf("err = %v", err)
	}
}

func TestInterruptedRun(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := run.Run(ctx, s,
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: systemtest.PingPong}},
			OnStep: func(s ariadne.Step) {
				if s.Index == 3 {
					cancel()
				}
			}})
	if err != nil || r.Outcome != record.Inconclusive || r.Steps != 3 || r.Stopped != "interrupted" {
		t.Fatalf("report %+v, %v", r, err)
	}
	if again := replay(t, s, &systemtest.Fakes{Programs: systemtest.PingPong},
		r.Trace); again.Outcome != record.Inconclusive || again.Steps != 3 {
		t.Errorf("replay: %+v", again)
	}
}

func TestRunDirectories(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	start := func(out string) (*record.Report, error) {
		return run.Run(t.Context(), s,
			run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: systemtest.PingPong}}, Out: out})
	}
	systemtest.Write(t, "file", "")
	if _, err := start("file"); err == nil {
		t.Error("a file became a run directory")
	}
	if err := os.Mkdir("mine", 0o777); err != nil {
		t.Fatal(err)
	}
	systemtest.Write(t, "mine/spec.yaml", "name: mine\n")
	if _, err := start("mine"); err == nil ||
		!strings.Contains(err.Error(), "mine is not empty, and is not a run directory") {
		t.Errorf("err = %v", err)
	}
	// A run directory is used again; what is not ours stays.
	if _, err := start("out[1]"); err != nil {
		t.Fatal(err)
	}
	systemtest.Write(t, "out[1]/notes.txt", "")
	if err := os.MkdirAll("out[1]/violation-7", 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := start("out[1]"); err != nil {
		t.Fatal(err)
	}
	if !systemtest.Exists("out[1]/notes.txt") || systemtest.Exists("out[1]/violation-7") ||
		!systemtest.Exists("out[1]/trace.txt") {
		t.Error("the run directory was not used again as it should")
	}
	_, err := run.Replay(t.Context(), s, "out[1]/trace.txt",
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: systemtest.PingPong}}, Out: "out[1]"})
	if err == nil || !strings.Contains(err.Error(), "which would be emptied") ||
		!systemtest.Exists("out[1]/trace.txt") {
		t.Errorf("err = %v", err)
	}
	s.Name = "../a system/"
	if r, err := start(""); err != nil || r.Out != "ariadne-runs/_.._a system_-1" {
		t.Errorf("out %v, %v", r, err)
	}
}
