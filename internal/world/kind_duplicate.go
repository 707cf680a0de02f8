package world

import "ariadne"

// duplicate is the number of its kind.
const duplicate ariadne.ActionKind = 4

// A datagram may arrive twice: this event gives it to its node and leaves it in flight.
func init() {
	register(duplicate, Kind{
		Name: "duplicate", Doc: "a datagram's arrival that is not its last", Fault: "Datagrams that arrive once more",
		Enabled: func(_ *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Flight {
				f := &s.Flight[i]
				if f.Flow.Proto == ariadne.UDP && f.Arrival <= c.Horizon && s.hears(f) && s.hits(f) {
					events = append(events, Event{At: f.Arrival, Kind: duplicate, Node: f.To, Packet: f.Packet})
				}
			}
			return events
		},
		Pending: func(y *System, s *State, e *Event) bool {
			return kinds[ariadne.ActDeliver].Pending(y, s, e)
		},
		Take: func(_ *System, s *State, e *Event) Input {
			return Input{Kind: ariadne.Deliver, Packet: e.Packet, At: s.Nodes[e.Node].before(e.At)}
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes, f.Leaves, f.Peer = e.Packet, true, e.Packet.From
			return f
		},
		Format: formatDelivery,
		Parse:  parseDeliveryAs(duplicate),
	})
}
