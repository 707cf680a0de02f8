//go:build linux

package check_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// isLate reports whether a critical transition is one of those behind which nodes of examples/tree
// do not find each other any more: n1 gives up a child, takes what another one has sent before it
// joins, or is down when its child asks, which does so once, or when its child hears that the
// connection has ended, and is about to ask.
func isLate(g *record.Goal) bool {
	return slices.Contains(g.CriticalLines, "no child n3") ||
		strings.HasPrefix(g.CriticalName, "deliver n1:") && slices.Contains(g.CriticalLines, "no parent") ||
		strings.HasPrefix(g.CriticalName, "deliver udp n3:7000>n1:7000 #") ||
		strings.HasPrefix(g.CriticalName, "crash n1 for ")
}

// TestCriticalTransition: of real processes that come to rest with two roots, the step is named in
// which a node loses its parent for good; without the bug nothing is found.
func TestCriticalTransition(t *testing.T) {
	if out, err := exec.Command("../../../examples/tree/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	r := checkPlanted(t, "../tree/eventually-bug", 1000)
	if r.Outcome != record.Violated || len(r.Violations) != 1 {
		t.Fatalf("%v, %d violations, %q", r.Outcome, len(r.Violations), r.Doubts)
	}
	v := r.Violations[0]
	if v.Kind != property.Dead || v.Goal == nil || v.Goal.Live == "" || v.Goal.Along != v.Goal.Critical-1 ||
		!isLate(v.Goal) {
		t.Errorf("%s: %s: %+v", v.Kind, v.Message, v.Goal)
	}
	switch s := v.Shrunk; {
	// nothing can be left out
	case s == nil && v.Size != nil && v.Size.Faults+v.Size.Deviations <= 2:
	case s == nil || !s.To.Less(s.From) || s.Goal == nil || !isLate(s.Goal):
		t.Errorf("shrunk: %+v, from %+v", s, v.Size)
	}
	fixed := checkPlanted(t, "../tree/eventually", 50)
	if fixed.Outcome != record.Nothing || fixed.Coverage.Liveness == nil || fixed.Coverage.Liveness.Live == 0 {
		t.Errorf("without the bug: %v, %q, %+v", fixed.Outcome, fixed.Doubts, fixed.Coverage.Liveness)
	}
}
