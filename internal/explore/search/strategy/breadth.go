package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

func init() {
	register(Row{Name: "breadth-first", Doc: "all states, those with the fewest steps first", States: true,
		Matches: true, Again: true,
		Make: func(b *Builder) []Explorer { return b.states(&BreadthFirst{Bytes: b.Bytes}) }})
}

// BreadthFirst explores all paths of n steps before those of n+1. It does not go on
// from a state in which it was before, and so finds the shortest way to every state.
type BreadthFirst struct {
	Bytes int64 // about how much memory the paths to be tried may take; 0: no bound
	frontal
}

// Divide implements Divisible.
func (b *BreadthFirst) Divide(n int) []Explorer {
	return divided(n, newFrontier(n, &levels{}, b.Bytes), func(f frontal) Explorer { return &BreadthFirst{frontal: f} })
}

// Begin implements Explorer.
func (b *BreadthFirst) Begin(p *space.Path) (keep int, ok bool) {
	if b.frontier == nil {
		b.frontal = alone(newFrontier(1, &levels{}, b.Bytes))
	}
	return b.begin(p)
}

// Next implements Explorer.
func (b *BreadthFirst) Next(p *space.Path) (event int, ok bool) {
	if event, ok = b.next(p); ok {
		return event, true
	}
	b.branch(p, asDeep)
	if f := p.Last(); !f.Seen || p.Len() == 0 {
		b.frontier.add(float64(p.Len()), b.now, 0, f.Initial)
	}
	return 0, false
}

// End implements Explorer.
func (b *BreadthFirst) End(p *space.Path, _ End) error {
	b.branch(p, asDeep)
	return nil
}

func asDeep(depth, _ int) float64 { return float64(depth) }

// TriesFaultsAtRest implements FaultTrier.
func (*BreadthFirst) TriesFaultsAtRest() bool { return true }
