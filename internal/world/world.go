// Package world is the whole system under test as the explorer sees it: nodes
// as automata, messages in flight, deadlines, and the budget of delays. It says
// what may happen next (Enabled) and makes it happen (Apply). It chooses
// nothing, checks nothing and knows nothing of what the automata are.
//
// Time (docs/architecture.md). Each node has its own clock, which only its own
// inputs advance. The world orders them like this:
//
//   - A node is switched on at its start time, or within ClockError of an earlier
//     start that has not happened yet. What would arrive at its machine before that
//     is lost.
//   - A message arrives at Sent + Latency, and never before an earlier one of
//     the same TCP connection. Of each TCP direction only the oldest message can
//     be delivered; of datagrams each one.
//   - T is the earliest deadline of all nodes. A timer whose deadline lies in
//     [T, T+ClockError] may fire; so a clock is never off by more than that.
//   - What arrives until T+ClockError may be delivered, in any order: reordering
//     between connections is free.
//   - A node whose own timer is due when a message arrives gets it with its clock just
//     below that deadline: the clock is slow. What it sends then arrives no earlier for
//     it. So no node ever sees a timer of its own that is due and has not fired.
//   - When a timer fires while messages with an earlier arrival are in flight,
//     these have been delayed: they now arrive at the timer's deadline. Delaying
//     a message costs one of the budget, once; those behind it on the same
//     connection are held with it at no cost. Without budget the timer waits.
//
// Invariants: nothing is delivered before it was sent, nor to a node before it
// is switched on; each TCP direction keeps its order; no clock runs backwards;
// no more messages are delayed than the budget allows; while anything is enabled
// at all, the first enabled action is the globally earliest event, so that
// always taking it is the natural schedule.
//
// One set of rules serves two callers. World runs automata as it goes: one
// execution at a time. A System with a State per global state is the same without
// the automata: internal/space looks up what the nodes do, and copies states.
//
// Read next: system.go and enabled.go, the rules; then internal/search.
package world

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"ariadne"
)

// Node is one member of the system.
type Node struct {
	Name      string
	Addrs     []netip.Addr // the first one stands for the name in actions' names
	Start     ariadne.Time
	Client    bool              // when all clients are done, so is the execution
	Initial   ariadne.Digest    // over all that its behaviour depends on besides its inputs, and which node it is
	Automaton ariadne.Automaton // nil in a System whose nodes are looked up
}

// Rules are the network's and the clocks' parameters.
type Rules struct {
	Latency    time.Duration
	ClockError time.Duration
	Delays     int // budget of delayed messages in one execution
}

// World is one execution of the system so far.
type World struct {
	system *System
	state  State
	// events are the enabled ones, first the natural one; nil when not computed
	// since the last change of state.
	events []Event
}

// New returns a world in its first state: nothing is switched on yet.
func New(r Rules, nodes []Node) *World {
	y := NewSystem(r, nodes)
	return &World{system: y, state: y.First()}
}

// Names translates between actions and their stable names.
func (w *World) Names() Names { return w.system.names }

// State returns a copy of the global state that stays as it is.
func (w *World) State() State {
	var s State
	s.CopyFrom(&w.state)
	return s
}

// Now is the latest time of an input so far.
func (w *World) Now() ariadne.Time { return w.state.Now }

// ClientsDone reports whether there are clients and the commands of all of them have ended.
func (w *World) ClientsDone() bool { return w.system.ClientsDone(&w.state) }

// Enabled returns what may happen next, in order of time; at the same time
// starts before deliveries before timers, then by node, then by flow. The first
// one is the natural one. Empty: nothing will ever happen again.
func (w *World) Enabled() []ariadne.Action {
	actions := make([]ariadne.Action, 0, len(w.enabled()))
	for _, e := range w.enabled() {
		actions = append(actions, e.Action())
	}
	return actions
}

// EnabledUntil returns those of Enabled that happen at t or before.
func (w *World) EnabledUntil(t ariadne.Time) []ariadne.Action {
	all := w.Enabled()
	n := slices.IndexFunc(w.enabled(), func(e Event) bool { return e.At > t })
	if n < 0 {
		return all
	}
	return all[:n]
}

// Next is the time of the natural action, or Never.
func (w *World) Next() ariadne.Time {
	if e := w.enabled(); len(e) > 0 {
		return e[0].At
	}
	return ariadne.Never
}

// Idle, Rests and Calm are System's.
func (w *World) Idle() bool  { return w.system.Idle(&w.state) }
func (w *World) Rests() bool { return w.system.Rests(&w.state) }
func (w *World) Calm() bool  { return w.system.Calm(&w.state) }

func (w *World) enabled() []Event {
	if w.events == nil {
		w.events = w.system.Enabled(&w.state, []Event{})
	}
	return w.events
}

func (w *World) find(a ariadne.Action) (Event, bool) {
	for _, e := range w.enabled() {
		if e.Kind == a.Kind && e.Node == a.Node && e.Action() == a {
			return e, true
		}
	}
	return Event{}, false
}

// Apply makes an enabled action happen. An error is a bug or a limit of the
// tool: an action that is not enabled, an automaton that fails or breaks its
// contract.
func (w *World) Apply(a ariadne.Action) (ariadne.Step, error) {
	e, ok := w.find(a)
	if !ok {
		return ariadne.Step{}, fmt.Errorf("%s is not enabled", w.system.names.Action(a))
	}
	w.events = nil
	before := w.state.Nodes[a.Node]
	in := w.system.Take(&w.state, e)
	step := ariadne.Step{Index: w.state.Steps, Action: a, Name: w.system.names.Action(a), At: in.At}
	out, err := w.system.nodes[a.Node].Automaton.Apply(in.Input())
	if err == nil {
		step.Output = out
		if err = w.absorb(a.Node, before, e.At, in, &out); err != nil {
			err = fmt.Errorf("node %s broke its contract: %w", w.system.nodes[a.Node].Name, err)
		}
	}
	if err != nil {
		return step, fmt.Errorf("step %d (%s): %w", step.Index, step.Name, err)
	}
	return step, nil
}

func (w *World) absorb(id ariadne.NodeID, before NodeState, at ariadne.Time, in Input, out *ariadne.Output) error {
	effect, err := w.system.Effect(id, before.Clock, in, out)
	if err != nil {
		return err
	}
	return w.system.Absorb(&w.state, id, at, Succeed(before.Digest, in), &effect)
}
