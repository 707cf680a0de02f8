package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

func init() {
	register(Row{Name: DefaultName, Parts: append(slices.Clone(guided), partNovelty),
		Doc:    "the natural schedule, then shares for deviations, slow, priorities, rounds, late and novelty",
		States: true, Matches: true, Orders: true, AgainAtFirst: true, Seeks: true,
		Make: func(b *Builder) []Explorer {
			d := Default{Paths: defaultPaths, Bytes: b.Bytes - b.Bytes/noveltyPart, Rounds: *b.rounds(b.Seed),
				Skip:    b.From > 0,
				Workers: b.Workers, Full: b.Full, Faultless: b.Faultless, Late: b.Probes,
				News: b.News, Recall: b.Recall, Seeks: b.Sought != nil,
				Novelty: func(worker int) *Novelty {
					n := b.novelty(SeedOf(b.Seed, worker), worker)
					n.Bytes /= noveltyPart
					return n
				}}
			if b.Without.Novelty {
				d.Novelty = nil
			}
			return d.Explorers()
		}})
}

// noveltyPart: of the memory for paths that are to be tried, one part in so many is for novelty's.
const noveltyPart = 4

// defaultPaths is how many paths the default strategy takes before it gives up to try
// all there are, and what is resumed need not be walked again.
const defaultPaths = 6000

// Series makes paths of one explorer after the other.
type Series struct {
	Parts []Part
	// Full, when not nil, reports that no more states can be known: what relies on
	// that, which is what is exhaustive, then ends.
	Full func() bool
	// Beyond, when not nil, has some more paths when all was explored, if messages may be late and
	// nodes read the clock with them: as many as there were, within bounds.
	Beyond Explorer

	// explored: that was all, and Beyond has so many paths left.
	explored bool
	left     int
	all      int  // paths that have begun
	clocks   bool // a node has read the clock with a message

	made  int    // paths of the first part that have shown anything new
	begun bool   // the first part has had a path
	cut   string // why a part that could have explored all has ended
}

// Part is an explorer with the number of paths it makes; 0: as many as it has. Paths that show
// nothing new, as far as that is known, do not count: a small system has been explored when there
// have been some thousands of these.
type Part struct {
	Explorer Explorer
	Paths    int
}

// Default does well without being told. It takes the natural schedule, and then gives shares of the
// work to what finds different bugs (Portfolio): to paths that deviate little from the natural
// schedule, the fewest deviations first; to natural paths on which something is slow for a while;
// to random priorities; to rounds of DPOR around random paths; to paths that go on from first
// sightings. A small space it exhausts. After so many paths it goes on with what is random. Of
// several workers half do this, and the others what is random from the first, each with a seed of
// its own.
type Default struct {
	Paths   int    // in the part that may exhaust the space; 0: as many as there are
	Bytes   int64  // FewestDeviations.Bytes
	Rounds  Rounds // with the seed of the first worker, and the index to begin with
	Skip    bool   // the first part was made before
	Workers int    // 0: 1
	Full    func() bool
	// Faultless: nothing can happen but what the network does every day, so messages that are late
	// find most.
	Faultless bool
	// Seeks: novelty is told what to look for.
	Seeks bool
	// Late: messages may be late by any time.
	Late bool
	// News returns Portfolio.News of a worker; nil: it is not known.
	News func(worker int) func() News
	// Novelty returns a worker's own; nil: there is none.
	Novelty func(worker int) *Novelty
	// Recall returns a worker's Portfolio.Recall; nil: there is none.
	Recall func(worker int) *Recall
}

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
		all = append(all, d.random(i))
		if i < near {
			rest := all[i].(*Portfolio)
			first := &Thorough{Portfolio{News: rest.News, Recall: rest.Recall,
				Members: []*Member{{Explorer: deviations[i], Tally: Tally{Name: "deviations"}}}}}
			for _, m := range rest.Members {
				first.Members = append(first.Members, &Member{Explorer: m.Explorer, Share: m.Share, Tally: m.Tally})
			}
			s := &Series{Full: d.Full, Parts: []Part{{first, (d.Paths + near - 1) / near}, {Explorer: rest}}}
			if d.Late {
				s.Beyond = &Late{Seed: SeedOf(^d.Rounds.Seed, i)}
			}
			all[i] = s
		}
	}
	return all
}

