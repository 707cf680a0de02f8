package run

import (
	"context"
	"fmt"

	"ariadne/internal/record"
	"ariadne/internal/replay"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/system"
	"ariadne/internal/trace"
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
		l := replay.NewLoose(y.World(), t)
		if err := once(ctx, y, r, o, l, l.Watch); err != nil {
			return err
		}
		r.Loose = &record.Loose{Came: came(r, t.Violation), Steps: len(t.Steps), Taken: l.Taken(), Left: l.Left(), Changed: y.Changes(t), Wanted: t.Violation}
		return nil
	})
}

func came(r *record.Report, want *trace.Violation) record.Came {
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
	case got.Message != want.Message:
		return record.CameKind
	}
	return record.CameSame
}
