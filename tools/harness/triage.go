package harness

import (
	"regexp"

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

// Pattern is a regular expression in a YAML file.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML implements yaml.Unmarshaler.
func (p *Pattern) UnmarshalYAML(v *yaml.Node) (err error) {
	p.Regexp, err = regexp.Compile(v.Value)
	return err
}
