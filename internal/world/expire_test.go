package world_test

import (
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/world"
	"ariadne/internal/world/worldtest"
)

// TestConnectionsEndInAPartedNetwork: an end gives up when nothing has got through for as long as it lets that
// be, if the network is not whole before; what it holds to send again is gone then.
func TestConnectionsEndInAPartedNetwork(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		lasts      time.Duration
		giveUp     time.Duration
		data, idle time.Duration
		sends      bool
		want       []string
	}{
		{"nothing limits it", 20 * ms, 0, 0, 0, true, []string{"heal network", "deliver n1:1001>n2:1000 #1"}},
		{"all give up", 20 * ms, 9 * ms, 0, 0, true, []string{"expire n1:1001>n2:1000 #1", "heal network"}},
		{"it is whole before", 20 * ms, 30 * ms, 0, 0, true, []string{"heal network", "deliver n1:1001>n2:1000 #1"}},
		{"a limit of its own", 20 * ms, 30 * ms, 8 * ms, 0, true, []string{"expire n1:1001>n2:1000 #1", "heal network"}},
		{"keep-alive", 20 * ms, 30 * ms, 0, 8 * ms, false, []string{"expire n1:1001>n2:1000 #0", "heal network"}},
		{"keep-alive and something to send", 20 * ms, 15 * ms, 0, 8 * ms, true, []string{"expire n1:1001>n2:1000 #0", "expire n1:1001>n2:1000 #1", "heal network"}},
		{"for ever", ariadne.Ever, 9 * ms, 0, 0, true, []string{"expire n1:1001>n2:1000 #1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world.Rules{Latency: time.Millisecond, GiveUp: c.giveUp, Grid: 1e6, Faults: worldtest.Faults("cut", 1),
				Partitions: []*world.Partition{world.NewPartition("n1", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false, c.lasts)}}
			w := worldtest.Of(r, scripts(func(x *worldtest.Ctx) {
				x.Limit(1, c.data, c.idle)
				if c.sends {
					x.Send(1, "m")
				}
			}, nothing)...)
			do(t, w, "start n1", "start n2", w.Names().Action(w.Enabled()[len(w.Enabled())-1]))
			expect(t, natural(t, w), c.want...)
			if len(w.State().Flight) > 0 {
				t.Errorf("there is something in flight: %v", w.State().Flight)
			}
		})
	}
}
