//go:build linux

package run

import (
	"errors"
	"fmt"

	"ariadne/internal/memo"
	"ariadne/internal/node"
)

// machine is a node as internal/memo has it.
type machine struct{ starting }

func (m machine) Freeze() (memo.Frozen, error) {
	c, err := m.Node.Freeze()
	if errors.Is(err, node.ErrNotFreezable) {
		return nil, fmt.Errorf("%w: %w", memo.ErrNotFreezable, err)
	}
	if err != nil {
		return nil, err
	}
	return frozen{c, m.starting}, nil
}

// frozen is a checkpoint as internal/memo has it.
type frozen struct {
	*node.Checkpoint
	of starting
}

func (f frozen) Thaw() (memo.Machine, error) {
	n, err := f.Checkpoint.Thaw()
	if err != nil {
		return nil, err
	}
	return machine{starting{n, f.of.spec, f.of.def, f.of.learnt}}, nil
}
