package space

import (
	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/memo"
	"ariadne/internal/world"
)

// Properties are what must hold in global states. Each is a function of the snapshot alone, so whoever
// searches judges each snapshot once, and orders of events matter to them where both change what is exposed.
type Properties interface {
	// Changes are what a step does to what its node exposes, of what is read.
	Changes(id ariadne.NodeID, out *ariadne.Output) []expose.Change
	// ReadsUp: whether nodes are up is read, too.
	ReadsUp() bool
	// Judge says what does not hold in a snapshot, at an execution's end or before it, or "".
	Judge(s *expose.Snapshot, end bool) string
	// Err is what is wrong with a property that could not be judged. After that nothing is judged.
	Err() error
}

// expose enters into a frame what the nodes expose. from is the frame before it, or nil.
func (p *Space) expose(from, to *Frame) {
	if p.Properties == nil {
		return
	}
	if from == nil {
		to.Exposed, to.Exposes = make([]*expose.Set, len(p.roots)), true
		return
	}
	to.Exposed, to.Broken = append(to.Exposed[:0], from.Exposed...), false
	if to.Exposes = p.Exposes(to.By); !to.Exposes {
		return
	}
	set := &to.Exposed[to.By.From.Node]
	if *set = (*set).After(p.changes(to.By)); takesDown(to.By) {
		*set = nil
	}
}

// Exposes reports whether a transition may change what is read of a snapshot.
func (p *Space) Exposes(t *memo.Transition) bool {
	if p.Properties == nil {
		return false
	}
	return len(p.changes(t)) > 0 || takesDown(t) || p.Properties.ReadsUp() && t.Input.Kind == ariadne.Start
}

// takesDown: the node's programs are no more after it.
func takesDown(t *memo.Transition) bool {
	return t.Effect.Down != ariadne.Up && t.Effect.Down != ariadne.Paused
}

// changes are those of a transition, which are looked for once.
func (p *Space) changes(t *memo.Transition) []expose.Change {
	if known := t.Exposes.Load(); known != nil {
		return *known
	}
	changes := p.Properties.Changes(t.From.Node, &t.Output)
	t.Exposes.Store(&changes)
	return changes
}

// Snapshot is what the nodes expose at the end of the path. It is good until the next call.
func (p *Path) Snapshot() *expose.Snapshot {
	f, s := p.Last(), &p.space.snapshot
	s.Sets, s.Up = f.Exposed, s.Up[:0]
	for i := range f.State.Nodes {
		n := &f.State.Nodes[i]
		s.Up = append(s.Up, n.Started && (n.Down == ariadne.Up || n.Down == ariadne.Paused))
	}
	return s
}

// exposed stands for what the nodes expose in a frame.
func (f *Frame) exposed() (h world.Hash) {
	for _, s := range f.Exposed {
		h = h.Plus(s.Hash())
	}
	return h
}
