package memotest

import (
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// Living returns the source of a system whose nodes live. Each execution has programs of
// its own.
func Living(y *world.System, programs func() []worldtest.Program) *memo.Living {
	return (&Instances{Programs: programs}).Living(y)
}

// Living is the same with what else there is to say of the nodes.
func (m *Instances) Living(y *world.System) *memo.Living {
	var start []func() (memo.Instance, error)
	for i := range y.Nodes() {
		start = append(start, func() (memo.Instance, error) { return alive{m.automaton(i)}, nil })
	}
	return memo.NewLiving(y, start, nil)
}

type alive struct{ *worldtest.Automaton }

func (alive) Close() error { return nil }
