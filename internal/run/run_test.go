package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/run"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
	"ariadne/internal/world/worldtest"
)

// fakes starts nodes of a few lines of Go.
type fakes struct {
	programs func() []worldtest.Program
	refusals []ariadne.Refusal // of the last node
	failing  error             // of its Start
	applying func(ariadne.Input) error

	mu     sync.Mutex
	made   int
	open   int
	worker map[int]bool
}

func (f *fakes) Enter(worker int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.worker == nil {
		f.worker = map[int]bool{}
	}
	f.worker[worker] = true
	return nil
}

func (f *fakes) Start(c run.NodeConfig) (memo.Node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, programs := int(c.Node.ID), f.programs()
	last := id == len(programs)-1
	if last && f.failing != nil {
		return nil, f.failing
	}
	f.made++
	f.open++
	n := &fake{Automaton: worldtest.NewAutomaton(c.Node.ID, programs[id]), f: f}
	if last {
		n.refusals = f.refusals
	}
	return n, nil
}

type fake struct {
	*worldtest.Automaton
	f        *fakes
	refusals []ariadne.Refusal
}

func (n *fake) Apply(in ariadne.Input) (ariadne.Output, error) {
	if n.f.applying != nil {
		if err := n.f.applying(in); err != nil {
			return ariadne.Output{}, err
		}
	}
	out, err := n.Automaton.Apply(in)
	if in.Kind == ariadne.Start {
		out.Refusals = n.refusals
	}
	return out, err
}

func (n *fake) Close() error {
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	n.f.open--
	return nil
}

// system is a spec of fakes in a directory of its own.
func system(t *testing.T, nodes, delays int, clients ...int) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	s := specIn(dir, nodes, delays, clients...)
	write(t, s.Path, "name: system\n")
	write(t, filepath.Join(dir, "program"), "#!/bin/true\n")
	return s
}

func specIn(dir string, nodes, delays int, clients ...int) *spec.Spec {
	s := &spec.Spec{Path: filepath.Join(dir, "system.yaml"), Dir: dir, Digest: ariadne.Digest{1}, Name: "system",
		Seed: 1, Latency: time.Millisecond, Delays: delays,
		Limits: spec.Limits{Steps: 1000, Time: time.Minute, Calls: 1000}}
	for i := range nodes {
		s.Nodes = append(s.Nodes, spec.Node{
			ID: ariadne.NodeID(i), Name: []string{"n1", "n2", "n3"}[i],
			Addrs:    []netip.Addr{worldtest.Addr(ariadne.NodeID(i))},
			Commands: []spec.Command{{Args: []string{"/spec/program", "-x"}, Line: 1}},
			Client:   slices.Contains(clients, i),
		})
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// check runs a check and wants all nodes closed at its end.
func check(t *testing.T, s *spec.Spec, f *fakes, o run.Options) *run.Report {
	t.Helper()
	o.Nodes, o.CallName, o.Version = f, worldtest.CallName, "test"
	r, err := run.Check(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, f)
	return r
}

func closed(t *testing.T, f *fakes) {
	t.Helper()
	if f.open != 0 || f.made == 0 {
		t.Errorf("%d of %d nodes are still open", f.open, f.made)
	}
}

func replay(t *testing.T, s *spec.Spec, f *fakes, path string) *run.Report {
	t.Helper()
	r, err := run.Replay(t.Context(), s, path, run.Options{Nodes: f, CallName: worldtest.CallName, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, f)
	return r
}

func pingPong() []worldtest.Program {
	return []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 3}, worldtest.Pong{}}
}

func TestRun(t *testing.T) {
	s := system(t, 2, 0, 0)
	f := &fakes{programs: pingPong}
	var steps []string
	r, err := run.Run(t.Context(), s, run.Options{Nodes: f, OnStep: func(s ariadne.Step) { steps = append(steps, s.Name) }})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, f)
	if r.Outcome != run.Nothing || r.End != "clients done" || r.Steps != 8 || r.Messages != 6 || len(steps) != 8 {
		t.Errorf("report %+v", r)
	}
	if r.Out != "ariadne-runs/system-1" || r.Trace != "ariadne-runs/system-1/trace.txt" || r.Nodes[0].Log != "ariadne-runs/system-1/nodes/n1.log" {
		t.Errorf("out %s, trace %s, log %s", r.Out, r.Trace, r.Nodes[0].Log)
	}
	if got := read(t, r.Nodes[0].Log); !strings.HasPrefix(got, "0.002003s out 1 got pong\n") {
		t.Errorf("log:\n%s", got)
	}
	if got := read(t, r.Out, "timeline.txt"); !strings.Contains(got, "n2 -> n1") {
		t.Errorf("timeline:\n%s", got)
	}
	lines := strings.Split(strings.TrimSpace(read(t, r.Out, "steps.jsonl")), "\n")
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
	}
	tr, err := run.LoadTrace(r.Trace)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Steps) != 8 || len(lines) != 8 || tr.Spec != "../../system.yaml" || len(tr.Programs) != 2 || tr.Programs[1].Path != "/spec/program" {
		t.Errorf("trace %+v, %d lines", tr, len(lines))
	}
	if read(t, r.Out, "spec.yaml") != "name: system\n" {
		t.Error("no copy of the spec")
	}
	if again := replay(t, s, f, r.Trace); again.Outcome != run.Nothing || again.Out != "ariadne-runs/system-2" || again.Steps != 8 {
		t.Errorf("replay: %+v", again)
	}
}

