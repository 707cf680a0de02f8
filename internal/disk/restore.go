package disk

import "slices"

// Lacking returns the one image at the point at which the walk is that lacks some parts, and what needs these.
func (w *Walk) Lacking(parts []Part) *Images {
	p := w.plan
	s := p.everything()
	for _, n := range p.live {
		if a := &p.atoms[n]; slices.Contains(parts, Part{a.at, a.part}) {
			s.lose(n)
		}
	}
	return p.only(s)
}

// only is the list of one state.
func (p *plan) only(s state) *Images {
	return &Images{plan: p, live: slices.Clone(p.live), fresh: p.fresh, last: p.ops - 1, Lost: []Lost{s.lost()}, kept: []state{s}, Subsets: 1, Legal: 1, Exact: true}
}

// Restored returns the one image that has some parts more than an image of the list, with what these need. The model allows it
// where it allows that one.
func (i *Images) Restored(n int, parts []Part) *Images {
	s := i.kept[n].clone()
	for _, k := range i.live {
		if a := &i.plan.atoms[k]; !s.has(k) && slices.Contains(parts, Part{a.at, a.part}) {
			s.keep(k)
		}
	}
	return i.plan.only(s)
}
