package main

import (
	"encoding/json"
	"io"
	"time"

	"ariadne"
	"ariadne/internal/check"
	"ariadne/internal/property"
	"ariadne/internal/record"
	"ariadne/internal/report"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
)

// jsonPrinter prints one object per event, each on a line of its own. Times are
// nanoseconds where the name says so, else seconds. "event" says which of the types below it is.
type jsonPrinter struct {
	enc   *json.Encoder
	nodes []string
	quiet bool // the report only
}

func newJSONPrinter(w io.Writer, nodes []string, quiet bool) *jsonPrinter {
	return &jsonPrinter{enc: newEncoder(w), nodes: nodes, quiet: quiet}
}

// newEncoder returns an encoder to a terminal, not to a web page.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

type progressEvent struct {
	Event      string  `json:"event"` // "progress"
	Elapsed    float64 `json:"elapsed"`
	Executions int     `json:"executions"`
	Steps      int     `json:"steps"`
	Violations int     `json:"violations"`
	ElapsedNS  int64   `json:"elapsed_ns"`
}

type scriptEvent struct {
	Event string `json:"event"` // "script"
	Line  string `json:"line"`
}

type violationEvent struct {
	Event     string         `json:"event"` // "violation"
	Kind      string         `json:"kind"`
	Node      string         `json:"node,omitempty"`
	Step      int            `json:"step"`
	At        float64        `json:"at"`
	Message   string         `json:"message"`
	Execution int            `json:"execution"`
	Trace     string         `json:"trace"`
	Replay    string         `json:"replay"`
	Suspect   string         `json:"suspect,omitempty"`
	Count     int            `json:"count"`
	AtNS      int64          `json:"at_ns"`
	Size      *record.Size   `json:"size,omitempty"`
	Shrunk    *record.Shrunk `json:"shrunk,omitempty"`
	Goal      *record.Goal   `json:"goal,omitempty"`

	Numbers []property.Series `json:"numbers,omitempty"`
}

type reportEvent struct {
	Event       string           `json:"event"` // "report"
	Command     string           `json:"command"`
	Name        string           `json:"name"`
	Spec        string           `json:"spec"`
	Out         string           `json:"out"`
	Trace       string           `json:"trace,omitempty"`
	Outcome     string           `json:"outcome"`
	ExitStatus  int              `json:"exit_status"`
	End         string           `json:"end,omitempty"`
	Stopped     string           `json:"stopped,omitempty"`
	Executions  int              `json:"executions"`
	AtLeast     int              `json:"at_least,omitempty"`
	Steps       int              `json:"steps"`
	Calls       int              `json:"calls"`
	Messages    int              `json:"messages"`
	VirtualTime float64          `json:"virtual_time"`
	RealTime    float64          `json:"real_time"`
	Ends        map[string]int   `json:"ends,omitempty"`
	Violations  []violationEvent `json:"violations,omitempty"`
	Refusals    []refusal        `json:"refusals,omitempty"`
	Notes       []string         `json:"notes,omitempty"`
	Doubts      []string         `json:"doubts,omitempty"`
	Bugs        []string         `json:"bugs,omitempty"`
	Mismatch    *mismatch        `json:"mismatch,omitempty"`
	Coverage    *coverage        `json:"coverage,omitempty"` // of a check
	Loose       *loose           `json:"loose,omitempty"`    // of a loose replay

	Numbers []property.Series `json:"numbers,omitempty"` // of a run or a replay

	VirtualTimeNS int64 `json:"virtual_time_ns"`
	RealTimeNS    int64 `json:"real_time_ns"`
}

type loose struct {
	Came    record.Came `json:"came"`
	Steps   int         `json:"steps"` // of the trace
	Taken   int         `json:"taken"` // of these
	Left    *departure  `json:"left,omitempty"`
	Changed []string    `json:"changed,omitempty"`
}

type departure struct {
	Step      int    `json:"step"`
	TraceStep int    `json:"trace_step"`
	Wanted    string `json:"wanted"`
	Possible  string `json:"possible"`
	Taken     string `json:"taken"`
}

func newLoose(l *record.Loose) *loose {
	if l == nil {
		return nil
	}
	e := &loose{Came: l.Came, Steps: l.Steps, Taken: l.Taken, Changed: l.Changed}
	if d := l.Left; d != nil {
		e.Left = &departure{d.Step, d.TraceStep, d.Wanted, d.Enabled, d.Took}
	}
	return e
}

