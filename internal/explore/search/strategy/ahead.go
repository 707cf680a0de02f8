package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// ahead is what was seen of the clock in a state and in the states explored after it. It shows
// which events another event may have prevented: the local states and messages that they would have
// needed were there, with that event or without it.
type ahead struct {
	// By node: the latest deadline (Never: there was a time with none), and the latest
	// at which it could fire, or 0.
	deadline, fire []ariadne.Time
	// The latest at which it was to be switched on, or 0; behind all nodes, at which a partition
	// was to end.
	start   []ariadne.Time
	arrival ariadne.Time // the latest of a message
	expiry  ariadne.Time // the latest at which a connection could end for want of an answer, or 0
	limit   ariadne.Time // what is later never happens
}

// reset begins with the state of a frame.
func (h *ahead) reset(p *space.Path) {
	f := p.Last()
	h.deadline, h.fire, h.start, h.arrival, h.limit = h.deadline[:0], h.fire[:0], h.start[:0], 0, p.Bounds().Time
	h.expiry = 0
	if h.limit == 0 {
		h.limit = ariadne.Never - 1
	}
	for i := range f.State.Nodes {
		h.deadline, h.fire, h.start = append(h.deadline, 0), append(h.fire, 0), append(h.start, 0)
		h.set(i, f.State.Nodes[i].Timer())
		h.starts(i, f.State.Nodes[i].Start)
	}
	h.start = append(h.start, 0)
	for _, c := range f.State.Cuts {
		h.starts(len(f.State.Nodes), c.Until)
	}
	h.arrives(&f.State.State)
	h.expires(&f.State.State)
}

// arrives enters when messages in flight do.
func (h *ahead) arrives(s *world.State) {
	for i := range s.Flight {
		h.arrival = max(h.arrival, s.Flight[i].Arrival)
	}
}

// expires enters when connections could end.
func (h *ahead) expires(s *world.State) {
	for i := range s.Flight {
		if f := &s.Flight[i]; f.Flow.Proto == ariadne.Expiry {
			h.arrival = max(h.arrival, f.Arrival)
			if f.Arrival <= h.limit {
				h.expiry = max(h.expiry, f.Arrival)
			}
		}
	}
}

func (h *ahead) set(node int, t ariadne.Time) {
	h.deadline[node] = max(h.deadline[node], t)
	if t <= h.limit {
		h.fire[node] = max(h.fire[node], t)
	}
}

func (h *ahead) starts(node int, t ariadne.Time) {
	if t <= h.limit {
		h.start[node] = max(h.start[node], t)
	}
}

// add enters what an act has done.
func (h *ahead) add(p *space.Path, a *act) {
	if a.Partition != nil {
		h.starts(len(h.deadline), a.back)
	} else {
		h.set(int(a.event.Node), a.after)
		h.starts(int(a.event.Node), a.back)
	}
	h.arrival = max(h.arrival, a.Delays) // of what it has delayed
	switch {
	case a.Heal != ariadne.Never:
		h.arrival = max(h.arrival, a.Heal.Add(p.System().Rules().Latency))
	case a.by.Effect.Down.Off() && a.back != ariadne.Never:
		h.arrival = max(h.arrival, a.back)
	}
	s := &p.Last().State.State
	if s.Silent() {
		h.expires(s)
	}
	if p.System().Rules().Slows() {
		h.arrives(s)
	}
	for _, id := range a.frees {
		h.starts(int(id), s.Nodes[id].Start)
	}
	for _, m := range a.by.Effect.Packets {
		h.arrival = max(h.arrival, p.System().Rules().Arrival(m, a.event.At))
		if !s.Waits(m.To) { // else it is lost
			h.arrival = max(h.arrival, s.Nodes[m.To].On)
		}
	}
}

func (h *ahead) merge(g *ahead) {
	for i := range h.deadline {
		h.deadline[i], h.fire[i] = max(h.deadline[i], g.deadline[i]), max(h.fire[i], g.fire[i])
	}
	for i := range h.start {
		h.start[i] = max(h.start[i], g.start[i])
	}
	h.arrival, h.expiry = max(h.arrival, g.arrival), max(h.expiry, g.expiry)
}

// lastFire is the latest time at which anything that holds messages back could happen: a timer of
// a node besides one, or the end of a connection.
func (h *ahead) lastFire(but ariadne.NodeID) ariadne.Time {
	t := h.expiry
	for i := range h.fire {
		if i != int(but) {
			t = max(t, h.fire[i])
		}
	}
	return t
}

// disables reports whether an event that could happen in the state of f, or after
// others that do not depend on a, can no more, or only later, when a has happened in
// that state. When it says no, none can.
func (r relation) disables(p *space.Path, f *space.Frame, a *act, h *ahead) bool {
	if a.ends || a.Spends() || a.spares || a.Partition != nil || a.frees != nil {
		return true
	}
	if r.takesFrom(f, a) || r.mayAwait(f, a) {
		return true
	}
	// which of them together, it changes
	if (a.starts() || a.wakes || a.turns) && p.System().HitsSeveral(&f.State.State) {
		return true
	}
	var flying *world.Flying // what a delivers
	for i := range f.State.Flight {
		if g := &f.State.Flight[i]; a.Takes != nil && g.To == a.event.Node && g.SameDelivery(a.Takes) {
			flying = g
			break
		}
	}
	// Without budget no timer can pass a message that is not late yet: only those fire
	// before a that are due before the message.
	passes := ariadne.Never
	if flying != nil && !flying.Delayed && f.State.Delays == 0 {
		passes = flying.Arrival
	}
	return passes > a.before && r.stops(a, h) || r.shortens(p, f, a, h, passes) || passes == ariadne.Never &&
		r.addsDelayed(f, a, h, flying) || r.makesLate(f, a)
}

