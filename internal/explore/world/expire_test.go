package world_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// limited is a case in which n1 has a connection to n2, on which nothing gets through for a while.
type limited struct {
	name       string
	lasts      time.Duration
	giveUp     time.Duration // of all connections
	data, idle time.Duration // of this one
	sends      bool
}

func (c *limited) sender(x *worldtest.Ctx) {
	x.Limit(1, c.data, c.idle)
	if c.sends {
		x.Send(1, "m")
	}
}

// TestConnectionsEndInAPartedNetwork: an end gives up when nothing has got through for as long as
// it lets that be, if the network is not whole before; what it holds to send again is gone then.
func TestConnectionsEndInAPartedNetwork(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		limited
		want []string
	}{
		{limited{"nothing limits it", 20 * ms, 0, 0, 0, true}, []string{"heal n1", "deliver n1:1001>n2:1000 #1"}},
		{limited{"all give up", 20 * ms, 9 * ms, 0, 0, true}, []string{"expire n1:1001>n2:1000 #1", "heal n1"}},
		{limited{"it is whole before", 20 * ms, 30 * ms, 0, 0, true},
			[]string{"heal n1", "deliver n1:1001>n2:1000 #1"}},
		{limited{"a limit of its own", 20 * ms, 30 * ms, 8 * ms, 0, true},
			[]string{"expire n1:1001>n2:1000 #1", "heal n1"}},
		{limited{"keep-alive", 20 * ms, 30 * ms, 0, 8 * ms, false}, []string{"expire n1:1001>n2:1000 #0", "heal n1"}},
		{limited{"keep-alive and something to send", 20 * ms, 15 * ms, 0, 8 * ms, true},
			[]string{"expire n1:1001>n2:1000 #0", "expire n1:1001>n2:1000 #1", "heal n1"}},
		{limited{"for ever", ariadne.Ever, 9 * ms, 0, 0, true}, []string{"expire n1:1001>n2:1000 #1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world.Rules{Latency: time.Millisecond, GiveUp: c.giveUp, Grid: 1e6, Faults: worldtest.Faults("cut", 1),
				Partitions: []*world.Partition{world.NewPartition("n1", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false,
					c.lasts)}}
			w := worldtest.Of(r, scripts(c.sender, nothing)...)
			do(t, w, "start n1", "start n2", w.Names().Action(w.Enabled()[len(w.Enabled())-1]))
			for i := range c.want {
				if c.want[i] == "heal n1" {
					c.want[i] += " for " + c.lasts.String()
				}
			}
			expect(t, natural(t, w), c.want...)
			if len(w.State().Flight) > 0 {
				t.Errorf("there is something in flight: %v", w.State().Flight)
			}
		})
	}
}

// TestConnectionsEndWhileAMachineIsStopped: as in a parted network, and an end that keeps one alive
// learns afterwards that the machine does not know it.
func TestConnectionsEndWhileAMachineIsStopped(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		limited
		want []string
		at   ariadne.Time // of the last step
	}{
		{limited{"nothing limits it", 20 * ms, 0, 0, 0, true}, []string{"start n2", "deliver n1:1001>n2:1000 #1"},
			21e6},
		{limited{"all give up", 20 * ms, 9 * ms, 0, 0, true}, []string{"expire n1:1001>n2:1000 #1", "start n2"}, 21e6},
		{limited{"a limit of its own", 20 * ms, 30 * ms, 8 * ms, 0, true},
			[]string{"expire n1:1001>n2:1000 #1", "start n2"}, 21e6},
		{limited{"keep-alive ends it", 20 * ms, 0, 0, 8 * ms, false}, []string{"expire n1:1001>n2:1000 #0", "start n2"},
			21e6},
		{limited{"a probe finds it gone", 20 * ms, 0, 0, 40 * ms, false},
			[]string{"start n2", "probe n1:1001>n2:1000 #0"}, 32e6},
		{limited{"a later probe finds it gone", 44 * ms, 0, 0, 80 * ms, false},
			[]string{"start n2", "probe n1:1001>n2:1000 #0"}, 62e6},
		{limited{"for ever", ariadne.Ever, 0, 0, 80 * ms, false}, []string{"expire n1:1001>n2:1000 #0"}, 80e6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world.Rules{Latency: ms, GiveUp: c.giveUp, Grid: 1e6, Faults: worldtest.Faults("stop", 1),
				NodeFaults: []world.NodeFaults{world.Outages(ariadne.Stopped, []ariadne.NodeID{1}, c.lasts)}}
			programs := scripts(c.sender, nothing)
			automata := worldtest.Automata(programs...)
			automata[1].(*worldtest.Automaton).Grid = r.Grid
			w := worldtest.New(r, worldtest.Nodes(programs...), automata)
			do(t, w, "start n1", "start n2", "stop n2 for "+ariadne.FormatLength(c.lasts))
			expect(t, natural(t, w), c.want...)
			if len(w.State().Flight) > 0 || w.Now() != c.at {
				t.Errorf("at %v, want %v, there is in flight: %v", w.Now(), c.at, w.State().Flight)
			}
		})
	}
}

// TestGivingUpLeavesTheOtherEndHalfOpen: it learns by a probe when the network is whole again.
func TestGivingUpLeavesTheOtherEndHalfOpen(t *testing.T) {
	const ms = time.Millisecond
	r := world.Rules{Latency: ms, Grid: 1e6}
	for _, length := range []time.Duration{19 * ms, 29 * ms, ariadne.Ever} {
		r.Partitions = append(r.Partitions,
			world.NewPartition("n1", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false, length))
	}
	begin := func(cuts uint8) *worldtest.World {
		r.Faults[world.Cut] = cuts
		w := worldtest.Of(r, scripts(func(x *worldtest.Ctx) {
			x.Limit(1, 8*ms, 0)
			x.Send(1, "m")
		}, func(x *worldtest.Ctx) { x.Limit(0, 0, 40*ms) })...)
		do(t, w, "start n1", "start n2", "cut n1 for 19ms")
		return w
	}
	w := begin(1)
	expect(t, natural(t, w), "expire n1:1001>n2:1000 #1", "heal n1 for 19ms", "probe n2:1000>n1:1001 #0")
	if w.Now() != 22e6 {
		t.Errorf("at %v", w.Now())
	}
	w = begin(2) // it is parted again before
	do(t, w, "expire n1:1001>n2:1000 #1", "heal n1 for 19ms", "cut n1 for 29ms")
	expect(t, natural(t, w), "heal n1 for 29ms", "probe n2:1000>n1:1001 #0")
	if w.Now() != 42e6 {
		t.Errorf("at %v", w.Now())
	}
	w = begin(2) // and it ends meanwhile
	do(t, w, "expire n1:1001>n2:1000 #1", "heal n1 for 19ms", "cut n1 for ever")
	expect(t, natural(t, w), "expire n2:1000>n1:1001 #0")
}
