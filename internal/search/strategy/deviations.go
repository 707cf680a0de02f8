package strategy

import "ariadne/internal/space"

// FewestDeviations explores the natural schedule, then all paths that deviate from it
// once, then twice, and so on: real systems go wrong by little. It does not go on
// from a state in which it was before, and so reaches every state in the end, with
// the fewest deviations.
type FewestDeviations struct {
	tree   tree
	levels [][]int32 // by the number of deviations, prefixes to try, each ending in a deviation
	now    int32
	follow
	began bool
}

// Begin implements Explorer.
func (d *FewestDeviations) Begin(p *space.Path) (keep int, ok bool) {
	if !d.began {
		d.began = true
		return 0, true
	}
	for i, level := range d.levels {
		if len(level) > 0 {
			d.now, d.levels[i] = level[0], level[1:]
			d.prefix = d.tree.events(d.now, d.prefix[:0])
			return d.begin(p), true
		}
	}
	return 0, false
}

// Next implements Explorer.
func (d *FewestDeviations) Next(p *space.Path) (event int, ok bool) {
	if event, ok = d.next(p); ok {
		return event, true
	}
	f := p.Last()
	if f.Seen {
		return 0, false
	}
	for len(d.levels) < f.Deviations+2 {
		d.levels = append(d.levels, nil)
	}
	for i := 1; i < len(f.Enabled); i++ {
		d.levels[f.Deviations+1] = append(d.levels[f.Deviations+1], d.tree.add(d.now, i))
	}
	d.now = d.tree.add(d.now, 0)
	d.prefix = append(d.prefix, 0)
	return 0, true
}

// End implements Explorer.
func (*FewestDeviations) End(*space.Path, End) error { return nil }

// Missed implements Exhaustive.
func (*FewestDeviations) Missed() string { return "" }
