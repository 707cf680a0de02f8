package space

import "ariadne/internal/world"

// Set is a set of hashes, each with the least depth at which it was met.
type Set struct {
	slots []slot // a power of two of them, at most three quarters full
	n     int
}

type slot struct {
	hash  world.Hash
	depth uint32 // plus 1; 0: the slot is free
}

// Len is the number of different hashes.
func (s *Set) Len() int { return s.n }

// Add enters a hash. fresh: it was not there; nearer: it was not there or only
// deeper.
func (s *Set) Add(h world.Hash, depth int) (fresh, nearer bool) {
	if s.n*4 >= len(s.slots)*3 {
		s.grow()
	}
	d := uint32(depth) + 1
	e := s.find(h)
	switch {
	case e.depth == 0:
		*e = slot{h, d}
		s.n++
		return true, true
	case d < e.depth:
		e.depth = d
		return false, true
	}
	return false, false
}

// Has reports whether a hash is there.
func (s *Set) Has(h world.Hash) bool { return s.n > 0 && s.find(h).depth != 0 }

// find returns the slot of h, or the free one where it belongs.
func (s *Set) find(h world.Hash) *slot {
	mask := uint64(len(s.slots) - 1)
	for i := h.Lo & mask; ; i = (i + 1) & mask {
		if e := &s.slots[i]; e.depth == 0 || e.hash == h {
			return e
		}
	}
}

func (s *Set) grow() {
	old := s.slots
	s.slots = make([]slot, max(1024, 2*len(old)))
	for _, e := range old {
		if e.depth != 0 {
			*s.find(e.hash) = e
		}
	}
}

// All calls f for each hash, in no order that means anything but always the same
// for the same hashes entered in the same order.
func (s *Set) All(f func(world.Hash)) {
	for _, e := range s.slots {
		if e.depth != 0 {
			f(e.hash)
		}
	}
}
