package strategy

import "ariadne/internal/space"

// Rounds are rounds of bounded DPOR, each around a random path (MODIST, section 4.5):
// the balance of random walks, which go anywhere, and the thoroughness of DPOR, which
// tries what lies close to a path.
type Rounds struct {
	Seed       uint64
	Weights    Weights
	Backtracks int // of one round; 0: 100
	Branch     int // of one round, as DPOR's
	Index      int // of the next round

	dpor *DPOR
	draw draw
}

// Begin implements Explorer.
func (r *Rounds) Begin(p *space.Path) (keep int, ok bool) {
	if r.dpor != nil {
		if keep, ok = r.dpor.Begin(p); ok {
			return keep, true
		}
	}
	r.draw = newDraw(r.Seed, r.Index)
	r.Index++
	r.dpor = &DPOR{Backtracks: r.Backtracks, Branch: r.Branch, Choose: func(p *space.Path, awake []int) int {
		return r.Weights.pick(&r.draw, p.Last(), awake)
	}}
	if r.Backtracks == 0 {
		r.dpor.Backtracks = 100
	}
	return r.dpor.Begin(p)
}

// Next implements Explorer.
func (r *Rounds) Next(p *space.Path) (event int, ok bool) { return r.dpor.Next(p) }

// End implements Explorer.
func (r *Rounds) End(p *space.Path, e End) error { return r.dpor.End(p, e) }
