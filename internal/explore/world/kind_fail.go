package world

import "github.com/ariadne-mc/ariadne"

// Fail is the number of its kind.
const Fail ariadne.ActionKind = 5

// A system call may fail that would not have: it has no effect and returns an error number.
// Nodes list where, and how (ariadne.Place).
func init() {
	register(Fail,
		Kind{Name: ariadne.CallFails, Doc: "a step in which a system call fails", Fault: "System calls that fail",
			Once: "a failed system call", Within: true})
}
