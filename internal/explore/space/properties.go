package space

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Properties are what must hold in global states. Their verdict is a function of the snapshot
// alone, so a search judges each snapshot once. The order of two events matters to them if both
// change values that they read.
type Properties interface {
	// Find is what is read of a step. It has begun with a message, or in is nil.
	Find(id ariadne.NodeID, in *ariadne.Message, out *ariadne.Output) expose.Found
	// Sees is what is read beside that.
	Sees() expose.Sights
	// Windows are what is read of earlier snapshots.
	Windows() []expose.Window
	// Judge says what does not hold in a snapshot, or "".
	Judge(s *expose.Snapshot, m expose.Moment) string
	// Numbers are those whose way over an execution is shown, in their order: nil where there is
	// none in a snapshot.
	Numbers(s *expose.Snapshot) []*float64
	// Goals are what must happen.
	Goals() []property.Goal
	// Aims says of each goal, by a bit, whether it must become true from a snapshot on, and whether
	// it is.
	Aims(s *expose.Snapshot) (when, holds uint64)
	// Reads says in words what a goal reads of a snapshot.
	Reads(goal int, s *expose.Snapshot) string
	// Err is what is wrong with a property that could not be judged. After that nothing is judged.
	Err() error
}

// exposed is in a frame what exposing observes.
type exposed struct {
	// Exposed is what properties read of what the nodes expose, by node, with Space.Properties.
	// Exposes: what a property reads was changed by the step that led here.
	Exposed []*expose.Set
	Exposes bool
	Past    *expose.Past // of clients' operations
	Earlier *expose.Earlier
	// Waits are the goals of the properties, a bit for each, that must become true from here on and
	// are not.
	Waits uint64
	// Broken: who searches has found that a property does not hold here.
	Broken bool
}

// exposing observes what properties read.
type exposing struct{ *Space }

func (p exposing) beginPath(f *Frame) {
	f.exposed = exposed{Exposed: make([]*expose.Set, len(p.roots)), Exposes: true}
	p.enterGoals(f)
}

func (p exposing) followStep(_ *Path, from, to *Frame) {
	to.Exposed, to.Past, to.Earlier, to.Broken, to.Waits = append(to.Exposed[:0], from.Exposed...), from.Past,
		from.Earlier, false, from.Waits
	if to.Exposes = p.Exposes(to.By); !to.Exposes {
		return
	}
	found, set := p.exposedBy(to.By), &to.Exposed[to.By.From.Node]
	if *set = (*set).After(found.Changes); takesDown(to.By) {
		*set = (*set).Staying()
	}
	for _, e := range found.Events {
		to.Past = to.Past.Then(e)
	}
	if windows := p.Properties.Windows(); windows != nil {
		before := *p.snapshotOf(from)
		before.Up = slices.Clone(before.Up) // the next one is made in its place
		to.Earlier = from.Earlier.Then(windows, &before, p.snapshotOf(to))
	}
	p.enterGoals(to)
}

func (exposing) copyLists(f, was *Frame) { f.Exposed = append(was.Exposed[:0], f.Exposed...) }

// hashPast stands for clients' operations, earlier snapshots, and the goals that a frame waits for.
func (p exposing) hashPast(f *Frame) hash.Hash {
	return f.Past.Hash().Plus(f.Earlier.Hash()).Plus(p.hashWaits(f)).Plus(f.hashKept(f.Exposed, 0))
}

func (p exposing) hashReads(f *Frame) (h hash.Hash) {
	for _, s := range f.Exposed {
		h = h.Plus(s.Hash())
	}
	if p.Properties.Sees().World {
		h = h.Plus(f.State.Hash())
	}
	return h
}

// enterGoals enters into a frame which goals it waits for, in addition to those of the frame
// before.
func (p exposing) enterGoals(f *Frame) {
	if len(p.Properties.Goals()) > 0 {
		when, holds := p.Properties.Aims(p.snapshotOf(f))
		f.Waits = (f.Waits | when) &^ holds
	}
}

// hashWaits stands for the goals that a frame waits for because of what was: what its snapshot says
// of them does not.
func (p exposing) hashWaits(f *Frame) (h hash.Hash) {
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
	return hash.Of(past, 0, 23)
}

// Exposes reports whether a transition may change what is read of a snapshot.
func (p *Space) Exposes(t *memo.Transition) bool {
	if p.Properties == nil {
		return false
	}
	sees := p.Properties.Sees()
	return sees.World || !p.exposedBy(t).None() || takesDown(t) || sees.Up && t.Input.Kind == ariadne.Start
}

// takesDown: the node's programs are no more after it.
func takesDown(t *memo.Transition) bool {
	return t.Effect.Down != ariadne.Up && t.Effect.Down != ariadne.Paused
}

// exposedBy is what is read of a transition, which is looked for once: all spaces with the same
// transitions read the same of them.
func (p *Space) exposedBy(t *memo.Transition) *expose.Found {
	f := t.Found.Load()
	if f == nil {
		var in *ariadne.Message
		if t.Input.Packet != nil {
			in = &t.Input.Packet.Message
		}
		f = &expose.Found{}
		if p.Properties != nil {
			*f = p.Properties.Find(t.From.Node, in, &t.Output)
		}
		f.Told = p.Tells.Changes(t.From.Node, &t.Output)
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
	s.Sets, s.Past, s.Earlier, s.World, s.Up = f.Exposed, f.Past, f.Earlier, nil, s.Up[:0]
	if p.Properties != nil && p.Properties.Sees().World {
		s.World = Seen{&f.State.State, p.System}
	}
	for i := range f.State.Nodes {
		n := &f.State.Nodes[i]
		s.Up = append(s.Up, n.Started && (n.Down == ariadne.Up || n.Down == ariadne.Paused))
	}
	return s
}

// hashKept stands for sets of what the nodes expose in a frame, where their names do not say it: by
// other ways they may have come to the same states, and exposed something else that outlives what
// has become of them.
func (f *Frame) hashKept(sets []*expose.Set, what uint64) (h hash.Hash) {
	if !f.merged {
		return h
	}
	for _, s := range sets {
		h = h.Plus(s.Hash())
	}
	return h.Plus(hash.Of(what, 0, 37))
}
