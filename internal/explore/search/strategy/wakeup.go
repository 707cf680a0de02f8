package strategy

import "slices"

// wakeup is a node of a wake-up tree (Abdulla, Aronis, Jonsson, Sagonas: Optimal
// dynamic partial order reduction, POPL 2014): sequences of events that are to be
// explored from a state, none of which leads to the same trace as another.
type wakeup struct {
	act  *act
	then []*wakeup // in the order in which they are to be explored
	// Its vertex in the execution tree, once it was begun.
	at   int     // index in vertex.begun
	to   *vertex // where it leads, as long as that is kept
	over bool    // nothing is left to be explored below
}

// insert adds the sequence v to a tree unless a sequence that is in it can be
// continued to the same traces. Settled: that depends on the first n events of v at
// most, whatever follows them.
func (r relation) insert(tree *[]*wakeup, v []*act, n int) (settled bool) {
	for _, w := range *tree {
		if settled, ok := r.insertBelow(w, v, n); ok {
			return settled
		}
	}
	for i := range v {
		w := &wakeup{act: v[i]}
		*tree = append(*tree, w)
		tree = &w.then
	}
	return true
}

// insertBelow does what insert does when the event of w can be the first of v; not ok
// when it cannot.
func (r relation) insertBelow(w *wakeup, v []*act, n int) (settled, ok bool) {
	i, ok := r.initial(v, w.act)
	if !ok {
		return false, false
	}
	settled, n = decided(i, n)
	if rest := without(v, i); len(w.then) > 0 && len(rest) > 0 {
		settled = r.insert(&w.then, rest, n) && settled
	}
	return settled, true
}

// decided: that an event can be the first of a sequence, in which it is the i-th, is
// told by the first n of the sequence. Of these, left are in what comes after it.
func decided(i, n int) (settled bool, left int) {
	if n == 0 || 0 <= i && i < n {
		return true, max(n-1, 0)
	}
	return false, n
}

// initial reports whether a can be the first event of a trace of v: it is v[i] and
// depends on nothing before it, or it does not depend on anything in v and i is -1. In the
// latter case a budget of which both take may not be enough for a and all of v.
func (r relation) initial(v []*act, a *act) (i int, ok bool) {
	shares := false
	for i := range v {
		if v[i].event.SameAction(&a.event) {
			return i, true
		}
		if r.dependent(v[i], a) {
			return 0, false
		}
		shares = shares || v[i].Shares(&a.Footprint)
	}
	return -1, !shares
}

// without returns v without v[i], and v when i is -1.
func without(v []*act, i int) []*act {
	if i < 0 {
		return v
	}
	return slices.Concat(v[:i], v[i+1:])
}