// mayAwait: a connection on which a sends something may time out. Until then it delays the end of a
// partition, or the start of a machine, that is silent now or becomes silent later.
func (r relation) mayAwait(f *space.Frame, a *act) bool {
	s := &f.State
	if a.awaits != ariadne.Never && s.MayFallSilent() {
		return true
	}
	over := ariadne.Time(0) // when ends hear each other again that do not now
	for _, c := range s.Cuts {
		if c.Until != ariadne.Never {
			over = max(over, c.Until)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Down.Off() && n.Start != ariadne.Never {
			over = max(over, n.Start)
		}
	}
	return a.awaits < over
}

// mayTurn: faults do not hit the messages of a node now, and may do so later.
func (r relation) mayTurn(f *space.Frame, id ariadne.NodeID) bool {
	n := &f.State.Nodes[id]
	if n.Spared {
		return !f.State.Faults.None()
	}
	for k, left := range f.State.Faults {
		if left > 0 && !r.rules.MayFollow(&f.State.State, ariadne.ActionKind(k), id) {
			return true
		}
	}
	return false
}

// mayVary: a's step came to places of faults that may happen only after a line of another node,
// which was not written yet. After the line, the step can be varied.
func (r relation) mayVary(f *space.Frame, a *act) bool {
	for k := range r.rules.AfterOf {
		if f.State.Faults[k] == 0 || r.rules.MayFollowWithin(&f.State.State, k, a.event.Node) {
			continue
		}
		name := world.KindOf(k).Name
		for i := range a.by.Output.Places {
			if slices.ContainsFunc(a.by.Output.Places[i].Alternatives, func(s string) bool {
				return ariadne.KindOf(s) == name
			}) {
				return true
			}
		}
	}
	return false
}

// takesFrom: a takes a message out of flight for which there is another event, or will be when its
// sender is spared no more or has written a line, or uses up what could have gone otherwise.
func (r relation) takesFrom(f *space.Frame, a *act) bool {
	if a.Takes != nil && !a.Leaves && r.mayTurn(f, a.Takes.From) {
		return true
	}
	if !r.undisturbed && r.mayVary(f, a) {
		return true
	}
	// more may be sent that could arrive with it
	if a.Takes != nil && f.State.Faults[world.Join] > 0 && a.Takes.Flow.Proto == ariadne.TCP {
		return true
	}
	for i := range f.State.Flight {
		g := &f.State.Flight[i]
		switch {
		case g.Flow.Proto != ariadne.Expiry || g.To != a.event.Node:
		// another end of the same connection
		case a.expires() && g.Flow == a.Takes.Flow && !g.SameDelivery(a.Takes),
			a.by.Effect.Limits != nil: // perhaps it is kept alive no more
			return true
		}
	}
	for i := range f.Enabled {
		e := &f.Enabled[i]
		if e.Node != a.event.Node {
			continue
		}
		if !r.undisturbed && e.Varied.Variation() != a.event.Varied.Variation() && e.SameInput(&a.event) && !a.Leaves {
			return true
		}
		if a.Takes != nil && !a.Leaves && e.Kind != a.event.Kind && e.Packet != nil && e.Packet.SameDelivery(a.Takes) {
			return true
		}
	}
	return false
}

// stops: a's node had a timer that could have fired.
func (r relation) stops(a *act, h *ahead) bool {
	if a.Timer || a.before > h.limit || a.before == a.after {
		return false
	}
	for i, t := range h.deadline {
		if i != int(a.event.Node) && t.Add(r.rules.ClockError) < a.before {
			return false
		}
	}
	return true
}

// shortens: the node's deadline is earlier than before, and others' events that it
// was no matter to have to wait for it now. passes: timers that are due before that may
// fire before a.
func (r relation) shortens(p *space.Path, f *space.Frame, a *act, h *ahead, passes ariadne.Time) bool {
	if a.after >= a.before {
		return false
	}
	for i, start := range h.start {
		if ariadne.NodeID(i) != a.event.Node && start > a.after {
			return true
		}
	}
	until := a.after.Add(r.rules.ClockError)
	if until >= h.limit {
		return false
	}
	// While a node is not switched on, no timer fires that is later than that.
	return passes > until && !a.starts() && h.lastFire(a.event.Node) > until || h.arrival > until
}

// addsDelayed: after a, a timer or the end of a connection would have to delay more messages.
func (r relation) addsDelayed(f *space.Frame, a *act, h *ahead, flying *world.Flying) bool {
	if a.starts() {
		return false
	}
	last := h.lastFire(a.event.Node)
	if a.before == a.after && a.after <= h.limit {
		last = max(last, a.after)
	}
	if f.State.Silent() && a.awaits <= last {
		return true
	}
	more := 0
	for _, m := range a.by.Effect.Packets {
		if r.rules.Arrival(m, a.event.At) <= last {
			more++
		}
	}
	if flying != nil && last > 0 && !a.Leaves {
		if flying.Flow.Proto == ariadne.TCP {
			more++ // what stands behind it
		}
		if !flying.Delayed {
			more--
		}
	}
	return more > 0
}

// makesLate: a delays a message that could have come before.
func (relation) makesLate(f *space.Frame, a *act) bool {
	if a.Delays < 0 {
		return false
	}
	for i := range f.State.Flight {
		if g := &f.State.Flight[i]; f.State.Nodes[g.To].Started &&
			(g.Arrival < a.Delays || g.Arrival == a.Delays && !g.Delayed) {
			return true
		}
	}
	return false
}
