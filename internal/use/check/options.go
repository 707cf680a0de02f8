package check

import (
	"fmt"
	"regexp"
	"runtime"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Options are what a user may ask of a check. The zero value is an unlimited check by
// random walks with one worker per processor.
type Options struct {
	System system.Options
	// Out is the run directory; made when it is missing. By default
	// ariadne-runs/<name>-<n>, below the working directory.
	Out string

	// OnProgress, when not nil, is told now and then how the check goes on, and
	// once at its end. Calls of these functions do not overlap.
	OnProgress func(Progress)
	// OnViolation, when not nil, is told each new, confirmed violation.
	OnViolation func(record.Violation)
	// OnPrint, when not nil, is told the lines that the script prints.
	OnPrint func(line string)

	KeepGoing bool // go on after the first violation
	// with KeepGoing, the message of a violation that ends the check; nil: none does
	Until *regexp.Regexp
	// real time, at most, to look for a smaller execution that ends in the same violation; 0: none
	Shrink     time.Duration
	Executions int           // at most so many; 0: no limit
	Time       time.Duration // real time, at most; 0: no limit
	Depth      int           // steps of one execution, at most; 0: as the spec says
	Workers    int           // executions at the same time; 0: one per processor
	// so many executions make nothing found a verdict, with or without faults, unless all is
	// explored; 0: any number does
	AtLeast int
	Usual   bool // record.AtLeast do, in the place of AtLeast
	First   int  // index of the first execution, to run one walk again
	Resume  bool // go on where the check in Out was interrupted

	Search Search // how

	unit *unit // that is done for somebody else; nil: the check is its own
}

// Search are the options of how to search.
type Search struct {
	// Strategy is the name of a strategy.Row; "": random.
	Strategy string
	// Bounds of a path besides Options.Depth, which with From counts from there.
	From       func(ariadne.Step) bool
	FromLive   bool // space.Bounds.FromLive, in the place of From
	FromStart  bool // neither, whatever the spec says
	Deviations space.Bound
	Timers     space.Bound
	Deliveries space.Bound
	Delays     space.Bound // when it is less than the spec's
	Weights    strategy.Weights
	// Symmetric are groups of interchangeable nodes; nil: those of the spec.
	Symmetric [][]ariadne.NodeID
	// Equality names when states count as the same one (space.EqualityNamed); "": by
	// their history.
	Equality string
	// Script, when not nil, has rules of the user's own. It is of one check at a time.
	Script     *steer.Script
	Backtracks space.Bound // of a round of DPOR, or of all of it; 0: the strategy's own
	Branch     space.Bound // steps among which DPOR tries other orders; 0: the strategy's own

	// without a live state, from which a state counts as dead; 0: search.DefaultWalks
	Walks int
	Audit float64 // share of new transitions to execute twice
	// neither begin with what earlier checks of the spec have come upon, nor keep anything for
	// later ones
	Fresh  bool
	NoMemo bool // execute every transition whenever it is needed
	Copies bool // nodes go back to checkpoints in copies, never in place
	// ProbeClocks says whether messages are tried at other times where their nodes read the clock.
	ProbeClocks   ClockProbes
	NoCheckpoints bool // reach every local state from the node's start
	Checkpoints   int  // of each executor; 0: 1000
	// Memory is about how many bytes Ariadne and its nodes may use; 0: half of what
	// the machine has. Measured is what the whole process and its nodes take.
	Memory int64
	// Seek, when not nil, is what the search looks for, with a strategy that can
	// (strategy.Row.Seeks).
	Seek *Seek
	// States are the rules of what nodes show (space.Space.Shows): of protocol states.
	States expose.Rules
}

// ClockProbes is which messages are tried at other times. By default the default strategy tries
// some, and others none.
type ClockProbes int

// All of them, some, or none.
const (
	ProbeByStrategy ClockProbes = iota
	ProbeAll
	ProbeSome
	ProbeNone
)

// probes is ProbeClocks where it says nothing of the strategy.
func (s *Search) probes() ClockProbes {
	p := s.ProbeClocks
	if p == ProbeByStrategy {
		p = ProbeNone
		if row, _ := strategy.Named(s.Strategy); row.Name == strategy.DefaultName || row.Name == strategy.LateName {
			p = ProbeSome
		}
	}
	if p == ProbeSome && s.NoMemo { // what was decided would not be remembered
		p = ProbeNone
	}
	return p
}

func (s *Search) equality() space.Equality {
	e, _ := space.EqualityNamed(s.Equality) // or by history
	return e
}

// equalityOf is that by which a search told states apart.
func equalityOf(c *record.Coverage) space.Equality {
	e, _ := space.EqualityNamed(c.Equality) // or by history
	return e
}

// setDefaults fills in what was left open.
func (o *Options) setDefaults() {
	if o.Search.Strategy == "" {
		o.Search.Strategy = "random"
	}
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
	}
	row, _ := strategy.Named(o.Search.Strategy)
	if o.System.Nodes == nil && !row.Lives && !o.Search.NoCheckpoints && !o.Search.Copies {
		o.System.Nodes = system.Processes{Pages: true}
	}
}

// room is what there is for the copies of files that nodes get. In memory lie the copies of
// each worker's nodes, and with checkpoints what these bring back.
func (o *Options) room() system.Room {
	r := system.Room{Bytes: host.Budget(o.Search.Memory), Copies: int64(o.Workers),
		For: fmt.Sprintf(" for %d workers (--jobs)", o.Workers)}
	if row, _ := strategy.Named(o.Search.Strategy); row.Lives {
		return r
	}
	r.Raise = ", or raise --memory"
	if !o.Search.NoCheckpoints {
		r.Copies *= 2
		r.For += " and their checkpoints"
	}
	return r
}

// Progress is how far a check has come.
type Progress struct {
	Elapsed    time.Duration
	Executions int // ended
	Different  int // of these, as partial-order traces; 0: nobody knows
	Steps      int
	Violations int // different ones
	Workers    int
	Done       bool // the last report
}
