package strategy

import (
	"fmt"
	"slices"

	"ariadne"
	"ariadne/internal/memo"
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
// Messages alone: exactly one path of each trace. Timers are alternatives as well:
// a node that gets a message may stop its timer, and one node's timer may keep
// another's events waiting. Such a step is in no path where it could race, and though
// reversals of that kind are looked for (stopped, blocked), a few traces in a hundred
// stay unseen; SleepSets misses none. Nor does a path that the bounds cut off early
// have races with what did not happen in it. Missed() tells of the former,
// space.Frame.Bounded of the latter.
type DPOR struct {
	// Backtracks is the greatest number of paths after the first; 0: no bound.
	Backtracks int
	// Choose chooses freely among the events that are not asleep, by their indices
	// in Enabled. nil: the first, the most natural one.
	Choose func(p *space.Path, awake []int) int

	// Blocked counts paths that were given up because all that was left was asleep:
	// they would have led to known traces. Optimal means that there are none.
	Blocked int
	// Impossible counts reversals that the rules turned out not to allow.
	Impossible int

	rel    relation
	levels []level // by depth: the states of the path at which a choice was made
	known  int     // steps of the path whose races have been looked at
	began  bool
	count  int  // paths after the first
	timers bool // there were any
	open   []reversal
	acts   []act
	clocks [][]int // by step, by node: the last step of the node that happens before it or is it
}

// level is what is known of a state on the path.
type level struct {
	sleep []act
	tree  []*wakeup // the first is the one that is being explored
}

// Begin implements Explorer.
func (d *DPOR) Begin(p *space.Path) (keep int, ok bool) {
	if !d.began {
		d.began = true
		d.rel = relation{p.System().Rules()}
		return 0, true
	}
	if d.Backtracks > 0 && d.count >= d.Backtracks {
		return 0, false
	}
	for n := len(d.levels) - 1; n >= 0; n-- {
		l := &d.levels[n]
		l.sleep = append(l.sleep, l.tree[0].act)
		l.tree = l.tree[1:]
		if len(l.tree) > 0 {
			d.levels = d.levels[:n+1]
			d.count++
			d.known = min(d.known, n)
			d.open = slices.DeleteFunc(d.open, func(r reversal) bool { return r.second > n })
			return n, true
		}
	}
	d.levels = nil
	return 0, false
}

// Next implements Explorer.
func (d *DPOR) Next(p *space.Path) (event int, ok bool) {
	n := p.Len()
	if n == len(d.levels) {
		d.levels = append(d.levels, d.arrive(p))
	}
	l := &d.levels[n]
	if len(l.tree) == 0 {
		awake := l.awake(p)
		if len(awake) == 0 {
			d.Blocked++
			d.levels = d.levels[:n]
			return 0, false
		}
		event = awake[0]
		if d.Choose != nil {
			event = d.Choose(p, awake)
		}
		l.tree = []*wakeup{{act: act{event: p.Last().Enabled[event]}}}
		return event, true
	}
	for i := range p.Last().Enabled {
		if p.Last().Enabled[i].SameAction(&l.tree[0].act.event) {
			return i, true
		}
	}
	d.Impossible++
	d.levels = d.levels[:n]
	return 0, false
}

// arrive is a state that the path has come to: what sleeps in the state before and
// does not depend on the step between sleeps on, and the sequences of the wake-up
// tree that begin with the step go on here.
func (d *DPOR) arrive(p *space.Path) level {
	n := p.Len()
	if n == 0 {
		return level{}
	}
	before := &d.levels[n-1]
	w := before.tree[0]
	w.act = actOf(p, n)
	l := level{tree: w.then}
	l.sleep = d.rel.awakened(before.sleep, &w.act)
	w.then = nil
	return l
}

// awake are the indices of the events that do not sleep.
func (l *level) awake(p *space.Path) []int {
	var awake []int
	for i := range p.Last().Enabled {
		e := &p.Last().Enabled[i]
		if !asleep(l.sleep, e) {
			awake = append(awake, i)
		}
	}
	return awake
}

// End implements Explorer: it looks for the races of the path's new steps.
func (d *DPOR) End(p *space.Path, e End) error {
	n := p.Len()
	if n > 0 && n == len(d.levels) {
		a := &d.levels[n-1].tree[0].act
		*a = actOf(p, n)
		a.ends = a.ends || e == Cut
	}
	if e == Given {
		return nil
	}
	d.order(p, e == Cut)
	if err := d.reverseAll(p); err != nil {
		return err
	}
	if e == Cut {
		return d.others(p)
	}
	return nil
}

// reversal is what is to be entered into a wake-up tree: that the event of step
// second happens before step first; or, when timer is set, that the timer fires
// which step second stopped. When early is set, it happens as early as it can,
// whatever it follows on this path. What it needs may come late in a path, so those
// that are not possible are tried again with other ends of it.
type reversal struct {
	race
	timer, early bool
}

// reverseAll tries the open reversals.
func (d *DPOR) reverseAll(p *space.Path) error {
	left := d.open[:0]
	for _, r := range d.open {
		done, err := true, error(nil)
		switch {
		case r.early || d.acts[r.second-1].event.Kind == ariadne.ActFire:
			done, err = d.advance(p, r)
		default:
			err = d.reverse(p, r.first, r.second)
		}
		if err != nil {
			return err
		}
		if !done {
			left = append(left, r)
		}
	}
	d.open = left
	return nil
}

// race is a pair of steps of the path that depend on each other with none between.
type race struct{ first, second int }

// order computes what happens before what on the path, and the races of its new
// steps. cut: the last one ended it.
func (d *DPOR) order(p *space.Path, cut bool) {
	n := p.Len()
	d.acts = d.acts[:d.known]
	for len(d.clocks) <= n {
		d.clocks = append(d.clocks, make([]int, len(p.Last().State.Nodes)))
	}
	for j := d.known + 1; j <= n; j++ {
		d.acts = append(d.acts, actOf(p, j))
		d.acts[j-1].ends = d.acts[j-1].ends || cut && j == n
		d.timers = d.timers || d.acts[j-1].after != ariadne.Never
		clear(d.clocks[j])
		var first []int
		d.predecessors(j, func(i int) { first = append(first, i) })
		d.clocks[j][d.acts[j-1].event.Node] = j
		for _, i := range first {
			if !d.enables(i, j) {
				d.open = append(d.open, reversal{race: race{i, j}})
			}
		}
		d.blocked(j, first)
		d.stopped(j)
	}
	d.known = n
}

// blocked are the reversals of step j with steps, besides the given ones, that kept
// it from happening for a while. What put an end to that stands between them, and
// cannot come after step j itself.
func (d *DPOR) blocked(j int, but []int) {
	for i := j - 1; i >= 1; i-- {
		if d.before(i, j) && !slices.Contains(but, i) && d.rel.blocks(&d.acts[i-1], &d.acts[j-1]) && !d.enables(i, j) {
			d.open = append(d.open, reversal{race: race{i, j}, early: true})
		}
	}
}

// predecessors computes the clock of step j, but for itself, and calls f with each
// step that it depends on with none between.
func (d *DPOR) predecessors(j int, f func(i int)) {
	clock := d.clocks[j]
	b := &d.acts[j-1]
	for i := j - 1; i >= 1; i-- {
		a := &d.acts[i-1]
		if clock[a.event.Node] >= i || !d.rel.dependent(a, b) {
			continue
		}
		for k, t := range d.clocks[i] {
			clock[k] = max(clock[k], t)
		}
		f(i)
	}
}

// before reports whether step i happens before step j, i <= j.
func (d *DPOR) before(i, j int) bool { return d.clocks[j][d.acts[i-1].event.Node] >= i }

// enables reports whether step j cannot come before step i because it would not be
// possible there.
func (d *DPOR) enables(i, j int) bool {
	a, b := &d.acts[i-1], &d.acts[j-1]
	switch {
	case d.rel.needs(a, b):
		return true
	case a.event.Node == b.event.Node && a.event.Kind == ariadne.ActStart:
		return true
	case a.event.Node == b.event.Node && b.event.Kind == ariadne.ActFire:
		return a.before == ariadne.Never
	}
	return a.event.Packet != nil && b.event.Packet != nil && b.event.Packet.Flow.Proto == ariadne.TCP &&
		a.event.Packet.SameFlow(b.event.Packet)
}

// reverse enters the sequence that has all steps after i that do not depend on it,
// and then the event of step j.
func (d *DPOR) reverse(p *space.Path, i, j int) error {
	l := &d.levels[i-1]
	var v []act
	var s space.State
	s.CopyFrom(&p.Frame(i - 1).State)
	for k := i + 1; k <= p.Len(); k++ {
		if d.before(i, k) {
			continue
		}
		a := d.acts[k-1]
		by, ok, err := d.happen(p, &s, &a.event)
		if err != nil {
			return err
		}
		if !ok {
			d.Impossible++
			return nil
		}
		a.by = by
		v = append(v, a)
	}
	e := d.acts[j-1].event
	n := s.Nodes[e.Node]
	by, ok, err := d.happen(p, &s, &e)
	if err != nil || !ok {
		return err // not possible before i: no race
	}
	b := newAct(p, &e, &n, by)
	b.ends = b.ends || d.acts[j-1].ends
	d.enter(l, append(v, b))
	return nil
}

// stopped are the reversals of step i with the timer that it has stopped or set
// anew: that it fires before step i, or before another since it was set.
func (d *DPOR) stopped(i int) {
	a := &d.acts[i-1]
	if a.event.Kind == ariadne.ActFire || a.before == ariadne.Never || a.before == a.after {
		return
	}
	for m := i; m >= 1; m-- {
		d.open = append(d.open, reversal{race{m, i}, true, true})
		if m > 1 && d.acts[m-2].event.Node == a.event.Node {
			return
		}
	}
}

// advance enters, for the state before the first step of r, the event of the second
// one: after all steps that it follows on this path, or early, and as many more as it
// needs, but none that depend on the first. Not done: it was not possible.
func (d *DPOR) advance(p *space.Path, r reversal) (done bool, err error) {
	var v []act
	var s space.State
	s.CopyFrom(&p.Frame(r.first - 1).State)
	b := &d.acts[r.second-1]
	for k := r.first; k <= p.Len()+1; k++ {
		if r.early || k >= r.second {
			n, e := s.Nodes[b.event.Node], b.event
			if r.timer {
				e.Kind, e.Packet = ariadne.ActFire, nil
			}
			by, ok, err := d.happen(p, &s, &e)
			if err != nil {
				return false, err
			}
			if ok {
				a := newAct(p, &e, &n, by)
				a.ends = a.ends || b.ends && !r.timer
				if d.rel.dependent(&d.acts[r.first-1], &a) {
					d.enter(&d.levels[r.first-1], append(v, a))
				}
				return true, nil
			}
		}
		if k > p.Len() || d.before(r.first, k) || k >= r.second && d.before(r.second, k) {
			continue
		}
		a := d.acts[k-1]
		if _, ok, err := d.happen(p, &s, &a.event); err != nil || !ok {
			return false, err
		}
		v = append(v, a)
	}
	return false, nil
}

// enter enters a sequence into the wake-up tree of a state, unless it was explored.
func (d *DPOR) enter(l *level, v []act) {
	for i := range l.sleep {
		if _, ok := d.rel.without(v, &l.sleep[i]); ok {
			return
		}
	}
	d.rel.insert(&l.tree, v)
}

// happen makes an event happen in s, at the time at which it is enabled there; not
// ok when it is not.
func (d *DPOR) happen(p *space.Path, s *space.State, e *world.Event) (by *memo.Transition, ok bool, err error) {
	var buf [16]world.Event
	for _, f := range p.System().Enabled(&s.State, buf[:0]) {
		if f.SameAction(e) {
			*e = f
			by, err = p.Space().Step(s, f)
			return by, true, err
		}
	}
	return nil, false, nil
}

// others enters, for a path that its last step has ended, all that could have
// happened before that step and did not.
func (d *DPOR) others(p *space.Path) error {
	for m := p.Len(); m >= 1; m-- {
		f := p.Frame(m - 1)
		for i := range f.Enabled {
			e := f.Enabled[i]
			if slices.ContainsFunc(d.acts[m-1:], func(a act) bool { return a.event.SameAction(&e) }) {
				continue
			}
			var s space.State
			s.CopyFrom(&f.State)
			by, _, err := d.happen(p, &s, &e)
			if err != nil {
				return err
			}
			if a := newAct(p, &e, &f.State.Nodes[e.Node], by); d.rel.dependent(&d.acts[m-1], &a) {
				d.enter(&d.levels[m-1], []act{a})
			}
		}
	}
	return nil
}

// Missed implements Exhaustive.
func (d *DPOR) Missed() string {
	switch {
	case d.Backtracks > 0 && d.count >= d.Backtracks && len(d.levels) > 0:
		return fmt.Sprintf("it was ended after %d backtracks", d.count)
	case d.timers:
		return "with timers, some orders may be missed"
	case d.Impossible > 0:
		return fmt.Sprintf("%d reversals were not possible", d.Impossible)
	}
	return ""
}
