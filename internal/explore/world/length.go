package world

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// A node that is down comes back after one of the lengths that its faults have. Searches try all of
// these. To try more would multiply what a search of states or orders has to try, and seldom
// matters. So there are lengths besides that no event has (Rules.Seldom): random strategies draw
// some of these for a fault that they have chosen, and a trace names them as all others.

// Lengthened are the event as it is when its fault lasts for each of the lengths that are seldom
// tried: the fault that it is, or the last choice of its variation. It has none when that takes no
// node down.
func (y *System) Lengthened(e *Event) (all []Event) {
	_, k, ok := e.lastOutage()
	if !ok {
		return nil
	}
	for _, length := range y.rules.Seldom[k] {
		all = append(all, e.WithLength(length))
	}
	return all
}

// Lasts reports whether faults may last as long as that of the event does, though no event of
// theirs has the length.
func (y *System) Lasts(e *Event) bool {
	o, k, ok := e.lastOutage()
	return ok && slices.Contains(y.rules.Seldom[k], o.For)
}

// IndexOfLength is the place in some events of one that is another but for how long its fault
// lasts, or -1.
func (e *Event) IndexOfLength(among []Event) int {
	f, _, ok := e.lastOutage()
	if !ok {
		return -1
	}
	return slices.IndexFunc(among, func(g Event) bool {
		if _, _, ok := g.lastOutage(); !ok {
			return false
		}
		as := g.WithLength(f.For)
		return as.SameAction(e)
	})
}

// lastOutage is the fault of an event that takes a node down, or that of the last choice of its
// variation, and its kind.
func (e *Event) lastOutage() (o ariadne.Outage, k ariadne.ActionKind, ok bool) {
	if e.Varied == nil || e.Varied.last.Down == ariadne.Up {
		return o, 0, false
	}
	k, ok = KindNamed(e.Varied.last.Kind())
	return e.Varied.last, k, ok
}

// WithLength is the event with its fault, or that of the last choice of its variation, for another
// length.
func (e *Event) WithLength(length time.Duration) Event {
	o, _, _ := e.lastOutage()
	o.For = length
	to, how := *e, *e.Varied
	if how.vary == "" {
		how.what, how.fault, how.key = o.What(), o, hash.OfText(ariadne.Alternative(o))
	} else {
		all := how.vary.Choices()
		all[len(all)-1].Alternative = ariadne.Alternative(o)
		how.vary = ""
		for _, c := range all {
			how.vary = how.vary.And(c)
		}
	}
	how.readFaults()
	to.Varied = &how
	return to
}

// OutageLength is how long the event's fault takes its node down, or that of the last choice of its
// variation.
func (e *Event) OutageLength() time.Duration {
	o, _, _ := e.lastOutage()
	return o.For
}

// LastsSeldom is Lasts of an action that is not varied.
func (y *System) LastsSeldom(a ariadne.Action) bool {
	f, _ := ariadne.ParseNodeFault(kinds[a.Kind].Name + ":" + a.What)
	o, ok := f.(ariadne.Outage)
	return ok && slices.Contains(y.rules.Seldom[a.Kind], o.For)
}

// WithLengthOf is the event for as long as the fault of an action lasts.
func (e *Event) WithLengthOf(a ariadne.Action) Event {
	f, _ := ariadne.ParseNodeFault(kinds[a.Kind].Name + ":" + a.What)
	return e.WithLength(ariadne.OutageOf(f).For)
}
