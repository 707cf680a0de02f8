package world_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// relay sends a datagram to the first node when it gets one.
type relay struct{ worldtest.Idle }

func (relay) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.SendDatagram(0, "m") }

// teller sends the second node a datagram.
type teller struct{ worldtest.Idle }

func (teller) Start(c *worldtest.Ctx) { c.SendDatagram(1, "m") }

// TestWhoIsBehindReachesAMachineThatIsBack: what is sent once to a machine that is down is lost,
// and arrives when the machine is back and the sender's clock is behind that.
func TestWhoIsBehindReachesAMachineThatIsBack(t *testing.T) {
	var faults world.Faults
	faults[world.Stop] = 1
	const late = "deliver udp n3:1001>n2:1002 #1"
	for _, c := range []struct {
		order []string
		at    ariadne.Time // of the arrival at n1, or 0
	}{
		{[]string{"start n1", "start n2", "start n3", "stop n1 for 1s", late, "start n1"}, 0},
		{[]string{"start n1", "start n2", "start n3", "stop n1 for 1s", "start n1", late}, 2e9},
		{[]string{"start n1", "start n2", "start n3", late, "stop n1 for 1s", "start n1"}, 0},
	} {
		w := worldtest.Of(world.Rules{Latency: 300 * time.Millisecond, Faults: faults,
			NodeFaults: []world.NodeFaults{world.Outages(ariadne.Stopped, []ariadne.NodeID{0}, time.Second)}},
			worldtest.Idle{}, relay{}, teller{})
		for _, name := range c.order {
			enabled := w.Enabled()
			i := slices.IndexFunc(enabled, func(a ariadne.Action) bool { return w.Names().Action(a) == name })
			if i < 0 {
				t.Fatalf("%q is not possible: %v", name, enabled)
			}
			if _, err := w.Apply(enabled[i]); err != nil {
				t.Fatal(err)
			}
		}
		at := ariadne.Time(0)
		if enabled := w.Enabled(); len(enabled) > 0 {
			s, err := w.Apply(enabled[0])
			if err != nil {
				t.Fatal(err)
			}
			if at = s.At; s.Action.Node != 0 || len(w.Enabled()) > 0 {
				t.Errorf("%q: %s, then %v", c.order, s.Name, w.Enabled())
			}
		}
		if at != c.at {
			t.Errorf("%q: it arrives at %v, want %v", c.order, at, c.at)
		}
	}
}
