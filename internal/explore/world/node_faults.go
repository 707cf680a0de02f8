package world

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// NodeFaults are faults of one kind, each of which may hit each of some nodes.
type NodeFaults struct {
	Nodes  []ariadne.NodeID
	Faults []ariadne.NodeFault
}

// OnNodes is what there is to say of a kind of fault that hits nodes, as one of several. A spec
// says whom it hits and which of them it may be. It has their defaults, and explanations of the
// fields.
type OnNodes struct {
	Default []ariadne.NodeFault
	DocBy   string // what the field of a spec is for that lists them
	// Parse reads one of them. An error is a whole clause.
	Parse func(text string) (ariadne.NodeFault, error)
	// DocWithin is before what it happens within a step, if it may (Kind.Within).
	DocWithin string
}

// nodeFaultKind completes a kind of faults that hit nodes, between two steps. In names of its
// events word, unless it is "", stands between the node and what tells them apart.
func nodeFaultKind(number ariadne.ActionKind, word string, k Kind) Kind {
	k.Untimed = true
	between := " "
	if word != "" {
		between += word + " "
	}
	k.Enabled = func(y *System, s *State, _ Clock, events []Event) []Event {
		now := y.untimedNow(s)
		for _, e := range y.onNodes[number] {
			if n := &s.Nodes[e.Node]; s.mayFall(e.Node, number) && !n.Spared && y.isAfterOf(s, number, e.Node) &&
				y.isFirstOfGroup(s, &e) {
				e.At = max(n.Clock, now)
				events = append(events, e)
			}
		}
		return events
	}
	k.Pending = func(y *System, s *State, e *Event) bool {
		e.At = max(s.Nodes[e.Node].Clock, y.untimedNow(s))
		return s.mayFall(e.Node, number)
	}
	k.Take = func(_ *System, s *State, e *Event) Input {
		return Input{Kind: ariadne.Fault, At: e.At, Varied: e.Varied}
	}
	k.Footprint = func(_ *System, _ *Event, f Footprint) Footprint {
		f.Present, f.Slack = true, unlimited
		return f
	}
	k.Format = func(n Names, a ariadne.Action) string { return n.Node(a.Node) + between + a.What }
	k.Parse = func(n Names, rest string) (ariadne.Action, error) {
		name, what, ok := strings.Cut(rest, between)
		if !ok {
			return ariadne.Action{}, fmt.Errorf("want %s NODE%sWHAT", k.Name, between)
		}
		a, err := n.ofNode(number, name)
		if err != nil {
			return a, err
		}
		f, err := ariadne.ParseNodeFault(k.Name + ":" + what)
		if err == nil {
			a.What = f.What()
		}
		return a, err
	}
	return k
}

// newNodeFaults are the events of all faults that hit nodes, by kind, but for their time.
func newNodeFaults(r Rules) (all [MaxKinds][]Event) {
	for _, rule := range r.NodeFaults {
		for _, id := range rule.Nodes {
			for _, f := range rule.Faults {
				kind, _ := KindNamed(f.Kind())
				all[kind] = append(all[kind], Event{Node: id, Kind: kind, Varied: variedByFault(f)})
			}
		}
	}
	return all
}
