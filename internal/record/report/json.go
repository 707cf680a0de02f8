package report

import (
	"encoding/json"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Steps for programs.

// Step is a step for programs: the event of --json, a line of steps.jsonl and a step of a session.
type Step struct {
	Event    string        `json:"event,omitempty"` // "step"; missing in steps.jsonl
	Step     int           `json:"step"`
	Node     string        `json:"node,omitempty"` // missing: the network
	Action   string        `json:"action"`
	At       ariadne.Time  `json:"at_ns"`
	Digest   string        `json:"digest"`
	Clock    ariadne.Time  `json:"clock_ns"` // of the node, behind the step
	Deadline *ariadne.Time `json:"deadline_ns,omitempty"`
	Calm     ariadne.Time  `json:"calm_ns,omitempty"`
	Timer    string        `json:"timer,omitempty"`
	Calls    int           `json:"calls"`
	Messages []Message     `json:"messages,omitempty"` // that the node has sent
	Logs     []Line        `json:"logs,omitempty"`
	// changes of what the node exposes, which are among logs, too
	Exposed      []Exposure `json:"exposed,omitempty"`
	Exits        []Exit     `json:"exits,omitempty"`
	Done         bool       `json:"done,omitempty"`
	Ended        bool       `json:"ended,omitempty"`
	Unreplayable bool       `json:"unreplayable,omitempty"`
	Cut          string     `json:"cut,omitempty"`
	Diverged     string     `json:"diverged,omitempty"`
	Polling      string     `json:"polling,omitempty"`
	Unheeded     bool       `json:"unheeded,omitempty"`
	Fatal        string     `json:"fatal,omitempty"`
	// at another time it may have done something else
	ReadClock bool     `json:"read_clock,omitempty"`
	Vary      []Choice `json:"vary,omitempty"`
	// operations on files that a loss of power took
	Lost []string `json:"lost,omitempty"`
}

// Choice is what happened otherwise within a step.
type Choice struct {
	Alternative string `json:"alternative"` // "fail:EIO"
	Place       string `json:"place"`       // "7/fsync:/node/wal#2"
}

func choices(v ariadne.Variation) (all []Choice) {
	for _, c := range v.Choices() {
		all = append(all, Choice(c))
	}
	return all
}

// Line is a line of a node's log.
type Line struct {
	At     ariadne.Time `json:"at_ns"`
	Stream int          `json:"stream"` // 1 standard output, 2 standard error, 3 /dev/ariadne
	PID    int          `json:"pid"`
	Text   string       `json:"text"`
}

// UnmarshalJSON takes a text, too: steps.jsonl had nothing else of a line before version 3.
func (l *Line) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &l.Text)
	}
	type line Line
	return json.Unmarshal(b, (*line)(l))
}

// Exposure is a change of what a node exposes.
type Exposure struct {
	At ariadne.Time `json:"at_ns"`
	// of the program that told it; missing: it was read in the node
	PID    int      `json:"pid,omitempty"`
	Name   string   `json:"name"`
	Key    string   `json:"key,omitempty"`
	Values []string `json:"values,omitempty"`
	Ends   bool     `json:"ends,omitempty"` // it is exposed no more
}

// Exit is the end of a process that the spec started.
type Exit struct {
	At      ariadne.Time `json:"at_ns"`
	Command int          `json:"command"` // from 0
	Status  int          `json:"status"`
	Signal  int          `json:"signal,omitempty"`
}

// nameOf is a node's name, or "" for none.
func nameOf(id ariadne.NodeID, nodes []string) string {
	if id == ariadne.NoNode {
		return ""
	}
	return nodes[id]
}

// TraceStep is a step as a trace has it.
type TraceStep struct {
	Step     int          `json:"step"`
	Action   string       `json:"action"`
	Digest   string       `json:"digest"`
	Calls    int          `json:"calls"`
	Messages int          `json:"messages"`
	Lines    int          `json:"lines"`
	At       ariadne.Time `json:"at_ns"`
}

// NewTraceStep is a trace's step for programs.
func NewTraceStep(s trace.Step) TraceStep {
	return TraceStep{s.Index, s.Action, fmt.Sprintf("%016x", s.Digest), s.Calls, s.Messages, s.Lines, s.At}
}

// Message is one that was sent, with its data.
type Message struct {
	From  string       `json:"from,omitempty"` // missing: the node of the step
	To    string       `json:"to"`
	Proto string       `json:"proto"`
	Src   string       `json:"src"`
	Dst   string       `json:"dst"`
	Epoch int          `json:"epoch,omitempty"`
	Seq   int          `json:"seq"`
	Flags string       `json:"flags,omitempty"`
	Sent  ariadne.Time `json:"sent_ns"`
	Data  []byte       `json:"data,omitempty"`
}

// NewMessage is a message for programs. From is missing.
func NewMessage(m *ariadne.Message, nodes []string) Message {
	return Message{To: nodes[m.To], Proto: m.Flow.Proto.String(), Src: m.Flow.Src.String(), Dst: m.Flow.Dst.String(),
		Epoch: m.Flow.Epoch, Seq: m.Seq, Flags: m.Flags.String(), Sent: m.Sent, Data: m.Data}
}

// NewStep is a step for programs. Event is missing.
func NewStep(s *ariadne.Step, nodes []string) Step {
	o := &s.Output
	j := Step{Step: s.Index, At: s.At, Node: nameOf(s.Action.Node, nodes), Action: s.Name, Digest: o.Digest.String(),
		Clock: o.Clock, Calm: o.Calm, Timer: o.Timer, Calls: o.Calls, Done: o.Done, Ended: o.Ended,
		Unreplayable: o.Unreplayable, Cut: o.Cut, Diverged: o.Diverged, Polling: o.Polling, Unheeded: o.Unheeded,
		Fatal: o.Fatal, ReadClock: o.ReadClock, Vary: choices(s.Action.Vary), Lost: o.Lost}
	if o.Deadline != ariadne.Never {
		j.Deadline = &o.Deadline
	}
	for i := range o.Messages {
		j.Messages = append(j.Messages, NewMessage(&o.Messages[i], nodes))
	}
	for l := range o.Record() {
		j.Logs = append(j.Logs, Line(l))
	}
	for i := range o.Exposures {
		e := &o.Exposures[i]
		j.Exposed = append(j.Exposed, Exposure{e.At, e.PID, e.Name, e.Key, e.Values, e.Ends})
	}
	for _, x := range o.Exits {
		j.Exits = append(j.Exits, Exit(x))
	}
	return j
}

// StepLine is a step as a line of steps.jsonl.
func StepLine(s ariadne.Step, nodes []string) []byte {
	b, err := json.Marshal(NewStep(&s, nodes))
	if err != nil {
		panic(err) // nothing in it can fail
	}
	return append(b, '\n')
}
