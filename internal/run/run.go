// Package run is the composition root: it turns a description of a system into
// a world of nodes, drives it as the user asked (once, many times, along a
// trace), and keeps what came of it in a run directory. It is the only package
// that knows all the others; it prints nothing.
//
// Three outcomes are never mixed (see Outcome). An error that its functions
// return is the user's or the machine's: a bad option, a missing file, a
// directory that cannot be made. What the target did wrong, what Ariadne cannot
// model and what is Ariadne's own fault are all in the Report.
//
// Read next: natural.go, execute.go, check.go, explore.go, worker.go, living.go; then internal/search.
package run

import (
	"fmt"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/readfile"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// Options are what a user may ask of a run, a check or a replay. The zero value
// is a natural run or an unlimited check with one worker per processor.
type Options struct {
	// Out is the run directory; made when it is missing. By default
	// ariadne-runs/<name>-<n>, below the working directory.
	Out string
	// Nodes starts the nodes; nil for real processes.
	Nodes NodeFactory
	// CallName names a system call in messages; nil for the support table's names.
	CallName func(nr int) string
	// Version is Ariadne's own, for the traces.
	Version string

	// OnStep, when not nil, is told each step of a run or a replay as it ends.
	// Check does not call it.
	OnStep func(ariadne.Step)
	// OnProgress, when not nil, is told now and then how a check goes on, and
	// once at its end. Calls do not overlap.
	OnProgress func(Progress)
	// OnViolation, when not nil, is told each new, confirmed violation.
	OnViolation func(Violation)
	// OnPrint, when not nil, is told the lines that the script prints. Calls do not
	// overlap with each other or with those of OnProgress.
	OnPrint func(line string)

	// The rest is for Check, but for Force.

	KeepGoing  bool          // go on after the first violation
	Executions int           // at most so many; 0: no limit
	Time       time.Duration // real time, at most; 0: no limit
	Depth      int           // steps of one execution, at most; 0: as the spec says
	Workers    int           // executions at the same time; 0: one per processor
	First      int           // index of the first execution, to run one walk again
	Resume     bool          // go on where the check in Out was interrupted

	// Search says how to search.
	Search

	// Force replays although programs or spec differ from the trace's.
	Force bool
	// Loose replays by the choices of the trace alone, as long as they exist.
	Loose bool
}

// NodeFactory starts nodes. internal/node does, with real processes; tests do,
// with automata of a few lines.
type NodeFactory interface {
	// Start returns a node that has not been switched on yet. It is called, and
	// the node used and closed, on one goroutine that is locked to its thread. Strategies
	// that remember need nodes that are memo.Machines.
	Start(NodeConfig) (memo.Node, error)
}

// Places is a NodeFactory that cares where its nodes run.
type Places interface {
	// Enter makes the thread that calls it the place of worker number i's nodes.
	Enter(i int) error
}

// NodeConfig is what a node needs to know.
type NodeConfig struct {
	Spec *spec.Spec
	Node *spec.Node // of Spec.Nodes
	// Calls asks for Output.CallTrace.
	Calls bool
	// Learnt, when not nil, is told the Output.Files of each step before the step is over.
	Learnt func([]ariadne.File)
}

// Outcome says how a run ended.
type Outcome uint8

const (
	Nothing      Outcome = iota // nothing was found
	Violated                    // the target misbehaved, and it can be replayed
	Inconclusive                // something was met that Ariadne cannot model
	ToolBug                     // Ariadne contradicted itself
)

func (o Outcome) String() string {
	return [...]string{"nothing found", "violation", "inconclusive", "bug in ariadne"}[o]
}

// ExitStatus is the status with which the command line ends.
func (o Outcome) ExitStatus() int { return [...]int{0, 1, 3, 4}[o] }

// MarshalText and UnmarshalText are for report.json.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

func (o *Outcome) UnmarshalText(b []byte) error {
	for *o = Nothing; *o <= ToolBug; *o++ {
		if o.String() == string(b) {
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", b)
}

// Report is all that there is to say about a run, a check or a replay. It is
// also written to report.json in the run directory.
type Report struct {
	Command string // "run", "check", "replay"
	Spec    string // path of the spec
	// SpecDigest and Seed are what a resumed check must have in common with its
	// first part.
	SpecDigest ariadne.Digest
	// Programs are those of the commands, which a resumed check must have in common too.
	Programs []trace.Program `json:",omitempty"`
	Seed     uint64

	Name    string // of the system
	Out     string // the run directory
	Trace   string // of a run: the trace written; of a replay: the trace followed
	Outcome Outcome

	// End says why the execution ended (of a run or a replay).
	End string
	// Steps of all executions; VirtualTime and Calls likewise.
	Steps       int
	Calls       int
	Messages    int
	VirtualTime ariadne.Time
	RealTime    time.Duration
	Executions  int
	// Ends counts the executions of a check by why they ended.
	Ends map[string]int
	// Next is the index of the first execution that a resumed check runs.
	Next int
	// Stopped says why a check stopped: "first violation", "time", "executions",
	// "interrupted", "bug in ariadne"; "" when it was killed.
	Stopped string

	Nodes      []NodeReport
	Violations []Violation
	// Coverage is there of a check.
	Coverage *Coverage `json:",omitempty"`
	// Notes are what is to be known besides, one line each.
	Notes []string `json:",omitempty"`
	// Doubts say what makes the run inconclusive, one line each.
	Doubts []string
	// Bugs say where Ariadne contradicted itself, one text each.
	Bugs []string
	// Mismatch is where a replay left its trace, or nil.
	Mismatch *Mismatch
	// Checksum is over all of the file, with zeros in its place.
	Checksum string
	// Loose says what came of a loose replay; else nil.
	Loose *Loose `json:",omitempty"`
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
	Name string
	Log  string // path of its log, or ""
	// Refusals, with counts summed over all steps that were not taken before.
	Refusals []ariadne.Refusal
}

// Violation is a violation with where it was found and how to see it again.
type Violation struct {
	ariadne.Violation
	NodeName  string // or ""
	Execution int    // index of the execution
	Dir       string // its directory: trace, steps, logs
	Trace     string // path of its trace
	Replay    string // command that replays it
	Count     int    // executions that ended in the same way
	// Suspect says why this may be Ariadne's doing and not the target's, or "":
	// a node was refused something before.
	Suspect string
	// Said are the last lines that a node wrote which died.
	Said []string `json:",omitempty"`
}

// Mismatch is where a replay left its trace.
type Mismatch struct {
	Step    int
	Action  string
	Node    string
	Message string // all of it, several lines
}

// Progress is how far a check has come.
type Progress struct {
	Elapsed    time.Duration
	Executions int // ended
	Steps      int
	Violations int // different ones
	Workers    int
	Done       bool // the last report
}

// LoadTrace reads a trace; the error names file and line.
func LoadTrace(path string) (*trace.Trace, error) {
	b, err := readfile.AtMost(path, readfile.Record)
	if err != nil {
		return nil, err
	}
	t, err := trace.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
