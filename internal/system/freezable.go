//go:build linux

package system

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
)

// freezable is a node as internal/explore/memo has it.
type freezable struct{ starting }

func (m freezable) Freeze() (memo.Frozen, error) {
	c, err := m.Node.Freeze()
	if err != nil {
		return nil, err
	}
	return frozen{c, m.starting}, nil
}

// frozen is a checkpoint as internal/explore/memo has it.
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

// Label implements memo.Portable.
func (f frozen) Label(name memo.Reached) (base memo.Reached) {
	return f.Checkpoint.Label(name).(memo.Reached)
}

// Data is what other executors may have of the checkpoint.
func (f frozen) Data() any {
	if p := f.Portable(); p != nil {
		return p
	}
	return nil
}

// Adopt makes a checkpoint of what is another executor's.
func (f frozen) Adopt(data any) (memo.Frozen, error) {
	p, ok := data.(*node.Portable)
	if !ok {
		return nil, fmt.Errorf("%w: the checkpoint is of another kind of node", ariadne.ErrNotFreezable)
	}
	c, err := f.Checkpoint.Adopt(p)
	if err != nil {
		return nil, err
	}
	return frozen{c, f.of}, nil
}

// Move moves the checkpoint's pages to disk.
func (f frozen) Move(to memo.Pages) bool { return f.Checkpoint.Move(to) }

// CanRestore reports whether a checkpoint is of the same start of the node.
func (m freezable) CanRestore(to memo.Frozen) bool {
	f, ok := to.(frozen)
	return ok && m.Node.StartedAs(f.Checkpoint)
}

// Restore has the node go on from a checkpoint of it or of a copy of it.
func (m freezable) Restore(to memo.Frozen) (inPlace bool, err error) {
	f, ok := to.(frozen)
	if !ok {
		return false, fmt.Errorf("node %s: restored to a checkpoint of another kind of node", m.def.Name)
	}
	return m.Node.Restore(f.Checkpoint)
}
