package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// act is an event that happened, with what of it tells whether it may change
// places with another.
type act struct {
	event world.Event
	by    *memo.Transition
	world.Footprint
	// The node's earliest deadline that counts, before and after.
	before, after ariadne.Time
	// back is when the node is to be switched on again, if it has gone down; else Never.
	back ariadne.Time
	// returns: it switches on a machine that a fault has stopped.
	returns bool
	// ends: a path ends with it, whatever else could have happened; or it may, when
	// others have happened before: the commands of a client have ended.
	ends bool
	// spares: from here on no fault hits the node, which one could before.
	spares  bool
	turns   bool         // whether faults may hit the node, it changes
	says    world.Said   // lines that must come before faults, and were not written yet
	varies  bool         // its step came to places at which it could have gone otherwise
	tells   ariadne.Time // what the node's clock tells others after it
	wakes   bool         // the node was paused, and from here on other faults may hit it
	exposes bool         // it changes what properties read
	// frees are the nodes that wait for its node, which is ready for the first time, and since the
	// earliest time at which one of them is to be switched on then; or Never.
	frees []ariadne.NodeID
	since ariadne.Time
	// awaits is the earliest time at which a connection could end, in a parted network, because of
	// what the node sends in it, or says of its connections; or Never.
	awaits ariadne.Time
	// The knowledge of DPOR about it, once DPOR has begun to explore it in a state.
	disables bool // relation.disables said so
	// what is explored after it may yet tell of sequences that are to be explored elsewhere
	open bool
}

// newAct is what an event does with a node. deaf: it did not hear all others before
// (world.State.IsDeaf).
func newAct(p *space.Path, e *world.Event, n *world.NodeState, deaf bool, by *memo.Transition) *act {
	a := &act{event: *e, by: by, Footprint: p.System().FootprintOf(e), before: n.Timer(), after: ariadne.Never,
		awaits: ariadne.Never, since: ariadne.Never}
	a.back, a.exposes = a.Back, p.Space().Exposes(by)
	if a.Partition != nil { // it has nothing to do with the node's clock
		a.before = ariadne.Never
		return a
	}
	a.tells, a.wakes = by.Effect.Clock, n.Awake != 0 && by.Input.At >= n.Awake
	switch {
	case n.Awake != 0 && !a.wakes:
		a.tells = n.Told
	case by.Effect.Down == ariadne.Paused:
		a.tells = max(n.Clock, by.Input.At)
	}
	a.ends = by.Effect.Ended && !n.Ended && p.System().Nodes()[e.Node].Client || p.Ends != nil && p.Ends(e, by)
	a.varies = len(by.Output.Places) > 0
	a.spares = by.Effect.Spared && !n.Spared
	// Faults of messages ask whether a node is spared, and faults that take it down with others
	// also whether it runs.
	a.turns = by.Effect.Spared != n.Spared ||
		(by.Effect.Spared || by.Effect.Done) != (n.Spared || n.Done || !n.Started)
	a.says = by.Effect.Said &^ n.Said
	if a.frees = p.System().Frees(n, e.Node, &by.Effect); a.frees != nil {
		a.since = by.Effect.Clock
	}
	a.returns = a.starts() && n.Down.Off()
	if !by.Effect.Done {
		a.after = by.Effect.Deadline
	}
	a.awaits = p.System().Awaits(n, deaf, &by.Effect)
	if by.Effect.Down != ariadne.Up && by.Effect.Down != ariadne.Paused {
		a.back = by.Effect.Back
	}
	return a
}

// actOf is step i of the path, from 1.
func actOf(p *space.Path, i int) *act {
	e := p.Event(i)
	s := &p.Frame(i - 1).State
	a := newAct(p, e, &s.Nodes[e.Node], s.IsDeaf(e.Node), p.Frame(i).By)
	a.ends = a.ends || p.Frame(i).Broken // which holds wherever what was exposed before is the same
	return a
}

// relation tells by their footprints which events depend on each other; it knows no kinds. Two that
// do not can change places when they follow each other: both orders are possible or none, and they
// lead to the same state. It looks at the events alone, so it holds wherever they occur.
type relation struct {
	rules *world.Rules
	// apart, when not nil, is the user's word on which steps of one node may change
	// places.
	apart func(a, b *memo.Transition) bool
	// undisturbed: variations are not to be branched.
	undisturbed bool
}

// relationOf is the relation in the space of a path.
func relationOf(p *space.Path) relation {
	return relation{rules: p.System().Rules(), apart: p.Space().Independent}
}

