package world

import "github.com/ariadne-mc/ariadne"

// Refuse is the number of its kind.
const Refuse ariadne.ActionKind = 22

// A connection may be refused from between its ends: a firewall or balancer answers the SYN with an
// RST, and nobody learns of it who listens. The receiver's node sends the RST, for whoever is
// between has its address. Only the first SYN of a connection is refused: a later one may have been
// answered already.
func init() {
	register(Refuse, messageFaultKind(Refuse, Kind{
		Name: "refuse", Doc: "a connection's refusal by the network", Fault: "TCP connections that the network refuses",
		Once: "a refused connection", Untimed: true,
		Take: func(_ *System, s *State, e *Event) Input {
			m := e.Packet.Message
			m.Flags |= ariadne.MID
			at := s.Nodes[e.Node].clockBefore(e.At)
			s.takeFromFlight(int(e.flight))
			return Input{Kind: ariadne.Deliver, Packet: NewPacket(&m), At: at}
		},
	}, func(f *Flying) bool { return f.Packet.isOpening() && f.Seq == 1 && f.Head }))
}
