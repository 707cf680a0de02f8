package check

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// hunts are searches for critical transitions. In a check that continues after a violation, they
// take no more than a part of its time. A hunt that is stopped by that says between which steps the
// transition lies. It continues when nothing is left to explore, or when only the unused time of
// hunts is left.
type hunts struct {
	mu    sync.Mutex // of all below
	spent time.Duration
	later []*postponed
}

// postponed is a hunt that was stopped.
type postponed struct {
	violation ariadne.Violation
	stuck     search.Stuck // with a path of its own
	crisis    search.Crisis
	goal      *record.Goal
}

const (
	huntPart  = 4 // of the time of a check is for hunts
	leastHunt = 50
)

// mayHunt is until when a hunt that begins now may go on; 0: for as long as it takes. The first one
// has half of the time that hunts have, the next one half of what it left.
func (x *explorer) mayHunt() time.Duration {
	o := &x.check.opts
	if !o.KeepGoing {
		return o.Time
	}
	x.hunts.mu.Lock()
	defer x.hunts.mu.Unlock()
	return x.elapsed() + max((x.huntTime()-x.hunts.spent)/2, x.huntTime()*huntPart/leastHunt)
}

// huntTime is how much time there is for hunts. Where the check's is not limited it is a part of
// what has gone by.
func (x *explorer) huntTime() time.Duration {
	if t := x.check.opts.Time; t > 0 {
		return t / huntPart
	}
	return max(x.elapsed()/huntPart, time.Minute)
}

func (x *explorer) addHuntTime(took time.Duration) {
	x.hunts.mu.Lock()
	defer x.hunts.mu.Unlock()
	x.hunts.spent += took
}

// huntsLeft reports whether there is only as much time left as is for hunts that were stopped.
func (x *explorer) huntsLeft() bool {
	t := x.check.opts.Time
	if t == 0 {
		return false
	}
	x.hunts.mu.Lock()
	defer x.hunts.mu.Unlock()
	return len(x.hunts.later) > 0 && x.elapsed() >= t-(x.huntTime()-x.hunts.spent)
}

// postpone keeps a hunt that was stopped, of an execution that was entered.
func (g *goals) postpone(s *search.Stuck, v *ariadne.Violation, c *search.Crisis, e *record.Goal) error {
	p, err := space.NewPath(g.worker.search.Space.ForkSpace(), space.Bounds{})
	if err != nil {
		return err
	}
	s.Path.ForkInto(p, s.Path.Steps())
	l := &postponed{violation: *v, stuck: *s, crisis: *c, goal: e}
	l.stuck.Path, l.crisis.Near = p, nil
	h := &g.worker.explorer.hunts
	h.mu.Lock()
	defer h.mu.Unlock()
	h.later = append(h.later, l)
	return nil
}

// nextHunt takes one of the hunts that were stopped, with the time that there is for it; nil: there
// is none, or no time.
func (x *explorer) nextHunt(ctx context.Context) (l *postponed, until time.Duration) {
	x.hunts.mu.Lock()
	defer x.hunts.mu.Unlock()
	n := len(x.hunts.later)
	if n == 0 || ctx.Err() != nil {
		return nil, 0
	}
	if until = x.elapsed() + x.huntTime(); x.check.opts.Time > 0 {
		until = x.elapsed() + (x.check.opts.Time-x.elapsed())/time.Duration(n)
	}
	if until <= x.elapsed() {
		return nil, 0
	}
	l, x.hunts.later = x.hunts.later[0], x.hunts.later[1:]
	return l, until
}

// goOnHunting goes on with hunts that were stopped, when there is nothing more to explore.
func (w *worker) goOnHunting(ctx context.Context) error {
	if w.goals == nil || w.living != nil {
		return nil
	}
	for {
		l, until := w.explorer.nextHunt(ctx)
		if l == nil {
			return nil
		}
		look, err := w.goals.newLooking(w.search.Space.ForkSpace(), l.goal.Bound)
		if err != nil {
			return err
		}
		look.ctx, look.Until = ctx, until
		began := time.Now()
		c, err := look.FindCritical(&l.stuck, &l.crisis)
		if errors.Is(err, ariadne.ErrInterrupted) {
			continue
		}
		if err != nil {
			return err
		}
		if c.Verdict != search.DeadFrom && c.Verdict != search.Between {
			continue
		}
		e := record.NewGoal(look.Liveness, &l.stuck, &c, l.goal.Took+time.Since(began), l.goal.Bound)
		e.Walks, e.WalkSteps, e.FromStart = e.Walks+l.goal.Walks, e.WalkSteps+l.goal.WalkSteps,
			e.FromStart+l.goal.FromStart
		e.Live, e.Along, e.LiveIn, e.Cycle = l.goal.Live, l.goal.Along, l.goal.LiveIn, l.goal.Cycle
		if err := w.check.refine(&l.violation, e, &c); err != nil {
			return err
		}
	}
}

// refine enters what is known by now of a violation that was entered, if it was confirmed.
func (c *check) refine(v *ariadne.Violation, e *record.Goal, crisis *search.Crisis) error {
	w := c.ledger.findLike(v)
	if w == nil {
		return nil
	}
	if near := crisis.Near; near != nil && crisis.Along > e.Along {
		live, err := c.saveLive(w.Execution, w.Dir, stepsOf(near))
		if err != nil {
			return err
		}
		e.Live, e.Along, e.LiveIn = live, crisis.Along, near.Steps()
	}
	w.Goal = e
	c.ledger.changeViolations(func(r *record.Report) { r.Refine(*w) })
	return nil
}
