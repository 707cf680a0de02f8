package strategy

import (
	"net/netip"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestSwap: a message changes places with those that arrive at its node soon after it, and with no
// others: not with one for another node, a later one, one that is held or waits, or a timer.
func TestSwap(t *testing.T) {
	message := func(node ariadne.NodeID, at ariadne.Time, port uint16) world.Event {
		to := netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), port)
		return world.Event{Kind: ariadne.ActDeliver, Node: node, At: at, Packet: world.NewPacket(&ariadne.Message{
			To: node, Flow: ariadne.Flow{Proto: ariadne.UDP, Dst: to}, Seq: 1})}
	}
	ms := func(n int) ariadne.Time { return ariadne.Time(n) * ariadne.Time(time.Millisecond) }
	f := &space.Frame{Enabled: []world.Event{
		message(1, ms(10), 1),
		message(1, ms(10), 2),
		message(2, ms(10), 3),                           // to another node
		{Kind: ariadne.ActFire, Node: 1, At: ms(10)},    // a timer
		message(1, ms(10), 4),                           // is held
		message(1, ms(10), 5),                           // waits
		message(1, ms(12), 6),                           // a little later
		message(1, ms(15), 7),                           // too late
		{Kind: ariadne.ActDeliver, Node: 1, At: ms(10)}, // not plain
	}, Plain: 8}
	l := &Late{draw: newDraw(3, 0)}
	l.overtaking.hold(&l.draw, f.Enabled[4].Packet.Flow, 1)
	l.waiting = []waiting{{f.Enabled[5].Packet.Chain(), 1, ms(50)}}
	drawn := map[int]int{}
	for range 300 {
		drawn[l.swap(f, 0, ms(5))]++
	}
	if len(drawn) != 3 || drawn[0] < 50 || drawn[1] < 50 || drawn[6] < 50 {
		t.Errorf("drawn, by event: %v, not 0, 1 and 6 alike", drawn)
	}
	if event := l.swap(f, 3, ms(5)); event != 3 {
		t.Errorf("a timer changes places with event %d", event)
	}
}
