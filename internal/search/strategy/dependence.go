package strategy

import (
	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// act is an event that happened, with what of it tells whether it may change
// places with another.
type act struct {
	event world.Event
	by    *memo.Transition
	// The node's earliest deadline that counts, before and after.
	before, after ariadne.Time
	// ends: a path ends with it, whatever else could have happened; or it may, when
	// others have happened before: the commands of a client have ended.
	ends bool
	// What DPOR knows of it, once it has begun to explore it in a state.
	disables bool // relation.disables said so
	open     bool // what is explored after it may yet tell of sequences that are to be explored elsewhere
}

// newAct is what an event does with a node.
func newAct(p *space.Path, e *world.Event, n *world.NodeState, by *memo.Transition) *act {
	a := &act{event: *e, by: by, before: n.Timer(), after: ariadne.Never}
	a.ends = by.Effect.Ended && !n.Ended && p.System().Nodes()[e.Node].Client || p.Ends != nil && p.Ends(e, by)
	if !by.Effect.Done {
		a.after = by.Effect.Deadline
	}
	return a
}

// actOf is step i of the path, from 1.
func actOf(p *space.Path, i int) *act {
	e := p.Event(i)
	return newAct(p, e, &p.Frame(i - 1).State.Nodes[e.Node], p.Frame(i).By)
}

// relation tells which events depend on each other. Two that do not can change
// places when they follow each other: both orders are possible or none, and they
// lead to the same state. It looks at the events alone, so it holds wherever they
// occur.
type relation struct {
	rules world.Rules
	// apart, when not nil, is the user's word on which steps of one node may change
	// places.
	apart func(a, b *memo.Transition) bool
}

// relationOf is the relation in the space of a path.
func relationOf(p *space.Path) relation {
	return relation{rules: p.System().Rules(), apart: p.Space().Independent}
}

// dependent reports whether the order of two events may matter.
//
// Events of one node depend on each other, unless the user says that they do not, and so
// do a message's sending and its delivery. Between nodes there is more, because they share the clock and the
// budget of delays (package world): a timer waits for others that are earlier, a
// timer that fires delays what should have arrived, and a pending start holds up
// timers. What ends a path keeps all else from happening.
func (r relation) dependent(a, b *act) bool {
	return a.event.Node == b.event.Node && !r.exchangeable(a, b) || a.ends || b.ends || r.needs(a, b) || r.needs(b, a) ||
		r.holds(a, b) || r.holds(b, a) || r.delays(a, b) || r.delays(b, a) || r.queues(a, b) || r.queues(b, a)
}

// exchangeable: the user says that these events of one node may change places, and
// there are two orders of them: a node is switched on first, its earliest timer is one
// at a time, and a connection keeps its order.
func (r relation) exchangeable(a, b *act) bool {
	switch {
	case r.apart == nil || a.event.Kind == ariadne.ActStart || b.event.Kind == ariadne.ActStart,
		a.event.Kind == ariadne.ActFire && b.event.Kind == ariadne.ActFire:
		return false
	case a.event.Packet != nil && b.event.Packet != nil && a.event.Packet.SameFlow(b.event.Packet) &&
		(a.event.Packet.Flow.Proto == ariadne.TCP || a.event.Packet.Seq == b.event.Packet.Seq):
		return false
	}
	return r.apart(a.by, b.by)
}

// needs: b delivers what a sent.
func (relation) needs(a, b *act) bool {
	if b.event.Kind != ariadne.ActDeliver {
		return false
	}
	for _, p := range a.by.Effect.Packets {
		if p == b.event.Packet || p.To == b.event.Node && p.SameDelivery(b.event.Packet) {
			return true
		}
	}
	return false
}

// holds: before a or after it, its node's deadline keeps b from happening.
func (r relation) holds(a, b *act) bool {
	e := r.rules.ClockError
	if b.event.Kind == ariadne.ActStart {
		e = 0
	}
	if a.before.Add(e) < b.event.At || a.after.Add(e) < b.event.At {
		return true
	}
	return a.event.Kind == ariadne.ActStart && b.event.Kind == ariadne.ActFire && b.event.At >= a.event.At || r.precedes(a, b)
}

// precedes: both are starts, and b has to wait for a.
func (r relation) precedes(a, b *act) bool {
	return a.event.Kind == ariadne.ActStart && b.event.Kind == ariadne.ActStart && a.event.At.Add(r.rules.ClockError) < b.event.At
}

// delays: a is a timer, and b a delivery that it would delay, or the sending of a
// message that it would.
func (r relation) delays(a, b *act) bool {
	if a.event.Kind != ariadne.ActFire {
		return false
	}
	if b.event.Kind == ariadne.ActDeliver && b.event.At <= a.event.At {
		return true
	}
	return r.sendsUntil(b, a.event.At, nil)
}

// queues: b sends on the connection whose message a delivers, and would send what
// arrives no earlier than that.
func (r relation) queues(a, b *act) bool {
	return a.event.Kind == ariadne.ActDeliver && r.sendsUntil(b, a.event.At, a.event.Packet)
}

// sendsUntil: a sends a message that arrives until t, on the connection of flow if
// that is not nil.
func (r relation) sendsUntil(a *act, t ariadne.Time, flow *world.Packet) bool {
	for _, p := range a.by.Effect.Packets {
		if r.rules.Arrival(p, a.event.At) <= t && (flow == nil || p.SameFlow(flow)) {
			return true
		}
	}
	return false
}

// enables: b follows a at once, and could not have come before it.
func (r relation) enables(a, b *act) bool {
	switch {
	case r.needs(a, b), r.precedes(a, b):
		return true
	case a.event.Node == b.event.Node && a.event.Kind == ariadne.ActStart:
		return true
	case a.event.Node == b.event.Node && b.event.Kind == ariadne.ActFire:
		return a.before == ariadne.Never
	}
	return a.event.Packet != nil && b.event.Packet != nil && b.event.Packet.Flow.Proto == ariadne.TCP &&
		a.event.Packet.SameFlow(b.event.Packet)
}
