package property

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// Divergence finds nodes that never come to rest: steps in which one ran on or made
// calls without end, and executions in which nothing can ever happen again but that
// a node asks and asks. A server that polls for requests does so too, and is at rest:
// it asks for what is not there, and is no client.
type Divergence struct {
	Nodes []Subject
	polls []poll // by node, what each asked for at the end of its last step
}

type poll struct {
	call     string // or ""
	unheeded bool
}

// Step implements Check.
func (d *Divergence) Step(s *ariadne.Step) *ariadne.Violation {
	if s.Output.Diverged != "" {
		return &ariadne.Violation{Kind: "divergence", Node: s.Action.Node, Step: s.Index, At: s.At,
			Message: s.Output.Diverged}
	}
	if d.polls == nil {
		d.polls = make([]poll, len(d.Nodes))
	}
	d.polls[s.Action.Node] = poll{s.Output.Polling, s.Output.Unheeded}
	return nil
}

// End implements Check.
func (d *Divergence) End(e End) *ariadne.Violation {
	if !e.Quiet {
		return nil
	}
	for i, o := range d.polls {
		id, n := ariadne.NodeID(i), &d.Nodes[i]
		if o.call != "" && (n.Client || o.unheeded) {
			return &ariadne.Violation{Kind: "divergence", Node: id, Step: e.Step, At: e.At, Message: fmt.Sprintf(
				"nothing can happen any more, and it goes on calling %s %s", o.call, o.how())}
		}
	}
	return nil
}

func (p poll) how() string {
	if p.unheeded {
		return "and does not take what it finds ready"
	}
	return "in vain"
}
