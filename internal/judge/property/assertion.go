package property

import "github.com/ariadne-mc/ariadne"

// Assertion finds lines by which a program says itself that something is wrong (ariadne.Assertion).
type Assertion struct{}

// Step implements Check.
func (Assertion) Step(s *ariadne.Step) *ariadne.Violation {
	for _, l := range s.Output.Logs {
		if a, ok := asserted(l); ok && a.Broken() {
			message := string(a.Kind) + ": " + a.Message
			return &ariadne.Violation{Kind: "assertion", Node: s.Action.Node, Step: s.Index, At: l.At, Message: message}
		}
	}
	return nil
}

// End implements Check.
func (Assertion) End(End) *ariadne.Violation { return nil }

func asserted(l ariadne.LogLine) (a ariadne.Assertion, ok bool) {
	if l.Stream != ariadne.Exposed {
		return a, false
	}
	a, ok = ariadne.ParseAssertion(l.Text)
	return a, ok && a.Kind != ""
}

// Assertions are what programs want to be shown once, and whether it was: by "KIND: MESSAGE".
type Assertions map[string]bool

// Add adds what a step shows. The map is made when it is needed.
func (all *Assertions) Add(out *ariadne.Output) {
	for _, l := range out.Logs {
		if a, ok := asserted(l); ok && a.Must {
			all.enter(string(a.Kind)+": "+a.Message, a.Satisfied())
		}
	}
}

// Merge adds what others have seen.
func (all *Assertions) Merge(others Assertions) {
	for name, shown := range others {
		all.enter(name, shown)
	}
}

func (all *Assertions) enter(name string, shown bool) {
	if *all == nil {
		*all = Assertions{}
	}
	(*all)[name] = (*all)[name] || shown
}
