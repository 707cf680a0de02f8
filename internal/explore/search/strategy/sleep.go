package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func init() {
	register(Row{Name: "sleep-sets", Doc: "the same orders as dpor, found by trying all; gives up many paths", Orders: true, Again: true,
		Make: func(b *Builder) []Explorer { return (&SleepSets{}).Divide(b.Workers) }})
}

// SleepSets tries every event in every state, but for those that sleep: an event that
// was tried in a state is not tried again after others that it does not depend on
// (Godefroid, 1996). So it takes one path of each trace, as DPOR does, and gives up
// those that turn out to lead to a known one; of these there may be many.
type SleepSets struct {
	// Blocked counts the paths that were given up.
	Blocked int

	rel    relation
	share  *share[sleepers] // nil: it works alone
	since  int              // steps since something was given away
	follow                  // to where the levels begin
	first  []*act           // what sleeps there
	levels []sleeper        // by depth, from the end of the prefix on
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
	given bool // somebody else tries the others
}

// sleepers is what is left to try in the state at the end of a prefix: all that does
// not sleep.
type sleepers struct {
	prefix []int32
	sleep  []*act
}

// Divide implements Divisible.
func (*SleepSets) Divide(n int) []Explorer {
	share, m := newShare(n, sleepers{}), newMarks()
	var all []Explorer
	for range n {
		all = append(all, &SleepSets{share: share, follow: follow{marks: m}})
	}
	return all
}

// Begin implements Explorer.
func (s *SleepSets) Begin(p *space.Path) (keep int, ok bool) {
	s.rel = relationOf(p)
	if s.share == nil && !s.began {
		s.began = true
		s.marks = newMarks()
		return 0, true
	}
	for i := len(s.levels) - 1; i >= 0; i-- {
		l, n := &s.levels[i], len(s.prefix)+i
		if l.given {
			continue
		}
		l.sleep = append(l.sleep, l.act)
		p.StepVariations(n)
		s.rel.rouse(p, p.Frame(n), l.sleep)
		if s.wake(p.Frame(n), l) {
			s.levels = s.levels[:i+1]
			return n, true
		}
	}
	s.levels = nil
	if s.share == nil {
		return 0, false
	}
	piece, ok := s.share.take()
	s.prefix, s.first = piece.prefix, piece.sleep
	return s.begin(p), ok
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
	if event, ok = s.next(p); ok {
		return event, true
	}
	i := p.Len() - len(s.prefix)
	if i == len(s.levels) {
		if p.Last().Bounded && !s.bounded {
			s.bounded = true
			if s.share != nil {
				s.share.miss(missedByBounds)
			}
		}
		l := sleeper{sleep: s.first}
		if i > 0 {
			before := &s.levels[i-1]
			before.act = actOf(p, p.Len())
			l.sleep = s.rel.awakened(nil, before.sleep, before.act)
		}
		s.rel.rouse(p, p.Last(), l.sleep)
		if !s.wake(p.Last(), &l) {
			s.Blocked++
			return 0, false
		}
		s.levels = append(s.levels, l)
	}
	if s.since++; s.share != nil && s.since >= giveEvery && s.share.wanted() {
		s.give(p)
	}
	return s.levels[i].now, true
}

// give gives away what is left in the shallowest state that has anything left. The events that are
// being tried there sleep for the worker that takes it.
func (s *SleepSets) give(p *space.Path) {
	for i := range len(s.levels) - 1 {
		l, n := &s.levels[i], len(s.prefix)+i
		if l.given {
			continue
		}
		rest := sleeper{sleep: append(slices.Clone(l.sleep), l.act)}
		p.StepVariations(n)
		s.rel.rouse(p, p.Frame(n), rest.sleep)
		if s.wake(p.Frame(n), &rest) {
			s.share.give(sleepers{s.taken(p, n), rest.sleep})
			l.given, s.since = true, 0
			return
		}
	}
}

// End implements Explorer.
func (s *SleepSets) End(p *space.Path, e End) error {
	if i := p.Len() - len(s.prefix); i > 0 && i == len(s.levels) {
		s.levels[i-1].act = actOf(p, p.Len())
	}
	return nil
}

// TriesFaultsAtRest implements FaultTrier.
func (*SleepSets) TriesFaultsAtRest() bool { return true }

// Leave implements Leaver.
func (s *SleepSets) Leave() {
	if s.share != nil {
		s.share.leave()
	}
}

// Missed implements Exhaustive.
func (s *SleepSets) Missed() string {
	switch {
	case s.bounded:
		return missedByBounds
	case s.share == nil:
		return ""
	}
	return s.share.missed()
}

// missedByBounds: what a bound allows depends on all that has happened, so with it
// events depend on each other of which the relation says that they do not.
const missedByBounds = "the bounds cut off orders that the strategy takes for known ones"

// asleep reports whether an event is among those that sleep.
func asleep(sleep []*act, e *world.Event) bool {
	return slices.ContainsFunc(sleep, func(a *act) bool { return a.event.SameAction(e) })
}

// rouse makes known in a frame of the path what the events that sleep there could be varied to.
// Variations are other events, which do not sleep for that. Nobody takes the events that sleep, so
// nobody else would hear of their variations.
func (r relation) rouse(p *space.Path, f *space.Frame, sleep []*act) {
	if r.undisturbed || !slices.ContainsFunc(sleep, func(a *act) bool { return a.varies }) {
		return
	}
	for n := -1; n < len(f.Enabled); { // what is varied further may sleep too
		n = len(f.Enabled)
		for _, a := range sleep {
			if i := slices.IndexFunc(f.Enabled, func(e world.Event) bool { return e.SameAction(&a.event) }); a.varies &&
				i >= 0 {
				p.AddVariations(f, i)
			}
		}
	}
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
