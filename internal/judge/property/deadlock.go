package property

import (
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Deadlock finds executions in which nothing can ever happen again although a
// client still waits. A system without clients may fall silent.
type Deadlock struct {
	Nodes []Subject
	ended []bool // by node
}

// Step implements Check.
func (d *Deadlock) Step(s *ariadne.Step) *ariadne.Violation {
	if d.ended == nil {
		d.ended = make([]bool, len(d.Nodes))
	}
	d.ended[s.Action.Node] = s.Output.Ended
	return nil
}

// End implements Check.
func (d *Deadlock) End(e End) *ariadne.Violation {
	if !e.Quiet {
		return nil
	}
	var waiting []string
	first := ariadne.NoNode
	for i, n := range d.Nodes {
		if id := ariadne.NodeID(i); n.Client && (d.ended == nil || !d.ended[id]) {
			if waiting == nil {
				first = id
			}
			waiting = append(waiting, n.Name)
		}
	}
	if waiting == nil {
		return nil
	}
	return &ariadne.Violation{Kind: "deadlock", Node: first, Step: e.Step, At: e.At,
		Message: "no message is in flight and no timer is set, but " + strings.Join(waiting, ", ") + " has not ended"}
}
