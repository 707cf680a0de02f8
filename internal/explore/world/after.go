package world

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Said are the kinds of faults for which a node has written the line that must come before them
// (Rules.After), a bit for each. It has nothing of the others.
type Said uint64

// linesSaid are the kinds of faults for which one of the lines of a node's step is the one that
// must come before.
func (y *System) linesSaid(id ariadne.NodeID, out *ariadne.Output) (all Said) {
	for k, after := range y.rules.After {
		if of, ok := y.rules.AfterOf[ariadne.ActionKind(k)]; after == nil || ok && of != id {
			continue
		}
		for l := range out.Lines() {
			if after.MatchString(l.Text) {
				all |= 1 << k
				break
			}
		}
	}
	return all
}

// isAfterOf reports whether what must come before a fault of a kind has been written, by the node
// that it is to hit or by that of which it must be.
func (y *System) isAfterOf(s *State, k ariadne.ActionKind, id ariadne.NodeID) bool {
	return y.rules.MayFollow(s, k, id)
}

// MayFollow reports whether what must come before a fault of a kind at a node has been written.
func (r *Rules) MayFollow(s *State, k ariadne.ActionKind, id ariadne.NodeID) bool {
	if of, ok := r.AfterOf[k]; ok {
		id = of
	}
	return r.After[k] == nil || s.Nodes[id].Said&(1<<k) != 0
}

// MayFollowWithin reports whether what must come before a fault of a kind within a step of a node
// has been written, as far as the node cannot tell: another node's line. Its own line the node has
// looked for before it lists a place.
func (r *Rules) MayFollowWithin(s *State, k ariadne.ActionKind, id ariadne.NodeID) bool {
	of, ok := r.AfterOf[k]
	return !ok || of == id || r.MayFollow(s, k, of)
}

// Allows reports whether the budgets are enough for a variation of an event, and what must come
// before its faults has been written.
func (y *System) Allows(s *State, e *Event) bool {
	if len(y.rules.AfterOf) > 0 {
		for k, n := range e.Varied.budgets() {
			if n > 0 && !y.rules.MayFollowWithin(s, ariadne.ActionKind(k), e.Node) {
				return false
			}
		}
	}
	return s.Affords(e)
}

// AnyMayFollow reports whether any node has written what must come before a fault of a kind.
func (y *System) AnyMayFollow(s *State, k ariadne.ActionKind) bool {
	for i := range s.Nodes {
		if y.isAfterOf(s, k, ariadne.NodeID(i)) {
			return true
		}
	}
	return false
}

// hash is the part of a global state's hash of what a node has said.
func (said Said) hash(id ariadne.NodeID) hash.Hash {
	if said == 0 {
		return hash.Hash{}
	}
	return hash.Of(uint64(id), uint64(said), 16)
}
