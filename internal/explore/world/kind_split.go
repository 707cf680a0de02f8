package world

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Split is the number of its kind.
const Split ariadne.ActionKind = 28

// Data on a connection may arrive in pieces, since TCP knows no messages. This event gives its node
// the first bytes and leaves the others in flight, as what they were: they arrive later, or in
// pieces themselves. The rest of the segment, such as the end of the connection, stays with the
// others.
func init() {
	k := messageFaultKind(Split, Kind{
		Name: "split", Doc: "the arrival of the first bytes of what was sent on a connection", Fault: "Times at which what was sent on a TCP connection arrives in two pieces", Once: "a split message",
		Leaves: true, Untimed: true,
		Take: func(_ *System, s *State, e *Event) Input {
			first, rest := e.Packet.splitAt(e.Varied.splitPoint())
			f := &s.Flight[e.flight]
			s.sum.Sub(f.hash())
			f.Packet = rest
			s.sum.Add(f.hash())
			return Input{Kind: ariadne.Deliver, Packet: first, At: s.Nodes[e.Node].clockBefore(e.At)}
		},
	}, func(f *Flying) bool { return f.Flow.Proto == ariadne.TCP && len(f.Data) > 1 && f.Head })
	messages, pending := k.Enabled, k.Pending
	k.Enabled = func(y *System, s *State, c Clock, events []Event) []Event {
		for _, e := range messages(y, s, c, nil) {
			for _, at := range splitPoints(len(e.Packet.Data)) {
				e.Varied = &Varied{what: strconv.Itoa(at)}
				events = append(events, e)
			}
		}
		return events
	}
	k.Pending = func(y *System, s *State, e *Event) bool {
		return pending(y, s, e) && e.Varied.splitPoint() < len(e.Packet.Data)
	}
	k.Format = func(n Names, a ariadne.Action) string { return formatDelivery(n, a) + behind + a.What }
	k.Parse = func(n Names, rest string) (ariadne.Action, error) {
		message, what, ok := strings.Cut(rest, behind)
		if !ok {
			return ariadne.Action{}, fmt.Errorf("want split SOURCE>DESTINATION #NUMBER behind BYTES")
		}
		a, err := parseDeliveryAs(Split)(n, message)
		if at, bad := strconv.Atoi(what); err == nil && (bad != nil || at < 1) {
			err = fmt.Errorf("bad number of bytes %q", what)
		}
		a.What = what
		return a, err
	}
	register(Split, k)
}

// behind stands before the number of bytes behind which a message is split.
const behind = " behind "

// splitPoints are the numbers of bytes behind which n of them are split: where a program that takes
// a read for a message is wrong in the beginning, in the midst and at the end.
func splitPoints(n int) []int {
	switch n {
	case 2:
		return []int{1}
	case 3:
		return []int{1, 2}
	}
	return []int{1, n / 2, n - 1}
}

// splitPoint is behind how many bytes a message is split, or up to which one messages arrive
// together.
func (v *Varied) splitPoint() int {
	n, _ := strconv.Atoi(v.what) // it is one
	return n
}

// splitAt are the two pieces of a message.
func (p *Packet) splitAt(at int) (first, rest *Packet) {
	a, b := p.Message, p.Message
	a.Data, a.Flags = p.Data[:at:at], p.Flags&^(ariadne.FIN|ariadne.RST)
	b.Data, b.Flags, b.Window = p.Data[at:], p.Flags&^ariadne.WND, 0
	return NewPacket(&a), NewPacket(&b)
}
