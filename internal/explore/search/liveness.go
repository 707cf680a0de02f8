package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// Liveness finds states from which what must happen (property.Goal) never does, as MaceMC (Killian
// and others, NSDI 2007): by long random walks from states that a search has come to, without
// further faults. A state is *live* for a goal when the goal waits for nothing in it, and *dead*
// when no live state follows it. A walk counts from where all faults have ended that end by
// themselves. One that is not live after so many steps is suspected to be in dead states, and
// FindCritical looks for the step that led there.
//
// Its result for a state is a function of that state and of the seed.
type Liveness struct {
	X       *Exploration // which judges and counts the steps; its nodes do not live
	Seed    uint64
	Weights strategy.Weights
	Walks   int // without a live state, from which a state counts as dead (MaceMC's k)
	Bound   int // steps of a walk from where it counts, by which it should be live: see Calibrate
	// Seen are the states from which walks were taken, for all workers: from each goes one.
	Seen *space.Set
	// Watch, when not nil, is told each transition that is taken.
	Watch func(*memo.Transition)
	// Share, when not nil, has a function called with this Liveness, and on other goroutines with
	// those of others that have nothing better to do, of the same system, seed, weights and goals.
	// It returns when all of these calls have.
	Share func(func(*Liveness))
	// Over, when not nil, is X.Stopped for those others: it may be asked on any goroutine.
	Over func() bool
	// Clock, when not nil, is real time, and may be asked on any goroutine. Until, unless it is 0,
	// is when Critical ends with what it knows by then.
	Clock func() time.Duration
	Until time.Duration

	space *space.Space
	goals []property.Goal
	path  *space.Path // of Look
	try   *space.Path // of recovers
	first *space.Path // of tries
	near  *space.Path // the live one of these that went furthest along the other
	along int         // how many steps that is
	work  int         // steps of all walks that were taken here
	tally             // of Critical
	halt  func() bool // when not nil: the walk that is under way need not go on
	gone  bool        // others have seen that it is over
}

// tally is what walks came to, those alone that would have been taken one after the other.
type tally struct {
	walks  int
	steps  int
	before int // steps before these
}

