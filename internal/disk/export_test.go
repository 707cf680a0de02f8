package disk

import (
	"slices"

	"ariadne"
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
