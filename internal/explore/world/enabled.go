package world

import (
	"cmp"

	"github.com/ariadne-mc/ariadne"
)

// Event is an enabled action with what applying it needs. It is of the state in
// which it is enabled.
type Event struct {
	// of a delivery: when the message arrives, whatever the node's clock shows (Take)
	At     ariadne.Time
	Packet *Packet // of a delivery
	Node   ariadne.NodeID
	Varied *Varied
	Kind   ariadne.ActionKind
	flight int32 // index in State.Flight, of a delivery
}

// Action is the event without its time.
func (e *Event) Action() ariadne.Action {
	a := ariadne.Action{Kind: e.Kind, Node: e.Node, What: e.Varied.What(), Vary: e.Varied.Variation()}
	if e.Packet != nil {
		a.Flow, a.Seq = e.Packet.Flow, e.Packet.Seq
	}
	return a
}

// IsUntimed reports whether it has no time of its own.
func (e *Event) IsUntimed() bool { return kinds[e.Kind].Untimed }

// SameAction reports whether both are the same action: e.Action() == f.Action().
func (e *Event) SameAction(f *Event) bool {
	return e.Varied.Variation() == f.Varied.Variation() && e.SameInput(f)
}

// Enabled appends to events what may happen next in s undisturbed, in order of time; at the
// same time starts before deliveries before timers, then by node, then by flow. Behind all
// these is what has no time of its own (Kind.Untimed).
func (y *System) Enabled(s *State, events []Event) []Event {
	c := y.clock(s)
	n := len(events)
	for _, p := range y.only {
		if events = p.enabled(y, s, c, events); len(events) > n {
			return events
		}
	}
	if c.Start != ariadne.Never {
		for _, p := range y.starts {
			events = p.enabled(y, s, c, events)
		}
	}
	for _, p := range y.timed {
		if !p.fault || s.Faults[p.kind] > 0 {
			events = p.enabled(y, s, c, events)
		}
	}
	sortEvents(events[n:])
	for _, p := range y.aside {
		if s.Faults[p.kind] > 0 {
			events = p.enabled(y, s, c, events)
		}
	}
	return events
}

// AtRest reports whether nothing can happen but faults that have no time of their own.
func (y *System) AtRest(s *State) bool {
	events := y.Enabled(s, nil)
	return len(events) == 0 || events[0].IsUntimed()
}

// sortEvents puts events in order. There are few, and most come in order.
func sortEvents(events []Event) {
	for i := 1; i < len(events); i++ {
		if events[i].At <= events[i-1].At {
			insertLast(events[:i+1])
		}
	}
}

// insertLast puts the last of events, the others of which are in order, in its place.
func insertLast(events []Event) {
	last := len(events) - 1
	e, i := events[last], last
	for i > 0 && (e.At < events[i-1].At || e.At == events[i-1].At && compareEvents(&e, &events[i-1]) < 0) {
		i--
	}
	if i < last {
		copy(events[i+1:], events[i:last])
		events[i] = e
	}
}

// Timer is the node's earliest deadline, if timers of it can fire, or Never.
func (n *NodeState) Timer() ariadne.Time {
	if !n.Started || n.Done {
		return ariadne.Never
	}
	return n.Deadline
}

func (s *State) firstDeadline() ariadne.Time {
	t := ariadne.Never
	for i := range s.Nodes {
		t = min(t, s.Nodes[i].Timer())
	}
	return t
}

func compareEvents(a, b *Event) int {
	if c := cmp.Compare(a.At, b.At); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Node, b.Node); c != 0 || a.Packet == nil {
		return c
	}
	if c := CompareFlows(&a.Packet.Flow, &b.Packet.Flow); c != 0 {
		return c
	}
	return cmp.Compare(a.Packet.Seq, b.Packet.Seq)
}

// CompareFlows orders flows as Enabled does.
func CompareFlows(a, b *ariadne.Flow) int {
	if c := cmp.Compare(a.Proto, b.Proto); c != 0 {
		return c
	}
	if c := a.Src.Compare(b.Src); c != 0 {
		return c
	}
	if c := a.Dst.Compare(b.Dst); c != 0 {
		return c
	}
	return cmp.Compare(a.Epoch, b.Epoch)
}

// Pending finds in s the event that e is an action of: its time and what Take needs.
// Whether the rules let it happen now, Enabled says.
func (y *System) Pending(s *State, e *Event) bool { return kinds[e.Kind].Pending(y, s, e) }
