package main

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestSeekFile: a file is refused that has no violation, or one that is damaged or of another spec.
func TestSeekFile(t *testing.T) {
	s := &spec.Spec{Nodes: []spec.Node{{Name: "n1"}}}
	s.Properties.Sources = expose.Sources{{Name: "leads"}}
	s.Properties.Predicates = []property.Predicate{{Name: "one leads"}}
	const good = `{"event":"violation","property":"one leads","history":[{"node":"n1","kind":"up"},
		{"node":"n1","kind":"exposes","exposes":[{"name":"leads","values":["1"]}]}]}`
	for _, c := range []struct{ text, want string }{
		{`{"event":"exposed","node":"n1"}` + good, ""},
		{good + "what comes later is not read", ""},
		{"", "there is no violation"},
		{`{"event":"report"}`, "there is no violation"},
		{good[:len(good)-9], "unexpected EOF"},
		{"[1]", "cannot unmarshal"},
		{`{"event":"violation","property":"one leads"}`, "no history"},
		{`{"event":"violation","history":[{"node":"n1"}]}`, "no property"},
		{`{"event":"violation","property":"one leads","history":[{"node":"n1","kind":"unknown"}]}`, "no changes"},
		{strings.Replace(good, "one leads", "two lead", 1), `no property "two lead"`},
		{strings.ReplaceAll(good, "n1", "n2"), "no node n2"},
		{strings.Replace(good, `"leads"`, `"led"`, 1), "exposes nothing as led"},
	} {
		f, err := firstFinding(strings.NewReader(c.text))
		if err == nil {
			var seek *check.Seek
			if seek, err = seekOf(f, s); err == nil {
				err = seek.Check(s)
			}
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, and should contain %q", c.text, err, c.want)
		}
	}
}
