package space

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Path is an execution: the first state, and after each step the next. Frames are used
// again when the path is cut and grows again. Of nodes that live (Space.Restart) it keeps
// the last two frames.
//
// With Bounds.From the steps up to there are the approach: they belong to the
// execution, but the path begins behind them. While it is under way, the path has
// the natural events only.
type Path struct {
	// Ends, when not nil, reports whether every path ends with a transition, whatever
	// else could happen: it is a violation.
	Ends func(e *world.Event, by *memo.Transition) bool

	space  *Space
	bounds Bounds
	until  ariadne.Time // Bounds.Time, or Never
	frames []Frame
	n      int // frames in use; the first is that of the first state, unless some are gone
	gone   int // frames that are not kept
	root   int // steps of the approach
	// approaching: Bounds.From has not been met yet.
	approaching bool
	waited      uint64               // goals that were waited for on the approach, a bit for each
	counted     []ariadne.ActionKind // those that have a bound
	observers   []observer
	draw        Drawer // see Choose
	err         error  // see Err
}

// Frame is a state on a path.
type Frame struct {
	State State
	// Enabled are the events among which there is a choice: those that the bounds leave. The first
	// Plain of them are undisturbed, in order of time. Faults that have no time of their own
	// follow, and with Space.Unfold variations of these events. So far Enabled is a function of the
	// state: the first Open. The variations of an event are known when it was executed, and are
	// appended when a caller asks for them (Path.StepVariations, Path.AddVariations).
	Enabled []world.Event
	Plain   int
	Initial int
	// Rest: nothing happens any more, but for such faults.
	Rest bool
	// Unnatural: the bounds have taken away the natural event, that which comes first in
	// time. All that they leave deviates from it.
	Unnatural bool
	// Bounded: the bounds have taken events away.
	Bounded bool
	// Late: there were events later than the bound on time, the first of them so much later
	// than all that has happened.
	Late   bool
	Beyond ariadne.Time
	// Taken is the index in Enabled of the event that leads to the next frame.
	Taken int
	// Seen: who searches was in this state before, or in one that counts as the same.
	// Again: it was this very state.
	Seen, Again bool
	// By is the transition that led here; nil in the first frame.
	By *memo.Transition
	// Observations of the steps so far.
	exposed
	told
	shown
	written
	origins origins
	// Deviations is the number of steps before that were not the natural ones.
	Deviations int
	timers     int                   // timers before that were among these
	kinds      [world.MaxKinds]int32 // steps before, by kind, if there is a bound on any
	name       hash.Hash             // of the state, by Space.Equality
	grown      []growth
	// merged: a node has said that nothing is left of it but its content. So others may have come
	// here by more or fewer steps. It is a function of the state.
	merged bool
}

// growth says that event i of Enabled can be varied to those from one on to before another.
type growth struct{ i, from, to int }

// Deviates reports whether event i of Enabled is not the natural one. Answers to questions of
// programs do not count.
func (f *Frame) Deviates(i int) bool { return f.IsLate(i) || f.Enabled[i].Disturbed() }

// UntimedFaults are the places in Enabled of the faults that have no time of their own: from the
// first, up to the second.
func (f *Frame) UntimedFaults() (from, to int) {
	from = f.Plain
	for to = from; to < len(f.Enabled) && f.Enabled[to].IsUntimed() && f.Enabled[to].Choices() == 0; to++ {
	}
	return from, to
}

// IsLate reports whether something else comes before event i of Enabled in time.
func (f *Frame) IsLate(i int) bool {
	return f.Unnatural || i > 0 && (i < f.Plain || !f.Enabled[i].SameInput(&f.Enabled[0]))
}

// Bounds keep a search small. The zero value bounds nothing.
type Bounds struct {
	// From, when not nil, is asked of each step of the natural schedule: the path
	// begins behind the first one of which it is true. The other bounds count from there on.
	From func(ariadne.Step) bool
	// FromLive: it begins in a steady state, behind the first step of the natural schedule after
	// which nothing is waited for that must happen (property.Goal), when all of it has been waited
	// for before that need not come true from the start.
	FromLive bool
	// Begins are the names of the actions of the first steps of every path, without what varies
	// them. Other bounds count these steps like others. Paths with one beginning are a part of all
	// paths, and those with all that can follow it are the parts of that (Path.NextNames).
	Begins []string
	// Time is the latest at which anything happens, in virtual time; 0: none. It is a
	// rule rather than a bound that cuts paths off: what is later never happens.
	Time ariadne.Time
	// Depth is the greatest number of steps of a path.
	Depth int
	// Deviations is the greatest number of steps that are not the natural ones.
	Deviations Bound
	// Timers is the greatest number of timers among these: that fire although
	// something else comes first in time. Natural timers are free.
	Timers Bound
	// Kinds is the greatest number of steps of a kind.
	Kinds [world.MaxKinds]Bound
}

