package strategy

import "ariadne/internal/space"

// Periphery is depth-first search down to a depth, and from each state there random
// walks to the end: all of the beginning, and samples of what comes of it.
type Periphery struct {
	Seed    uint64
	Weights Weights
	Depth   int
	Walks   int // from each state; 0: 1

	search DepthFirst
	left   int  // walks still to be made from the state where the search is
	again  bool // this is not the first of them
	index  int
	draw   draw
}

// Begin implements Explorer.
func (w *Periphery) Begin(p *space.Path) (keep int, ok bool) {
	w.draw = newDraw(w.Seed, w.index)
	w.index++
	if w.again = w.left > 0; w.again {
		w.left--
		return w.Depth, true
	}
	return w.search.Begin(p)
}

// Next implements Explorer.
func (w *Periphery) Next(p *space.Path) (event int, ok bool) {
	if p.Len() < w.Depth {
		return w.search.Next(p)
	}
	if p.Len() == w.Depth && !w.again {
		if p.Last().Seen {
			return 0, false
		}
		w.left = max(w.Walks, 1) - 1
	}
	return w.Weights.pick(&w.draw, p.Last(), nil), true
}

// End implements Explorer.
func (w *Periphery) End(p *space.Path, e End) error {
	return w.search.End(p, e)
}
