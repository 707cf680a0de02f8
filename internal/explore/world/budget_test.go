package world

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// TestBudgetsOfAllKinds: states that differ by what is left of any budget have different names.
func TestBudgetsOfAllKinds(t *testing.T) {
	hashes, digests := map[hash.Hash]bool{}, map[ariadne.Digest]bool{}
	enter := func(s *State) {
		h, d := s.Budget(), s.Digest()
		if hashes[h] || digests[d] {
			t.Errorf("two states with other budgets have one name: %d", s.Faults)
		}
		hashes[h], digests[d] = true, true
	}
	var s State
	if enter(&s); !s.Faults.None() {
		t.Error("there are none")
	}
	for k := range s.Faults {
		for _, n := range []uint8{1, 2, MaxFaults} {
			s.Faults[k] = n
			if s.Faults.None() {
				t.Errorf("kind %d: there are some", k)
			}
			enter(&s)
			for l := range k {
				s.Faults[l] = n
				enter(&s)
				s.Faults[l] = 0
			}
		}
		s.Faults[k] = 0
	}
}
