package live

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// aims follows goals: what must become true within a time. Times are those of the agents' clocks.
type aims struct {
	goals    []property.Goal
	patience time.Duration
	states   []aim
	until    ariadne.Time // up to when time has passed
	unsure   bool         // the last moment was not judged, so each goal may be met now
}

// aim is what is known of one goal.
type aim struct {
	waits       bool         // something must become true
	open        bool         // it had to, and nobody knows whether it has
	since       ariadne.Time // from when on that is certain
	first       ariadne.Time // since when it may be so
	holds       bool         // it is true
	perhaps     bool         // nobody knows that, because a moment was not judged
	from        ariadne.Time // with holds or perhaps: since when it may be so
	sure        ariadne.Time // from when on that is certain
	reported    bool
	interrupted int // how often a state was not judged while the goal waited
	late        int // how often it was met so late that it may have been too late
	vague       int // likewise, because nobody knows the time exactly
}

func (a *aims) init(goals []property.Goal, patience time.Duration) {
	a.goals, a.patience, a.states = goals, patience, make([]aim, len(goals))
}

// judge enters what a snapshot says of the goals.
func (a *aims) judge(v *Verifier, e *event) error {
	if len(a.goals) == 0 {
		return nil
	}
	when, holds := v.judge.Aims(&v.snapshot)
	if err := v.judge.Err(); err != nil {
		return err
	}
	a.unsure = false
	for i := range a.states {
		s, bit := &a.states[i], uint64(1)<<i
		if holds&bit == 0 {
			if s.holds || s.perhaps {
				s.holds, s.perhaps = false, false
				if e.At >= s.from.Add(a.goals[i].StableFor) {
					s.interrupt() // it may have been true for long enough
				}
			}
			if when&bit != 0 {
				s.wait(e)
			}
			continue
		}
		if !s.holds {
			if !s.perhaps {
				s.from = e.After
			}
			s.holds, s.perhaps, s.sure = true, false, e.At
		}
		if a.goals[i].StableFor == 0 {
			a.met(i, e.At)
		} else if when&bit != 0 {
			s.wait(e)
		}
	}
	return nil
}

// wait enters that something must become true from an event on.
func (s *aim) wait(e *event) {
	if s.waits {
		return
	}
	if !s.open {
		s.first, s.reported = e.After, false
	}
	s.waits, s.open, s.since = true, false, e.At
}

// glimpse enters what a snapshot says of the goals that lasted for too short a time to be judged.
func (a *aims) glimpse(v *Verifier, e *event) error {
	if len(a.goals) == 0 {
		return nil
	}
	certain := v.order.divides() // there was such a state
	v.fill()
	_, holds := v.judge.Aims(&v.snapshot)
	for i := range a.states {
		s := &a.states[i]
		switch is := holds&(1<<i) != 0; {
		case a.goals[i].StableFor > 0:
			if is != s.holds {
				s.doubt(e)
			}
		case !is:
		case certain:
			a.met(i, e.At)
		default:
			s.interrupt()
		}
	}
	return v.judge.Err()
}

// doubt enters that nobody knows whether a goal that must stay true is true from an event on.
func (s *aim) doubt(e *event) {
	if !s.holds && !s.perhaps {
		s.from = e.After
	}
	s.holds, s.perhaps = false, true
	s.interrupt()
}

// met enters that a goal is met by what became true at a time at the latest.
func (a *aims) met(i int, at ariadne.Time) {
	s := &a.states[i]
	switch {
	case !a.overdue(i, at):
	case s.interrupted > 0:
		s.late++
	case a.goals[i].Within > 0:
		s.vague++
	}
	s.waits, s.open, s.reported, s.interrupted = false, false, false, 0
}

// overdue reports whether a goal that may wait is met too late at a time, if it waits for as long
// as it can. Goals that are certainly late were reported.
func (a *aims) overdue(i int, at ariadne.Time) bool {
	s, limit := &a.states[i], a.limit(&a.goals[i])
	return (s.waits || s.open) && !s.reported && limit > 0 && at > s.first.Add(limit)
}

// limit is how long a goal may take.
func (a *aims) limit(g *property.Goal) time.Duration {
	if g.Within > 0 {
		return g.Within
	}
	return a.patience
}

// pass lets time pass up to until, in the state of the last snapshot.
func (a *aims) pass(v *Verifier, until ariadne.Time) error {
	a.until = max(a.until, until)
	if a.unsure {
		return nil
	}
	for i := range a.states {
		s, g := &a.states[i], &a.goals[i]
		if s.holds && until >= s.sure.Add(g.StableFor) {
			a.met(i, s.sure)
		}
		limit := a.limit(g)
		if !s.waits || s.holds || s.reported || limit <= 0 || until <= s.since.Add(limit) {
			continue
		}
		s.reported = true
		kind := property.Dead
		if g.Within == 0 {
			kind = property.Suspected
		}
		text := fmt.Sprintf("%s: not true within %v since %v", g.Name, limit, s.since)
		if g.StableFor > 0 {
			text += fmt.Sprintf(" (for %v)", g.StableFor)
		}
		v.report(kind, text+": "+v.judge.Reads(i, &v.snapshot), s.since.Add(limit))
	}
	return nil
}

// interrupt enters that a moment after an event was not judged: each goal may have been true then,
// or not.
func (a *aims) interrupt(e *event) {
	a.unsure = true
	for i := range a.states {
		if s := &a.states[i]; a.goals[i].StableFor > 0 {
			s.doubt(e)
		} else {
			s.interrupt()
		}
	}
}

// interrupt enters that the goal may have been met at a moment.
func (s *aim) interrupt() {
	if s.waits && !s.reported {
		s.interrupted++
		s.waits, s.open = false, true
	}
}

func (a *aims) doubts() (all []string) {
	for i := range a.states {
		s := &a.states[i]
		n := s.late
		if s.interrupted > 0 && a.overdue(i, a.until) {
			n++
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: it may have come too late, because moments could not be judged%s",
				a.goals[i].Name, times(n)))
		}
		if s.vague > 0 {
			all = append(all, fmt.Sprintf(
				"%s: it may have come too late, because the times of events are not known exactly%s", a.goals[i].Name,
				times(s.vague)))
		}
	}
	return all
}
