package strategy

import (
	"slices"
	"testing"

	"ariadne"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// TestChanceOfEachKind: a kind of which there are many places leaves the others what they would
// have without it.
func TestChanceOfEachKind(t *testing.T) {
	taken := func(preempt uint8) (fails, lates int) {
		var s space.State
		s.Faults[world.Fail], s.Faults[world.Preempt] = 1, preempt
		for index := range 1000 {
			c := chance{}
			c.begin([]ariadne.ActionKind{world.Fail, world.Preempt}, origin{seed: 1, index: index, weights: &unweighted})
			passes := func(k ariadne.ActionKind) bool {
				i := slices.IndexFunc(c.kinds, func(l likely) bool { return l.Kind == k })
				return i >= 0 && c.kinds[i].passes()
			}
			for i := range 3000 {
				c.moments.steps = i
				c.ready(&s, nil)
				if i%500 == 0 && passes(world.Fail) {
					fails++
				}
				if passes(world.Preempt) {
					lates++
				}
			}
		}
		return fails, lates
	}
	alone, none := taken(0)
	fails, lates := taken(2)
	if alone < 100 || none != 0 || fails != alone {
		t.Errorf("%d paths of 1000 have a failure among 6, with late threads besides %d", alone, fails)
	}
	if lates < 700 {
		t.Errorf("%d threads are late in 1000 paths of two", lates)
	}
}
