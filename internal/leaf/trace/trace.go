// Package trace is the text form of one execution: what was run, each step's
// action with the digest of what came of it, why it ended, and the violation if
// there was one. It is small, meant to be read and compared by people, and
// prints and parses without loss. Beside it may stand the steps' system calls
// (calls.go), which serve only to find the first call in which a replay differs.
//
// It reads no files and knows neither worlds nor Linux. Invariants: Parse(Format(t))
// equals t for every t that Format takes, and Format(Parse(b)) equals b for
// every b that Format wrote; what is not all of what was written does not parse.
//
// Read next: internal/explore/replay.
package trace

import (
	"bytes"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Magic is the first line of each trace; the number is the format's version.
const Magic = magicWords + formatVersion

const (
	magicWords    = "ariadne trace "
	formatVersion = "4"
)

// Trace is one execution.
type Trace struct {
	Header
	Steps     []Step
	Files     []File // the host's that the execution has used
	Violation *Violation
	End       string // why the execution ended
}

// Fault is how many faults of a kind an execution may have.
type Fault struct {
	Kind  string
	Count int
}

// Header is all that an execution depends on, besides its choices.
type Header struct {
	Version    string // Ariadne's
	Name       string // of the system
	Spec       string // path of its description, relative to the trace's directory
	SpecDigest ariadne.Digest
	Programs   []Program
	Seed       uint64
	Execution  int // index in its check; 0 is the natural schedule
	Latency    time.Duration
	ClockError time.Duration
	Delays     int
	MaxDelay   time.Duration // 0: as late as may be
	// Fine: a fault of less than a second ends less than a second late. In traces without the word
	// it ends at a full second.
	Fine bool
	// Stronger: where a loss of power may leave more images than are chosen among, those of
	// stronger models come first. In traces without the word they do not.
	Stronger  bool
	Faults    []Fault       // budgets that are not 0
	MaxSteps  int           // of one execution
	MaxTime   time.Duration // virtual time of one execution
	MaxCalls  int           // system calls of one step
	Date      time.Time     // of the real-time clocks at virtual time 0
	Processor string        // model that programs are told of; "": the real one
}

// Program is the file behind one command of one node.
type Program struct {
	Node    string         `json:"node"`
	Command int            `json:"command"` // index in the node's commands
	Path    string         `json:"path"`
	Digest  ariadne.Digest `json:"digest"`
}

// File is what was learnt of a file of the host.
type File struct {
	ariadne.File
	Digest ariadne.Digest // of that
}

// Mark says why a step's digest cannot be compared.
type Mark uint8

const (
	Exact        Mark = iota
	Unreplayable      // a thread was preempted
	Cut               // cut off by real time
)

// Step is one line of the trace.
type Step struct {
	Index    int // from 1
	At       ariadne.Time
	Digest   uint64 // the first 8 bytes of the output's digest, big-endian
	Calls    int
	Messages int // sent
	Lines    int // logged
	Mark     Mark
	Action   string // its stable name
	// Lost is what a loss of power took, in words: a comment, which replays do not need.
	Lost string
}

// Violation is what the execution showed.
type Violation struct {
	Kind    string       `json:"kind"`
	Node    string       `json:"node,omitempty"` // "" when it concerns all
	Step    int          `json:"step"`
	At      ariadne.Time `json:"at_ns"`
	Message string       `json:"message"`
}

// Begins reports whether b begins as a trace does, of any version of the format.
func Begins(b []byte) bool { return bytes.HasPrefix(b, []byte(magicWords)) }
