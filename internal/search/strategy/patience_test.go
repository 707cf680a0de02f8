package strategy

import (
	"testing"

	"ariadne"
)

// TestPatience: on the first paths no message is late by a second, and afterwards on one in so many.
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

// TestConnectionsThatComeUpLate: most of slow's paths on which connections come up late together let them be late by more than a
// second, and every other one of its other paths.
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
