// Package search decides what is executed: an Exploration (explore.go) lets an explorer
// choose path after path, and judges and counts them; a Plan (plan.go) holds what a
// check has found and when it is enough. It starts no goroutine and reads no clock;
// internal/use/check does both.
//
// Invariant: which paths an exploration takes is a function of the space, the explorer and
// the bounds.
//
// It is no proof. Random walks may miss any bug. An exploration says whether it has seen everything
// within its bounds.
//
// Read next: internal/explore/search/strategy, internal/judge/property, internal/explore/replay.
package search

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Exploration is a search, to be driven by Run: an explorer chooses path after path
// through a space; states, steps and ends are judged and counted. A single run, a replay
// and random walks with fresh nodes are searches of a space whose nodes live
// (space.Live): there each path is a whole execution, from the first state on.
//
// Checks are made anew for whatever they judge. They judge each transition alone,
// once, when a path first takes it, and each path that ends because nothing more
// happens or the clients are done, from its first step to its last. Nothing is missed by
// not going on from known states: what a check says depends on what each node has done
// (package property), and that is what names a state. It is for who merges states
// into classes to see that this holds of a class too.
//
// A search by several workers is an Exploration for each, on a goroutine of its own,
// with explorers of which each does a part (strategy.Divisible) and with the same
// Seen.
type Exploration struct {
	Space    *space.Space
	Explorer strategy.Explorer
	Bounds   space.Bounds
	// Limit is the number of steps after which a path that has not ended is ended by the
	// step limit, and not by Bounds.Depth, which is no more than that; 0: none.
	Limit int
	// Endless: a path goes on when the clients are done, as long as the explorer does
	// (strategy.Follower).
	Endless bool
	// Checks returns the checks of one execution.
	Checks func() []property.Check
	// Stopped, when not nil, is asked now and then whether to end the search.
	Stopped func() bool
	// Watch, when not nil, is told each frame as a path gets to it. Of the housekeeping by
	// which a path is outlasted it is told only where nodes live.
	Watch func(p *space.Path)
	// Cycled, when not nil, is told of each path that has come back to where it was after
	// its first stem steps (space.Path.Lasso).
	Cycled func(p *space.Path, stem int)
	// Ended, when not nil, is told how each path ended, and its violation or nil. The
	// search goes on unless it returns false.
	Ended func(p *space.Path, end string, v *ariadne.Violation) bool

	// Classes are further hashes of the state at the end of a path: states that have
	// one of them in common count as the same one.
	Classes []func(*space.Path) hash.Hash

	// Seen are the states that were arrived at, each with what of the bounds was used
	// up (space.Path.Hash), and their classes. nil: a set of its own.
	Seen     *space.Set
	Coverage Coverage
	// Single: the path was over where the paths begin, so it is the only one, whatever the
	// explorer. It is known when Ended is told of it.
	Single bool
	// Missing says what keeps the natural schedule from a steady state, when the search has ended
	// there with SearchNowhere.
	Missing string

	aside bool // the path is (strategy.Sider)
	// checks are those of the path, which see each step as it comes, where nodes live;
	// else nil.
	checks []property.Check
	step   ariadne.Step // which they look at
	// courses are how far the path had come, by steps.
	courses []course
	final   error // of Space.Final: nothing is judged after it
}

// Coverage is how much was done.
type Coverage struct {
	Paths    int // that ended by themselves, cut by a violation or the bounds included
	Steps    int // taken, in memory
	Calls    int // system calls in them
	Messages int // sent in them
	States   int // first arrived at here, known ones of their class not counted
	// Merged counts how often a state that was not seen before counted as known
	// because one of its class was.
	Merged int
	// Bounded counts those of them in which the bounds left less than the rules.
	Bounded int
	// Cycles counts how often a path came back to a state that lies on it, which happens only
	// by an equality that is not by history. They are the back edges of the tree of paths:
	// depth first, one worker meets one in every strongly connected component that has a
	// cycle; other searches may come to a state by two paths and miss that.
	Cycles int
	// CutOff counts, with such an equality, the states in which the bound on time or depth has
	// taken away what could happen if the state were reached sooner. Then it counts as known.
	CutOff int
	Ends   map[string]int
	// Assertions are what programs want to be shown once.
	Assertions property.Assertions
	// Faults are by kind.
	Faults [world.MaxKinds]Faults
	// Strikes are how often faults were taken, by kind, node and phase. A reader may take them out.
	Strikes map[Strike]int
	// Open are the nodes that faults of a kind could hit.
	Open [world.MaxKinds]NodeSet
}