// Bound is an upper bound plus 1; 0 or less: none. The zero value is that of a bound of
// which nothing was said.
type Bound int

// AtMost is the bound n.
func AtMost(n int) Bound { return Bound(n + 1) }

// Unbounded is no bound, said aloud: nothing else takes its place.
const Unbounded = Bound(-1)

// Limit is how many it allows; not ok: as many as there are.
func (b Bound) Limit() (n int, ok bool) { return int(b) - 1, b > 0 }

// Min is the bound, or n when that is less.
func (b Bound) Min(n int) int {
	if b <= 0 {
		return n
	}
	return min(int(b)-1, n)
}

// Reached reports whether n is as much as the bound allows.
func (b Bound) Reached(n int) bool { return b > 0 && n >= int(b)-1 }

// NewPath returns the path without steps. With Bounds.From it is Approaching, and
// whoever made it pushes natural steps until it no longer is.
func NewPath(p *Space, b Bounds) (*Path, error) {
	path := &Path{space: p, bounds: b, frames: make([]Frame, 1), n: 1, observers: p.observers(),
		approaching: b.From != nil || b.FromLive}
	for k := range b.Kinds {
		if b.Kinds[k] > 0 {
			path.counted = append(path.counted, ariadne.ActionKind(k))
		}
	}
	if path.until = b.Time; b.Time <= 0 {
		path.until = ariadne.Never
	}
	f := &path.frames[0]
	p.First(&f.State)
	for _, o := range path.observers {
		o.beginPath(f)
	}
	path.nameState(f)
	path.waited = f.Waits | p.goalsFromStart()
	return path, path.fillEnabled(f)
}

// goalsFromStart are the goals that need not be waited for: those that must come true from the
// start, and may be true there.
func (p *Space) goalsFromStart() (goals uint64) {
	if p.Properties == nil {
		return 0
	}
	for i, g := range p.Properties.Goals() {
		if g.When == "" {
			goals |= 1 << i
		}
	}
	return goals
}

// MissingGoals returns why a path has not come to a steady state yet (Bounds.FromLive), with a bit
// for each goal: unasked has the goals for which nothing has waited so far, waited those for which
// something waits now.
func (p *Path) MissingGoals() (unasked, waited uint64) {
	return (1<<len(p.space.Properties.Goals()) - 1) &^ p.waited, p.Last().Waits
}

// Bounds are the path's.
func (p *Path) Bounds() Bounds { return p.bounds }

// System is the one whose executions these are.
func (p *Path) System() *world.System { return p.space.System }

// Space is what the path goes through.
func (p *Path) Space() *Space { return p.space }

// Approaching: the path has not come to where it begins.
func (p *Path) Approaching() bool { return p.approaching }

// Len is the number of steps.
func (p *Path) Len() int { return p.Steps() - p.root }

// Frame is the state after the first i steps. It is good until the path is cut
// before it.
func (p *Path) Frame(i int) *Frame { return &p.frames[p.root+i-p.gone] }

// Last is the state at the end.
func (p *Path) Last() *Frame { return &p.frames[p.n-1] }

// Event is the event of step i, from 1.
func (p *Path) Event(i int) *world.Event { return p.Taken(p.root + i) }

// Taken is the event of step i of the execution, from 1.
func (p *Path) Taken(i int) *world.Event {
	f := &p.frames[i-1-p.gone]
	return &f.Enabled[f.Taken]
}

// Cut keeps the first n steps.
func (p *Path) Cut(n int) { p.n, p.draw = p.root+n+1-p.gone, nil }

