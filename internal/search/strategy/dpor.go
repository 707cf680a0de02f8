package strategy

import (
	"fmt"
	"slices"

	"ariadne"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// DPOR is optimal dynamic partial order reduction (Abdulla et al., POPL 2014): of
// all paths that differ only in the order of independent events it takes one. When a
// path has ended, each pair of dependent events in it that could have come the other
// way round is a race, and what reverses it is entered into the wake-up tree of the
// state before, from which later paths are taken. Sleep sets keep out what was
// explored already.
//
// That finds everything as long as an event that is possible stays possible until it
// happens. Not so with timers, which others stop, hold up or make too dear, and at a
// path's end: an event that could have happened then is in no path where it would
// race. So a state in which such an event was taken is widened: all others that are
// awake are tried there too, as SleepSets does everywhere. No trace is missed, and none
// is taken twice; but some paths of a widened state may turn out to lead to known
// traces and are given up (Blocked).
type DPOR struct {
	// Backtracks is the greatest number of paths after the first; 0: no bound.
	Backtracks int
	// Branch is the number of steps among which other orders are tried; what comes
	// before and after them in a path is left as it is. 0: no bound.
	Branch int
	// First is the number of steps before them.
	First int
	// Choose chooses freely among the events that are not asleep, by their indices
	// in Enabled. nil: the first, the most natural one.
	Choose func(p *space.Path, awake []int) int

	// Blocked counts paths that were given up because all that was left was asleep.
	Blocked int
	// Widened counts the states at which all that was awake was tried.
	Widened int
	// Impossible counts reversals that the rules turned out not to allow.
	Impossible int

	rel    relation
	levels []level // by depth: the states of the path at which a choice was made
	acts   []*act  // the path's steps
	clocks [][]int // by step, by lane: the last step of the lane that happens before it or is it
	races  []race  // of the path's steps, by the second
	known  int     // steps of the path that are in clocks and races
	began  bool
	bound  bool // an event has set a timer or ended a path
	count  int  // paths after the first
	// bounded: the bounds have taken something away.
	bounded bool
	skipped int // races and states outside of First and Branch

	// Scratch memory.
	sequence []*act
	state    space.State
	events   []world.Event
	awake    []int
}

// level is what is known of a state on the path.
type level struct {
	sleep []*act
	tree  []*wakeup // the first is the one that is being explored
	wide  bool
	ahead ahead
}

// race is a pair of steps of the path that depend on each other with none between.
type race struct {
	first, second int
	settled       bool // no other end of the path needs a look at it
}

// Begin implements Explorer.
func (d *DPOR) Begin(p *space.Path) (keep int, ok bool) {
	if !d.began {
		d.began = true
		d.rel = relationOf(p)
		return 0, true
	}
	if d.Backtracks > 0 && d.count >= d.Backtracks {
		return 0, false
	}
	for n := len(d.levels) - 1; n >= 0; n-- {
		l := &d.levels[n]
		d.explored(p, n)
		if len(l.tree) > 0 {
			d.levels = d.levels[:n+1]
			d.count++
			d.known = min(d.known, n)
			return n, true
		}
		if n > 0 {
			d.levels[n-1].ahead.merge(&l.ahead)
		}
	}
	d.levels = d.levels[:0]
	return 0, false
}

// explored puts to sleep what has been explored in the state after n steps. When
// nothing else is to be, but the state must be widened, the next event that is awake is.
func (d *DPOR) explored(p *space.Path, n int) {
	l := &d.levels[n]
	f := p.Frame(n)
	a := l.tree[0].act
	a.disables = d.rel.disables(p, f, a, &l.ahead)
	l.sleep = append(l.sleep, a)
	l.tree = l.tree[1:]
	if len(l.tree) > 0 {
		return
	}
	if !l.wide {
		for _, a := range l.sleep {
			l.wide = l.wide || a.disables
		}
		if !l.wide {
			return
		}
		if d.leaves(n) {
			d.skipped++
			return
		}
		d.Widened++
	}
	for i := range f.Enabled {
		if !asleep(l.sleep, &f.Enabled[i]) {
			l.tree = append(l.tree, &wakeup{act: &act{event: f.Enabled[i]}})
			return
		}
	}
}

// Next implements Explorer.
func (d *DPOR) Next(p *space.Path) (event int, ok bool) {
	n := p.Len()
	f := p.Last()
	if n == len(d.levels) {
		d.arrive(p)
	}
	l := &d.levels[n]
	if len(l.tree) == 0 {
		d.awake = d.awake[:0]
		for i := range f.Enabled {
			if !asleep(l.sleep, &f.Enabled[i]) {
				d.awake = append(d.awake, i)
			}
		}
		if len(d.awake) == 0 {
			d.Blocked++
			d.levels = d.levels[:n]
			return 0, false
		}
		event = d.awake[0]
		if d.Choose != nil {
			event = d.Choose(p, d.awake)
		}
		l.tree = append(l.tree, &wakeup{act: &act{event: f.Enabled[event]}})
		return event, true
	}
	for i := range f.Enabled {
		if f.Enabled[i].SameAction(&l.tree[0].act.event) {
			return i, true
		}
	}
	d.Impossible++
	d.levels = d.levels[:n]
	return 0, false
}

// arrive enters the state that the path has come to: what sleeps in the state before
// and does not depend on the step between sleeps on, and the sequences of the wake-up
// tree that begin with the step go on here.
func (d *DPOR) arrive(p *space.Path) {
	n := p.Len()
	d.bounded = d.bounded || p.Last().Bounded
	if n < cap(d.levels) {
		d.levels = d.levels[:n+1]
	} else {
		d.levels = append(d.levels, level{})
	}
	l := &d.levels[n]
	l.sleep, l.tree, l.wide = l.sleep[:0], nil, false
	l.ahead.reset(p)
	if n > 0 {
		a := d.step(p)
		before := &d.levels[n-1]
		l.sleep = d.rel.awakened(l.sleep, before.sleep, a)
		l.tree, before.tree[0].then = before.tree[0].then, nil
	}
}

// looked notes whether an act has set a timer or ended a path. When it is the first to
// do so, races of the states on the path may have been settled as if there were none.
func (d *DPOR) looked(a *act) {
	if d.bound || a.after == ariadne.Never && !a.ends {
		return
	}
	d.bound = true
	for i := range d.levels {
		d.levels[i].wide = d.levels[i].wide || d.count > 0
	}
}

// step enters what the path's last step came to.
func (d *DPOR) step(p *space.Path) *act {
	n := p.Len()
	a := actOf(p, n)
	d.acts = append(d.acts[:n-1], a)
	d.looked(a)
	before := &d.levels[n-1]
	before.tree[0].act = a
	before.ahead.add(p, a)
	return a
}

// End implements Explorer: it looks for the races of the path's new steps.
func (d *DPOR) End(p *space.Path, e End) error {
	if e == Given {
		return nil
	}
	d.bounded = d.bounded || p.Last().Bounded
	if p.Len() > 0 {
		d.step(p)
	}
	d.order(p)
	for i := range d.races {
		r := &d.races[i]
		if r.settled && !d.bound {
			continue
		}
		var err error
		if r.settled, err = d.reverse(p, r); err != nil {
			return err
		}
	}
	return nil
}

// order computes what happens before what on the path, and its races.
func (d *DPOR) order(p *space.Path) {
	n := p.Len()
	for len(d.clocks) <= n {
		d.clocks = append(d.clocks, make([]int, d.lanes(p, len(d.clocks))))
	}
	kept := len(d.races)
	for kept > 0 && d.races[kept-1].second > d.known {
		kept--
	}
	d.races = d.races[:kept]
	for j := d.known + 1; j <= n; j++ {
		clock, b := d.clocks[j], d.acts[j-1]
		clear(clock)
		for i := j - 1; i >= 1; i-- {
			a := d.acts[i-1]
			if clock[d.lane(i)] >= i || !d.rel.dependent(a, b) {
				continue
			}
			for k, t := range d.clocks[i] {
				clock[k] = max(clock[k], t)
			}
			if !d.rel.enables(a, b) {
				d.races = append(d.races, race{first: i, second: j})
			}
		}
		clock[d.lane(j)] = j
	}
	d.known = n
}

// before reports whether step i happens before step j, i <= j.
func (d *DPOR) before(i, j int) bool { return d.clocks[j][d.lane(i)] >= i }

// lane of step i: the steps of a lane happen one after the other. They are those of a
// node, unless the user says that some of these may change places; then each step is a
// lane of its own.
func (d *DPOR) lane(i int) int {
	if d.rel.apart != nil {
		return i - 1
	}
	return int(d.acts[i-1].event.Node)
}

// lanes of the first n steps.
func (d *DPOR) lanes(p *space.Path, n int) int {
	if d.rel.apart != nil {
		return n
	}
	return len(p.Last().State.Nodes)
}

// leaves: no other event is to be tried in the state after n steps.
func (d *DPOR) leaves(n int) bool { return d.Branch > 0 && (n < d.First || n >= d.First+d.Branch) }

// reverse enters what reverses a race into the wake-up tree of the state before it:
// all later steps that do not come after the race's first, and its second. Settled:
// with whatever steps the path had gone on after the race, there would be no more to do.
func (d *DPOR) reverse(p *space.Path, r *race) (settled bool, err error) {
	if d.leaves(r.first - 1) {
		d.skipped++
		return true, nil
	}
	v := d.sequence[:0]
	between := 0
	for k := r.first + 1; k <= p.Len(); k++ {
		if !d.before(r.first, k) {
			v = append(v, d.acts[k-1])
			if k < r.second {
				between++
			}
		}
	}
	d.sequence = v
	// Without timers and ends, the second has nothing to do with what comes later and
	// does not come after the first.
	at := between
	if d.bound {
		at = len(v)
	}
	b, err := d.after(p, p.Frame(r.first-1), v[:at], d.acts[r.second-1])
	if err == nil && d.bound && at < len(v) { // since now
		at = len(v)
		b, err = d.after(p, p.Frame(r.first-1), v, d.acts[r.second-1])
	}
	if err != nil || b == nil {
		return true, err // not possible before the first: no race
	}
	v = slices.Insert(v, at, b)
	d.sequence = v
	l := &d.levels[r.first-1]
	explored := false
	for _, a := range l.sleep {
		if i, ok := d.rel.initial(v, a); ok {
			explored = true
			settled = settled || 0 <= i && i <= between
		}
	}
	if explored {
		return settled, nil
	}
	return d.rel.insert(&l.tree, v, between+1), nil
}

// after is what the event of a comes to after the sequence v from the state of f; nil
// when it is not possible there.
func (d *DPOR) after(p *space.Path, f *space.Frame, v []*act, a *act) (*act, error) {
	s := &d.state
	s.CopyFrom(&f.State)
	for _, b := range v {
		e := b.event
		if !p.System().Pending(&s.State, &e) {
			d.Impossible++
			return nil, nil
		}
		if _, err := p.Space().Step(s, e); err != nil {
			return nil, err
		}
	}
	d.events = p.System().Enabled(&s.State, d.events[:0])
	limit := p.Bounds().Time
	for i := range d.events {
		if e := &d.events[i]; e.SameAction(&a.event) && (limit == 0 || e.At <= limit) {
			n := s.Nodes[e.Node]
			by, err := p.Space().Step(s, *e)
			if err != nil {
				return nil, err
			}
			b := newAct(p, e, &n, by)
			d.looked(b)
			return b, nil
		}
	}
	return nil, nil
}

// Missed implements Exhaustive.
func (d *DPOR) Missed() string {
	switch {
	case d.Backtracks > 0 && d.count >= d.Backtracks && len(d.levels) > 0:
		return fmt.Sprintf("it was ended after %d backtracks", d.count)
	case d.skipped > 0:
		return fmt.Sprintf("other orders of what comes before or after %d steps", d.Branch)
	case d.Impossible > 0:
		return fmt.Sprintf("%d reversals were not possible", d.Impossible)
	case d.bounded:
		return missedByBounds
	}
	return ""
}
