package explain

import (
	"context"
	"errors"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/record/graph"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// Draw executes the trace at path and draws it. s may be nil: the spec is then read from where the
// trace says. No execution is tried besides, so o.Time has no effect.
func Draw(ctx context.Context, s *spec.Spec, path string, o Options) (*graph.Picture, error) {
	p, _, err := drawn(ctx, s, path, &o)
	return p, err
}

// DrawBeside draws two traces, as Draw does, each with the first step that the other one has not.
func DrawBeside(ctx context.Context, s *spec.Spec, path, other string, o Options) (a, b *graph.Picture, err error) {
	a, here, err := drawn(ctx, s, path, &o)
	if err != nil {
		return nil, nil, err
	}
	b, there, err := drawn(ctx, s, other, &o)
	if err != nil {
		return nil, nil, err
	}
	common := 0
	for common < min(len(here), len(there)) && here[common].Name == there[common].Name &&
		here[common].Output.Digest == there[common].Output.Digest {
		common++
	}
	if common < len(here) {
		a.Parts = common + 1
	}
	if common < len(there) {
		b.Parts = common + 1
	}
	return a, b, nil
}

// drawn executes a trace, and draws it.
func drawn(ctx context.Context, s *spec.Spec, path string, o *Options) (*graph.Picture, []ariadne.Step, error) {
	e, err := session.OpenTrace(ctx, s, path, session.Options{System: o.System, Force: o.Force})
	if err != nil {
		return nil, nil, err
	}
	p, err := draw(e, o.Decoder)
	return p, e.Taken(), errors.Join(unlike(e.System(), path, err), e.Close())
}

func draw(e *session.Session, decoder string) (*graph.Picture, error) {
	words, err := e.Words(decoder)
	if err != nil {
		return nil, err
	}
	t, y := e.Trace(), e.System()
	if err := e.Go(len(t.Steps)); err != nil {
		return nil, err
	}
	names, steps := y.World().Names(), e.Taken()
	deviations := map[int]string{}
	for _, d := range replay.Deviations(t, names) {
		if _, ok := deviations[d.Step()]; !ok || !d.Late() {
			deviations[d.Step()] = kindOf(d)
		}
	}
	p := graph.New(causal.New(steps, names, waits(y.Spec)), &words, y.Names(), deviations)
	p.Name = t.Name
	if v := t.Violation; v != nil {
		p.Sentence, p.Violation = sentence(v, len(steps)), min(max(v.Step, 0), len(steps))
	}
	return p, nil
}

// kindOf is the kind of a deviation in words.
func kindOf(d replay.Deviation) string {
	switch {
	case d.Late():
		return "late"
	case d.Varied():
		return "choice"
	}
	return "fault"
}
