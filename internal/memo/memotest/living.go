package memotest

import (
	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/world"
	"ariadne/internal/world/worldtest"
)

// Living returns the source of a system whose nodes live. Each execution has programs of
// its own.
func Living(y *world.System, programs func() []worldtest.Program) *memo.Living {
	var start []func() (memo.Instance, error)
	for i := range y.Nodes() {
		start = append(start, func() (memo.Instance, error) {
			return alive{worldtest.NewAutomaton(ariadne.NodeID(i), programs()[i])}, nil
		})
	}
	return memo.NewLiving(y, start, nil)
}

type alive struct{ *worldtest.Automaton }

func (alive) Close() error { return nil }
