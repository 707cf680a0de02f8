package session

import (
	"context"
	"errors"

	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// System is the one that the session executes.
func (s *Session) System() *system.System { return s.system }

// Trace is the trace that the session was opened with, or nil.
func (s *Session) Trace() *trace.Trace { return s.trace }

// FollowWithout follows the session's trace loosely, without some of its deviations, and says what
// came of it. The session stands where it stood. It ends early when ctx does.
func (s *Session) FollowWithout(ctx context.Context, some []replay.Deviation) (f *run.Followed, err error) {
	if s.trace == nil {
		return nil, errors.New("the session follows no trace")
	}
	err = s.do("follow the trace otherwise", func() error {
		defer context.AfterFunc(ctx, s.turn.Load().cancel)()
		f, err = run.FollowWithout(ctx, s.system, s.path.Space().ForkSpace(), s.trace, some)
		return system.AsBug(err)
	})
	return f, err
}
