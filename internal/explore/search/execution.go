package search

import (
	"errors"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// Limits end an execution.
type Limits struct {
	Steps int // 0: none
	// Time is the latest at which anything happens, in virtual time; 0: none.
	// Housekeeping may go on (world.System.IsIdle).
	Time ariadne.Time
}

// Execution is one path through a space whose nodes live, to be driven by Run.
type Execution struct {
	Space    *space.Space
	Explorer strategy.Explorer
	Checks   func() []property.Check
	Limits   Limits
	// Watch, when not nil, is told each step, before the checks look at it. It
	// may end the execution by saying false.
	Watch func(ariadne.Step) bool
	// Frame, when not nil, is told each frame, the first one included.
	Frame func(*space.Path)
	// Endless: it goes on when the clients are done, as long as the explorer does
	// (strategy.Follower).
	Endless bool
	// Stopped, when not nil, is asked before each step.
	Stopped func() bool
}

// Run drives the execution to its end. An error is the tool's fault; the result
// then tells how far it came.
func (e *Execution) Run() (Result, error) {
	r, given := Result{}, false
	x := &Exploration{
		Space: e.Space, Explorer: e.Explorer, Checks: e.Checks, Seen: &space.Set{Bytes: 1},
		Bounds: space.Bounds{Depth: e.Limits.Steps, Time: e.Limits.Time}, Limit: e.Limits.Steps,
		Endless: e.Endless,
		Watch: func(p *space.Path) {
			if e.Frame != nil {
				e.Frame(p)
			}
			if p.Steps() == 0 {
				return
			}
			s := p.Step(p.Steps())
			r.CountStep(s)
			given = e.Watch != nil && !e.Watch(s)
		},
		Stopped: func() bool { return given || e.Stopped != nil && e.Stopped() },
		Ended: func(_ *space.Path, end string, v *ariadne.Violation) bool {
			r.End, r.Violation = end, v
			return false
		},
	}
	_, err := x.Run()
	if errors.Is(err, ariadne.ErrInterrupted) {
		err = nil
	}
	if err == nil && r.End == "" {
		r.End = EndStopped
	}
	return r, err
}
