package strategy

import "ariadne/internal/space"

// BreadthFirst explores all paths of n steps before those of n+1. It does not go on
// from a state in which it was before, and so finds the shortest way to every state.
type BreadthFirst struct {
	Bytes int64 // about how much memory the paths to be tried may take; 0: no bound
	frontal
}

// Divide implements Divisible.
func (b *BreadthFirst) Divide(n int) []Explorer {
	f := newFrontier(n, b.Bytes)
	var all []Explorer
	for range n {
		all = append(all, &BreadthFirst{frontal: frontal{frontier: f}})
	}
	return all
}

// Begin implements Explorer.
func (b *BreadthFirst) Begin(p *space.Path) (keep int, ok bool) { return b.begin(p, b.Bytes) }

// Next implements Explorer.
func (b *BreadthFirst) Next(p *space.Path) (event int, ok bool) {
	if event, ok = b.next(p); ok {
		return event, true
	}
	if f := p.Last(); !f.Seen || p.Len() == 0 {
		b.frontier.add(p.Len(), b.now, 0, len(f.Enabled))
	}
	return 0, false
}

// frontal is an explorer that takes prefixes from a frontier.
type frontal struct {
	frontier *frontier
	batch    []int32 // prefixes to try
	now      int32   // the one that is being tried
	follow
}

// begin begins the next path. Who works alone has a frontier of so many bytes.
func (f *frontal) begin(p *space.Path, bytes int64) (keep int, ok bool) {
	if f.frontier == nil {
		f.frontier = newFrontier(1, bytes)
	}
	if len(f.batch) == 0 {
		if f.batch, ok = f.frontier.take(f.batch[:0]); !ok {
			return 0, false
		}
	}
	f.now, f.batch = f.batch[0], f.batch[1:]
	f.prefix = f.frontier.events(f.now, f.prefix[:0])
	return f.follow.begin(p), true
}

// End implements Explorer.
func (*frontal) End(*space.Path, End) error { return nil }

// Leave implements Leaver.
func (f *frontal) Leave() {
	if f.frontier != nil {
		f.frontier.leave()
	}
}

// Missed implements Exhaustive.
func (f *frontal) Missed() string { return f.frontier.missed() }
