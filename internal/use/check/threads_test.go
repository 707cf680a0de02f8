//go:build linux

package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// threads compiles a program with threads, and returns its spec with so many that may be late.
func threads(t *testing.T, source, args string, late int) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	name := strings.TrimSuffix(filepath.Base(source), ".c")
	if out, err := exec.Command("cc", "-O2", "-Wall", "-pthread", "-o", filepath.Join(dir, name),
		source).CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	text := fmt.Sprintf("faults: {preempt: %d}\nnodes:\n  - name: n\n    command: ./%s %s\n    client: true\n", late, name, args)
	path := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLateGoroutines: a bug that goroutines show at locks which are free is found with one late
// thread, where Go has two processors, and its trace replays.
func TestLateGoroutines(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "goroutines"),
		"../../../examples/threads/goroutines").CombinedOutput(); err != nil {
		t.Skipf("go: %v\n%s", err, out)
	}
	for _, c := range []struct {
		args       string
		late, cpus int
		bug        bool
	}{
		{"careless", 1, 2, true},
		{"careless", 0, 2, false},
		{"careless", 1, 1, false},
		{"careful", 1, 2, false},
	} {
		systemtest.Write(t, filepath.Join(dir, "spec.yaml"), fmt.Sprintf(
			"faults: {preempt: %d}\nnodes:\n  - name: n\n    command: ./goroutines %s\n    cpus: %d\n    client: true\n",
			c.late, c.args, c.cpus))
		s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Check(t.Context(), s, check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"),
			Workers: 1, KeepGoing: true, Search: check.Search{Strategy: "depth-first", Audit: 0.2}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Bugs) > 0 || r.Coverage.Nodes.Mismatches > 0 || !r.Coverage.Exhausted ||
			(r.Outcome == record.Violated) != c.bug {
			t.Fatalf("%+v: %v, %q, %d mismatches, exhausted %v", c, r.Outcome, r.Bugs, r.Coverage.Nodes.Mismatches,
				r.Coverage.Exhausted)
		}
		if atLocks := c.late > 0 && c.cpus > 1; atLocks != slices.Equal(r.Coverage.AtLocks, []string{"n"}) {
			t.Errorf("%+v: at locks: %q", c, r.Coverage.AtLocks)
		}
		t.Logf("%+v: %d executions", c, r.Executions)
		if !c.bug {
			continue
		}
		path := r.Violations[0].Trace
		if text := systemtest.Read(t, path); !strings.Contains(text, "/sync.(*Mutex).") {
			t.Errorf("the trace:\n%s", text)
		}
		again, err := run.Replay(t.Context(), nil, path,
			run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
		if err != nil || again.Mismatch != nil || again.Outcome != record.Violated {
			t.Fatalf("%+v, %v", again, err)
		}
	}
}

// TestLateThreads: bugs that threads show when so many of them are late are found by all
// exhaustive searches, after the same number of executions, and their traces replay. With one
// fewer there is nothing.
func TestLateThreads(t *testing.T) {
	for _, c := range []struct {
		source, args string
		late         int
		bug          bool // else there is none
	}{
		{"../../../examples/threads/ticket.c", "careless", 1, true},
		{"../../../examples/threads/wakeup.c", "careless", 1, true},
		{"../../../examples/threads/locks.c", "careless", 1, true},
		{"../../../examples/threads/queue.c", "careless", 1, true},
		{"../../../examples/threads/update.c", "careless", 1, true},
		{"../../machine/node/testdata/threads/order.c", "ab xyz !xabyz", 2, true},
		{"../../../examples/threads/ticket.c", "careful", 1, false},
		{"../../../examples/threads/wakeup.c", "careful", 2, false},
		{"../../../examples/threads/locks.c", "careful", 1, false},
		{"../../../examples/threads/queue.c", "careful", 1, false},
		{"../../../examples/threads/update.c", "careful", 1, false},
	} {
		name := strings.TrimSuffix(filepath.Base(c.source), ".c") + " " + c.args
		t.Run(name, func(t *testing.T) {
			search := func(name string, late, workers int) *record.Report {
				o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: workers,
					KeepGoing: true,
					Search:    check.Search{Strategy: name, Audit: 0.2}}
				r, err := check.Check(t.Context(), threads(t, c.source, c.args, late), o)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Bugs) > 0 || r.Coverage.Nodes.Mismatches > 0 || !r.Coverage.Exhausted {
					t.Fatalf("%s: %q, %d mismatches, exhausted %v", name, r.Bugs, r.Coverage.Nodes.Mismatches,
						r.Coverage.Exhausted)
				}
				// Each of the programs enters some lock function: order.c by way of abort.
				turns := late > 0 && r.Coverage.Nodes.Executed > 0
				if turns != slices.Equal(r.Coverage.TookTurns, []string{"n"}) || turns &&
					!slices.Equal(r.Coverage.AtLocks, r.Coverage.TookTurns) {
					t.Errorf("%d late: took turns: %q, at locks: %q", late, r.Coverage.TookTurns, r.Coverage.AtLocks)
				}
				return r
			}
			if c.bug {
				if r := search("depth-first", c.late-1, 1); r.Outcome != record.Nothing {
					t.Errorf("with %d late: %v", c.late-1, r.Outcome)
				}
			}
			executions := 0
			for i, name := range []string{"depth-first", "deviations", "breadth-first", "dpor"} {
				r := search(name, c.late, 1+i%2)
				if executions == 0 {
					executions = r.Executions
				}
				if r.Executions != executions || (r.Outcome == record.Violated) != c.bug {
					t.Errorf("%s: %v after %d executions of %d", name, r.Outcome, r.Executions, executions)
				}
				if !c.bug {
					continue
				}
				path := r.Violations[0].Trace
				if text := systemtest.Read(t, path); strings.Count(text, "preempt:") < c.late {
					t.Errorf("the trace:\n%s", text)
				}
				again, err := run.Replay(t.Context(), nil, path,
					run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
				if err != nil || again.Mismatch != nil || again.Outcome != record.Violated ||
					again.Violations[0].Message != r.Violations[0].Message {
					t.Fatalf("%+v, %v", again, err)
				}
			}
			t.Logf("%d executions", executions)
		})
	}
}