// Faults say how much faults of a kind were tried.
type Faults struct {
	// how often paths came to a state, new to who searches, in which one could happen next or
	// within the step
	Offered int `json:"offered"`
	Taken   int `json:"taken"` // faults in steps
	// to a state, likewise, in which the line had been written that must come before
	// (world.Rules.After)
	Said  int `json:"said"`
	Paths int `json:"paths"` // in which there was one, of Coverage.Paths
}

// Add adds f.
func (c *Faults) Add(f Faults) {
	c.Offered, c.Taken, c.Said, c.Paths = c.Offered+f.Offered, c.Taken+f.Taken, c.Said+f.Said, c.Paths+f.Paths
}

// Minus is how much more c is than f.
func (c Faults) Minus(f Faults) Faults {
	return Faults{c.Offered - f.Offered, c.Taken - f.Taken, c.Said - f.Said, c.Paths - f.Paths}
}

// How the search as a whole ended.
const (
	SearchStopped = "stopped"
	// SearchExhausted: there is no path left within the bounds.
	SearchExhausted = "exhausted"
	// SearchDone: the explorer has made all paths it was to make.
	SearchDone = "done"
	// SearchNowhere: the natural schedule ended before Bounds.From was met.
	SearchNowhere = "nowhere"
)

// Run searches. An error is the tool's fault.
func (x *Exploration) Run() (string, error) {
	defer strategy.Leave(x.Explorer)
	if x.Seen == nil {
		x.Seen = &space.Set{}
	}
	x.Coverage.Ends = map[string]int{}
	if x.Space.Restart != nil {
		return x.executions()
	}
	p, err := x.newPath()
	if err != nil {
		return SearchStopped, err
	}
	if how, err := x.approach(p); how != "" || err != nil {
		return how, err
	}
	if how, err := x.endWithoutChoice(p); how != "" || err != nil {
		return how, err
	}
	for {
		keep, ok := x.Explorer.Begin(p)
		if err := p.Err(); err != nil {
			return SearchStopped, err
		}
		if !ok {
			return x.describeWhole(), nil
		}
		p.Cut(keep)
		x.aside = strategy.Aside(x.Explorer)
		if done, err := x.takePath(p); err != nil || done {
			return SearchStopped, err
		}
	}
}

// executions searches where nodes live: each path begins at the first state.
func (x *Exploration) executions() (string, error) {
	for n := 0; ; n++ {
		if x.Stopped != nil && x.Stopped() {
			return SearchStopped, nil
		}
		p, err := space.NewPath(x.Space, x.Bounds)
		if err != nil {
			return SearchStopped, err
		}
		if _, ok := x.Explorer.Begin(p); !ok {
			return x.describeWhole(), nil
		}
		if n > 0 {
			if err := x.Space.Restart(); err != nil {
				return SearchStopped, err
			}
		}
		x.checks = x.Checks()
		x.enterState(p)
		if how, err := x.approach(p); how != "" || err != nil {
			return how, err
		}
		if how, err := x.endWithoutChoice(p); how != "" || err != nil {
			return how, err
		}
		if done, err := x.takePath(p); err != nil || done {
			return SearchStopped, err
		}
	}
}

// newPath returns the path without steps.
func (x *Exploration) newPath() (*space.Path, error) {
	p, err := space.NewPath(x.Space, x.Bounds)
	if err != nil {
		return nil, err
	}
	p.Ends = func(e *world.Event, by *memo.Transition) bool {
		end, _ := x.whyEnded(p, e, by)
		return end != ""
	}
	x.enterState(p)
	return p, nil
}

// approach takes the natural schedule to where the paths begin; it says how the
// search ended when it gets no further, or "".
func (x *Exploration) approach(p *space.Path) (string, error) {
	for p.Approaching() {
		if x.Stopped != nil && x.Stopped() {
			return SearchStopped, nil
		}
		if end, v := x.whyOver(p); end != "" {
			x.Missing = x.describeMissing(p)
			return x.endSearch(p, end, v, SearchNowhere)
		}
		if err := x.pushEvent(p, 0); err != nil {
			return SearchStopped, err
		}
	}
	return "", nil
}

