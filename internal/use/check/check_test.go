package check_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// checked runs a check and wants all nodes closed at its end.
func checked(t *testing.T, s *spec.Spec, f *systemtest.Fakes, o check.Options) *record.Report {
	t.Helper()
	o.System = f.Options()
	r, err := check.Check(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	f.Closed(t)
	return r
}

func replay(t *testing.T, s *spec.Spec, f *systemtest.Fakes, path string) *record.Report {
	t.Helper()
	r, err := run.Replay(t.Context(), s, path, run.Options{System: f.Options()})
	if err != nil {
		t.Fatal(err)
	}
	f.Closed(t)
	return r
}

func TestCheckFindsConfirmsAndReplays(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s := systemtest.Spec(t, 3, 2, 1, 2)
		f := &systemtest.Fakes{Programs: worldtest.LostUpdate}
		var told []record.Violation
		var progress []check.Progress
		r := checked(t, s, f, check.Options{Executions: 100, Workers: workers,
			OnViolation: func(v record.Violation) { told = append(told, v) },
			OnProgress:  func(p check.Progress) { progress = append(progress, p) }})
		if r.Outcome != record.Violated || r.Stopped != "first violation" || len(r.Violations) != 1 || len(told) != 1 {
			t.Fatalf("report %+v", r)
		}
		if p := progress[len(progress)-1]; !p.Done || p.Violations != 1 || p.Executions != r.Executions {
			t.Errorf("progress %+v", p)
		}
		v := r.Violations[0]
		if v.Kind != "death" || v.NodeName != "n3" || v.Execution == 0 || v.Suspect != "" ||
			!strings.HasPrefix(v.Message, "program -x was killed by SIGABRT: panic: update lost: the register is 1, not 2") {
			t.Errorf("violation %+v", v)
		}
		if v.Trace != "ariadne-runs/system-1/violation-1/trace.txt" || v.Replay != "ariadne replay "+v.Trace {
			t.Errorf("trace %s, replay %s", v.Trace, v.Replay)
		}
		again := replay(t, s, f, v.Trace)
		if again.Outcome != record.Violated || len(again.Violations) != 1 || again.Violations[0].Message != v.Message {
			t.Errorf("replay: %+v", again)
		}
		// The replay's own trace replays as well, and is the same but for the path of the
		// spec and so for the digest.
		a, b := systemtest.Read(t, v.Trace), systemtest.Read(t, again.Out, "trace.txt")
		a, _, _ = strings.Cut(strings.Replace(a, "../../../", "../../", 1), " digest ")
		if b, _, _ = strings.Cut(b, " digest "); a != b {
			t.Errorf("found:\n%s\nreplayed:\n%s", a, b)
		}
		// The walk can be made alone.
		alone := checked(t, s, f, check.Options{First: v.Execution, Executions: 1, Workers: 1})
		if len(alone.Violations) != 1 || alone.Violations[0].Step != v.Step || alone.Executions != 1 {
			t.Errorf("alone: %+v", alone)
		}
		if natural, err := system.LoadTrace("ariadne-runs/system-1/execution-0/trace.txt"); err != nil ||
			workers == 1 && natural.End != "clients done" {
			t.Errorf("the natural schedule: %+v, %v", natural, err)
		}
	}
}

