package harness

import (
	"regexp"
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
	for i := range t {
		if t[i].Violation.MatchString(message) {
			return t[i].Because
		}
	}
	return ""
}

// Unexplained stands on a page for what no triage says yet.
const Unexplained = "**not explained yet**"

// Explain puts into a part of an earlier page what the triage has come to say since.
func (t Triage) Explain(part string) string {
	var b strings.Builder
	for line := range strings.Lines(part) {
		if said, _, ok := strings.Cut(line, Unexplained); ok {
			_, message, _ := strings.Cut(said, ": ")   // behind how many executions
			_, message, _ = strings.Cut(message, ": ") // and the kind and the node
			if because := t.Of(strings.TrimSuffix(message, ". ")); because != "" {
				line = strings.Replace(line, Unexplained, strings.Join(strings.Fields(because), " "), 1)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// Pattern is a regular expression in a YAML file.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *Pattern) UnmarshalYAML(v *yaml.Node) (err error) {
	p.Regexp, err = regexp.Compile(v.Value)
	return err
}