// describeMissing says in words what keeps a path from having come to a steady state
// (space.Bounds.FromLive), or "".
func (x *Exploration) describeMissing(p *space.Path) string {
	if !x.Bounds.FromLive {
		return ""
	}
	var all []string
	unasked, waited := p.MissingGoals()
	for i, g := range x.Space.Properties.Goals() {
		switch {
		case waited&(1<<i) != 0:
			all = append(all, fmt.Sprintf("property %q does not become true", g.Name))
		case unasked&(1<<i) != 0:
			all = append(all, fmt.Sprintf("property %q is never pending: its when (%s) is not true in any state", g.Name, g.When))
		}
	}
	return strings.Join(all, "; ")
}

// endWithoutChoice ends the search when the path is over before there is anything to choose, and
// says how; else it is "".
func (x *Exploration) endWithoutChoice(p *space.Path) (string, error) {
	end, v := x.whyOver(p)
	if end == "" || x.mayGoOn(p, end) {
		return "", nil
	}
	x.Single = true
	return x.endSearch(p, end, v, SearchExhausted)
}

// endSearch ends a path which the explorer does not see, and the search, with how.
func (x *Exploration) endSearch(p *space.Path, end string, v *ariadne.Violation, how string) (string, error) {
	if stopped, err := x.takeHousekeeping(p, &end, &v); err != nil || stopped {
		return SearchStopped, err
	}
	x.judgeEnd(p, &end, &v)
	if x.final != nil {
		return SearchStopped, x.final
	}
	if x.Ended != nil && !x.Ended(p, end, v) {
		return SearchStopped, nil
	}
	return how, nil
}

// pushEvent takes a step.
func (x *Exploration) pushEvent(p *space.Path, event int) error {
	if err := p.Push(event); err != nil {
		return err
	}
	x.countStep(p)
	x.enterState(p)
	return nil
}

func (x *Exploration) countStep(p *space.Path) {
	by := p.Last().By
	x.Coverage.Steps++
	x.Coverage.Calls += by.Output.Calls
	x.Coverage.Messages += len(by.Effect.Packets)
	if !x.Space.System.Faulty() {
		return
	}
	phase := x.followPhase(p)
	if e := p.Event(p.Len()); e.IsFault() {
		x.countFault(e, phase)
	}
}

// describeWhole says whether all was explored.
func (x *Exploration) describeWhole() string {
	if e, ok := x.Explorer.(strategy.Exhaustive); ok && e.Missed() == "" {
		return SearchExhausted
	}
	return SearchDone
}

// takePath takes one path to its end; done when the search is over.
func (x *Exploration) takePath(p *space.Path) (done bool, err error) {
	for {
		if x.Stopped != nil && x.Stopped() {
			return true, nil
		}
		end, v := x.whyOver(p)
		if err := x.propertyError(); err != nil {
			return true, err
		}
		if f := p.Last(); f.Rest && x.mayGoOn(p, end) {
			if done, err := x.judgeRest(p, end); done || err != nil {
				return true, err
			}
			end = ""
		} else if (end == EndQuiet || end == EndTime || end == EndClients && x.Endless) && len(f.Enabled) > 0 &&
			strategy.GoesOn(x.Explorer, p) {
			end = ""
		} else if end == "" && f.Plain == 0 && !strategy.TriesFaultsAtRest(x.Explorer) {
			end = EndBounds
		}
		if end == "" {
			i, ok := x.Explorer.Next(p)
			if err := p.Err(); err != nil {
				return true, err
			}
			if ok {
				if err := x.pushEvent(p, i); err != nil {
					return true, err
				}
				continue
			}
			end = EndStrategy
			if p.Last().Seen {
				end = EndSeen
			}
		}
		return x.endPath(p, end, v)
	}
}

// enterState enters the state at the end of the path.
func (x *Exploration) enterState(p *space.Path) {
	f := p.Last()
	if f.Seen, f.Again = false, false; !x.aside {
		f.Seen = !x.enterFresh(p)
	}
	if !f.Seen {
		x.Coverage.States++
		x.countOffered(p)
		if f.Bounded {
			x.Coverage.Bounded++
		}
		if x.Space.Equality.Exposed && !x.aside && x.isCutOff(p) {
			x.Coverage.CutOff++
		}
	} else if stem, ok := p.FindCycle(); ok && !p.Approaching() {
		x.Coverage.Cycles++
		if x.Cycled != nil {
			x.Cycled(p, stem)
		}
	}
	if x.Watch != nil {
		x.Watch(p)
	}
}