func TestCheckKeepsGoing(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	r := checked(t, s, &systemtest.Fakes{Programs: worldtest.LostUpdate},
		check.Options{Executions: 100, KeepGoing: true, Workers: 2, Out: "out"})
	total := 0
	for _, n := range r.Ends {
		total += n
	}
	if r.Executions != 100 || total != 100 || r.Next != 100 || r.Stopped != "executions" {
		t.Errorf("%d executions, ends %v, next %d, stopped %q", r.Executions, r.Ends, r.Next, r.Stopped)
	}
	if len(r.Violations) != 1 || r.Violations[0].Count != r.Ends["violation"] || r.Violations[0].Count < 2 {
		t.Errorf("violations %+v, ends %v", r.Violations, r.Ends)
	}
	for _, v := range r.Violations {
		if _, err := system.LoadTrace(v.Trace); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckFindsNothing(t *testing.T) {
	s := systemtest.Spec(t, 2, 2, 0)
	r := checked(t, s, &systemtest.Fakes{Programs: systemtest.PingPong}, check.Options{Executions: 30})
	if r.Outcome != record.Nothing || r.Executions != 30 || len(r.Doubts) != 0 || r.Outcome.ExitStatus() != 0 {
		t.Errorf("report %+v", r)
	}
	if !strings.Contains(systemtest.Read(t, r.Out, "report.json"), `"outcome": "nothing found"`) {
		t.Error("report.json")
	}
}

// TestCheckKeepsWalks: of each way to end there is a trace that can be replayed.
func TestCheckKeepsWalks(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	s.Limits.Steps = 9
	f := &systemtest.Fakes{Programs: worldtest.LostUpdate}
	r := checked(t, s, f, check.Options{Executions: 60, KeepGoing: true, Workers: 1, Out: "out"})
	kept := map[string]int{}
	paths, err := filepath.Glob("out/execution-*/trace.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		tr, err := system.LoadTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		if again := replay(t, s, f, path); again.End != tr.End || again.Outcome != record.Nothing {
			t.Errorf("%s ended with %s, not %s: %v", path, again.End, tr.End, again.Bugs)
		}
		if tr.Execution > 0 {
			kept[tr.End]++
		}
	}
	for end := range r.Ends {
		if end != "violation" && kept[end] != 1 {
			t.Errorf("%d traces of walks that ended with %s; ends %v", kept[end], end, r.Ends)
		}
	}
	if len(kept) == 0 {
		t.Errorf("ends %v", r.Ends)
	}
}

func TestRefusalsMakeTheRunInconclusive(t *testing.T) {
	refusal := ariadne.Refusal{Name: "io_uring_setup", Program: "/spec/program", Count: 2}
	t.Run("harmless", func(t *testing.T) {
		harmless := refusal
		harmless.Harmless = true
		r := checked(t, systemtest.Spec(t, 2, 0, 0),
			&systemtest.Fakes{Programs: systemtest.PingPong, Refusals: []ariadne.Refusal{harmless}},
			check.Options{Executions: 3})
		if r.Outcome != record.Nothing || r.Refusals[0].Node != "n2" || r.Refusals[0].Count != 6 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("not handled", func(t *testing.T) {
		r := checked(t, systemtest.Spec(t, 2, 0, 0),
			&systemtest.Fakes{Programs: systemtest.PingPong, Refusals: []ariadne.Refusal{refusal}},
			check.Options{Executions: 3})
		want := []string{"node n2: /spec/program asks for io_uring_setup, which is not modelled"}
		if r.Outcome != record.Inconclusive || !slices.Equal(r.Doubts, want) {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("suspect violation", func(t *testing.T) {
		f := &systemtest.Fakes{Programs: worldtest.LostUpdate, Refusals: []ariadne.Refusal{refusal}}
		r := checked(t, systemtest.Spec(t, 3, 2, 1, 2), f, check.Options{Executions: 100})
		if r.Outcome != record.Inconclusive || len(r.Violations) != 1 ||
			!strings.Contains(r.Violations[0].Suspect, "io_uring_setup") {
			t.Errorf("report %+v", r)
		}
	})
}

// odd is a node that does in its first step what the test says.
type odd struct {
	worldtest.Idle
	do func(*worldtest.Ctx)
}

func (o odd) Start(c *worldtest.Ctx) { o.do(c) }

func oddSystem(do func(*worldtest.Ctx)) func() []worldtest.Program {
	return func() []worldtest.Program { return []worldtest.Program{odd{do: do}} }
}

func TestFatalAndUnreplayableAreInconclusive(t *testing.T) {
	for want, do := range map[string]func(*worldtest.Ctx){
		"node n1 cannot go on without a debugger": func(c *worldtest.Ctx) { c.Output().Fatal = "a debugger" },
		"a thread ran for long":                   func(c *worldtest.Ctx) { c.Output().Unreplayable = true },
	} {
		r := checked(t, systemtest.Spec(t, 1, 0), &systemtest.Fakes{Programs: oddSystem(do)},
			check.Options{Executions: 2})
		if r.Outcome != record.Inconclusive || len(r.Doubts) != 1 || !strings.HasPrefix(r.Doubts[0], want) {
			t.Errorf("outcome %v, doubts %q", r.Outcome, r.Doubts)
		}
	}
}

// leaky systems die, and say each time something else: a leak of determinism.
func leaky() func() []worldtest.Program {
	var mu sync.Mutex
	count := 0
	return oddSystem(func(c *worldtest.Ctx) {
		mu.Lock()
		defer mu.Unlock()
		count++
		c.Log("number %d", count)
		c.Panic("dead")
	})
}

func TestViolationThatDoesNotReplayIsABug(t *testing.T) {
	s := systemtest.Spec(t, 1, 0)
	r := checked(t, s, &systemtest.Fakes{Programs: leaky()}, check.Options{Executions: 2, Workers: 1})
	if r.Outcome != record.ToolBug || r.Outcome.ExitStatus() != 4 || len(r.Violations) != 0 || len(r.Bugs) != 1 ||
		r.Stopped != "bug in ariadne" {
		t.Fatalf("report %+v", r)
	}
	for _, want := range []string{
		"a violation in execution 0 did not happen again when it was replayed: death of n1 at step 1: program -x was killed by SIGABRT: panic: dead",
		"step 1 (start n1), node n1: it does something else",
		"first different system call, number 1 of the step",
		"expected log = 8 in thread 1",
		"replay: ariadne replay ariadne-runs/system-1/unconfirmed-1/trace.txt",
	} {
		if !strings.Contains(r.Bugs[0], want) {
			t.Errorf("%q is not in:\n%s", want, r.Bugs[0])
		}
	}
	if systemtest.Exists("ariadne-runs/system-1/violation-1") {
		t.Error("a violation is recorded")
	}
	again := replay(t, s, &systemtest.Fakes{Programs: leaky()}, "ariadne-runs/system-1/unconfirmed-1/trace.txt")
	if again.Outcome != record.Violated { // number 1 once more
		t.Errorf("replay: %+v", again)
	}
	// run confirms, too.
	once, err := run.Run(t.Context(), s,
		run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: leaky()}}})
	if err != nil || once.Outcome != record.ToolBug || len(once.Bugs) != 1 {
		t.Errorf("run: %+v, %v", once, err)
	}
	// With --keep-going there is more than one, but no end of them is not asked for.
	r = checked(t, s, &systemtest.Fakes{Programs: leaky()},
		check.Options{KeepGoing: true, Time: time.Minute, Workers: 1})
	if len(r.Bugs) != 10 {
		t.Errorf("%d bugs", len(r.Bugs))
	}
}

func TestUnreplayableStepsExcuse(t *testing.T) {
	var mu sync.Mutex
	count := 0
	// Its first step may not replay, and says each time something else; so does
	// its violation, in the second.
	unsteady := func(c *worldtest.Ctx) {
		mu.Lock()
		defer mu.Unlock()
		count++
		if c.Now() == 0 {
			c.Output().Unreplayable = true
			c.Log("number %d", count)
			c.SetTimer(time.Second)
			return
		}
		c.Log("number %d", count)
		c.Panic("dead")
	}
	programs := func() []worldtest.Program { return []worldtest.Program{again{odd{do: unsteady}}} }
	r := checked(t, systemtest.Spec(t, 1, 0), &systemtest.Fakes{Programs: programs},
		check.Options{Executions: 2, Workers: 1})
	if r.Outcome != record.Inconclusive || len(r.Violations) != 0 || r.Executions != 2 ||
		!strings.Contains(strings.Join(r.Doubts, "\n"), "did not happen again") {
		t.Errorf("report %+v", r)
	}
}

// again does the same when its timer fires.
type again struct{ odd }

func (a again) Fire(c *worldtest.Ctx) { a.do(c) }

func TestErrorsOfNodes(t *testing.T) {
	wrong := errors.New("what is wrong")
	t.Run("at the start", func(t *testing.T) {
		f := &systemtest.Fakes{Programs: systemtest.PingPong, Failing: wrong}
		_, err := check.Check(t.Context(), systemtest.Spec(t, 2, 0, 0),
			check.Options{System: system.Options{Nodes: f}, Executions: 1})
		if !errors.Is(err, wrong) || !strings.Contains(err.Error(), "node n2: ") {
			t.Errorf("err = %v", err)
		}
		f.Closed(t)
	})
	t.Run("of the machine", func(t *testing.T) {
		f := &systemtest.Fakes{Programs: systemtest.PingPong, Applying: func(ariadne.Input) error {
			return &ariadne.SetupError{Err: wrong}
		}}
		if _, err := run.Run(t.Context(), systemtest.Spec(t, 2, 0, 0),
			run.Options{System: system.Options{Nodes: f}}); !errors.Is(err, wrong) {
			t.Errorf("err = %v", err)
		}
		f.Closed(t)
	})
	t.Run("of the host", func(t *testing.T) {
		killed := func(ariadne.Input) error { return &ariadne.KilledError{Err: wrong} }
		f := &systemtest.Fakes{Programs: systemtest.PingPong, Applying: killed}
		r, err := run.Run(t.Context(), systemtest.Spec(t, 2, 0, 0), run.Options{System: system.Options{Nodes: f}})
		if err != nil || r.Outcome != record.Inconclusive || len(r.Doubts) != 1 ||
			!strings.Contains(r.Doubts[0], "what is wrong") {
			t.Errorf("report %+v, %v", r, err)
		}
		f.Closed(t)
		r = checked(t, systemtest.Spec(t, 2, 0, 0), &systemtest.Fakes{Programs: systemtest.PingPong, Applying: killed},
			check.Options{Executions: 3})
		if r.Outcome != record.Inconclusive || r.Stopped != "the host killed a process" || len(r.Doubts) != 1 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("of ours", func(t *testing.T) {
		f := &systemtest.Fakes{Programs: systemtest.PingPong, Applying: func(ariadne.Input) error { return wrong }}
		r := checked(t, systemtest.Spec(t, 2, 0, 0), f, check.Options{Executions: 3, Workers: 1})
		want := "execution 0: step 1 (start n1): what is wrong"
		if r.Outcome != record.ToolBug || !slices.Equal(r.Bugs, []string{want}) || r.Executions != 0 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("panic", func(t *testing.T) {
		f := &systemtest.Fakes{Programs: systemtest.PingPong, Applying: func(in ariadne.Input) error {
			if in.Kind == ariadne.Deliver {
				panic("no such socket")
			}
			return nil
		}}
		r := checked(t, systemtest.Spec(t, 2, 0, 0), f, check.Options{Executions: 3, Workers: 1})
		if r.Outcome != record.ToolBug || len(r.Bugs) != 1 ||
			!strings.HasPrefix(r.Bugs[0], "execution 0: panic: no such socket\n") {
			t.Errorf("report %+v", r)
		}
	})
}

func TestInterruptAndResume(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	whole := checked(t, s, &systemtest.Fakes{Programs: worldtest.LostUpdate},
		check.Options{Executions: 60, KeepGoing: true, Workers: 1, Out: "whole"})

	ctx, cancel := context.WithCancel(t.Context())
	f := &systemtest.Fakes{Programs: worldtest.LostUpdate}
	f.Applying = func(ariadne.Input) error {
		if f.Made() > 3*25 {
			cancel()
		}
		return nil
	}
	o := check.Options{System: system.Options{Nodes: f}, Executions: 60, KeepGoing: true, Workers: 1, Out: "part"}
	part, err := check.Check(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if part.Stopped != "interrupted" || part.Outcome == record.Nothing || part.Executions >= 30 ||
		part.Executions < 5 || part.Next != part.Executions {
		t.Errorf("part: %+v", part)
	}
	o.System.Nodes, o.Resume = &systemtest.Fakes{Programs: worldtest.LostUpdate}, true
	rest, err := check.Check(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Executions != 60 || rest.Next != 60 || len(rest.Violations) != len(whole.Violations) {
		t.Errorf("rest: %+v", rest)
	}
	for i, v := range rest.Violations {
		if w := whole.Violations[i]; v.Count != w.Count || v.Execution != w.Execution || v.Message != w.Message {
			t.Errorf("violation %+v, without the interruption %+v", v, w)
		}
	}
	for end, n := range whole.Ends {
		if rest.Ends[end] != n {
			t.Errorf("ends %v, without the interruption %v", rest.Ends, whole.Ends)
		}
	}

	other := *s
	other.Seed++
	if _, err := check.Check(t.Context(), &other, o); err == nil ||
		!strings.Contains(err.Error(), "has seed 1, not 2") {
		t.Errorf("err = %v", err)
	}
	other = *s
	other.Digest[5]++
	if _, err := check.Check(t.Context(), &other, o); err == nil ||
		!strings.Contains(err.Error(), "the spec has changed") {
		t.Errorf("err = %v", err)
	}
	o.Out = "nowhere"
	if _, err := check.Check(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
		t.Errorf("err = %v", err)
	}
}

func TestTimeBudget(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	r := checked(t, s, &systemtest.Fakes{Programs: systemtest.PingPong}, check.Options{Time: 500 * time.Millisecond})
	if r.Stopped != "time" || r.Outcome != record.Nothing || r.RealTime > 10*time.Second {
		t.Errorf("report %+v", r)
	}
	slow := &systemtest.Fakes{Programs: systemtest.PingPong, Applying: func(ariadne.Input) error {
		time.Sleep(300 * time.Millisecond)
		return nil
	}}
	r = checked(t, s, slow, check.Options{Time: 200 * time.Millisecond})
	if r.Outcome != record.Inconclusive || r.Executions != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestDepth(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	r := checked(t, s, &systemtest.Fakes{Programs: systemtest.PingPong}, check.Options{Executions: 2, Depth: 5})
	if r.Ends[search.EndBounds] != 2 || r.Steps != 10 || r.Outcome != record.Nothing {
		t.Errorf("report %+v", r)
	}
}

func TestWorkers(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	f := &systemtest.Fakes{Programs: systemtest.PingPong, Applying: func(ariadne.Input) error {
		runtime.Gosched()
		return nil
	}}
	checked(t, s, f, check.Options{Executions: 200, Workers: 3})
	if f.Workers() != 3 {
		t.Errorf("workers %v", f.Workers())
	}
}
