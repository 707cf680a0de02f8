package world

import "github.com/ariadne-mc/ariadne"

// Lose is the number of its kind.
const Lose ariadne.ActionKind = 16

// A datagram may be lost on its way, and so may a SYN, also because a listener's queue is full.
// This event takes it out of flight. When on its way that happens is no matter, so it may happen
// where the message could arrive, and nowhere else.
func init() {
	register(Lose, messageFaultKind(Lose, Kind{
		Name: "lose", Doc: "the loss of a datagram or SYN", Fault: "Datagrams and requests for TCP connections (SYN) that are lost", Once: "a lost message", Untimed: true, World: true,
		Take: func(_ *System, s *State, e *Event) Input {
			s.takeFromFlight(int(e.flight))
			return Input{At: s.Nodes[e.Node].clockBefore(e.At)}
		},
	}, func(f *Flying) bool { return isDatagram(f) || f.Packet.isOpening() && f.Head }))
}
