package strategy

import "ariadne/internal/space"

// Series makes paths of one explorer after the other.
type Series struct {
	Parts []Part
	made  int // paths of the first part
}

// Part is an explorer with the number of paths it makes; 0: as many as it has.
type Part struct {
	Explorer Explorer
	Paths    int
}

// Default does well without being told: it takes the natural schedule and what
// deviates little from it, the fewest deviations first, for so many paths, and then
// rounds of DPOR around random paths. A small space it exhausts in its first part.
func Default(seed uint64, w Weights, paths int) Explorer {
	return &Series{Parts: []Part{
		{Explorer: &FewestDeviations{}, Paths: paths},
		{Explorer: &Rounds{Seed: seed, Weights: w}},
	}}
}

// Begin implements Explorer.
func (s *Series) Begin(p *space.Path) (keep int, ok bool) {
	for len(s.Parts) > 0 {
		part := &s.Parts[0]
		if part.Paths == 0 || s.made < part.Paths {
			keep, ok = part.Explorer.Begin(p)
			if ok {
				s.made++
				return keep, true
			}
			if e, exhaustive := part.Explorer.(Exhaustive); exhaustive && e.Missed() == "" {
				return 0, false // nothing is left for the others
			}
		}
		if len(s.Parts) == 1 {
			return 0, false
		}
		s.Parts, s.made = s.Parts[1:], 0
	}
	return 0, false
}

// Next implements Explorer.
func (s *Series) Next(p *space.Path) (event int, ok bool) { return s.Parts[0].Explorer.Next(p) }

// End implements Explorer.
func (s *Series) End(p *space.Path, e End) error { return s.Parts[0].Explorer.End(p, e) }

// Missed implements Exhaustive.
func (s *Series) Missed() string {
	if e, ok := s.Parts[0].Explorer.(Exhaustive); ok {
		return e.Missed()
	}
	return "the rest was drawn at random"
}