// countOffered counts the kinds of faults that can happen at the end of the path. Those within a
// step are known once it was taken: they are counted in the state to which it led.
func (x *Exploration) countOffered(p *space.Path) {
	if !x.Space.System.Faulty() {
		return
	}
	var kinds world.Faults
	f := p.Last()
	for i := range f.Enabled {
		switch e := &f.Enabled[i]; {
		case e.Disturbed():
			for k, n := range e.Costs() {
				if kinds[k] |= n; n > 0 {
					x.Coverage.Open[k].add(e.Node)
				}
			}
		case e.IsFault():
			kinds[e.Kind] = 1
			if !world.KindOf(e.Kind).World {
				x.Coverage.Open[e.Kind].add(e.Node)
			}
		}
	}
	if f.By != nil {
		left := &p.FrameAt(p.Steps() - 1).State.Faults // before the step
		for i := range f.By.Output.Places {
			for _, a := range f.By.Output.Places[i].Alternatives {
				if k, ok := world.KindNamed(ariadne.KindOf(a)); ok && !world.FreeKind(a) && left[k] > 0 {
					kinds[k] = 1
					x.Coverage.Open[k].add(f.By.From.Node)
				}
			}
		}
	}
	for k, n := range kinds {
		if n > 0 {
			x.Coverage.Faults[k].Offered++
		}
		if x.Space.System.Rules().After[k] != nil &&
			x.Space.System.AnyMayFollow(&f.State.State, ariadne.ActionKind(k)) {
			x.Coverage.Faults[k].Said++
		}
	}
}

// isCutOff reports whether the bound on time or depth has taken away something at the end of
// the path that could happen in this state if it were reached sooner.
func (x *Exploration) isCutOff(p *space.Path) bool {
	f, y := p.Last(), x.Space.System
	late := f.Late && f.Beyond <= x.Bounds.Time || f.Bounded && x.Bounds.Depth > 0 && p.Len() >= x.Bounds.Depth
	return late && !y.ClientsDone(&f.State.State) && !y.HasOnlyHousekeeping(&f.State.State) && !y.IsIdle(&f.State.State)
}

// enterFresh enters the state at the end of the path. It is known when it was entered before, or
// one of its class. A known state is not entered into further classes: the first path that enters a
// class goes on from there, and all others may rely on that. On the approach only the natural step
// is taken, so there a state stands for its history alone.
func (x *Exploration) enterFresh(p *space.Path) bool {
	f := p.Last()
	if x.Seen.KeepsNothing() && len(x.Classes) == 0 {
		f.Again = false
		return true
	}
	h := p.Hash(f)
	if p.Approaching() && x.Space.Equality.Exposed {
		h = f.State.Hash()
	}
	if f.Again = !x.Seen.Add(h); f.Again || p.Approaching() {
		return !f.Again
	}
	for _, class := range x.Classes {
		if !x.Seen.Add(class(p)) {
			x.Coverage.Merged++
			return false
		}
	}
	return true
}

// whyOver says why the path cannot go on, or "".
func (x *Exploration) whyOver(p *space.Path) (string, *ariadne.Violation) {
	f := p.Last()
	if f.By != nil && !f.By.Judged.Load() {
		if end, v := x.whyEnded(p, p.Event(p.Len()), f.By); end != "" {
			return end, v
		}
	}
	if v := x.judgeState(p, expose.Between); v != nil {
		return EndViolation, v
	}
	switch {
	case x.Space.System.ClientsDone(&f.State.State):
		return EndClients, nil
	case len(f.Enabled) == 0 && f.Bounded && !f.Rest && x.Limit > 0 && p.Len() >= x.Limit:
		return EndSteps, nil
	case len(f.Enabled) == 0 && f.Bounded && !f.Rest:
		return EndBounds, nil
	case f.Rest && f.Late && !x.Space.System.HasOnlyHousekeeping(&f.State.State):
		return EndTime, nil
	case f.Rest:
		return EndQuiet, nil
	}
	return "", nil
}