// Push appends the step that event i of the last frame's Enabled means. After an error the
// path can only be cut.
func (p *Path) Push(i int) error {
	if p.n == 2 && p.space.Restart != nil {
		p.frames[0], p.frames[1] = p.frames[1], p.frames[0]
		p.n, p.gone = 1, p.gone+1
	}
	if p.n == len(p.frames) {
		p.frames = append(p.frames, Frame{})
	}
	from, to := &p.frames[p.n-1], &p.frames[p.n]
	from.Taken = i
	to.State.CopyFrom(&from.State)
	t, err := p.space.Step(&to.State, &from.Enabled[i])
	if err == nil && p.draw != nil && len(t.Output.Places) > 0 && p.space.Restart == nil && !p.approaching {
		i, t, err = p.drawChoices(from, to, i, t)
	}
	p.draw = nil
	if err != nil {
		return err
	}
	to.By, to.Deviations, to.timers = t, from.Deviations, from.timers
	to.merged = from.merged || t.Merges
	if len(p.counted) > 0 {
		to.countKinds(from, i)
	}
	if late := from.IsLate(i); late || from.Enabled[i].Disturbed() {
		to.Deviations++
		if late && world.KindOf(from.Enabled[i].Kind).Overtakes {
			to.timers++
		}
	}
	p.n++
	for _, o := range p.observers {
		o.followStep(p, from, to)
	}
	p.nameState(to)
	if p.approaching && p.arrived(to) {
		p.approaching, p.root = false, p.Steps()
		to.kinds = [len(to.kinds)]int32{}
	}
	return p.fillEnabled(to)
}

// arrived reports whether the approach ends with frame f, the last one.
func (p *Path) arrived(f *Frame) bool {
	if !p.bounds.FromLive {
		return p.bounds.From(p.Step(p.Steps()))
	}
	p.waited |= f.Waits
	return f.Waits == 0 && p.waited == 1<<len(p.space.Properties.Goals())-1
}

// countKinds counts event i of the frame before by its kind, and what that costs of others.
func (f *Frame) countKinds(from *Frame, i int) {
	e := &from.Enabled[i]
	f.kinds = from.kinds
	f.kinds[e.Kind]++
	if !e.Disturbed() {
		return
	}
	for k, n := range e.Costs() {
		if ariadne.ActionKind(k) != e.Kind {
			f.kinds[k] += int32(n)
		}
	}
}

// PushNatural appends the natural step, whatever the bounds are.
func (p *Path) PushNatural() error {
	f := p.Last()
	// none that is late is natural
	f.Enabled, f.Unnatural = p.space.System.Enabled(&f.State.State, f.Enabled[:0]), false
	f.Plain, f.Initial, f.grown = len(f.Enabled), len(f.Enabled), f.grown[:0]
	for f.Plain > 0 && f.Enabled[f.Plain-1].IsUntimed() {
		f.Plain--
	}
	return p.Push(0)
}

// CutNatural takes off what PushNatural has appended to the first n steps.
func (p *Path) CutNatural(n int) error {
	p.Cut(n)
	return p.fillEnabled(p.Last())
}

// fillEnabled computes among what there is a choice in a frame.
func (p *Path) fillEnabled(f *Frame) error {
	all, err := p.enabled(f)
	if err != nil {
		return err
	}
	timed := len(all)
	for timed > 0 && all[timed-1].IsUntimed() {
		timed--
	}
	r := p.boundsLeft(f)
	f.Rest = timed == 0 || all[0].At > p.until
	f.Plain, f.Unnatural, f.Bounded, f.Late = timed, f.Rest, false, false
	if !r.all || timed == 0 || timed < len(all) || all[timed-1].At > p.until {
		all = p.keepWithinBounds(f, r, all, timed)
	}
	if p.Len() < len(p.bounds.Begins) && !p.approaching {
		if all = p.keepBeginning(f, all); p.err != nil {
			return p.err
		}
	}
	f.Enabled, f.Initial, f.grown = all, len(all), f.grown[:0]
	if p.approaching || !f.State.Varies() {
		return nil
	}
	f.Bounded = f.Bounded || len(all) > 0 && p.cutsVariations(f)
	if p.space.Unfold {
		return p.unfold(f)
	}
	return nil
}

// enabled are the events of a frame. While the path is on its way to where it begins, the natural
// one is enough.
func (p *Path) enabled(f *Frame) ([]world.Event, error) {
	if p.approaching {
		return p.space.System.Enabled(&f.State.State, f.Enabled[:0]), nil
	}
	return p.space.Enabled(&f.State, f.Enabled[:0])
}

// keepBeginning leaves of the events of a frame those with which every path goes on there.
func (p *Path) keepBeginning(f *Frame, all []world.Event) []world.Event {
	name := p.bounds.Begins[p.Len()]
	n, plain := 0, 0
	for i := range all {
		if p.nameOf(&all[i]) != name {
			f.Unnatural = f.Unnatural || i == 0
			continue
		}
		all[n] = all[i]
		if n++; i < f.Plain {
			plain = n
		}
	}
	if f.Plain = plain; n == 0 {
		p.err = &ariadne.SetupError{Err: fmt.Errorf("no path has %q as its step %d: this is not the system that the work is of", name, p.Len()+1)}
	}
	return all[:n]
}

