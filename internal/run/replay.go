package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ariadne"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// Replay follows the trace at path, verifying each step unless it is to be loose. s may be nil: the spec
// is then read from where the trace says.
func Replay(ctx context.Context, s *spec.Spec, path string, o Options) (*Report, error) {
	o.setDefaults()
	t, err := LoadTrace(path)
	if err != nil {
		return nil, err
	}
	if s == nil {
		if s, err = spec.Read(SpecOf(path, t)); err != nil {
			return nil, err
		}
	}
	if o.Loose {
		return replayLoosely(ctx, s, path, t, o)
	}
	faults, err := faultsIn(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	asTraced := *s
	asTraced.Faults = faults
	asTraced.Seed, asTraced.Date, asTraced.Latency, asTraced.ClockError, asTraced.Delays = t.Seed, t.Date, t.Latency, t.ClockError, t.Delays
	asTraced.Limits.Steps, asTraced.Limits.Time, asTraced.Limits.Calls = t.MaxSteps, t.MaxTime, t.MaxCalls
	o.Nodes = o.interruptible(ctx)
	y, err := newSystem(&asTraced, o)
	if err != nil {
		return nil, err
	}
	defer y.unlock()
	runs := runsOf(path)
	if o.Out != "" {
		runs = append(runs, o.Out)
	}
	if err := y.hide(runs...); err != nil { // before directories are compared
		return nil, err
	}
	y.recallLists(path, t)
	changes := y.changes(t)
	if len(changes) > 0 && !o.Force {
		return nil, fmt.Errorf("%s cannot be replayed as it was, but perhaps with --loose:\n  %s", path, strings.Join(changes, "\n  "))
	}
	r, err := y.beginReplay(path)
	if err != nil {
		return nil, err
	}
	return y.finish(r, y.onThread(0, func() error { return y.replay(ctx, r, path, t, changes) }))
}

// beginReplay begins the report of a replay of the trace at path.
func (y *system) beginReplay(path string) (*Report, error) {
	if inside(y.opts.Out, path) {
		return nil, fmt.Errorf("%s: the trace lies in the run directory %s, which would be emptied", path, y.opts.Out)
	}
	return y.begin("replay", runsOf(path)...)
}

// runsOf are the run directories in which a trace lies.
func runsOf(path string) (runs []string) {
	dir := filepath.Dir(path)
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if isRun(d) {
			runs = append(runs, d)
		}
	}
	return runs
}

// inside reports whether path lies in the directory dir, if there is one.
func inside(dir, path string) bool {
	rel, err := relative(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// SpecOf is the path of the spec of the trace at path.
func SpecOf(path string, t *trace.Trace) string {
	if filepath.IsAbs(t.Spec) {
		return t.Spec
	}
	return filepath.Join(filepath.Dir(path), t.Spec)
}

// changes says what is not as it was when the trace was made, one line each.
func (y *system) changes(t *trace.Trace) []string {
	var lines []string
	h := &t.Header
	if y.spec.Digest != h.SpecDigest {
		lines = append(lines, fmt.Sprintf("spec %s has changed", y.spec.Path))
	}
	for _, p := range h.Programs {
		i := slices.IndexFunc(y.programs, func(q trace.Program) bool { return q.Node == p.Node && q.Command == p.Command })
		switch {
		case i < 0:
			lines = append(lines, fmt.Sprintf("node %s: command %d (%s) is gone", p.Node, p.Command+1, p.Path))
		case y.programs[i] != p:
			lines = append(lines, fmt.Sprintf("node %s: program %s has changed (digest %s, in the trace %s %s)",
				p.Node, y.programs[i].Path, y.programs[i].Digest, p.Path, p.Digest))
		}
	}
	if len(y.programs) > len(h.Programs) {
		lines = append(lines, fmt.Sprintf("there are %d commands, in the trace %d", len(y.programs), len(h.Programs)))
	}
	files := slices.DeleteFunc(slices.Clone(t.Files), func(f trace.File) bool {
		return slices.ContainsFunc(h.Programs, func(p trace.Program) bool { return p.Path == f.Path }) // told above
	})
	return append(lines, y.digests.changed(files)...)
}

func (y *system) replay(ctx context.Context, r *Report, path string, t *trace.Trace, changes []string) error {
	began := time.Now()
	r.Trace = path
	calls, closeCalls, err := openCalls(path + trace.CallsSuffix)
	if err != nil {
		return err
	}
	defer closeCalls()
	rec, err := y.record(t.Execution, r.Out)
	if err != nil {
		return err
	}
	a, m, err := y.follow(t, calls, func(s ariadne.Step) {
		rec.step(s)
		if y.opts.OnStep != nil {
			y.opts.OnStep(s)
		}
	}, func() bool { return ctx.Err() != nil })
	err = first(err, rec.end(&a.Result))
	r.RealTime = time.Since(began)
	r.End, r.Executions = a.End, 1
	r.count(&a)
	var setup *ariadne.SetupError
	if errors.As(err, &setup) { // which it did not when the trace was made
		if changes = append(changes, y.hostChanges(path)...); len(changes) > 0 {
			err = errors.New(err.Error() + "\n" + listed("not as it was when the trace was made", changes))
		}
	}
	if err != nil {
		return err
	}
	switch {
	case m != nil:
		r.Mismatch = &Mismatch{Step: m.Step, Action: m.Action, Node: m.Node, Message: m.String()}
		changes = append(changes, y.hostChanges(path)...)
		text := "the replay left its trace at " + m.String()
		if len(changes) > 0 {
			text += "\n" + listed("not as it was when the trace was made", changes)
		}
		beyond := y.uncontrolledBy(m.Node)
		r.mismatch(m, len(changes) > 0 || beyond != "", text+beyond+"\n"+whatToTry(path))
	case ctx.Err() != nil && a.End == search.EndStopped:
		r.Stopped = interrupted
		r.doubt(fmt.Sprintf("it was interrupted after step %d", a.Steps))
	case a.Violation != nil:
		r.violation(&a, t.Execution, r.Out, path)
	case t.End == search.EndStopped:
		r.doubt(fmt.Sprintf("the trace is that of an execution which was interrupted after step %d", a.Steps))
	}
	return nil
}

// openCalls opens a trace's calls; nil when there are none.
func openCalls(path string) (calls *trace.CallReader, closer func() error, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if calls, err = trace.NewCallReader(f); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return calls, f.Close, nil
}

// whatToTry says how to go on from a replay that left its trace.
func whatToTry(path string) string {
	return "to follow its choices and compare nothing: ariadne replay --loose " + shellWord(path)
}
