//go:build linux

package check_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

var version = system.Options{Version: "test"}

func ledger(t *testing.T, name string) *spec.Spec {
	t.Helper()
	if out, err := exec.Command("../../../examples/faults/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	s, err := spec.Read(filepath.Join("../../../examples/faults", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCallsThatFail: a server that does not look whether its writes went well is found by
// every strategy when one call may fail, and the trace replays. Without such a fault it is
// not, and a server that looks is never.
func TestCallsThatFail(t *testing.T) {
	search := func(s *spec.Spec, name string, executions int) *record.Report {
		o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Executions: executions, Workers: 2,
			Search: check.Search{Strategy: name}}
		if r, _ := strategy.Named(name); !r.Lives {
			o.Search.Audit = 1
		}
		r, err := check.Check(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Bugs) > 0 || r.Coverage.Nodes.Mismatches > 0 {
			t.Fatalf("%s: %q, %d mismatches", name, r.Bugs, r.Coverage.Nodes.Mismatches)
		}
		return r
	}
	for _, row := range strategy.Rows() {
		// paths without faults, and one that needs a script
		if row.Once || row.Asks || row.Name == strategy.LateName {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			bug := ledger(t, "ledger-bug")
			r := search(bug, row.Name, 300)
			if r.Outcome != record.Violated {
				t.Fatalf("%v after %d executions, %q", r.Outcome, r.Executions, r.Doubts)
			}
			path := r.Violations[0].Trace
			if text := systemtest.Read(t, path); !strings.Contains(text, "\nfault fail 1\n") ||
				!strings.Contains(text, "@2/write:/node/ledger#1\n") {
				t.Errorf("the trace:\n%s", text)
			}
			replays(t, row.Name, r)
			if r := search(ledger(t, "ledger"), row.Name, 60); r.Outcome != record.Nothing {
				t.Errorf("a server that looks: %v, %q", r.Outcome, slices.Concat(r.Doubts, r.Bugs))
			}
		})
	}
	bug := ledger(t, "ledger-bug")
	bug.Faults = worldtest.Faults("fail", 0)
	if r := search(bug, "depth-first", 0); r.Outcome != record.Nothing {
		t.Errorf("without faults: %v, %q", r.Outcome, r.Doubts)
	}
}

// TestCallsThatFailAreRemembered: a search with variations that is ended and resumed comes to
// the same as a whole one, and executes nothing again.
func TestCallsThatFailAreRemembered(t *testing.T) {
	for _, name := range []string{"depth-first", "dpor", "deviations"} {
		o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, KeepGoing: true,
			Search: check.Search{Strategy: name}}
		s := ledger(t, "ledger")
		s.Faults = worldtest.Faults("fail", 2)
		run := func() *record.Report {
			r, err := check.Check(t.Context(), s, o)
			if err != nil || len(r.Bugs) > 0 {
				t.Fatal(err, r)
			}
			return r
		}
		whole := run()
		if !whole.Coverage.Exhausted || whole.Executions < 20 {
			t.Fatalf("%s: %d executions", name, whole.Executions)
		}
		o.Out, o.Executions = filepath.Join(t.TempDir(), "parts"), 7
		first := run()
		o.Resume, o.Executions = true, 0
		rest := run()
		if !rest.Coverage.Exhausted || rest.Executions != whole.Executions ||
			rest.Coverage.StatesDigest != whole.Coverage.StatesDigest {
			t.Errorf("%s: %d executions to %s, and as a whole %d to %s", name, rest.Executions,
				rest.Coverage.StatesDigest, whole.Executions, whole.Coverage.StatesDigest)
		}
		if n := first.Coverage.Nodes.Executed + rest.Coverage.Nodes.Executed; n != whole.Coverage.Nodes.Executed {
			t.Errorf("%s: %d transitions executed in parts, as a whole %d", name, n, whole.Coverage.Nodes.Executed)
		}
	}
}

// TestFailsToStart: a program that ends when it starts because a call failed has not been
// given a wrong spec.
func TestFailsToStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spec.yaml")
	systemtest.Write(t, path, "faults: {fail: 1}\nnodes:\n  - command: /bin/sh -c 'echo x >f || exit 3; sleep 1'\n    client: true\n")
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"random", "depth-first"} {
		r, err := check.Check(t.Context(), s,
			check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Executions: 50, Workers: 1,
				Search: check.Search{Strategy: name}})
		if err != nil || r.Outcome != record.Violated || r.Violations[0].Kind != "death" || r.Violations[0].Step != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
