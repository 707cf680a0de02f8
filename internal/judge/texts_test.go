package judge

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// TestTextAsNumber: a field of a tuple is never taken for a number, in whatever place, and nothing
// else is refused.
func TestTextAsNumber(t *testing.T) {
	c := Config{Path: "x.yaml", Nodes: []string{"n1"},
		Sources: expose.Sources{{Name: "leader", Line: regexp.MustCompile(`leads (?P<term>\d+)`)},
			{Name: "other", Line: regexp.MustCompile(`(\d+)`)}}}
	for expr, want := range map[string]string{
		"all([x.term < 3 for x in leader])":      "x.term < 3: x.term is a text, and 3 is a number: write int(x.term)",
		"any([x.value == 3.5 for x in leader])":  "x.value == 3.5: x.value is a text, and 3.5 is a number: write int(x.value)",
		"[x for x in leader if -1 != (x.term)]":  "-1 != (x.term): (x.term) is a text, and -1 is a number: write int((x.term))",
		"[leader[0].term >=\n  len( leader )]":   "leader[0].term >= len( leader ): leader[0].term is a text, and len( leader ) is a number: write int(leader[0].term)",
		"all([x.term + 1 for x in (leader)])":    "x.term + 1: x.term is a text, and 1 is a number: write int(x.term)",
		`"ü" and leader[0].term - int("1") == 0`: `leader[0].term - int("1"): leader[0].term is a text, and int("1") is a number: write int(leader[0].term)`,
		"any([x.size > 3 for x in other])":       "x.size > 3: no field under expose is called size: write int(x.value) for a value without a name",

		"all([int(x.term) < 3 for x in leader])":                              "",
		"all([x.term < y.term for x in leader for y in other])":               "",
		`all([x.term == "3" for x in leader]) and len(leader) == 1`:           "",
		"[x for x in leader] == [] and [x.term for x in [1] if x == 1] == []": "",
		"all([t.time < 3 for t in timers]) or leader":                         "",
		"all([x.term < 3 for x in leader for x in messages])":                 "",
		"all([x.term < 3 for x in messages for x in leader])":                 "",
		"[len(x.values) == 1 for x in leader] and leader[0].values == 1":      "",
		"leader[0].term * 3 == '111'":                                         "",
	} {
		c.Predicates = []property.Predicate{{Name: "p", Expr: expr, Line: 3}}
		text := ""
		if _, err := NewProperties(c); err != nil {
			text = strings.TrimPrefix(err.Error(), `x.yaml:3: property "p": `)
		}
		if text != want {
			t.Errorf("%s: %s, want %s", expr, text, want)
		}
		c.Predicates, c.Goals = nil, []property.Goal{{Name: "p", Expr: "leader", When: expr, Line: 3}}
		if _, err := NewProperties(c); (err != nil) != (want != "") {
			t.Errorf("in a goal: %s: %v, want %s", expr, err, want)
		}
		c.Goals = nil
	}
}
