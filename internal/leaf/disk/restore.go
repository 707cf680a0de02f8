package disk

import "slices"

// Lacking returns the one image at the point at which the walk is that lacks some parts, and what
// needs these.
func (w *Walk) Lacking(parts []Part) *Images {
	p := w.plan
	s := p.everything()
	for n := range p.live.all {
		if a := &p.atoms[n]; slices.Contains(parts, Part{a.at, a.part}) {
			s.lose(n)
		}
	}
	return p.only(s)
}

// only is the list of one state.
func (p *plan) only(s state) *Images {
	i := p.list()
	i.Lost, i.kept, i.Subsets, i.Legal, i.Exact = []Lost{s.missing()}, []state{s}, 1, 1, true
	return i
}

// Restored returns the one image that has some parts more than an image of the list, with what
// these need. The model allows it where it allows that one.
func (i *Images) Restored(n int, parts []Part) *Images {
	s := i.kept[n].clone()
	for k := range i.live.all {
		if a := &i.plan.atoms[k]; !s.has(k) && slices.Contains(parts, Part{a.at, a.part}) {
			s.keep(k)
		}
	}
	return i.plan.only(s)
}
