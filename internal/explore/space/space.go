// Package space has global states, their equality, and paths through them. A global state is a few
// hundred bytes that can be copied. The rules are those of internal/explore/world. A Source says
// what a node does with an input. There are two in internal/explore/memo: the Executor, which can
// go back to any state and looks up known transitions, and Living, which goes one way to the end.
//
// Invariant: the same choices lead to the same states, whatever the source.
//
// Read next: path.go, set.go; then internal/explore/search/strategy.
package space

import (
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Source knows or finds out what nodes do.
type Source interface {
	Transition(*memo.Local, world.Input) (*memo.Transition, error)
}

// Knower is a Source that remembers.
type Knower interface {
	// Known reports whether it need find out nothing for a transition.
	Known(*memo.Local, world.Input) (bool, error)
}

// Roots says in which states nodes begin.
type Roots interface {
	Root(ariadne.NodeID) *memo.Local
}

// Space is a system with what is known of its nodes.
type Space struct {
	System *world.System
	Source Source
	// Equality says which of its names a state has in a search (Path.Name).
	Equality Equality
	// Shows are the rules of what nodes show; nil: nothing is looked at.
	Shows expose.Rules
	// Tells, when not nil, are the rules by which nodes expose what who steers a search reads:
	// Shows that are about tuples, and scripts.
	Tells expose.Sources
	// Stages, when not nil, make of these what Shows may be about, too.
	Stages *stage.Runner
	// Properties, when not nil, are what must hold of what nodes expose in global states.
	Properties Properties
	// Final, when not nil, judges executions when they have ended.
	Final Final
	// Symmetry, when not nil, makes paths know the class of their last state.
	Symmetry *Symmetry
	// Independent, when not nil, is the user's word that two steps of one node may
	// change places wherever they follow each other.
	Independent func(a, b *memo.Transition) bool
	// Unfold has each state of a path opened with all that its events can be varied to
	// (Frame.Enabled). That executes all of them. It is for those who must see everything at once:
	// a session, a script's explore().
	Unfold bool
	// Window, when not 0, is how much later a message is tried at most whose node reads the clock
	// when it arrives (probe.go).
	Window time.Duration
	// Sample, when not nil, bounds how much is tried so.
	Sample *Sample
	// Probing counts that.
	Probing Probing
	// Restart, when not nil, has the nodes begin again: they live, and what they have left
	// cannot be gone back to. A path then keeps its last two states only, is never cut,
	// and each path begins with Restart.
	Restart func() error
	roots   []*memo.Local
	before  world.State // scratch memory of Variations

	stagesErr    error           // what was wrong with Stages first
	fingerprints []hash.Hash     // scratch memory
	snapshot     expose.Snapshot // likewise, of Path.Snapshot
}

// State is a global state.
type State struct {
	world.State
	Locals []*memo.Local // by node; what State.Nodes name
}

// New returns the space of a system.
func New(y *world.System, r Roots, s Source) *Space {
	p := &Space{System: y, Source: s}
	for i := range y.Nodes() {
		p.roots = append(p.roots, r.Root(ariadne.NodeID(i)))
	}
	return p
}

// Live returns the space of a system whose nodes live, one path at a time.
func Live(y *world.System, l *memo.Living) *Space {
	p := New(y, l, l)
	p.Restart = l.Restart
	return p
}

// First makes s the state in which nothing is switched on yet.
func (p *Space) First(s *State) {
	s.State = p.System.FirstState()
	s.Locals = append(s.Locals[:0], p.roots...)
}

// CopyFrom makes s a copy of t, in the memory that it has.
func (s *State) CopyFrom(t *State) {
	s.State.CopyFrom(&t.State)
	s.Locals = append(s.Locals[:0], t.Locals...)
}

// Step makes an event of System.Enabled happen, or a variation of one. Where nodes live, or
// something was drawn, e then has the variation that came of it. After an error s is of no use.
func (p *Space) Step(s *State, e *world.Event) (*memo.Transition, error) {
	in := p.System.TakeInput(&s.State, e)
	if world.KindOf(e.Kind).World {
		return p.transitionWithoutInput(s, e, in), nil
	}
	t, err := p.Source.Transition(s.Locals[e.Node], in)
	if err == nil && (p.Restart != nil || e.Varied.Draw() != nil) {
		err = s.SettleVariation(e, t.Input.Varied.Variation())
	}
	if err == nil {
		err = p.System.Absorb(&s.State, e.Node, e.At, &t.To.Named, &t.Effect)
	}
	if err != nil {
		return t, fmt.Errorf("step %d (%s): %w", s.Steps, p.System.Names().Action(e.Action()), err)
	}
	s.Locals[e.Node] = t.To
	if len(t.Effect.Packets) > 0 {
		if what := p.System.Overfull(&s.State, e.Node); what != "" && t.Output.Cut == "" {
			return cutTransition(t, what), nil
		}
	}
	return t, nil
}

// cutTransition is a transition with which paths to this state end, for a reason that is not the
// node's. The node's own leads on from other states.
func cutTransition(t *memo.Transition, what string) *memo.Transition {
	c := &memo.Transition{From: t.From, To: t.To, Input: t.Input, Effect: t.Effect, Output: t.Output, Action: t.Action}
	c.Output.Cut = what
	return c
}

// transitionWithoutInput is the transition of an event that gives no node an input: none. It stands
// for itself at the node that the event has. It is rare, and large: inlined it would be part of
// each step's frame.
//
//go:noinline
func (p *Space) transitionWithoutInput(s *State, e *world.Event, in world.Input) *memo.Transition {
	l, n := s.Locals[e.Node], &s.Nodes[e.Node]
	out := ariadne.Output{Left: ariadne.Left{Clock: n.Clock, Deadline: n.Deadline, Done: n.Done, Ended: n.Ended,
		Spared: n.Spared, Calm: n.Calm}}
	return &memo.Transition{From: l, To: l, Input: in, Effect: n.EffectWithoutInput(), Output: out,
		Action: p.System.Names().Action(e.Action())}
}

// Variations appends to events those that event e of s can be varied to within the budgets, by what
// costs something, in the order of their places; of each those first that it can be varied to
// further. If the result of e is not known yet, e is executed, and so are its variations that may
// be varied further. So the variations do not depend on earlier exploration. Where nodes live
// nobody can know them.
func (p *Space) Variations(s *State, e *world.Event, events []world.Event) ([]world.Event, error) {
	if p.Restart != nil || !s.Varies() || world.KindOf(e.Kind).World {
		return events, nil
	}
	t, err := p.outcomeOf(s, e)
	if err != nil || t.Output.Cut != "" {
		return events, err
	}
	choices := e.Choices() + 1
	for _, c := range t.Output.More() {
		if world.FreeKind(c.Alternative) {
			continue
		}
		v, err := e.WithChoice(c)
		if err != nil {
			return events, err
		}
		if !p.System.Allows(&s.State, &v) {
			continue
		}
		events = append(events, v)
		if choices < p.System.Rules().Together() {
			if events, err = p.Variations(s, &v, events); err != nil {
				return events, err
			}
		}
	}
	return events, nil
}

// outcomeOf is what comes of an event of s, which stays as it is.
func (p *Space) outcomeOf(s *State, e *world.Event) (*memo.Transition, error) {
	p.before.CopyFrom(&s.State)
	in := p.System.TakeInput(&p.before, e)
	return p.Source.Transition(s.Locals[e.Node], in)
}

// CanVary reports whether event e of s can be varied by v, whatever bounds say: within the
// budgets, and by places to which the node comes.
func (p *Space) CanVary(s *State, e *world.Event, v ariadne.Variation) (bool, error) {
	at := *e
	for _, c := range v.Choices() {
		t, err := p.outcomeOf(s, &at)
		if err != nil || t.Output.Cut != "" || !slices.ContainsFunc(t.Output.More(), func(m ariadne.Choice) bool {
			return m == c || m.Place == c.Place && ariadne.SameButLength(m.Alternative, c.Alternative)
		}) {
			return false, err
		}
		if at, err = at.WithChoice(c); err != nil || !p.System.Allows(&s.State, &at) {
			return false, err
		}
	}
	return at.Choices() <= p.System.Rules().Together(), nil
}

// isRemembered reports whether what comes of an event of s is remembered.
func (p *Space) isRemembered(s *State, e *world.Event) (bool, error) {
	k, ok := p.Source.(Knower)
	if !ok {
		return false, nil
	}
	p.before.CopyFrom(&s.State)
	return k.Known(s.Locals[e.Node], p.System.TakeInput(&p.before, e))
}
