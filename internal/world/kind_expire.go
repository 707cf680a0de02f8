package world

import (
	"fmt"

	"ariadne"
)

// Expire is the number of its kind.
const Expire ariadne.ActionKind = 18

// While the network is parted, an end of a TCP connection gives up when nothing that it sends
// is acknowledged for as long as it lets that be, or with keep-alive when it has
// nothing to send. When that is to be stands in flight, as a message of the network's to the node, from when
// it is certain on: the end of the partition is known. It is not a message to the clock but
// a timer: what should have arrived by then has been delayed. The network is not whole again before.
func init() {
	register(Expire, Kind{
		Name: "expire", Doc: "a connection's end for want of an answer", Of: Cut, Overtakes: true,
		Enabled: func(_ *System, s *State, c Clock, events []Event) []Event {
			if s.Partition == nil {
				return events
			}
			for i := range s.Flight {
				f := &s.Flight[i]
				if f.Flow.Proto == ariadne.Expiry && f.Arrival <= c.Horizon && f.Arrival < c.Start && s.hears(f) && s.delayCost(f.Arrival, true) <= s.Delays {
					events = append(events, Event{At: f.Arrival, Kind: Expire, Node: f.To, Packet: f.Packet, flight: int32(i)})
				}
			}
			return events
		},
		Pending: func(y *System, s *State, e *Event) bool {
			return kinds[ariadne.ActDeliver].Pending(y, s, e)
		},
		Take: func(y *System, s *State, e *Event) Input {
			at := s.Nodes[e.Node].before(e.At)
			s.land(int(e.flight))
			m := e.Packet.Message
			if e.Packet.keepsAlive() && s.holds(&m.Flow) {
				m.Flags = 0 // there is something to be acknowledged now
			} else {
				s.dropHeld(y, &m)
			}
			s.delayUntil(e.At, true)
			return Input{Kind: ariadne.Deliver, Packet: NewPacket(&m), At: at}
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes, f.Delays = e.Packet, e.At
			f.StartSlack = -1 // as of a timer
			return f
		},
		Format: func(n Names, a ariadne.Action) string {
			a.Node = n.owner[a.Flow.Dst.Addr()]
			return formatDelivery(n, a)
		},
		Parse: func(n Names, rest string) (ariadne.Action, error) {
			a, err := n.parseDelivery(rest)
			if err != nil {
				return a, err
			}
			id, ok := n.owner[a.Flow.Src.Addr()]
			if !ok {
				return a, fmt.Errorf("no node has the address %s", a.Flow.Src.Addr())
			}
			a.Kind, a.Node, a.Flow = Expire, id, expiryOf(a.Flow)
			return a, nil
		},
	})
}

// expires reports whether a connection is to end before the network is whole again.
func (s *State) expires() bool {
	for i := range s.Flight {
		if s.Flight[i].Flow.Proto == ariadne.Expiry {
			return true
		}
	}
	return false
}

// keepsAlive: it is a limit of a connection on which nothing is to be acknowledged.
func (p *Packet) keepsAlive() bool { return p.Seq == 0 }

// expiryOf is a TCP flow as one of Expiry.
func expiryOf(f ariadne.Flow) ariadne.Flow {
	f.Proto = ariadne.Expiry
	return f
}

// awaits reports whether a flow of Expiry has a limit in flight, of keep-alive or of what is to be
// acknowledged.
func (s *State) awaits(flow *ariadne.Flow, keepsAlive bool) bool {
	for i := range s.Flight {
		if f := &s.Flight[i]; f.Flow == *flow && f.keepsAlive() == keepsAlive {
			return true
		}
	}
	return false
}

// holds reports whether something of a flow of Expiry is held in a parted network.
func (s *State) holds(flow *ariadne.Flow) bool {
	for i := range s.Flight {
		if s.held(&s.Flight[i], flow) {
			return true
		}
	}
	return false
}

func (s *State) held(f *Flying, flow *ariadne.Flow) bool {
	return f.Flow.Proto == ariadne.TCP && expiryOf(f.Flow) == *flow && s.Partition.Blocks(f.From, f.To)
}

