package judge

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/history"
)

const models = `
def stack(state, op, value, result):
    items = state.split()
    if op == "push":
        return " ".join(items + [value])
    if result == None:
        return " ".join(items[:-1])
    return " ".join(items[:-1]) if items[-1:] == result.split() else None

def pairs(state, op, value, result):
    n = 0 if state == "" else state[0]
    return (n + 1, [value])

def fails(state, op, value, result):
    return value + 1

def short(state, op): return state
`

// judged judges the history of these lines by a claim.
func judged(t *testing.T, c history.Claim, lines ...string) (verdict string, err error) {
	path := filepath.Join(t.TempDir(), "models.star")
	if err := os.WriteFile(path, []byte(models), 0o644); err != nil {
		t.Fatal(err)
	}
	h := &expose.History{Invoke: regexp.MustCompile(`^(?P<op>push|pop|x) (?P<key>\w+) ?(?P<value>.*)`),
		OK: regexp.MustCompile(`^ok ?(?P<value>.*)`)}
	c.Name, c.Line = "p", 7
	p, err := NewProperties(Config{Path: "spec.yaml", Definitions: path, History: h, Histories: []history.Claim{c},
		Nodes: []string{"a", "b"}})
	if err != nil {
		return "", err
	}
	s := &expose.Snapshot{}
	for _, l := range lines {
		out := &ariadne.Output{Logs: []ariadne.LogLine{{Text: strings.TrimSpace(l[1:])}}}
		for _, e := range p.Find(ariadne.NodeID(l[0]-'a'), nil, out).Events {
			s.Past = s.Past.Then(e)
		}
	}
	j := p.NewJudge(1)
	return j.Judge(s, expose.Ended), j.Err()
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		of    string
		lines string
		want  string // of the verdict
		fails string // of the error
	}{
		{"stack", "a push s 1;a ok;b push s 2;b ok;a pop s;a ok 2;a pop s;a ok 1;a pop s;a ok", "", ""},
		{"stack", "a push s 1;a ok;b push s 2;b ok;a pop s;a ok 1", "no order of the 3 operations on s explains them",
			""},
		{"stack", "a push s 1;a ok;b pop s;a pop s;a ok", "", ""}, // the other one has it
		{"pairs", "a x k 1;a ok;a x k 2;a ok", "", ""},
		{"fails", "a x k 1;a ok", "", "spec.yaml:7: property \"p\": unknown binary op: string + int"},
		{"nothing", "", "", `"nothing" is neither one of register, counter, set, list, queue, bank nor a function of definitions`},
		{"short", "", "", "short must have the parameters state, op, value, result"},
	} {
		verdict, err := judged(t, history.Claim{Of: c.of},
			strings.FieldsFunc(c.lines, func(r rune) bool { return r == ';' })...)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(verdict, c.want) || c.want == "" && verdict != "" || !strings.Contains(text, c.fails) ||
			c.fails == "" && text != "" {
			t.Errorf("%s: %s: %q, %q; want %q, %q", c.of, c.lines, verdict, text, c.want, c.fails)
		}
	}
	if verdict, err := judged(t, history.Claim{Of: "stack", Initial: "7", Level: history.Sequential}, "a pop s",
		"a ok 7"); verdict != "" || err != nil {
		t.Error(verdict, err)
	}
	if _, err := judged(t, history.Claim{Of: "bank", Initial: "7"}); err == nil ||
		!strings.Contains(err.Error(), `initial: balances "7": write them as in`) {
		t.Error(err)
	}
}
