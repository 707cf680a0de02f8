package run

import (
	"context"
	"fmt"
	"time"

	"ariadne"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/spec"
)

const interrupted = "interrupted"

// Run executes the natural schedule once: every message after its latency, every
// timer on time.
func Run(ctx context.Context, s *spec.Spec, o Options) (*Report, error) {
	o.setDefaults()
	o.Nodes = o.interruptible(ctx)
	y, err := newSystem(s, o)
	if err != nil {
		return nil, err
	}
	defer y.unlock()
	r, err := y.begin("run")
	if err != nil {
		return nil, err
	}
	return y.finish(r, y.onThread(0, func() error { return y.once(ctx, r, &strategy.Natural{}, nil) }))
}

// once executes the system once, and records it. A violation is confirmed by a replay.
// watch, when not nil, is told each step.
func (y *system) once(ctx context.Context, r *Report, by strategy.Explorer, watch func(ariadne.Step)) error {
	began := time.Now()
	rec, err := y.record(0, r.Out)
	if err != nil {
		return err
	}
	tape := newTape(y.digests)
	stopped := func() bool { return ctx.Err() != nil }
	a, err := y.execute(execution{explorer: by, stopped: stopped, watch: func(s ariadne.Step) {
		if watch != nil {
			watch(s)
		}
		tape.step(s)
		rec.step(s)
		if y.opts.OnStep != nil {
			y.opts.OnStep(s)
		}
	}})
	err = first(err, rec.end(&a.Result))
	r.RealTime = time.Since(began)
	r.End, r.Executions = a.End, 1
	if r.Trace == "" {
		r.Trace = rec.path()
	}
	r.count(&a)
	if err != nil {
		return err
	}
	if a.End == search.EndStopped {
		r.Stopped = interrupted
		r.doubt(fmt.Sprintf("it was interrupted after step %d", a.Steps))
	}
	if d := unendedDoubt(y.spec, map[string]int{a.End: 1}); d != "" {
		r.doubt(d)
	}
	if a.Violation == nil {
		return nil
	}
	h, err := y.header(0, r.Out)
	if err != nil {
		return err
	}
	t, calls := tape.end(h, &a.Result, r.names())
	again, m, err := y.confirm(t, calls, nil, stopped)
	switch {
	case err != nil:
		return err
	case m != nil:
		changed, text := tape.used.changed(), unconfirmedText(t, m)
		if len(changed) > 0 {
			text += "\n" + listed("files that nodes have used changed meanwhile", changed)
		}
		beyond := y.uncontrolledBy(m.Node)
		r.mismatch(m, len(changed) > 0 || beyond != "", text+beyond)
	case again.End == search.EndStopped:
		r.Stopped = interrupted
		r.doubt("it was interrupted while a violation was being confirmed")
	default:
		v := r.violation(&a, 0, r.Out, rec.path())
		if y.opts.OnViolation != nil {
			y.opts.OnViolation(v)
		}
	}
	return nil
}