// dropHeld takes out of flight what an end that has given up holds to send again, and its other
// limits.
func (s *State) dropHeld(y *System, m *ariadne.Message) {
	for i := 0; i < len(s.Flight); {
		if f := &s.Flight[i]; f.Flow == m.Flow || s.held(f, &m.Flow) {
			s.land(i)
		} else {
			i++
		}
	}
}

// deaf reports whether nothing gets through between two nodes, either way.
func (s *State) deaf(a, b ariadne.NodeID) bool {
	return s.Partition.Blocks(a, b) && s.Partition.Blocks(b, a)
}

// parted reports whether what a node sends to another, or the answer, does not get through.
func (s *State) parted(from, to ariadne.NodeID) bool {
	return s.Partition.Blocks(from, to) || s.Partition.Blocks(to, from)
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

// await puts into flight when connections end on which a node has sent something in a step, or
// of which it has said for how long it lets nothing get through.
func (y *System) await(s *State, id ariadne.NodeID, e *Effect) {
	for _, p := range e.Packets {
		y.awaitData(s, p, 0)
	}
	if e.Limits != nil {
		y.awaitPeers(s, id, e.Clock)
	}
}

// awaitAll does so for all nodes, when the network is parted at time at.
func (y *System) awaitAll(s *State, at ariadne.Time) {
	for i := range len(s.Flight) {
		y.awaitData(s, s.Flight[i].Packet, at)
	}
	for i := range s.Nodes {
		y.awaitPeers(s, ariadne.NodeID(i), at)
	}
}

// awaitData does so for what has been sent; at is the earliest time.
func (y *System) awaitData(s *State, p *Packet, at ariadne.Time) {
	n := &s.Nodes[p.From]
	if !n.Started || !s.parted(p.From, p.To) {
		return
	}
	if until := y.givesUp(n.Limits, p); until != ariadne.Never {
		y.awaitUntil(s, p.From, p.Flow, p.Seq, max(until, at), p.Sent)
	}
}

// givesUp is when a node that has said such limits gives up if a packet of its own is not acknowledged,
// or Never.
func (y *System) givesUp(limits *[]ariadne.Limit, p *Packet) ariadne.Time {
	if p.Flow.Proto != ariadne.TCP || p.Flags&(ariadne.SYN|ariadne.RST) != 0 || len(p.Data) == 0 && p.Flags&ariadne.FIN == 0 {
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
// because of what it does in the step, should the network be parted; or Never.
func (y *System) Awaits(n *NodeState, e *Effect) ariadne.Time {
	limits, until := n.Limits, ariadne.Never
	if e.Limits != nil {
		limits = e.Limits
		for _, l := range *limits {
			if l.Idle > 0 {
				until = min(until, e.Clock.Add(l.Idle))
			}
		}
	}
	for _, p := range e.Packets {
		until = min(until, y.givesUp(limits, p))
	}
	return until
}

// awaitPeers does so for the connections of a node that it keeps alive, of whose peers it has heard
// up to time at. While one direction is whole, what the peer sends counts as well as its answers to probes: there
// it is left out.
func (y *System) awaitPeers(s *State, id ariadne.NodeID, at ariadne.Time) {
	if s.Nodes[id].Limits == nil {
		return
	}
	for _, l := range *s.Nodes[id].Limits {
		if peer, ok := y.names.owner[l.Flow.Dst.Addr()]; ok && l.Idle > 0 && s.deaf(id, peer) {
			y.awaitUntil(s, id, l.Flow, 0, at.Add(l.Idle), at)
		}
	}
}

// awaitUntil puts it into flight, if there is none yet and the network is not whole again before. seq is the number of
// what was sent, or 0 with keep-alive.
func (y *System) awaitUntil(s *State, id ariadne.NodeID, flow ariadne.Flow, seq int, until, since ariadne.Time) {
	m := ariadne.Message{From: id, To: id, Flow: expiryOf(flow), Seq: seq, Flags: ariadne.RST, Sent: since}
	if until >= s.Heal || s.awaits(&m.Flow, seq == 0) {
		return
	}
	s.Flight = append(s.Flight, Flying{Packet: NewPacket(&m), Arrival: until, Head: true})
	s.sum.add(s.Flight[len(s.Flight)-1].hash())
}
