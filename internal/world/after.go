package world

import "ariadne"

// Said are the kinds of faults for which a node has written the line that must come before them
// (Rules.After), a bit for each. It has nothing of the others.
type Said uint32

// says are the kinds of faults for which one of some lines is the one that must come before.
func (y *System) says(lines []ariadne.LogLine) (all Said) {
	for k, after := range y.rules.After {
		for i := range lines {
			if after != nil && after.MatchString(lines[i].Text) {
				all |= 1 << k
				break
			}
		}
	}
	return all
}

// may reports whether a node has written what must come before a fault of a kind.
func (y *System) may(s *State, k ariadne.ActionKind, id ariadne.NodeID) bool {
	return y.rules.After[k] == nil || s.Nodes[id].Said&(1<<k) != 0
}

// Ready reports whether any node has written what must come before a fault of a kind.
func (y *System) Ready(s *State, k ariadne.ActionKind) bool {
	for i := range s.Nodes {
		if y.may(s, k, ariadne.NodeID(i)) {
			return true
		}
	}
	return false
}

// hash is the part of a global state's hash of what a node has said.
func (said Said) hash(id ariadne.NodeID) Hash {
	if said == 0 {
		return Hash{}
	}
	return HashOf(uint64(id), uint64(said), 16)
}
