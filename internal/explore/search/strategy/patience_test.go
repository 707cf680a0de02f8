package strategy

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// TestPatience: on the first paths no message is late by a second, and afterwards on one in so
// many.
func TestPatience(t *testing.T) {
	for _, n := range []int{2, hastyTogether} {
		patient := 0
		for index := range 10_000 {
			var h patience
			h.beginOneIn(n, 4, index)
			if h.most == ariadne.Never {
				if patient++; index < hastyPaths {
					t.Fatalf("messages of path %d may be late", index)
				}
			}
		}
		if want := 10_000 * (n - 1) / n; patient < want*95/100 || patient > want {
			t.Errorf("%d paths of 10000 may have late messages, about %d should", patient, want)
		}
	}
}

// TestConnectionsThatComeUpLate: most of slow's paths on which connections come up late together
// let them be late by more than a second, and every other one of its other paths.
func TestConnectionsThatComeUpLate(t *testing.T) {
	var together, other [2]int
	p := lossPath(t)
	for index := hastyPaths; index < hastyPaths+4000; index++ {
		s := Slow{Seed: 1, Index: index, length: 100, most: 12}
		s.Begin(p)
		late := 0
		if s.late.most == ariadne.Never {
			late = 1
		}
		if s.holds[0].nth > 0 {
			together[late]++
		} else {
			other[late]++
		}
	}
	if together[0]*5 > together[1] || together[0] == 0 || other[0]*10 < other[1]*9 || other[1]*10 < other[0]*9 {
		t.Errorf("without and with late messages: %d together, %d else", together, other)
	}
}

// TestSharesWithoutFaults: where nothing fails the default strategy gives slow four times what
// others get, and novelty no more than these.
func TestSharesWithoutFaults(t *testing.T) {
	shares := func(faultless bool) (slow, novelty float64) {
		b := &Builder{Workers: 1, Faultless: faultless, Bytes: 1 << 20, News: func(int) func() News { return nil },
			Combined: func(int) func(*space.Path) bool { return nil }}
		r, _ := Named(DefaultName)
		for _, m := range r.Make(b)[0].(*Series).Parts[1].Explorer.(*Portfolio).Members {
			switch m.Tally.Name {
			case "slow":
				slow = m.Share
			case "novelty":
				novelty = m.Share
			}
		}
		return slow, novelty
	}
	if slow, novelty := shares(false); slow != 2 || novelty != 2 {
		t.Errorf("with faults slow has %v, novelty %v", slow, novelty)
	}
	if slow, novelty := shares(true); slow != 4 || novelty != 1 {
		t.Errorf("without faults slow has %v, novelty %v", slow, novelty)
	}
}
