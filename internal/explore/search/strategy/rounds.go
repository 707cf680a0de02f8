package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

func init() {
	register(Row{Name: "rounds", Parts: guided, Doc: "DPOR around random paths, with at most --backtracks around each", Orders: true,
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer { return b.rounds(seed) })
		}})
}

// Rounds are rounds of bounded DPOR, each around a random path (MODIST, section 4.5):
// the balance of random walks, which go anywhere, and the thoroughness of DPOR, which
// tries what lies close to a path. DPOR tries the end of a path first and would, with
// few backtracks, try nothing else; so each round has some consecutive steps of its
// path, drawn at random, among which it tries other orders. The first rounds are short:
// as long as little is known of a system, another path tells more than its like.
type Rounds struct {
	Seed       uint64
	Weights    Weights
	Backtracks space.Bound // of one round; 0: one in the first, one more in each, up to 100
	Branch     space.Bound // steps among which one round tries other orders; 0: 32
	Features   *Features   // or nil
	Index      int         // of the next round

	dpor   *DPOR
	temper temper
	ended  bool // the first path of the round has
}

// Begin implements Explorer.
func (r *Rounds) Begin(p *space.Path) (keep int, ok bool) {
	if keep, ok = r.goOn(p); ok {
		return keep, true
	}
	r.temper.begin(p, origin{seed: r.Seed, index: r.Index, weights: &r.Weights, features: r.Features})
	r.dpor = &DPOR{Undisturbed: true, Backtracks: r.Backtracks, Branch: r.Branch,
		Choose: func(p *space.Path, choices []int) (event, awake int) {
			return r.temper.pickAwake(&r.Weights, p, choices)
		}}
	r.Index++
	if r.Backtracks == 0 {
		r.dpor.Backtracks = space.AtMost(min(r.Index, 100))
	}
	if r.Branch == 0 {
		r.dpor.Branch = space.AtMost(32)
	}
	r.ended = false
	return r.dpor.Begin(p)
}

// goOn goes on with the round, whose path p is. Not ok: there is none, or it is over.
func (r *Rounds) goOn(p *space.Path) (keep int, ok bool) {
	if r.dpor != nil {
		if keep, ok = r.dpor.Begin(p); !ok {
			r.dpor = nil
		}
	}
	return keep, ok
}

// Next implements Explorer.
func (r *Rounds) Next(p *space.Path) (event int, ok bool) { return r.dpor.Next(p) }

// End implements Explorer.
func (r *Rounds) End(p *space.Path, e End) error {
	if !r.ended {
		r.ended = true
		if n, ok := r.dpor.Branch.Limit(); ok {
			r.dpor.First = r.temper.draw.below(max(1, p.Len()-n+1))
		}
	}
	return r.dpor.End(p, e)
}
