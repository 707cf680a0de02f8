package session

import (
	"fmt"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/inspect"
	"ariadne/internal/memo"
	"ariadne/internal/stage"
	"ariadne/internal/world"
)

// Node is what can be said of a node where the session stands.
type Node struct {
	Name     string
	Started  bool
	Done     bool // no process is left
	Ended    bool // none of its commands is left
	Clock    ariadne.Time
	Deadline ariadne.Time // of its next timer, or Never
	Steps    int          // of its own
	Logs     []ariadne.LogLine
	Refusals []ariadne.Refusal
	// Shown is the last line that each of the spec's rules of protocol states (states) found, or what the node exposes of
	// what it is about, by rule; "": none.
	Shown []string
	// Inside is what it looks like from within; nil: it has not been switched on, or is of a
	// kind that cannot be looked into (inspect.Machine).
	Inside *inspect.View
}

// Node looks at a node. To look inside it is brought to where the session stands, which may
// take as long as some of its steps.
func (s *Session) Node(id ariadne.NodeID) (n Node, err error) {
	err = s.do(func() error {
		if id < 0 || int(id) >= len(s.system.Spec.Nodes) {
			return fmt.Errorf("no node has number %d", id)
		}
		f := s.path.Last()
		n = s.outside(id, &f.State.Nodes[id])
		return s.visit(id, func(m inspect.Machine) (err error) {
			n.Inside, err = m.Look()
			return err
		})
	})
	return n, err
}

// Visit lends f the inside of a node where the session stands. f is not called when the node has not been switched on, or is of
// a kind that cannot be looked into.
func (s *Session) Visit(id ariadne.NodeID, f func(inspect.Machine) error) error {
	return s.do(func() error {
		if id < 0 || int(id) >= len(s.system.Spec.Nodes) {
			return fmt.Errorf("no node has number %d", id)
		}
		return s.visit(id, f)
	})
}

func (s *Session) visit(id ariadne.NodeID, f func(inspect.Machine) error) error {
	state := &s.path.Last().State
	if !state.Nodes[id].Started {
		return nil
	}
	return s.executor.Visit(state.Locals[id], func(m memo.Instance) error {
		if v, ok := m.(inspect.Machine); ok {
			return f(v)
		}
		return nil
	})
}

// outside is what the steps tell of a node.
func (s *Session) outside(id ariadne.NodeID, w *world.NodeState) Node {
	rules := s.system.Spec.Explore.States
	n := Node{Name: s.system.Spec.Nodes[id].Name, Started: w.Started, Done: w.Done, Ended: w.Ended, Clock: w.Clock, Deadline: w.Deadline,
		Shown: make([]string, len(rules))}
	for i := range s.path.Steps() {
		t := s.path.Transition(i + 1)
		if t.From.Node != id {
			continue
		}
		n.Steps++
		n.Logs = append(n.Logs, t.Output.Logs...)
		n.Refusals = append(n.Refusals, t.Output.Refusals...)
	}
	var watch expose.Watch
	if watch.Sources = s.system.Spec.Properties.Sources; rules.Tuples() {
		for i := range s.path.Steps() {
			step := s.path.Step(i + 1)
			watch.Step(&step)
		}
	}
	for i, r := range rules {
		if stages := s.system.Stages(1); r.Line == nil && stages.Has(r.Name) {
			n.Shown[i] = s.made(stages, r.Name, &watch)
			continue
		}
		if r.Line == nil {
			n.Shown[i] = r.Of(watch.Exposed(id))
			continue
		}
		for _, l := range n.Logs {
			if r.Line.MatchString(l.Text) {
				n.Shown[i] = l.Text
			}
		}
	}
	return n
}

// made is what a stage makes of what all nodes expose.
func (s *Session) made(stages *stage.Runner, name string, watch *expose.Watch) string {
	var sets []*expose.Set
	for i := range s.system.Spec.Nodes {
		sets = append(sets, watch.Exposed(ariadne.NodeID(i)))
	}
	tuples, err := stages.Tuples(name, sets)
	if err != nil {
		return err.Error()
	}
	var texts []string
	for i := range tuples {
		texts = append(texts, tuples[i].String())
	}
	return strings.Join(texts, " ")
}

// Message is a message in flight.
type Message struct {
	ariadne.Message
	Arrival ariadne.Time
	Delayed bool // a timer has passed it
}

// InFlight are the messages that are under way, in the order in which they were sent.
func (s *Session) InFlight() (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	flight := s.path.Last().State.Flight
	for i := range flight {
		if flight[i].Flow.Proto == ariadne.Expiry {
			continue
		}
		all = append(all, Message{flight[i].Message, flight[i].Arrival, flight[i].Delayed})
	}
	return slices.Clip(all)
}
