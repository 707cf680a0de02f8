package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Replay follows the trace at path, verifying each step unless it is to be loose. s may be nil: the
// spec is then read from where the trace says.
func Replay(ctx context.Context, s *spec.Spec, path string, o Options) (*record.Report, error) {
	if o.Loose {
		return replayLoosely(ctx, s, path, &o)
	}
	var hidden []string
	if o.Out != "" {
		hidden = []string{o.Out}
	}
	y, t, changes, err := record.Traced(ctx, s, path, o.System, hidden...)
	if err != nil {
		return nil, err
	}
	if len(changes) > 0 && !o.Force {
		return nil, fmt.Errorf("%s cannot be replayed exactly, because of these changes (--loose follows it as far as it can):\n  %s", path, strings.Join(changes, "\n  "))
	}
	return replayed(y, path, &o, func(r *record.Report) error { return verify(ctx, y, r, &o, t, changes) })
}

// replayed lets f follow the trace at path, with a report in a run directory.
func replayed(y *system.System, path string, o *Options, f func(*record.Report) error) (*record.Report, error) {
	if inside(o.Out, path) {
		return nil, fmt.Errorf("%s: the trace lies in the run directory %s, which would be emptied", path, o.Out)
	}
	return recorded(y, "replay", o, record.RunsOf(path), func(r *record.Report) error {
		r.Trace = path
		return f(r)
	})
}

// inside reports whether path lies in the directory dir, if there is one.
func inside(dir, path string) bool {
	rel, err := system.Relative(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// verify follows a trace and compares each step.
func verify(ctx context.Context, y *system.System, r *record.Report, o *Options, t *trace.Trace,
	changes []string) error {
	began, path := time.Now(), r.Trace
	calls, closeCalls, err := openCalls(path + trace.CallsSuffix)
	if err != nil {
		return err
	}
	defer closeCalls()
	rec, err := begin(y, t.Execution, r, false)
	if err != nil {
		return err
	}
	a, m, err := follow(ctx, y, t, calls, func(s ariadne.Step) {
		rec.Step(s)
		if o.OnStep != nil {
			o.OnStep(s)
		}
	})
	err = cmp.Or(err, rec.End(&a.Result))
	ended(r, &a, began)
	r.Served(slices.Concat(rec.Servers(), y.FailedWorkers()))
	var setup *ariadne.SetupError
	if errors.As(err, &setup) { // which it did not when the trace was made
		if changes = append(changes, y.HostChanges(path)...); len(changes) > 0 {
			err = errors.New(err.Error() + "\n" + system.Listed("not as it was when the trace was made", changes))
		}
	}
	if err != nil {
		return err
	}
	switch {
	case m != nil:
		r.Mismatch = &record.Mismatch{Step: m.Step, Action: m.Action, Node: m.Node, Message: m.String()}
		changes = append(changes, y.HostChanges(path)...)
		text := "the replay left its trace at " + m.String()
		if len(changes) > 0 {
			text += "\n" + system.Listed("not as it was when the trace was made", changes)
		}
		beyond := y.UncontrolledBy(m.Node)
		r.Left(m, len(changes) > 0 || beyond != "", text+beyond+"\n"+whatToTry(path))
	case ctx.Err() != nil && a.End == search.EndStopped:
		r.Stopped = record.Interrupted
		r.Doubt(fmt.Sprintf("the replay was interrupted after step %d", a.Steps))
	case a.Violation != nil:
		r.Found(&a, t.Execution, r.Out, path, nil)
	case t.End == search.EndStopped:
		r.Doubt(fmt.Sprintf("the trace is of an execution that was interrupted after step %d", a.Steps))
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
	return "to follow its choices and compare nothing: ariadne replay --loose " + record.ShellWord(path)
}
