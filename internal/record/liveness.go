package record

import (
	"time"

	"ariadne"
)

// Goal is what is known of an execution in which something does not happen that must (property.Goal).
type Goal struct {
	// Verdict says what the execution shows, in words.
	Verdict string `json:"verdict"`
	// Exact: all states were looked at that can follow the critical transition, or nothing can happen at the end.
	Exact bool `json:"exact"`
	// Critical is the step, from 1, behind which no state was seen from which it still happens; 0: it is not known.
	Critical     int          `json:"critical_step"`
	CriticalAt   ariadne.Time `json:"critical_at_ns"`
	CriticalName string       `json:"critical_name"`
	// CriticalLines are the lines that were written in it.
	CriticalLines []string      `json:"critical_lines,omitempty"`
	Walk          int           `json:"walk_steps"` // of the walk, from where it counts
	Walks         int           `json:"walks"`      // that were taken to find the critical transition
	WalkSteps     int           `json:"walks_steps"`
	FromStart     int           `json:"walks_steps_from_start"` // with the steps before each walk
	Took          time.Duration `json:"took_ns"`                // real time that this took
	Bound         int           `json:"bound"`                  // steps of a walk
	// Live is the trace of a live execution that begins with the same Along steps, or "".
	Live   string `json:"live_trace,omitempty"`
	Along  int    `json:"along,omitempty"`
	LiveIn int    `json:"live_in,omitempty"` // steps of it
	Cycle  *Cycle `json:"cycle,omitempty"`
}

// Cycle is what a system does again and again on the natural schedule.
type Cycle struct {
	Steps int          `json:"steps"`
	Time  ariadne.Time `json:"time_ns"`
	Times int          `json:"times"` // it was seen
	Names []string     `json:"names"` // of its steps
}

// Liveness says how a check looked for what must happen.
type Liveness struct {
	Bound   int   `json:"bound"`   // steps of a walk by which it should be live
	Sampled []int `json:"sampled"` // steps of walks from the natural schedule to their first live state, in order
	States  int   `json:"states"`  // from which walks were taken
	Live    int   `json:"live"`    // of them were live
	Quiet   int   `json:"quiet"`   // states in which nothing could happen, and all was live
	Steps   int   `json:"steps"`   // of all walks
	Most    int   `json:"most"`    // steps of a walk to its first live state
	// Skipped are ends of paths from which no walk was taken, since walks take no more than half of all steps. GivenUp are walks that could not
	// go on, and Undecided those that were not live although others from their states were.
	Skipped   int `json:"skipped"`
	GivenUp   int `json:"given_up"`
	Undecided int `json:"undecided"`
}

// Add adds what another worker did.
func (l *Liveness) Add(o *Liveness) {
	l.States, l.Live, l.Quiet, l.Steps = l.States+o.States, l.Live+o.Live, l.Quiet+o.Quiet, l.Steps+o.Steps
	l.Skipped, l.GivenUp, l.Undecided, l.Most = l.Skipped+o.Skipped, l.GivenUp+o.GivenUp, l.Undecided+o.Undecided, max(l.Most, o.Most)
}