// dependent reports whether the order of two events may matter.
//
// Events of one node depend on each other, unless the user says that they do not, and so do a
// message's sending and its delivery. Between nodes there is more, because they share the clock and
// the budget of delays (package world): a timer waits for others that are earlier, a timer that
// fires delays what should have arrived, and a pending start holds up timers. An event that ends a
// path keeps everything else from happening. Some events say themselves that their order with all
// others matters (Footprint.All). Two uses of a budget of faults commute as long as both fit, and
// where they do not fit there is no execution with both (disables). Variations of an event are
// events of their own.
func (r relation) dependent(a, b *act) bool {
	return sameNode(a, b) && !r.exchangeable(a, b) || a.ends || b.ends || a.All || b.All || r.affects(a, b) ||
		r.affects(b, a)
}

// affects reports whether b, of another node, may not be the same after a as before it.
func (r relation) affects(a, b *act) bool {
	return r.needs(a, b) || r.holds(a, b) || r.parts(a, b) || r.stopsReceiver(a, b) || r.outdates(a, b) ||
		r.delays(a, b) || r.queues(a, b) || r.shields(a, b) || r.allows(a, b) || r.silences(a, b) || r.releases(a, b) ||
		a.exposes && b.exposes
}

// sameNode: both give an input to the same node.
func sameNode(a, b *act) bool {
	return a.event.Node == b.event.Node && a.Partition == nil && b.Partition == nil
}

// exchangeable: the user says that these events of one node may change places, and
// there are two orders of them: a node is switched on first, its earliest timer is one
// at a time, and a connection keeps its order.
func (r relation) exchangeable(a, b *act) bool {
	switch {
	case r.apart == nil || a.starts() || b.starts() || a.frees != nil || b.frees != nil, a.Timer &&
		b.Timer, a.hasNoInput() || b.hasNoInput():
		return false
	case a.Takes != nil && b.Takes != nil && a.Takes.SameFlow(b.Takes) &&
		(a.Takes.Flow.Proto == ariadne.TCP || a.Takes.Seq == b.Takes.Seq):
		return false
	}
	return r.apart(a.by, b.by)
}

// hasNoInput: it gives no node an input.
func (a *act) hasNoInput() bool { return world.KindOf(a.event.Kind).World }

// starts: it switches a node on.
func (a *act) starts() bool { return a.Start != ariadne.Never }

// needs: b takes what a sent.
func (relation) needs(a, b *act) bool {
	if b.Takes == nil {
		return false
	}
	for _, p := range a.by.Effect.Packets {
		if b.event.Delivers(p) {
			return true
		}
	}
	return false
}

// holds: before a or after it, its node's deadline keeps b from happening, or that it is to be
// switched on.
func (r relation) holds(a, b *act) bool {
	return a.before.Add(b.Slack) < b.At || a.after.Add(b.Slack) < b.At ||
		min(a.Start, a.back, a.Heal, a.since).Add(b.StartSlack) < b.At
}

// parts: a parts the network, or ends that, or makes it slow, where b's messages have to pass.
func (r relation) parts(a, b *act) bool {
	switch {
	case a.Partition == nil:
		return false
	case b.Partition != nil || b.Delays >= 0 || b.Takes != nil && r.stands(a, b.Takes),
		a.Heal != ariadne.Never && b.awaits < a.Heal: // any connection's end comes first
		return true
	}
	for _, p := range b.by.Effect.Packets {
		if r.stands(a, p) {
			return true
		}
	}
	// Who awaits the end of connections; and a machine that stops or is back, whose peers' silence
	// goes on in the partition or ends before it.
	return b.by.Effect.Limits != nil || b.by.Effect.Down.Off() || b.returns
}

// stands: a does so where a message has to pass, or the acknowledgement of it.
func (relation) stands(a *act, p *world.Packet) bool {
	return a.Partition.Blocks(p.From, p.To) || p.Flow.Proto != ariadne.UDP && a.Partition.Blocks(p.To, p.From)
}

// expires: it ends a connection.
func (a *act) expires() bool { return a.Takes != nil && a.Takes.IsLimit() }

// probes: it tells the end of a connection that the other end is gone.
func (a *act) probes() bool { return a.Takes != nil && a.Takes.IsProbe() }

// isEndAt reports whether the connection of which the act takes something has an end at a node.
func (a *act) isEndAt(n ariadne.NodeID) bool { return a.event.Node == n || a.Takes.From == n }

// silences: a stops a machine, or switches it on again, and when b's connections to it end, or what
// probes of these find, is not the same after that; or a ends a connection of which b says whether
// it is kept alive.
func (r relation) silences(a, b *act) bool {
	if a.expires() {
		return b.by.Effect.Limits != nil || b.probes() && a.event.Node == b.Takes.From || b.starts()
	}
	stops := a.by.Effect.Down.Off()
	if !stops && !a.returns {
		return false
	}
	if b.by.Effect.Limits != nil || b.probes() && b.Takes.From == a.event.Node || stops && b.expires() {
		return true
	}
	return a.returns && r.sendsTo(b, a) // also if it stops again in the same step
}

