package strategy

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// overtaking is one message that arrives when a few others have arrived at its node before it, near
// one that is late.
type overtaking struct {
	which overtaken
	due   *world.Packet // with overtakenItself: what is late when it is held no more

	holds bool
	flow  ariadne.Flow // of what is held
	node  ariadne.NodeID
	left  int // messages that arrive there first
	steps int // after which it is held no more
}

// overtaken is which message others overtake.
type overtaken uint8

const (
	overtakenNone   overtaken = iota // or it was
	overtakenItself                  // the one that is late, after that
	overtakenBehind                  // what its node sends with that one, or an answer to it
)

const (
	// overtakingOrders are the orders of magnitude of how many messages overtake one.
	overtakingOrders = 3
	// overtakingSteps is for how many steps one is held at most.
	overtakingSteps = 32
)

// drawOvertaking draws which message is overtaken on a path: on one path in four, none.
func drawOvertaking(d *draw) (o overtaking) {
	o.which = []overtaken{overtakenNone, overtakenItself, overtakenBehind, overtakenBehind}[d.below(4)]
	return o
}

// hold holds what arrives at a node by a flow until a few other messages have arrived there.
func (o *overtaking) hold(d *draw, flow ariadne.Flow, node ariadne.NodeID) {
	o.which, o.holds, o.flow, o.node = overtakenNone, true, flow, node
	o.left, o.steps = 1+d.below(1<<d.below(overtakingOrders)), overtakingSteps
}

// holdBehind holds what comes of a late message in whose step its node has sent something:
// rather what it does not send if the message is on time.
func (o *overtaking) holdBehind(d *draw, by, onTime *memo.Transition) {
	sent := by.Effect.Packets
	if onTime != nil {
		usual := map[hash.Hash]bool{}
		for _, p := range onTime.Effect.Packets {
			usual[space.KindOf(p)] = true
		}
		var unusual []*world.Packet
		for _, p := range sent {
			if !usual[space.KindOf(p)] {
				unusual = append(unusual, p)
			}
		}
		if len(unusual) > 0 {
			sent = unusual
		}
	}
	if len(sent) == 0 {
		return
	}
	p := sent[d.below(len(sent))]
	if d.below(2) == 0 {
		o.hold(d, p.Flow, p.To)
		return
	}
	answer := p.Flow
	answer.Src, answer.Dst = answer.Dst, answer.Src
	o.hold(d, answer, p.From)
}

// count counts a step.
func (o *overtaking) count(by *memo.Transition) {
	if !o.holds {
		return
	}
	if o.steps--; by.Input.Packet != nil && by.From.Node == o.node {
		o.left--
	}
	o.holds = o.left > 0 && o.steps > 0
}

// first is an event if it is not held, or else the first one that is not. It is the one that is
// held where there is no other.
func (o *overtaking) first(f *space.Frame, event int) int {
	if !o.held(&f.Enabled[event]) {
		return event
	}
	for i := range f.Plain {
		if e := &f.Enabled[i]; e.Kind != world.Late && !o.held(e) {
			return i
		}
	}
	return event
}

func (o *overtaking) held(e *world.Event) bool {
	return o.holds && e.Packet != nil && e.Packet.Flow.Proto == o.flow.Proto &&
		e.Packet.Flow.Src == o.flow.Src && e.Packet.Flow.Dst == o.flow.Dst
}
