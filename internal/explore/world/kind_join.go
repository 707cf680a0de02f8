package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Join is the number of its kind.
const Join ariadne.ActionKind = 29

// Data that was sent on a connection in several steps may arrive together, as when the receiver is
// only run when all of it is there: one read sees it, or all of it and the end of the connection.
// It is given in one piece when the last of it arrives, or later. Only what could arrive one after
// the other does.
func init() {
	k := messageFaultKind(Join, Kind{
		Name: "join", Doc: "the arrival of what was sent on a connection in several steps, together", Fault: "Times at which what was sent on a TCP connection in several steps arrives together", Once: "joined messages",
		Untimed: true,
		Take: func(_ *System, s *State, e *Event) Input {
			at := s.Nodes[e.Node].clockBefore(e.At)
			m := e.Packet.Message
			m.Data = slices.Clone(m.Data)
			i, last := int(e.flight), e.Varied.splitPoint()
			for s.takeFromFlight(i); m.Seq < last; s.takeFromFlight(i) {
				for !s.Flight[i].SameFlow(e.Packet) {
					i++
				}
				p := s.Flight[i].Packet
				m.Seq, m.Flags, m.Window, m.Data = p.Seq, m.Flags|p.Flags, m.Window+p.Window, append(m.Data, p.Data...)
			}
			m.Seq = e.Packet.Seq
			return Input{Kind: ariadne.Deliver, Packet: NewPacket(&m), At: at}
		},
	}, func(f *Flying) bool { return f.mayJoin() && len(f.Data) > 0 && f.Head })
	messages := k.Enabled
	k.Enabled = func(y *System, s *State, c Clock, events []Event) []Event {
		for _, e := range messages(y, s, c, nil) {
			s.eachBehind(&e, func(f *Flying) bool {
				if f.Arrival > c.Horizon || !s.canHear(f) {
					return false
				}
				if len(f.Data) > 0 || f.Flags&ariadne.FIN != 0 {
					e.At, e.Varied = f.Arrival, &Varied{what: strconv.Itoa(f.Seq)}
					events = append(events, e)
				}
				return true
			})
		}
		return events
	}
	pending := k.Pending
	k.Pending = func(y *System, s *State, e *Event) (ok bool) {
		if !pending(y, s, e) || !e.Packet.mayJoin() {
			return false
		}
		s.eachBehind(e, func(f *Flying) bool {
			if ok = f.Seq == e.Varied.splitPoint(); ok {
				e.At = f.Arrival
			}
			return !ok
		})
		return ok
	}
	footprint := k.Footprint
	k.Footprint = func(y *System, e *Event, f Footprint) Footprint {
		f = footprint(y, e, f)
		f.Last = e.Varied.splitPoint()
		return f
	}
	k.Format = func(n Names, a ariadne.Action) string { return formatDelivery(n, a) + upTo + a.What }
	k.Parse = func(n Names, rest string) (ariadne.Action, error) {
		message, what, ok := strings.Cut(rest, upTo)
		if !ok {
			return ariadne.Action{}, fmt.Errorf("want join SOURCE>DESTINATION #NUMBER to #NUMBER")
		}
		a, err := parseDeliveryAs(Join)(n, message)
		if last, bad := strconv.Atoi(what); err == nil && (bad != nil || last <= a.Seq) {
			err = fmt.Errorf("bad number of a later message %q", what)
		}
		a.What = what
		return a, err
	}
	register(Join, k)
}

// upTo stands before the number of the last message of those that arrive together.
const upTo = " to #"

// mayJoin reports whether a message may arrive together with others of its connection.
func (p *Packet) mayJoin() bool {
	return p.Flow.Proto == ariadne.TCP && p.Flags&(ariadne.SYN|ariadne.RST) == 0
}

// eachBehind calls f with what may arrive together with the message of e, in order, until it says
// false.
func (s *State) eachBehind(e *Event, f func(*Flying) bool) {
	for i := int(e.flight) + 1; i < len(s.Flight); i++ {
		g := &s.Flight[i]
		if g.To == e.Node && g.SameFlow(e.Packet) && (!g.mayJoin() || !f(g)) {
			return
		}
	}
}

// Delivers reports whether a message arrives with the event.
func (e *Event) Delivers(p *Packet) bool {
	switch {
	case e.Packet == nil || p == e.Packet:
		return p == e.Packet
	case p.To != e.Node || !p.SameFlow(e.Packet):
		return false
	}
	return p.Seq == e.Packet.Seq || e.Kind == Join && e.Packet.Seq < p.Seq && p.Seq <= e.Varied.splitPoint()
}
