package expose

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Window is what a property sees of the snapshots before the present one: the last ones that differ
// in what it reads. They follow from the order of the events that change that, and from nothing
// else.
type Window struct {
	Names  []string // of tuples
	Up     bool     // it reads which nodes are up
	Length int      // how many snapshots at most
}

// part is what the window has of a snapshot.
func (w *Window) part(s *Snapshot) *Snapshot {
	part := &Snapshot{Sets: make([]*Set, len(s.Sets)), Up: make([]bool, len(s.Up))}
	for i, set := range s.Sets {
		part.Sets[i] = set.only(func(t *Tuple) bool { return slices.Contains(w.Names, t.Name) })
	}
	if w.Up {
		copy(part.Up, s.Up)
	}
	return part
}

// Earlier is what windows have of earlier snapshots; nil: nothing. It does not change.
type Earlier struct {
	by   [][]*Snapshot // by window, the latest last
	hash hash.Hash
}

// In is what a window has, the latest last.
func (e *Earlier) In(window int) []*Snapshot {
	if e == nil {
		return nil
	}
	return e.by[window]
}

// Hash stands for what all windows have.
func (e *Earlier) Hash() hash.Hash {
	if e == nil {
		return hash.Hash{}
	}
	return e.hash
}

// Then is what windows have after a step from one snapshot to another.
func (e *Earlier) Then(windows []Window, from, to *Snapshot) *Earlier {
	var next *Earlier
	for i := range windows {
		w := &windows[i]
		part := w.part(from)
		if part.Hash() == w.part(to).Hash() {
			continue
		}
		if next == nil {
			next = &Earlier{by: make([][]*Snapshot, len(windows))}
			for k := range next.by {
				next.by[k] = e.In(k)
			}
		}
		// Others share the old ones.
		next.by[i] = append(slices.Clone(next.by[i][max(0, len(next.by[i])+1-w.Length):]), part)
	}
	if next == nil {
		return e
	}
	return NewEarlier(next.by)
}

// NewEarlier is what windows have that have some snapshots, the latest last.
func NewEarlier(by [][]*Snapshot) *Earlier {
	e := &Earlier{by: by}
	some := false
	for i, all := range by {
		for _, s := range all {
			some = true
			e.hash = e.hash.Plus(s.Hash()).Plus(hash.Of(uint64(i), 0, 29))
		}
	}
	if !some {
		return nil
	}
	return e
}
