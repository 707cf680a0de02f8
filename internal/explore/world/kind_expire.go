package world

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// Expire is the number of its kind.
const Expire ariadne.ActionKind = 18

// While the network is parted, or the peer's machine has stopped, an end of a TCP connection gives
// up when nothing that it sends is acknowledged for as long as it lets that be, or with keep-alive
// when it has nothing to send. When that is to be stands in flight, as a message of the network's
// to the node, from when it is certain on: it is known when they hear each other again. It is not a
// message to the clock but a timer: what should have arrived by then has been delayed. They do not
// hear each other before.
func init() {
	register(Expire, Kind{
		Name: "expire", Doc: "a connection's end for want of an answer", Of: silencers, Overtakes: true,
		Enabled: func(y *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Flight {
				f := &s.Flight[i]
				if f.IsLimit() && f.Arrival <= c.Horizon && f.Arrival < c.Start && s.canHear(f) &&
					y.mayHoldBack(s, f.Arrival, true) {
					events = append(events,
						Event{At: f.Arrival, Kind: Expire, Node: f.To, Packet: f.Packet, flight: int32(i)})
				}
			}
			return events
		},
		Pending: func(y *System, s *State, e *Event) bool {
			return kinds[ariadne.ActDeliver].Pending(y, s, e)
		},
		Take: func(y *System, s *State, e *Event) Input {
			at := s.Nodes[e.Node].clockBefore(e.At)
			s.takeFromFlight(int(e.flight))
			m := e.Packet.Message
			if e.Packet.isKeepAlive() && s.holdsAnyOf(&m.Flow) {
				m.Flags = 0 // there is something to be acknowledged now
			} else {
				s.dropHeld(y, &m)
			}
			s.delayUntil(e.At, true)
			if m.Flags != 0 {
				y.leaveHalfOpen(s, e.Node, &m.Flow)
			}
			return Input{Kind: ariadne.Deliver, Packet: NewPacket(&m), At: at}
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes, f.Delays = e.Packet, e.At
			f.StartSlack = -1 // as of a timer
			return f
		},
		Format: formatOwn,
		Parse:  func(n Names, rest string) (ariadne.Action, error) { return n.parseOwn(Expire, rest) },
	})
}

// formatOwn and parseOwn name what happens to a connection at its own end.
func formatOwn(n Names, a ariadne.Action) string {
	a.Node = n.owner[a.Flow.Dst.Addr()]
	return formatDelivery(n, a)
}

func (n Names) parseOwn(k ariadne.ActionKind, rest string) (ariadne.Action, error) {
	a, err := n.parseDelivery(rest)
	if err != nil {
		return a, err
	}
	id, ok := n.owner[a.Flow.Src.Addr()]
	if !ok {
		return a, fmt.Errorf("no node has the address %s", a.Flow.Src.Addr())
	}
	a.Kind, a.Node, a.Flow = k, id, expiryOf(a.Flow)
	return a, nil
}

// silencers are the kinds of faults that keep the ends of a connection from hearing each other.
var silencers = []ariadne.ActionKind{Cut, Stop, Power}

// IsLimit: it is a limit, and stands in flight until then.
func (p *Packet) IsLimit() bool { return p.Flow.Proto == ariadne.Expiry && p.From == p.To }

// IsProbe: it is what comes of a probe of keep-alive.
func (p *Packet) IsProbe() bool { return p.Flow.Proto == ariadne.Expiry && p.From != p.To }

// AwaitsEnds reports whether connections are to end because their ends do not or did not hear each
// other.
func (s *State) AwaitsEnds() bool {
	return slices.ContainsFunc(s.Flight, func(f Flying) bool { return f.Flow.Proto == ariadne.Expiry })
}

// expiresBefore reports whether a connection is to end before a time, with a peer on the node if
// that is not NoNode.
func (y *System) expiresBefore(s *State, t ariadne.Time, peer ariadne.NodeID) bool {
	for i := range s.Flight {
		f := &s.Flight[i]
		if f.IsLimit() && f.Arrival < t && (peer == ariadne.NoNode || y.names.owner[f.Flow.Dst.Addr()] == peer) {
			return true
		}
	}
	return false
}

// isKeepAlive: it is a limit of a connection on which nothing is to be acknowledged.
func (p *Packet) isKeepAlive() bool { return p.Seq == 0 }

// flowOf is expiryOf, to be looked for.
func flowOf(f ariadne.Flow) *ariadne.Flow {
	f = expiryOf(f)
	return &f
}

// expiryOf is a TCP flow as one of Expiry.
func expiryOf(f ariadne.Flow) ariadne.Flow {
	f.Proto = ariadne.Expiry
	return f
}

