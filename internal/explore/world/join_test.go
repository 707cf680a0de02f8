package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestJoin: what several steps have sent on a connection arrives together as often as the budget
// has it, in its order: the first two messages or more of them, and nothing of a datagram.
func TestJoin(t *testing.T) {
	r := world.Rules{Latency: 10 * time.Millisecond, Faults: worldtest.Faults("join", 2)}
	got := &hears{}
	w := worldtest.Of(r, append(scripts(func(c *worldtest.Ctx) {
		for _, word := range []string{"he", "llo", "me", "!", "again"} {
			c.Send(1, word)
		}
		c.SendDatagram(1, "datagram")
	}), got)...)
	do(t, w, "start n1", "start n2")
	const flow = "n1:1001>n2:1000 "
	expect(t, enabled(w), "deliver "+flow+"#1", "deliver udp "+flow+"#1",
		"join "+flow+"#1 to #2", "join "+flow+"#1 to #3", "join "+flow+"#1 to #4", "join "+flow+"#1 to #5")
	do(t, w, "join "+flow+"#1 to #3")
	expect(t, enabled(w), "deliver "+flow+"#4", "deliver udp "+flow+"#1", "join "+flow+"#4 to #5")
	do(t, w, "join "+flow+"#4 to #5", "deliver udp "+flow+"#1")
	if all := strings.Join(got.pieces, " "); all != "hellome !again datagram" {
		t.Errorf("it hears %q", all)
	}
	for _, name := range []string{"join " + flow + "#2 to #2", "join " + flow + "#2"} {
		if _, err := w.Names().Parse(name); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
