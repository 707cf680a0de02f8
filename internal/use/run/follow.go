package run

import (
	"context"
	"errors"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Followed is what came of following a trace without some of its deviations.
type Followed struct {
	record.Attempt
	Steps []ariadne.Step
	// Came says whether the trace's violation came. It is CameUnknown when the execution did not go
	// on to an end; Why says why not.
	Came record.Came
	Why  string
}

// FollowWithout follows a trace loosely among the nodes of a space, without some of its deviations,
// or without any of them as a control, and records nothing. It works on the goroutine's thread,
// which is the place of these nodes, and ends early when ctx does.
func FollowWithout(ctx context.Context, y *system.System, s *space.Space, t *trace.Trace,
	some []replay.Deviation) (*Followed, error) {
	l, w := looseWay(y, replay.Without(t, y.World().Names(), some, true))
	l.Edited = true // also without any, so that what comes of both can be compared
	goOn(w, t)
	f := &Followed{}
	w.space = s
	w.watch = func(step ariadne.Step) {
		l.Watch(step)
		f.Steps = append(f.Steps, step)
	}
	a, err := execute(ctx, y, w)
	f.Attempt = a
	switch {
	case errors.Is(err, memo.ErrElsewhere):
		f.Came, f.Why = record.CameUnknown, "a choice within a step no longer has its place there"
		return f, nil
	case errors.Is(err, ariadne.ErrInterrupted):
		f.Came, f.Why = record.CameUnknown, "the time was up"
		return f, nil
	case err != nil:
		return nil, err
	}
	f.judge(y, t)
	return f, nil
}

// judge compares the end with that of a trace.
func (f *Followed) judge(y *system.System, t *trace.Trace) {
	switch {
	case f.End == search.EndViolation && t.Violation != nil && alike(f.Violation, t.Violation, y):
		f.Came = record.CameSame
	case f.End == search.EndViolation:
		f.Came = record.CameAnother
	case f.End == search.EndStopped:
		f.Came, f.Why = record.CameUnknown, "the time was up"
	case f.End == search.EndFatal:
		f.Came, f.Why = record.CameUnknown, "a node cannot go on without "+f.Fatal
	case f.End == search.EndCut:
		f.Came, f.Why = record.CameUnknown, "a step was cut off: "+f.Cut
	default:
		f.Came = record.CameNone
	}
}
