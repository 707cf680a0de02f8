// Package replay takes a system along a trace and verifies each step: the action
// is enabled, happens at the same virtual time and does the same, and the
// execution ends in the same way. Steps that are marked unreplayable are not
// compared. Where something differs, it says how: which node, and the first
// system call that went differently, when calls were recorded.
//
// A mismatch is a value. It is a leak of determinism, unless programs or spec have changed, which
// internal/system looks at first (System.Changes). For these there is Loose, which compares nothing
// and follows the trace's choices as long as they exist.
//
// Read next: mismatch.go, loose.go.
package replay

import (
	"errors"
	"io"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Replay is what is needed to follow a trace.
type Replay struct {
	Space  *space.Space // of nodes that live
	Trace  *trace.Trace
	Checks func() []property.Check
	// Calls are the system calls of the trace's steps, or nil.
	Calls *trace.CallReader
	// CallName names a system call.
	CallName func(nr int) string
	// Watch, when not nil, is told each step, also the one that differs.
	Watch func(ariadne.Step)
	// Frame, when not nil, is told each frame, the first one included.
	Frame func(*space.Path)
	// Stopped, when not nil, is asked before each step.
	Stopped func() bool

	next     int  // index in Trace.Steps
	doubtful bool // a step that is marked unreplayable went differently
	mismatch *Mismatch
	err      error
	trail    *search.Trail // of the goal that the trace is about
	path     *space.Path
}

// Run follows the trace. The mismatch is nil when all went as the trace says;
// the result is the replayed execution's. An error is the tool's fault or a
// damaged file of calls.
func (r *Replay) Run() (search.Result, *Mismatch, error) {
	e := search.Execution{
		Space: r.Space, Explorer: r, Checks: r.Checks, Watch: r.verify, Frame: r.Frame, Stopped: r.Stopped,
		Limits: search.Limits{Steps: r.Trace.MaxSteps, Time: ariadne.Time(r.Trace.MaxTime)},
		// An execution without a limit of time is one that went on behind its end to see whether
		// something happens yet.
		Endless: r.Trace.MaxTime == 0,
	}
	if goal, ok := r.goal(); ok {
		r.trail = search.NewTrail(r.Space.Properties.Goals(), goal)
		e.Frame = func(p *space.Path) {
			if r.Frame != nil {
				r.Frame(p)
			}
			r.path = p
			r.trail.LookAt(p, p.Last())
		}
	}
	result, err := e.Run()
	if r.trail != nil && err == nil && r.err == nil && r.mismatch == nil && r.next == len(r.Trace.Steps) {
		result.End, result.Violation = search.EndViolation, r.trail.Violation(r.path)
	}
	if err == nil {
		err = r.err
	}
	stopped := r.Stopped != nil && result.End == search.EndStopped
	if err == nil && r.mismatch == nil && !stopped {
		r.compareEnd(&result)
	}
	if r.mismatch != nil {
		r.mismatch.Excused = r.doubtful
	}
	return result, r.mismatch, err
}

// Begin implements strategy.Explorer.
func (r *Replay) Begin(*space.Path) (keep int, ok bool) { return 0, r.next == 0 }

// Next implements strategy.Explorer: the trace chooses.
func (r *Replay) Next(p *space.Path) (event int, ok bool) {
	enabled := p.Last().Enabled
	if r.next == len(r.Trace.Steps) {
		if !r.cutShort() && r.trail == nil {
			r.mismatch = r.tooLong(enabled)
		}
		return 0, false
	}
	want := r.Trace.Steps[r.next]
	a, err := r.names().Parse(want.Action)
	if err == nil {
		if event, ok = p.FindAction(undisturbed(a)); ok && a.Vary != "" {
			event, ok = p.AppendVaried(event, a.Vary)
		}
		if ok {
			return event, true
		}
	}
	r.mismatch = r.notEnabled(want, enabled, err)
	return 0, false
}

// goal is the goal of the spec that the trace's violation is about, if it is about one.
func (r *Replay) goal() (goal int, ok bool) {
	if r.Space.Properties == nil {
		return 0, false
	}
	return GoalOf(r.Trace.Violation, r.Space.Properties.Goals())
}

// GoesOn implements strategy.Follower.
func (r *Replay) GoesOn(*space.Path) bool { return r.next < len(r.Trace.Steps) }

// undisturbed is an action without its variation.
func undisturbed(a ariadne.Action) ariadne.Action {
	a.Vary = ""
	return a
}

// End implements strategy.Explorer.
func (*Replay) End(*space.Path, strategy.End) error { return nil }

func (r *Replay) names() world.Names { return r.Space.System.Names() }

// cutShort reports whether the trace stops before the execution had ended.
func (r *Replay) cutShort() bool {
	return r.Trace.End == search.EndStopped || r.Trace.End == search.EndCut || r.Trace.End == search.EndStrategy
}

// verify compares a step with the trace's; false at the first difference.
func (r *Replay) verify(s ariadne.Step) bool {
	if r.Watch != nil {
		r.Watch(s)
	}
	want := r.Trace.Steps[r.next]
	r.next++
	calls, ok := r.nextCalls()
	if !ok {
		return false
	}
	r.mismatch = r.compare(want, s, calls)
	return r.mismatch == nil
}

// nextCalls reads the calls of the next step. A file that ends early has none
// for the rest: it only serves to say more of a difference.
func (r *Replay) nextCalls() (calls []ariadne.CallRecord, ok bool) {
	if r.Calls == nil {
		return nil, true
	}
	calls, err := r.Calls.Step()
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		r.Calls = nil
		return nil, true
	}
	r.err = err
	return calls, err == nil
}
