package strategy

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestChanceOfEachKind: a kind of which there are many places leaves the others what they would
// have without it.
func TestChanceOfEachKind(t *testing.T) {
	taken := func(preempt uint8) (fails, lates int) {
		var s space.State
		s.Faults[world.Fail], s.Faults[world.Preempt] = 1, preempt
		for index := range 1000 {
			c := chance{}
			c.begin([]ariadne.ActionKind{world.Fail, world.Preempt},
				origin{seed: 1, index: index, weights: &unweighted})
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

// TestCrashesAtFiles: where paths have places at calls on files, half of the crashes within steps
// count only those. Failing calls count all places, and so do crashes where there is no such place.
func TestCrashesAtFiles(t *testing.T) {
	shares := func(kind ariadne.ActionKind, files int) (alone, all int) {
		var s space.State
		s.Faults[kind] = 1
		for index := range 1000 {
			var c chance
			c.moments.had.files = files
			c.begin([]ariadne.ActionKind{kind}, origin{seed: 2, index: index, length: 100, weights: &unweighted})
			if len(c.kinds) == 0 {
				continue
			}
			c.ready(&s, nil)
			c.kinds[0].wait = wait{}
			if !c.counts(0, 1, "7/pwrite64/before:/node/wal#1") {
				t.Fatal("a place at a file is not counted")
			}
			if c.counts(0, 1, "7/sendto/before#1") {
				all++
			} else {
				alone++
			}
		}
		return alone, all
	}
	if alone, all := shares(world.Crash, 3); 2*alone < all || 2*all < alone {
		t.Errorf("on %d paths crashes count places at files alone, on %d all places", alone, all)
	}
	for kind, files := range map[ariadne.ActionKind]int{world.Crash: 0, world.Fail: 3} {
		if alone, _ := shares(kind, files); alone > 0 {
			t.Errorf("on %d paths %s counts places at files alone", alone, world.KindOf(kind).Name)
		}
	}
}

// TestEvenPaths: a part of the paths waits for no moments, if earlier paths may matter.
func TestEvenPaths(t *testing.T) {
	const paths = 400
	even, waits := 0, 0
	for index := range paths {
		var c chance
		c.begin([]ariadne.ActionKind{world.Crash},
			origin{seed: 5, index: index, length: 1000, weights: &unweighted, features: &Features{}})
		some := false
		for range 20 {
			some = some || c.moments.draw(&c.strike.draw, 1000) != wait{}
		}
		switch {
		case c.moments.evenly && some:
			t.Fatalf("path %d waits for moments", index)
		case c.moments.evenly:
			even++
		case some:
			waits++
		}
		c.begin(nil, origin{seed: 5, index: index, weights: &unweighted})
		if c.moments.evenly {
			t.Fatalf("path %d depends on others", index)
		}
	}
	if even < paths/8 || even > paths/2 || even+waits < paths {
		t.Errorf("of %d paths %d wait for no moments, and %d do", paths, even, waits)
	}
}
