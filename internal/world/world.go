// Package world is the whole system under test as the explorer sees it: nodes
// as automata, messages in flight, deadlines, and the budget of delays. It says
// what may happen next (Enabled) and makes it happen (Apply). It chooses
// nothing, checks nothing and knows nothing of what the automata are.
//
// Time (docs/architecture.md). Each node has its own clock, which only its own
// inputs advance. The world orders them like this:
//
//   - A node is switched on at its start time. What would arrive at its machine
//     before that is lost.
//   - A message arrives at Sent + Latency, and never before an earlier one of
//     the same TCP connection. Of each TCP direction only the oldest message can
//     be delivered; of datagrams each one.
//   - T is the earliest deadline of all nodes. A timer whose deadline lies in
//     [T, T+ClockError] may fire; so a clock is never off by more than that.
//   - What arrives until T+ClockError may be delivered, in any order: reordering
//     between connections is free.
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
// Read next: enabled.go, then internal/search.
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
	Client    bool           // when all clients are done, so is the execution
	Initial   ariadne.Digest // over all that its behaviour depends on besides its inputs
	Automaton ariadne.Automaton
}

// Rules are the network's and the clocks' parameters.
type Rules struct {
	Latency    time.Duration
	ClockError time.Duration
	Delays     int // budget of delayed messages in one execution
}

// World is one execution of the system so far.
type World struct {
	nodes []Node
	rules Rules
	names Names
	state State
	// events are the enabled ones, first the natural one; nil when not computed
	// since the last change of state.
	events []event
}

// State is the global state: plain data, without the automata.
type State struct {
	Nodes  []NodeState // by NodeID
	Flight []Flying    // in the order in which they were sent
	Delays int         // what is left of the budget
	Steps  int         // actions applied
	Now    ariadne.Time
}

// NodeState is what the world knows of one node.
type NodeState struct {
	Started  bool
	Done     bool // no process is left
	Clock    ariadne.Time
	Deadline ariadne.Time   // earliest pending timer, or Never
	Digest   ariadne.Digest // the name of its local state (digest.go)
}

// Flying is a message in flight.
type Flying struct {
	ariadne.Message
	Arrival ariadne.Time
	Delayed bool // a timer has passed it
	Head    bool // no earlier message of its TCP direction is in flight
}

// New returns a world in its first state: nothing is switched on yet.
func New(r Rules, nodes []Node) *World {
	w := &World{nodes: nodes, rules: r, names: newNames(nodes)}
	w.state.Delays = r.Delays
	for _, n := range nodes {
		w.state.Nodes = append(w.state.Nodes, NodeState{Deadline: ariadne.Never, Digest: n.Initial})
	}
	return w
}

// Names translates between actions and their stable names.
func (w *World) Names() Names { return w.names }

// State returns a copy of the global state that stays as it is.
func (w *World) State() State {
	s := w.state
	s.Nodes = slices.Clone(s.Nodes)
	s.Flight = slices.Clone(s.Flight)
	return s
}

// Now is the latest time of an input so far.
func (w *World) Now() ariadne.Time { return w.state.Now }

// ClientsDone reports whether there are clients and all of them are done.
func (w *World) ClientsDone() bool {
	clients := 0
	for i, n := range w.nodes {
		if n.Client {
			clients++
			if !w.state.Nodes[i].Done {
				return false
			}
		}
	}
	return clients > 0
}

// Apply makes an enabled action happen. An error is a bug or a limit of the
// tool: an action that is not enabled, an automaton that fails or breaks its
// contract.
func (w *World) Apply(a ariadne.Action) (ariadne.Step, error) {
	in, err := w.take(a)
	if err != nil {
		return ariadne.Step{}, err
	}
	w.state.Steps++
	step := ariadne.Step{Index: w.state.Steps, Action: a, Name: w.names.Action(a), At: in.At}
	out, err := w.nodes[a.Node].Automaton.Apply(in)
	if err == nil {
		step.Output = out
		if err = w.absorb(a.Node, in, &out); err != nil {
			err = fmt.Errorf("node %s broke its contract: %w", w.nodes[a.Node].Name, err)
		}
	}
	if err != nil {
		return step, fmt.Errorf("step %d (%s): %w", step.Index, step.Name, err)
	}
	return step, nil
}

