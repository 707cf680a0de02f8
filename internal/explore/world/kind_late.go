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
func init() {
	register(Late, Kind{
		Name: "late", Doc: "a message's arrival at a time at which its node does something else with it", Overtakes: true, Alike: true,
		With: ariadne.ActDeliver,
		Pending: func(y *System, s *State, e *Event) bool {
			ok := kinds[ariadne.ActDeliver].Pending(y, s, e)
			e.At += ariadne.Time(e.Varied.late)
			return ok
		},
		Take: func(y *System, s *State, e *Event) Input {
			s.delayUntil(e.At, false)
			return kinds[ariadne.ActDeliver].Take(y, s, e)
		},
		Footprint: func(_ *System, e *Event, f Footprint) Footprint {
			f.Takes, f.Delays, f.Late = e.Packet, e.At, e.Varied.late
			f.StartSlack = -1 // as of a timer
			return f
		},
		Format: func(n Names, a ariadne.Action) string { return formatDelivery(n, a) + lateBy + a.What },
		Parse:  Names.parseLate,
	})
}

// lateBy stands before how much later a message arrives.
const lateBy = " by "

func (n Names) parseLate(rest string) (a ariadne.Action, err error) {
	at := strings.LastIndex(rest, lateBy)
	if at < 0 {
		return a, fmt.Errorf("want SOURCE>DESTINATION #NUMBER%sTIME", lateBy)
	}
	if a, err = n.parseDelivery(rest[:at]); err != nil {
		return a, err
	}
	a.Kind, a.What = Late, rest[at+len(lateBy):]
	if d, err := time.ParseDuration(a.What); err != nil || d <= 0 {
		return a, fmt.Errorf("bad time %q", a.What)
	}
	return a, nil
}

// LateBy is how much later than at its time a message arrives by an action of the kind.
func LateBy(a ariadne.Action) ariadne.Time {
	late, _ := time.ParseDuration(a.What)
	return ariadne.Time(late)
}

// LaterDelivery is the event by which the message of a delivery arrives at a later time. Not ok: it
// may not, since something else comes first, or delays what may not be delayed.
func (y *System) LaterDelivery(s *State, e *Event, at ariadne.Time) (later Event, ok bool) {
	c, n := y.clock(s), &s.Nodes[e.Node]
	if at <= max(e.At, n.Clock) || at > c.Horizon || at >= c.Start || at >= n.Timer() || !y.mayHoldBack(s, at, false) {
		return later, false
	}
	late := time.Duration(at - e.At)
	later = *e
	later.At, later.Kind, later.Varied = at, Late, &Varied{what: late.String(), late: late}
	return later, true
}

// MayBeLater reports whether there is any later time at which the message of a delivery may arrive.
func (y *System) MayBeLater(s *State, e *Event) bool {
	_, ok := y.LaterDelivery(s, e, max(e.At, s.Nodes[e.Node].Clock)+1)
	return ok
}

// LaterDeliveryAs is the event of an action by which the message of a delivery arrives later,
// whether or not it is known that its node does something else with it then.
func (y *System) LaterDeliveryAs(s *State, e *Event, a ariadne.Action) (later Event, ok bool) {
	late, err := time.ParseDuration(a.What)
	if a.Kind != Late || e.Kind != ariadne.ActDeliver || err != nil {
		return later, false
	}
	if later, ok = y.LaterDelivery(s, e, e.At.Add(late)); ok {
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
