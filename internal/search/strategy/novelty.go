package strategy

import "ariadne/internal/space"

// Novelty favours paths that reached something new: half of its walks begin like
// one that did, up to where it did, and go on at random from there. What has led on
// less often comes first.
type Novelty struct {
	Seed    uint64
	Weights Weights
	// New reports whether the last state of a path shows something that was not seen
	// before, and remembers it.
	New func(p *space.Path) bool

	pool  []beginning
	Index int // of the next walk
	draw  draw
	now   follow
	began bool
}

type beginning struct {
	events []int32
	used   int
}

// Begin implements Explorer.
func (w *Novelty) Begin(p *space.Path) (keep int, ok bool) {
	w.draw = newDraw(w.Seed, w.Index)
	w.Index++
	w.now.prefix = nil
	if !w.began || len(w.pool) == 0 || w.draw.below(2) == 0 {
		w.began = true
		return 0, true
	}
	// The least used of a few, so that what is new is soon used, and all is now and then.
	best := &w.pool[w.draw.below(len(w.pool))]
	for range 3 {
		if b := &w.pool[w.draw.below(len(w.pool))]; b.used < best.used {
			best = b
		}
	}
	best.used++
	w.now.prefix = best.events
	return w.now.begin(p), true
}

// Next implements Explorer.
func (w *Novelty) Next(p *space.Path) (event int, ok bool) {
	if event, ok = w.now.next(p); ok {
		return event, true
	}
	if p.Len() > len(w.now.prefix) && w.New(p) {
		var events []int32
		for i := range p.Len() {
			events = append(events, int32(p.Frame(i).Taken))
		}
		w.pool = append(w.pool, beginning{events: events})
	}
	return w.Weights.pick(&w.draw, p.Last(), nil), true
}

// End implements Explorer.
func (*Novelty) End(*space.Path, End) error { return nil }
