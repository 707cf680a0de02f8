package memo

import (
	"errors"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// A machine that comes back after a loss of power finds one of many disks, and reads a part of it.
// So nodes say what the disk of a machine holds, and at what of it a step has looked
// (ariadne.Disks, ariadne.Look). States are related if they differ at most in what no step has
// looked at since then. A state may use a transition of a related one if this transition has looked
// only at places that are the same on both disks. Nothing is executed then. The states stay two,
// with names of their own. To reach one of them by a shared transition, an executor replays its
// inputs on its own disk, and the node must do the same (Executor.replayDiffers). When a step has
// looked at a place that differs, it is executed on each disk. From there on the two states are not
// related.

// relatives are states of a node whose machine has done the same since it was switched on. Their
// disks may differ.
type relatives struct {
	mu sync.Mutex
	// sharers have transitions of their own. The one whose transition was shared last is the first.
	sharers []*Local
	// first is the one that was reached by executing, or nil: a machine that is down has none.
	first *Local
}

// mostSharers bounds how many states are asked.
const mostSharers = 64

// enter makes l one of the states whose transitions may be shared.
func (k *relatives) enter(l *Local) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if slices.Contains(k.sharers, l) {
		return
	}
	if len(k.sharers) >= mostSharers {
		k.sharers = slices.Clone(k.sharers[:mostSharers/2]) // others may be reading the old one
	}
	k.sharers = append(slices.Clip(k.sharers), l)
}

// all are the states whose transitions may be shared.
func (k *relatives) all() []*Local {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sharers
}

// noteShared notes that a transition of l was shared.
func (k *relatives) noteShared(l *Local) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.sharers, l); i > 0 {
		k.sharers = slices.Concat([]*Local{l}, k.sharers[:i], k.sharers[i+1:])
	}
}

// relate finds the states that are related to the one to which an executed transition leads.
func (m *Memo) relate(t *Transition) {
	out, to := &t.Output, t.To
	if t.From.related != nil && out.Looks != nil {
		t.From.related.enter(t.From)
	}
	switch {
	case out.Unreplayable || out.Cut != "":
	case t.Merges:
		if out.Disks == nil {
			return
		}
		as := *out
		as.Content = out.Disks.Rest()
		name := m.system.NameReached(to.Node, ariadne.Digest{}, t.Input, &as)
		m.meeting.Lock()
		defer m.meeting.Unlock()
		if m.related[name] == nil {
			m.related[name] = &relatives{}
		}
		to.disks, to.related = out.Disks, m.related[name]
	case t.From.disks != nil && out.Looks != nil:
		to.disks, to.related = t.From.disks, &relatives{first: to}
	}
}

// sharedTransition returns a transition of a state that is related to l, by this input, if l may
// use it, or nil.
func (m *Memo) sharedTransition(l *Local, in world.Input) *Transition {
	if l.related == nil {
		return nil
	}
	key := in.Key()
	for _, from := range l.related.all() {
		if from == l {
			continue
		}
		t := from.find(key)
		if in.Varied.Draw() != nil {
			t = from.drawn(in)
		}
		if t != nil && t.same(l.disks) {
			l.related.noteShared(from)
			return t
		}
	}
	return nil
}

// same reports whether all at which a transition has looked is the same on other disks.
func (t *Transition) same(d ariadne.Disks) bool {
	if t.Output.Looks == nil || t.Output.Unreplayable || t.Output.Cut != "" {
		return false
	}
	for _, look := range t.Output.Looks {
		if t.From.disks.At(look) != d.At(look) {
			return false
		}
	}
	return true
}

// drawn is the transition that an input comes to which is drawn as it goes, if it is known.
func (l *Local) drawn(in world.Input) *Transition {
	rows := l.known.Load()
	if rows == nil {
		return nil
	}
	given := in.Input()
	for i := range *rows {
		t := (*rows)[i].t
		settled := in
		settled.VariedBy(t.Input.Varied.Variation())
		if settled.Key() == t.key && given.Takes(t.Output.Places) {
			return t
		}
	}
	return nil
}

// enterShared gives l a transition of a related state, under a name of its own.
func (m *Memo) enterShared(l *Local, t *Transition) (*Transition, error) {
	mine, err := transition(m.system, l, t.Input, t.Output)
	if err != nil {
		return nil, err
	}
	mine.To.disks, mine.To.related, mine.To.shared = l.disks, t.To.related, true
	return m.add(mine)
}

// findShared returns a transition of a related state that l may use, or nil. If l was reached by a
// shared transition, the executor executes the missing one in the related state, which has
// checkpoints.
func (x *Executor) findShared(l *Local, in world.Input) (*Transition, error) {
	t := x.memo.sharedTransition(l, in)
	if t != nil || !l.shared || l.related == nil || l.related.first == nil {
		return t, nil
	}
	t, err := x.Transition(l.related.first, in)
	switch {
	case errors.Is(err, ErrElsewhere):
		return nil, nil
	case err != nil || !t.same(l.disks):
		return nil, err
	}
	return t, nil
}
