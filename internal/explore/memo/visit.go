package memo

import (
	"errors"

	"github.com/ariadne-mc/ariadne"
)

// CutError says why a step on the way to a state was cut off.
type CutError string

func (e CutError) Error() string { return "a step on the way to this state was cut off: " + string(e) }

// MemoryReader is an Instance whose memory can be looked at.
type MemoryReader interface {
	// Memory returns the pages that may tell what the node does next, in order, or nil if there are
	// more than most of them.
	Memory(most int) ([]ariadne.MemoryPage, error)
}

// Visit gives f an instance in a local state, to look at. f must not change it. When it
// cannot be brought there the error is a CutError.
func (x *Executor) Visit(l *Local, f func(Instance) error) error {
	for {
		_, cut, err := x.reach(l)
		if err == nil && cut != "" {
			return CutError(cut)
		}
		if err == nil {
			err = f(x.live[l.Node].instance)
		}
		if !errors.Is(err, ariadne.ErrLost) {
			return err
		}
		if err := x.giveUp(l.Node); err != nil {
			return err
		}
	}
}
