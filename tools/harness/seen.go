package harness

import (
	"context"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// Seen is a kind of violation as a tool keeps it: how many executions ended in it, and what came of
// a replay of the trace of the first.
type Seen struct {
	Kind, Node, Message, Suspect string
	Count                        int
	Steps                        int  // of the replay
	Again                        bool // the replay has come to it again
}

// Found is a violation that was not replayed.
func Found(v Violation) Seen {
	return Seen{Kind: v.Kind, Node: v.NodeName, Message: v.Message, Suspect: v.Suspect, Count: v.Count}
}

// Replay replays the trace of a violation; the files of the replay go to the directory out, which
// is made empty first. A violation without a trace has not come again.
func (a *Ariadne) Replay(ctx context.Context, out string, v Violation) (Seen, error) {
	s := Found(v)
	if v.Trace == "" {
		return s, nil
	}
	again, err := a.Cold(ctx, out, "replay", v.Trace)
	if err != nil {
		return s, err
	}
	s.Steps, s.Again = again.Steps, CameTo(&again.Report, v)
	return s, nil
}

// CameTo reports whether a replay took each step as its trace has it and ended in the violation.
// Of a smaller execution the message may be another one, as far as the shrinker allows.
func CameTo(r *Report, v Violation) bool {
	return r.Mismatch == nil && len(r.Bugs) == 0 && slices.ContainsFunc(r.Violations, func(w Violation) bool {
		return w.Kind == v.Kind && w.NodeName == v.NodeName &&
			property.Masked(w.Kind, w.Message) == property.Masked(v.Kind, v.Message)
	})
}
