package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

func init() {
	register(Row{Name: "depth-first", Doc: "all states, depth first", States: true, Matches: true, Again: true,
		Make: func(b *Builder) []Explorer { return b.states(&DepthFirst{}) }})
	register(Row{Name: "all-paths", Doc: "every path, also paths to known states", Again: true,
		Make: func(b *Builder) []Explorer { return (&DepthFirst{All: true}).Divide(b.Workers) }})
}

// DepthFirst takes the first event of every state, and goes back for the others to
// the deepest state that has any left. It does not go on from a state in which it
// was before, and so reaches every state within the bounds once.
//
// Several of them give each other what they have not tried in the shallowest state.
type DepthFirst struct {
	// All goes on from states in which it was before: every path is taken, also
	// those that lead to the same states.
	All bool

	share *share[branch] // nil: it works alone
	since int            // steps since something was given away
	follow
	next  []int   // by depth, from the end of the prefix on: the next event to try
	first []int32 // of the branch, what it has grown, until the path has come there
	fresh bool    // it has not
	skip  []int   // events where the branch begins that are not of it
	began bool
}

// branch is what is left to try in the state at the end of a prefix: its events
// from one on.
type branch struct {
	prefix []int32
	next   int
	grown  []int32 // events beyond those that there are from the beginning
}

// Divide implements Divisible.
func (d *DepthFirst) Divide(n int) []Explorer {
	s, m := newShare(n, branch{}), newMarks()
	var all []Explorer
	for range n {
		all = append(all, &DepthFirst{All: d.All, share: s, began: true, follow: follow{marks: m}})
	}
	return all
}

// Begin implements Explorer.
func (d *DepthFirst) Begin(p *space.Path) (keep int, ok bool) {
	if !d.began {
		d.began = true
		d.marks = newMarks()
		d.next = append(d.next, 0)
		return 0, true
	}
	for i := len(d.next) - 1; i >= 0; i-- {
		n := len(d.prefix) + i
		if n < p.Len() {
			p.StepVariations(n)
		}
		if d.next[i] < len(p.Frame(n).Enabled) {
			d.next = d.next[:i+1]
			return n, true
		}
	}
	d.next = d.next[:0]
	if d.share == nil {
		return 0, false
	}
	b, ok := d.share.take()
	d.prefix, d.next, d.first, d.fresh = b.prefix, append(d.next, b.next), b.grown, true
	return d.begin(p), ok
}

// Next implements Explorer.
func (d *DepthFirst) Next(p *space.Path) (event int, ok bool) {
	if event, ok = d.follow.next(p); ok {
		return event, true
	}
	i := p.Len() - len(d.prefix)
	if i == 0 && d.fresh {
		d.resume(p)
	}
	if i == len(d.next) {
		if p.Last().Seen && !d.All {
			return 0, false
		}
		d.next = append(d.next, 0)
	}
	event = d.next[i]
	d.next[i]++
	d.pass(i)
	d.step(p)
	return event, true
}

// resume makes known where the branch begins what it has beyond what there is from the
// beginning. Everything else that is known there then was tried before.
func (d *DepthFirst) resume(p *space.Path) {
	f := p.Last()
	var own []int
	for _, n := range d.first {
		own = append(own, d.marks.find(p, n))
	}
	d.skip = d.skip[:0]
	for i := f.Initial; i < len(f.Enabled); i++ {
		if !slices.Contains(own, i) {
			d.skip = append(d.skip, i)
		}
	}
	d.next[0] = min(d.next[0], f.Initial)
	d.first, d.fresh = nil, false
	d.pass(0)
}

// pass leaves out what is not to be tried at a depth.
func (d *DepthFirst) pass(i int) {
	for i == 0 && slices.Contains(d.skip, d.next[0]) {
		d.next[0]++
	}
}

// step counts a step of the path, and gives something away if it is time to.
func (d *DepthFirst) step(p *space.Path) {
	if d.since++; d.share != nil && d.since >= giveEvery && d.share.wanted() {
		d.give(p)
	}
}

// give gives away what is left in the shallowest state that has anything left.
func (d *DepthFirst) give(p *space.Path) {
	for i, next := range d.next {
		n := len(d.prefix) + i
		f := p.Frame(n)
		if n < p.Len() {
			p.StepVariations(n)
		}
		if enabled := len(f.Enabled); next < enabled {
			b := branch{prefix: d.taken(p, n), next: next}
			for j := max(next, f.Initial); j < enabled; j++ {
				if i > 0 || !slices.Contains(d.skip, j) {
					b.grown = append(b.grown, d.marks.of(f, j))
				}
			}
			d.share.give(b)
			d.next[i], d.since = enabled, 0
			return
		}
	}
}

// End implements Explorer. A path that ends where it begins, before anything was asked, has
// nothing left there.
func (d *DepthFirst) End(p *space.Path, _ End) error {
	if i := p.Len() - len(d.prefix); i >= 0 && i < len(d.next) {
		d.next[i] = len(p.Last().Enabled)
	}
	return nil
}

// TriesFaultsAtRest implements FaultTrier.
func (*DepthFirst) TriesFaultsAtRest() bool { return true }

// Leave implements Leaver.
func (d *DepthFirst) Leave() {
	if d.share != nil {
		d.share.leave()
	}
}

// Missed implements Exhaustive.
func (d *DepthFirst) Missed() string {
	if d.share == nil {
		return ""
	}
	return d.share.missed()
}
