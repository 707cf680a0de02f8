package space

import (
	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/memo"
	"ariadne/internal/property"
	"ariadne/internal/world"
)

// Properties are what must hold in global states. What they say is a function of the snapshot alone, so whoever
// searches judges each snapshot once, and orders of events matter to them where both change what is read.
type Properties interface {
	// Find is what is read of a step.
	Find(id ariadne.NodeID, out *ariadne.Output) expose.Found
	// ReadsUp: whether nodes are up is read, too.
	ReadsUp() bool
	// Judge says what does not hold in a snapshot, or "".
	Judge(s *expose.Snapshot, m expose.Moment) string
	// Goals are what must happen.
	Goals() []property.Goal
	// Aims says of each goal, by a bit, whether it must become true from a snapshot on, and whether it is.
	Aims(s *expose.Snapshot) (when, holds uint64)
	// Reads says in words what a goal reads of a snapshot.
	Reads(goal int, s *expose.Snapshot) string
	// Err is what is wrong with a property that could not be judged. After that nothing is judged.
	Err() error
}

// expose enters into a frame what the nodes expose, with Space.Properties. from is the frame before it, or nil.
func (p *Space) expose(from, to *Frame) {
	if from == nil {
		to.Exposed, to.Past, to.Exposes, to.Waits = make([]*expose.Set, len(p.roots)), nil, true, 0
		p.aim(to)
		return
	}
	to.Exposed, to.Past, to.Broken, to.Waits = append(to.Exposed[:0], from.Exposed...), from.Past, false, from.Waits
	if to.Exposes = p.Exposes(to.By); !to.Exposes {
		return
	}
	found, set := p.found(to.By), &to.Exposed[to.By.From.Node]
	if *set = (*set).After(found.Changes); takesDown(to.By) {
		*set = nil
	}
	for _, e := range found.Events {
		to.Past = to.Past.Then(e)
	}
	p.aim(to)
}

// aim enters into a frame which goals it waits for, in addition to those of the frame before.
func (p *Space) aim(f *Frame) {
	if len(p.Properties.Goals()) > 0 {
		when, holds := p.Properties.Aims(p.snapshotOf(f))
		f.Waits = (f.Waits | when) &^ holds
	}
}

// waits stands for the goals that a frame waits for because of what was: what its snapshot says of them does not.
func (p *Space) waits(f *Frame) (h world.Hash) {
	if f.Waits == 0 {
		return h
	}
	past := f.Waits
	for i, g := range p.Properties.Goals() {
		if g.When == "" {
			past &^= 1 << i
		}
	}
	if past == 0 {
		return h
	}
	return world.HashOf(past, 0, 23)
}

// Exposes reports whether a transition may change what is read of a snapshot.
func (p *Space) Exposes(t *memo.Transition) bool {
	if p.Properties == nil {
		return false
	}
	return !p.found(t).None() || takesDown(t) || p.Properties.ReadsUp() && t.Input.Kind == ariadne.Start
}

// takesDown: the node's programs are no more after it.
func takesDown(t *memo.Transition) bool {
	return t.Effect.Down != ariadne.Up && t.Effect.Down != ariadne.Paused
}

// found is what is read of a transition, which is looked for once.
func (p *Space) found(t *memo.Transition) *expose.Found {
	f := t.Found.Load()
	if f == nil {
		found := p.Properties.Find(t.From.Node, &t.Output)
		f = &found
		t.Found.Store(f)
	}
	return f
}

// Snapshot is what the nodes expose at the end of the path. It is good until the next call.
func (p *Path) Snapshot() *expose.Snapshot {
	return p.space.snapshotOf(p.Last())
}

func (p *Space) snapshotOf(f *Frame) *expose.Snapshot {
	s := &p.snapshot
	s.Sets, s.Past, s.Up = f.Exposed, f.Past, s.Up[:0]
	for i := range f.State.Nodes {
		n := &f.State.Nodes[i]
		s.Up = append(s.Up, n.Started && (n.Down == ariadne.Up || n.Down == ariadne.Paused))
	}
	return s
}

// exposed stands for what the nodes expose in a frame, and for the past.
func (p *Space) exposed(f *Frame) (h world.Hash) {
	for _, s := range f.Exposed {
		h = h.Plus(s.Hash())
	}
	return h.Plus(f.Past.Hash()).Plus(p.waits(f))
}
