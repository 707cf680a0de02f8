package disk

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// Missing are all parts that an image lacks, in the order of the log.
func (i *Images) Missing(n int) (parts []Part) {
	for k := range i.kept[n].lost.all {
		a := &i.plan.atoms[k]
		parts = append(parts, Part{a.at, a.part})
	}
	return parts
}

// Last is the position of the last operation of the log.
func (i *Images) Last() int { return i.last }

// Blame says of an image in few words what is lost first, or "" if nothing is, and which part of
// the last operation is there all the same, or "" if none is.
func (i *Images) Blame(n int) (lost, kept string) {
	var first, there *atom
	if k := i.kept[n].lost.next(0); k != none {
		first = &i.plan.atoms[k]
	}
	for k := i.fresh[0]; k < i.fresh[1] && there == nil; k++ {
		if i.kept[n].has(k) {
			there = &i.plan.atoms[k]
		}
	}
	where := first != nil && there != nil && first.hi > first.lo && there.hi > there.lo && first.ino == there.ino
	if first != nil {
		lost = first.short(where)
	}
	if there != nil {
		kept = there.short(where)
	}
	return lost, kept
}

// short names what an atom does, and on what; where: also at which of the file's bytes.
func (a *atom) short(where bool) string {
	file := a.op.Path
	if file == "" {
		file = a.op.Name
	}
	switch {
	case a.op.Kind == Write && a.hi > a.lo && where:
		return fmt.Sprintf("data of %s (bytes %d to %d)", file, a.lo, a.hi-1)
	case a.op.Kind == Write && a.hi > a.lo:
		return "data of " + file
	case a.op.Kind == Write:
		return "size of " + file
	}
	return a.op.String()
}

// Again returns all images of the point at which the walk is, also those that it has formed before.
func (w *Walk) Again() *Images {
	w.seen = map[ariadne.Digest]bool{}
	var first []state
	if w.stronger != nil {
		first = w.stronger.Again().kept
	}
	return w.plan.images(w.choice, w.seen, false, first)
}
