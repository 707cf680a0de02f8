package world_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestNodesWaitForOthers: by the steps alone, a node that waits is switched on when the last of
// those that it waits for was ready first, not before that and at that time, and it does not wait
// again after a fault.
func TestNodesWaitForOthers(t *testing.T) {
	waited, again := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 0))
		rules := world.Rules{Latency: time.Millisecond, Delays: 2, Faults: worldtest.Faults("crash", 1), Grid: 2e6,
			NodeFaults: []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1, 2, 3}, 1e6)}}
		rules.Faults[world.Stop] = 1
		rules.NodeFaults = append(rules.NodeFaults, world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1, 2, 3}, 6e6))
		var programs []worldtest.Program
		for range 4 {
			programs = append(programs, &worldtest.Chaos{Nodes: 4, Seed: seed, Acts: 5, Readies: true})
		}
		nodes := worldtest.Nodes(programs...)
		nodes[1].After, nodes[3].After = []ariadne.NodeID{0}, []ariadne.NodeID{1, 2}
		nodes[2].Start, nodes[1].Start = 3e6, 1e6
		w := worldtest.New(rules, nodes, worldtest.Automata(programs...))
		first := make([]ariadne.Time, 4) // when each was ready first
		for i := range first {
			first[i] = ariadne.Never
		}
		on := make([]bool, 4)
		for range 60 {
			enabled := w.Enabled()
			for _, a := range enabled {
				if a.Kind == ariadne.ActStart && !on[a.Node] &&
					slices.ContainsFunc(nodes[a.Node].After, func(x ariadne.NodeID) bool {
						return first[x] == ariadne.Never
					}) {
					t.Fatalf("seed %d: %s may be switched on", seed, nodes[a.Node].Name)
				}
			}
			if len(enabled) == 0 {
				break
			}
			s, err := w.Apply(enabled[r.IntN(len(enabled))])
			if err != nil {
				t.Fatal(err)
			}
			id := s.Action.Node
			if s.Action.Kind == ariadne.ActStart && nodes[id].After != nil {
				want := nodes[id].Start
				for _, x := range nodes[id].After {
					want = max(want, first[x])
				}
				switch {
				case on[id]:
					again++
				case s.At != want:
					t.Fatalf("seed %d: %s is switched on at %v, want %v", seed, nodes[id].Name, s.At, want)
				default:
					waited++
				}
			}
			on[id] = true
			if s.Output.Ready {
				first[id] = min(first[id], s.Output.Clock)
			}
		}
		// one that could have been switched on has been, or may be now
		for _, id := range []ariadne.NodeID{1, 3} {
			ready := !slices.ContainsFunc(nodes[id].After, func(x ariadne.NodeID) bool {
				return first[x] == ariadne.Never
			})
			if ready && !on[id] && w.State().Nodes[id].Start == ariadne.Never {
				t.Fatalf("seed %d: %s waits for what is ready", seed, nodes[id].Name)
			}
		}
	}
	if waited < 100 || again < 10 {
		t.Errorf("%d nodes have waited, %d came back", waited, again)
	}
}
