package strategy

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func init() {
	register(Row{Name: "deviations", Doc: "all states, those with the fewest deviations from the natural schedule first", States: true, Matches: true, Again: true,
		Make: func(b *Builder) []Explorer { return b.states(&FewestDeviations{Bytes: b.Bytes}) }})
}

// FewestDeviations explores the natural schedule, then all paths that deviate from it
// once, then twice, and so on: real systems go wrong by little. It does not go on
// from a state in which it was before, and so reaches every state in the end, with
// the fewest deviations.
type FewestDeviations struct {
	Bytes int64 // about how much memory the paths to be tried may take; 0: no bound
	frontal
}

// Divide implements Divisible.
func (d *FewestDeviations) Divide(n int) []Explorer {
	return divided(n, newFrontier(n, &levels{}, d.Bytes), func(f frontal) Explorer {
		return &FewestDeviations{frontal: f}
	})
}

// Begin implements Explorer.
func (d *FewestDeviations) Begin(p *space.Path) (keep int, ok bool) {
	if d.frontier == nil {
		d.frontal = alone(newFrontier(1, &levels{}, d.Bytes))
	}
	return d.begin(p)
}

// Next implements Explorer.
func (d *FewestDeviations) Next(p *space.Path) (event int, ok bool) {
	if event, ok = d.next(p); ok {
		return event, true
	}
	d.branch(p, d.levelsOf(p))
	f := p.Last()
	if f.Seen && p.Len() > 0 {
		return 0, false
	}
	// A prefix ends in a deviation; what follows is natural.
	if f.Unnatural {
		d.frontier.add(deviated(f), d.now, 0, f.Initial)
		return 0, false
	}
	d.frontier.add(deviated(f), d.now, 1, f.Initial)
	d.now = d.frontier.own(d.now, 0)
	d.prefix = append(d.prefix, 0)
	return 0, true
}

// End implements Explorer.
func (d *FewestDeviations) End(p *space.Path, _ End) error {
	d.branch(p, d.levelsOf(p))
	return nil
}

// levelsEach is how many levels of the frontier there are for each number of deviations. On the
// first ones are the natural steps with a fault in their midst, which begin where a path has been
// anyway. All else is on the last. The start of one node may have thousands of places, most of them
// at a few sites (ariadne.SiteOf). So the first level has the first place at each site, wherever on
// the path it is; the second level has the second place, and so on.
const levelsEach = 64

// deviated is the level of what deviates in a frame.
func deviated(f *space.Frame) float64 { return levelsEach * float64(f.Deviations+1) }

// levelsOf says on which level a path is that goes on by an event after so many steps.
func (d *FewestDeviations) levelsOf(p *space.Path) func(depth, event int) float64 {
	return func(depth, event int) float64 {
		f := p.Frame(depth)
		switch {
		case !f.Deviates(event):
			return levelsEach * float64(f.Deviations)
		case f.IsLate(event):
			return deviated(f)
		}
		return d.levelOfFault(f.Deviations, &f.Enabled[event])
	}
}

// levelOfFault is the level of a natural step with a fault in its midst.
func (d *FewestDeviations) levelOfFault(deviations int, e *world.Event) float64 {
	turn := min(d.frontier.turn(lastSite(e)), levelsEach-2)
	return float64(levelsEach*deviations + 1 + turn)
}

// lastSite names the kind and the site of the last choice of an event that is varied.
func lastSite(e *world.Event) uint64 {
	all := e.Varied.Variation().Choices()
	if len(all) == 0 {
		return 0
	}
	last := all[len(all)-1]
	return ariadne.HashSite(exact(feature(0, 's'), last.Kind()), last.Place)
}

// TriesFaultsAtRest implements FaultTrier.
func (*FewestDeviations) TriesFaultsAtRest() bool { return true }
