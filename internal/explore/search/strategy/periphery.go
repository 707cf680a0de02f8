package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

func init() {
	register(Row{Name: "periphery", Doc: "depth-first at the beginning, random from there", States: true, Again: true,
		Make: func(b *Builder) []Explorer {
			return (&Periphery{Seed: b.Seed, Weights: b.Weights, Depth: 12, Walks: 10}).Divide(b.Workers)
		}})
}

// Periphery is depth-first search down to a depth, and from each state there random
// walks to the end: all of the beginning, and samples of what comes of it.
//
// Several of them divide the search, and who comes to a state first walks from there.
// A walk depends on the state from which it goes, and on its number among those from
// there, and not on who makes it or by which path the state was reached: any number of workers
// makes the same walks, unless it depends on the order which of some states stands for all. That
// is so of Exploration.Classes, and, where there is no space.Bounds.Depth, of states to which more
// and fewer steps lead.
type Periphery struct {
	Seed    uint64
	Weights Weights
	Depth   int // at least 1
	Walks   int // from each state; 0: 1

	search DepthFirst
	left   int // walks still to be made from the state where the search is
	draw   draw
	chance chance
}

// Divide implements Divisible.
func (w *Periphery) Divide(n int) []Explorer {
	var all []Explorer
	for _, search := range w.search.Divide(n) {
		one := *w
		one.search = *search.(*DepthFirst)
		all = append(all, &one)
	}
	return all
}

// Begin implements Explorer.
func (w *Periphery) Begin(p *space.Path) (keep int, ok bool) {
	if w.left > 0 {
		return w.Depth, true
	}
	return w.search.Begin(p)
}

// Next implements Explorer.
func (w *Periphery) Next(p *space.Path) (event int, ok bool) {
	if p.Len() < w.Depth {
		return w.search.Next(p)
	}
	if f := p.Last(); p.Len() == w.Depth {
		if w.left == 0 {
			if f.Seen {
				return 0, false
			}
			w.left = max(w.Walks, 1)
		}
		w.left--
		seed := w.Seed ^ p.Hash(f).Lo
		w.draw = newDraw(seed, w.left)
		w.chance.begin(p.System().Within(), origin{seed: seed, index: w.left, weights: &w.Weights, from: w.Depth})
	}
	w.search.step(p)
	return w.chance.vary(p, w.Weights.pick(&w.draw, p.Last(), nil), true), true
}

// End implements Explorer.
func (w *Periphery) End(p *space.Path, e End) error { return w.search.End(p, e) }

// Leave implements Leaver.
func (w *Periphery) Leave() { w.search.Leave() }

// Knows implements Knower.
func (*Periphery) Knows() bool { return true }
