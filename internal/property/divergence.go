package property

import "ariadne"

// Divergence finds steps in which a node never came to rest: it ran on, or made
// calls without end.
type Divergence struct{}

// Step implements Check.
func (Divergence) Step(s ariadne.Step) *ariadne.Violation {
	if s.Output.Diverged == "" {
		return nil
	}
	return &ariadne.Violation{Kind: "divergence", Node: s.Action.Node, Step: s.Index, At: s.At, Message: s.Output.Diverged}
}

// End implements Check.
func (Divergence) End(End) *ariadne.Violation { return nil }