type coverage struct {
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
	Given        int      `json:"given_up"`                // paths that the strategy gave up
	RulesAudited int      `json:"rules_audited,omitempty"` // answers of a script that were looked at
	Full         bool     `json:"full,omitempty"`          // the numbers below are lower bounds: there was no memory to count more
	Earlier      int      `json:"earlier,omitempty"`       // paths taken before the check was resumed, not in the numbers below
	Lost         string   `json:"lost,omitempty"`          // why they are not
	Faults       []faults `json:"faults,omitempty"`
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

	// Real time in living nodes, seconds, added up over the workers.
	Stepping  float64 `json:"stepping"`
	Freezing  float64 `json:"freezing"`
	Thawing   float64 `json:"thawing"`
	Booting   float64 `json:"booting"`
	Replaying float64 `json:"replaying"`
	Ending    float64 `json:"ending"`

	// Medians of new transitions, milliseconds.
	Thaw   float64 `json:"thaw_ms"`
	Step   float64 `json:"step_ms"`
	Freeze float64 `json:"freeze_ms"`

	// The same in nanoseconds.
	SteppingNS  int64 `json:"stepping_ns"`
	FreezingNS  int64 `json:"freezing_ns"`
	ThawingNS   int64 `json:"thawing_ns"`
	BootingNS   int64 `json:"booting_ns"`
	ReplayingNS int64 `json:"replaying_ns"`
	EndingNS    int64 `json:"ending_ns"`
	ThawNS      int64 `json:"thaw_ns"`
	StepNS      int64 `json:"step_ns"`
	FreezeNS    int64 `json:"freeze_ns"`
}

// faults say how much faults of a kind were tried.
type faults struct {
	Kind       string `json:"kind"`
	Budget     int    `json:"budget"`     // how many there may be in one execution
	Executions int    `json:"executions"` // with one or more
	Taken      int    `json:"taken"`      // in all steps
	Offered    int    `json:"offered"`    // states in which one could happen
	// Struck are what they hit, and Spared the nodes that they could have hit and did not.
	Struck []struck `json:"struck,omitempty"`
	Spared []string `json:"spared,omitempty"`
}

// struck is what faults of a kind hit, and in which phase.
type struck struct {
	Node    string `json:"node,omitempty"` // missing: the network
	Startup int    `json:"startup"`
	Request int    `json:"request"`
	Between int    `json:"between"`
	Recover int    `json:"recovery"`
}

func newFaults(all []record.Faults) (out []faults) {
	for _, f := range all {
		row := faults{Kind: f.Kind, Budget: f.Budget, Executions: f.Paths, Taken: f.Taken, Offered: f.Offered, Spared: f.Spared}
		for _, s := range f.By {
			n := &s.Phases
			row.Struck = append(row.Struck, struck{s.Node, n[search.InStartup], n[search.InRequest], n[search.BetweenRequests], n[search.InRecovery]})
		}
		out = append(out, row)
	}
	return out
}

func newCoverage(c *record.Coverage) *coverage {
	if c == nil {
		return nil
	}
	n := c.Nodes
	return &coverage{
		Strategy: c.Strategy, Digest: c.StatesDigest, Exhausted: c.Exhausted, Bounded: c.Bounded, Missed: c.Missed, Under: c.Under, Merged: c.Merged, Equality: c.Equality, Cycles: c.Cycles, Known: c.Known, Given: c.Given, RulesAudited: c.RulesAudited,
		Full: c.Full, Faults: newFaults(c.Faults), Kinds: c.Kinds, Left: c.Disks, Strategies: c.Strategies, Liveness: c.Liveness, Earlier: c.Earlier, Lost: c.Lost,
		Paths: c.Paths, Traces: c.Traces, States: c.States, LocalStates: c.LocalStates, Protocol: c.Protocol, Combined: c.Global,
		Executed: n.Executed, Remembered: n.Remembered, Lent: n.Lent, Foreseen: n.Foreseen, Replayed: n.Replayed, Boots: n.Boots, Thaws: n.Thaws,
		Freezes: n.Freezes, Evictions: n.Evictions, Unfrozen: n.Unfrozen, Unreplayable: n.Unreplayable,
		Stopped: c.Memo.Stopped, Disks: c.Memo.Disks, LeftOut: c.Memo.LeftOut,
		Audited: n.Audited, Incomparable: n.Incomparable, Mismatches: n.Mismatches,
		Stepping: n.Stepping.Seconds(), Freezing: n.Freezing.Seconds(), Thawing: n.Thawing.Seconds(),
		Booting: n.Booting.Seconds(), Replaying: n.Replaying.Seconds(), Ending: n.Ending.Seconds(),
		Thaw: milliseconds(n.Thaw.Median()), Step: milliseconds(n.Step.Median()), Freeze: milliseconds(n.Freeze.Median()),
		SteppingNS: int64(n.Stepping), FreezingNS: int64(n.Freezing), ThawingNS: int64(n.Thawing),
		BootingNS: int64(n.Booting), ReplayingNS: int64(n.Replaying), EndingNS: int64(n.Ending),
		ThawNS: int64(n.Thaw.Median()), StepNS: int64(n.Step.Median()), FreezeNS: int64(n.Freeze.Median()),
	}
}

