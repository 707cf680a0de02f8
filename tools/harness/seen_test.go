package harness

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
)

func TestCameTo(t *testing.T) {
	death := func(node, message string) Violation {
		return Violation{Violation: ariadne.Violation{Kind: "death", Message: message}, NodeName: node}
	}
	of := func(r record.Report) Report { return Report{Report: r} }
	v := death("n", "m at 17")
	v.Trace = "a"
	same := v
	same.Trace, same.Message = "b", "m at 8"
	for name, c := range map[string]struct {
		report Report
		want   bool
	}{
		"the same":     {of(record.Report{Violations: []Violation{same}}), true},
		"none":         {Report{}, false},
		"another":      {of(record.Report{Violations: []Violation{death("n", "x")}}), false},
		"another node": {of(record.Report{Violations: []Violation{death("o", "m at 17")}}), false},
		"a mismatch":   {of(record.Report{Violations: []Violation{same}, Mismatch: &Mismatch{}}), false},
		"a bug":        {of(record.Report{Violations: []Violation{same}, Bugs: []string{"why"}}), false},
	} {
		if got := CameTo(&c.report, v); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
