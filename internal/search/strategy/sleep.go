package strategy

import (
	"slices"

	"ariadne/internal/space"
	"ariadne/internal/world"
)

// SleepSets tries every event in every state, but for those that sleep: an event that
// was tried in a state is not tried again after others that it does not depend on
// (Godefroid, 1996). So it takes one path of each trace, as DPOR does, and gives up
// those that turn out to lead to a known one; of these there may be many. Unlike DPOR
// it is exact with timers too.
type SleepSets struct {
	// Blocked counts the paths that were given up.
	Blocked int

	rel    relation
	levels []sleeper // by depth
	began  bool
	// bounded: bounds besides that on the depth, under which all orders of a path's
	// events are of the same length, have taken something away.
	bounded bool
}

// sleeper is a state on the path.
type sleeper struct {
	sleep []*act
	now   int  // the event that is being tried
	act   *act // what it came to
}

// Begin implements Explorer.
func (s *SleepSets) Begin(p *space.Path) (keep int, ok bool) {
	if !s.began {
		s.began = true
		s.rel = relationOf(p)
		return 0, true
	}
	for n := len(s.levels) - 1; n >= 0; n-- {
		l := &s.levels[n]
		l.sleep = append(l.sleep, l.act)
		if s.wake(p.Frame(n), l) {
			s.levels = s.levels[:n+1]
			return n, true
		}
	}
	s.levels = nil
	return 0, false
}

// wake chooses the first event that does not sleep.
func (s *SleepSets) wake(f *space.Frame, l *sleeper) bool {
	for i := range f.Enabled {
		if !asleep(l.sleep, &f.Enabled[i]) {
			l.now = i
			return true
		}
	}
	return false
}

// Next implements Explorer.
func (s *SleepSets) Next(p *space.Path) (event int, ok bool) {
	n := p.Len()
	if n == len(s.levels) {
		s.bounded = s.bounded || p.Last().Bounded
		l := sleeper{}
		if n > 0 {
			before := &s.levels[n-1]
			before.act = actOf(p, n)
			l.sleep = s.rel.awakened(nil, before.sleep, before.act)
		}
		if !s.wake(p.Last(), &l) {
			s.Blocked++
			return 0, false
		}
		s.levels = append(s.levels, l)
	}
	return s.levels[n].now, true
}

// End implements Explorer.
func (s *SleepSets) End(p *space.Path, e End) error {
	if n := p.Len(); n > 0 && n == len(s.levels) {
		s.levels[n-1].act = actOf(p, n)
	}
	return nil
}

// Missed implements Exhaustive.
func (s *SleepSets) Missed() string {
	if s.bounded {
		return missedByBounds
	}
	return ""
}

// missedByBounds: what a bound allows depends on all that has happened, so with it
// events depend on each other of which the relation says that they do not.
const missedByBounds = "the bounds have cut off orders that this strategy takes for known ones"

// asleep reports whether an event is among those that sleep.
func asleep(sleep []*act, e *world.Event) bool {
	return slices.ContainsFunc(sleep, func(a *act) bool { return a.event.SameAction(e) })
}

// awakened appends to left what still sleeps after an event.
func (r relation) awakened(left, sleep []*act, by *act) []*act {
	for _, a := range sleep {
		if !r.dependent(a, by) {
			left = append(left, a)
		}
	}
	return left
}
