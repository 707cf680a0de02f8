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
// around random paths. A small space it exhausts in its first part. There is no telling
// which finds more, and so one worker goes on with both in turn, and of several half
// begin with the rounds, each with a seed of its own.
type Default struct {
	Paths   int    // close to the natural schedule, in the first part; 0: as many as there are
	Bytes   int64  // FewestDeviations.Bytes
	Rounds  Rounds // the second part
	Skip    bool   // the first part was made before
	Workers int    // 0: 1
	Full    func() bool
}

// firstPaths is how many paths one worker takes close to the natural schedule before
// its first round. Some bugs need so little that they show there; with ten times as
// many, those that do not are found that much later.
const firstPaths = 10

// Explorers returns one for each worker.
func (d Default) Explorers() []Explorer {
	n := max(d.Workers, 1)
	near := (n + 1) / 2
	if d.Skip {
		near = 0
	}
	var all []Explorer
	deviations := (&FewestDeviations{Bytes: d.Bytes}).Divide(near)
	for i := range n {
		r := d.Rounds
		r.Seed = SeedOf(r.Seed, i)
		if i >= near {
			all = append(all, &r)
			continue
		}
		first := Part{deviations[i], (d.Paths + near - 1) / near}
		if n == 1 {
			first = d.turns(deviations[i].(Exhaustive), &r)
		}
		all = append(all, &Series{Full: d.Full, Parts: []Part{first, {Explorer: &r}}})
	}
	return all
}

// turns is the first part of one worker: an explorer, which makes the part's paths, and
// rounds, which make about as many.
func (d Default) turns(e Exhaustive, r *Rounds) Part {
	first := firstPaths
	if d.Paths > 0 {
		first = min(first, d.Paths)
	}
	return Part{&Turns{Explorer: e, First: first, Rounds: r}, max(2*d.Paths-first, 0)}
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

// Aside implements Sider: others may still rely on the known states when this one is in a
// part that does not.
func (s *Series) Aside() bool {
	_, exhaustive := s.Parts[0].Explorer.(Exhaustive)
	return !exhaustive || Aside(s.Parts[0].Explorer)
}

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
