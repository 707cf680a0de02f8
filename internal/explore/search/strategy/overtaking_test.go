package strategy

import (
	"net/netip"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestOvertaking: a message is held until as many others as are drawn have arrived at its node, or
// some steps have passed, or there is no other.
func TestOvertaking(t *testing.T) {
	packet := func(port uint16) *world.Packet {
		to := netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), port)
		return &world.Packet{Message: ariadne.Message{To: 1, Flow: ariadne.Flow{Proto: ariadne.UDP, Dst: to}}}
	}
	held, other := packet(1), packet(2)
	event := func(p *world.Packet) world.Event {
		return world.Event{Kind: ariadne.ActDeliver, Node: p.To, Packet: p}
	}
	both := &space.Frame{Enabled: []world.Event{event(held), event(other)}, Plain: 2}
	arrives := func(node ariadne.NodeID) *memo.Transition {
		return &memo.Transition{From: &memo.Local{Node: node}, Input: world.Input{Packet: other}}
	}
	draw := newDraw(1, 0)
	for _, c := range []struct {
		node ariadne.NodeID // to which others come
		most int
	}{{1, 1 << (overtakingOrders - 1)}, {2, overtakingSteps}} {
		var o overtaking
		o.hold(&draw, held.Flow, held.To)
		want := o.left
		if c.node != held.To {
			want = overtakingSteps
		}
		n := 0
		for ; n <= c.most && o.first(both, 0) == 1; n++ {
			o.count(arrives(c.node))
		}
		if n != want || n == 0 || n > c.most {
			t.Errorf("%d messages to node %d come first, of %d", n, c.node, want)
		}
	}
	var o overtaking
	o.hold(&draw, held.Flow, held.To)
	if o.first(&space.Frame{Enabled: both.Enabled[:1], Plain: 1}, 0) != 0 {
		t.Error("a message is held though there is no other")
	}
}
