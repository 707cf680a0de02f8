package session

import (
	"context"
	"errors"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Hunt says how to look for a critical transition.
type Hunt struct {
	Walks int           // search.Liveness.Walks; 0: search.DefaultWalks
	Seed  uint64        // of the walks; 0: as those of a check
	Time  time.Duration // real time, at most; 0: no limit
}

// Critical looks for the critical transition of a trace at whose end something has not happened
// that must: the step behind which it never does. The session stands behind the line afterwards.
func (s *Session) Critical(ctx context.Context, o Hunt) (*record.Goal, error) {
	if s.stuck == 0 {
		return nil, errors.New("the trace has no violation of eventually or leads_to, so it has no critical transition")
	}
	if err := s.Go(s.stuck); err != nil {
		return nil, err
	}
	var goal *record.Goal
	err := s.do("look for the critical transition", func() error {
		began := time.Now()
		x := &search.Exploration{Space: s.path.Space().ForkSpace(), Checks: s.system.Checks, Stopped: func() bool {
			return ctx.Err() != nil || s.cancelled()
		}}
		l, err := search.NewLiveness(x)
		if err != nil {
			return err
		}
		l.Seed, l.Clock = s.system.Spec.Seed, func() time.Duration { return time.Since(began) }
		if o.Walks > 0 {
			l.Walks = o.Walks
		}
		if _, err := l.Calibrate(space.Bounds{Time: s.system.Limits().Time}); err != nil {
			return system.AsBug(err)
		}
		l.Seed, began, l.Until = l.Seed^o.Seed, time.Now(), o.Time
		stuck, err := l.StuckIn(s.path, s.goal)
		if err != nil {
			return err
		}
		live := false
		if stuck.End == search.WalkBound {
			live, stuck.Further, err = l.TakeLongWalks(stuck.Path, stuck.Path.Steps(), s.goal)
		}
		c := search.Crisis{} // of what is live after all
		if live {
			stuck.Further = search.Further{}
		} else if err == nil {
			c, err = l.FindCritical(stuck, nil)
		}
		goal = record.NewGoal(l, stuck, &c, time.Since(began), l.Bound)
		return system.AsBug(err)
	})
	return goal, err
}
