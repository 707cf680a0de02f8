package world

import (
	"net/netip"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestLasts: a fault lasts while something is still to come that ends it, at the node or in the
// network.
func TestLasts(t *testing.T) {
	sync := func(to ariadne.NodeID) Flying {
		own := ariadne.OwnFlow(ariadne.Disk, netip.MustParseAddr("10.0.0.1"), 1)
		return Flying{Packet: &Packet{Message: ariadne.Message{Flow: own, To: to}}}
	}
	for _, c := range []struct {
		name string
		do   func(s *State)
		want bool
	}{
		{"nothing", func(*State) {}, false},
		{"the node comes back", func(s *State) { s.Nodes[0].Down, s.Nodes[0].Start = ariadne.Crashed, 9 }, true},
		{"the node is gone", func(s *State) { s.Nodes[0].Down = ariadne.Crashed }, false},
		{"another node comes back", func(s *State) { s.Nodes[1].Down, s.Nodes[1].Start = ariadne.Crashed, 9 }, false},
		{"a slow sync", func(s *State) { s.Flight = []Flying{sync(0)} }, true},
		{"another node's slow sync", func(s *State) { s.Flight = []Flying{sync(1)} }, false},
		{"a partition", func(s *State) { s.Cuts = []Standing{{Until: 9}} }, true},
		{"a partition for ever", func(s *State) { s.Cuts = []Standing{{Until: ariadne.Never}} }, false},
	} {
		s := &State{Nodes: []NodeState{{Start: ariadne.Never}, {Start: ariadne.Never}}}
		if c.do(s); s.Lasts(0) != c.want {
			t.Errorf("%s: a fault lasts: %v", c.name, !c.want)
		}
	}
}
