package search_test

import (
	"encoding/binary"
	"maps"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// TestUsersIndependence: one node takes all that it is given without a word, and the
// user says so. Then a path stands for all that differ in the order of what that node
// is given: all of those are found, by one path each.
func TestUsersIndependence(t *testing.T) {
	saved, paths := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 4).Draw(t, "nodes")
		seed := rapid.Uint64().Draw(t, "seed")
		acts := rapid.IntRange(1, 3).Draw(t, "acts")
		s := small{rules: world.Rules{Latency: time.Millisecond,
			Faults: worldtest.Faults("duplicate", rapid.IntRange(0, 1).Draw(t, "duplicates"))}}
		s.programs = func() []worldtest.Program {
			p := []worldtest.Program{quietNode{}}
			for range n - 1 {
				p = append(p, &worldtest.Chaos{Nodes: n, Seed: seed, Acts: acts, NoTimers: true})
			}
			return p
		}
		want := map[hash.Hash]bool{}
		all := s.exploration(t, &strategy.DepthFirst{All: true})
		if f := exploreLoose(t, all, want, 3000); f.how != search.SearchExhausted {
			t.SkipNow()
		}
		for name, e := range map[string]strategy.Explorer{"sleep sets": &strategy.SleepSets{},
			"DPOR": &strategy.DPOR{}} {
			x := s.exploration(t, e)
			x.Space.Independent = func(a, b *memo.Transition) bool { return a.From.Node == 0 }
			got := map[hash.Hash]bool{}
			f := exploreLoose(t, x, got, 0)
			if f.how != search.SearchExhausted || !maps.Equal(got, want) || f.coverage.Paths != len(want) {
				t.Fatalf("%s: %s after %d paths to %d, want %d", name, f.how, f.coverage.Paths, len(got), len(want))
			}
			saved, paths = saved+all.Coverage.Paths-f.coverage.Paths, paths+f.coverage.Paths
		}
	})
	t.Logf("%d paths instead of %d", paths, paths+saved)
	if saved == 0 {
		t.Error("nothing was saved")
	}
}

// exploreLoose runs a search and collects what its complete paths are but for the order
// of what node 0 was given.
func exploreLoose(t failer, x *search.Exploration, into map[hash.Hash]bool, most int) found {
	f := newFound()
	n := 0
	x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
		if end == search.EndQuiet {
			var h hash.Hash
			add := func(g hash.Hash) { h.Hi, h.Lo = h.Hi+g.Hi, h.Lo+g.Lo }
			for i := 1; i <= p.Len(); i++ {
				if in := p.Transition(i).Input; p.Event(i).Node == 0 {
					add(in.Key())
				}
			}
			for i, s := range p.Last().State.Nodes[1:] {
				add(hash.Of(binary.LittleEndian.Uint64(s.Local.Name[:]), binary.LittleEndian.Uint64(s.Local.Name[8:]),
					uint64(i)))
			}
			into[h] = true
		}
		n++
		return most == 0 || n < most
	}
	var err error
	if f.how, err = x.Run(); err != nil {
		t.Fatal(err)
	}
	f.coverage = x.Coverage
	return f
}

// TestFaultsThatFitCommute: of k datagrams, each to a node of its own, up to b arrive once more, or
// are lost. The order of these events is no matter, nor is which of them is the last of the budget:
// there are as many traces as ways to share it among the datagrams, or not to use it up.
func TestFaultsThatFitCommute(t *testing.T) {
	for _, c := range []struct {
		kind                      string
		datagrams, budget, traces int
	}{
		{"duplicate", 1, 1, 2}, {"duplicate", 1, 3, 4}, {"duplicate", 2, 1, 3}, {"duplicate", 2, 2, 6},
		{"duplicate", 3, 1, 4}, {"duplicate", 3, 2, 10}, {"duplicate", 4, 3, 35},
		{"lose", 1, 1, 2}, {"lose", 1, 3, 2}, {"lose", 2, 1, 3}, {"lose", 2, 2, 4}, {"lose", 3, 2, 7},
		{"lose", 4, 3, 15},
	} {
		s := small{rules: world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults(c.kind, c.budget)}}
		s.programs = func() []worldtest.Program {
			p := []worldtest.Program{throws{to: c.datagrams}}
			for range c.datagrams {
				p = append(p, quietNode{})
			}
			return p
		}
		check := func(name string, got found) {
			if got.how != search.SearchExhausted || len(got.traces) != c.traces || got.coverage.Paths != c.traces {
				t.Errorf("%d datagrams, %s, budget %d: %s: %s with %d traces and %d paths, want %d", c.datagrams, c.kind, c.budget, name, got.how, len(got.traces), got.coverage.Paths, c.traces)
			}
		}
		check("DPOR", explore(t, s.exploration(t, &strategy.DPOR{}), 0))
		check("sleep sets", explore(t, s.exploration(t, &strategy.SleepSets{}), 0))
		check("DPOR by two", s.together(t, (&strategy.DPOR{}).Divide(2), nil))
	}
}

// throws sends a datagram to each of the nodes after it.
type throws struct {
	worldtest.Idle
	to int
}

func (n throws) Start(c *worldtest.Ctx) {
	for i := range n.to {
		c.SendDatagram(ariadne.NodeID(i+1), "m")
	}
}
