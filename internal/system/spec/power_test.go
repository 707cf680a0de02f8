package spec

import (
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestTogether: who may go down with whom, by each fault that takes a node down.
func TestTogether(t *testing.T) {
	for kind, down := range map[ariadne.ActionKind]ariadne.Down{world.Crash: ariadne.Crashed,
		world.Stop: ariadne.Stopped, world.Power: ariadne.PowerLost} {
		s := Spec{Nodes: []Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}, {Name: "c", Client: true}}}
		for i := range s.Nodes {
			s.Nodes[i].ID = ariadne.NodeID(i)
		}
		s.Faults[kind] = 1
		s.Outages[down].For = []time.Duration{time.Second}
		is := func(id ariadne.NodeID, lengths ...string) {
			var want []string
			for _, l := range lengths {
				want = append(want, down.String()+":"+l)
			}
			var got []string
			for _, f := range s.Within(id) {
				got = append(got, ariadne.Alternative(f))
			}
			if ok := s.Falls(id); !slices.Equal(got, want) || ok != (want != nil) || kind == world.Power &&
				s.LosesPower(id) != ok {
				t.Errorf("%s: %q, want %q", s.Nodes[id].Name, got, want)
			}
		}
		s.Outages[down].All = true
		is(1, "1s", "1s+n1", "1s+n3", "1s+n1+n3")
		s.Outages[down].All, s.Outages[down].Together, s.Outages[down].Nodes = false, [][]ariadne.NodeID{{1, 3}},
			[]ariadne.NodeID{0}
		is(0, "1s")
		is(1, "1s+c")
		is(2)
		is(3, "1s+n2")
	}
}
