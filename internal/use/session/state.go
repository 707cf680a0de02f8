package session

import (
	"encoding/json"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// State is a session at one moment. It never changes, and whoever has one may read it at any time.
type State struct {
	Line     []string  // stable names of the steps, those that are taken first
	Enabled  []Choice  // as Session.Enabled
	InFlight []Message // as Session.InFlight
	// End says why the execution has ended, and Violation is what this shows; or they are empty.
	End       string
	Violation *ariadne.Violation
	// Pending are the names of the goals (eventually, leads_to) for which something waits.
	Pending []string
	// Busy says what is under way, as in "step timer n1", or it is "".
	Busy string

	system   *system.System
	taken    []taken
	nodes    []Node        // without what the steps tell
	replaced chan struct{} // closed when the session has another state
}

// taken is a step behind which a session stands, and the node that did it.
type taken struct {
	step ariadne.Step
	node ariadne.NodeID
}

// Steps is the number of steps that the session stands behind.
func (s *State) Steps() int { return len(s.taken) }

// Position is where the session stands.
func (s *State) Position() Position { return Position{s.Line[:s.Steps():s.Steps()]} }

// Taken are the steps behind which the session stands, with what came of them.
func (s *State) Taken() (steps []ariadne.Step) {
	for i := range s.taken {
		steps = append(steps, s.taken[i].step)
	}
	return steps
}

// Replaced is closed as soon as the session has another state: who shows states reads Now, shows it
// and waits. A closed session keeps its last state.
func (s *State) Replaced() <-chan struct{} { return s.replaced }

// Report is the steps that follow the first n, as steps.jsonl has them, with names of nodes and
// actions. A caller that has shown the first n needs only these.
func (s *State) Report(n int) []report.Step {
	names, steps := s.names(), []report.Step{}
	for i := n; i < len(s.taken); i++ {
		steps = append(steps, report.NewStep(&s.taken[i].step, names))
	}
	return steps
}

func (s *State) names() (names []string) {
	for i := range s.nodes {
		names = append(names, s.nodes[i].Name)
	}
	return names
}

// MarshalJSON gives steps and messages as steps.jsonl and --json do. Nodes have numbers in a node's
// and a violation's own fields, and names everywhere else.
func (s *State) MarshalJSON() ([]byte, error) {
	names := s.names()
	j := struct {
		Steps     int                `json:"steps"`
		Line      []string           `json:"line"`
		Taken     []report.Step      `json:"taken"`
		Enabled   []Choice           `json:"enabled"`
		InFlight  []message          `json:"in_flight"`
		Nodes     []Node             `json:"nodes"`
		End       string             `json:"end,omitempty"`
		Violation *ariadne.Violation `json:"violation,omitempty"`
		Pending   []string           `json:"pending,omitempty"`
		Busy      string             `json:"busy,omitempty"`
	}{s.Steps(), s.Line, s.Report(0), s.Enabled, []message{}, nil, s.End, s.Violation, s.Pending, s.Busy}
	if s.Enabled == nil { // lists are there, also when they are empty
		j.Enabled = []Choice{}
	}
	if s.Line == nil {
		j.Line = []string{}
	}
	for i := range s.InFlight {
		m := &s.InFlight[i]
		r := report.NewMessage(&m.Message, names)
		r.From = names[m.From]
		j.InFlight = append(j.InFlight, message{r, m.Arrival, m.Delayed})
	}
	for i := range s.nodes {
		j.Nodes = append(j.Nodes, s.Node(ariadne.NodeID(i)))
	}
	return json.Marshal(j)
}

// message is a message in flight for programs.
type message struct {
	report.Message
	Arrival ariadne.Time `json:"arrival_ns"`
	Delayed bool         `json:"delayed,omitempty"`
}

// MarshalJSON leaves out the deadline when there is none.
func (n Node) MarshalJSON() ([]byte, error) {
	type plain Node
	j := struct {
		plain
		Deadline *ariadne.Time `json:"deadline_ns,omitempty"`
		Logs     []report.Line `json:"logs,omitempty"`
	}{plain: plain(n)}
	if n.Deadline != ariadne.Never {
		j.Deadline = &n.Deadline
	}
	for _, l := range n.Logs {
		j.Logs = append(j.Logs, report.Line(l))
	}
	return json.Marshal(j)
}

// state is the session where it stands. It is of the thread of the nodes.
func (s *Session) state(busy string) *State {
	now := &State{Line: s.line, Busy: busy, system: s.system, taken: s.taken}
	f := s.path.Last()
	for i := range f.State.Nodes {
		w := &f.State.Nodes[i]
		n := Node{Name: s.system.Spec.Nodes[i].Name, Started: w.Started, Done: w.Done, Ended: w.Ended, Clock: w.Clock,
			Deadline: w.Deadline, Down: w.Down, Back: w.Start}
		if w.Awake != 0 {
			n.Down, n.Back = ariadne.Paused, w.Awake
		}
		now.nodes = append(now.nodes, n)
	}
	for i := range f.State.Flight {
		if m := &f.State.Flight[i]; m.Flow.Proto != ariadne.Expiry {
			now.InFlight = append(now.InFlight, Message{m.Message, m.Arrival, m.Delayed})
		}
	}
	if judged := s.path.Space().Properties; judged != nil {
		for i, g := range judged.Goals() {
			if f.Waits&(1<<i) != 0 {
				now.Pending = append(now.Pending, g.Name)
			}
		}
	}
	if now.End, now.Violation = s.end(); now.End != "" {
		return now
	}
	add := func(e *world.Event, natural bool) {
		now.Enabled = append(now.Enabled,
			Choice{Action: e.Action(), Name: s.name(e.Action()), At: e.At, Natural: natural})
	}
	if e := s.natural(); e != nil {
		add(e, true)
	}
	for i := range f.Enabled {
		add(&f.Enabled[i], !f.Deviates(i))
	}
	return now
}
