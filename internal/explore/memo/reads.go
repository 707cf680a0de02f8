package memo

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// ClockNoter is an instance that can note where its programs read the clock.
type ClockNoter interface {
	// NoteClockReads has it note that from now on. At read number jump, from 1, its clock goes on
	// by a time; 0: at none.
	NoteClockReads(jump int, by ariadne.Time)
	// ClockReads are the reads that it has noted, in order.
	ClockReads() [][]ariadne.CodeLine
}

// ClockReads executes a transition on an instance of its own, of which nothing is remembered, and
// returns what was done and where the node's programs have read the clock. At read number jump the
// clock goes on. Not ok: the instance cannot note that, or did not come to the state.
func (x *Executor) ClockReads(l *Local, in world.Input, jump int, by ariadne.Time) (out ariadne.Output,
	reads [][]ariadne.CodeLine, ok bool, err error) {
	var n ClockNoter
	out, ok, err = x.Try(l, in, func(m Instance) (notes bool) {
		if n, notes = m.(ClockNoter); notes {
			n.NoteClockReads(jump, by)
		}
		return notes
	})
	if ok && err == nil {
		reads = n.ClockReads()
	}
	return out, reads, ok, err
}

// Try executes a transition on an instance of its own, of which nothing is remembered. prepare
// says whether the instance, which is in the state then, can do what is wanted of it. Not ok: it
// cannot, or did not come to the state.
func (x *Executor) Try(l *Local, in world.Input, prepare func(Instance) bool) (out ariadne.Output, ok bool,
	err error) {
	out, comparable, err := x.again(l, func(m Freezable) (out ariadne.Output, err error) {
		if ok = prepare(m); ok {
			out, err = x.apply(m, in)
		}
		return out, err
	})
	return out, ok && comparable, err
}
