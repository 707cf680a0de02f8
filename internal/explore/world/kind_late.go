package world

import (
	"fmt"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Late is the number of its kind.
const Late ariadne.ActionKind = 32

// A node may do something else with a message at another time, when it reads the clock: a lease is
// over, an entry has expired. No timer tells of that. Those who execute the step at several times
// find where its outcome changes (internal/explore/space), and the message may arrive there. That
// is an event like a timer of the node's at that time: what should have arrived by then is delayed,
// the message itself too.
//
// So may a timer of the node fire there, as far as clocks may be wrong. Such an event has no
// packet.
func init() {
	register(Late, Kind{
		Name: "late", Doc: "a message's arrival, or a timer, at a time at which its node does something else", Overtakes: true, Alike: true,
		With: ariadne.ActDeliver,
		Pending: func(y *System, s *State, e *Event) bool {
			ok := kinds[e.onTime()].Pending(y, s, e)
			e.At += ariadne.Time(e.Varied.late)
			return ok
		},
		Take: func(y *System, s *State, e *Event) Input {
			s.delayUntil(e.At, false)
			return kinds[e.onTime()].Take(y, s, e)
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes, f.Delays, f.Late, f.Timer = e.Packet, e.At, e.Varied.late, e.Packet == nil
			f.StartSlack = -1 // as of a timer
			return f
		},
		Format: func(n Names, a ariadne.Action) string {
			what := ofTimer + n.Node(a.Node)
			if a.Flow.Proto != 0 {
				what = formatDelivery(n, a)
			}
			return what + lateBy + a.What
		},
		Parse: Names.parseLate,
	})
}

const (
	// lateBy stands before how much later a message arrives, or a timer fires.
	lateBy = " by "
	// ofTimer stands before the node of a timer.
	ofTimer = "timer "
)

// onTime is the kind of what a late event is.
func (e *Event) onTime() ariadne.ActionKind {
	if e.Packet == nil {
		return ariadne.ActFire
	}
	return ariadne.ActDeliver
}

// OnTime is the action of what is late by an action of the kind, without how it is varied.
func OnTime(a ariadne.Action) ariadne.Action {
	if a.Flow.Proto == 0 {
		return ariadne.Action{Kind: ariadne.ActFire, Node: a.Node}
	}
	return ariadne.Action{Kind: ArrivalKind(a.Flow.Proto), Node: a.Node, Flow: a.Flow, Seq: a.Seq}
}

func (n Names) parseLate(rest string) (a ariadne.Action, err error) {
	at := strings.LastIndex(rest, lateBy)
	if at < 0 {
		return a, fmt.Errorf("want SOURCE>DESTINATION #NUMBER%sTIME, or timer NODE by TIME", lateBy)
	}
	if node, ok := strings.CutPrefix(rest[:at], ofTimer); ok {
		a, err = n.ofNode(ariadne.ActFire, node)
	} else {
		a, err = n.parseDelivery(rest[:at])
	}
	if err != nil {
		return a, err
	}
	a.Kind, a.What = Late, rest[at+len(lateBy):]
	if d, err := time.ParseDuration(a.What); err != nil || d <= 0 {
		return a, fmt.Errorf("bad time %q", a.What)
	}
	return a, nil
}

// LateBy is how much later than at its time something happens by an action of the kind.
func LateBy(a ariadne.Action) ariadne.Time {
	late, _ := time.ParseDuration(a.What)
	return ariadne.Time(late)
}

// LateBy is how much later than at its time an event happens, or 0.
func (e *Event) LateBy() ariadne.Time {
	if e.Varied == nil {
		return 0
	}
	return ariadne.Time(e.Varied.late)
}

// CanBeLate reports whether events of a kind may happen later where their node does something else.
func CanBeLate(k ariadne.ActionKind) bool { return k == ariadne.ActDeliver || k == ariadne.ActFire }

// Later is an event at a later time. Not ok: it may not happen then, since something else comes
// first, or delays what may not be delayed.
func (y *System) Later(s *State, e *Event, at ariadne.Time) (later Event, ok bool) {
	c, n := y.clock(s), &s.Nodes[e.Node]
	if at <= max(e.At, n.Clock) || at > c.Horizon || at >= c.Start || !y.mayHoldBack(s, at, false) ||
		e.Kind == ariadne.ActDeliver && at >= n.Timer() {
		return later, false
	}
	late := time.Duration(at - e.At)
	later = *e
	later.At, later.Kind, later.Varied = at, Late, &Varied{what: late.String(), late: late}
	return later, true
}

// MayBeLater reports whether there is any later time at which an event may happen.
func (y *System) MayBeLater(s *State, e *Event) bool {
	_, ok := y.Later(s, e, max(e.At, s.Nodes[e.Node].Clock)+1)
	return ok
}

// LaterAs is the event of an action by which an event happens later, whether or not it is known
// that its node does something else then.
func (y *System) LaterAs(s *State, e *Event, a ariadne.Action) (later Event, ok bool) {
	late, err := time.ParseDuration(a.What)
	if a.Kind != Late || !CanBeLate(e.Kind) || err != nil {
		return later, false
	}
	if later, ok = y.Later(s, e, e.At.Add(late)); ok {
		ok = later.Action() == a
	}
	return later, ok
}

// Insert puts events that have a time of their own in their places among those of Enabled.
func Insert(events []Event, more ...Event) []Event {
	aside := len(events)
	for aside > 0 && events[aside-1].IsUntimed() {
		aside--
	}
	rest := append([]Event(nil), events[aside:]...)
	events = append(events[:aside], more...)
	sortEvents(events)
	return append(events, rest...)
}
