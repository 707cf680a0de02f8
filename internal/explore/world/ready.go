package world

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// A node may wait for others (Node.After): it is switched on when each of them has been ready, at
// the time of the last. What a node has been it stays: that it goes down later, or stops listening,
// switches off nobody, and who comes back after a fault does not wait again.

// becomeReady enters that a node was ready at a time, and what is to be switched on then.
func (y *System) becomeReady(s *State, id ariadne.NodeID, at ariadne.Time) {
	n := &s.Nodes[id]
	n.Ready = at
	s.sum.Add(hash.Of(uint64(id), uint64(at), 21))
	for _, w := range y.awaited[id] {
		if first := y.firstOn(s, w); first != ariadne.Never {
			waits := &s.Nodes[w]
			s.sum.Sub(y.onHash(w, waits.On))
			waits.Start, waits.On = first, first
			s.sum.Add(y.onHash(w, waits.On))
		}
	}
}

// firstOn is when a node was or is to be switched on first; Never: it waits for one that was not
// ready yet.
func (y *System) firstOn(s *State, id ariadne.NodeID) ariadne.Time {
	first := y.nodes[id].Start
	for _, other := range y.nodes[id].After {
		first = max(first, s.Nodes[other].Ready)
	}
	return first
}

// Frees are the nodes that wait for a node, if it is ready for the first time in a step; else nil.
// That one of them is switched on, all that it waits for must have been ready.
func (y *System) Frees(n *NodeState, id ariadne.NodeID, e *Effect) []ariadne.NodeID {
	if !e.Ready || n.Ready != ariadne.Never || y.awaited == nil {
		return nil
	}
	return y.awaited[id]
}

// Waits reports whether a node has not been switched on because it waits for others.
func (s *State) Waits(id ariadne.NodeID) bool {
	n := &s.Nodes[id]
	return n.On == ariadne.Never && n.Down == ariadne.Up && !n.Started
}

// AnyWaits reports whether a node waits for others, or is to be switched on since they were ready.
func (y *System) AnyWaits(s *State) bool {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; y.nodes[i].After != nil && !n.Started && n.Down == ariadne.Up {
			return true
		}
	}
	return false
}
