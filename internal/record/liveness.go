package record

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
)

// Goal is what is known of an execution in which something does not happen that must
// (property.Goal).
type Goal struct {
	// Verdict says what the execution shows, in words.
	Verdict string `json:"verdict"`
	// Exact: all states were looked at that can follow the critical transition, or nothing can
	// happen at the end.
	Exact bool `json:"exact"`
	// Critical is the step, from 1, behind which no state was seen from which it still happens; 0:
	// it is not known.
	Critical     int          `json:"critical_step"`
	CriticalAt   ariadne.Time `json:"critical_at_ns"`
	CriticalName string       `json:"critical_name"`
	// After and By are steps between which it lies, when the time for walks was too short to find
	// it: behind After it still happened, and behind By it does no more. By is 0 when it is known,
	// or that there is none.
	After int `json:"after_step,omitempty"`
	By    int `json:"by_step,omitempty"`
	// Before are walks from the state before the critical transition, if they were counted, and
	// LiveBefore how many of them came to a state in which it happens; of those from the state
	// behind it, Behind, none did.
	Before     int `json:"walks_before,omitempty"`
	LiveBefore int `json:"walks_before_live,omitempty"`
	Behind     int `json:"walks_behind,omitempty"`
	// CriticalLines are the lines that were written in it.
	CriticalLines []string `json:"critical_lines,omitempty"`
	Walk          int      `json:"walk_steps"` // of the walk, from where it counts
	// that were taken to find the critical transition
	Walks     int           `json:"walks"`
	WalkSteps int           `json:"walks_steps"`
	FromStart int           `json:"walks_steps_from_start"` // with the steps before each walk
	Took      time.Duration `json:"took_ns"`                // real time that this took
	Bound     int           `json:"bound"`                  // steps of a walk
	// Further is how many long walks from its end were not live either, and FurtherSteps and
	// FurtherTime how far the shortest of them went.
	Further      int           `json:"further_walks,omitempty"`
	FurtherSteps int           `json:"further_steps,omitempty"`
	FurtherTime  time.Duration `json:"further_time_ns,omitempty"`
	// Live is the trace of a live execution that begins with the same Along steps, or "".
	Live   string `json:"live_trace,omitempty"`
	Along  int    `json:"along,omitempty"`
	LiveIn int    `json:"live_in,omitempty"` // steps of it
	Cycle  *Cycle `json:"cycle,omitempty"`
}

// NewGoal is what is known of an execution that is stuck, and took a time to find out by walks of
// so many steps.
func NewGoal(l *search.Liveness, s *search.Stuck, c *search.Crisis, took time.Duration, bound int) *Goal {
	e := &Goal{Took: took, Exact: c.Exact || s.End == search.WalkQuiet, Walk: s.Path.Steps() - s.Start, Walks: c.Tried,
		WalkSteps: c.Steps, FromStart: c.FromStart, Bound: bound,
		Behind: c.Behind, Before: c.Before, LiveBefore: c.Live, Further: s.Further.Walks, FurtherSteps: s.Further.Steps,
		FurtherTime: s.Further.Time}
	switch {
	case c.Verdict == search.NeverLive && c.Exact:
		e.Verdict = "the goal can never become true: all states after the first one were explored"
	case c.Verdict == search.NeverLive:
		e.Verdict = fmt.Sprintf("no walk from the first state reached a live state: it can never become true, or needs more than %d steps", bound)
	case c.Verdict == search.Undecided:
		e.Verdict = "the goal would become true later: other walks show that"
	case c.Verdict == search.Between && c.Behind == 0:
		e.Verdict = "the critical transition is not known: the time for walks was too short"
	case c.Verdict == search.Between:
		e.Verdict = fmt.Sprintf("after step %d none of %d walks reached a live state; the time for walks was too short to find the critical transition", c.Step, c.Behind)
	case c.Exact:
		e.Verdict = "after the critical transition the goal can never become true: all states that follow were explored"
	case c.Before > 0:
		e.Verdict = fmt.Sprintf("after the critical transition none of %d walks reached a live state; before it %d of %d walks did", c.Behind, c.Live, c.Before)
	default:
		e.Verdict = fmt.Sprintf("after the critical transition none of %d walks reached a live state; before it some walks did", c.Behind)
	}
	if c.Verdict == search.Between {
		e.After, e.By = c.After, c.Step
	}
	if c.Verdict == search.DeadFrom {
		step := s.Path.Step(c.Step)
		e.Critical, e.CriticalAt, e.CriticalName = c.Step, step.At, step.Name
		for l := range step.Output.Lines() {
			e.CriticalLines = append(e.CriticalLines, l.Text)
		}
		e.CriticalLines = e.CriticalLines[max(0, len(e.CriticalLines)-mostLines):]
	}
	return e
}

// mostLines is how many lines of a step a report has.
const mostLines = 4

// Cycle is what a system does again and again on the natural schedule.
type Cycle struct {
	Steps int          `json:"steps"`
	Time  ariadne.Time `json:"time_ns"`
	Times int          `json:"times"` // it was seen
	Names []string     `json:"names"` // of its steps
}

// Liveness says how a check looked for what must happen.
type Liveness = work.Liveness
