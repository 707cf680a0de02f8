package search_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestRecall: who knows of a path only where it was not natural takes it again, in another search
// of the same system; in a search of another one the path goes its own way, and nothing fails.
func TestRecall(t *testing.T) {
	const walks = 60
	system := func(seed uint64) small {
		rules := world.Rules{Latency: time.Millisecond, ClockError: time.Millisecond, Delays: 2, Grid: 2e6,
			Faults:     worldtest.Faults("fail", 2),
			NodeFaults: []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1}, 0, 2e6)},
			Partitions: []*world.Partition{world.NewPartition("a|b", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false,
				0)}}
		rules.Faults[world.Crash], rules.Faults[world.Cut] = 1, 1
		return small{rules: rules, programs: func() (all []worldtest.Program) {
			for range 3 {
				all = append(all, &worldtest.Chaos{Nodes: 3, Seed: seed, Acts: 6, Tries: true, Chooses: true})
			}
			return all
		}}
	}
	names := func(p *space.Path) (all []string) {
		for i := range p.Steps() {
			all = append(all, p.Step(i+1).Name)
		}
		return all
	}
	paths := func(s small, e strategy.Explorer, each func(p *space.Path)) {
		x, n := s.exploration(t, e), 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			each(p)
			n++
			return n < walks
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	}
	varied := 0
	for seed := range uint64(8) {
		var prefixes []strategy.Prefix
		var want [][]string
		paths(system(seed), &strategy.Walks{Seed: seed}, func(p *space.Path) {
			x := strategy.PrefixOf(p)
			for _, d := range x.Deviations {
				if d.Vary != "" {
					varied++
				}
			}
			prefixes, want = append(prefixes, x), append(want, names(p))
		})
		data, err := json.Marshal(prefixes)
		if err != nil {
			t.Fatal(err)
		}
		var known []strategy.Prefix
		if err := json.Unmarshal(data, &known); err != nil {
			t.Fatal(err)
		}
		n := 0
		paths(system(seed), &strategy.Recall{Prefixes: known}, func(p *space.Path) {
			if got := names(p); !slices.Equal(got, want[n]) {
				t.Errorf("seed %d: path %d:\n%q, want\n%q", seed, n, got, want[n])
			}
			n++
		})
		if n != walks {
			t.Errorf("seed %d: %d of %d paths were taken", seed, n, walks)
		}
		n = 0
		paths(system(seed+1), &strategy.Recall{Prefixes: known}, func(*space.Path) { n++ })
		if n != walks {
			t.Errorf("seed %d: in another system %d of %d paths were taken", seed, n, walks)
		}
	}
	if varied == 0 {
		t.Error("no step was varied")
	}
}
