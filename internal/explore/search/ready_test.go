package search_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// readied is ready when it is told to be.
type readied struct{ worldtest.Idle }

func (readied) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.Ready() }

// caller sends each of some nodes a datagram.
type caller struct {
	worldtest.Idle
	to []ariadne.NodeID
}

func (x caller) Start(c *worldtest.Ctx) {
	for _, to := range x.to {
		c.SendDatagram(to, "x")
	}
}

// TestWhoWaitsIsSwitchedOn: what is sent to a node that waits for another is lost in the orders in
// which that is ready later, and arrives in the others.
func TestWhoWaitsIsSwitchedOn(t *testing.T) {
	// Node 1 sends to node 3 when it gets a datagram: before node 0 does, which is what node 3
	// waits for, or after it.
	s := small{rules: world.Rules{Latency: time.Millisecond}, after: [][]ariadne.NodeID{3: {0}},
		programs: func() []worldtest.Program {
			return []worldtest.Program{readied{}, passes{to: 3}, caller{to: []ariadne.NodeID{0, 1}}, quietNode{}}
		}}
	want := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 1000)
	for name, e := range map[string]strategy.Explorer{"dpor": &strategy.DPOR{}, "sleep sets": &strategy.SleepSets{}} {
		got := explore(t, s.exploration(t, e), 0)
		same(t, got, want)
		t.Logf("%s: %d paths for %d traces", name, got.coverage.Paths, len(got.traces))
	}
	if len(want.traces) != 2 {
		t.Errorf("%d traces, want 2", len(want.traces))
	}
}

// passes sends a datagram on.
type passes struct {
	worldtest.Idle
	to ariadne.NodeID
}

func (x passes) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.SendDatagram(x.to, "x") }

// TestWaitsAgreeWithBruteForce: systems in which nodes wait for others, with all faults.
func TestWaitsAgreeWithBruteForce(t *testing.T) {
	waited := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t, 3, 3, rapid.Bool().Draw(t, "timers"))
		s.after = drawAfter(t, len(s.programs()))
		programs := s.programs
		s.programs = func() []worldtest.Program {
			all := programs()
			for _, p := range all {
				p.(*worldtest.Chaos).Readies = true
			}
			return all
		}
		want := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 600)
		if want.how != search.SearchExhausted {
			t.SkipNow()
		}
		if len(want.traces) > 1 {
			waited++
		}
		d := &strategy.DPOR{}
		same(t, explore(t, s.exploration(t, d), 0), want)
		if d.Impossible > 0 {
			t.Fatalf("%d reversals were not possible", d.Impossible)
		}
		same(t, explore(t, s.exploration(t, &strategy.SleepSets{}), 0), want)
		got := explore(t, s.exploration(t, &strategy.DepthFirst{}), 0)
		if len(got.states) != len(want.states) {
			t.Fatalf("depth first: %d states, want %d", len(got.states), len(want.states))
		}
	})
	t.Logf("%d systems with several traces", waited)
}
