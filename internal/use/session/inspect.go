package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// Node is what can be said of a node where the session stands.
type Node struct {
	Name     string       `json:"name"`
	Started  bool         `json:"started"`
	Done     bool         `json:"done"`  // no process is left
	Ended    bool         `json:"ended"` // none of its commands is left
	Clock    ariadne.Time `json:"clock_ns"`
	Deadline ariadne.Time `json:"-"` // of its next timer, or Never
	// Down is what a fault has done to it since its commands were run last, or Paused, and Back is
	// when its commands are run next or the pause ends, or Never.
	Down     ariadne.Down      `json:"-"`
	Back     ariadne.Time      `json:"-"`
	Steps    int               `json:"steps"` // of its own
	Logs     []ariadne.LogLine `json:"-"`
	Refusals []ariadne.Refusal `json:"refusals,omitempty"`
	// Shown is the last line that each of the spec's rules of protocol states (states) found, or
	// what the node exposes of what it is about, by rule; "": none.
	Shown []string `json:"shown,omitempty"`
	// Inside is what it looks like from within; nil: it has not been switched on, or is of a
	// kind that cannot be looked into (inspect.Machine).
	Inside *inspect.View `json:"inside,omitempty"`
}

// Node looks at a node. To look inside it is brought to where the session stands, which may
// take as long as some of its steps.
func (s *Session) Node(id ariadne.NodeID) (n Node, err error) {
	err = s.look(id, func() error {
		n = s.Now().Node(id)
		return s.visit(id, func(m inspect.Machine) (err error) {
			n.Inside, err = m.Look()
			return err
		})
	})
	return n, err
}

// Visit lends f the inside of a node where the session stands. f is not called when the node has
// not been switched on, or is of a kind that cannot be looked into.
func (s *Session) Visit(id ariadne.NodeID, f func(inspect.Machine) error) error {
	return s.look(id, func() error { return s.visit(id, f) })
}

func (s *Session) look(id ariadne.NodeID, f func() error) error {
	if id < 0 || int(id) >= len(s.system.Spec.Nodes) {
		return fmt.Errorf("no node has number %d", id)
	}
	return s.do("look at "+s.system.Spec.Nodes[id].Name, f)
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

// Node is what the steps tell of a node. Inside is nil.
func (s *State) Node(id ariadne.NodeID) Node {
	n, rules := s.nodes[id], s.system.Spec.Explore.States
	n.Shown = make([]string, len(rules))
	for i := range s.taken {
		if s.taken[i].node != id {
			continue
		}
		n.Steps++
		n.Logs = slices.AppendSeq(n.Logs, s.taken[i].step.Output.Record())
		n.Refusals = append(n.Refusals, s.taken[i].step.Output.Refusals...)
	}
	var watch expose.Watch
	if watch.Sources = s.system.Spec.Properties.Sources; rules.Tuples() {
		for _, t := range s.taken {
			watch.Step(&t.step)
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
		for k := range s.taken {
			if s.taken[k].node != id {
				continue
			}
			for l := range s.taken[k].step.Output.Lines() {
				if r.Line.MatchString(l.Text) {
					n.Shown[i] = l.Text
				}
			}
		}
	}
	return n
}

// made is what a stage makes of what all nodes expose.
func (s *State) made(stages *stage.Runner, name string, watch *expose.Watch) string {
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
func (s *Session) InFlight() []Message { return slices.Clone(s.Now().InFlight) }
