//go:build linux

package check_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// TestProbeClocks: a search that tries messages at other times finds that the lease of a real
// server is over when a request comes late. The trace replays, and nothing is found without a
// clock, nor where no message may be late by as much.
func TestProbeClocks(t *testing.T) {
	for _, c := range []struct {
		how, more string
		found     bool
		turns     int
	}{{"clock", "max_delay: 15s\n", true, 1}, {"clock", "max_delay: 9s\n", false, 0},
		{"blind", "max_delay: 15s\n", false, 0}} {
		for _, strategy := range []string{"dpor", "deviations", "sleep-sets"} {
			t.Run(strings.Join([]string{c.how, strings.TrimSpace(c.more), strategy}, " "), func(t *testing.T) {
				o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
					Search: check.Search{Strategy: strategy, ProbeClocks: check.ProbeAll, Audit: 1}}
				r, err := check.Check(t.Context(), leaseSpec(t, c.how, c.more), o)
				if err != nil {
					t.Fatal(err)
				}
				if (r.Outcome == record.Violated) != c.found || r.Coverage.Nodes.Mismatches > 0 {
					t.Fatalf("%v, %q, %+v: %s", r.Outcome, r.Stopped, r.Coverage.Probing,
						strings.Join(append(r.Doubts, r.Bugs...), "; "))
				}
				if !c.found {
					if r.Coverage.Probing.Turns != 0 || !r.Coverage.Exhausted {
						t.Errorf("%+v, exhausted %v", r.Coverage.Probing, r.Coverage.Exhausted)
					}
					stopped, tried := check.StopExplored, []string(nil)
					if c.how == "clock" {
						stopped, tried = check.StopExploredAtTimes, []string{"server"}
					}
					if r.Stopped != stopped || !slices.Equal(r.Coverage.TriedClock, tried) {
						t.Errorf("%q, tried %q", r.Stopped, r.Coverage.TriedClock)
					}
					return
				}
				again, err := run.Replay(t.Context(), nil, r.Violations[0].Trace,
					run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
				if err != nil || again.Outcome != record.Violated || again.Mismatch != nil {
					t.Errorf("replayed: %v, %v, %+v", again.Outcome, err, again.Mismatch)
				}
			})
		}
	}
}

// TestShrinkLate: of what random walks find by messages at other times, the request that comes when
// the lease is over is needed, and nothing else. The result replays, and cannot be shrunk further.
func TestShrinkLate(t *testing.T) {
	shrunk := 0
	for seed := range uint64(4) {
		s := leaseSpec(t, "clock", fmt.Sprintf("seed: %d\nmax_delay: 15s\n", seed),
			"  - {name: other, command: ./lease client, client: true}\n")
		o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, Shrink: time.Minute,
			Search: check.Search{Strategy: "walks", ProbeClocks: check.ProbeAll}}
		r, err := check.Check(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Violations) != 1 {
			t.Fatalf("seed %d: %v, %q", seed, r.Outcome, r.Stopped)
		}
		v := r.Violations[0]
		size, path := *v.Size, v.Trace
		if v.Shrunk != nil {
			shrunk++
			size, path = v.Shrunk.To, v.Shrunk.Trace
		}
		tr, err := system.LoadTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		late := slices.ContainsFunc(tr.Steps, func(s trace.Step) bool { return strings.HasPrefix(s.Action, "late ") })
		if !late || size.Deviations != 1 || size.Faults != 0 {
			t.Errorf("seed %d: %+v, with a message at another time: %v", seed, size, late)
		}
		again, err := run.Replay(t.Context(), nil, path,
			run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
		if err != nil || again.Outcome != record.Violated || again.Mismatch != nil ||
			again.Violations[0].Message != v.Message {
			t.Errorf("seed %d: replayed: %+v, %v", seed, again, err)
		}
	}
	if shrunk == 0 {
		t.Error("none was shrunk")
	}
}
