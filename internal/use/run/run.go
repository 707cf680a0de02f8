// Package run executes a system once: by the natural schedule (Run), or along a trace, which is
// verified step by step (Replay) or followed as far as its choices exist. It records the result in
// a run directory. One more execution confirms a violation (Confirm), also for a check.
//
// Three outcomes are never mixed (record.Outcome). An error that its functions return is the user's
// or the machine's: a bad option, a missing file, a directory that cannot be made. Mistakes of the
// target, things that Ariadne cannot model, and faults of Ariadne itself are all in the
// record.Report.
//
// Read next: natural.go, replay.go, execute.go; then internal/use/check.
package run

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Options are what a user may ask of a run or a replay.
type Options struct {
	System system.Options
	// Out is the run directory; made when it is missing. By default
	// ariadne-runs/<name>-<n>, below the working directory.
	Out string
	// OnStep, when not nil, is told each step as it ends.
	OnStep func(ariadne.Step)
	// OnViolation, when not nil, is told a new, confirmed violation.
	OnViolation func(record.Violation)

	// Of a replay:

	// Force replays although programs or spec differ from the trace's.
	Force bool
	// Loose replays by the choices of the trace alone, as long as they exist.
	Loose bool
}
