// Package explain goes from the violation of a trace to its cause: what of the execution could have
// led to it (its causal past), which of the trace's deviations and faults it needs, and where it
// parts from the nearest execution that ends well.
//
// Nothing is guessed. Each deviation is undone by an execution of the real programs, which follows
// the rest of the trace loosely. A deviation for which the time was too short is reported as not
// tried. The story has steps of the causal past alone, and of these the ones that a fixed order of
// importance puts first (rank.go); which are shown is a choice, that they happened is not.
//
// Read next: explain.go, undo.go, rank.go; internal/record/causal.
package explain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// MostLines is how many steps a story has at most.
const MostLines = 15

// Options are what a user may ask of an explanation.
type Options struct {
	System system.Options
	// Time is how long executions are tried, in real time; 0: none is.
	Time time.Duration
	// Decoder is the file of a script that says what messages carry (script.Decoder), or "".
	Decoder string
	// Force explains although programs or spec differ from the trace's.
	Force bool
	// Progress, when not nil, is told what comes next: at the beginning, and before each execution
	// that is tried.
	Progress func(Progress)
}

// Progress says how far an explanation has come.
type Progress struct {
	Tried   int // executions
	Elapsed time.Duration
	Next    string // in words
}

func (p Progress) String() string {
	return fmt.Sprintf("%6.1fs  executions tried: %d  next: %s", p.Elapsed.Seconds(), p.Tried, p.Next)
}

// Explanation is what is known of the cause of a violation.
type Explanation struct {
	Event     string           `json:"event"` // "explanation"
	Trace     string           `json:"trace"`
	Name      string           `json:"name"`     // of the system
	Sentence  string           `json:"sentence"` // the violation
	Violation *trace.Violation `json:"violation"`
	Steps     int              `json:"steps"` // of the execution
	// of these, how many are in the causal past of the violation
	Past  int      `json:"past"`
	Story []Moment `json:"story"`
	// Deviations are all of the trace's, in order.
	Deviations []Deviation `json:"deviations,omitempty"`
	Losses     []Loss      `json:"losses,omitempty"`
	// Unordered are the operations of clients that no order explains, where the violation is of a
	// history.
	Unordered []history.Operation `json:"unordered,omitempty"`
	// missing: no execution that ends well is known
	Parting *Parting `json:"parting,omitempty"`
	// Nearest says why no such execution is known, or "".
	Nearest string       `json:"nearest,omitempty"`
	Goal    *record.Goal `json:"goal,omitempty"`
	Tried   int          `json:"tried"` // executions
	// Untried is how many deviations were not undone, for want of time.
	Untried int           `json:"untried,omitempty"`
	Took    time.Duration `json:"took_ns"` // real time
}

// Moment is a step of a story.
type Moment struct {
	causal.Event
	// Needed: undone alone, the step's deviation takes the violation away.
	Needed bool `json:"needed,omitempty"`
	// Critical: behind it what must happen can happen no more, as far as is known.
	Critical bool `json:"critical,omitempty"`
	// Violated: the step shows the violation.
	Violated bool `json:"violated,omitempty"`
	// Boundary is the time from which on the node does something else with a message that is
	// needed late.
	Boundary *session.Boundary `json:"boundary,omitempty"`
}

// Deviation is something in which the trace differs from the natural schedule.
type Deviation struct {
	Step int          `json:"step"`
	At   ariadne.Time `json:"at_ns"`
	Kind string       `json:"kind"` // fault, choice or late
	Text string       `json:"text"`
	// Came is what came of the trace without it alone; "not tried": there was no time.
	Came record.Came `json:"came"`
	// Text of what came of it.
	Result string `json:"result"`

	deviation replay.Deviation
	followed  *run.Followed
}

// notTried stands for what came of an execution that there was no time for.
const notTried record.Came = "not tried"

// Needed reports whether the violation did not come without it.
func (d *Deviation) Needed() bool {
	return d.Came == record.CameNone || d.Came == record.CameAnother
}

// Parting is where the execution leaves the nearest one that ends well.
type Parting struct {
	// Undone are the steps whose deviations that one does not have.
	Undone []int `json:"undone"`
	// Smallest: no part of these is enough, as was tried.
	Smallest bool `json:"smallest"`
	// Common is how many steps both begin with.
	Common int            `json:"common"`
	Here   []causal.Event `json:"here"`  // what comes next in the trace's execution
	There  []causal.Event `json:"there"` // what comes next in the other one
	End    string         `json:"end"`   // of the other one
}

// Explain explains the violation of the trace at path. s may be nil: the spec is then read from
// where the trace says. An error is the user's or the machine's.
func Explain(ctx context.Context, s *spec.Spec, path string, o Options) (*Explanation, error) {
	began := time.Now()
	told := o.Progress
	o.Progress = func(p Progress) {
		if told != nil {
			p.Elapsed = time.Since(began)
			told(p)
		}
	}
	o.Progress(Progress{Next: "the trace itself"})
	e, err := session.OpenTrace(ctx, s, path, session.Options{System: o.System, Force: o.Force})
	if err != nil {
		return nil, err
	}
	x, err := explain(ctx, e, &o)
	if err = errors.Join(unlike(e.System(), path, err), e.Close()); err != nil {
		return nil, err
	}
	x.Event, x.Trace, x.Took = "explanation", path, time.Since(began)
	return x, nil
}

