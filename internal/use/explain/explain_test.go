package explain_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/explain"
)

// TestExplainLostUpdate: one late message loses an update. The explanation says so of that message,
// and has it in the story; without it the clients are done.
func TestExplainLostUpdate(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	f := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.LostUpdate}}
	r, err := check.Check(t.Context(), s,
		check.Options{System: f.Options(), Executions: 300, Workers: 1, Shrink: time.Minute,
			Search: check.Search{Strategy: "random"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Violations) != 1 || r.Violations[0].Shrunk == nil {
		t.Fatalf("%+v", r.Violations)
	}
	v := r.Violations[0]
	x, err := explain.Explain(t.Context(), s, v.Shrunk.Trace, explain.Options{System: f.Options(), Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(x.Sentence, v.Message) || x.Steps == 0 || x.Past == 0 || x.Past > x.Steps {
		t.Errorf("%+v", x)
	}
	if len(x.Deviations) != 1 || !x.Deviations[0].Needed() || x.Deviations[0].Came != record.CameNone ||
		x.Deviations[0].Kind != "late" {
		t.Fatalf("deviations: %+v", x.Deviations)
	}
	late := x.Deviations[0].Step
	if p := x.Parting; p == nil || !slices.Equal(p.Undone, []int{late}) || !p.Smallest || p.Common >= late ||
		len(p.Here) == 0 || len(p.There) == 0 {
		t.Errorf("parting: %+v", x.Parting)
	}
	needed, violated := false, false
	for i, m := range x.Story {
		needed = needed || m.Step == late && m.Needed
		violated = violated || m.Violated
		if i > 0 && m.Step <= x.Story[i-1].Step {
			t.Errorf("step %d is behind step %d", m.Step, x.Story[i-1].Step)
		}
	}
	if !needed || !violated || len(x.Story) > explain.MostLines {
		t.Errorf("story: %+v", x.Story)
	}

	// Without time nothing is tried, and nothing is said of what is needed.
	x, err = explain.Explain(t.Context(), s, v.Shrunk.Trace, explain.Options{System: f.Options()})
	if err != nil {
		t.Fatal(err)
	}
	if x.Tried != 0 || x.Untried != 1 || x.Deviations[0].Needed() || x.Parting != nil ||
		!strings.Contains(x.Nearest, "before the time was up") || len(x.Story) == 0 {
		t.Errorf("without time: %+v", x)
	}
	// A trace that does not come to its violation when it is followed loosely says nothing of what
	// the violation needs.
	tr, err := system.LoadTrace(v.Shrunk.Trace)
	if err != nil {
		t.Fatal(err)
	}
	tr.Violation.Message = "something else"
	other := filepath.Join(filepath.Dir(v.Shrunk.Trace), "other.txt")
	if err := os.WriteFile(other, trace.Format(tr), 0o666); err != nil {
		t.Fatal(err)
	}
	x, err = explain.Explain(t.Context(), s, other, explain.Options{System: f.Options(), Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if d := x.Deviations[0]; x.Tried != 1 || d.Needed() || d.Came != record.CameUnknown || x.Parting != nil ||
		!strings.Contains(x.Nearest, "does not come to the violation") {
		t.Errorf("without its violation: %+v", x)
	}
	// As it was found there may be more deviations; one alone is needed all the same.
	x, err = explain.Explain(t.Context(), s, v.Trace, explain.Options{System: f.Options(), Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if x.Untried != 0 || x.Parting == nil || len(x.Parting.Undone) > len(x.Deviations) {
		t.Errorf("as it was found: %+v", x)
	}
}

// TestExplainNatural: what the natural schedule shows has nothing to undo.
func TestExplainNatural(t *testing.T) {
	s := systemtest.Spec(t, 2, 0, 0)
	f := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.Stuck}}
	r, err := check.Check(t.Context(), s, check.Options{System: f.Options(), Executions: 3, Workers: 1})
	if err != nil || len(r.Violations) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	x, err := explain.Explain(t.Context(), s, r.Violations[0].Trace,
		explain.Options{System: f.Options(), Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Deviations) != 0 || x.Tried != 0 || x.Parting != nil || !strings.Contains(x.Nearest, "natural schedule") {
		t.Errorf("%+v", x)
	}
}