// indexOfLimit is where in flight a limit of a flow of Expiry stands, of keep-alive or of what is
// to be acknowledged, or what comes of its next probe, or -1.
func (s *State) indexOfLimit(flow *ariadne.Flow, keepsAlive bool) int {
	for i := range s.Flight {
		if f := &s.Flight[i]; f.Flow == *flow && f.isKeepAlive() == keepsAlive {
			return i
		}
	}
	return -1
}

// holdsAnyOf reports whether something of a flow of Expiry is held back that is to be acknowledged,
// to be sent again.
func (s *State) holdsAnyOf(flow *ariadne.Flow) bool {
	for i := range s.Flight {
		if f := &s.Flight[i]; f.isAcknowledged() && s.isHeld(f, flow) {
			return true
		}
	}
	return false
}

// isAcknowledged: it is data of a connection, or the end of it.
func (p *Packet) isAcknowledged() bool {
	return p.Flow.Proto == ariadne.TCP && p.Flags&(ariadne.SYN|ariadne.RST) == 0 &&
		(len(p.Data) > 0 || p.Flags&ariadne.FIN != 0)
}

func (s *State) isHeld(f *Flying, flow *ariadne.Flow) bool {
	return f.Flow.Proto == ariadne.TCP && expiryOf(f.Flow) == *flow &&
		(s.blocks(f.From, f.To) || s.Nodes[f.To].Down.Off())
}

// dropHeld takes out of flight what an end that has given up holds to send again, and its other
// limits.
func (s *State) dropHeld(y *System, m *ariadne.Message) {
	for i := 0; i < len(s.Flight); {
		if f := &s.Flight[i]; f.Flow == m.Flow || s.isHeld(f, &m.Flow) {
			s.takeFromFlight(i)
		} else {
			i++
		}
	}
}

// silentUntil is until when what a node sends to another is not acknowledged, or 0.
func (s *State) silentUntil(from, to ariadne.NodeID) (until ariadne.Time) {
	until = max(s.blockedUntil(from, to), s.blockedUntil(to, from))
	if n := &s.Nodes[to]; n.Down.Off() {
		until = max(until, n.On)
	}
	return until
}

// Silent reports whether there are nodes that do not hear each other.
func (s *State) Silent() bool {
	return len(s.Cuts) > 0 || slices.ContainsFunc(s.Nodes, func(n NodeState) bool { return n.Down.Off() })
}

// MayFallSilent reports whether there is budget left for faults after which ends of a connection do
// not hear each other. Whether one can happen now is no matter.
func (s *State) MayFallSilent() bool {
	return slices.ContainsFunc(silencers, func(k ariadne.ActionKind) bool { return s.Faults[k] > 0 })
}

// deafUntil is until when nothing gets through between a node and a peer, either way, or 0.
func (s *State) deafUntil(id, peer ariadne.NodeID) (until ariadne.Time) {
	until = min(s.blockedUntil(id, peer), s.blockedUntil(peer, id))
	if n := &s.Nodes[peer]; n.Down.Off() {
		until = max(until, n.On)
	}
	return until
}

// IsDeaf reports whether nothing gets through now between a node and some other, either way.
func (s *State) IsDeaf(id ariadne.NodeID) bool {
	for peer := range s.Nodes {
		if peer := ariadne.NodeID(peer); peer != id && s.deafUntil(id, peer) > 0 {
			return true
		}
	}
	return false
}

// deafSince is since when the network has let nothing through between a node and a peer, either
// way, as far as partitions tell that stand.
func (s *State) deafSince(id, peer ariadne.NodeID) ariadne.Time {
	return max(s.blockedSince(id, peer), s.blockedSince(peer, id))
}

// limitOf is what a node has said of a flow of its own.
func limitOf(limits *[]ariadne.Limit, flow *ariadne.Flow) (l ariadne.Limit) {
	if limits != nil {
		for i := range *limits {
			if (*limits)[i].Flow == *flow {
				return (*limits)[i]
			}
		}
	}
	return l
}

// awaitEnds puts into flight when connections end on which a node has sent something in a step, or
// of which it has said for how long it lets nothing get through.
func (y *System) awaitEnds(s *State, id ariadne.NodeID, e *Effect) {
	if s.Silent() {
		for _, p := range e.Packets {
			// it was not lost
			if slices.ContainsFunc(s.Flight, func(f Flying) bool { return f.Packet == p }) {
				y.awaitEndOfData(s, p, 0)
			}
		}
	}
	if e.Limits != nil {
		s.dropUnkept(id)
		y.awaitEndsOfPeers(s, id, ariadne.NoNode, e.Clock)
	}
}

// awaitAllEnds does so for all nodes, when the network is parted at time at.
func (y *System) awaitAllEnds(s *State, at ariadne.Time) {
	for i := range len(s.Flight) {
		y.awaitEndOfData(s, s.Flight[i].Packet, at)
	}
	for i := range s.Nodes {
		y.awaitEndsOfPeers(s, ariadne.NodeID(i), ariadne.NoNode, at)
	}
}

