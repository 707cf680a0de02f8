package search_test

import (
	"maps"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// echo answers.
type echo struct{ worldtest.Idle }

func (echo) Receive(c *worldtest.Ctx, m ariadne.Message) { c.SendDatagram(m.From, "yes") }

// twice asks twice, and waits before each time.
type twice struct {
	worldtest.Idle
	asked int
}

func (*twice) Start(c *worldtest.Ctx) { c.SetTimer(2 * time.Millisecond) }
func (a *twice) Fire(c *worldtest.Ctx) {
	a.asked++
	c.SendDatagram(0, "well?")
}
func (a *twice) Receive(c *worldtest.Ctx, _ ariadne.Message) {
	if a.asked == 2 {
		c.Exit(0)
		return
	}
	c.SetTimer(2 * time.Millisecond)
}

// TestPhases: faults are counted in the phase that the steps before them make, whatever paths the
// search has come by.
func TestPhases(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("crash", 1),
		NodeFaults: []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0}, 2e6)},
		Partitions: []*world.Partition{world.NewPartition("a|b", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false, 0)}}
	rules.Faults[world.Cut], rules.Faults[world.Lose] = 1, 1
	s := small{rules: rules, clients: []int{1}, programs: func() []worldtest.Program {
		return []worldtest.Program{echo{}, &twice{}}
	}}
	all := map[search.Strike]int{}
	for _, e := range []strategy.Explorer{&strategy.DepthFirst{All: true}, &strategy.BreadthFirst{},
		&strategy.Random{Seed: 1, Draw: upTo(200)}} {
		x := s.exploration(t, e)
		want, in := map[search.Strike]int{}, [search.NumPhases]int{}
		x.Watch = func(p *space.Path) {
			if p.Steps() == 0 || !p.Taken(p.Steps()).IsFault() {
				return
			}
			e := p.Taken(p.Steps())
			strike := search.Strike{Kind: e.Kind, Node: e.Node, Phase: phaseOf(p)}
			if world.KindOf(e.Kind).World {
				strike.Node = ariadne.NoNode
			}
			want[strike]++
			in[strike.Phase]++
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(x.Coverage.Strikes, want) {
			t.Errorf("%T: %v, want %v", e, x.Coverage.Strikes, want)
		}
		if open := &x.Coverage.Open[world.Crash]; !open.Has(0) || open.Has(1) {
			t.Errorf("%T: crashes are possible at the server alone, not at %v", e, *open)
		}
		for s, n := range want {
			all[s] += n
		}
		t.Logf("%T: %v", e, in)
	}
	for _, wanted := range []search.Strike{
		{Kind: world.Crash, Node: 0, Phase: search.InStartup}, {Kind: world.Crash, Node: 0, Phase: search.InRequest},
		{Kind: world.Crash, Node: 0, Phase: search.BetweenRequests},
		{Kind: world.Cut, Node: ariadne.NoNode, Phase: search.InRecovery},
		{Kind: world.Lose, Node: ariadne.NoNode, Phase: search.InRequest},
	} {
		if all[wanted] == 0 {
			t.Errorf("no %v in %v", wanted, all)
		}
	}
}

// upTo hands out so many indices.
func upTo(n int) func() (int, bool) {
	next := -1
	return func() (int, bool) {
		next++
		return next, next < n
	}
}

// phaseOf is the phase before the last step of a path, found by looking at all steps from the
// first.
func phaseOf(p *space.Path) search.Phase {
	const server, client = 0, 1
	asked, answered, fell, rose := 0, 0, 0, 0
	for i := 1; i < p.Steps(); i++ {
		s := p.Step(i)
		sent := len(s.Output.Messages) > 0
		switch {
		case s.Output.Down != ariadne.Up:
			fell = i
		case s.Action.Node == server && sent:
			rose = i
		case s.Action.Node == client && sent:
			asked = i
		case s.Action.Node == client && s.Action.Kind == ariadne.ActDeliver:
			answered = i
		}
	}
	switch {
	case fell > rose:
		return search.InRecovery
	case asked == 0:
		return search.InStartup
	case asked > answered:
		return search.InRequest
	}
	return search.BetweenRequests
}
