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
	onThread(func() {
		err = y.once(ctx, r, func(*instance) driver { return driver{Strategy: strategy.Natural{}} })
	})
	return y.finish(r, err)
}

// driver chooses the actions of one execution, and is told each step, when watch is
// not nil.
type driver struct {
	strategy.Strategy
	watch func(ariadne.Step)
}

// once executes the system once, and records it. A violation is confirmed by a replay.
func (y *system) once(ctx context.Context, r *Report, by func(*instance) driver) error {
	began := time.Now()
	rec, err := y.record(0, r.Out)
	if err != nil {
		return err
	}
	tape := newTape(y.digests)
	stopped := func() bool { return ctx.Err() != nil }
	a, err := y.explore(0, by, func(s ariadne.Step) {
		tape.step(s)
		rec.step(s)
		if y.opts.OnStep != nil {
			y.opts.OnStep(s)
		}
	}, stopped)
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
	again, m, err := y.confirm(0, t, calls, nil, stopped)
	switch {
	case err != nil:
		return err
	case m != nil:
		changed, text := tape.used.changed(), unconfirmedText(t, m)
		if len(changed) > 0 {
			text += "\n" + listed("files that nodes have used changed meanwhile", changed)
		}
		r.mismatch(m, len(changed) > 0, text)
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
