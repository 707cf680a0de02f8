package run

import (
	"context"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// sooner tries the trace with messages that are less late: what would make one later is left for
// the natural event.
func (s *shrinking) sooner(ctx context.Context) error {
	for most := ariadne.Time(time.Second); most < s.size.Late && ctx.Err() == nil; most *= 2 {
		l, w := looseWay(s.system, s.trace)
		l.Edited = true
		w.by = soon{w.by, most}
		if better, err := s.follow(ctx, w, l.Watch); better || err != nil {
			return err
		}
	}
	return nil
}

// soon are the paths of an explorer, but that no message is late by more than most.
type soon struct {
	strategy.Explorer
	most ariadne.Time
}

// Next implements strategy.Explorer.
func (s soon) Next(p *space.Path) (event int, ok bool) {
	event, ok = s.Explorer.Next(p)
	if f := p.Last(); ok && f.State.Lateness(&f.Enabled[event]) > s.most {
		return 0, true
	}
	return event, ok
}

// Bounds on what is tried instead of many deviations.
const (
	manyDeviations = 6   // a fault costs less
	mostFaults     = 300 // executions with one fault
	mostLiving     = 20  // likewise, where nodes live
)

// oneFault tries, where there are many deviations, the natural schedule with one fault in their
// place.
func (s *shrinking) oneFault(ctx context.Context) error {
	if s.size.Deviations < manyDeviations || property.IsLiveness(s.wanted.Violation.Kind) ||
		s.system.Rules.Faults.None() {
		return nil
	}
	all := &faultsOn{}
	if _, err := s.follow(ctx, way{by: all}, nil); err != nil {
		return err
	}
	most := mostFaults
	if s.Space == nil {
		most = mostLiving
	}
	for _, at := range spread(len(all.steps), most) {
		if ctx.Err() != nil {
			return nil
		}
		place := all.steps[at]
		better, err := s.follow(ctx, way{by: &faultsOn{one: true, at: place.at, nth: place.nth}}, nil)
		if better || err != nil {
			return err
		}
	}
	return nil
}

// spread are up to most numbers below n, from all over them.
func spread(n, most int) (all []int) {
	most = min(n, most)
	for i := range most {
		all = append(all, i*n/most)
	}
	return all
}

// faultsOn is the natural schedule, with one fault if any, and says which faults there could be.
type faultsOn struct {
	one     bool
	at, nth int // the fault behind so many steps, and which of those there
	steps   []struct{ at, nth int }
}

// Begin implements strategy.Explorer.
func (*faultsOn) Begin(*space.Path) (keep int, ok bool) { return 0, true }

// Next implements strategy.Explorer.
func (x *faultsOn) Next(p *space.Path) (event int, ok bool) {
	f, n := p.Last(), 0
	for i := range f.Enabled[:f.Initial] {
		e := &f.Enabled[i]
		if world.KindOf(e.Kind).Fault == "" && !(e.Disturbed() && e.SameInput(&f.Enabled[0])) {
			continue
		}
		if x.one && p.Steps() == x.at && n == x.nth {
			return i, true
		}
		x.steps = append(x.steps, struct{ at, nth int }{p.Steps(), n})
		n++
	}
	return 0, true
}

// End implements strategy.Explorer.
func (*faultsOn) End(*space.Path, strategy.End) error { return nil }
