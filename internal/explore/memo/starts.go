package memo

import (
	"errors"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// starts are the checkpoints of a node behind its first input, one for each of a few such inputs.
type starts struct {
	kept   []start
	never  bool   // the node cannot be frozen there, or was lost when a copy went on
	copied *start // where the living node comes from, until it has gone on
}

// start is a first input of a node, undisturbed, what it came to, and the node as it was then.
type start struct {
	input  world.Input
	output ariadne.Output
	frozen Frozen
}

// mostStarts is how many first inputs of a node are kept: a node may be switched on at several
// times.
const mostStarts = 4

// of is the start that comes to the same as an input, or nil.
func (k *starts) of(in *ariadne.Input) *start {
	for i := range k.kept {
		s := &k.kept[i]
		if s.input.Kind == in.Kind && s.input.At == in.At && in.Fault == nil && in.Takes(s.output.Places) {
			return s
		}
	}
	return nil
}

// drop drops all checkpoints.
func (k *starts) drop() error {
	var errs []error
	for i := range k.kept {
		errs = append(errs, k.kept[i].frozen.Drop())
	}
	k.kept, k.copied = nil, nil
	return errors.Join(errs...)
}

// keepStart freezes a node behind its first input.
func (l *Living) keepStart(id ariadne.NodeID, in world.Input, out ariadne.Output) error {
	k := &l.starts[id]
	n, ok := l.nodes[id].(Freezable)
	if !ok || k.never || len(k.kept) == mostStarts || out.Variation() != "" || out.Unreplayable || out.Cut != "" {
		return nil
	}
	began := l.now()
	f, err := n.Freeze()
	took := l.now() - began
	switch {
	case errors.Is(err, ariadne.ErrNotFreezable):
		k.never = true
		l.count(func(c *Counts) { c.Unfrozen++ })
		return nil
	case err != nil:
		return fmt.Errorf("node %s: %w", l.system.Nodes()[id].Name, err)
	}
	l.count(func(c *Counts) { c.Freezes++; c.Freezing += took; c.Freeze.enter(took) })
	k.kept = append(k.kept, start{in, out, f})
	return nil
}

// copyStart has a node live that is as it was behind a start.
func (l *Living) copyStart(id ariadne.NodeID, s *start) error {
	began := l.now()
	n, err := s.frozen.Thaw()
	if err != nil {
		return err
	}
	l.nodes[id], l.starts[id].copied = n, s
	took := l.now() - began
	l.count(func(c *Counts) { c.Thaws++; c.Thawing += took; c.Thaw.enter(took) })
	return nil
}

// startAgain boots a node whose copy could not go on, since an execution before has removed what
// the node has open, and brings it to where the copy was. No start of it is kept any more.
func (l *Living) startAgain(id ariadne.NodeID) error {
	k := &l.starts[id]
	s := *k.copied
	k.never = true
	l.count(func(c *Counts) { c.Lost++ })
	if err := errors.Join(l.nodes[id].Close(), k.drop(), l.boot(id)); err != nil {
		return err
	}
	out, err := l.nodes[id].Apply(s.input.Input())
	if err == nil && out.Digest != s.output.Digest {
		err = &Mismatch{State: l.roots[id], Input: s.input, First: s.output, Second: out}
	}
	l.count(func(c *Counts) { c.Replayed++ })
	return err
}
