package disk

import (
	"fmt"

	"ariadne"
)

// lacks reports whether an image lacks an atom of i.live.
func (i *Images) lacks(n int, k int32) bool {
	s := i.kept[n]
	return k >= s.from && !s.kept[k-s.from] // nothing of i.live was durable
}

// Missing are all parts that an image lacks, in the order of the log.
func (i *Images) Missing(n int) (parts []Part) {
	for _, k := range i.live {
		if a := &i.plan.atoms[k]; i.lacks(n, k) {
			parts = append(parts, Part{a.at, a.part})
		}
	}
	return parts
}

// Last is the position of the last operation of the log.
func (i *Images) Last() int { return i.last }

// Blame says of an image in few words what is lost first, or "" if nothing is, and which part of the last
// operation is there all the same, or "" if none is.
func (i *Images) Blame(n int) (lost, kept string) {
	var first, there *atom
	for _, k := range i.live {
		if i.lacks(n, k) {
			first = &i.plan.atoms[k]
			break
		}
	}
	for _, k := range i.fresh {
		if !i.lacks(n, k) {
			there = &i.plan.atoms[k]
			break
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
	return w.plan.images(w.choice, w.seen, false)
}
