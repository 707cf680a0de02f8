package disk

import "ariadne"

// Missing are all parts that an image lacks, in the order of the log.
func (i *Images) Missing(n int) (parts []Part) {
	s := i.kept[n]
	for _, k := range i.plan.live {
		if a := &i.plan.atoms[k]; !s.has(k) {
			parts = append(parts, Part{a.at, a.part})
		}
	}
	return parts
}

// Last is the position of the last operation of the log.
func (i *Images) Last() int { return i.plan.ops - 1 }

// Blame says of an image in few words what is lost first, or "" if nothing is, and which part of the last
// operation is there all the same, or "" if none is.
func (i *Images) Blame(n int) (lost, kept string) {
	s := i.kept[n]
	for _, k := range i.plan.live {
		if !s.has(k) {
			lost = i.plan.atoms[k].short()
			break
		}
	}
	for _, k := range i.plan.fresh {
		if s.has(k) {
			return lost, i.plan.atoms[k].short()
		}
	}
	return lost, ""
}

// short names what an atom does, and on what.
func (a *atom) short() string {
	file := a.op.Path
	if file == "" {
		file = a.op.Name
	}
	switch {
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
