package search_test

import (
	"maps"
	"regexp"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// kindsAlone are kinds of faults, and forms of them, each of which is searched alone.
var kindsAlone = []struct {
	name string
	set  func(t *rapid.T, r *world.Rules, x *worldtest.Chaos)
}{
	{"kill", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Kill], x.Kills = budget(t), true
	}},
	{"kill with restart", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Kill], x.Kills, x.Within = budget(t), true, rapid.Bool().Draw(t, "within")
		x.Restart = time.Duration(rapid.IntRange(1, 5).Draw(t, "restart ms")) * time.Millisecond
	}},
	{"fail of calls on connections", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Fail], x.Opens, x.Nets = budget(t), rapid.Bool().Draw(t, "opens"), []ariadne.NodeID{0, 1, 2}
	}},
	{"fail of calls on connections to a peer", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Fail], x.Opens, x.Nets = budget(t), rapid.Bool().Draw(t, "opens"), []ariadne.NodeID{1}
	}},
	{"join", func(t *rapid.T, r *world.Rules, _ *worldtest.Chaos) { r.Faults[world.Join] = budget(t) }},
	{"join and split", func(t *rapid.T, r *world.Rules, _ *worldtest.Chaos) {
		r.Faults[world.Join], r.Faults[world.Split] = budget(t), 1
	}},
	{"join and lines first", func(t *rapid.T, r *world.Rules, _ *worldtest.Chaos) {
		r.Faults[world.Join], r.After[world.Join] = budget(t), regexp.MustCompile("step [2-9]")
	}},
	{"stall", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Stall], x.Syncs = budget(t), stalls(t)
	}},
	{"stall and outages", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Stall], r.Faults[world.Crash], r.Faults[world.Power], x.Syncs = budget(t), 1,
			uint8(rapid.IntRange(0, 1).Draw(t, "power")), stalls(t)
		r.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1}, 0),
			world.Outages(ariadne.PowerLost, []ariadne.NodeID{0}, 0)}
		x.Writes = true
	}},
	{"stall and slow network", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Stall], r.Faults[world.Slow], x.Syncs = budget(t), 1, stalls(t)
		r.Partitions = []*world.Partition{world.NewPartition("n1", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false,
			2e6).WithLateness(3e6)}
	}},
	{"crash and a line of another node", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Crash] = budget(t)
		r.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1}, 0)}
		lineOf(t, r, world.Crash)
		x.Writes = true
	}},
	{"stop and a line of another node", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Stop], r.Faults[world.Kill], x.Kills = 1, uint8(rapid.IntRange(0, 1).Draw(t, "kill")), true
		r.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1}, 0)}
		lineOf(t, r, world.Stop)
		lineOf(t, r, world.Kill)
	}},
	{"messages and a line of another node", func(t *rapid.T, r *world.Rules, _ *worldtest.Chaos) {
		k := rapid.SampledFrom([]ariadne.ActionKind{world.Lose, world.Reset, world.Join}).Draw(t, "kind")
		r.Faults[k] = budget(t)
		lineOf(t, r, k)
	}},
	{"cut and a line of another node", func(t *rapid.T, r *world.Rules, _ *worldtest.Chaos) {
		r.Faults[world.Cut] = 1
		r.Partitions = []*world.Partition{world.NewPartition("n1", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false,
			2e6)}
		lineOf(t, r, world.Cut)
	}},
	{"fail of calls on connections and a line of another node", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Fail], x.Opens, x.Nets = budget(t), rapid.Bool().Draw(t, "opens"), []ariadne.NodeID{0, 1, 2}
		lineOf(t, r, world.Fail)
	}},
	{"drift", func(t *rapid.T, r *world.Rules, _ *worldtest.Chaos) {
		r.Faults[world.Drift], r.NodeFaults = budget(t),
			[]world.NodeFaults{world.Drifts([]ariadne.NodeID{0, 1}, 500_000, -300_000)}
	}},
	{"drift and outages", func(t *rapid.T, r *world.Rules, x *worldtest.Chaos) {
		r.Faults[world.Drift], r.Faults[world.Stop], r.Faults[world.Pause] = budget(t), 1, 1
		r.NodeFaults = []world.NodeFaults{world.Drifts([]ariadne.NodeID{0}, 500_000),
			world.Outages(ariadne.Stopped, []ariadne.NodeID{0}, 0),
			world.Outages(ariadne.Paused, []ariadne.NodeID{0}, 4e6)}
		x.Writes = true
	}},
}

