package space

import (
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// observer is something that a path knows of its states beside what is in them: what nodes show and
// expose, what properties wait for, what was written, where messages come from. It has fields in
// Frame.
type observer interface {
	// beginPath enters them into the first frame.
	beginPath(f *Frame)
	// followStep enters them into the last frame of a path, behind the step that leads there from
	// the frame before.
	followStep(p *Path, from, to *Frame)
	// copyLists gives a frame that is a copy of one of another path memory of its own for what is
	// changed in place. It may take that of was, which the frame was before.
	copyLists(f, was *Frame)
	// hashPast stands for what counts of what was before and is not in the state: it is part of
	// each of its names.
	hashPast(f *Frame) hash.Hash
	// hashReads stands for what counts of the state itself. Names that do not tell all of a state
	// have it.
	hashReads(f *Frame) hash.Hash
}

// observers are those of a space. Each may read in a frame what those before it have entered.
func (p *Space) observers() (all []observer) {
	if p.Properties != nil {
		all = append(all, exposing{p})
	}
	if p.Tells != nil {
		all = append(all, telling{p})
	}
	if p.Shows != nil {
		all = append(all, showing{p})
	}
	if p.Final != nil {
		all = append(all, writing{p})
	}
	if p.Symmetry != nil {
		all = append(all, p.Symmetry)
	}
	return all
}

// addPast adds to a name of a frame that tells all of its state what else counts.
func (p *Path) addPast(f *Frame, name hash.Hash) hash.Hash {
	for _, o := range p.observers {
		name = name.Plus(o.hashPast(f))
	}
	return name
}

// addObserved adds it to one that does not tell all.
func (p *Path) addObserved(f *Frame, name hash.Hash) hash.Hash {
	for _, o := range p.observers {
		name = name.Plus(o.hashReads(f)).Plus(o.hashPast(f))
	}
	return name
}
