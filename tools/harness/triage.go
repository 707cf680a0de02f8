package harness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Triage explains violations, by hand: the first explanation counts whose expression matches the
// message.
type Triage []Explanation

// Explanation says what the violations are whose message matches.
type Explanation struct {
	Violation Pattern
	Because   string
}

// Of is what the triage says of a violation, or "".
func (t Triage) Of(message string) string {
	if i := t.Index(message); i >= 0 {
		return t[i].Because
	}
	return ""
}

// Index is which explanation a violation has, or -1.
func (t Triage) Index(message string) int {
	return slices.IndexFunc(t, func(e Explanation) bool { return e.Violation.MatchString(message) })
}

// Unexplained stands on a page for what no triage says yet.
const Unexplained = "**not explained yet**"

// All says whether each violation has come again and is explained.
func (t Triage) All(violations []Seen) bool {
	return !slices.ContainsFunc(violations, func(s Seen) bool { return !s.Again || t.Of(s.Message) == "" })
}

// Says is what a page says of a violation: what it is, and why.
func (t Triage) Says(s Seen) string {
	because := t.Of(s.Message)
	if because == "" {
		because = Unexplained
	}
	where := s.Kind
	if s.Node != "" {
		where += " of " + s.Node
	}
	return fmt.Sprintf("%s: %s. %s", where, OneLine(s.Message), OneLine(because))
}

// Line is what a page says of a violation that was replayed, behind how often it was seen.
func (t Triage) Line(howOften string, s Seen) string {
	line := howOften + ": " + t.Says(s)
	if s.Suspect != "" {
		line += " Suspect: " + OneLine(s.Suspect) + "."
	}
	if !s.Again {
		line += " **The replay did not come to it again.**"
	}
	return line
}

// Explain puts into a part of an earlier page, whose lines are those of Line, what the triage has
// come to say since.
func (t Triage) Explain(part string) string {
	var b strings.Builder
	for line := range strings.Lines(part) {
		if said, _, ok := strings.Cut(line, Unexplained); ok {
			_, message, _ := strings.Cut(said, ": ")   // behind how many executions
			_, message, _ = strings.Cut(message, ": ") // and the kind and the node
			if because := t.Of(strings.TrimSuffix(message, ". ")); because != "" {
				line = strings.Replace(line, Unexplained, OneLine(because), 1)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// OneLine is a text with single spaces in the place of line breaks and other white space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Pattern is a regular expression in a YAML file.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *Pattern) UnmarshalYAML(v *yaml.Node) (err error) {
	p.Regexp, err = regexp.Compile(v.Value)
	return err
}