func TestCheckFindsConfirmsAndReplays(t *testing.T) {
	for _, workers := range []int{1, 4} {
		s := system(t, 3, 2, 1, 2)
		f := &fakes{programs: worldtest.LostUpdate}
		var told []run.Violation
		var progress []run.Progress
		r := check(t, s, f, run.Options{Executions: 100, Workers: workers,
			OnViolation: func(v run.Violation) { told = append(told, v) },
			OnProgress:  func(p run.Progress) { progress = append(progress, p) }})
		if r.Outcome != run.Violated || r.Stopped != "first violation" || len(r.Violations) != 1 || len(told) != 1 {
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
		if again.Outcome != run.Violated || len(again.Violations) != 1 || again.Violations[0].Message != v.Message {
			t.Errorf("replay: %+v", again)
		}
		// The replay's own trace replays as well, and is the same but for the path of the
		// spec and so for the digest.
		a, b := read(t, v.Trace), read(t, again.Out, "trace.txt")
		a, _, _ = strings.Cut(strings.Replace(a, "../../../", "../../", 1), " digest ")
		if b, _, _ = strings.Cut(b, " digest "); a != b {
			t.Errorf("found:\n%s\nreplayed:\n%s", a, b)
		}
		// The walk can be made alone.
		alone := check(t, s, f, run.Options{First: v.Execution, Executions: 1, Workers: 1})
		if len(alone.Violations) != 1 || alone.Violations[0].Step != v.Step || alone.Executions != 1 {
			t.Errorf("alone: %+v", alone)
		}
		if natural, err := run.LoadTrace("ariadne-runs/system-1/execution-0/trace.txt"); err != nil || workers == 1 && natural.End != "clients done" {
			t.Errorf("the natural schedule: %+v, %v", natural, err)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestCheckKeepsGoing(t *testing.T) {
	s := system(t, 3, 2, 1, 2)
	r := check(t, s, &fakes{programs: worldtest.LostUpdate}, run.Options{Executions: 100, KeepGoing: true, Workers: 2, Out: "out"})
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
		if _, err := run.LoadTrace(v.Trace); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckFindsNothing(t *testing.T) {
	s := system(t, 2, 2, 0)
	r := check(t, s, &fakes{programs: pingPong}, run.Options{Executions: 30})
	if r.Outcome != run.Nothing || r.Executions != 30 || len(r.Doubts) != 0 || r.Outcome.ExitStatus() != 0 {
		t.Errorf("report %+v", r)
	}
	if !strings.Contains(read(t, r.Out, "report.json"), `"Outcome": "nothing found"`) {
		t.Error("report.json")
	}
}

// TestCheckKeepsWalks: of each way to end there is a trace that can be replayed.
func TestCheckKeepsWalks(t *testing.T) {
	s := system(t, 3, 2, 1, 2)
	s.Limits.Steps = 9
	f := &fakes{programs: worldtest.LostUpdate}
	r := check(t, s, f, run.Options{Executions: 60, KeepGoing: true, Workers: 1, Out: "out"})
	kept := map[string]int{}
	paths, err := filepath.Glob("out/execution-*/trace.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		tr, err := run.LoadTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		if again := replay(t, s, f, path); again.End != tr.End || again.Outcome != run.Nothing {
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
		r := check(t, system(t, 2, 0, 0), &fakes{programs: pingPong, refusals: []ariadne.Refusal{harmless}}, run.Options{Executions: 3})
		if r.Outcome != run.Nothing || r.Nodes[1].Refusals[0].Count != 6 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("not handled", func(t *testing.T) {
		r := check(t, system(t, 2, 0, 0), &fakes{programs: pingPong, refusals: []ariadne.Refusal{refusal}}, run.Options{Executions: 3})
		want := []string{"node n2: /spec/program asks for io_uring_setup, which is not modelled"}
		if r.Outcome != run.Inconclusive || !slices.Equal(r.Doubts, want) {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("suspect violation", func(t *testing.T) {
		f := &fakes{programs: worldtest.LostUpdate, refusals: []ariadne.Refusal{refusal}}
		r := check(t, system(t, 3, 2, 1, 2), f, run.Options{Executions: 100})
		if r.Outcome != run.Inconclusive || len(r.Violations) != 1 || !strings.Contains(r.Violations[0].Suspect, "io_uring_setup") {
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
		r := check(t, system(t, 1, 0), &fakes{programs: oddSystem(do)}, run.Options{Executions: 2})
		if r.Outcome != run.Inconclusive || len(r.Doubts) != 1 || !strings.HasPrefix(r.Doubts[0], want) {
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
	s := system(t, 1, 0)
	r := check(t, s, &fakes{programs: leaky()}, run.Options{Executions: 2, Workers: 1})
	if r.Outcome != run.ToolBug || r.Outcome.ExitStatus() != 4 || len(r.Violations) != 0 || len(r.Bugs) != 1 || r.Stopped != "bug in ariadne" {
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
	if exists("ariadne-runs/system-1/violation-1") {
		t.Error("a violation is recorded")
	}
	again := replay(t, s, &fakes{programs: leaky()}, "ariadne-runs/system-1/unconfirmed-1/trace.txt")
	if again.Outcome != run.Violated { // number 1 once more
		t.Errorf("replay: %+v", again)
	}
	// run confirms, too.
	once, err := run.Run(t.Context(), s, run.Options{Nodes: &fakes{programs: leaky()}})
	if err != nil || once.Outcome != run.ToolBug || len(once.Bugs) != 1 {
		t.Errorf("run: %+v, %v", once, err)
	}
	// With --keep-going there is more than one, but no end of them is not asked for.
	r = check(t, s, &fakes{programs: leaky()}, run.Options{KeepGoing: true, Time: time.Minute, Workers: 1})
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
	r := check(t, system(t, 1, 0), &fakes{programs: programs}, run.Options{Executions: 2, Workers: 1})
	if r.Outcome != run.Inconclusive || len(r.Violations) != 0 || r.Executions != 2 || !strings.Contains(strings.Join(r.Doubts, "\n"), "did not happen again") {
		t.Errorf("report %+v", r)
	}
}

// again does the same when its timer fires.
type again struct{ odd }

func (a again) Fire(c *worldtest.Ctx) { a.do(c) }

func TestRunConfirmsItsViolation(t *testing.T) {
	s := system(t, 2, 0, 0)
	r, err := run.Run(t.Context(), s, run.Options{Nodes: &fakes{programs: worldtest.Stuck}})
	if err != nil || r.Outcome != run.Violated || len(r.Violations) != 1 || r.Violations[0].Kind != "deadlock" || r.Violations[0].Trace != r.Trace {
		t.Errorf("report %+v, %v", r, err)
	}
}

func TestErrorsOfNodes(t *testing.T) {
	wrong := errors.New("what is wrong")
	t.Run("at the start", func(t *testing.T) {
		f := &fakes{programs: pingPong, failing: wrong}
		_, err := run.Check(t.Context(), system(t, 2, 0, 0), run.Options{Nodes: f, Executions: 1})
		if !errors.Is(err, wrong) || !strings.Contains(err.Error(), "node n2: ") {
			t.Errorf("err = %v", err)
		}
		closed(t, f)
	})
	t.Run("of the machine", func(t *testing.T) {
		f := &fakes{programs: pingPong, applying: func(ariadne.Input) error { return &ariadne.SetupError{Err: wrong} }}
		if _, err := run.Run(t.Context(), system(t, 2, 0, 0), run.Options{Nodes: f}); !errors.Is(err, wrong) {
			t.Errorf("err = %v", err)
		}
		closed(t, f)
	})
	t.Run("of the host", func(t *testing.T) {
		killed := func(ariadne.Input) error { return &ariadne.KilledError{Err: wrong} }
		f := &fakes{programs: pingPong, applying: killed}
		r, err := run.Run(t.Context(), system(t, 2, 0, 0), run.Options{Nodes: f})
		if err != nil || r.Outcome != run.Inconclusive || len(r.Doubts) != 1 || !strings.Contains(r.Doubts[0], "what is wrong") {
			t.Errorf("report %+v, %v", r, err)
		}
		closed(t, f)
		r = check(t, system(t, 2, 0, 0), &fakes{programs: pingPong, applying: killed}, run.Options{Executions: 3})
		if r.Outcome != run.Inconclusive || r.Stopped != "the host killed a process" || len(r.Doubts) != 1 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("of ours", func(t *testing.T) {
		f := &fakes{programs: pingPong, applying: func(ariadne.Input) error { return wrong }}
		r := check(t, system(t, 2, 0, 0), f, run.Options{Executions: 3, Workers: 1})
		want := "execution 0: step 1 (start n1): what is wrong"
		if r.Outcome != run.ToolBug || !slices.Equal(r.Bugs, []string{want}) || r.Executions != 0 {
			t.Errorf("report %+v", r)
		}
	})
	t.Run("panic", func(t *testing.T) {
		f := &fakes{programs: pingPong, applying: func(in ariadne.Input) error {
			if in.Kind == ariadne.Deliver {
				panic("no such socket")
			}
			return nil
		}}
		r := check(t, system(t, 2, 0, 0), f, run.Options{Executions: 3, Workers: 1})
		if r.Outcome != run.ToolBug || len(r.Bugs) != 1 || !strings.HasPrefix(r.Bugs[0], "execution 0: panic: no such socket\n") {
			t.Errorf("report %+v", r)
		}
	})
}

func TestChangesSinceTheTrace(t *testing.T) {
	s := system(t, 2, 0, 0)
	f := &fakes{programs: pingPong}
	r, err := run.Run(t.Context(), s, run.Options{Nodes: f})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.Dir, "program"), "#!/bin/false\n")
	changed := *s
	changed.Digest = ariadne.Digest{2}
	changed.Seed = 7 // the trace's counts
	_, err = run.Replay(t.Context(), &changed, r.Trace, run.Options{Nodes: f})
	if err == nil {
		t.Fatal("it replayed")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "spec "+s.Path+" has changed") ||
		!strings.HasPrefix(lines[2], "  node n1: program /spec/program has changed (digest ") || !strings.HasPrefix(lines[3], "  node n2: ") {
		t.Errorf("err = %v", err)
	}
	forced, err := run.Replay(t.Context(), &changed, r.Trace, run.Options{Nodes: f, Force: true})
	if err != nil || forced.Outcome != run.Nothing || forced.Seed != 1 {
		t.Errorf("forced: %+v, %v", forced, err)
	}
	// With other programs a mismatch is nobody's bug.
	other := &fakes{programs: worldtest.Stuck}
	forced, err = run.Replay(t.Context(), &changed, r.Trace, run.Options{Nodes: other, Force: true})
	if err != nil || forced.Outcome != run.Inconclusive || forced.Mismatch == nil || forced.Mismatch.Step != 3 {
		t.Errorf("forced: %+v, %v", forced, err)
	}
}

func TestReplayMismatchIsABug(t *testing.T) {
	s := system(t, 2, 0, 0)
	r, err := run.Run(t.Context(), s, run.Options{Nodes: &fakes{programs: pingPong}})
	if err != nil {
		t.Fatal(err)
	}
	again := replay(t, s, &fakes{programs: worldtest.Stuck}, r.Trace)
	if again.Outcome != run.ToolBug || again.Mismatch == nil || !strings.Contains(again.Mismatch.Message, "expected send = 4 in thread 1\n    got      no further call") {
		t.Errorf("report %+v", again.Mismatch)
	}
	// The trace alone, without its calls, is enough to see that there is one.
	if err := os.Remove(r.Trace + trace.CallsSuffix); err != nil {
		t.Fatal(err)
	}
	again = replay(t, s, &fakes{programs: worldtest.Stuck}, r.Trace)
	if again.Outcome != run.ToolBug || again.Mismatch.Step != 3 {
		t.Errorf("report %+v", again.Mismatch)
	}
	write(t, r.Trace+trace.CallsSuffix, "nonsense")
	if _, err := run.Replay(t.Context(), s, r.Trace, run.Options{Nodes: &fakes{programs: pingPong}}); err == nil || !strings.Contains(err.Error(), "trace.txt.calls: not a file of system calls") {
		t.Errorf("err = %v", err)
	}
	write(t, r.Trace+trace.CallsSuffix, "ariadne calls 1\n\x07")
	if _, err := run.Replay(t.Context(), s, r.Trace, run.Options{Nodes: &fakes{programs: pingPong}}); !errors.Is(err, trace.ErrDamagedCalls) {
		t.Errorf("err = %v", err)
	}
}

func TestInterruptAndResume(t *testing.T) {
	s := system(t, 3, 2, 1, 2)
	whole := check(t, s, &fakes{programs: worldtest.LostUpdate}, run.Options{Executions: 60, KeepGoing: true, Workers: 1, Out: "whole"})

	ctx, cancel := context.WithCancel(t.Context())
	f := &fakes{programs: worldtest.LostUpdate}
	f.applying = func(ariadne.Input) error {
		if f.made > 3*25 {
			cancel()
		}
		return nil
	}
	o := run.Options{Nodes: f, Executions: 60, KeepGoing: true, Workers: 1, Out: "part"}
	part, err := run.Check(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if part.Stopped != "interrupted" || part.Outcome == run.Nothing || part.Executions >= 30 || part.Executions < 5 || part.Next != part.Executions {
		t.Errorf("part: %+v", part)
	}
	o.Nodes, o.Resume = &fakes{programs: worldtest.LostUpdate}, true
	rest, err := run.Check(t.Context(), s, o)
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
	if _, err := run.Check(t.Context(), &other, o); err == nil || !strings.Contains(err.Error(), "has seed 1, not 2") {
		t.Errorf("err = %v", err)
	}
	other = *s
	other.Digest[5]++
	if _, err := run.Check(t.Context(), &other, o); err == nil || !strings.Contains(err.Error(), "the spec has changed") {
		t.Errorf("err = %v", err)
	}
	o.Out = "nowhere"
	if _, err := run.Check(t.Context(), s, o); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
		t.Errorf("err = %v", err)
	}
}

func TestInterruptedRun(t *testing.T) {
	s := system(t, 2, 0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := run.Run(ctx, s, run.Options{Nodes: &fakes{programs: pingPong}, OnStep: func(s ariadne.Step) {
		if s.Index == 3 {
			cancel()
		}
	}})
	if err != nil || r.Outcome != run.Inconclusive || r.Steps != 3 || r.Stopped != "interrupted" {
		t.Fatalf("report %+v, %v", r, err)
	}
	if again := replay(t, s, &fakes{programs: pingPong}, r.Trace); again.Outcome != run.Inconclusive || again.Steps != 3 {
		t.Errorf("replay: %+v", again)
	}
}

func TestTimeBudget(t *testing.T) {
	s := system(t, 2, 0, 0)
	r := check(t, s, &fakes{programs: pingPong}, run.Options{Time: 500 * time.Millisecond})
	if r.Stopped != "time" || r.Outcome != run.Nothing || r.RealTime > 10*time.Second {
		t.Errorf("report %+v", r)
	}
	slow := &fakes{programs: pingPong, applying: func(ariadne.Input) error { time.Sleep(300 * time.Millisecond); return nil }}
	r = check(t, s, slow, run.Options{Time: 200 * time.Millisecond})
	if r.Outcome != run.Inconclusive || r.Executions != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestDepth(t *testing.T) {
	s := system(t, 2, 0, 0)
	r := check(t, s, &fakes{programs: pingPong}, run.Options{Executions: 2, Depth: 5})
	if r.Ends[search.EndBounds] != 2 || r.Steps != 10 || r.Outcome != run.Nothing {
		t.Errorf("report %+v", r)
	}
}

func TestRunDirectories(t *testing.T) {
	s := system(t, 2, 0, 0)
	start := func(out string) (*run.Report, error) {
		return run.Run(t.Context(), s, run.Options{Nodes: &fakes{programs: pingPong}, Out: out})
	}
	write(t, "file", "")
	if _, err := start("file"); err == nil {
		t.Error("a file became a run directory")
	}
	if err := os.Mkdir("mine", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "mine/spec.yaml", "name: mine\n")
	if _, err := start("mine"); err == nil || !strings.Contains(err.Error(), "mine: not empty and not a run directory") {
		t.Errorf("err = %v", err)
	}
	// A run directory is used again; what is not ours stays.
	if _, err := start("out[1]"); err != nil {
		t.Fatal(err)
	}
	write(t, "out[1]/notes.txt", "")
	if err := os.MkdirAll("out[1]/violation-7", 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := start("out[1]"); err != nil {
		t.Fatal(err)
	}
	if !exists("out[1]/notes.txt") || exists("out[1]/violation-7") || !exists("out[1]/trace.txt") {
		t.Error("the run directory was not used again as it should")
	}
	_, err := run.Replay(t.Context(), s, "out[1]/trace.txt", run.Options{Nodes: &fakes{programs: pingPong}, Out: "out[1]"})
	if err == nil || !strings.Contains(err.Error(), "which would be emptied") || !exists("out[1]/trace.txt") {
		t.Errorf("err = %v", err)
	}
	s.Name = "../a system/"
	if r, err := start(""); err != nil || r.Out != "ariadne-runs/_.._a system_-1" {
		t.Errorf("out %v, %v", r, err)
	}
}

func TestWorkers(t *testing.T) {
	s := system(t, 2, 0, 0)
	f := &fakes{programs: pingPong, applying: func(ariadne.Input) error { runtime.Gosched(); return nil }}
	check(t, s, f, run.Options{Executions: 200, Workers: 3})
	if len(f.worker) != 3 {
		t.Errorf("workers %v", f.worker)
	}
}
