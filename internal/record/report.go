package record

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Outcome says how a run ended.
type Outcome uint8

const (
	Nothing      Outcome = iota // nothing was found
	Violated                    // the target misbehaved, and it can be replayed
	Inconclusive                // something was met that Ariadne cannot model
	ToolBug                     // Ariadne contradicted itself
	// Suspected: something must happen and most likely never does, or steps were cut off at the
	// same place.
	Suspected
)

func (o Outcome) String() string {
	return [...]string{"nothing found", "violation", "inconclusive", "bug in ariadne", "suspected violation"}[o]
}

// ExitStatus is the status with which the command line ends.
func (o Outcome) ExitStatus() int { return [...]int{0, 1, 3, 4, 5}[o] }

// MarshalText and UnmarshalText are for JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

func (o *Outcome) UnmarshalText(b []byte) error {
	for *o = Nothing; *o <= Suspected; *o++ {
		if o.String() == string(b) {
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", b)
}

// Version is that of what is printed and kept for programs: report.json, steps.jsonl, --json. It
// grows when a field is taken away or means something else (docs/reference/json.md).
const Version = 4

// Report is all that there is to say about a run, a check or a replay. The run directory has it as
// report.json, and --json prints it as the last object: the same fields in both.
type Report struct {
	Event   string `json:"event"`   // "report"
	Version int    `json:"version"` // Version, when it was written
	Command string `json:"command"` // "run", "check", "replay"
	Name    string `json:"name"`    // of the system
	Spec    string `json:"spec"`    // path of the spec
	Out     string `json:"out"`     // the run directory
	// Trace is the trace that a run has written, or that a replay has followed.
	Trace   string  `json:"trace,omitempty"`
	Outcome Outcome `json:"outcome"`
	// ExitStatus is that of the outcome.
	ExitStatus int `json:"exit_status"`

	// End says why the execution ended (of a run or a replay).
	End string `json:"end,omitempty"`
	// Stopped says why a check stopped: "first violation", "time", "executions",
	// "interrupted", "bug in ariadne"; "" when it was killed.
	Stopped    string `json:"stopped,omitempty"`
	Executions int    `json:"executions"`
	// AtLeast is how many executions of a check make nothing found a verdict, unless all is
	// explored.
	AtLeast int `json:"at_least,omitempty"`
	// Steps of all executions; Calls, Messages and VirtualTime likewise.
	Steps       int           `json:"steps"`
	Calls       int           `json:"calls"`
	Messages    int           `json:"messages"`
	VirtualTime ariadne.Time  `json:"virtual_time_ns"`
	RealTime    time.Duration `json:"real_time_ns"`
	// Ends counts the executions of a check by why they ended.
	Ends map[string]int `json:"ends,omitempty"`

	Nodes      []NodeReport `json:"nodes,omitempty"`
	Violations []Violation  `json:"violations,omitempty"`
	// Refusals by node, with counts summed over all steps that were not taken before.
	Refusals []Refusal `json:"refusals,omitempty"`
	// CutOffs are where steps were cut off because they computed for too long.
	CutOffs []CutOffPlace `json:"cut_offs,omitempty"`
	// Suspicions say where steps were cut off more than once, one line each.
	Suspicions []string `json:"suspicions,omitempty"`
	// Numbers are those of the spec, in the execution of a run or a replay.
	Numbers []property.Series `json:"numbers,omitempty"`
	// Coverage is there of a check. Its JSON is CoverageFields.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Notes are what is to be known besides, one line each.
	Notes []string `json:"notes,omitempty"`
	// Doubts say what makes the run inconclusive, one line each.
	Doubts []string `json:"doubts,omitempty"`
	// Bugs say where Ariadne contradicted itself, one text each.
	Bugs []string `json:"bugs,omitempty"`
	// Mismatch is where a replay left its trace, or nil.
	Mismatch *Mismatch `json:"mismatch,omitempty"`
	// Loose says what came of a loose replay; else nil.
	Loose *Loose `json:"loose,omitempty"`
	// Servers say which servers ended by themselves, and where nobody listened, in executions that
	// are recorded (Servers.Lines).
	Servers []string `json:"servers,omitempty"`

	// A resumed check must have this in common with its first part: the spec, the seed, the
	// programs of the commands, the budgets of faults (spec.Spec.Budgets), and what must hold
	// (spec.Properties.Digest).
	SpecDigest ariadne.Digest  `json:"spec_digest"`
	Seed       uint64          `json:"seed"`
	Programs   []trace.Program `json:"programs,omitempty"`
	Budgets    string          `json:"budgets,omitempty"`
	Properties ariadne.Digest  `json:"properties_digest"`
	// Next is the index of the first execution that a resumed check runs.
	Next int `json:"next"`

	// Checksum is over all of report.json, with zeros in its place. It is missing in what is
	// printed.
	Checksum string `json:"checksum,omitempty"`
}

// ExecutionsPerSecond and StepsPerSecond are rates in real time.
func (r *Report) ExecutionsPerSecond() float64 { return rate(r.Executions, r.RealTime) }

func (r *Report) StepsPerSecond() float64 { return rate(r.Steps, r.RealTime) }

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// NodeReport is what is said of one node.
type NodeReport struct {
	Name string `json:"name"`
	Log  string `json:"log,omitempty"` // path of its log, of a run or a replay
}

// Refusal is what a node was refused.
type Refusal struct {
	Node string `json:"node"`
	ariadne.Refusal
}

// Violation is a violation with where it was found and how to see it again. It is also the event
// of a check that has found it.
type Violation struct {
	Event string `json:"event"` // "violation"
	// Node of it has no field of its own in JSON: NodeName has its place, and gives it when a
	// report is read.
	ariadne.Violation
	NodeName  string `json:"node,omitempty"`
	Execution int    `json:"execution"`     // index of the execution
	Dir       string `json:"dir,omitempty"` // its directory: trace, steps, logs
	Trace     string `json:"trace"`         // path of its trace
	Replay    string `json:"replay"`        // command that replays it
	Count     int    `json:"count"`         // executions that ended in the same way
	// Suspect says why this may be Ariadne's doing and not the target's, or "":
	// a node was refused something before.
	Suspect string `json:"suspect,omitempty"`
	// Size is that of its execution; nil in reports of a run or a replay.
	Size *Size `json:"size,omitempty"`
	// Shrunk is a smaller execution that ends in the same violation, or nil.
	Shrunk *Shrunk `json:"shrunk,omitempty"`
	// Goal is what is known besides of something that does not happen and must, or nil.
	Goal *Goal `json:"goal,omitempty"`
	// Numbers are those of the spec in its execution, of a check.
	Numbers []property.Series `json:"numbers,omitempty"`
	// Said are the last lines that a node wrote which died.
	Said []string `json:"said,omitempty"`
}

// Shrunk is a violation's execution without what it does not need.
type Shrunk struct {
	Dir    string `json:"dir"`    // its directory, as Violation.Dir
	Trace  string `json:"trace"`  // path of its trace
	Replay string `json:"replay"` // command that replays it
	From   Size   `json:"from"`   // of the execution that was found
	To     Size   `json:"to"`
	Tried  int    `json:"tried"` // executions that it took
	// Took is the real time of these and of what was looked for in the smaller one, without the
	// replay that confirms it.
	Took time.Duration `json:"took_ns"`
	// Message, At and Step are as Violation's, of this execution; Step is 0 in reports that do not
	// have them.
	Message string       `json:"message,omitempty"`
	At      ariadne.Time `json:"at_ns,omitempty"`
	Step    int          `json:"step,omitempty"`
	// Numbers are as Violation.Numbers, of this execution.
	Numbers []property.Series `json:"numbers,omitempty"`
	// Goal is as Violation.Goal, of this execution; nil also where that was not found out in time.
	Goal *Goal `json:"goal,omitempty"`
}

// Size is how far an execution is from the natural schedule, and how long it is.
type Size struct {
	Faults     int `json:"faults"`
	Deviations int `json:"deviations"` // that are no faults
	Steps      int `json:"steps"`
	Lost       int `json:"lost,omitempty"` // operations on files, by losses of power
	// Late is how late a message is at most.
	Late ariadne.Time `json:"late_ns,omitempty"`
}

// faultCost is how many deviations are as hard to follow as one fault: a crash explains more than
// five messages that change places.
const faultCost = 4

// Cost is how hard an execution is to follow, and to believe: deviations, faults, and how often a
// second has to be doubled for the latest message.
func (s Size) Cost() int {
	cost := faultCost*s.Faults + s.Deviations
	for late := ariadne.Time(time.Second); late < s.Late; late *= 2 {
		cost++
	}
	return cost
}

// Needs says how late a message has to be for the execution, and what of a spec excludes it; "": by
// less than a second.
func (s *Size) Needs() string {
	if s == nil || s.Late < ariadne.Time(time.Second) {
		return ""
	}
	bound := time.Duration(0)
	for _, b := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
		10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute} {
		if ariadne.Time(b) < s.Late {
			bound = b
		}
	}
	return fmt.Sprintf("a message %.1f s late; in the spec, delays: 0 or max_delay: %v excludes it", time.Duration(s.Late).Seconds(), bound)
}

// Less reports whether an execution costs less, or as much with fewer faults, or as many and fewer
// operations lost, or as many of all these and a latest message that is less late, or fewer steps.
func (s Size) Less(t Size) bool {
	return cmp.Or(cmp.Compare(s.Cost(), t.Cost()), cmp.Compare(s.Faults, t.Faults),
		cmp.Compare(s.Deviations, t.Deviations), cmp.Compare(s.Lost, t.Lost), cmp.Compare(s.Late, t.Late),
		cmp.Compare(s.Steps, t.Steps)) < 0
}

// Mismatch is where a replay left its trace.
type Mismatch struct {
	Step    int    `json:"step"`
	Action  string `json:"action"`
	Node    string `json:"node,omitempty"`
	Message string `json:"message"` // all of it, several lines
}
