package search_test

import (
	"maps"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// drawOutages draws a system with two faults in an execution or more, at least one of which takes a
// node down, among nodes that refuse faults for some time.
func drawOutages(t *rapid.T) small {
	n := rapid.IntRange(2, 3).Draw(t, "nodes")
	x := worldtest.Chaos{Nodes: n, Seed: rapid.Uint64().Draw(t, "seed"), Acts: rapid.IntRange(1, 3).Draw(t, "acts"),
		Exits:    rapid.SampledFrom([]int{3, 40}).Draw(t, "exits"),
		NoTimers: rapid.Bool().Draw(t, "no timers"), Spares: true, Writes: true, Limits: rapid.Bool().Draw(t, "limits")}
	s := small{rules: world.Rules{Grid: 2e6, Latency: time.Millisecond}}
	if rapid.Bool().Draw(t, "times") {
		s.rules.Latency = time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond
		s.rules.ClockError = time.Duration(rapid.IntRange(0, 2).Draw(t, "E ms")) * time.Millisecond
		s.rules.Delays = rapid.IntRange(0, 1).Draw(t, "delays")
		s.starts = rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "starts ms")
	}
	of := func(down ariadne.Down) {
		var ids []ariadne.NodeID
		for i := range rapid.IntRange(1, n).Draw(t, "of") {
			ids = append(ids, ariadne.NodeID(i))
		}
		lengths := [][]time.Duration{{0}, {1e6, 6e6}, {ariadne.Ever},
			{0, ariadne.Ever}}[rapid.IntRange(0, 3).Draw(t, "for")]
		if down == ariadne.Paused {
			lengths = []time.Duration{4e6}
		}
		if down != ariadne.Paused && len(ids) > 1 && rapid.Bool().Draw(t, "together") {
			s.rules.NodeFaults = append(s.rules.NodeFaults,
				world.OutagesTogether(down, ids, []string{"n1", "n2", "n3"}, lengths...)...)
			return
		}
		s.rules.NodeFaults = append(s.rules.NodeFaults, world.Outages(down, ids, lengths...))
	}
	b := &s.rules.Faults
	kinds := []ariadne.ActionKind{world.Crash, world.Stop, world.Power, world.Pause, world.Kill, world.Cut}
	downs := []ariadne.Down{ariadne.Crashed, ariadne.Stopped, ariadne.PowerLost, ariadne.Paused}
	for left := 2; left > 0; left-- {
		kind := rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")
		if left == 1 && b[world.Cut]+b[world.Pause]+b[world.Kill] > 0 {
			kind = rapid.IntRange(0, 2).Draw(t, "outage")
		}
		if b[kinds[kind]]++; b[kinds[kind]] > 1 {
			continue
		}
		switch k := kinds[kind]; k {
		case world.Kill:
			x.Kills = true
		case world.Cut:
			s.rules.Partitions = drawParts(t, n)
		default:
			of(downs[kind])
		}
	}
	s.rules.GiveUp = time.Duration(rapid.SampledFrom([]int{0, 4, 6}).Draw(t, "give up ms")) * time.Millisecond
	s.between = rapid.Bool().Draw(t, "between")
	s.programs = func() (all []worldtest.Program) {
		for range n {
			x := x
			all = append(all, &x)
		}
		return all
	}
	return s
}

// TestOutagesAgreeWithBruteForce: of systems in which two outages meet nodes that refuse faults for
// some time, strategies that take one path of each trace find all.
func TestOutagesAgreeWithBruteForce(t *testing.T) {
	spaces, struck := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawOutages(t)
		want := brute(t, s)
		spaces++
		for _, f := range want.coverage.Faults {
			struck += f.Paths
		}
		for name, e := range map[string]strategy.Explorer{"DPOR": &strategy.DPOR{},
			"sleep sets": &strategy.SleepSets{}} {
			got := explore(t, s.exploration(t, e), 0)
			if got.how != search.SearchExhausted || !maps.Equal(got.traces, want.traces) {
				for h, p := range want.paths {
					if !got.traces[h] {
						t.Logf("missing: %s", p)
					}
				}
				t.Fatalf("%s: %s with %d traces, want %d", name, got.how, len(got.traces), len(want.traces))
			}
		}
	})
	if t.Logf("%d spaces, %d paths with a fault", spaces, struck); struck == 0 {
		t.Error("no fault struck")
	}
}
