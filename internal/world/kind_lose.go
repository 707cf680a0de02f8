package world

import "ariadne"

// Lose is the number of its kind.
const Lose ariadne.ActionKind = 16

// A datagram may be lost on its way: this event takes it out of flight. When on its way that
// happens is no matter, so it may happen where the datagram could arrive, and nowhere else.
func init() {
	register(Lose, Kind{
		Name: "lose", Doc: "a datagram's loss", Fault: "Datagrams that are lost", Aside: true, World: true,
		Enabled: func(_ *System, s *State, c Clock, events []Event) []Event {
			n := len(events)
			for i := range s.Flight {
				f := &s.Flight[i]
				if f.Flow.Proto == ariadne.UDP && f.Arrival <= c.Horizon && s.hears(f) && s.hits(f) {
					events = append(events, Event{At: f.Arrival, Kind: Lose, Node: f.To, Packet: f.Packet, flight: int32(i)})
				}
			}
			sort(events[n:]) // in whatever order the messages were sent
			return events
		},
		Pending: func(y *System, s *State, e *Event) bool {
			return kinds[ariadne.ActDeliver].Pending(y, s, e)
		},
		Take: func(_ *System, s *State, e *Event) Input {
			s.land(int(e.flight))
			return Input{At: s.Nodes[e.Node].before(e.At)}
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes, f.Peer = e.Packet, e.Packet.From
			return f
		},
		Format: formatDelivery,
		Parse:  parseDeliveryAs(Lose),
	})
}
