//go:build linux

package system

import (
	"errors"
	"fmt"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/node"
)

// freezable is a node as internal/memo has it.
type freezable struct{ starting }

func (m freezable) Apply(in ariadne.Input) (ariadne.Output, error) {
	out, err := m.starting.Apply(in)
	return out, asMemo(err)
}

func (m freezable) Freeze() (memo.Frozen, error) {
	c, err := m.Node.Freeze()
	if err != nil {
		return nil, asMemo(err)
	}
	return frozen{c, m.starting}, nil
}

// asMemo makes a node's error one that internal/memo knows, if it has such.
func asMemo(err error) error {
	switch {
	case errors.Is(err, node.ErrNotFreezable):
		return fmt.Errorf("%w: %w", memo.ErrNotFreezable, err)
	case errors.Is(err, node.ErrLost):
		return fmt.Errorf("%w: %w", memo.ErrLost, err)
	}
	return err
}

// frozen is a checkpoint as internal/memo has it.
type frozen struct {
	*node.Checkpoint
	of starting
}

func (f frozen) Thaw() (memo.Freezable, error) {
	n, err := f.Checkpoint.Thaw()
	if err != nil {
		return nil, err
	}
	return freezable{starting{n, f.of.spec, f.of.def, f.of.learnt, f.of.sought, f.of.files}}, nil
}

// View implements session.Viewer.
func (m freezable) View() (*node.View, error) {
	v, err := m.Node.View()
	return v, asMemo(err)
}
