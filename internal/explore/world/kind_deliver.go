package world

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

func init() {
	register(ariadne.ActDeliver, Kind{
		Name: "deliver", Doc: "a message's arrival",
		Enabled: func(_ *System, s *State, c Clock, events []Event) []Event {
			for i := range s.Flight {
				f := &s.Flight[i]
				if f.Head && f.Arrival <= c.Horizon && f.Flow.Proto != ariadne.Expiry && s.canHear(f) {
					events = append(events, Event{})
					// filled in where it stands: most events are of this kind
					e := &events[len(events)-1]
					e.At, e.Kind, e.Node, e.Packet, e.flight = f.Arrival, ArrivalKind(f.Flow.Proto), f.To, f.Packet,
						int32(i)
				}
			}
			return events
		},
		Pending: func(_ *System, s *State, e *Event) bool {
			for i := range s.Flight {
				if f := &s.Flight[i]; f.Head && f.To == e.Node && (f.Packet == e.Packet || f.SameDelivery(e.Packet)) {
					e.At, e.Packet, e.flight = f.Arrival, f.Packet, int32(i)
					return true
				}
			}
			return false
		},
		Take: func(_ *System, s *State, e *Event) Input {
			at := s.Nodes[e.Node].clockBefore(e.At)
			s.takeFromFlight(int(e.flight))
			return Input{Kind: ariadne.Deliver, Packet: e.Packet, At: at}
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes = e.Packet
			return f
		},
		Format: formatDelivery,
		Parse:  Names.parseDelivery,
	})
}

// messageFaultKind completes a kind of fault that hits a message when that could arrive, if canHit
// says that it can hit one.
func messageFaultKind(k ariadne.ActionKind, kind Kind, canHit func(*Flying) bool) Kind {
	kind.Messages = true
	kind.Enabled = func(y *System, s *State, c Clock, events []Event) []Event {
		n := len(events)
		for i := range s.Flight {
			if f := &s.Flight[i]; canHit(f) && f.Arrival <= c.Horizon && s.canHear(f) && s.mayHit(f) &&
				y.rules.Where[k].matches(f.From, f.To) && (y.isAfterOf(s, k, f.From) || y.isAfterOf(s, k, f.To)) {
				events = append(events, Event{At: f.Arrival, Kind: k, Node: f.To, Packet: f.Packet, flight: int32(i)})
			}
		}
		sortEvents(events[n:]) // in whatever order the messages were sent
		return events
	}
	kind.Pending = func(y *System, s *State, e *Event) bool { return kinds[ariadne.ActDeliver].Pending(y, s, e) }
	kind.Footprint = func(_ *System, e *Event, f Footprint) Footprint {
		f.Takes, f.Leaves, f.Peer = e.Packet, kind.Leaves, e.Packet.From
		return f
	}
	kind.Format, kind.Parse = formatDelivery, parseDeliveryAs(k)
	return kind
}

// isDatagram: only datagrams come twice.
func isDatagram(f *Flying) bool { return f.Flow.Proto == ariadne.UDP }

// canHear reports whether there is a machine for a message to arrive at, and a way to it. One whose
// commands are to be run again gets what comes before that.
func (s *State) canHear(f *Flying) bool {
	n := &s.Nodes[f.To]
	return n.Started && f.Arrival < n.Start && !s.blocks(f.From, f.To)
}

// mayHit reports whether a fault may hit a message: neither end is spared.
func (s *State) mayHit(f *Flying) bool { return !s.Nodes[f.From].Spared && !s.Nodes[f.To].Spared }

func formatDelivery(n Names, a ariadne.Action) string {
	var b strings.Builder
	if a.Flow.Proto == ariadne.UDP {
		b.WriteString("udp ")
	}
	b.WriteString(n.addr(a.Flow.Src) + ">" + n.addr(a.Flow.Dst))
	if a.Flow.Epoch > 0 {
		fmt.Fprintf(&b, "@%d", a.Flow.Epoch)
	}
	fmt.Fprintf(&b, " #%d", a.Seq)
	if id, ok := n.owner[a.Flow.Dst.Addr()]; !ok || id != a.Node {
		b.WriteString(" to " + n.Node(a.Node))
	}
	return b.String()
}

// parseDeliveryAs reads what formatDelivery writes of an event of another kind.
func parseDeliveryAs(k ariadne.ActionKind) func(n Names, rest string) (ariadne.Action, error) {
	return func(n Names, rest string) (ariadne.Action, error) {
		a, err := n.parseDelivery(rest)
		a.Kind = k
		return a, err
	}
}
