package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Run executes the natural schedule once: every message after its latency, every
// timer on time.
func Run(ctx context.Context, s *spec.Spec, o Options) (*record.Report, error) {
	y, err := system.Open(ctx, s, o.System)
	if err != nil {
		return nil, err
	}
	return recorded(y, "run", &o, nil, func(r *record.Report) error {
		return once(ctx, y, r, &o, way{by: &strategy.Natural{}})
	})
}

// recorded lets f execute a system on a thread of its own, with a report in a run directory.
// hidden are run directories that nodes must not see besides.
func recorded(y *system.System, command string, o *Options, hidden []string,
	f func(*record.Report) error) (*record.Report, error) {
	dir, err := record.Open(o.Out, y.Spec.Name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	r, err := dir.Begin(record.Command{Name: command, System: y, Room: system.Room{Bytes: host.Budget(0), Copies: 1},
		Hidden: hidden})
	if err != nil {
		return nil, err
	}
	err = y.OnThread(0, func() error { return f(r) })
	r.Doubt(y.Doubts()...)
	r.Note(y.Notes()...)
	r.Explain(y)
	return dir.Finish(r, err)
}

// begin begins the record of an execution. Without limits: endless.
func begin(y *system.System, execution int, r *record.Report, endless bool) (*record.Recorder, error) {
	h, err := header(y, execution, r, endless)
	if err != nil {
		return nil, err
	}
	return record.NewRecorder(r.Out, y, h)
}

// header is the head of the trace of an execution.
func header(y *system.System, execution int, r *record.Report, endless bool) (trace.Header, error) {
	h, err := y.Header(execution, r.Out)
	if endless {
		h.MaxSteps, h.MaxTime = 0, 0
	}
	return h, err
}

// once executes the system once, and records it. A violation is confirmed by a replay.
// The way's watch may be nil.
func once(ctx context.Context, y *system.System, r *record.Report, o *Options, w way) error {
	began, watch := time.Now(), w.watch
	rec, err := begin(y, 0, r, w.onward != nil)
	if err != nil {
		return err
	}
	tape := record.NewTape(y.Digests)
	w.watch = func(s ariadne.Step) {
		if watch != nil {
			watch(s)
		}
		tape.Step(s)
		rec.Step(s)
		if o.OnStep != nil {
			o.OnStep(s)
		}
	}
	a, err := execute(ctx, y, w)
	err = cmp.Or(err, rec.End(&a.Result))
	if r.Trace == "" {
		r.Trace = rec.Path()
	}
	ended(r, &a, began)
	if err != nil {
		return err
	}
	r.Served(slices.Concat(rec.Servers(), y.FailedWorkers()))
	if a.End == search.EndStopped {
		r.Stopped = record.Interrupted
		r.Doubt(fmt.Sprintf("the run was interrupted after step %d", a.Steps))
	}
	r.Ended(y.Spec, map[string]int{a.End: 1})
	if a.Violation == nil {
		return nil
	}
	h, err := header(y, 0, r, w.onward != nil)
	if err != nil {
		return err
	}
	t, calls := tape.End(h, &a.Result, y.Names())
	again, m, err := Confirm(ctx, y, t, calls, func(ariadne.Step) {})
	switch {
	case err != nil:
		return err
	case m != nil:
		changed, text := tape.Used.Changed(), UnconfirmedText(t, m)
		if len(changed) > 0 {
			text += "\n" + system.Listed("files that nodes have used changed meanwhile", changed)
		}
		beyond := y.UncontrolledBy(m.Node)
		r.Left(m, len(changed) > 0 || beyond != "", text+beyond)
	case again.End == search.EndStopped:
		r.Stopped = record.Interrupted
		r.Doubt("the run was interrupted while it confirmed a violation")
	default:
		v := r.Found(&a, 0, r.Out, rec.Path(), nil)
		if o.OnViolation != nil {
			o.OnViolation(v)
		}
	}
	return nil
}

// ended enters what an execution came to.
func ended(r *record.Report, a *record.Attempt, began time.Time) {
	r.RealTime = time.Since(began)
	r.End, r.Executions, r.Numbers = a.End, 1, a.Numbers
	r.Count(a)
}
