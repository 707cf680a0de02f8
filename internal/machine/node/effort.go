//go:build linux

package node

// effort is what a step has done, by which a loop is told from long work.
type effort struct {
	calls      int
	moved      int // of them, those that have read or written something
	byNumber   callCounts
	lastOpened int // how many files the step had opened when it last opened a further one
	gotOn      int // calls made by then
}

// made is how many calls that were.
func (e *effort) made() int { return e.calls }

// makes enters a call.
func (e *effort) makes(nr int) {
	e.calls++
	e.byNumber.add(nr)
}

// moves notes that a call has read or written something.
func (e *effort) moves() { e.moved++ }

// over reports whether the step has ended without coming to rest. outage: something takes the node
// down in its midst.
func (s *step) over() bool { return s.diverged != "" || s.cut != "" || s.outage != nil }
