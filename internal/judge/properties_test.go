package judge

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
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
		{property.Always, `one(value, "key")`, [3]string{"a=1", "b=1", "a=2"}, expose.Between, false},
		{property.Always, `one(value, "key", "value")`, [3]string{"a=1", "b=1", "a=2"}, expose.Between, true},
		{property.Always, `one(value, "key", "value")`, [3]string{"a=1", "b=1", "b=1"}, expose.Between, false},
		{property.Always, "agree(value)", [3]string{"a=1", "a=1", "b=2"}, expose.Between, true},
		{property.Always, "agree(value)", [3]string{"a=1", "b=1", "b=2"}, expose.Between, false},
		{property.Always, "decided(value)", [3]string{"a=1", "a=1", "b=2"}, expose.Between, true},
		{property.Always, "decided(value)", [3]string{"a=1", "b=1", "a=2"}, expose.Between, false},
		{property.Never, "len(leader) > 1", [3]string{"leads 1", "", ""}, expose.Between, true},
		{property.Never, "len(leader) > 1", [3]string{"leads 1", "leads 1", ""}, expose.Between, false},
		// judged before the end
		{property.Never, "len(leader) > 1", [3]string{"leads 1", "leads 1", ""}, expose.Ended, true},
		{property.Finally, "len(leader) > 1", [3]string{"leads 1", "", ""}, expose.Ended, false},
		// not the end yet
		{property.Finally, "len(leader) > 1", [3]string{"leads 1", "", ""}, expose.Between, true},
		{property.Always, "len(up) == 3 and nodes[0] == 'n1'", [3]string{}, expose.Between, true},
		{property.Always, "len(up) == 3", [3]string{"", "down", ""}, expose.Between, false},
		{property.Always, `[(t.node, t.key, t.value, t.values, int(t.term)) for t in leader] == [("n2", "", "7", ("7",), 7)]`, [3]string{"", "leads 7", ""}, expose.Between, true},
		{property.Always, `all([t.key == "a" and t.value == "x y" for t in value])`, [3]string{"a=x y"}, expose.Between,
			true},
	} {
		p, err := NewProperties(Config{Path: "x.yaml", Sources: sources,
			Predicates: []property.Predicate{{Name: "p", Form: c.form, Expr: c.expr, Line: 3}}, Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		j, s := p.NewJudge(1), expose.Snapshot{}
		for i, line := range c.lines {
			up := line != "down"
			out := ariadne.Output{}
			if up && line != "" {
				out.Logs = []ariadne.LogLine{{Stream: 1, Text: line}}
			}
			s.Sets, s.Up = append(s.Sets, (*expose.Set)(nil).After(j.Find(ariadne.NodeID(i), nil, &out).Changes)),
				append(s.Up, up)
		}
		for range 2 { // the second answer is remembered
			if got := j.Judge(&s, c.at); (got == "") != c.holds || j.Err() != nil {
				t.Errorf("%v %s of %q: %q, %v", c.form, c.expr, c.lines, got, j.Err())
			}
		}
	}
}

// BenchmarkJudge judges snapshots of three nodes that nobody has seen before: one leader a term,
// the same values everywhere, and a number that only rises. The cost to find the lines counts, too.
func BenchmarkJudge(b *testing.B) {
	p, err := NewProperties(Config{Path: "x.yaml", Nodes: []string{"n1", "n2", "n3"},
		Sources: expose.Sources{
			{Name: "leader", Line: regexp.MustCompile(`leads (?P<term>\d+)`)},
			{Name: "value", Line: regexp.MustCompile(`(?P<key>\w+)=(.*)`), Key: []int{1}},
		},
		Predicates: []property.Predicate{
			{Name: "one", Form: property.Always, Expr: `one(leader, "term")`},
			{Name: "same", Form: property.Always, Expr: "agree(value)"},
			{Name: "one value", Form: property.Never, Expr: "len([t for t in value if t.key == 'a']) > 3"},
		}})
	if err != nil {
		b.Fatal(err)
	}
	j, s := p.NewJudge(1), expose.Snapshot{Sets: make([]*expose.Set, 3), Up: []bool{true, true, true}}
	out := ariadne.Output{Logs: make([]ariadne.LogLine, 1)}
	states := 0
	for b.Loop() {
		for i := range s.Sets {
			out.Logs[0] = ariadne.LogLine{Stream: 1, Text: fmt.Sprintf("leads %d", 3*states+i)}
			if i > 0 {
				out.Logs[0].Text = fmt.Sprintf("%c=%d", 'a'+i, states)
			}
			s.Sets[i] = s.Sets[i].After(j.Find(ariadne.NodeID(i), nil, &out).Changes)
		}
		if states++; j.Judge(&s, expose.Between) != "" || j.Err() != nil {
			b.Fatal(j.Err())
		}
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
}

// TestMessageNamesTuples: of many tuples, a message has those first that do not go together.
func TestMessageNamesTuples(t *testing.T) {
	sources := expose.Sources{
		{Name: "value", Line: regexp.MustCompile(`(?P<key>\w+)=(?P<text>.*)`), Key: []int{1},
			Fields: []string{"key", "text"}},
	}
	for _, c := range []struct{ expr, want string }{
		{"agree(value)", "same: n1 value(key=m, text=1), n2 value(key=m, text=2), n1 value(key=a, text=1), "},
		{`one(value, "key")`, "same: n1 value(key=a, text=1), n2 value(key=a, text=1), n1 value(key=b, text=1), "},
		{"decided(value)", "same: n1 value(key=m, text=1), n2 value(key=m, text=2), n1 value(key=a, text=1), "},
		{"len(value) == 0", "same: n1 value(key=a, text=1), n1 value(key=b, text=1), "},
		{"agree(value) or len(value) == 0", "same: n1 value(key=m, text=1), n2 value(key=m, text=2), "},
	} {
		p, err := NewProperties(Config{Path: "x.yaml", Nodes: []string{"n1", "n2"}, Sources: sources,
			Predicates: []property.Predicate{{Name: "same", Form: property.Always, Expr: c.expr}}})
		if err != nil {
			t.Fatal(err)
		}
		j, s := p.NewJudge(1), expose.Snapshot{Sets: make([]*expose.Set, 2), Up: []bool{true, true}}
		for i := range s.Sets {
			out := ariadne.Output{}
			for key := 'a'; key < 'p'; key++ {
				text := fmt.Sprintf("%c=1", key)
				if key == 'm' {
					text = fmt.Sprintf("m=%d", i+1)
				}
				out.Logs = append(out.Logs, ariadne.LogLine{Stream: 1, Text: text})
			}
			s.Sets[i] = s.Sets[i].After(j.Find(ariadne.NodeID(i), nil, &out).Changes)
		}
		got := j.Judge(&s, expose.Between)
		if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, "and 22 more") || j.Err() != nil {
			t.Errorf("%s: %s, %v", c.expr, got, j.Err())
		}
	}
}

// TestMessageOfGoal: a message of what must happen names tuples of its own snapshot first, whatever
// was judged before.
func TestMessageOfGoal(t *testing.T) {
	p, err := NewProperties(Config{Path: "x.yaml", Nodes: []string{"n1", "n2"},
		Sources: expose.Sources{{Name: "value", Line: regexp.MustCompile(`(?P<key>\w+)=(?P<text>.*)`), Key: []int{1},
			Fields: []string{"key", "text"}}},
		Goals: []property.Goal{{Name: "same", Expr: "agree(value)"}}})
	if err != nil {
		t.Fatal(err)
	}
	j := p.NewJudge(1)
	snapshot := func(apart rune) *expose.Snapshot {
		s := &expose.Snapshot{Sets: make([]*expose.Set, 2), Up: []bool{true, true}}
		for i := range s.Sets {
			var out ariadne.Output
			for key := 'a'; key < 'p'; key++ {
				text := fmt.Sprintf("%c=1", key)
				if key == apart {
					text = fmt.Sprintf("%c=%d", key, i+1)
				}
				out.Logs = append(out.Logs, ariadne.LogLine{Stream: 1, Text: text})
			}
			s.Sets[i] = s.Sets[i].After(j.Find(ariadne.NodeID(i), nil, &out).Changes)
		}
		return s
	}
	m, n := snapshot('m'), snapshot('n')
	for _, s := range []*expose.Snapshot{m, n, m} {
		j.Aims(s)
	}
	for s, want := range map[*expose.Snapshot]string{m: "n1 value(key=m, text=1), n2 value(key=m, text=2), ",
		n: "n1 value(key=n, text=1), n2 value(key=n, text=2), "} {
		if got := j.Reads(0, s); !strings.HasPrefix(got, want) || j.Err() != nil {
			t.Errorf("%s, %v", got, j.Err())
		}
	}
}

// TestWindow: what properties see of earlier snapshots.
func TestWindow(t *testing.T) {
	sources := expose.Sources{
		{Name: "index", Line: regexp.MustCompile(`(?P<log>\w+)=(.*)`), Key: []int{1}},
		{Name: "other", Line: regexp.MustCompile(`other`)},
		{Name: "kept", Line: regexp.MustCompile(`kept (\d+)`), Stays: true},
	}
	for _, c := range []struct {
		expr   string
		window int
		lines  []string // of one node, one after the other
		broken string
	}{
		{"rising(index, earlier)", 1, []string{"a=1", "b=0", "a=2", "other", "a=10"}, ""},
		{"rising(index, earlier)", 1, []string{"a=2", "other", "a=1"},
			"p: n1 index(log=a, 1); before that n1 index(log=a, 2)"},
		// it exposes nothing meanwhile
		{"rising(index, earlier)", 1, []string{"a=2", "crash", "a=1"}, ""},
		{"rising(kept, earlier)", 1, []string{"kept 2", "crash", "kept 1"}, "p: n1 kept(1); before that n1 kept(2)"},
		{"not index or not earlier or index[0].value != earlier[0].index[0].value if earlier and earlier[0].index else True", 2, []string{"a=1", "a=2", "a=3", "a=1"}, ""},
		{"not index or not earlier or index[0].value != earlier[0].index[0].value if earlier and earlier[0].index else True", 2, []string{"a=1", "a=2", "a=1"}, "p: n1 index(log=a, 1); before that n1 index(log=a, 2); before that n1 index(log=a, 1)"},
		{"len(index) >= 0 and len(earlier) < 3", 2, []string{"a=1", "a=2", "a=3", "a=4"}, ""},
	} {
		p, err := NewProperties(Config{Path: "x.yaml", Sources: sources,
			Predicates: []property.Predicate{{Name: "p", Expr: c.expr, Window: c.window, Line: 3}},
			Nodes:      []string{"n1"}})
		if err != nil {
			t.Fatal(err)
		}
		j, s, broken := p.NewJudge(1), &expose.Snapshot{Sets: []*expose.Set{nil}, Up: []bool{true}}, ""
		for _, line := range c.lines {
			next := &expose.Snapshot{Sets: []*expose.Set{s.Sets[0].Staying()}, Up: s.Up}
			if line != "crash" {
				next.Sets[0] = s.Sets[0].After(j.Find(0, nil,
					&ariadne.Output{Logs: []ariadne.LogLine{{Text: line}}}).Changes)
			}
			next.Earlier = s.Earlier.Then(p.Windows(), s, next)
			if s = next; broken == "" {
				broken = j.Judge(s, expose.Between)
			}
		}
		if broken != c.broken || j.Err() != nil {
			t.Errorf("%s of %q: %q, %v", c.expr, c.lines, broken, j.Err())
		}
	}
}

// TestPending: what clients wait for.
func TestPending(t *testing.T) {
	history := &expose.History{Invoke: regexp.MustCompile(`^(?P<op>read|write) (?P<key>\w+) ?(?P<value>\w*)`),
		OK: regexp.MustCompile(`^ok`), Fail: regexp.MustCompile(`^fail`)}
	for _, c := range []struct {
		// "0 read x"; "0 down" and "0 ends": nothing more comes of the node's programs
		lines []string
		want  string
	}{
		{nil, `[]`},
		{[]string{"0 read x"}, `[("n1", "read", "x", "", "1")]`},
		{[]string{"0 read x", "1 write y 3", "0 ok", "0 write x 2"}, `[("n2", "write", "y", "3", "1"), ("n1", "write", "x", "2", "2")]`},
		{[]string{"0 read x", "0 fail"}, `[]`},
		{[]string{"0 read x", "0 read y"}, `[("n1", "read", "y", "", "2")]`}, // given up
		{[]string{"0 read x", "1 read x", "0 down"}, `[("n2", "read", "x", "", "1")]`},
		{[]string{"0 read x", "0 ends", "0 read y"}, `[("n1", "read", "y", "", "2")]`},
		{[]string{"0 down", "0 read y"}, `[("n1", "read", "y", "", "1")]`},
	} {
		p, err := NewProperties(Config{Path: "x.yaml", History: history,
			Predicates: []property.Predicate{{Name: "p",
				Expr: `[(o.node, o.op, o.key, o.value, o.n) for o in pending] == ` + c.want, Line: 3}},
			Nodes: []string{"n1", "n2"}})
		if err != nil {
			t.Fatal(err)
		}
		j, s := p.NewJudge(1), &expose.Snapshot{Sets: make([]*expose.Set, 2), Up: []bool{true, true}}
		for _, line := range c.lines {
			out := ariadne.Output{Logs: []ariadne.LogLine{{Text: line[2:]}}}
			switch line[2:] {
			case "down":
				out = ariadne.Output{Left: ariadne.Left{Down: ariadne.Crashed}}
			case "ends":
				out = ariadne.Output{Exits: []ariadne.Exit{{}}, Left: ariadne.Left{Ended: true}}
			}
			for _, e := range j.Find(ariadne.NodeID(line[0]-'0'), nil, &out).Events {
				s.Past = s.Past.Then(e)
			}
		}
		if got := j.Judge(s, expose.Between); got != "" || j.Err() != nil {
			t.Errorf("%q: %s, %v", c.lines, got, j.Err())
		}
	}
	if _, err := NewProperties(Config{Path: "x.yaml",
		Predicates: []property.Predicate{{Name: "p", Expr: "not pending", Line: 3}}}); err == nil {
		t.Error("without a history")
	}
}

// still is a system of two nodes, of which one has sent a message, and the other has a timer.
type still struct{}

func (still) Hash() (h hash.Hash) { return h }

func (still) Messages() []expose.Message {
	return []expose.Message{{Message: &ariadne.Message{From: 1, To: 0, Data: []byte("token")}}}
}

func (still) Timer(id ariadne.NodeID) (ariadne.Time, bool) { return 5e9, id == 0 }

func (still) Clock(ariadne.NodeID) ariadne.Time { return 2e9 }

// TestWorld: what properties see of what no node exposes.
func TestWorld(t *testing.T) {
	for expr, holds := range map[string]bool{
		`[(m.sender, m.receiver, m.text) for m in messages] == [("n2", "n1", "token")]`: true,
		`timers == {"n1": 5.0}`:                     true,
		`clocks["n1"] == 2.0 and len(up) == 2`:      true,
		`len([m for m in messages if m.size]) == 0`: false,
	} {
		p, err := NewProperties(Config{Path: "x.yaml",
			Predicates: []property.Predicate{{Name: "p", Expr: expr, Line: 3}}, Nodes: []string{"n1", "n2"}})
		if err != nil {
			t.Fatal(err)
		}
		j := p.NewJudge(1)
		got := j.Judge(&expose.Snapshot{Sets: make([]*expose.Set, 2), Up: []bool{true, true}, World: still{}},
			expose.Between)
		if (got == "") != holds || j.Err() != nil || !p.Sees().World {
			t.Errorf("%s: %q, %v", expr, got, j.Err())
		}
	}
}

// TestOwnNames: they are all there.
func TestOwnNames(t *testing.T) {
	for _, name := range property.OwnNames {
		if _, ok := own[name]; !ok && name != earlier {
			t.Errorf("%s is not there", name)
		}
	}
	if len(own)+1 != len(property.OwnNames) {
		t.Errorf("%d, want %d", len(own)+1, len(property.OwnNames))
	}
}

// TestBadProperties: what cannot be judged says where it stands, when it is compiled or when it is
// judged.
func TestBadProperties(t *testing.T) {
	sources := expose.Sources{{Name: "leader", Line: regexp.MustCompile(`leads (\d+)`)}}
	for expr, want := range map[string]string{
		"len(leader":                     `x.yaml:3: property "p": got end of file, want ')'`,
		"leader.x":                       `x.yaml:3: property "p": list has no .x field or method (of n1 leader(2))`,
		"leader[0].trem":                 `x.yaml:3: property "p": tuple of leader has no .trem field or method (of n1 leader(2))`,
		"len(leader)":                    `x.yaml:3: property "p": its value is int: True or False is needed (of n1 leader(2))`,
		`one(leader, "term")`:            `x.yaml:3: property "p": one: n1 leader(2) has no field term (of n1 leader(2))`,
		"agree([leader])":                `x.yaml:3: property "p": agree: a list of tuples is needed, not of list (of n1 leader(2))`,
		"1 == 1":                         `x.yaml:3: property "p": it reads nothing that a node exposes, nor clocks, messages, pending, timers, up`,
		"leader and earlier":             `x.yaml:3: property "p": earlier needs window, and window needs earlier`,
		"leader and print":               `x.yaml:3: property "p": its value is builtin_function_or_method: True or False is needed (of n1 leader(2))`,
		"[x for x in leader].y()":        `x.yaml:3: property "p": list has no .y field or method (of n1 leader(2))`,
		"leader[0].key < 3":              `x.yaml:3: property "p": leader[0].key < 3: leader[0].key is a text, and 3 is a number: write int(leader[0].key)`,
		"[x.key for x in leader][0] < 3": `x.yaml:3: property "p": a text is compared with a number: write int(...) around the text: string < int not implemented (of n1 leader(2))`,
		"leader and 'a' * 1 << 99":       `x.yaml:3: property "p": unknown binary op: string << int (of n1 leader(2))`,
	} {
		p, err := NewProperties(Config{Path: "x.yaml", Sources: sources,
			Predicates: []property.Predicate{{Name: "p", Expr: expr, Line: 3}}, Nodes: []string{"n1"}})
		if err == nil {
			j := p.NewJudge(1)
			set := (*expose.Set)(nil).After(j.Find(0, nil,
				&ariadne.Output{Logs: []ariadne.LogLine{{Text: "leads 2"}}}).Changes)
			if got := j.Judge(&expose.Snapshot{Sets: []*expose.Set{set}, Up: []bool{true}}, expose.Between); got != "" {
				t.Errorf("%s: %s", expr, got)
			}
			err = j.Err()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", expr, err, want)
		}
	}
}
