package world

import "github.com/ariadne-mc/ariadne"

// duplicate is the number of its kind.
const duplicate ariadne.ActionKind = 4

// A datagram may arrive twice: this event gives it to its node and leaves it in flight.
func init() {
	register(duplicate, messageFaultKind(duplicate, Kind{
		Name: "duplicate", Doc: "a datagram's arrival that is not its last", Fault: "Datagrams that arrive once more",
		Once:   "a duplicated datagram",
		Leaves: true,
		Take: func(_ *System, s *State, e *Event) Input {
			return Input{Kind: ariadne.Deliver, Packet: e.Packet, At: s.Nodes[e.Node].clockBefore(e.At)}
		},
	}, isDatagram))
}
