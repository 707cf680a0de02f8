package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

func init() {
	register(Row{Name: "random", Doc: "the natural schedule, then random walks, each with fresh nodes from start to end; nothing is frozen or remembered",
		Lives: true, Make: func(b *Builder) []Explorer {
			var all []Explorer
			for range b.Workers {
				all = append(all, &Random{Seed: b.Seed, Weights: b.Weights, Draw: b.Next})
			}
			return all
		}})
}

// Random are executions with an index: that of index 0 is natural, the others are random
// walks. Each depends on the seed and its index alone, so it can be made again without the
// others, by whichever worker.
type Random struct {
	Seed    uint64
	Weights Weights
	Draw    func() (index int, ok bool) // of the next execution

	index  int
	temper temper
}

// Index is that of the path that has begun last.
func (r *Random) Index() int { return r.index }

// Begin implements Explorer.
func (r *Random) Begin(p *space.Path) (keep int, ok bool) {
	if r.index, ok = r.Draw(); ok && r.index > 0 {
		r.temper.begin(p, origin{seed: r.Seed, index: r.index - 1, weights: &r.Weights})
	}
	return 0, ok
}

// Next implements Explorer.
func (r *Random) Next(p *space.Path) (event int, ok bool) {
	if r.index == 0 {
		return 0, true
	}
	return r.temper.pick(&r.Weights, p), true
}

// End implements Explorer.
func (*Random) End(*space.Path, End) error { return nil }
