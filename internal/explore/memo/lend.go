package memo

import (
	"errors"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// A machine that comes back after a loss of power finds one of many disks, and looks at a part of
// it. So nodes say what a disk holds that a machine is left with, and at what of it a step has
// looked (ariadne.Disks, ariadne.Look), and states that differ at most in what nobody has looked at
// since are kin: where one of them has a transition that has looked only at what is the same on
// both disks, the other one has it too, and nothing is executed. The states stay two, with names of
// their own: who comes to one of them by what was lent replays its inputs on its own disk, and has
// to do the same (Executor.astray). When a step has looked at what is not the same, it is executed
// on either disk, and from there on the two have nothing in common.

// kin are states of a node whose machine has done the same since it was switched on, from disks
// that need not be the same.
type kin struct {
	mu sync.Mutex
	// lenders are those that have transitions of their own, those first that have lent some last.
	lenders []*Local
	// first is the one that was reached by executing, or nil: a machine that is down has none.
	first *Local
}

// mostLenders bounds how many are asked.
const mostLenders = 64

// enter makes l one of those that may lend.
func (k *kin) enter(l *Local) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if slices.Contains(k.lenders, l) {
		return
	}
	if len(k.lenders) >= mostLenders {
		k.lenders = slices.Clone(k.lenders[:mostLenders/2]) // others may be reading the old one
	}
	k.lenders = append(slices.Clip(k.lenders), l)
}

// all are those that may lend.
func (k *kin) all() []*Local {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lenders
}

// lent notes that l has lent something.
func (k *kin) lent(l *Local) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.lenders, l); i > 0 {
		k.lenders = slices.Concat([]*Local{l}, k.lenders[:i], k.lenders[i+1:])
	}
}

// relate finds the kin of the state to which a transition leads that was executed.
func (m *Memo) relate(t *Transition) {
	out, to := &t.Output, t.To
	if t.From.kin != nil && out.Looks != nil {
		t.From.kin.enter(t.From)
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
		if m.kin[name] == nil {
			m.kin[name] = &kin{}
		}
		to.disks, to.kin = out.Disks, m.kin[name]
	case t.From.disks != nil && out.Looks != nil:
		to.disks, to.kin = t.From.disks, &kin{first: to}
	}
}

// lend returns what a state of l's kin does with an input, when it would be the same in l; else
// nil.
func (m *Memo) lend(l *Local, in world.Input) *Transition {
	if l.kin == nil {
		return nil
	}
	key := in.Key()
	for _, from := range l.kin.all() {
		if from == l {
			continue
		}
		t := from.find(key)
		if in.Varied.Draw() != nil {
			t = from.drawn(in)
		}
		if t != nil && t.same(l.disks) {
			l.kin.lent(from)
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

// borrow enters in l what its kin has lent it.
func (m *Memo) borrow(l *Local, t *Transition) (*Transition, error) {
	mine, err := transition(m.system, l, t.Input, t.Output)
	if err != nil {
		return nil, err
	}
	mine.To.disks, mine.To.kin, mine.To.borrowed = l.disks, t.To.kin, true
	return m.add(mine)
}

// lender is a transition of l's kin that l may have too, or nil. Where l was reached by what was
// lent, one is executed for it in the state that lent: there are checkpoints.
func (x *Executor) lender(l *Local, in world.Input) (*Transition, error) {
	t := x.memo.lend(l, in)
	if t != nil || !l.borrowed || l.kin == nil || l.kin.first == nil {
		return t, nil
	}
	t, err := x.Transition(l.kin.first, in)
	switch {
	case errors.Is(err, ErrElsewhere):
		return nil, nil
	case err != nil || !t.same(l.disks):
		return nil, err
	}
	return t, nil
}
