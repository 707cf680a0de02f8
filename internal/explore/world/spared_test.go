package world_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// settingUp is spared until it gets its second datagram.
type settingUp struct {
	worldtest.Idle
	got int
}

func (p *settingUp) Start(c *worldtest.Ctx) { c.Spare(true) }
func (p *settingUp) Receive(c *worldtest.Ctx, _ ariadne.Message) {
	p.got++
	c.Spare(p.got < 2)
}

// sender sends three datagrams.
type sender struct{ worldtest.Idle }

func (sender) Start(c *worldtest.Ctx) {
	for range 3 {
		c.SendDatagram(0, "m")
	}
}

// TestNoFaultHitsASparedNode: what arrives while it is spared arrives once.
func TestNoFaultHitsASparedNode(t *testing.T) {
	w := worldtest.Of(world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("duplicate", 1)}, &settingUp{},
		sender{})
	var faults []int
	for len(w.Enabled()) > 0 {
		n := 0
		for _, a := range w.Enabled() {
			if world.KindOf(a.Kind).Fault != "" {
				n++
			}
		}
		faults = append(faults, n)
		if _, err := w.Apply(w.Enabled()[0]); err != nil {
			t.Fatal(err)
		}
	}
	want := []int{0, 0, 0, 0, 1} // two starts, three datagrams
	if len(faults) != len(want) {
		t.Fatalf("%d steps, want %d", len(faults), len(want))
	}
	for i := range want {
		if faults[i] != want[i] {
			t.Errorf("before step %d there are %d faults, want %d", i+1, faults[i], want[i])
		}
	}
}
