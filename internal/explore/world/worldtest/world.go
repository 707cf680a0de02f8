package worldtest

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// World is one execution of a system by the rules alone, as a reference for tests: it
// gives each input to an automaton and remembers nothing.
type World struct {
	System *world.System

	automata []ariadne.Automaton
	state    world.State
}

// New returns a world in its first state. Automata are by node.
func New(r world.Rules, nodes []world.Node, automata []ariadne.Automaton) *World {
	y := world.NewSystem(r, nodes)
	return &World{System: y, automata: automata, state: y.FirstState()}
}

// Of returns the world of programs, on nodes as Nodes makes them.
func Of(r world.Rules, programs ...Program) *World {
	return New(r, Nodes(programs...), Automata(programs...))
}

// Names translates between actions and their stable names.
func (w *World) Names() world.Names { return w.System.Names() }

// State returns a copy of the global state that stays as it is.
func (w *World) State() world.State {
	var s world.State
	s.CopyFrom(&w.state)
	return s
}

// ClientsDone reports whether there are clients and the commands of all of them have ended.
func (w *World) ClientsDone() bool { return w.System.ClientsDone(&w.state) }

// Now is the latest time of an input so far.
func (w *World) Now() ariadne.Time { return w.state.Now }

// Digest names the global state.
func (w *World) Digest() ariadne.Digest { return w.state.Digest() }

// Enabled returns what may happen next, in the order of world.System.Enabled.
func (w *World) Enabled() []ariadne.Action {
	var actions []ariadne.Action
	for _, e := range w.System.Enabled(&w.state, nil) {
		actions = append(actions, e.Action())
	}
	return actions
}

// Apply makes an enabled action happen.
func (w *World) Apply(a ariadne.Action) (ariadne.Step, error) {
	for _, e := range w.System.Enabled(&w.state, nil) {
		if e.Action() == a {
			return w.take(e)
		}
	}
	return ariadne.Step{}, fmt.Errorf("%s is not enabled", w.Names().Action(a))
}

// ApplyEvent makes an event of its state happen, which System.Enabled may not have.
func (w *World) ApplyEvent(e world.Event) (ariadne.Step, error) { return w.take(e) }

func (w *World) take(e world.Event) (ariadne.Step, error) {
	y, a := w.System, e.Action()
	before := w.state.Nodes[a.Node]
	in := y.TakeInput(&w.state, &e)
	step := ariadne.Step{Index: w.state.Steps, Action: a, Name: w.Names().Action(a), At: in.At}
	if world.KindOf(a.Kind).World {
		n := &before
		step.Output = ariadne.Output{Left: ariadne.Left{Clock: n.Clock, Deadline: n.Deadline, Done: n.Done,
			Ended: n.Ended, Spared: n.Spared, Calm: n.Calm}}
		return step, nil
	}
	out, err := w.automata[a.Node].Apply(in.Input())
	if err != nil {
		return step, fmt.Errorf("step %d (%s): %w", step.Index, step.Name, err)
	}
	step.Output = out
	effect, err := y.Effect(a.Node, before.Clock, in, &out)
	if err == nil {
		reached := world.NameOf(a.Node, y.NameReached(a.Node, before.Local.Name, in, &out))
		err = y.Absorb(&w.state, a.Node, e.At, &reached, &effect)
	}
	if err != nil {
		err = fmt.Errorf("step %d (%s): node %s broke its contract: %w", step.Index, step.Name, y.Nodes()[a.Node].Name,
			err)
	}
	return step, err
}
