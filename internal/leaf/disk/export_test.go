package disk

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// Without is the image that lacks some parts, and what needs them.
func (i *Images) Without(lost Lost) *Image {
	s := i.plan.everything()
	for n := range i.plan.live.all {
		if a := &i.plan.atoms[n]; slices.Contains(lost, Part{a.at, a.part}) {
			s.lose(n)
		}
	}
	return s.image()
}

// Digests are those of all images.
func (i *Images) Digests() (all []ariadne.Digest) {
	for n := range i.kept {
		all = append(all, i.Image(n).Digest)
	}
	return all
}

// SetBy is the last operation of an image that set the time of modification of an inode, or nil;
// with -1 of what is there now. It looks at all there is.
func (i *Images) SetBy(n int, ino uint64) (last *Op) {
	s := i.plan.everything()
	if n >= 0 {
		s = i.kept[n]
	}
	for k := range i.plan.atoms {
		a := &i.plan.atoms[k]
		own := a.ino != nil && a.ino.ino == ino && a.op.Kind != SetAttr && a.op.Kind != SetXattr
		inside := slices.ContainsFunc(a.sets, func(s setting) bool { return s.entry.dir == ino })
		// also when its first name is lost, and another one is not
		made := a.op.Kind == Create && a.op.Ino == ino
		if made || s.has(int32(k)) && (own || inside) {
			last = a.op
		}
	}
	return last
}

// SetFew sets how many atoms may be lost together at each point, at least.
func (w *Walk) SetFew(n int) {
	for ; w != nil; w = w.stronger {
		w.plan.few = n
	}
}

// Saved reports whether more atoms were not durable at some point.
func (w *Walk) Saved() bool { return w.plan.saved > 0 }
