package world

import "github.com/ariadne-mc/ariadne"

// Probe is the number of its kind.
const Probe ariadne.ActionKind = 25

// An end of a TCP connection whose peer's machine has stopped, or that gave up in a parted network,
// is half-open: nobody tells it. With keep-alive its next probe is answered with an RST when both
// hear each other again. When that arrives stands in flight from when it is certain on, as a
// message of the network's from the peer.
func init() {
	register(Probe, Kind{
		Name: "probe", Doc: "the answer to a keep-alive probe that there is no such connection", Of: silencers,
		Enabled: func(_ *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Flight {
				f := &s.Flight[i]
				if f.IsProbe() && f.Arrival <= c.Horizon && s.canHear(f) && s.silentUntil(f.To, f.From) == 0 {
					events = append(events,
						Event{At: f.Arrival, Kind: Probe, Node: f.To, Packet: f.Packet, flight: int32(i)})
				}
			}
			return events
		},
		Pending: func(y *System, s *State, e *Event) bool { return kinds[ariadne.ActDeliver].Pending(y, s, e) },
		Take: func(y *System, s *State, e *Event) Input {
			return kinds[ariadne.ActDeliver].Take(y, s, e)
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes = e.Packet
			return f
		},
		Format: formatOwn,
		Parse:  func(n Names, rest string) (ariadne.Action, error) { return n.parseOwn(Probe, rest) },
	})
}

// leaveHalfOpen: a node has given a connection up, and the peer does not know.
func (y *System) leaveHalfOpen(s *State, id ariadne.NodeID, flow *ariadne.Flow) {
	peer, ok := y.names.owner[flow.Dst.Addr()]
	if !ok || s.silentUntil(peer, id) == 0 {
		return
	}
	back := ariadne.Flow{Proto: ariadne.TCP, Src: flow.Dst, Dst: flow.Src, Epoch: flow.Epoch}
	l := limitOf(s.Nodes[peer].Limits, &back)
	if l.Idle > 0 && s.indexOfLimit(flowOf(back), true) < 0 {
		y.sendProbe(s, ariadne.Message{To: peer, Flow: expiryOf(back), Flags: ariadne.RST, Sent: s.deafSince(peer, id)},
			id, &l)
	}
}

// sendProbe puts into flight what comes of the first probe of a connection that gets through.
func (y *System) sendProbe(s *State, m ariadne.Message, peer ariadne.NodeID, l *ariadne.Limit) {
	until := s.silentUntil(m.To, peer)
	if until == ariadne.Never {
		return
	}
	next := m.Sent.Add(l.First)
	if late := until - next; late > 0 && l.Every > 0 {
		every := ariadne.Time(l.Every)
		next += (late + every - 1) / every * every
	}
	m.From, m.Flags = peer, m.Flags|ariadne.ACK
	s.awaitLimit(&m, max(next, until).Add(2*y.rules.Latency))
}
