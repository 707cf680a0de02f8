package strategy

import "ariadne/internal/space"

func init() {
	register(Row{Name: "novelty", Doc: "random paths towards new --state",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, worker int) Explorer {
				return &Novelty{Seed: seed, Weights: b.Weights, Features: &b.features, Index: b.From, Bytes: b.Bytes / int64(b.Workers), New: b.Combined(worker)}
			})
		}})
}

// Novelty favours paths that reached something new: half of its walks begin like
// one that did, up to where it did, and go on at random from there. What has led on
// less often comes first.
type Novelty struct {
	Seed    uint64
	Weights Weights
	// New reports whether the last state of a path shows something that was not seen
	// before, and remembers it.
	New func(p *space.Path) bool
	// Bytes is about how much memory the beginnings may take; 0: no bound. When there are
	// more, those are forgotten that have led on often.
	Bytes    int64
	Index    int       // of the next walk
	Features *Features // or nil

	pool   []beginning
	bytes  int64 // of the pool
	draw   draw
	chance chance
	now    follow
	began  bool
}

type beginning struct {
	events []int32
	used   int
}

// bytes is about what it takes, in a pool that is moved when it grows.
func (b *beginning) bytes() int64 { return int64(4*len(b.events)) + 2*32 }

// Begin implements Explorer.
func (w *Novelty) Begin(p *space.Path) (keep int, ok bool) {
	w.draw = newDraw(w.Seed, w.Index)
	w.chance.begin(p.System().Within(), origin{seed: w.Seed, index: w.Index, length: p.Len(), weights: &w.Weights, features: w.Features})
	w.Index++
	w.now.prefix = nil
	if w.now.marks == nil {
		w.now.marks = newMarks()
	}
	if !w.began || len(w.pool) == 0 || w.draw.below(2) == 0 {
		w.began = true
		return 0, true
	}
	// The least used of a few, so that what is new is soon used, and all is now and then.
	best := &w.pool[w.few(func(a, b *beginning) bool { return a.used < b.used })]
	best.used++
	w.now.prefix = best.events
	return w.now.begin(p), true
}

// few draws some of the pool and returns the first of them in an order.
func (w *Novelty) few(less func(a, b *beginning) bool) int {
	first := w.draw.below(len(w.pool))
	for range 3 {
		if i := w.draw.below(len(w.pool)); less(&w.pool[i], &w.pool[first]) {
			first = i
		}
	}
	return first
}

// remember enters the path into the pool.
func (w *Novelty) remember(p *space.Path) {
	b := beginning{events: w.now.taken(p, p.Len())}
	w.pool, w.bytes = append(w.pool, b), w.bytes+b.bytes()
	for w.Bytes > 0 && w.bytes > w.Bytes {
		i, last := w.few(func(a, b *beginning) bool { return a.used > b.used }), len(w.pool)-1
		w.bytes -= w.pool[i].bytes()
		w.pool[i], w.pool[last] = w.pool[last], beginning{}
		w.pool = w.pool[:last]
	}
}

// Next implements Explorer.
func (w *Novelty) Next(p *space.Path) (event int, ok bool) {
	if event, ok = w.now.next(p); ok {
		return event, true
	}
	if p.Len() > len(w.now.prefix) && w.New(p) {
		w.remember(p)
	}
	return w.chance.vary(p, w.Weights.pick(&w.draw, p.Last(), nil), true), true
}

// End implements Explorer.
func (*Novelty) End(*space.Path, End) error { return nil }
