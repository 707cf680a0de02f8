package world

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// A node that is down comes back after one of the lengths that its faults have. Searches try all of these. To try more
// would multiply what a search of states or orders has to try, and seldom matters. So there are lengths besides that
// no event has (Rules.Seldom): random strategies draw some of these for a fault that they have chosen, and a trace
// names them as all others.

// Lengthened are the event as it is when its fault lasts for each of the lengths that are seldom tried: the fault that it is, or
// the last choice of its variation. It has none when that takes no node down.
func (y *System) Lengthened(e *Event) (all []Event) {
	_, k, ok := e.lastOutage()
	if !ok {
		return nil
	}
	for _, length := range y.rules.Seldom[k] {
		all = append(all, e.Lasting(length))
	}
	return all
}

// Lasts reports whether faults may last as long as that of the event does, though no event of theirs has the length.
func (y *System) Lasts(e *Event) bool {
	f, k, ok := e.lastOutage()
	return ok && slices.Contains(y.rules.Seldom[k], f.For)
}

// LengthOf is the place in some events of one that is another but for how long its fault lasts, or -1.
func (e *Event) LengthOf(among []Event) int {
	f, _, ok := e.lastOutage()
	if !ok {
		return -1
	}
	return slices.IndexFunc(among, func(g Event) bool {
		if _, _, ok := g.lastOutage(); !ok {
			return false
		}
		as := g.Lasting(f.For)
		return as.SameAction(e)
	})
}

// lastOutage is the fault of an event that takes a node down, or that of the last choice of its variation, and its kind.
func (e *Event) lastOutage() (f ariadne.NodeFault, k ariadne.ActionKind, ok bool) {
	f = e.Varied.Fault()
	if v := e.Varied.Variation(); v != "" {
		all := v.Choices()
		f, _ = ariadne.ParseNodeFault(all[len(all)-1].Alternative)
	}
	if f.Down == ariadne.Up {
		return f, 0, false
	}
	k, ok = KindNamed(f.Kind())
	return f, k, ok
}

// Lasting is the event with its fault, or that of the last choice of its variation, for another length.
func (e *Event) Lasting(length time.Duration) Event {
	f, _, _ := e.lastOutage()
	f.For = length
	to, how := *e, *e.Varied
	if how.vary == "" {
		how.what, how.fault = f.What(), f
	} else {
		all := how.vary.Choices()
		all[len(all)-1].Alternative = f.Alternative()
		how.vary = ""
		for _, c := range all {
			how.vary = how.vary.And(c)
		}
	}
	to.Varied = &how
	return to
}

// For is how long the event's fault takes its node down, or that of the last choice of its variation.
func (e *Event) For() time.Duration {
	f, _, _ := e.lastOutage()
	return f.For
}

// LastsSeldom is Lasts of an action that is not varied.
func (y *System) LastsSeldom(a ariadne.Action) bool {
	f, err := ariadne.ParseNodeFault(kinds[a.Kind].Name + ":" + a.What)
	return err == nil && f.Down != ariadne.Up && slices.Contains(y.rules.Seldom[a.Kind], f.For)
}

// LastingAs is the event for as long as the fault of an action lasts.
func (e *Event) LastingAs(a ariadne.Action) Event {
	f, _ := ariadne.ParseNodeFault(kinds[a.Kind].Name + ":" + a.What)
	return e.Lasting(f.For)
}