// awaitEndsOfMachine does so when the machine of a node stops.
func (y *System) awaitEndsOfMachine(s *State, id ariadne.NodeID, at ariadne.Time) {
	for i := range len(s.Flight) {
		if p := s.Flight[i].Packet; p.To == id {
			y.awaitEndOfData(s, p, 0)
		}
	}
	for i := range s.Nodes {
		y.awaitEndsOfPeers(s, ariadne.NodeID(i), id, at)
	}
}

// awaitEndOfData does so for what has been sent; at is the earliest time.
func (y *System) awaitEndOfData(s *State, p *Packet, at ariadne.Time) {
	n := &s.Nodes[p.From]
	if !n.Started || p.Sent < n.On { // what sent it is gone
		return
	}
	until := s.silentUntil(p.From, p.To)
	if end := max(y.givesUp(n.Limits, p), at); end < until && s.indexOfLimit(flowOf(p.Flow), false) < 0 {
		m := ariadne.Message{From: p.From, To: p.From, Flow: expiryOf(p.Flow), Seq: p.Seq, Flags: ariadne.RST,
			Sent: p.Sent}
		s.awaitLimit(&m, end)
	}
}

// givesUp is when a node that has said such limits gives up if a packet of its own is not
// acknowledged, or Never.
func (y *System) givesUp(limits *[]ariadne.Limit, p *Packet) ariadne.Time {
	if !p.isAcknowledged() {
		return ariadne.Never
	}
	after := limitOf(limits, &p.Flow).Data
	if after == 0 {
		after = y.rules.GiveUp
	}
	if after == 0 {
		return ariadne.Never
	}
	return p.Sent.Add(after)
}

// Awaits is the earliest time at which a connection of a node, as it was before a step, could end
// because of what it does in the step, should the network be parted or the peer's machine have
// stopped; or Never. deaf: the node did not hear all others before it, so the silence of one that
// it keeps alive may have lasted long enough already.
func (y *System) Awaits(n *NodeState, deaf bool, e *Effect) ariadne.Time {
	limits, until := n.Limits, ariadne.Never
	if e.Limits != nil {
		limits = e.Limits
		for _, l := range *limits {
			switch {
			case l.Idle > 0 && deaf:
				until = min(until, e.Clock)
			case l.Idle > 0:
				until = min(until, e.Clock.Add(l.Idle))
			}
		}
	}
	for _, p := range e.Packets {
		until = min(until, y.givesUp(limits, p))
	}
	return until
}

// awaitEndsOfPeers does so for the connections of a node that it keeps alive, with only one peer if
// that is not NoNode. It has heard of them up to time at. While one direction is whole, what the
// peer sends counts as well as its answers to probes: there it is left out. Where the peer has no
// such connection any more, and it does not end before, its next probe will tell.
func (y *System) awaitEndsOfPeers(s *State, id, only ariadne.NodeID, at ariadne.Time) {
	if s.Nodes[id].Limits == nil {
		return
	}
	for _, l := range *s.Nodes[id].Limits {
		peer, ok := y.names.owner[l.Flow.Dst.Addr()]
		if !ok || l.Idle == 0 || s.deafUntil(id, peer) == 0 || only != ariadne.NoNode && peer != only {
			continue
		}
		since, gone := min(at, s.deafSince(id, peer)), s.Nodes[peer].Down.Off()
		if i := s.indexOfLimit(flowOf(l.Flow), true); i >= 0 {
			f := s.Flight[i]
			if f.IsLimit() {
				continue
			}
			since, gone = f.Sent, true
			s.takeFromFlight(i)
		}
		m := ariadne.Message{From: id, To: id, Flow: expiryOf(l.Flow), Flags: ariadne.RST, Sent: since}
		if end := since.Add(l.Idle); end < s.deafUntil(id, peer) {
			s.awaitLimit(&m, max(end, at))
		} else if gone {
			y.sendProbe(s, m, peer, &l)
		}
	}
}

// awaitLimit puts it into flight.
func (s *State) awaitLimit(m *ariadne.Message, t ariadne.Time) {
	s.Flight = append(s.Flight, Flying{Packet: NewPacket(m), Arrival: t, Head: true})
	s.sum.Add(s.Flight[len(s.Flight)-1].hash())
}

// dropUnkept takes out of flight what stands there for connections that a node keeps alive no more.
func (s *State) dropUnkept(id ariadne.NodeID) {
	for i := 0; i < len(s.Flight); {
		f := &s.Flight[i]
		flow := f.Flow
		flow.Proto = ariadne.TCP
		if f.Flow.Proto == ariadne.Expiry && f.To == id && f.isKeepAlive() &&
			limitOf(s.Nodes[id].Limits, &flow).Idle == 0 {
			s.takeFromFlight(i)
		} else {
			i++
		}
	}
}
