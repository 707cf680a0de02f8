package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Options are how a session is to be opened.
type Options struct {
	System system.Options
	// Memory is about how many bytes the session and its nodes may use; 0: half of what
	// the machine has.
	Memory int64
	// Checkpoints is how many frozen nodes are kept at most; 0: 1000. With fewer, going back
	// takes longer.
	Checkpoints int
	// Every is how many inputs of a node lie between two of its checkpoints on the first way; 0:
	// the more, the less often the session goes back.
	Every int
	// Force opens a trace although programs or spec differ from what they were.
	Force bool
}

// Open begins a session of a spec, before anything has happened. When ctx ends, so do steps
// that are under way, and the session can take no more.
func Open(ctx context.Context, s *spec.Spec, o Options) (*Session, error) {
	y, err := system.Open(ctx, s, o.System)
	if err != nil {
		return nil, err
	}
	if err := record.Hide(y); err != nil {
		return nil, err
	}
	return begin(ctx, y, nil, &o)
}

// OpenTrace begins a session of the trace at path, before anything has happened: the system is
// as it was then, and the line is that of the trace, each of whose steps is compared when it is
// taken (Mismatch). s may be nil: the spec is then read from where the trace says.
func OpenTrace(ctx context.Context, s *spec.Spec, path string, o Options) (*Session, error) {
	y, t, changes, err := record.Traced(ctx, s, path, o.System)
	if err != nil {
		return nil, err
	}
	if len(changes) > 0 && !o.Force {
		return nil, fmt.Errorf("%s cannot be followed exactly, because of these changes:\n  %s", path, strings.Join(changes, "\n  "))
	}
	return begin(ctx, y, t, &o)
}

// begin begins a session of a system, along a trace unless that is nil.
func begin(ctx context.Context, y *system.System, t *trace.Trace, o *Options) (*Session, error) {
	bytes := host.Budget(o.Memory)
	if err := y.Fits(system.Room{Bytes: bytes, Copies: 2, For: " with their checkpoints"}); err != nil {
		return nil, err
	}
	w := y.World()
	m, err := memo.Open(w, memo.Options{Bytes: bytes / 10, File: y.Digests.Of, Now: y.Digests.Now})
	if err != nil {
		return nil, err
	}
	limits := memo.Limits{Checkpoints: o.Checkpoints, Bytes: bytes / 4, Every: o.Every}
	if limits.Checkpoints == 0 {
		limits.Checkpoints = 1000
	}
	s := &Session{system: y, ctx: ctx, memo: m, programs: programs{}, work: make(chan func()),
		done: make(chan error, 1)}
	s.turn.Store(&turn{ctx: ctx})
	s.boots = y.Boots(s.interrupt)
	s.executor = memo.NewExecutor(m, s.boots, limits)
	if t != nil {
		s.trace, s.expected = t, t.Steps
		for i := range t.Steps {
			s.line = append(s.line, t.Steps[i].Action)
		}
		if goal, ok := replay.GoalOf(t.Violation, y.Spec.Properties.Goals); ok {
			s.stuck, s.goal = len(t.Steps), goal
		}
	}
	work := s.work
	go func() {
		s.done <- y.OnThread(0, func() error {
			for job := range work {
				job()
			}
			return errors.Join(s.executor.Close(), m.Close())
		})
	}()
	err = s.do("open", func() error {
		l := y.Limits()
		states := s.system.Judge(ctx, space.New(w, m, s.executor), 1)
		states.Unfold = true
		if s.path, err = space.NewPath(states, space.Bounds{Time: l.Time, Depth: l.Steps}); err == nil {
			s.publish(s.state("open"))
		}
		return system.AsBug(err)
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
