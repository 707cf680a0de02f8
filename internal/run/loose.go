package run

import (
	"context"
	"fmt"

	"ariadne/internal/replay"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// Loose is what came of a loose replay.
type Loose struct {
	Came    Came
	Steps   int // of the trace
	Taken   int // of these, how many were taken
	Left    *replay.Departure
	Changed []string         // what has changed since the trace was made
	Wanted  *trace.Violation // the trace's, or nil
}

// Came says whether the violation of a trace came again.
type Came string

const (
	CameSame    Came = "the same violation"
	CameKind    Came = "the same kind of violation" // of the same node, with another message
	CameAnother Came = "another violation"
	CameNone    Came = "no violation"
	CameUnknown Came = "unknown" // the replay was interrupted, or a node could not go on
)

// replayLoosely follows a trace as long as its choices exist. Of the trace it takes the
// choices and the seed; all else is as the spec says now.
func replayLoosely(ctx context.Context, s *spec.Spec, path string, t *trace.Trace, o Options) (*Report, error) {
	now := *s
	now.Seed, now.Delays = t.Seed, max(s.Delays, t.Delays)
	faults, err := faultsIn(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for k, n := range faults {
		now.Faults[k] = max(now.Faults[k], n)
	}
	o.Nodes = o.interruptible(ctx)
	y, err := newSystem(&now, o)
	if err != nil {
		return nil, err
	}
	defer y.unlock()
	r, err := y.beginReplay(path)
	if err != nil {
		return nil, err
	}
	r.Trace = path
	l := replay.NewLoose(y.world(), t)
	err = y.onThread(0, func() error { return y.once(ctx, r, l, l.Watch) })
	if err == nil {
		r.Loose = &Loose{Came: came(r, t.Violation), Steps: len(t.Steps), Taken: l.Taken(), Left: l.Left(), Changed: y.changes(t), Wanted: t.Violation}
	}
	return y.finish(r, err)
}

func came(r *Report, want *trace.Violation) Came {
	switch {
	case len(r.Violations) > 0:
	case r.End == search.EndStopped || r.End == search.EndFatal || r.End == search.EndCut || len(r.Bugs) > 0:
		return CameUnknown
	default:
		return CameNone
	}
	got := &r.Violations[0]
	switch {
	case want == nil || got.Kind != want.Kind || got.NodeName != want.Node:
		return CameAnother
	case got.Message != want.Message:
		return CameKind
	}
	return CameSame
}

// String says in one line what happened.
func (l *Loose) String() string {
	text := "whether the violation comes is not known, for it did not go on to an end"
	switch l.Came {
	case CameSame:
		text = "the violation came again"
	case CameKind:
		text = "the same kind of violation came, with another message"
	case CameAnother:
		text = "another violation came than in the trace"
		if l.Wanted == nil {
			text = "a violation came, where the trace has none"
		}
	case CameNone:
		text = "the violation did not come"
		if l.Wanted == nil {
			text = "no violation came, as in the trace"
		}
	}
	return fmt.Sprintf("%s (%d of the %d steps of the trace were taken)", text, l.Taken, l.Steps)
}
