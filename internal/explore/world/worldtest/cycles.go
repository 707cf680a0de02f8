package worldtest

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Heartbeat never ends: it sends beat after beat to Peer, numbered round and round, and
// shows the number of its next and of the last that it has heard.
type Heartbeat struct {
	Peer  ariadne.NodeID
	Every time.Duration
	Of    int // numbers
	next  int
	heard int
	// Trips, when not 0, makes it fail when it hears this number while its own next is the
	// same.
	Trips int
}

func (h *Heartbeat) Start(c *Ctx) { c.SetTimer(h.Every) }

func (h *Heartbeat) Fire(c *Ctx) {
	c.Send(h.Peer, fmt.Sprintf("beat %d", h.next))
	h.next = (h.next + 1) % h.Of
	h.show(c)
	c.SetTimer(h.Every)
}

func (h *Heartbeat) Receive(c *Ctx, m ariadne.Message) {
	scan(m, "beat %d", &h.heard)
	h.show(c)
	if h.Trips > 0 && h.heard == h.Trips && h.next == h.Trips {
		c.Panic("both at %d", h.Trips)
	}
}

func (h *Heartbeat) show(c *Ctx) { c.Log("next %d, heard %d", h.next, h.heard) }

// Tally adds up what it gets, in whatever order, and shows the sum.
type Tally struct {
	Idle
	sum int
}

func (t *Tally) Receive(c *Ctx, m ariadne.Message) {
	n := 0
	scan(m, "add %d", &n)
	t.sum += n
	c.Log("sum %d", t.sum)
}

// Addend sends numbers to a Tally, which is node 0.
type Addend struct {
	Idle
	Numbers []int
}

func (a *Addend) Start(c *Ctx) {
	for _, n := range a.Numbers {
		c.Send(0, fmt.Sprintf("add %d", n))
	}
}

// Loop is a machine with a few states, which it shows: all that it does with an input is
// told by its state and by what the input says, and most of them never end. It asks
// when its timer fires, and answers what it is asked.
type Loop struct {
	Nodes  int
	Seed   uint64
	States int
	state  int
}

func (l *Loop) Start(c *Ctx)                      { l.act(c, "start") }
func (l *Loop) Fire(c *Ctx)                       { l.act(c, "fire") }
func (l *Loop) Receive(c *Ctx, m ariadne.Message) { l.act(c, fmt.Sprint(m.From, string(m.Data))) }

func (l *Loop) act(c *Ctx, input string) {
	x := Chaos{}
	x.HashOf(fmt.Sprint(l.Seed, c.ID(), l.state, input))
	l.state = x.below(l.States)
	c.Log("state %d", l.state)
	to := ariadne.NodeID(x.below(l.Nodes))
	send := c.Send
	if x.below(3) == 0 {
		send = c.SendDatagram
	}
	switch {
	case to == c.ID():
	case input == "start" || input == "fire":
		send(to, fmt.Sprint("ask ", x.below(2)))
	case input[1:4] == "ask":
		send(ariadne.NodeID(input[0]-'0'), "answer")
	}
	switch x.below(4) {
	case 0:
		c.StopTimer()
	case 1, 2:
		c.SetTimer(time.Duration(1+x.below(3)) * time.Millisecond)
	}
	if x.below(30) == 0 {
		c.Exit(0)
	}
}
