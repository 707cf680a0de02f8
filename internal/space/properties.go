package space

import (
	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/memo"
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
	// Err is what is wrong with a property that could not be judged. After that nothing is judged.
	Err() error
}

// expose enters into a frame what the nodes expose. from is the frame before it, or nil.
func (p *Space) expose(from, to *Frame) {
	if p.Properties == nil {
		return
	}
	if from == nil {
		to.Exposed, to.Past, to.Exposes = make([]*expose.Set, len(p.roots)), nil, true
		return
	}
	to.Exposed, to.Past, to.Broken = append(to.Exposed[:0], from.Exposed...), from.Past, false
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
	f, s := p.Last(), &p.space.snapshot
	s.Sets, s.Past, s.Up = f.Exposed, f.Past, s.Up[:0]
	for i := range f.State.Nodes {
		n := &f.State.Nodes[i]
		s.Up = append(s.Up, n.Started && (n.Down == ariadne.Up || n.Down == ariadne.Paused))
	}
	return s
}

// exposed stands for what the nodes expose in a frame, and for the past.
func (f *Frame) exposed() (h world.Hash) {
	for _, s := range f.Exposed {
		h = h.Plus(s.Hash())
	}
	return h.Plus(f.Past.Hash())
}
