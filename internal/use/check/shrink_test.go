package check_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// TestShrink: what a random walk has found is shrunk to an execution that ends in the same
// violation, replays, and has nothing more to be left out.
func TestShrink(t *testing.T) {
	shrunk := 0
	for seed := range uint64(12) {
		s := systemtest.Spec(t, 3, 2, 1, 2)
		s.Seed = seed
		s.Faults = worldtest.Faults("duplicate", 2)
		f := &systemtest.Fakes{Programs: worldtest.LostUpdate}
		r := checked(t, s, f, check.Options{Executions: 200, Workers: 1, Shrink: time.Minute})
		if len(r.Violations) != 1 {
			t.Fatalf("seed %d: %+v", seed, r)
		}
		v := r.Violations[0]
		if v.Shrunk == nil {
			continue
		}
		shrunk++
		if !v.Shrunk.To.Less(v.Shrunk.From) || v.Shrunk.Tried == 0 {
			t.Errorf("seed %d: %+v", seed, v.Shrunk)
		}
		again := replay(t, s, f, v.Shrunk.Trace)
		if again.Outcome != record.Violated || len(again.Violations) != 1 || again.Violations[0].Message != v.Message ||
			again.Steps != v.Shrunk.To.Steps {
			t.Errorf("seed %d: replay: %+v", seed, again)
		}
		found := replay(t, s, f, v.Trace)
		if found.Steps != v.Shrunk.From.Steps {
			t.Errorf("seed %d: %d steps, want %d", seed, found.Steps, v.Shrunk.From.Steps)
		}
		// One deviation is enough to lose the update, and that one is needed.
		if size := v.Shrunk.To; size.Faults != 0 || size.Deviations != 1 {
			t.Errorf("seed %d: %v", seed, size)
		}
		tr, err := system.LoadTrace(v.Shrunk.Trace)
		if err != nil {
			t.Fatal(err)
		}
		y, err := system.Open(t.Context(), s, f.Options())
		if err != nil {
			t.Fatal(err)
		}
		if err := y.OnThread(0, func() error {
			less, err := run.Shrink(t.Context(), y, tr, run.Shrinking{Limit: time.Minute})
			if less != nil {
				t.Errorf("seed %d: it can be shrunk further, to %v", seed, less.To)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if shrunk < 3 {
		t.Errorf("%d were shrunk", shrunk)
	}
}