// stalls are how long syncs may take.
func stalls(t *rapid.T) []time.Duration {
	return []time.Duration{0, 2 * time.Millisecond, time.Millisecond}[:rapid.IntRange(1, 3).Draw(t, "lengths of syncs")]
}

// lineOf has a line of one node come before faults of a kind.
func lineOf(t *rapid.T, r *world.Rules, k ariadne.ActionKind) {
	if r.After[k] = regexp.MustCompile(rapid.SampledFrom([]string{"step [2-9]", "step 1", "step [3-9]"}).Draw(t,
		"line")); r.AfterOf == nil {
		r.AfterOf = map[ariadne.ActionKind]ariadne.NodeID{}
	}
	r.AfterOf[k] = ariadne.NodeID(rapid.IntRange(0, 1).Draw(t, "of"))
}

func budget(t *rapid.T) uint8 { return uint8(rapid.IntRange(1, 2).Draw(t, "budget")) }

// TestKindsAgreeWithBruteForce: with one kind of fault alone, every exhaustive strategy finds the
// states that there are, or the traces if it takes one path of each, with one worker and with two.
func TestKindsAgreeWithBruteForce(t *testing.T) {
	for _, k := range kindsAlone {
		t.Run(k.name, func(t *testing.T) {
			struck, spaces := 0, 0
			one := func(t *rapid.T) {
				n := rapid.IntRange(2, 3).Draw(t, "nodes")
				x := worldtest.Chaos{Nodes: n, Seed: rapid.Uint64().Draw(t, "seed"),
					Acts: rapid.IntRange(1, 4).Draw(t, "acts"), Exits: rapid.SampledFrom([]int{3, 40}).Draw(t, "exits"),
					NoTimers: rapid.Bool().Draw(t, "no timers"), Spares: rapid.IntRange(0, 3).Draw(t, "spares") == 0}
				s := small{rules: world.Rules{Grid: 2e6,
					Latency:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond,
					ClockError: time.Duration(rapid.IntRange(0, 2).Draw(t, "E ms")) * time.Millisecond,
					Delays:     rapid.IntRange(0, 1).Draw(t, "delays")}}
				k.set(t, &s.rules, &x)
				s.programs = func() (all []worldtest.Program) {
					for range n {
						x := x
						all = append(all, &x)
					}
					return all
				}
				want := brute(t, s)
				spaces++
				for _, f := range want.coverage.Faults {
					struck += f.Paths
				}
				for name := range divisible() {
					for _, workers := range []int{1, 2} {
						got := s.together(t, divisible()[name].Divide(workers), nil)
						if got.how != search.SearchExhausted || !maps.Equal(got.traces, want.traces) &&
							(name == "DPOR" || name == "sleep sets" || name == "all paths") {
							t.Fatalf("%s, %d workers: %s with %d traces, want %d", name, workers, got.how,
								len(got.traces), len(want.traces))
						}
						if _, one := divisible()[name].(*strategy.DPOR); !one && name != "sleep sets" &&
							!maps.Equal(got.states, want.states) {
							t.Fatalf("%s, %d workers: %d states, want %d", name, workers, len(got.states),
								len(want.states))
						}
					}
				}
			}
			// of some kinds few systems have a fault
			for round := 0; round < 10 && struck == 0; round++ {
				rapid.Check(t, one)
			}
			if t.Logf("%d spaces, %d paths with a fault", spaces, struck); struck == 0 && !testing.Short() {
				t.Error("no fault was met")
			}
		})
	}
}
