package strategy

import "ariadne/internal/space"

// BreadthFirst explores all paths of n steps before those of n+1. It does not go on
// from a state in which it was before, and so finds the shortest way to every state.
type BreadthFirst struct {
	tree  tree
	queue []int32 // prefixes to try
	now   int32   // the one that is being tried
	follow
	began bool
}

// Begin implements Explorer.
func (b *BreadthFirst) Begin(p *space.Path) (keep int, ok bool) {
	if !b.began {
		b.began = true
		return 0, true
	}
	if len(b.queue) == 0 {
		return 0, false
	}
	b.now, b.queue = b.queue[0], b.queue[1:]
	b.prefix = b.tree.events(b.now, b.prefix[:0])
	return b.begin(p), true
}

// Next implements Explorer.
func (b *BreadthFirst) Next(p *space.Path) (event int, ok bool) {
	if event, ok = b.next(p); ok {
		return event, true
	}
	if !p.Last().Seen {
		for i := range p.Last().Enabled {
			b.queue = append(b.queue, b.tree.add(b.now, i))
		}
	}
	return 0, false
}

// End implements Explorer.
func (*BreadthFirst) End(*space.Path, End) error { return nil }

// Missed implements Exhaustive.
func (*BreadthFirst) Missed() string { return "" }
