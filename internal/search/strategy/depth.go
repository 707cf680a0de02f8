package strategy

import "ariadne/internal/space"

// DepthFirst takes the first event of every state, and goes back for the others to
// the deepest state that has any left. It does not go on from a state in which it
// was before, and so reaches every state within the bounds once.
type DepthFirst struct {
	// All goes on from states in which it was before: every path is taken, also
	// those that lead to the same states.
	All bool

	next  []int // by depth, the next event to try
	began bool
}

// Begin implements Explorer.
func (d *DepthFirst) Begin(p *space.Path) (keep int, ok bool) {
	if !d.began {
		d.began = true
		return 0, true
	}
	for n := len(d.next) - 1; n >= 0; n-- {
		if d.next[n] < len(p.Frame(n).Enabled) {
			d.next = d.next[:n+1]
			return n, true
		}
	}
	return 0, false
}

// Next implements Explorer.
func (d *DepthFirst) Next(p *space.Path) (event int, ok bool) {
	n := p.Len()
	if n == len(d.next) {
		if p.Last().Seen && !d.All {
			return 0, false
		}
		d.next = append(d.next, 0)
	}
	d.next[n]++
	return d.next[n] - 1, true
}

// End implements Explorer.
func (*DepthFirst) End(*space.Path, End) error { return nil }

// Missed implements Exhaustive.
func (*DepthFirst) Missed() string { return "" }
