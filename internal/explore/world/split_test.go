package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestSplit: what was sent on a connection arrives in pieces as often as the budget has it, in its
// order and before what comes behind it. A datagram, and what has one byte, arrives as a whole.
func TestSplit(t *testing.T) {
	r := world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("split", 2)}
	got := &hears{}
	w := worldtest.Of(r, append(scripts(func(c *worldtest.Ctx) {
		c.Send(1, "hello")
		c.Send(1, "me")
		c.Send(1, "!")
		c.SendDatagram(1, "datagram")
	}), got)...)
	do(t, w, "start n1", "start n2")
	expect(t, enabled(w), "deliver n1:1001>n2:1000 #1", "deliver udp n1:1001>n2:1000 #1",
		"split n1:1001>n2:1000 #1 behind 1", "split n1:1001>n2:1000 #1 behind 2", "split n1:1001>n2:1000 #1 behind 4")
	do(t, w, "split n1:1001>n2:1000 #1 behind 4")
	expect(t, enabled(w), "deliver n1:1001>n2:1000 #1", "deliver udp n1:1001>n2:1000 #1")
	do(t, w, "deliver n1:1001>n2:1000 #1", "split n1:1001>n2:1000 #2 behind 1", "deliver n1:1001>n2:1000 #2",
		"deliver n1:1001>n2:1000 #3")
	if all := strings.Join(got.pieces, " "); all != "hell o m e !" {
		t.Errorf("it hears %q", all)
	}
	if _, err := w.Names().Parse("split n1:1001>n2:1000 #1 behind 0"); err == nil {
		t.Error("a split behind no byte is a name")
	}
}

// hears keeps what it is sent.
type hears struct {
	worldtest.Idle
	pieces []string
}

func (h *hears) Receive(_ *worldtest.Ctx, m ariadne.Message) {
	h.pieces = append(h.pieces, string(m.Data))
}