type refusal struct {
	Node     string `json:"node"`
	Name     string `json:"name"`
	Detail   string `json:"detail,omitempty"`
	Program  string `json:"program,omitempty"`
	Count    int    `json:"count"`
	Harmless bool   `json:"harmless"`
}

type mismatch struct {
	Step    int    `json:"step"`
	Action  string `json:"action"`
	Node    string `json:"node,omitempty"`
	Message string `json:"message"`
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// print writes an event. What cannot be written to a closed pipe is lost; the
// exit status still tells the outcome.
func (p *jsonPrinter) print(event any) { p.enc.Encode(event) }

func (p *jsonPrinter) step(s ariadne.Step) {
	if p.quiet {
		return
	}
	p.print(report.NewStepEvent(s, p.nodes))
}

func (p *jsonPrinter) limits(check.Options) {}

func (p *jsonPrinter) progress(g check.Progress) {
	if !p.quiet {
		p.print(progressEvent{"progress", g.Elapsed.Seconds(), g.Executions, g.Steps, g.Violations, int64(g.Elapsed)})
	}
}

func (p *jsonPrinter) said(line string) {
	if !p.quiet {
		p.print(scriptEvent{"script", line})
	}
}

func (p *jsonPrinter) violation(v record.Violation) {
	if !p.quiet {
		p.print(newViolationEvent(v))
	}
}

func newViolationEvent(v record.Violation) violationEvent {
	return violationEvent{"violation", v.Kind, v.NodeName, v.Step, report.Seconds(v.At), v.Message,
		v.Execution, v.Trace, v.Replay, v.Suspect, v.Count, int64(v.At), v.Size, v.Shrunk, v.Goal, v.Numbers}
}

func (p *jsonPrinter) report(r *record.Report) {
	e := reportEvent{
		Event: "report", Command: r.Command, Name: r.Name, Spec: r.Spec, Out: r.Out, Trace: r.Trace,
		Outcome: r.Outcome.String(), ExitStatus: r.Outcome.ExitStatus(), End: r.End, Stopped: r.Stopped,
		Coverage: newCoverage(r.Coverage), Loose: newLoose(r.Loose),
		Executions: r.Executions, AtLeast: r.AtLeast, Steps: r.Steps, Calls: r.Calls, Messages: r.Messages,
		VirtualTime: report.Seconds(r.VirtualTime), RealTime: r.RealTime.Seconds(), Ends: r.Ends,
		VirtualTimeNS: int64(r.VirtualTime), RealTimeNS: int64(r.RealTime),
		Notes: r.Notes, Doubts: r.Doubts, Bugs: r.Bugs, Numbers: r.Numbers,
	}
	if m := r.Mismatch; m != nil {
		e.Mismatch = &mismatch{m.Step, m.Action, m.Node, m.Message}
	}
	for _, v := range r.Violations {
		e.Violations = append(e.Violations, newViolationEvent(v))
	}
	for _, n := range r.Nodes {
		for _, f := range n.Refusals {
			e.Refusals = append(e.Refusals, refusal{n.Name, f.Name, f.Detail, f.Program, f.Count, f.Harmless})
		}
	}
	p.print(e)
}
