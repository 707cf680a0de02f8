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
	y, err := newSystem(s, o)
	if err != nil {
		return nil, err
	}
	r, err := y.begin("run")
	if err != nil {
		return nil, err
	}
	onThread(func() { err = y.run(ctx, r) })
	return y.finish(r, err)
}

func (y *system) run(ctx context.Context, r *Report) error {
	began := time.Now()
	rec, err := y.record(0, r.Out)
	if err != nil {
		return err
	}
	tape := newTape()
	stopped := func() bool { return ctx.Err() != nil }
	a, err := y.explore(0, strategy.Natural{}, func(s ariadne.Step) {
		tape.step(s)
		rec.step(s)
		if y.opts.OnStep != nil {
			y.opts.OnStep(s)
		}
	}, stopped)
	err = first(err, rec.end(&a.Result))
	r.RealTime = time.Since(began)
	r.Trace, r.End, r.Executions = rec.path(), a.End, 1
	r.count(&a)
	if err != nil {
		return err
	}
	if a.End == search.EndStopped {
		r.Stopped = interrupted
		r.doubt(fmt.Sprintf("it was interrupted after step %d", a.Steps))
	}
	if a.Violation == nil {
		return nil
	}
	h, err := y.header(0, r.Out)
	if err != nil {
		return err
	}
	t, calls := tape.end(h, &a.Result, r.names(), y.digests)
	again, m, err := y.confirm(0, t, calls, nil, stopped)
	switch {
	case err != nil:
		return err
	case m != nil:
		r.mismatch(m, false, unconfirmedText(t, m))
	case again.End == search.EndStopped:
		r.Stopped = interrupted
		r.doubt("it was interrupted while a violation was being confirmed")
	default:
		v := r.violation(&a, 0, r.Out, r.Trace)
		if y.opts.OnViolation != nil {
			y.opts.OnViolation(v)
		}
	}
	return nil
}
