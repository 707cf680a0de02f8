//go:build linux

package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// TestDefaultFindsPlantedBugs: the default strategy with one worker, which makes the same
// search for the same seed on any machine, finds bugs of different kinds and languages
// within some executions, and nothing in the same programs without them.
func TestDefaultFindsPlantedBugs(t *testing.T) {
	fetchExample(t, "planted")
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
				t.Errorf("without the bug: %v, stopped: %s, %d violations, %q", fixed.Outcome, fixed.Stopped,
					len(fixed.Violations), fixed.Doubts)
			}
		})
	}
}

// TestDefaultFindsPlantedTimers: likewise bugs of programs that read the clock and set no timer.
// Some show in the step that is late, and some only in a later one. Their traces replay.
func TestDefaultFindsPlantedTimers(t *testing.T) {
	fetchExample(t, "timers")
	names := []string{"bucket", "backoff", "quota", "dedup"}
	if os.Getenv("ARIADNE_LONG") != "" {
		names = append(names, "gateway", "breaker", "leader", "tickets", "slots", "ttl", "members", "seat", "flush",
			"cart", "resolver", "jobs", "codes", "mailbox")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s, err := spec.Read("../../../examples/timers/" + name + "-bug.yaml")
			if err != nil {
				t.Fatal(err)
			}
			o := check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"),
				Workers: 1, Executions: 6000, Search: check.Search{Strategy: "default", Fresh: true}}
			found, err := check.Check(t.Context(), s, o)
			if err != nil || found.Outcome != record.Violated {
				t.Fatalf("%v: %+v", err, found)
			}
			again, err := run.Replay(t.Context(), nil, found.Violations[0].Trace,
				run.Options{System: o.System, Out: filepath.Join(t.TempDir(), "out")})
			if err != nil || again.Outcome != record.Violated || again.Mismatch != nil {
				t.Errorf("replayed: %v, %+v", err, again)
			}
			if s, err = spec.Read("../../../examples/timers/" + name + ".yaml"); err != nil {
				t.Fatal(err)
			}
			o.Out, o.Executions = filepath.Join(t.TempDir(), "out"), 300
			if fixed, err := check.Check(t.Context(), s, o); err != nil || fixed.Outcome != record.Nothing {
				t.Errorf("without the bug: %v: %+v", err, fixed)
			}
		})
	}
}

// TestPlantedAreNotNatural: on time and without faults, nothing is wrong.
func TestPlantedAreNotNatural(t *testing.T) {
	for dir, want := range map[string]int{"planted": 24, "timers": 40, "twofaults": 20} {
		t.Run(dir, func(t *testing.T) {
			fetchExample(t, dir)
			specs, err := filepath.Glob("../../../examples/" + dir + "/*.yaml")
			if err != nil || len(specs) != want {
				t.Fatalf("%d specs, %v", len(specs), err)
			}
			for _, path := range specs {
				s, err := spec.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				r, err := run.Run(t.Context(), s,
					run.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out")})
				if err != nil {
					t.Fatal(err)
				}
				if r.Outcome != record.Nothing {
					t.Errorf("%s: %v, %q", filepath.Base(path), r.Outcome, slices.Concat(r.Doubts, r.Bugs))
				}
			}
		})
	}
}

// TestTwoFaults: the scripts place faults that break each system with its bug, and the same
// system without it bears them.
func TestTwoFaults(t *testing.T) {
	fetchExample(t, "twofaults")
	names := []string{"archive", "recovery", "figure8"}
	if os.Getenv("ARIADNE_LONG") != "" {
		names = append(names, "catchup", "versions", "highwater", "mirror", "supervisor", "relay", "indoubt")
	}
	for _, name := range names {
		for suffix, want := range map[string]record.Outcome{"-bug": record.Violated, "": record.Nothing} {
			t.Run(name+suffix, func(t *testing.T) {
				s, err := spec.Read("../../../examples/twofaults/" + name + suffix + ".yaml")
				if err != nil {
					t.Fatal(err)
				}
				rules, err := steer.Load("../../../examples/twofaults/" + name + ".star")
				if err != nil {
					t.Fatal(err)
				}
				r, err := check.Check(t.Context(), s,
					check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"),
						Executions: 1, Workers: 1,
						Search: check.Search{Strategy: "script", Script: rules}})
				if err != nil {
					t.Fatal(err)
				}
				if r.Outcome != want {
					t.Errorf("%v, %q", r.Outcome, slices.Concat(r.Doubts, r.Bugs))
				}
			})
		}
	}
}

// fetchExample builds the programs of an example, or skips the test.
func fetchExample(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("../../../examples/" + dir + "/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
}

func checkPlanted(t *testing.T, name string, executions int) *record.Report {
	t.Helper()
	s, err := spec.Read(filepath.Join("../../../examples/planted", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Check(t.Context(), s,
		check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"),
			Executions: executions, Workers: 1, Shrink: 20 * time.Second,
			Search: check.Search{Strategy: "default"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Bugs) > 0 {
		t.Fatalf("%q", r.Bugs)
	}
	return r
}
