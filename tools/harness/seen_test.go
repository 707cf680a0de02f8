package harness

import "testing"

func TestCameTo(t *testing.T) {
	v := Violation{Kind: "death", Node: "n", Message: "m at 17", Trace: "a"}
	same := v
	same.Trace, same.Message = "b", "m at 8"
	for name, c := range map[string]struct {
		report Report
		want   bool
	}{
		"the same":     {Report{Violations: []Violation{same}}, true},
		"none":         {Report{}, false},
		"another":      {Report{Violations: []Violation{{Kind: "death", Node: "n", Message: "x"}}}, false},
		"another node": {Report{Violations: []Violation{{Kind: "death", Node: "o", Message: "m at 17"}}}, false},
		"a mismatch":   {Report{Violations: []Violation{same}, Mismatch: &Mismatch{}}, false},
		"a bug":        {Report{Violations: []Violation{same}, Bugs: []string{"why"}}, false},
	} {
		if got := CameTo(&c.report, v); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
