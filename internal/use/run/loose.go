package run

import (
	"context"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// replayLoosely follows a trace as long as its choices exist. Of the trace it takes the
// choices and the seed; all else is as the spec says now.
func replayLoosely(ctx context.Context, s *spec.Spec, path string, o *Options) (*record.Report, error) {
	t, s, err := system.ReadTraced(path, s)
	if err != nil {
		return nil, err
	}
	y, err := system.Alike(ctx, s, t, o.System)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return replayed(y, path, o, func(r *record.Report) error {
		l, w := looseWay(y, t)
		w.watch = l.Watch
		if err := once(ctx, y, r, o, w); err != nil {
			return err
		}
		r.Loose = &record.Loose{Came: outcomeOf(r, t.Violation), Steps: len(t.Steps), Taken: l.Taken(), Left: l.Left(),
			Changed: y.Changes(t), Wanted: t.Violation}
		return nil
	})
}

// sameGoal reports whether violations of a kind are of the same goal. How long it was waited for is
// no matter.
func sameGoal(kind, a, b string) bool {
	return property.IsLiveness(kind) && property.Masked(kind, a) == property.Masked(kind, b)
}

// looseWay is that of an execution which follows a trace loosely.
func looseWay(y *system.System, t *trace.Trace) (*replay.Loose, way) {
	if o, ok := replay.NewOnward(y.World(), t, y.Spec.Properties.Goals); ok {
		return o.Loose, way{by: o, onward: o}
	}
	l := replay.NewLoose(y.World(), t)
	return l, way{by: l}
}

func outcomeOf(r *record.Report, want *trace.Violation) record.Came {
	switch {
	case len(r.Violations) > 0:
	case r.End == search.EndStopped || r.End == search.EndFatal || r.End == search.EndCut || len(r.Bugs) > 0:
		return record.CameUnknown
	default:
		return record.CameNone
	}
	got := &r.Violations[0]
	switch {
	case want == nil || got.Kind != want.Kind || got.NodeName != want.Node:
		return record.CameAnother
	case got.Message != want.Message && !sameGoal(got.Kind, got.Message, want.Message):
		return record.CameKind
	}
	return record.CameSame
}
