package strategy

import "ariadne/internal/space"

// Series makes paths of one explorer after the other.
type Series struct {
	Parts []Part
	// Full, when not nil, reports that no more states can be known: what relies on
	// that, which is what is exhaustive, then ends.
	Full func() bool

	made int    // paths of the first part
	cut  string // why a part that could have explored all has ended
}

// Part is an explorer with the number of paths it makes; 0: as many as it has.
type Part struct {
	Explorer Explorer
	Paths    int
}

// Default does well without being told: it takes the natural schedule and what
// deviates little from it, the fewest deviations first, and then rounds of DPOR
// around random paths. A small space it exhausts in its first part. Of several
// workers half begin with the rounds, each with a seed of its own, because there is no
// telling which finds more.
type Default struct {
	Paths   int    // in the first part
	Bytes   int64  // FewestDeviations.Bytes
	Rounds  Rounds // the second part
	Skip    bool   // the first part was made before
	Workers int    // 0: 1
	Full    func() bool
}

// Explorers returns one for each worker.
func (d Default) Explorers() []Explorer {
	n := max(d.Workers, 1)
	near := (n + 1) / 2
	if d.Skip {
		near = 0
	}
	var all []Explorer
	for _, first := range (&FewestDeviations{Bytes: d.Bytes}).Divide(near) {
		all = append(all, &Series{Full: d.Full, Parts: []Part{{Explorer: first, Paths: (d.Paths + near - 1) / near}, {}}})
	}
	for i := range n {
		r := d.Rounds
		r.Seed = SeedOf(r.Seed, i)
		if i < near {
			all[i].(*Series).Parts[1].Explorer = &r
		} else {
			all = append(all, &r)
		}
	}
	return all
}

// SeedOf is the seed of a worker's own random numbers.
func SeedOf(seed uint64, worker int) uint64 { return seed + uint64(worker)*0x9e3779b97f4a7c15 }

// Begin implements Explorer.
func (s *Series) Begin(p *space.Path) (keep int, ok bool) {
	for len(s.Parts) > 0 {
		part := &s.Parts[0]
		missed := ""
		e, exhaustive := part.Explorer.(Exhaustive)
		switch {
		case exhaustive && s.Full != nil && s.Full():
			missed = "the memory for known states was full"
		case part.Paths == 0 || s.made < part.Paths:
			if keep, ok = part.Explorer.Begin(p); ok {
				s.made++
				return keep, true
			}
			if exhaustive {
				if missed = e.Missed(); missed == "" {
					return 0, false // nothing is left for the others
				}
			}
		}
		if s.cut == "" {
			s.cut = missed
		}
		if len(s.Parts) == 1 {
			return 0, false
		}
		Leave(part.Explorer)
		s.Parts, s.made = s.Parts[1:], 0
	}
	return 0, false
}

// Next implements Explorer.
func (s *Series) Next(p *space.Path) (event int, ok bool) { return s.Parts[0].Explorer.Next(p) }

// End implements Explorer.
func (s *Series) End(p *space.Path, e End) error { return s.Parts[0].Explorer.End(p, e) }

// Leave implements Leaver.
func (s *Series) Leave() { Leave(s.Parts[0].Explorer) }

// Cut says why a part that was to explore all could not, or "".
func (s *Series) Cut() string { return s.cut }

// Missed implements Exhaustive.
func (s *Series) Missed() string {
	if s.cut != "" {
		return s.cut
	}
	if e, ok := s.Parts[0].Explorer.(Exhaustive); ok {
		return e.Missed()
	}
	return "the rest was drawn at random"
}
