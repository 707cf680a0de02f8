package space

import (
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// observer is something that a path knows of its states beside what is in them: what nodes show and
// expose, what properties wait for, what was written, where messages come from. It has fields in
// Frame.
type observer interface {
	// begin enters them into the first frame.
	begin(f *Frame)
	// follow enters them into the last frame of a path, behind the step that leads there from the
	// frame before.
	follow(p *Path, from, to *Frame)
	// own gives a frame that is a copy of one of another path memory of its own for what is changed
	// in place. It may take that of was, which the frame was before.
	own(f, was *Frame)
	// past stands for what counts of what was before and is not in the state: it is part of each of
	// its names.
	past(f *Frame) hash.Hash
	// reads stands for what counts of the state itself. Names that do not tell all of a state have
	// it.
	reads(f *Frame) hash.Hash
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

// past adds to a name of a frame that tells all of its state what else counts.
func (p *Path) past(f *Frame, name hash.Hash) hash.Hash {
	for _, o := range p.observers {
		name = name.Plus(o.past(f))
	}
	return name
}

// observed adds it to one that does not tell all.
func (p *Path) observed(f *Frame, name hash.Hash) hash.Hash {
	for _, o := range p.observers {
		name = name.Plus(o.reads(f)).Plus(o.past(f))
	}
	return name
}
