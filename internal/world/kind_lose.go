package world

import "ariadne"

// Lose is the number of its kind.
const Lose ariadne.ActionKind = 16

// A datagram may be lost on its way: this event takes it out of flight. When on its way that
// happens is no matter, so it may happen where the datagram could arrive, and nowhere else.
func init() {
	register(Lose, onMessages(Lose, Kind{
		Name: "lose", Doc: "a datagram's loss", Fault: "Datagrams that are lost", Aside: true, World: true,
		Take: func(_ *System, s *State, e *Event) Input {
			s.land(int(e.flight))
			return Input{At: s.Nodes[e.Node].before(e.At)}
		},
	}, isDatagram))
}