// random is what a worker draws at random. The share of what is slow is greater: it finds most of
// the bugs in examples/planted on which this was tuned, and soon. Novelty helps most to put faults
// where they matter; where there are none, slow has twice as much and novelty half.
func (d Default) random(worker int) *Portfolio {
	slow, novelty := 2.0, 2.0
	if d.Faultless {
		slow, novelty = 4, 1
	}
	if d.Seeks {
		novelty = 8
	}
	r := d.Rounds
	r.Seed = SeedOf(r.Seed, worker)
	f := &Portfolio{Members: []*Member{{Explorer: &Slow{Seed: r.Seed, Index: r.Index, Features: r.Features},
		Share: slow, Tally: Tally{Name: "slow"}},
		{Explorer: &Priorities{Seed: r.Seed, Index: r.Index, Features: r.Features}, Tally: Tally{Name: "priorities"}},
		{Explorer: &r, Tally: Tally{Name: "rounds"}}}}
	if d.Late {
		late := &Late{Seed: r.Seed, Index: r.Index, Faults: !d.Faultless}
		f.Members = append(f.Members, &Member{Explorer: late, Tally: Tally{Name: LateName}})
	}
	if d.Novelty != nil {
		f.Members = append(f.Members,
			&Member{Explorer: d.Novelty(worker), Share: novelty, Tally: Tally{Name: "novelty"}})
	}
	if d.News != nil {
		f.News = d.News(worker)
	}
	if d.Recall != nil {
		f.Recall = d.Recall(worker)
	}
	return f
}

// lateShare: nearly every step of a path of Late is new from the first late message on, where other
// paths come back to what is known. Where a node has done something else with a late message, its
// clock decides something. Where there are faults, it has half of this.
const (
	lateShare        = 1.0
	lateShareTurning = 2.0
)

// SeedOf is the seed of a worker's own random numbers.
func SeedOf(seed uint64, worker int) uint64 { return seed + uint64(worker)*0x9e3779b97f4a7c15 }

// Begin implements Explorer.
func (s *Series) Begin(p *space.Path) (keep int, ok bool) {
	if s.explored {
		if s.left--; s.left < 0 {
			return 0, false
		}
		return s.Beyond.Begin(p)
	}
	s.all++
	for len(s.Parts) > 0 {
		part := &s.Parts[0]
		missed := ""
		e, exhaustive := part.Explorer.(Exhaustive)
		if s.begun && showedNews(part.Explorer) {
			s.made++
		}
		switch {
		case exhaustive && s.Full != nil && s.Full():
			missed = "the memory for known states was full"
		case part.Paths == 0 || s.made < part.Paths:
			if keep, ok = part.Explorer.Begin(p); ok {
				s.begun = true
				return keep, true
			}
			if exhaustive {
				if missed = e.Missed(); missed == "" {
					if s.Beyond == nil || !s.clocks {
						return 0, false // nothing is left for the others
					}
					s.explored, s.left = true, min(max(s.all, fewestBeyond), mostBeyond)
					return s.Beyond.Begin(p)
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
		s.Parts, s.made, s.begun = s.Parts[1:], 0, false
	}
	return 0, false
}

// fewestBeyond and mostBeyond bound the paths of Beyond.
const (
	fewestBeyond = 300
	mostBeyond   = 3000
)

// now is the explorer whose turn it is.
func (s *Series) now() Explorer {
	if s.explored {
		return s.Beyond
	}
	return s.Parts[0].Explorer
}

// Next implements Explorer.
func (s *Series) Next(p *space.Path) (event int, ok bool) {
	if by := p.Last().By; s.Beyond != nil && by != nil && by.Input.Packet != nil && space.MayDependOnTime(&by.Output) {
		s.clocks = true
	}
	return s.now().Next(p)
}

// End implements Explorer.
func (s *Series) End(p *space.Path, e End) error { return s.now().End(p, e) }

// Explored reports whether all was explored, whatever paths there were since.
func (s *Series) Explored() bool { return s.explored }

// Aside implements Sider: others may still rely on the known states when this one is in a
// part that does not.
func (s *Series) Aside() bool {
	if s.explored {
		return true
	}
	_, exhaustive := s.Parts[0].Explorer.(Exhaustive)
	return !exhaustive || Aside(s.Parts[0].Explorer)
}

// TriesFaultsAtRest implements FaultTrier.
func (s *Series) TriesFaultsAtRest() bool { return TriesFaultsAtRest(s.now()) }

// Knows implements Knower.
func (s *Series) Knows() bool {
	_, exhaustive := s.Parts[0].Explorer.(Exhaustive)
	return exhaustive
}

// Leave implements Leaver.
func (s *Series) Leave() { Leave(s.Parts[0].Explorer) }

// Cut says why a part that was to explore all could not, or "".
func (s *Series) Cut() string { return s.cut }

// Missed implements Exhaustive.
func (s *Series) Missed() string {
	if s.explored || s.cut != "" {
		return s.cut
	}
	if e, ok := s.Parts[0].Explorer.(Exhaustive); ok {
		return e.Missed()
	}
	return "the rest was drawn at random"
}