// sendsTo: a sends to a machine that b switches on, on a connection or what would arrive before
// that.
func (r relation) sendsTo(a, b *act) bool {
	return slices.ContainsFunc(a.by.Effect.Packets, func(p *world.Packet) bool {
		return p.To == b.event.Node && (p.Flow.Proto == ariadne.TCP || r.rules.Arrival(p, a.event.At) < b.event.At)
	})
}

// awaited: b ends a connection, since a has sent something on it, or has it kept alive, in a parted
// network.
func (a *act) awaited(b *act) bool {
	if !b.expires() || a.event.Node != b.event.Node || a.Partition != nil {
		return false
	}
	if b.Takes.Seq == 0 {
		return a.by.Effect.Limits != nil && a.by.Effect.Clock == b.Takes.Sent
	}
	for _, p := range a.by.Effect.Packets {
		if p.Flow.Proto == ariadne.TCP && p.Seq == b.Takes.Seq && p.Flow.Src == b.Takes.Flow.Src &&
			p.Flow.Dst == b.Takes.Flow.Dst && p.Flow.Epoch == b.Takes.Flow.Epoch {
			return true
		}
	}
	return false
}

// stopsReceiver: a stops a machine, and b would hold back messages that are under way to it.
func (relation) stopsReceiver(a, b *act) bool { return a.by.Effect.Down.Off() && b.Delays >= 0 }

// shields: a says whether faults may hit its node, and b hits that as well as its own.
func (relation) shields(a, b *act) bool { return a.turns && a.event.Node == b.Peer }

// allows: a has written a line before which faults such as b do not happen, and b hits its node or
// no node, or any if the line must be of a's node.
func (r relation) allows(a, b *act) bool {
	_, named := r.rules.AfterOf[b.event.Kind]
	return a.says&(1<<b.event.Kind) != 0 &&
		(named || a.event.Node == b.event.Node || a.event.Node == b.Peer || b.Partition != nil) || r.allowsWithin(a, b)
}

// allowsWithin: a has written a line before which no fault happens within steps of other nodes, and
// b has one.
func (r relation) allowsWithin(a, b *act) bool {
	for k, of := range r.rules.AfterOf {
		if a.says&(1<<k) != 0 && of != b.event.Node && b.Costs[k] > 0 {
			return true
		}
	}
	return false
}

// releases: a's node is ready, and b switches on one that waits for it, or sends it what is lost
// before that.
func (r relation) releases(a, b *act) bool {
	return slices.ContainsFunc(a.frees, func(id ariadne.NodeID) bool {
		return b.starts() && b.event.Node == id ||
			slices.ContainsFunc(b.by.Effect.Packets, func(p *world.Packet) bool { return p.To == id })
	})
}

// outdates: b would happen at another time after a than before it.
func (r relation) outdates(a, b *act) bool {
	if !b.Present || a.Partition != nil {
		return false
	}
	if a.by.Effect.Down.Off() { // its clock tells the time no more
		return true
	}
	at := r.rules.OnGrid(a.tells)
	return (b.Partition != nil || at > b.by.From.Clock) && at >= b.At
}

// precedes: both are starts, and b has to wait for a.
func (r relation) precedes(a, b *act) bool {
	return b.starts() && a.Start.Add(b.StartSlack) < b.At
}

// delays: a holds messages back, and b takes one that it would, or sends one, or has a connection
// end by then.
func (r relation) delays(a, b *act) bool {
	if a.Delays < 0 {
		return false
	}
	return b.Takes != nil && (b.At-ariadne.Time(b.Late) <= a.Delays || b.Last > 0) || b.awaits <= a.Delays ||
		r.sendsUntil(b, a.Delays, nil)
}

// queues: b sends on the connection whose message a takes, and would send what
// arrives no earlier than that.
func (r relation) queues(a, b *act) bool {
	return a.Takes != nil && r.sendsUntil(b, a.At, a.Takes)
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
	case r.needs(a, b), r.precedes(a, b), b.starts() && slices.Contains(a.frees, b.event.Node), r.shields(a, b) &&
		!a.spares, r.allows(a, b), a.awaited(b):
		return true
	// A machine has stopped first, and is not switched on before connections to it have ended. Of
	// other machines and connections that says nothing: their order may matter for what both
	// expose.
	case (a.by.Effect.Down.Off() || a.returns) && (b.expires() || b.probes()) && b.isEndAt(a.event.Node),
		a.expires() &&
			(b.returns && a.isEndAt(b.event.Node) || b.probes() && b.isEndAt(a.event.Node) && b.isEndAt(a.Takes.From)):
		return true
	case sameNode(a, b) && a.starts():
		// A machine whose programs were killed gets messages before they are run again.
		return b.Takes == nil || b.At >= a.At || a.by.From.Depth == 0
	case sameNode(a, b) && a.wakes && b.Present:
		return true
	case sameNode(a, b) && b.Timer:
		return a.before == ariadne.Never
	}
	return a.Takes != nil && b.Takes != nil && b.Takes.Flow.Proto == ariadne.TCP && a.Takes.SameFlow(b.Takes)
}
