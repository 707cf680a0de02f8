// Package event has what is printed for programs (--json), one type per event. docs/reference/json.md is made of these types, and the
// tools read them.
//
// Invariants: times are whole nanoseconds, in fields whose names end in _ns. Version grows when a field is taken away or means
// something else.
//
// Read next: event.go, cmd/ariadne/print_json.go.
package event

import (
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// Version is that of the events' fields. 1 had times in seconds besides, and 2 a step that was another one in steps.jsonl:
// there its logs were texts, and here its messages a number.
const Version = 3

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

// Coverage is what a check has seen.
type Coverage struct {
	Strategy  string `json:"strategy"`
	Exhausted bool   `json:"exhausted"`     // all paths within the bounds were explored
	Bounded   int    `json:"bounded"`       // states in which the bounds cut something off
	Digest    string `json:"states_digest"` // of the set of states: the same set has the same one
	Missed    string `json:"missed,omitempty"`
	// Under is what the result rests on of what the user said; merged counts states
	// that are like known ones by that.
	Under        []string `json:"under,omitempty"`
	Merged       int      `json:"merged,omitempty"`
	Equality     string   `json:"equality,omitempty"`      // of states, when it is not by history
	Cycles       int      `json:"cycles,omitempty"`        // paths that came back to where they had been
	Known        int      `json:"known"`                   // paths that came to known states and went no further
	GivenUp      int      `json:"given_up"`                // paths that the strategy gave up
	RulesAudited int      `json:"rules_audited,omitempty"` // answers of a script that were looked at
	Full         bool     `json:"full,omitempty"`          // the numbers below are lower bounds: there was no memory to count more
	Earlier      int      `json:"earlier,omitempty"`       // paths taken before the check was resumed, not in the numbers below
	Lost         string   `json:"lost,omitempty"`          // why they are not
	Faults       []Faults `json:"faults,omitempty"`
	// Strategies are what each brought, when several have shared the work.
	Strategies []strategy.Tally `json:"strategies,omitempty"`

	Kinds record.Sightings `json:"behaviour"`  // of what nodes do, since the check was last resumed
	Left  record.Sightings `json:"disks_left"` // by machines that stopped, likewise

	Liveness *record.Liveness `json:"liveness,omitempty"` // how it looked for what must happen

	Paths       int   `json:"paths"`
	Traces      int   `json:"traces"` // different partial orders of events
	States      int   `json:"states"`
	LocalStates []int `json:"local_states"` // by node
	Protocol    int   `json:"protocol_states"`
	Combined    int   `json:"protocol_combinations"`
	Executed    int   `json:"executed"` // transitions
	Remembered  int   `json:"remembered"`
	Lent        int   `json:"lent"`
	Foreseen    int   `json:"foreseen"`
	Replayed    int   `json:"replayed"`
	Boots       int   `json:"boots"`
	Thaws       int   `json:"thaws"`
	Freezes     int   `json:"freezes"`
	Evictions   int   `json:"evictions"`
	Unfrozen    int   `json:"unfrozen"` // states that could not be frozen
	Mismatches  int   `json:"mismatches"`

	Stopped int `json:"stopped,omitempty"`  // transitions by which a machine stopped
	Disks   int `json:"disks,omitempty"`    // that these left, different ones
	LeftOut int `json:"left_out,omitempty"` // images that losses of power could have left besides, beyond the bound

	Unreplayable int `json:"unreplayable"` // of executed: a thread was preempted
	Audited      int `json:"audited"`
	Incomparable int `json:"incomparable"` // of audited

	// Real time in living nodes, added up over the workers.
	Stepping  time.Duration `json:"stepping_ns"`
	Freezing  time.Duration `json:"freezing_ns"`
	Thawing   time.Duration `json:"thawing_ns"`
	Booting   time.Duration `json:"booting_ns"`
	Replaying time.Duration `json:"replaying_ns"`
	Ending    time.Duration `json:"ending_ns"`
	// Medians of new transitions.
	Thaw   time.Duration `json:"thaw_ns"`
	Step   time.Duration `json:"step_ns"`
	Freeze time.Duration `json:"freeze_ns"`
}

// Faults say how much faults of a kind were tried.
type Faults struct {
	Kind       string `json:"kind"`
	Budget     int    `json:"budget"`     // how many there may be in one execution
	Executions int    `json:"executions"` // with one or more
	Taken      int    `json:"taken"`      // in all steps
	Offered    int    `json:"offered"`    // states in which one could happen
	// Struck are what they hit, and Spared the nodes that they could have hit and did not.
	Struck []Struck `json:"struck,omitempty"`
	Spared []string `json:"spared,omitempty"`
}

// Struck is what faults of a kind hit, and in which phase.
type Struck struct {
	Node    string `json:"node,omitempty"` // missing: the network
	Startup int    `json:"startup"`
	Request int    `json:"request"`
	Between int    `json:"between"`
	Recover int    `json:"recovery"`
}

// InNodes is the real time that workers have spent in living nodes.
func (c *Coverage) InNodes() time.Duration {
	return c.Stepping + c.Freezing + c.Thawing + c.Booting + c.Replaying + c.Ending
}

func newFaults(all []record.Faults) (out []Faults) {
	for _, f := range all {
		row := Faults{Kind: f.Kind, Budget: f.Budget, Executions: f.Paths, Taken: f.Taken, Offered: f.Offered, Spared: f.Spared}
		for _, s := range f.By {
			n := &s.Phases
			row.Struck = append(row.Struck, Struck{s.Node, n[search.InStartup], n[search.InRequest], n[search.BetweenRequests], n[search.InRecovery]})
		}
		out = append(out, row)
	}
	return out
}

func newCoverage(c *record.Coverage) *Coverage {
	if c == nil {
		return nil
	}
	n := c.Nodes
	return &Coverage{
		Strategy: c.Strategy, Digest: c.StatesDigest, Exhausted: c.Exhausted, Bounded: c.Bounded, Missed: c.Missed, Under: c.Under, Merged: c.Merged, Equality: c.Equality, Cycles: c.Cycles, Known: c.Known, GivenUp: c.Given, RulesAudited: c.RulesAudited,
		Full: c.Full, Faults: newFaults(c.Faults), Kinds: c.Kinds, Left: c.Disks, Strategies: c.Strategies, Liveness: c.Liveness, Earlier: c.Earlier, Lost: c.Lost,
		Paths: c.Paths, Traces: c.Traces, States: c.States, LocalStates: c.LocalStates, Protocol: c.Protocol, Combined: c.Global,
		Executed: n.Executed, Remembered: n.Remembered, Lent: n.Lent, Foreseen: n.Foreseen, Replayed: n.Replayed, Boots: n.Boots, Thaws: n.Thaws,
		Freezes: n.Freezes, Evictions: n.Evictions, Unfrozen: n.Unfrozen, Unreplayable: n.Unreplayable,
		Stopped: c.Memo.Stopped, Disks: c.Memo.Disks, LeftOut: c.Memo.LeftOut,
		Audited: n.Audited, Incomparable: n.Incomparable, Mismatches: n.Mismatches,
		Stepping: n.Stepping, Freezing: n.Freezing, Thawing: n.Thawing, Booting: n.Booting, Replaying: n.Replaying, Ending: n.Ending,
		Thaw: n.Thaw.Median(), Step: n.Step.Median(), Freeze: n.Freeze.Median(),
	}
}

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
		Coverage: newCoverage(r.Coverage), Loose: newLoose(r.Loose),
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
