package spec

import (
	"slices"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/world"
)

// TestTogether: who may lose power with whom.
func TestTogether(t *testing.T) {
	s := Spec{Nodes: []Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}, {Name: "c", Client: true}}}
	for i := range s.Nodes {
		s.Nodes[i].ID = ariadne.NodeID(i)
	}
	s.Faults[world.Power] = 1
	s.Outages[ariadne.PowerLost].For = []time.Duration{time.Second}
	of := func(id ariadne.NodeID) []string {
		all, _ := s.Falls(id)
		return all
	}
	s.Power.All = true
	if got, want := of(1), []string{"power:1s", "power:1s+n1", "power:1s+n3", "power:1s+n1+n3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Power.All, s.Power.Together, s.Outages[ariadne.PowerLost].Nodes = false, [][]ariadne.NodeID{{1, 3}}, []ariadne.NodeID{0}
	for id, want := range [][]string{{"power:1s"}, {"power:1s+c"}, nil, {"power:1s+n2"}} {
		if got := of(ariadne.NodeID(id)); !slices.Equal(got, want) || s.LosesPower(ariadne.NodeID(id)) != (want != nil) {
			t.Errorf("%s: %q, want %q", s.Nodes[id].Name, got, want)
		}
	}
}