// nameOf names an event, but for what varies it.
func (p *Path) nameOf(e *world.Event) string {
	a := e.Action()
	a.Vary = ""
	return p.space.System.Names().Action(a)
}

// NextNames are the different names of what can follow the last frame, as Bounds.Begins has them:
// paths that go on with one of them are a part of all that go on from there.
func (p *Path) NextNames() (names []string) {
	f := p.Last()
	for i := range f.Enabled {
		if name := p.nameOf(&f.Enabled[i]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// cutsVariations reports whether the bounds take variations away from the frame, whatever there
// are.
func (p *Path) cutsVariations(f *Frame) bool {
	return p.bounds.Deviations.Reached(f.Deviations) || slices.ContainsFunc(p.counted, func(k ariadne.ActionKind) bool {
		return world.KindOf(k).Within && f.State.Faults[k] > 0 && p.bounds.Kinds[k].Reached(int(f.kinds[k]))
	})
}

// unfold appends to a frame what its events can be varied to. It executes each of them.
func (p *Path) unfold(f *Frame) (err error) {
	for i := 0; i < f.Initial && err == nil && !p.bounds.Deviations.Reached(f.Deviations); i++ {
		if f.Enabled[i].Halts() {
			continue
		}
		f.Enabled, err = p.space.Variations(&f.State, &f.Enabled[i], f.Enabled)
	}
	f.Enabled = slices.DeleteFunc(f.Enabled, func(e world.Event) bool {
		cut := e.Varied.Variation() != "" && !p.boundsAllowCosts(f, &e)
		f.Bounded = f.Bounded || cut
		return cut
	})
	f.Initial = len(f.Enabled)
	return err
}

// boundsAllowCosts reports whether the bounds on kinds leave a variation.
func (p *Path) boundsAllowCosts(f *Frame, e *world.Event) bool {
	for k, n := range e.Costs() {
		if most, ok := p.bounds.Kinds[k].Limit(); ok && n > 0 && int(f.kinds[k])+int(n) > most {
			return false
		}
	}
	return true
}

// AppendVaried appends to the last frame's Enabled its event i with a variation, and returns its
// place there; not ok: the budgets do not allow it. The caller must know that the node will come to
// the places.
func (p *Path) AppendVaried(i int, v ariadne.Variation) (event int, ok bool) {
	f := p.Last()
	e, err := f.Enabled[i].VariedAs(v)
	if err != nil || !p.space.System.Allows(&f.State.State, &e) {
		return i, false
	}
	f.Enabled = append(f.Enabled, e)
	return len(f.Enabled) - 1, true
}

// AppendLater appends likewise event i at a later time or, if it may not happen then, as late as it
// may before. Not ok: it may happen no later, or the bounds do not leave it.
func (p *Path) AppendLater(i int, at ariadne.Time) (event int, ok bool) {
	f := p.Last()
	if f.Rest || !p.boundsAllow(f, p.boundsLeft(f), false, world.Late) {
		return i, false
	}
	e := &f.Enabled[i]
	at = min(at, p.until)
	later, ok := p.space.System.Later(&f.State.State, e, at)
	if !ok {
		later, ok = p.space.latest(&f.State, e, e.At, at)
	}
	if !ok {
		return i, false
	}
	f.Enabled = append(f.Enabled, later)
	return len(f.Enabled) - 1, true
}

// AppendDrawn appends likewise event i varied where counts of alternatives come to their ends, and
// by what costs nothing at random (world.System.Drawn), which will turn out when the node has come
// there. It works with living nodes only.
func (p *Path) AppendDrawn(i int, after []world.Countdown, seed uint64) (event int) {
	f := p.Last()
	f.Enabled = append(f.Enabled, p.space.System.Drawn(&f.State.State, f.Enabled[i], after, seed))
	return len(f.Enabled) - 1
}

// room is what the bounds leave in a frame.
type room struct {
	step     bool // one more step at all
	deviate  bool // one that is not the natural one
	overtake bool // and is of a kind that overtakes
	all      bool // whatever is early enough
}

func (p *Path) boundsLeft(f *Frame) room {
	b := &p.bounds
	r := room{
		step:     b.Depth == 0 || f.State.Steps-p.root < b.Depth,
		deviate:  !b.Deviations.Reached(f.Deviations),
		overtake: !b.Timers.Reached(f.timers),
	}
	r.all = r.step && r.deviate && r.overtake && !p.approaching && len(p.counted) == 0
	return r
}

// keepWithinBounds leaves of a frame's events, so many of which have a time of their own, those
// within the bounds.
func (p *Path) keepWithinBounds(f *Frame, r room, all []world.Event, timed int) []world.Event {
	n, first := 0, true
	f.Plain = 0
	for i := range all {
		e := &all[i]
		if e.At > p.until {
			if i < timed && !f.Late {
				f.Late, f.Beyond = true, e.At-f.State.Now
			}
			continue
		}
		if r.all || p.boundsAllow(f, r, first, e.Kind) {
			if n < i {
				all[n] = *e
			}
			if n++; i < timed {
				f.Plain = n
			}
		} else {
			f.Bounded, f.Unnatural = true, f.Unnatural || first
		}
		first = false
	}
	return all[:n]
}

// boundsAllow reports whether the bounds leave an event that is early enough, the first of these or
// another.
func (p *Path) boundsAllow(f *Frame, r room, first bool, kind ariadne.ActionKind) bool {
	switch {
	case p.approaching:
		return first
	case !r.step || len(p.counted) > 0 && p.bounds.Kinds[kind].Reached(int(f.kinds[kind])):
		return false
	case first && !f.Rest:
		return true
	}
	return r.deviate && (r.overtake || !world.KindOf(kind).Overtakes)
}

// Hash stands for a frame's state and for what of the bounds is used up, so that
// of two frames with the same hash the same paths lead on, as far as Space.Equality
// tells. The bound on time is left out, since a state tells how late it is, and mostly that on
// depth: what is named by its history has come so far by any path.
func (p *Path) Hash(f *Frame) hash.Hash {
	return p.addUsed(f, p.Name(f))
}

// HashClass stands for the state at the end of the path up to symmetry, as Hash does for
// the state itself. There must be a Space.Symmetry.
func (p *Path) HashClass() hash.Hash {
	return p.addPast(p.Last(), p.addUsed(p.Last(), p.space.Symmetry.hashClass(p)).Plus(hash.Of(0, 0, 5)))
}

// HashAbstract stands for whatever a user's rule takes the state at the end of the path
// for, given a hash of that, as Hash does for the state itself.
func (p *Path) HashAbstract(h hash.Hash) hash.Hash {
	f := p.Last()
	return p.addUsed(f, p.addObserved(f, h.Plus(f.State.Budget())))
}

// Identity stands for the path by the names of all of its steps.
func (p *Path) Identity() hash.Hash {
	h := hash.Hash{}
	for i := 1; i <= p.Steps(); i++ {
		h = h.Plus(hash.OfText(p.Step(i).Name))
	}
	return h
}

// addUsed adds to a hash what of the bounds is used up in a frame.
func (p *Path) addUsed(f *Frame, h hash.Hash) hash.Hash {
	if p.bounds.Deviations > 0 {
		h = h.Plus(hash.Of(uint64(f.Deviations), 0, 1))
	}
	for _, k := range p.counted {
		h = h.Plus(hash.Of(uint64(f.kinds[k]), uint64(k), 2))
	}
	if p.bounds.Depth > 0 && f.merged && !p.space.Equality.Exposed {
		h = h.Plus(hash.Of(uint64(f.State.Steps-p.root), 0, 6))
	}
	if p.bounds.Timers > 0 {
		h = h.Plus(hash.Of(uint64(f.timers), 0, 3))
	}
	return h
}

// Steps is the number of steps of the execution: those of the path and of the
// approach to it.
func (p *Path) Steps() int { return p.n - 1 + p.gone }

// Transition is what step i of the execution, from 1, came to.
func (p *Path) Transition(i int) *memo.Transition { return p.frames[i-p.gone].By }

// Step is step i of the execution, from 1, as those who watch see it.
func (p *Path) Step(i int) (s ariadne.Step) {
	p.ReadStep(&s, i)
	return s
}

// ReadStep is Step into memory that is there.
func (p *Path) ReadStep(s *ariadne.Step, i int) { p.FillStep(s, i, p.Taken(i), p.Transition(i)) }

// FillStep is a transition, as step i of a path.
func (p *Path) FillStep(s *ariadne.Step, i int, e *world.Event, by *memo.Transition) {
	s.Index, s.Action, s.Name, s.At, s.Output = i, e.Action(), by.Action, by.Input.At, by.Output
	// what the node is given is nothing of its own, nor why
	if e.IsFault() || by.Input.Kind == ariadne.Fault || world.KindOf(e.Kind).Alike {
		s.Name = p.space.System.Names().Action(s.Action)
	}
	if world.KindOf(e.Kind).World {
		s.Action.Node = ariadne.NoNode
	}
}
