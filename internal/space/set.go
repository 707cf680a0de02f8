package space

import "ariadne/internal/world"

// Set is a set of hashes. That of a state needs no depth beside it: local states
// are named by all that led to them, so the number of steps is part of the state.
type Set struct {
	slots []world.Hash // a power of two of them, at most three quarters full; zero: free
	n     int
}

// Len is the number of different hashes.
func (s *Set) Len() int { return s.n }

// Add enters a hash; fresh when it was not there. The hash that is zero, which is as
// likely as any other, is never there.
func (s *Set) Add(h world.Hash) (fresh bool) {
	if s.n*4 >= len(s.slots)*3 {
		s.grow()
	}
	e := s.find(h)
	if *e == h {
		return h == world.Hash{}
	}
	*e = h
	s.n++
	return true
}

// Has reports whether a hash is there.
func (s *Set) Has(h world.Hash) bool { return s.n > 0 && h != world.Hash{} && *s.find(h) == h }

// find returns the slot of h, or the free one where it belongs.
func (s *Set) find(h world.Hash) *world.Hash {
	mask := uint64(len(s.slots) - 1)
	for i := h.Lo & mask; ; i = (i + 1) & mask {
		if e := &s.slots[i]; *e == h || *e == (world.Hash{}) {
			return e
		}
	}
}

func (s *Set) grow() {
	old := s.slots
	s.slots = make([]world.Hash, max(1024, 2*len(old)))
	for _, h := range old {
		if h != (world.Hash{}) {
			*s.find(h) = h
		}
	}
}

// All calls f for each hash, in no order that means anything but always the same
// for the same hashes entered in the same order.
func (s *Set) All(f func(world.Hash)) {
	for _, h := range s.slots {
		if h != (world.Hash{}) {
			f(h)
		}
	}
}
