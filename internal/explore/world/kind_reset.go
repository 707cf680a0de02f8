package world

import "github.com/ariadne-mc/ariadne"

// Reset is the number of its kind.
const Reset ariadne.ActionKind = 17

// An established connection may be reset from outside: something between its ends that keeps track
// of connections (a firewall, a balancer, a translator of addresses) has lost track of this one,
// drops the next segment that it sees of it and sends both ends an RST. So a segment's receiver
// gets the RST in its place. It sends the sender the other one itself, for whoever is between has
// the receiver's address and number there.
func init() {
	register(Reset, messageFaultKind(Reset, Kind{
		Name: "reset", Doc: "a connection's reset by the network", Fault: "TCP connections that the network resets",
		Once: "a reset connection", Untimed: true,
		Take: func(_ *System, s *State, e *Event) Input {
			m := e.Packet.Message
			m.Flags, m.Window, m.Data = ariadne.RST|ariadne.MID, 0, nil
			at := s.Nodes[e.Node].clockBefore(e.At)
			s.takeFromFlight(int(e.flight))
			return Input{Kind: ariadne.Deliver, Packet: NewPacket(&m), At: at}
		},
	}, func(f *Flying) bool {
		return f.Flow.Proto == ariadne.TCP && f.Flags&(ariadne.SYN|ariadne.RST) == 0 && f.Head
	}))
}