// whyEnded says why paths end with a transition, whatever else could happen, or "".
func (x *Exploration) whyEnded(p *space.Path, e *world.Event, by *memo.Transition) (string, *ariadne.Violation) {
	if by.Judged.Load() {
		return "", nil
	}
	if by.Output.Cut != "" {
		return EndCut, nil
	}
	if by.Output.Fatal != "" { // what else it did in this step, it may have done for that
		return EndFatal, nil
	}
	if v := x.judgeStep(p, e, by); v != nil {
		return EndViolation, v
	}
	x.Coverage.Assertions.Add(&by.Output)
	by.Judged.Store(true)
	return "", nil
}

// judgeStep lets fresh checks look at a step alone, or those of the path. In what happens to the
// network no node does anything.
func (x *Exploration) judgeStep(p *space.Path, e *world.Event, by *memo.Transition) *ariadne.Violation {
	s := &x.step
	p.FillStep(s, p.Steps(), e, by)
	if s.Action.Node == ariadne.NoNode {
		return nil
	}
	checks := x.checks
	if checks == nil {
		checks = x.Checks()
	}
	for _, c := range checks {
		if v := c.Step(s); v != nil {
			return v
		}
	}
	return nil
}

// propertyError is what is wrong with a property.
func (x *Exploration) propertyError() error {
	if x.final != nil {
		return x.final
	}
	if err := x.Space.StagesErr(); err != nil {
		return &ariadne.SetupError{Err: err}
	}
	if x.Space.Properties == nil {
		return nil
	}
	if err := x.Space.Properties.Err(); err != nil {
		return &ariadne.SetupError{Err: err}
	}
	return nil
}

// judgeState lets the properties look at what nodes expose at the end of the path, if that has
// changed or the path goes no further.
func (x *Exploration) judgeState(p *space.Path, m expose.Moment) *ariadne.Violation {
	if x.Space.Properties == nil || m == expose.Between && !p.Last().Exposes {
		return nil
	}
	broken := x.Space.Properties.Judge(p.Snapshot(), m)
	if broken == "" {
		return nil
	}
	p.Last().Broken = true
	return &ariadne.Violation{Kind: property.Kind, Node: ariadne.NoNode, Step: p.Steps(), At: p.Last().State.Now,
		Message: broken}
}

// judgePath lets fresh checks look at all of a path, or those of the path at its end.
func (x *Exploration) judgePath(p *space.Path, end string) *ariadne.Violation {
	checks := x.checks
	if checks == nil {
		checks = x.Checks()
		for i := 1; i <= p.Steps(); i++ {
			s := &x.step
			p.ReadStep(s, i)
			if s.Action.Node == ariadne.NoNode {
				continue
			}
			for _, c := range checks {
				if v := c.Step(s); v != nil {
					return v
				}
			}
		}
	}
	if v := x.judgeState(p, expose.Ended); v != nil {
		return v
	}
	s := &p.Last().State.State
	quiet := end == EndQuiet && !s.GoneForGood()
	for _, c := range checks {
		if v := c.End(property.End{Quiet: quiet, Step: p.Steps(), At: p.Last().State.Now}); v != nil {
			return v
		}
	}
	return x.judgeFinally(p, false)
}

// judgeFinally lets who judges ended executions look at what the nodes leave.
func (x *Exploration) judgeFinally(p *space.Path, byTime bool) *ariadne.Violation {
	if x.Space.Final == nil || x.final != nil {
		return nil
	}
	wrong, err := x.Space.Final.Judge(p, byTime)
	if err != nil {
		x.final = err
		return nil
	}
	if wrong == "" {
		return nil
	}
	return &ariadne.Violation{Kind: property.Final, Node: ariadne.NoNode, Step: p.Steps(), At: p.Last().State.Now,
		Message: wrong}
}

func (x *Exploration) endPath(p *space.Path, end string, v *ariadne.Violation) (done bool, err error) {
	steps := p.Len()
	if stopped, err := x.takeHousekeeping(p, &end, &v); err != nil || stopped {
		return true, err
	}
	how := x.judgeEnd(p, &end, &v)
	if x.final != nil {
		return true, x.final
	}
	if x.Ended != nil && !x.Ended(p, end, v) {
		return true, nil
	}
	if p.Len() > steps && x.Space.Restart == nil {
		if err := p.CutNatural(steps); err != nil {
			return true, err
		}
	}
	if err := x.Explorer.End(p, how); err != nil {
		return true, fmt.Errorf("after %d paths: %w", x.Coverage.Paths, err)
	}
	return false, p.Err()
}

