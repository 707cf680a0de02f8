package strategy

import (
	"slices"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// execTree is the tree of the paths that a search by DPOR takes, as much of it as is
// needed to go on. Its vertices are states in which a choice was made. The workers of
// the search share it, and each holds the lock where its path grows, is turned back, and
// is told to others; what takes time, steps and races, they do outside.
//
// The events of a state are begun in an order. An event that was begun earlier sleeps in the
// branches of later ones, whether it has ended or not. So it is the order of beginnings that stands
// for the one in which a worker alone would explore, and what sleeps will have been explored in the
// end. Two things may then come late, and both concern only states in which an event sleeps that is
// still open, which means that something is still explored after it where it was begun:
//
//   - a race found after it tells of a sequence that belongs there (enter);
//   - it turns out to disable something, so that all that is awake has to be tried
//     there (close).
//
// Therefore a vertex whose branches have all ended is kept until all that sleeps in it is closed.
// With one worker everything is closed before the next is begun, and nothing is kept.
type execTree struct {
	crew
	root    *vertex
	began   bool // somebody has begun the first path
	offers  int  // vertices that have something to begin
	done    int  // vertices that are kept although they are done
	most    int  // of these, before all work where the first of them can be closed
	count   int  // paths after the first
	cut     bool // Backtracks has ended the search
	bounded bool // the bounds have taken something away
	ids     uint64
	// undisturbed: DPOR.Undisturbed.
	undisturbed bool
	// These need no lock.
	// an event has set a timer or ended a path (DPOR.looked), or there are faults
	bound      atomic.Bool
	skipped    atomic.Bool // there were races or states outside of First and Branch
	impossible atomic.Bool // the rules did not allow a reversal
}

// keptDone is how many vertices are kept that are done: less than a hundred MB.
const keptDone = 1 << 16

func newExecTree(workers int) *execTree {
	t := &execTree{most: keptDone}
	t.begin(workers)
	return t
}

// vertex is a state in the execution tree.
type vertex struct {
	id     uint64 // vertices are used again; ids are not
	parent *vertex
	via    *wakeup // of parent, leads here
	depth  int
	// sleep is what is not explored from here: what was inherited, and the events of
	// begun. It grows at its end.
	sleep     []*act
	inherited int
	begun     []*wakeup
	// begun, but what it comes to is not known yet; nothing else is begun meanwhile
	busy    *wakeup
	late    []late    // told while busy was an event that was chosen freely
	tree    []*wakeup // to be begun
	live    int       // of begun and busy, those that are not over
	done    bool      // nothing is left
	offered bool      // it is counted in execTree.offers
	wide    bool      // all that is awake is to be tried
	widened bool      // it was begun to
	spare   *wakeup   // when it is done: what is awake, if anything is
	ahead   ahead
}

// late is a sequence that is entered once it is known what the branch comes to that is
// busy: it may belong below that branch.
type late struct {
	source   *act
	sequence []*act
	n        int // as in DPOR.enter
}

// inherits reports whether an event slept from the beginning.
func (v *vertex) inherits(a *act) bool { return slices.Contains(v.sleep[:v.inherited], a) }

// waits reports whether anything sleeps in v that is open.
func (v *vertex) waits() bool {
	return slices.ContainsFunc(v.sleep[:v.inherited], func(a *act) bool { return a.open })
}

// awake returns a branch with the first event of a frame that does not sleep, or nil.
func (t *execTree) awake(v *vertex, f *space.Frame) *wakeup {
	events := f.Enabled
	if t.undisturbed {
		events = events[:f.Plain]
	}
	for i := range events {
		if !asleep(v.sleep, &f.Enabled[i]) {
			return &wakeup{act: &act{event: f.Enabled[i]}}
		}
	}
	return nil
}

// offer tells the others when something is to be begun in v, or no more.
func (t *execTree) offer(v *vertex) {
	offers := v.busy == nil && len(v.tree) > 0
	if offers == v.offered {
		return
	}
	v.offered = offers
	if !offers {
		t.offers--
		return
	}
	t.offers++
	if t.waiting > 0 {
		t.some.Signal()
	}
}

// pop begins the first of the wake-up tree.
func (t *execTree) pop(v *vertex) *wakeup {
	w := v.tree[0]
	v.tree = v.tree[1:]
	v.busy = w
	v.live++
	t.offer(v)
	return w
}

// known enters what the branch comes to that was begun last in v, and the vertex that it
// leads to; nil: it has ended a path.
func (t *execTree) known(v *vertex, a *act, to *vertex) {
	w := v.busy
	a.open = true
	w.act, w.at, w.to = a, len(v.begun), to
	v.sleep, v.begun, v.busy = append(v.sleep, a), append(v.begun, w), nil
	t.offer(v)
	if to == nil {
		w.then = nil
		return
	}
	t.ids++
	to.id, to.parent, to.via, to.depth = t.ids, v, w, v.depth+1
	to.tree, w.then = w.then, nil
}

// next returns a vertex that offers something: the shallowest, after which there is most
// to do, or the one that a worker alone would come to first.
func (t *execTree) next(first bool) *vertex {
	if t.offers == 0 || t.root == nil {
		return nil
	}
	var best *vertex
	var look func(v *vertex)
	look = func(v *vertex) {
		if v.done || best != nil && (first || best.depth <= v.depth) {
			return
		}
		if !first && v.offered {
			best = v
			return
		}
		for _, w := range v.begun {
			if w.to != nil && !w.over {
				look(w.to)
			}
		}
		if best == nil && v.offered {
			best = v
		}
	}
	look(t.root)
	return best
}

// reopen is called when something is to be begun in v.
func (t *execTree) reopen(v *vertex) {
	t.offer(v)
	for u := v; u.done; u = u.parent {
		u.done, u.spare = false, nil
		t.done--
		u.via.over = false
		u.parent.live++
	}
}

// finished marks a vertex as done and says so to its parent.
func (t *execTree) finished(v *vertex, f *space.Frame) {
	v.done = true
	t.done++
	if v.parent == nil {
		if t.done > 1 {
			panic("something in the execution tree was not closed")
		}
		return
	}
	v.parent.ahead.merge(&v.ahead)
	if v.waits() {
		v.spare = t.awake(v, f)
	}
}

// over enters that nothing is left below a branch of v.
func (d *DPOR) over(v *vertex, w *wakeup) {
	v.live--
	w.over = true
	d.tidy(v, w)
}

// tidy closes a branch if it is over and nothing is open that sleeps where it leads to,
// and before that all branches below, which may open it again.
func (d *DPOR) tidy(v *vertex, w *wakeup) {
	if !w.act.open || !w.over {
		return
	}
	if w.to != nil {
		if w.to.waits() {
			return
		}
		for _, u := range w.to.begun {
			d.tidy(w.to, u)
		}
	}
	if w.over {
		d.close(v, w)
	}
}

// close closes a branch of v: no race and no widening below it can have to do with the
// rest of the tree any more.
func (d *DPOR) close(v *vertex, w *wakeup) {
	a := w.act
	a.open = false
	if w.to != nil {
		d.tree.done--
		d.free = append(d.free, w.to)
		w.to = nil
	}
	later := v.begun[w.at+1:]
	if a.disables {
		for _, u := range later {
			d.widenBelow(u, a)
		}
	}
	for _, u := range later {
		d.closeBelow(v, u, a)
	}
}

// widenBelow widens what is done below a branch and in which an event sleeps that has
// turned out to disable others. An unfinished vertex looks at that when it is finished.
func (d *DPOR) widenBelow(w *wakeup, a *act) {
	v := w.to
	if v == nil || !v.inherits(a) {
		return
	}
	d.widenDone(v)
	for _, u := range v.begun {
		d.widenBelow(u, a)
	}
}

// widenDone has what is awake tried in a vertex that may be done.
func (d *DPOR) widenDone(v *vertex) {
	if !v.done || v.spare == nil {
		return
	}
	if d.leaves(v.depth) {
		d.tree.skipped.Store(true)
		return
	}
	d.widened(v)
	v.tree = append(v.tree, v.spare)
	d.tree.reopen(v)
}

func (d *DPOR) widened(v *vertex) {
	v.wide = true
	if !v.widened {
		v.widened = true
		d.Widened++
	}
}

// widenAll widens all that is in the tree from v on.
func (d *DPOR) widenAll(v *vertex) {
	v.wide = true
	d.widenDone(v)
	for _, w := range v.begun {
		if w.to != nil {
			d.widenAll(w.to)
		}
	}
}

// closeBelow closes what can be, of a branch of v and below it, now that an event is
// closed that sleeps where the branch leads to.
func (d *DPOR) closeBelow(v *vertex, w *wakeup, a *act) {
	if w.to == nil || !w.to.inherits(a) {
		return
	}
	for _, u := range w.to.begun {
		d.closeBelow(w.to, u, a)
	}
	d.tidy(v, w)
}

// enter adds to what is to be explored from v the sequence s, which a race after the
// event source has told of: that is begun in v, or sleeps there. Branches of v that were
// begun before since are known not to begin a trace of s. Settled: as in relation.insert.
func (d *DPOR) enter(v *vertex, since int, source *act, s []*act, n int) (settled bool) {
	for i := since; i < len(v.sleep); i++ {
		k, ok := d.rel.initial(s, v.sleep[i])
		if !ok {
			continue
		}
		settled, n = decided(k, n)
		if i < v.inherited {
			return settled
		}
		// Somebody explores it. Where source does not sleep, the paths will tell of
		// all that is to be explored themselves.
		to := v.begun[i-v.inherited].to
		if rest := without(s, k); to != nil && len(rest) > 0 && to.inherits(source) {
			settled = d.enter(to, 0, source, rest, n) && settled
		}
		return settled
	}
	if w := v.busy; w != nil {
		if w.act.by == nil {
			v.late = append(v.late, late{source, slices.Clone(s), n})
			return false
		}
		if settled, ok := d.rel.insertBelow(w, s, n); ok {
			return settled
		}
	}
	if len(v.tree) > 0 && v.tree[0].act.by == nil {
		// It stands for all that is awake, which will be tried anyway, but not for s: what
		// is explored after it would tell nothing of the events that sleep on there.
		v.tree = nil
	}
	settled = d.rel.insert(&v.tree, s, n)
	d.tree.reopen(v)
	return settled
}

// enterLate enters what was told of v while nobody knew what its branch that was busy
// would come to. Branches of v that were begun before since have been looked at.
func (d *DPOR) enterLate(v *vertex, since int) {
	all := v.late
	v.late = nil
	for _, l := range all {
		d.enter(v, since, l.source, l.sequence, l.n)
	}
}
