package ariadne

import (
	"encoding/json"
	"strings"
)

// Assertion is what a program says of itself on /dev/ariadne, in a line of its own or of the
// Antithesis SDKs.
type Assertion struct {
	Kind    AssertionKind
	Message string
	// Hit: the program has come to it, and Holds says whether what it asserts is true there.
	// Otherwise the program only says that it has it.
	Hit, Holds bool
	// Must: it is a shortcoming when nobody ever comes to it.
	Must bool
}

// AssertionKind says when an assertion is satisfied.
type AssertionKind string

// The kinds of assertions.
const (
	AssertAlways      AssertionKind = "always"      // true whenever it is hit
	AssertSometimes   AssertionKind = "sometimes"   // true once
	AssertReachable   AssertionKind = "reachable"   // hit once
	AssertUnreachable AssertionKind = "unreachable" // never hit
)

// Broken reports whether the line alone shows that the program is wrong.
func (a *Assertion) Broken() bool {
	return a.Hit && (a.Kind == AssertAlways && !a.Holds || a.Kind == AssertUnreachable)
}

// Satisfied reports whether the line satisfies an assertion that must be met once. Other assertions
// are always satisfied.
func (a *Assertion) Satisfied() bool {
	return !a.Must || a.Hit && (a.Kind != AssertSometimes || a.Holds)
}

// ParseAssertion understands a line: "assert always true TEXT" or false, "assert sometimes true
// TEXT", "assert reachable TEXT", "assert unreachable TEXT", or an object of JSON whose name is
// antithesis_assert. Not ok: it is something else. Other lines of these SDKs are understood and say
// nothing: their Kind is "".
func ParseAssertion(line string) (a Assertion, ok bool) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		return parseSDK(line)
	}
	word, rest, _ := strings.Cut(line, " ")
	kind, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if word != "assert" {
		return a, false
	}
	a = Assertion{Kind: AssertionKind(kind), Hit: true, Holds: true, Must: kind != string(AssertUnreachable)}
	switch a.Kind {
	case AssertAlways, AssertSometimes:
		var is string
		is, text, _ = strings.Cut(strings.TrimSpace(text), " ")
		if a.Holds = is == "true"; !a.Holds && is != "false" {
			return a, false
		}
	case AssertReachable, AssertUnreachable:
	default:
		return a, false
	}
	a.Message = strings.TrimSpace(text)
	return a, a.Message != ""
}

// sdkLine is a line of an Antithesis SDK, by the fields that matter here.
type sdkLine struct {
	Assert *struct {
		Hit       bool   `json:"hit"`
		MustHit   bool   `json:"must_hit"`
		Type      string `json:"assert_type"` // always, sometimes, reachability
		Message   string `json:"message"`
		Condition bool   `json:"condition"`
	} `json:"antithesis_assert"`
}

func parseSDK(line string) (a Assertion, ok bool) {
	var names map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &names) != nil {
		return a, false
	}
	for name := range names {
		ok = ok || strings.HasPrefix(name, "antithesis_")
	}
	var l sdkLine
	if !ok || names["antithesis_assert"] == nil {
		return a, ok
	}
	if json.Unmarshal([]byte(line), &l) != nil || l.Assert == nil || l.Assert.Message == "" {
		return a, false
	}
	s := l.Assert
	a = Assertion{Kind: AssertionKind(s.Type), Message: s.Message, Hit: s.Hit, Holds: s.Condition, Must: s.MustHit}
	switch {
	case s.Type == "reachability" && s.MustHit:
		a.Kind = AssertReachable
	case s.Type == "reachability":
		a.Kind = AssertUnreachable
	}
	return a, a.Kind == AssertReachable || a.Kind == AssertUnreachable || a.Kind == AssertAlways ||
		a.Kind == AssertSometimes
}