// takeHousekeeping lets the housekeeping of a path that the time limit has ended go on, until
// something comes of it or nothing can. The explorer does not see these steps, among
// which there is no choice that matters.
func (x *Exploration) takeHousekeeping(p *space.Path, end *string, v **ariadne.Violation) (stopped bool, err error) {
	steps, y := p.Len(), x.Space.System
	for *end == EndTime && y.IsIdle(&p.Last().State.State) {
		if y.IsIdleForGood(&p.Last().State.State) {
			*end = EndQuiet
			return false, nil
		}
		if x.Bounds.Depth > 0 && p.Steps() >= x.Bounds.Depth {
			break
		}
		if x.Stopped != nil && x.Stopped() {
			return true, nil
		}
		if err := p.PushNatural(); err != nil {
			return false, err
		}
		x.countStep(p)
		if x.Space.Restart != nil && x.Watch != nil {
			x.Watch(p)
		}
		why, w := x.whyEnded(p, p.Event(p.Len()), p.Last().By)
		if why == "" {
			if w = x.judgeState(p, expose.Between); w != nil {
				why = EndViolation
			}
		}
		if why != "" {
			*end, *v = why, w
			return false, nil
		}
	}
	switch f := &p.Last().State.State; {
	case p.Len() == steps:
		return false, nil
	case y.ClientsDone(f):
		*end = EndClients
		return false, nil
	case y.AtRest(f):
		*end = EndQuiet
		return false, nil
	}
	if x.Space.Restart == nil {
		return false, p.CutNatural(steps)
	}
	return false, nil
}

// mayGoOn reports whether a path that has come to rest, where it would end, is to go on with
// a fault that can still happen.
func (x *Exploration) mayGoOn(p *space.Path, end string) bool {
	f := p.Last()
	return (end == EndQuiet || end == EndTime) && f.Rest && len(f.Enabled) > 0 && strategy.TriesFaultsAtRest(x.Explorer)
}

// judgeRest judges and counts a path that goes on, once among all workers, as if it ended here. It
// goes on whatever comes of that: a fault that does not depend on the last step could have come
// before it.
func (x *Exploration) judgeRest(p *space.Path, end string) (done bool, err error) {
	if !x.Seen.AddRest(p.Identity()) {
		return false, nil
	}
	steps := p.Len()
	var v *ariadne.Violation
	if stopped, err := x.takeHousekeeping(p, &end, &v); err != nil || stopped {
		return true, err
	}
	x.judgeEnd(p, &end, &v)
	if x.Ended != nil && !x.Ended(p, end, v) {
		return true, nil
	}
	if p.Len() > steps {
		return false, p.CutNatural(steps)
	}
	return false, nil
}

// judgeEnd judges the path when it is complete, and counts how it ended.
func (x *Exploration) judgeEnd(p *space.Path, end *string, v **ariadne.Violation) strategy.End {
	how := strategy.Given
	switch *end {
	case EndQuiet, EndClients:
		how = strategy.Complete
		if *end == EndClients {
			how = strategy.Cut
		}
		if *v = x.judgePath(p, *end); *v != nil {
			*end = EndViolation
		}
	case EndSteps, EndTime, EndBounds:
		how = strategy.Complete
		if *v = x.judgeState(p, expose.CutOff); *v == nil && *end == EndTime {
			*v = x.judgeFinally(p, true)
		}
		if *v != nil {
			*end = EndViolation
		}
	case EndViolation, EndFatal, EndCut:
		how = strategy.Cut
	}
	if how != strategy.Given {
		x.Coverage.Paths++
		x.countFaults(p)
	}
	x.Coverage.Ends[*end]++
	return how
}

// countFaults counts the path for each kind of fault that there was in it.
func (x *Exploration) countFaults(p *space.Path) {
	if !x.Space.System.Faulty() {
		return
	}
	budgets, left := x.Space.System.Rules().Faults, &p.Last().State.Faults
	for k, n := range budgets {
		if left[k] < n {
			x.Coverage.Faults[k].Paths++
		}
	}
}