// take turns an action into the input that it means and takes that input out of
// what is pending.
func (w *World) take(a ariadne.Action) (ariadne.Input, error) {
	e, ok := w.find(a)
	if !ok {
		return ariadne.Input{}, fmt.Errorf("%s is not enabled", w.names.Action(a))
	}
	w.events = nil
	in := ariadne.Input{At: e.at}
	switch a.Kind {
	case ariadne.ActStart:
		in.Kind = ariadne.Start
		w.state.Nodes[a.Node].Started = true
	case ariadne.ActDeliver:
		in.Kind = ariadne.Deliver
		m := w.land(e.flight)
		in.Message = &m
	case ariadne.ActFire:
		in.Kind = ariadne.Fire
		w.delayUntil(e.at)
	}
	w.state.Now = max(w.state.Now, in.At)
	return in, nil
}

// land takes a message out of flight; the next of its connection is the head.
func (w *World) land(i int) ariadne.Message {
	m := w.state.Flight[i].Message
	w.state.Flight = slices.Delete(w.state.Flight, i, i+1)
	for j := range w.state.Flight {
		if f := &w.state.Flight[j]; f.Flow == m.Flow && !f.Head {
			f.Head = true
			break
		}
	}
	return m
}

// delayUntil holds back all that should have arrived by now.
func (w *World) delayUntil(t ariadne.Time) {
	w.state.Delays -= w.delayCost(t)
	for i := range w.state.Flight {
		if f := &w.state.Flight[i]; f.Arrival <= t && w.state.Nodes[f.To].Started {
			f.Arrival, f.Delayed = t, true
		}
	}
}

// delayCost is what it costs to fire a timer at t: the messages that would be
// delayed for the first time and do not stand behind another.
func (w *World) delayCost(t ariadne.Time) int {
	cost := 0
	for _, f := range w.state.Flight {
		if f.Arrival <= t && f.Head && !f.Delayed && w.state.Nodes[f.To].Started {
			cost++
		}
	}
	return cost
}

// absorb enters what a node did into the state, and checks that it may have.
func (w *World) absorb(id ariadne.NodeID, in ariadne.Input, out *ariadne.Output) error {
	n := &w.state.Nodes[id]
	if out.Clock < n.Clock || out.Clock < in.At {
		return fmt.Errorf("its clock ran backwards: %v at the end of a step at %v, which found it at %v", out.Clock, in.At, n.Clock)
	}
	for _, m := range out.Messages {
		if err := w.send(id, m, in.At, out.Clock); err != nil {
			return err
		}
	}
	n.Clock, n.Deadline, n.Done = out.Clock, out.Deadline, out.Done
	n.Digest = succeed(n.Digest, in)
	return nil
}

// send puts a message into flight.
func (w *World) send(id ariadne.NodeID, m ariadne.Message, from, to ariadne.Time) error {
	switch {
	case m.From != id:
		return fmt.Errorf("it sent a message as node %d: %s", m.From, describe(m))
	case m.To == id || m.To < 0 || int(m.To) >= len(w.nodes):
		return fmt.Errorf("it sent a message to node %d: %s", m.To, describe(m))
	case m.Sent < from || m.Sent > to:
		return fmt.Errorf("it sent a message at %v, outside its step from %v to %v: %s", m.Sent, from, to, describe(m))
	}
	f := Flying{Message: m, Arrival: m.Sent.Add(w.rules.Latency), Head: true}
	if f.Arrival < w.nodes[m.To].Start {
		return nil
	}
	for _, e := range w.state.Flight {
		if e.Flow != m.Flow || e.To != m.To {
			continue
		}
		if e.Seq >= m.Seq {
			return fmt.Errorf("it sent number %d after number %d: %s", m.Seq, e.Seq, describe(m))
		}
		if m.Flow.Proto == ariadne.TCP {
			f.Arrival, f.Head = max(f.Arrival, e.Arrival), false
		}
	}
	w.state.Flight = append(w.state.Flight, f)
	return nil
}

func describe(m ariadne.Message) string {
	return fmt.Sprintf("%s %s>%s #%d %s, %d bytes", m.Flow.Proto, m.Flow.Src, m.Flow.Dst, m.Seq, m.Flags, len(m.Data))
}