// NewLiveness returns who judges the goals of an exploration's space, or nil when there are none.
func NewLiveness(x *Exploration) (*Liveness, error) {
	if x.Space.Properties == nil || len(x.Space.Properties.Goals()) == 0 || x.Space.Restart != nil {
		return nil, nil
	}
	l := &Liveness{X: x, Walks: DefaultWalks, Bound: firstBound, Seen: &space.Set{}, space: x.Space.ForkSpace(),
		goals: x.Space.Properties.Goals()}
	for _, p := range []**space.Path{&l.path, &l.try, &l.first, &l.near} {
		var err error
		if *p, err = space.NewPath(l.space, space.Bounds{}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// IsLate reports whether there is no more time.
func (l *Liveness) IsLate() bool { return l.Clock != nil && l.Until > 0 && l.Clock() >= l.Until }

// fewestWalks is how many walks it takes for a state to count as dead where there is little time.
func (l *Liveness) fewestWalks() int { return min(l.Walks, leastWalks) }

// SureWalks is how many walks it takes for a state to count as dead: Walks, but fewer where they
// are so long that these would take too many steps.
func (l *Liveness) SureWalks() int { return min(l.Walks, max(leastWalks, deadSteps/max(l.Bound, 1))) }

// leastWalks are taken from a state before it counts as dead, and else no more than take deadSteps
// steps. A first guess takes fewer by guess.
const (
	leastWalks = 8
	deadSteps  = 60_000
	guess      = 4
)

// DefaultWalks is Liveness.Walks of who says nothing of it, as in MaceMC.
const DefaultWalks = 60

// Work is how many steps all walks have taken.
func (l *Liveness) Work() int { return l.work }

// allGoals are all goals, a bit for each.
func (l *Liveness) allGoals() uint64 { return 1<<len(l.goals) - 1 }

// WalkEnd is how a walk ended.
type WalkEnd uint8

// The ends of walks.
const (
	WalkLive      WalkEnd = iota // all goals were live
	WalkQuiet                    // nothing can ever happen again
	WalkLate                     // a goal's time was up (property.Goal.Within)
	WalkBound                    // the bound on steps
	WalkViolation                // of something else
	WalkGivenUp                  // it cannot go on: it was stopped, or a step was cut off
)

// walk is what a random walk came to.
type walk struct {
	end       WalkEnd
	start     int    // steps of the path at which it began to count; -1: it did not
	left      uint64 // goals that were not live
	halted    bool   // it was stopped
	violation *ariadne.Violation
}

// aims follow goals along a walk, from where it counts.
type aims struct {
	goals []property.Goal
	left  uint64 // those that were not live yet
	late  uint64 // those whose time was up before
	holds uint64 // those that wait for nothing now
	began bool
	start ariadne.Time
	since [property.MaxGoals]ariadne.Time // when it came to be as it is now
}

// lookAt looks at the next frame.
func (a *aims) lookAt(f *space.Frame) {
	now := f.State.Now
	if !a.began {
		a.start = now
	}
	for i := range a.goals {
		g, bit := &a.goals[i], uint64(1)<<i
		if a.left&bit == 0 {
			continue
		}
		holds, held, since := f.Waits&bit == 0, a.began && a.holds&bit != 0, a.since[i]
		if !a.began || holds != held {
			a.since[i] = now
			a.holds ^= (a.holds ^ ^f.Waits) & bit
		}
		inTime := func(t ariadne.Time) bool { return g.Within == 0 || t <= a.start.Add(g.Within) }
		switch {
		case held && inTime(since) && now >= since.Add(g.StableFor), holds && inTime(a.since[i]) &&
			now >= a.since[i].Add(g.StableFor):
			a.left &^= bit
		case !inTime(now) && (!holds || !inTime(a.since[i])):
			a.late |= bit
		}
	}
	a.began = true
}

// enterEnd looks at a state in which nothing happens any more: what holds does for ever.
func (a *aims) enterEnd() { a.left &^= a.holds &^ a.late }

// takeWalkFrom takes a random walk of so many goals from the end of a path on which no budget is
// left.
func (l *Liveness) takeWalkFrom(p *space.Path, goals uint64, index, bound int) (w walk, err error) {
	by := strategy.Walks{Seed: l.Seed ^ p.Hash(p.Last()).Lo, Weights: l.Weights, Index: index}
	by.Begin(p)
	return l.continueWalk(p, &by, &aims{goals: l.goals, left: goals}, bound, 0)
}

// continueWalk takes a walk on until it counts for so many steps and, if these are not mostBound,
// for so long.
func (l *Liveness) continueWalk(p *space.Path, by *strategy.Walks, a *aims, bound int, long time.Duration) (w walk,
	err error) {
	y := l.space.System
	w.start = -1
	over := func() bool {
		n := p.Steps() - w.start
		return n >= bound && (n >= mostBound || p.Last().State.Now >= a.start.Add(long))
	}
	for from := p.Steps(); ; {
		f := p.Last()
		quiet := f.Plain == 0 || y.IsOver(&f.State.State)
		if w.start < 0 && (quiet || y.Recovered(&f.State.State)) {
			w.start = p.Steps()
		}
		if w.start >= 0 {
			a.lookAt(f)
		}
		if quiet {
			a.enterEnd()
		}
		w.left = a.left
		switch {
		case l.X.Stopped != nil && l.X.Stopped(), l.halt != nil && l.halt():
			w.end, w.halted = WalkGivenUp, true
			return w, nil
		case w.left == 0:
			return w, nil
		case quiet:
			if w.end = WalkQuiet; !y.ClientsDone(&f.State.State) {
				if w.violation = l.X.judgePath(p, EndQuiet); w.violation != nil {
					w.end = WalkViolation
				}
			}
			return w, l.X.propertyError()
		case a.late != 0:
			w.end, w.left = WalkLate, a.late
			return w, nil
		case w.start >= 0 && over() && w.left&^l.timedGoals() != 0, p.Steps()-from >= manyTimes*bound:
			w.end = WalkBound
			return w, nil
		}
		i, _ := by.Next(p)
		if err := p.Err(); err != nil {
			return w, err
		}
		if err := p.Push(i); err != nil {
			return w, err
		}
		l.work++
		l.X.countStep(p)
		if l.Watch != nil {
			l.Watch(p.Last().By)
		}
		end, v := l.X.whyEnded(p, p.Taken(p.Steps()), p.Last().By)
		if end == "" {
			if v = l.X.judgeState(p, expose.Between); v != nil {
				end = EndViolation
			}
		}
		if err := l.X.propertyError(); err != nil {
			return w, err
		}
		if end != "" {
			if w.end, w.violation = WalkGivenUp, v; v != nil {
				w.end = WalkViolation
			}
			return w, nil
		}
	}
}

// manyTimes the bound is the most that a walk takes until all faults have ended, or until a goal's
// time is up.
const manyTimes = 20

// timedGoals are the goals that time bounds.
func (l *Liveness) timedGoals() (goals uint64) {
	for i, g := range l.goals {
		if g.Within > 0 {
			goals |= 1 << i
		}
	}
	return goals
}

// forkWithoutBudgets makes a path of the first n steps of another, with no budget left at its end.
func (l *Liveness) forkWithoutBudgets(to, from *space.Path, n int) error {
	from.ForkInto(to, n)
	return to.ClearBudgets()
}

// Stuck is an execution in which a goal is not live to the end.
type Stuck struct {
	Goal      int
	Path      *space.Path
	From      int // steps before the walk
	Start     int // steps before it counts
	End       WalkEnd
	Violation *ariadne.Violation // with WalkViolation: something else that the walk met
	Took      time.Duration      // by the clock; 0: it is not known
	Further   Further            // how far others went on from its end

	by   strategy.Walks
	aims aims
}

// Looked is what looking at one state came to.
type Looked struct {
	Stuck *Stuck // or nil
	// Steps are how many the walk took from where it counts until all goals were live; with Live.
	Steps int
	Live  bool
	Known bool // it was looked at before
	Quiet bool // nothing could happen in it
}

// TakeWalk takes a walk from the state after the first n steps of a path. The result's Stuck is
// valid until the next call.
func (l *Liveness) TakeWalk(p *space.Path, n int) (r Looked, err error) {
	if err := l.forkWithoutBudgets(l.path, p, n); err != nil {
		return r, err
	}
	if !l.Seen.Add(l.path.Hash(l.path.Last())) {
		return Looked{Known: true}, nil
	}
	s := &Stuck{Path: l.path, From: n,
		by: strategy.Walks{Seed: l.Seed ^ l.path.Hash(l.path.Last()).Lo, Weights: l.Weights, Index: mostlyNatural}}
	s.aims = aims{goals: l.goals, left: l.allGoals()}
	s.by.Begin(l.path)
	if l.Clock != nil {
		s.Took = -l.Clock()
	}
	w, err := l.continueWalk(l.path, &s.by, &s.aims, l.Bound, 0)
	if err != nil {
		return r, err
	}
	switch s.End, s.Start, s.Violation = w.end, w.start, w.violation; {
	case w.end == WalkLive:
		r.Live, r.Steps, r.Quiet = true, l.path.Steps()-w.start, l.space.System.AtRest(&l.path.FrameAt(n).State.State)
		return r, nil
	case w.end == WalkGivenUp, w.start < 0 && w.end != WalkViolation:
		return r, nil
	}
	// the time of the others is not up
	if left := w.left &^ l.timedGoals(); w.end == WalkBound && left != 0 {
		w.left = left
	}
	for w.left&(1<<s.Goal) == 0 && w.end != WalkViolation {
		s.Goal++
	}
	if r.Stuck = s; l.Clock != nil {
		s.Took += l.Clock()
	}
	return r, nil
}

// mostlyNatural is the index of a walk that follows the natural schedule most of the time: the
// first one from a state.
const mostlyNatural = 5

// ProlongWalk takes the walk on until it counts for so many steps. Live: it was live after all, or
// cannot go on.
func (l *Liveness) ProlongWalk(s *Stuck, bound int) (live bool, err error) {
	s.aims = aims{goals: l.goals, left: 1 << s.Goal}
	l.halt = l.IsLate
	defer func() { l.halt = nil }()
	w, err := l.continueWalk(s.Path, &s.by, &s.aims, bound, 0)
	s.End, s.Violation = w.end, w.violation
	return err == nil && (w.end == WalkLive || w.end == WalkGivenUp), err
}

// Further is how far walks went that were to tell whether a walk was too short.
type Further struct {
	Walks int
	Steps int           // from where the shortest counts
	Time  time.Duration // of that one
}

// TakeLongWalks takes some long walks from the state after n steps of a path, mostly natural ones,
// which are fair: each counts for Raised steps, and for a minute unless these are many. Timeouts of
// programs tell how long what must happen may take, and so steps alone tell too little: a node that
// has come back may ask again after seconds, while others take hundreds of steps. live: one was
// live, and f has what it took; or none could go on to an end.
func (l *Liveness) TakeLongWalks(p *space.Path, n, goal int) (live bool, f Further, err error) {
	if l.stopped() {
		return true, f, nil
	}
	l.halt = l.stopped
	defer func() { l.halt = nil }()
	for j := range guess {
		if err := l.forkWithoutBudgets(l.try, p, n); err != nil {
			return false, f, err
		}
		by := strategy.Walks{Seed: l.Seed ^ l.try.Hash(l.try.Last()).Lo, Weights: l.Weights, Index: mostlyNatural - j}
		by.Begin(l.try)
		w, err := l.continueWalk(l.try, &by, &aims{goals: l.goals, left: 1 << goal}, l.RaisedBound(), time.Minute)
		if err != nil {
			return false, f, err
		}
		took := Further{Walks: j + 1}
		if w.start >= 0 {
			took.Steps, took.Time = l.try.Steps()-w.start,
				time.Duration(l.try.Last().State.Now-l.try.FrameAt(w.start).State.Now)
		}
		if w.end == WalkLive || w.halted {
			return true, took, nil
		}
		if w.end == WalkGivenUp { // it tells nothing
			continue
		}
		if f.Walks == 0 || took.Steps < f.Steps {
			f.Steps, f.Time = took.Steps, took.Time
		}
		if f.Walks++; w.end == WalkQuiet {
			break
		}
	}
	return f.Walks == 0, f, nil
}

// RaisedBound is how far the bound may be raised.
func (l *Liveness) RaisedBound() int { return max(l.Bound, min(l.Bound<<Raises, mostBound)) }

// Raises is how often walks are made twice as long before nothing is said of one.
const Raises = 3

// WaitsFrom are the states of a path, by their steps, in which a goal that time bounds begins to
// wait: its time may count from there.
func (l *Liveness) WaitsFrom(p *space.Path) (all []int) {
	timed, before := l.timedGoals(), uint64(0)
	if timed == 0 {
		return nil
	}
	for i := range p.Steps() {
		waits := p.FrameAt(i).Waits & timed
		if waits&^before != 0 {
			all = append(all, i)
		}
		before = waits
	}
	return all
}

// IsTimed reports whether time bounds a goal.
func (l *Liveness) IsTimed(goal int) bool { return l.timedGoals()&(1<<goal) != 0 }

// Trail follows one goal along all of an execution. Its result for a stuck goal is a function of
// the execution, so a replay has the same.
type Trail struct {
	Goal int

	of     property.Goal
	frames int
	holds  bool
	since  ariadne.Time
	last   int // frames up to the last one that was live; 0: none was
	lastAt ariadne.Time
	faults ariadne.Time // when some still lasted
	at     ariadne.Time // of the last frame
	late   bool         // the last frame would be live, but for the goal's time
}

// NewTrail returns the trail of one of these goals.
func NewTrail(goals []property.Goal, goal int) *Trail { return &Trail{Goal: goal, of: goals[goal]} }

// IsLive reports whether the last frame was live.
func (t *Trail) IsLive() bool { return t.frames > 0 && t.last == t.frames }

// Holds reports whether nothing was waited for in the last frame.
func (t *Trail) Holds() bool { return t.holds }

// IsLate reports whether the goal's time is up at the end of the execution p.
func (t *Trail) IsLate(p *space.Path) bool {
	return t.late || t.of.Within > 0 && p.Last().State.Now > max(t.lastAt, t.faults).Add(t.of.Within)
}

// LookAt looks at the next frame of the execution p, its last one or another.
func (t *Trail) LookAt(p *space.Path, f *space.Frame) {
	now, holds := f.State.Now, f.Waits&(1<<t.Goal) == 0
	if t.late { // it did not end there
		t.last, t.lastAt, t.late = t.frames, t.at, false
	}
	if t.holds && !holds && now >= t.since.Add(t.of.StableFor) {
		t.last, t.lastAt = t.frames, now
	}
	if t.frames == 0 || holds != t.holds {
		t.holds, t.since = holds, now
	}
	wasLive := t.last == t.frames
	t.at = now
	if t.frames++; holds && now >= t.since.Add(t.of.StableFor) {
		if t.late = t.of.Within > 0 && t.frames > 1 && !wasLive &&
			t.since > max(t.lastAt, t.faults).Add(t.of.Within); !t.late {
			t.last, t.lastAt = t.frames, now
		}
	}
	if !p.System().Recovered(&f.State.State) {
		t.faults = now
	}
}

// Violation is that of an execution which ends here, stuck. It is certain when nothing can ever
// happen again, or when the goal's time is up.
func (t *Trail) Violation(p *space.Path) *ariadne.Violation {
	f := p.Last()
	now := f.State.Now
	v := &ariadne.Violation{Kind: property.Suspected, Node: ariadne.NoNode, Step: p.Steps(), At: now,
		Message: t.of.Name + ": "}
	switch {
	case t.of.When != "":
		v.Message += fmt.Sprintf("what must follow has not become true since step %d, in %d steps and %v", max(t.last, 1), t.frames-max(t.last, 1), time.Duration(now-t.lastAt))
	case t.last == 0:
		v.Message += fmt.Sprintf("never true, in %d steps and %v", p.Steps(), time.Duration(now))
	default:
		v.Message += fmt.Sprintf("not true since step %d, for %d steps and %v", t.last, t.frames-t.last,
			time.Duration(now-t.lastAt))
	}
	if t.of.StableFor > 0 {
		v.Message += fmt.Sprintf(" (for %v)", t.of.StableFor)
	}
	switch {
	case p.System().IsOver(&f.State.State):
		v.Kind, v.Message = property.Dead, v.Message+"; nothing can happen any more"
	case t.IsLate(p):
		v.Kind, v.Message = property.Dead, v.Message+fmt.Sprintf("; it must be within %v", t.of.Within)
	}
	v.Message += "; " + p.Space().Properties.Reads(t.Goal, p.Snapshot())
	return v
}

// StuckIn is an execution that somebody else has taken, in which a goal is not live at the end. It
// counts from where faults have ended for the last time.
func (l *Liveness) StuckIn(p *space.Path, goal int) (*Stuck, error) {
	y, s := l.space.System, &Stuck{Goal: goal, Path: l.path, End: WalkBound}
	t := l.trailOf(p, goal)
	switch f := p.Last(); {
	case y.IsOver(&f.State.State):
		s.End = WalkQuiet
	case t.IsLate(p):
		s.End = WalkLate
	}
	for i := range p.Steps() + 1 {
		if !y.Recovered(&p.FrameAt(i).State.State) {
			s.Start = i
		}
	}
	s.From = s.Start
	return s, l.forkWithoutBudgets(l.path, p, p.Steps())
}

// Shorten takes off a stuck execution all but the first n steps.
func (l *Liveness) Shorten(s *Stuck, n int) error {
	s.Path.CutExecution(n)
	return s.Path.ClearBudgets()
}

// trailOf is that of a path from its first frame to its last.
func (l *Liveness) trailOf(p *space.Path, goal int) *Trail {
	t := NewTrail(l.goals, goal)
	for i := range p.Steps() + 1 {
		t.LookAt(p, p.FrameAt(i))
	}
	return t
}

// Violation is that of a stuck execution.
func (l *Liveness) Violation(s *Stuck) *ariadne.Violation {
	return l.trailOf(s.Path, s.Goal).Violation(s.Path)
}

// Calibrate takes walks from states of the natural schedule, and sets the bound by how many steps
// they take to the first live state: the most of them many times over. steps are theirs, in order.
func (l *Liveness) Calibrate(b space.Bounds) (steps []int, err error) {
	l.Bound = firstBound
	p, err := space.NewPath(l.space, space.Bounds{Time: b.Time})
	if err == nil {
		err = p.ClearBudgets()
	}
	if err != nil {
		return nil, err
	}
	for p.Last().Plain > 0 && p.Steps() < mostNatural && !l.space.System.ClientsDone(&p.Last().State.State) &&
		!l.space.System.IsOver(&p.Last().State.State) && (l.X.Stopped == nil || !l.X.Stopped()) {
		if err := p.Push(0); err != nil {
			return nil, err
		}
		if out := &p.Last().By.Output; out.Cut != "" || out.Fatal != "" {
			break
		}
	}
	from := func(i int) int { return p.Steps() * (i / samples) / samples }
	t := l.newTries(p, (samples+1)*samples, func(by *Liveness, i int) (walk, error) {
		return by.takeWalkFrom(by.try, by.allGoals(), i%samples, firstBound)
	})
	t.from, t.all = from, true
	if err := t.takeAll(); err != nil {
		return nil, err
	}
	for _, o := range t.outcomes {
		if o.end == WalkLive {
			steps = append(steps, o.counted)
		}
	}
	slices.Sort(steps)
	if n := len(steps); n > 0 {
		l.Bound = min(max(outlier*steps[n-1], leastBound), mostBound)
	}
	return steps, nil
}

// The effort of Calibrate, in steps and walks.
const (
	firstBound  = 2000
	leastBound  = 300
	mostBound   = 20000
	mostNatural = 20000
	outlier     = 4
	samples     = 5
)
