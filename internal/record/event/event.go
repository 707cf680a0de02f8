// Package event has what is printed for programs (--json), one type per event.
// docs/reference/json.md is made of these types, and the tools read them.
//
// Invariants: times are whole nanoseconds, in fields whose names end in _ns. Version grows when a
// field is taken away or means something else.
//
// Read next: event.go, cmd/ariadne/print_json.go.
package event

import (
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// Version is that of the events' fields.
const Version = record.Version

// Progress is how far a check has come.
type Progress struct {
	Event      string        `json:"event"` // "progress"
	Executions int           `json:"executions"`
	Steps      int           `json:"steps"`
	Violations int           `json:"violations"`
	Elapsed    time.Duration `json:"elapsed_ns"`
}

// Script is a line that a script has printed.
type Script struct {
	Event string `json:"event"` // "script"
	Line  string `json:"line"`
}

// Violation is a kind of violation, and how often it was seen.
type Violation struct {
	Event     string         `json:"event"` // "violation"
	Kind      string         `json:"kind"`
	Node      string         `json:"node,omitempty"`
	Step      int            `json:"step"`
	Message   string         `json:"message"`
	Execution int            `json:"execution"`
	Trace     string         `json:"trace"`
	Replay    string         `json:"replay"`
	Suspect   string         `json:"suspect,omitempty"`
	Count     int            `json:"count"`
	At        ariadne.Time   `json:"at_ns"`
	Size      *record.Size   `json:"size,omitempty"`
	Shrunk    *record.Shrunk `json:"shrunk,omitempty"`
	Goal      *record.Goal   `json:"goal,omitempty"`

	Numbers []property.Series `json:"numbers,omitempty"`
}

// Report is what a command says at its end.
type Report struct {
	Event      string         `json:"event"` // "report"
	Version    int            `json:"version"`
	Command    string         `json:"command"`
	Name       string         `json:"name"`
	Spec       string         `json:"spec"`
	Out        string         `json:"out"`
	Trace      string         `json:"trace,omitempty"`
	Outcome    string         `json:"outcome"`
	ExitStatus int            `json:"exit_status"`
	End        string         `json:"end,omitempty"`
	Stopped    string         `json:"stopped,omitempty"`
	Executions int            `json:"executions"`
	AtLeast    int            `json:"at_least,omitempty"`
	Steps      int            `json:"steps"`
	Calls      int            `json:"calls"`
	Messages   int            `json:"messages"`
	Ends       map[string]int `json:"ends,omitempty"`
	Violations []Violation    `json:"violations,omitempty"`
	Refusals   []Refusal      `json:"refusals,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
	Doubts     []string       `json:"doubts,omitempty"`
	Bugs       []string       `json:"bugs,omitempty"`
	Mismatch   *Mismatch      `json:"mismatch,omitempty"`
	Coverage   *Coverage      `json:"coverage,omitempty"` // of a check
	Loose      *Loose         `json:"loose,omitempty"`    // of a loose replay

	Numbers []property.Series `json:"numbers,omitempty"` // of a run or a replay

	VirtualTime ariadne.Time  `json:"virtual_time_ns"`
	RealTime    time.Duration `json:"real_time_ns"`
}

// Loose is what came of a loose replay.
type Loose struct {
	Came    record.Came `json:"came"`
	Steps   int         `json:"steps"` // of the trace
	Taken   int         `json:"taken"` // of these
	Left    *Departure  `json:"left,omitempty"`
	Changed []string    `json:"changed,omitempty"`
}

// Departure is where it left its trace.
type Departure struct {
	Step      int    `json:"step"`
	TraceStep int    `json:"trace_step"`
	Wanted    string `json:"wanted"`
	Possible  string `json:"possible"`
	Taken     string `json:"taken"`
}

func newLoose(l *record.Loose) *Loose {
	if l == nil {
		return nil
	}
	e := &Loose{Came: l.Came, Steps: l.Steps, Taken: l.Taken, Changed: l.Changed}
	if d := l.Left; d != nil {
		e.Left = &Departure{d.Step, d.TraceStep, d.Wanted, d.Enabled, d.Took}
	}
	return e
}

// Coverage is what a check has seen, and what faults it has tried: as in report.json.
type (
	Coverage = record.CoverageFields
	Faults   = record.FaultsFields
)

// Refusal is what was asked for and is not modelled.
type Refusal struct {
	Node     string `json:"node"`
	Name     string `json:"name"`
	Detail   string `json:"detail,omitempty"`
	Program  string `json:"program,omitempty"`
	Count    int    `json:"count"`
	Harmless bool   `json:"harmless"`
}

// Mismatch is where a replay differed.
type Mismatch struct {
	Step    int    `json:"step"`
	Action  string `json:"action"`
	Node    string `json:"node,omitempty"`
	Message string `json:"message"`
}

// NewViolation is the event of a violation.
func NewViolation(v record.Violation) Violation {
	return Violation{"violation", v.Kind, v.NodeName, v.Step, v.Message,
		v.Execution, v.Trace, v.Replay, v.Suspect, v.Count, v.At, v.Size, v.Shrunk, v.Goal, v.Numbers}
}

// NewReport is the event of a report.
func NewReport(r *record.Report) *Report {
	e := Report{
		Event: "report", Version: Version, Command: r.Command, Name: r.Name, Spec: r.Spec, Out: r.Out, Trace: r.Trace,
		Outcome: r.Outcome.String(), ExitStatus: r.Outcome.ExitStatus(), End: r.End, Stopped: r.Stopped,
		Coverage: r.Coverage.Fields(), Loose: newLoose(r.Loose),
		Executions: r.Executions, AtLeast: r.AtLeast, Steps: r.Steps, Calls: r.Calls, Messages: r.Messages,
		VirtualTime: r.VirtualTime, RealTime: r.RealTime, Ends: r.Ends,
		Notes: r.Notes, Doubts: r.Doubts, Bugs: r.Bugs, Numbers: r.Numbers,
	}
	if m := r.Mismatch; m != nil {
		e.Mismatch = &Mismatch{m.Step, m.Action, m.Node, m.Message}
	}
	for _, v := range r.Violations {
		e.Violations = append(e.Violations, NewViolation(v))
	}
	for _, n := range r.Nodes {
		for _, f := range n.Refusals {
			e.Refusals = append(e.Refusals, Refusal{n.Name, f.Name, f.Detail, f.Program, f.Count, f.Harmless})
		}
	}
	return &e
}
