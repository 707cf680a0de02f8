package strategy_test

import (
	"slices"
	"testing"

	"ariadne"
	"ariadne/internal/search/strategy"
)

func actions(n int) []ariadne.Action {
	var s []ariadne.Action
	for i := range n {
		s = append(s, ariadne.Action{Kind: ariadne.ActFire, Node: ariadne.NodeID(i)})
	}
	return s
}

// walk is what a strategy chooses of ten actions, n times.
func walk(s strategy.Strategy, n int) []int {
	var path []int
	for range n {
		a, ok := s.Next(nil, actions(10))
		if !ok {
			break
		}
		path = append(path, int(a.Node))
	}
	return path
}

func TestFirstExecutionIsNatural(t *testing.T) {
	for _, i := range walk(strategy.ForExecution(1, 0), 100) {
		if i != 0 {
			t.Fatal("execution 0 deviates")
		}
	}
}

func TestWalksDependOnSeedAndIndexAlone(t *testing.T) {
	base := walk(strategy.ForExecution(7, 13), 100)
	if !slices.Equal(base, walk(strategy.ForExecution(7, 13), 100)) {
		t.Error("the same walk differs")
	}
	if slices.Equal(base, walk(strategy.ForExecution(8, 13), 100)) {
		t.Error("another seed makes the same walk")
	}
	if slices.Equal(base, walk(strategy.ForExecution(7, 13+6), 100)) {
		t.Error("another index makes the same walk")
	}
}

// TestTempers: walks take turns in how often they deviate, from always to one
// step in 32.
func TestTempers(t *testing.T) {
	const n = 20000
	for index := 1; index <= 12; index++ {
		deviations := 0
		for _, i := range walk(strategy.ForExecution(3, index), n) {
			if i != 0 {
				deviations++
			}
		}
		want := n * 9 / 10 >> ((index - 1) % 6)
		if deviations < want*8/10 || deviations > want*12/10 {
			t.Errorf("walk %d deviates %d times in %d, want about %d", index, deviations, n, want)
		}
	}
}
