package space

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// ForkSpace returns a space with the same states, whose paths may go on while those of p stay as
// they are. It knows no symmetry. Nodes must not live.
func (p *Space) ForkSpace() *Space {
	s := *p
	s.Symmetry, s.before, s.fingerprints = nil, world.State{}, nil
	s.snapshot.Up = nil
	return &s
}

// ForkInto makes f, which NewPath returned for the same system, a path of the first n steps of the
// execution p. f has no bounds.
func (p *Path) ForkInto(f *Path, n int) {
	f.bounds, f.until, f.counted, f.root, f.approaching, f.draw, f.err = Bounds{}, ariadne.Never, nil, min(p.root, n),
		false, nil, nil
	for len(f.frames) <= n {
		f.frames = append(f.frames, Frame{})
	}
	f.n = n + 1
	for i := range n + 1 {
		f.copyFrame(&f.frames[i], &p.frames[i])
	}
}

// copyFrame makes f a copy of a frame of another path, in the memory that it has: what either is
// changed in later is its own.
func (p *Path) copyFrame(f, from *Frame) {
	was := *f
	*f = *from
	f.State = was.State
	f.State.CopyFrom(&from.State)
	f.Enabled, f.grown, f.origins = append(was.Enabled[:0], from.Enabled...), append(was.grown[:0], from.grown...),
		origins{}
	for _, o := range p.observers {
		o.copyLists(f, &was)
	}
}

// ClearBudgets takes from the state at the end of the path what is left of the budgets
// (world.State.ClearBudgets): from there on there are no more faults, and nothing is late.
func (p *Path) ClearBudgets() error {
	f := p.Last()
	f.State.ClearBudgets()
	p.nameState(f)
	return p.fillEnabled(f)
}

// CutExecution keeps the first n steps of the execution.
func (p *Path) CutExecution(n int) { p.Cut(n - p.root) }

// FrameAt is the state after the first i steps of the execution.
func (p *Path) FrameAt(i int) *Frame { return &p.frames[i-p.gone] }
