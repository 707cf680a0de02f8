package world

import "github.com/ariadne-mc/ariadne"

// Preempt is the number of its kind.
const Preempt ariadne.ActionKind = 6

// Where several threads of a node are ready another one may go first, and the one that would
// have gone is late: it goes on when no other can. Nodes list where, and which (ariadne.Place).
func init() {
	register(Preempt,
		Kind{Name: ariadne.ThreadLate, Doc: "a step in which a thread is late",
			Fault: "Threads that are late although they could go on", Once: "a preempted thread", Within: true,
			Whole: true})
}
