package space

import (
	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/world"
)

// Path is an execution in memory: the first state, and after each step the next.
// Frames are used again when the path is cut and grows anew.
type Path struct {
	space  *Space
	bounds Bounds
	frames []Frame
	n      int // frames in use; the first is that of the first state
}

// Frame is a state on a path.
type Frame struct {
	State State
	// Enabled are the events among which there is a choice: those that the bounds
	// leave, of which the first is the natural one.
	Enabled []world.Event
	// Bounded: the bounds have taken events away.
	Bounded bool
	// Taken is the index in Enabled of the event that leads to the next frame.
	Taken int
	// Seen: who searches was in this state before.
	Seen bool
	// By is the transition that led here; nil in the first frame.
	By *memo.Transition
	// Deviations is the number of steps before that were not the natural ones.
	Deviations int
	kinds      [ariadne.ActFire + 1]int // steps before, by kind
	origins    origins                  // with Space.Symmetry
}

// Bounds keep a search small. The zero value bounds nothing.
type Bounds struct {
	// Depth is the greatest number of steps of a path.
	Depth int
	// Deviations is the greatest number of steps that are not the natural ones.
	Deviations Bound
	// Kinds is the greatest number of steps of a kind.
	Kinds [ariadne.ActFire + 1]Bound
}

// Bound is an upper bound plus 1; 0 or less: none.
type Bound int

// AtMost is the bound n.
func AtMost(n int) Bound { return Bound(n + 1) }

// Unbounded is no bound, said aloud: nothing else takes its place.
const Unbounded = Bound(-1)

// Min is the bound, or n when that is less.
func (b Bound) Min(n int) int {
	if b <= 0 {
		return n
	}
	return min(int(b)-1, n)
}

func (b Bound) reached(n int) bool { return b > 0 && n >= int(b)-1 }

// NewPath returns the path without steps.
func NewPath(p *Space, b Bounds) *Path {
	path := &Path{space: p, bounds: b, frames: make([]Frame, 1), n: 1}
	f := &path.frames[0]
	p.First(&f.State)
	if p.Symmetry != nil {
		p.Symmetry.begin(f)
	}
	path.open(f)
	return path
}

// System is the one whose executions these are.
func (p *Path) System() *world.System { return p.space.System }

// Space is what the path goes through.
func (p *Path) Space() *Space { return p.space }

// Len is the number of steps.
func (p *Path) Len() int { return p.n - 1 }

// Frame is the state after the first i steps. It is good until the path is cut
// before it.
func (p *Path) Frame(i int) *Frame { return &p.frames[i] }

// Last is the state at the end.
func (p *Path) Last() *Frame { return &p.frames[p.n-1] }

// Event is the event of step i, from 1.
func (p *Path) Event(i int) *world.Event {
	f := &p.frames[i-1]
	return &f.Enabled[f.Taken]
}

// Cut keeps the first n steps.
func (p *Path) Cut(n int) { p.n = n + 1 }

// Push appends the step that event i of the last frame's Enabled means.
func (p *Path) Push(i int) error {
	if p.n == len(p.frames) {
		p.frames = append(p.frames, Frame{})
	}
	from, to := &p.frames[p.n-1], &p.frames[p.n]
	from.Taken = i
	to.State.CopyFrom(&from.State)
	t, err := p.space.Step(&to.State, from.Enabled[i])
	if err != nil {
		return err
	}
	to.By, to.kinds, to.Deviations = t, from.kinds, from.Deviations
	to.kinds[from.Enabled[i].Kind]++
	if i > 0 {
		to.Deviations++
	}
	p.n++
	if y := p.space.Symmetry; y != nil {
		y.follow(p, p.n-1, &from.Enabled[i])
	}
	p.open(to)
	return nil
}

// open computes among what there is a choice in a frame.
func (p *Path) open(f *Frame) {
	f.Enabled = p.space.System.Enabled(&f.State.State, f.Enabled[:0])
	all := len(f.Enabled)
	if p.bounds.Deviations.reached(f.Deviations) && all > 1 {
		f.Enabled = f.Enabled[:1]
	}
	kept := f.Enabled[:0]
	for _, e := range f.Enabled {
		if !p.bounds.Kinds[e.Kind].reached(f.kinds[e.Kind]) {
			kept = append(kept, e)
		}
	}
	if p.bounds.Depth > 0 && f.State.Steps >= p.bounds.Depth {
		kept = kept[:0]
	}
	f.Enabled, f.Bounded = kept, len(kept) < all
}

// Hash stands for a frame's state and for what of the bounds is used up, so that
// of two frames with the same hash the same paths lead on.
func (p *Path) Hash(f *Frame) world.Hash {
	return p.used(f, f.State.Hash())
}

// Class stands for the state at the end of the path up to symmetry, as Hash does for
// the state itself. There must be a Space.Symmetry.
func (p *Path) Class() world.Hash {
	return p.used(p.Last(), p.space.Symmetry.class(p)).Plus(world.HashOf(0, 0, 5))
}

// Abstract stands for whatever a user's rule takes the state at the end of the path
// for, given a hash of that, as Hash does for the state itself.
func (p *Path) Abstract(h world.Hash) world.Hash {
	f := p.Last()
	return p.used(f, h.Plus(world.HashOf(uint64(f.State.Delays), 0, 6)))
}

// used adds to a hash what of the bounds is used up in a frame.
func (p *Path) used(f *Frame, h world.Hash) world.Hash {
	if p.bounds.Deviations > 0 {
		h = h.Plus(world.HashOf(uint64(f.Deviations), 0, 1))
	}
	for k, b := range p.bounds.Kinds {
		if b > 0 {
			h = h.Plus(world.HashOf(uint64(f.kinds[k]), uint64(k), 2))
		}
	}
	return h
}

// Step is step i of the path, from 1, as those who watch see it.
func (p *Path) Step(i int) ariadne.Step {
	e := p.Event(i)
	a := e.Action()
	return ariadne.Step{Index: i, Action: a, Name: p.space.System.Names().Action(a), At: e.At, Output: p.frames[i].By.Output}
}
