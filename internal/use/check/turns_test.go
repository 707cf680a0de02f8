//go:build linux

package check_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
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
	}{{"clock", "max_delay: 15s\n", true, 1}, {"clock", "max_delay: 9s\n", false, 0}, {"blind", "max_delay: 15s\n", false, 0}} {
		for _, strategy := range []string{"dpor", "deviations", "sleep-sets"} {
			t.Run(strings.Join([]string{c.how, strings.TrimSpace(c.more), strategy}, " "), func(t *testing.T) {
				o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, Search: check.Search{Strategy: strategy, ProbeClocks: true, Audit: 1}}
				r, err := check.Check(t.Context(), leaseSpec(t, c.how, c.more), o)
				if err != nil {
					t.Fatal(err)
				}
				if (r.Outcome == record.Violated) != c.found || r.Coverage.Nodes.Mismatches > 0 {
					t.Fatalf("%v, %q, %+v: %s", r.Outcome, r.Stopped, r.Coverage.Probing, strings.Join(append(r.Doubts, r.Bugs...), "; "))
				}
				if !c.found {
					if r.Coverage.Probing.Turns != 0 || !r.Coverage.Exhausted {
						t.Errorf("%+v, exhausted %v", r.Coverage.Probing, r.Coverage.Exhausted)
					}
					return
				}
				again, err := run.Replay(t.Context(), nil, r.Violations[0].Trace, run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
				if err != nil || again.Outcome != record.Violated || again.Mismatch != nil {
					t.Errorf("replayed: %v, %v, %+v", again.Outcome, err, again.Mismatch)
				}
			})
		}
	}
}