// unlike adds to the error of a session that has left its trace what is not as it was when that was
// made.
func unlike(y *system.System, path string, err error) error {
	if !errors.As(err, new(*session.Mismatch)) {
		return err
	}
	if changes := y.HostChanges(path); len(changes) > 0 {
		return fmt.Errorf("%w\n%s", err, system.Listed("not as it was when the trace was made", changes))
	}
	return err
}

// explanation is one that is being made.
type explanation struct {
	Explanation
	session *session.Session
	system  *system.System
	trace   *trace.Trace
	words   causal.Words
	events  []causal.Event
	graph   *causal.Graph
	past    []bool
	good    *run.Followed // the nearest execution that ends well, or nil
	tell    func(Progress)
}

func explain(ctx context.Context, e *session.Session, o *Options) (*Explanation, error) {
	x := &explanation{session: e, system: e.System(), trace: e.Trace(), tell: o.Progress}
	if x.trace.Violation == nil {
		return nil, fmt.Errorf("the trace ends in no violation, but because of: %s", x.trace.End)
	}
	var err error
	if x.words, err = e.Words(o.Decoder); err != nil {
		return nil, err
	}
	if err := e.Go(len(x.trace.Steps)); err != nil {
		return nil, err
	}
	steps := e.Taken()
	names := x.system.World().Names()
	x.events = x.words.Events(steps)
	x.graph = causal.New(steps, names, waits(x.system.Spec))
	x.past = x.graph.Past(x.targets(steps)...)
	x.Name, x.Violation, x.Steps, x.Sentence = x.trace.Name, x.trace.Violation, len(steps),
		sentence(x.trace.Violation, len(steps))
	for _, in := range x.past {
		if in {
			x.Past++
		}
	}
	x.Losses = losses(steps, names)
	if x.trace.Violation.Kind == property.Kind {
		if x.Unordered, err = x.unordered(steps); err != nil {
			return nil, err
		}
	}
	if err := x.undo(ctx, o.Time); err != nil {
		return nil, err
	}
	x.part()
	x.Story = x.story()
	x.tell(Progress{Tried: x.Tried, Next: "the code behind the story"})
	return &x.Explanation, x.locate()
}

// unordered are the operations that the violated property is about, if it is of a history.
func (x *explanation) unordered(steps []ariadne.Step) ([]history.Operation, error) {
	given := func(step int) *ariadne.Message {
		for _, c := range x.graph.Causes(step) {
			if c.Kind == causal.Message && steps[step-1].Action.Kind == ariadne.ActDeliver {
				return c.Message
			}
		}
		return nil
	}
	name, all, err := x.system.Unordered(steps, given)
	if err != nil || !strings.HasPrefix(x.trace.Violation.Message, name+": ") {
		return nil, err
	}
	return all, nil
}

// waits are by node those that must be ready before it is switched on.
func waits(s *spec.Spec) (all [][]ariadne.NodeID) {
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].After)
	}
	return all
}

// targets are the steps that show the violation: that of its node, and where it is about all of
// them, the last by which each node has changed what it exposes, or else its last.
func (x *explanation) targets(steps []ariadne.Step) (all []int) {
	v := x.trace.Violation
	last, exposed := map[ariadne.NodeID]int{}, map[ariadne.NodeID]int{}
	for i := range steps[:min(max(v.Step, 0), len(steps))] {
		id := steps[i].Action.Node
		last[id] = i + 1
		if len(steps[i].Output.Exposures) > 0 {
			exposed[id] = i + 1
		}
	}
	for id := range x.system.Spec.Nodes {
		if x.system.Spec.Nodes[id].Name == v.Node {
			if n := last[ariadne.NodeID(id)]; n > 0 {
				return []int{n}
			}
		}
	}
	if len(exposed) == 0 {
		exposed = last
	}
	for _, n := range exposed {
		all = append(all, n)
	}
	if v.Step > 0 && v.Step <= len(steps) {
		all = append(all, v.Step)
	}
	return all
}

// sentence says what was violated.
func sentence(v *trace.Violation, steps int) string {
	what := map[string]string{
		"death":            v.Node + " died",
		"divergence":       v.Node + " does not come to rest",
		"deadlock":         "nothing can happen any more, and a client waits",
		"assertion":        "an assertion of " + v.Node + " is false",
		"sanitizer":        "a sanitizer found an error in " + v.Node,
		property.Kind:      "a property is false",
		property.Final:     "the check at the end failed",
		property.Dead:      "something that must happen can happen no more",
		property.Suspected: "something that must happen has not happened, and most likely never will",
	}[v.Kind]
	if what == "" {
		what = v.Kind
		if v.Node != "" {
			what += " of " + v.Node
		}
	}
	return fmt.Sprintf("At step %d of %d (%v) %s: %s", v.Step, steps, v.At, what, v.Message)
}
