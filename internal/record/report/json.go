package report

import (
	"encoding/json"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Steps for programs.

// StepEvent is a step as --json prints it.
type StepEvent struct {
	Event    string       `json:"event"` // "step"
	Step     int          `json:"step"`
	Node     string       `json:"node,omitempty"` // missing: the network
	Action   string       `json:"action"`
	Digest   string       `json:"digest"`
	Calls    int          `json:"calls"`
	Messages int          `json:"messages"`
	Logs     []LogEvent   `json:"logs,omitempty"`
	Exits    []ExitEvent  `json:"exits,omitempty"`
	At       ariadne.Time `json:"at_ns"`
	Vary     []Choice     `json:"vary,omitempty"`
	Lost     []string     `json:"lost,omitempty"` // operations on files that a loss of power took
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

// LogEvent is a line that a node wrote.
type LogEvent struct {
	Stream int          `json:"stream"` // 1 standard output, 2 standard error
	PID    int          `json:"pid"`
	Text   string       `json:"text"`
	At     ariadne.Time `json:"at_ns"`
}

// ExitEvent is the end of a process that the spec started.
type ExitEvent struct {
	Command int          `json:"command"` // from 0
	Status  int          `json:"status"`
	Signal  int          `json:"signal,omitempty"`
	At      ariadne.Time `json:"at_ns"`
}

// nameOf is a node's name, or "" for none.
func nameOf(id ariadne.NodeID, nodes []string) string {
	if id == ariadne.NoNode {
		return ""
	}
	return nodes[id]
}

// NewStepEvent is the event of a step.
func NewStepEvent(s ariadne.Step, nodes []string) StepEvent {
	o := &s.Output
	e := StepEvent{Event: "step", Step: s.Index, At: s.At, Node: nameOf(s.Action.Node, nodes), Action: s.Name,
		Digest: o.Digest.String(), Calls: o.Calls, Messages: len(o.Messages), Vary: choices(s.Action.Vary), Lost: o.Lost}
	for l := range o.Record() {
		e.Logs = append(e.Logs, LogEvent{l.Stream, l.PID, l.Text, l.At})
	}
	for _, x := range o.Exits {
		e.Exits = append(e.Exits, ExitEvent{x.Command, x.Status, x.Signal, x.At})
	}
	return e
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

// Recorded is a step as steps.jsonl keeps it, with the data of its messages.
type Recorded struct {
	Step         int            `json:"step"`
	At           ariadne.Time   `json:"at_ns"`
	Node         string         `json:"node,omitempty"` // missing: the network
	Action       string         `json:"action"`
	Digest       string         `json:"digest"`
	Clock        ariadne.Time   `json:"clock_ns"`
	Deadline     *ariadne.Time  `json:"deadline_ns,omitempty"`
	Calm         ariadne.Time   `json:"calm_ns,omitempty"`
	Timer        string         `json:"timer,omitempty"`
	Calls        int            `json:"calls"`
	Messages     []Message      `json:"messages,omitempty"`
	Logs         []string       `json:"logs,omitempty"`
	Exits        []ariadne.Exit `json:"exits,omitempty"`
	Done         bool           `json:"done,omitempty"`
	Ended        bool           `json:"ended,omitempty"`
	Unreplayable bool           `json:"unreplayable,omitempty"`
	Cut          string         `json:"cut,omitempty"`
	Diverged     string         `json:"diverged,omitempty"`
	Polling      string         `json:"polling,omitempty"`
	Unheeded     bool           `json:"unheeded,omitempty"`
	Fatal        string         `json:"fatal,omitempty"`
	Vary         []Choice       `json:"vary,omitempty"`
	Lost         []string       `json:"lost,omitempty"`
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

// StepLine is a step as a line of steps.jsonl.
func StepLine(s ariadne.Step, nodes []string) []byte {
	o := &s.Output
	j := Recorded{Step: s.Index, At: s.At, Node: nameOf(s.Action.Node, nodes), Action: s.Name, Digest: o.Digest.String(),
		Clock: o.Clock, Calm: o.Calm, Timer: o.Timer, Calls: o.Calls, Exits: o.Exits, Done: o.Done, Ended: o.Ended,
		Unreplayable: o.Unreplayable, Cut: o.Cut, Diverged: o.Diverged, Polling: o.Polling, Unheeded: o.Unheeded, Fatal: o.Fatal, Vary: choices(s.Action.Vary), Lost: o.Lost}
	if o.Deadline != ariadne.Never {
		j.Deadline = &o.Deadline
	}
	for _, m := range o.Messages {
		j.Messages = append(j.Messages, NewMessage(&m, nodes))
	}
	for l := range o.Record() {
		j.Logs = append(j.Logs, l.Text)
	}
	b, err := json.Marshal(j)
	if err != nil {
		panic(err) // nothing in it can fail
	}
	return append(b, '\n')
}
