package script

import (
	"regexp"
	"testing"

	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/property"
)

// TestJudge: what properties say of snapshots, by what nodes have written.
func TestJudge(t *testing.T) {
	sources := expose.Sources{
		{Name: "leader", Line: regexp.MustCompile(`leads (?P<term>\d+)`)},
		{Name: "value", Line: regexp.MustCompile(`(?P<key>\w+)=(.*)`), Key: []int{1}},
	}
	nodes := []string{"n1", "n2", "n3"}
	for _, c := range []struct {
		form  property.Form
		expr  string
		lines [3]string // of each node, or down
		at    expose.Moment
		holds bool
	}{
		{property.Always, "one(leader)", [3]string{"leads 1", "leads 2", ""}, expose.Between, false},
		{property.Always, `one(leader, "term")`, [3]string{"leads 1", "leads 2", ""}, expose.Between, true},
		{property.Always, `one(leader, "term")`, [3]string{"leads 2", "leads 1", "leads 2"}, expose.Between, false},
		{property.Always, `one(leader, "term")`, [3]string{"leads 2", "leads 1", "down"}, expose.Between, true},
		{property.Always, "agree(value)", [3]string{"a=1", "a=1", "b=2"}, expose.Between, true},
		{property.Always, "agree(value)", [3]string{"a=1", "b=1", "b=2"}, expose.Between, false},
		{property.Never, "len(leader) > 1", [3]string{"leads 1", "", ""}, expose.Between, true},
		{property.Never, "len(leader) > 1", [3]string{"leads 1", "leads 1", ""}, expose.Between, false},
		{property.Never, "len(leader) > 1", [3]string{"leads 1", "leads 1", ""}, expose.Ended, true}, // judged before the end
		{property.Finally, "len(leader) > 1", [3]string{"leads 1", "", ""}, expose.Ended, false},
		{property.Finally, "len(leader) > 1", [3]string{"leads 1", "", ""}, expose.Between, true}, // not the end yet
		{property.Always, "len(up) == 3 and nodes[0] == 'n1'", [3]string{}, expose.Between, true},
		{property.Always, "len(up) == 3", [3]string{"", "down", ""}, expose.Between, false},
		{property.Always, `[(t.node, t.key, t.value, t.values, int(t.term)) for t in leader] == [("n2", "", "7", ("7",), 7)]`, [3]string{"", "leads 7", ""}, expose.Between, true},
		{property.Always, `all([t.key == "a" and t.value == "x y" for t in value])`, [3]string{"a=x y"}, expose.Between, true},
	} {
		p, err := NewProperties(Config{Path: "x.yaml", Sources: sources, Predicates: []property.Predicate{{Name: "p", Form: c.form, Expr: c.expr, Line: 3}}, Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		j, s := p.NewJudge(), expose.Snapshot{}
		for i, line := range c.lines {
			up := line != "down"
			out := ariadne.Output{}
			if up && line != "" {
				out.Logs = []ariadne.LogLine{{Stream: 1, Text: line}}
			}
			s.Sets, s.Up = append(s.Sets, (*expose.Set)(nil).After(j.Find(ariadne.NodeID(i), &out).Changes)), append(s.Up, up)
		}
		for range 2 { // the second answer is remembered
			if got := j.Judge(&s, c.at); (got == "") != c.holds || j.Err() != nil {
				t.Errorf("%v %s of %q: %q, %v", c.form, c.expr, c.lines, got, j.Err())
			}
		}
	}
}

// TestBadProperties: what cannot be judged says where it stands, when it is compiled or when it is judged.
func TestBadProperties(t *testing.T) {
	sources := expose.Sources{{Name: "leader", Line: regexp.MustCompile(`leads (\d+)`)}}
	for expr, want := range map[string]string{
		"len(leader":               `x.yaml:3: property "p": got end of file, want ')'`,
		"leader.x":                 `x.yaml:3: property "p": list has no .x field or method (of n1 leader(2))`,
		"leader[0].trem":           `x.yaml:3: property "p": tuple of leader has no .trem field or method (of n1 leader(2))`,
		"len(leader)":              `x.yaml:3: property "p": it is int: True or False is needed (of n1 leader(2))`,
		`one(leader, "term")`:      `x.yaml:3: property "p": one: n1 leader(2) has no field term (of n1 leader(2))`,
		"agree([leader])":          `x.yaml:3: property "p": agree: want a list of tuples, not of list (of n1 leader(2))`,
		"1 == 1":                   `x.yaml:3: property "p": it reads nothing that a node exposes, nor up`,
		"leader and print":         `x.yaml:3: property "p": it is builtin_function_or_method: True or False is needed (of n1 leader(2))`,
		"[x for x in leader].y()":  `x.yaml:3: property "p": list has no .y field or method (of n1 leader(2))`,
		"leader and 'a' * 1 << 99": `x.yaml:3: property "p": unknown binary op: string << int (of n1 leader(2))`,
	} {
		p, err := NewProperties(Config{Path: "x.yaml", Sources: sources, Predicates: []property.Predicate{{Name: "p", Expr: expr, Line: 3}}, Nodes: []string{"n1"}})
		if err == nil {
			j := p.NewJudge()
			set := (*expose.Set)(nil).After(j.Find(0, &ariadne.Output{Logs: []ariadne.LogLine{{Text: "leads 2"}}}).Changes)
			if got := j.Judge(&expose.Snapshot{Sets: []*expose.Set{set}, Up: []bool{true}}, expose.Between); got != "" {
				t.Errorf("%s: %s", expr, got)
			}
			err = j.Err()
		}
		if err == nil || err.(*Error).Pos+": "+err.(*Error).Text != want {
			t.Errorf("%s: %v, want %s", expr, err, want)
		}
	}
}
