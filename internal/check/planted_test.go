//go:build linux

package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ariadne/internal/check"
	"ariadne/internal/record"
	"ariadne/internal/run"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/system"
)

// TestDefaultFindsPlantedBugs: the default strategy with one worker, which makes the same
// search for the same seed on any machine, finds bugs of different kinds and languages
// within some executions, and nothing in the same programs without them.
func TestDefaultFindsPlantedBugs(t *testing.T) {
	if out, err := exec.Command("../../examples/planted/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	names := []string{"commit", "retry", "counter", "election"}
	if os.Getenv("ARIADNE_LONG") != "" {
		names = append(names, "session", "token", "lease", "cache", "causal", "failover", "queue", "redis-lock")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			found := checkPlanted(t, name+"-bug", 3000)
			if found.Outcome != record.Violated {
				t.Errorf("%v after %d executions, %q", found.Outcome, found.Executions, found.Doubts)
			}
			t.Logf("after %d executions, %d transitions", found.Executions, found.Coverage.Nodes.Executed)
			fixed := checkPlanted(t, name, 50)
			if fixed.Outcome != record.Nothing || fixed.Stopped != search.StopExecutions {
				t.Errorf("without the bug: %v, stopped: %s, %d violations, %q", fixed.Outcome, fixed.Stopped, len(fixed.Violations), fixed.Doubts)
			}
		})
	}
}

// TestPlantedAreNotNatural: on time, nothing is wrong.
func TestPlantedAreNotNatural(t *testing.T) {
	if out, err := exec.Command("../../examples/planted/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	specs, err := filepath.Glob("../../examples/planted/*.yaml")
	if err != nil || len(specs) != 24 {
		t.Fatalf("%d specs, %v", len(specs), err)
	}
	for _, path := range specs {
		s, err := spec.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Run(t.Context(), s, run.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out")})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != record.Nothing {
			t.Errorf("%s: %v, %q", filepath.Base(path), r.Outcome, slices.Concat(r.Doubts, r.Bugs))
		}
	}
}

func checkPlanted(t *testing.T, name string, executions int) *record.Report {
	t.Helper()
	s, err := spec.Read(filepath.Join("../../examples/planted", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Check(t.Context(), s, check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"), Executions: executions, Workers: 1, Shrink: 20 * time.Second,
		Search: check.Search{Strategy: "default"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Bugs) > 0 {
		t.Fatalf("%q", r.Bugs)
	}
	return r
}
