package strategy

// wakeup is a node of a wake-up tree (Abdulla, Aronis, Jonsson, Sagonas: Optimal
// dynamic partial order reduction, POPL 2014): sequences of events that are to be
// explored from a state, none of which leads to the same trace as another.
type wakeup struct {
	act  *act
	then []*wakeup // in the order in which they are to be explored
}

// insert adds the sequence v to a tree unless a sequence that is in it can be
// continued to the same traces.
func (r relation) insert(tree *[]*wakeup, v []*act) {
	for _, w := range *tree {
		if rest, ok := r.without(v, w.act); ok {
			if len(w.then) > 0 && len(rest) > 0 {
				r.insert(&w.then, rest)
			}
			return
		}
	}
	for i := range v {
		w := &wakeup{act: v[i]}
		*tree = append(*tree, w)
		tree = &w.then
	}
}

// without returns v without a, when a can be the first event of a trace of v: a is
// in v and depends on nothing before it, or it does not depend on anything in v.
func (r relation) without(v []*act, a *act) (rest []*act, ok bool) {
	for i := range v {
		if v[i].event.SameAction(&a.event) {
			rest = append(rest, v[:i]...)
			return append(rest, v[i+1:]...), true
		}
		if r.dependent(v[i], a) {
			return nil, false
		}
	}
	return v, true
}
