package strategy

import (
	"regexp"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// TestIndependentEventsCommute executes both orders of each pair of enabled events
// that are said to be independent, in the states of random walks: each must leave
// the other possible, at the same time and with the same outcome, and both orders
// must lead to the same state.
func TestIndependentEventsCommute(t *testing.T) {
	pairs, dependent, exclusive := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := world.Rules{
			Latency:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond,
			ClockError: time.Duration(rapid.IntRange(0, 3).Draw(t, "E ms")) * time.Millisecond,
			Delays:     rapid.IntRange(0, 3).Draw(t, "delays"),
			MaxDelay:   time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "max delay ms")) * time.Millisecond,
			Faults:     worldtest.Faults("duplicate", rapid.IntRange(0, 2).Draw(t, "duplicates")),
			Combined:   rapid.IntRange(1, 2).Draw(t, "combined"),
			GiveUp:     time.Duration(rapid.SampledFrom([]int{0, 4, 6}).Draw(t, "give up ms")) * time.Millisecond,
		}
		r.Faults[world.Fail] = uint8(rapid.IntRange(0, 2).Draw(t, "fails"))
		n := rapid.IntRange(2, 4).Draw(t, "nodes")
		r.Grid = 2e6
		all := []ariadne.NodeID{0, 1, 2, 3}[:n]
		lengths := []time.Duration{0, 8e6, ariadne.Ever}[:rapid.IntRange(1, 3).Draw(t, "lengths")]
		r.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Crashed, all, lengths...),
			world.Outages(ariadne.Stopped, all, lengths...),
			world.Outages(ariadne.Paused, all, 0, 5e6), world.Jumps(all, 1e6, -3e6),
			world.Drifts(all, 400_000, -300_000)}
		names := []string{"n1", "n2", "n3", "n4"}
		r.NodeFaults = append(r.NodeFaults, world.Outages(ariadne.PowerLost, all[1:], lengths...))
		for _, down := range []ariadne.Down{ariadne.Crashed, ariadne.Stopped} {
			if rapid.IntRange(0, 2).Draw(t, down.String()+" together") == 0 {
				r.NodeFaults = append(r.NodeFaults, world.OutagesTogether(down, all[:2], names, lengths[0])...)
			}
		}
		r.NodeFaults = append(append(r.NodeFaults,
			world.OutagesTogether(ariadne.PowerLost, all[:2], names, lengths...)...),
			world.OutagesTogether(ariadne.PowerLost, all, names, lengths[0])...)
		for _, length := range lengths {
			one, other := world.NewPartition("n1", all[:1], all[1:], false, length),
				world.NewPartition("n2", all[1:2], all[:1], true, length)
			r.Partitions = append(r.Partitions, one, other, one.WithLateness(2e6), other.WithLateness(5e6))
		}
		for _, k := range []ariadne.ActionKind{world.Crash, world.Stop, world.Pause, world.Jump, world.Kill,
			world.Power, world.Cut, world.Slow, world.Lose, world.Reset, world.Refuse, world.Split, world.Join,
			world.Drift, world.Stall} {
			r.Faults[k] = uint8(rapid.IntRange(0, 2).Draw(t, world.KindOf(k).Name))
		}
		for _, k := range world.Kinds() {
			if r.Faults[k] > 0 && rapid.IntRange(0, 3).Draw(t, world.KindOf(k).Name+" after") == 0 {
				r.After[k] = regexp.MustCompile("step [2-9]")
				if rapid.Bool().Draw(t, world.KindOf(k).Name+" after another's") {
					if r.AfterOf == nil {
						r.AfterOf = map[ariadne.ActionKind]ariadne.NodeID{}
					}
					r.AfterOf[k] = ariadne.NodeID(rapid.IntRange(0, 1).Draw(t, "of"))
				}
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		limits := rapid.Bool().Draw(t, "limits")
		opens := rapid.Bool().Draw(t, "opens")
		chooses := rapid.Bool().Draw(t, "chooses")
		restart := time.Duration(rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "restart ms")) * time.Millisecond
		within := r.Faults[world.Kill] > 0 && rapid.Bool().Draw(t, "kills within steps")
		var nets []ariadne.NodeID
		if r.Faults[world.Fail] > 0 && rapid.Bool().Draw(t, "connections fail") {
			nets = all[rapid.IntRange(0, 1).Draw(t, "peers from"):]
		}
		var syncs []time.Duration
		if r.Faults[world.Stall] > 0 {
			syncs = []time.Duration{0, 2e6}
		}
		spares := rapid.Bool().Draw(t, "spares")
		programs := func() []worldtest.Program {
			var p []worldtest.Program
			for range n {
				p = append(p,
					&worldtest.Chaos{Nodes: n, Seed: seed, Tries: r.Faults[world.Fail] > 0, Spares: spares,
						Chooses: chooses, Limits: limits, Opens: opens, Kills: r.Faults[world.Kill] > 0,
						Restart: restart, Within: within, Nets: nets, Syncs: syncs})
			}
			return p
		}
		y := world.NewSystem(r, worldtest.Nodes(programs()...))
		m, err := memo.Open(y, memo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := memo.NewExecutor(m, (&memotest.Instances{Programs: programs, Grid: r.Grid}).Boot(),
			memo.Limits{Checkpoints: 20})
		defer x.Close()
		states := space.New(y, m, x)
		states.Unfold = true // variations commute, too
		path, err := space.NewPath(states, space.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		rel := relation{rules: &r}
		for _, c := range rapid.SliceOfN(rapid.IntRange(0, 10), 0, 40).Draw(t, "choices") {
			f := path.Last()
			if len(f.Enabled) == 0 {
				break
			}
			for i := range f.Enabled {
				for j := range i {
					a, b := outcome(t, path, f, i), outcome(t, path, f, j)
					if rel.dependent(a, b) != rel.dependent(b, a) {
						t.Fatal("dependence is not symmetric")
					}
					if pairs++; rel.dependent(a, b) {
						dependent++
						continue
					}
					if fits(&f.State, a, b) {
						commute(t, path, f, a, b)
					} else {
						exclusive++
					}
				}
			}
			if err := path.Push(c % len(f.Enabled)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if t.Logf("%d of %d pairs are dependent, of %d there is budget for one", dependent, pairs, exclusive); dependent == 0 || dependent == pairs || exclusive == 0 {
		t.Error("nothing was compared")
	}
}

// fits reports whether there is budget for both in a state. If not, each keeps the other from
// happening, and nothing else is to be compared.
func fits(s *space.State, a, b *act) bool {
	for k := range s.Faults {
		if int(a.Costs[k])+int(b.Costs[k]) > int(s.Faults[k]) {
			return false
		}
	}
	return true
}

func outcome(t *rapid.T, p *space.Path, f *space.Frame, i int) *act {
	var s space.State
	s.CopyFrom(&f.State)
	by, err := p.Space().Step(&s, &f.Enabled[i])
	if err != nil {
		t.Fatal(err)
	}
	id := f.Enabled[i].Node
	return newAct(p, &f.Enabled[i], &f.State.Nodes[id], f.State.IsDeaf(id), by)
}

func commute(t *rapid.T, p *space.Path, f *space.Frame, a, b *act) {
	var ends [2]hash.Hash
	for i, order := range [][2]*act{{a, b}, {b, a}} {
		var s space.State
		s.CopyFrom(&f.State)
		for _, x := range order {
			found := false
			events := p.System().Enabled(&s.State, nil)
			for i := range events {
				var err error
				if events, err = p.Space().Variations(&s, &events[i], events); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range events {
				if !e.SameAction(&x.event) {
					continue
				}
				found = true
				if by, err := p.Space().Step(&s, &e); err != nil || !x.hasNoInput() && by.To.Name != x.by.To.Name {
					t.Fatalf("%v: another outcome, %v", e.Action(), err)
				}
				break
			}
			if !found {
				t.Fatalf("%v is not possible after %v", x.event.Action(), order[0].event.Action())
			}
		}
		ends[i] = s.Hash()
	}
	if ends[0] != ends[1] {
		t.Fatalf("%v and %v lead to different states", a.event.Action(), b.event.Action())
	}
}
