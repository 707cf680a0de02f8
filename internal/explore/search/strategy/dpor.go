package strategy

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func init() {
	register(Row{Name: "dpor", Doc: "one path of each partial order of events; bounded by --branch, --backtracks", Orders: true, Again: true,
		Make: func(b *Builder) []Explorer {
			return (&DPOR{Backtracks: b.Backtracks, Branch: b.Branch}).Divide(b.Workers)
		}})
}

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
// traces and are given up (Blocked). With timers it takes as many paths as SleepSets
// does, which may be more than there are traces by State.Trace: orders that differ only
// in what the shared clock held back count as one there.
//
// Several of them share the tree of paths (execTree). They take as many paths as one
// alone, of the same traces; which order of independent events stands for a trace depends
// on who comes first. Only what the bounds Backtracks and Branch leave may differ.
type DPOR struct {
	// Backtracks is the greatest number of paths after the first.
	Backtracks space.Bound
	// Branch is the number of steps among which other orders are tried; what comes
	// before and after them in a path is left as it is.
	Branch space.Bound
	// First is the number of steps before them.
	First int
	// Choose chooses freely among the events that are not asleep, by their indices
	// in Enabled: event, or awake where event sleeps. nil: the first, the most natural one.
	Choose func(p *space.Path, choices []int) (event, awake int)

	// Undisturbed: no event is varied unless Choose says so.
	Undisturbed bool

	// Kept is how many states of the execution tree that are done may be kept, before all
	// workers explore where the first of them can be forgotten; 0: 65,536.
	Kept int

	// Blocked counts paths that were given up because all that was left was asleep.
	Blocked int
	// Widened counts the states at which all that was awake was tried.
	Widened int
	// Impossible counts reversals that the rules turned out not to allow.
	Impossible int

	rel     relation
	tree    *execTree
	path    []level // by depth: the states of the path at which a choice was made
	acts    []*act  // the path's steps
	clocks  [][]int // by step, by lane: the last step of the lane that happens before it or is it
	races   []race  // of the path's steps, by the second
	known   int     // steps of the path that are in clocks and races
	network int     // the lane of what happens to the network

	// Scratch memory.
	free     []*vertex
	sequence []*act
	state    space.State
	events   []world.Event
	choices  []int
	chosen   act // freely; of it the event alone is known
}

// level is a state on the path.
type level struct {
	at *vertex
	id uint64 // of at
	// what the path takes; nil: that was not possible, and counts as live until the path is given
	// up
	via   *wakeup
	sleep []*act // what sleeps after it, unless it depends on it
}

// race is a pair of steps of the path that depend on each other with none between.
type race struct {
	first, second int
	settled       bool // no other end of the path needs a look at it
}

// Divide implements Divisible. Choose may be asked by several at the same time.
func (d *DPOR) Divide(n int) []Explorer {
	t := newExecTree(n)
	t.undisturbed = d.Undisturbed
	var all []Explorer
	for range n {
		e := *d
		e.tree = t
		all = append(all, &e)
	}
	return all
}

// Begin implements Explorer: it goes on from the deepest state of its path that has
// anything left, or helps others.
func (d *DPOR) Begin(p *space.Path) (keep int, ok bool) {
	if d.tree == nil {
		d.tree = newExecTree(1)
		d.tree.undisturbed = d.Undisturbed
	}
	t := d.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	d.rel = relationOf(p)
	d.rel.undisturbed = d.Undisturbed
	if !t.began {
		t.began = true
		// What a path spends later on keeps other things from happening, and no race tells of that.
		t.bound.Store(!d.Undisturbed && d.rel.rules.Faults != world.Faults{} || p.Space().Probes())
		if d.Kept > 0 {
			t.most = d.Kept
		}
		return 0, true
	}
	v := d.back(p)
	if t.done > t.most {
		v = t.next(true)
	}
	if v == nil {
		if !t.await(func() bool { return t.cut || t.offers > 0 }) {
			return 0, false
		}
		v = t.next(t.done > t.most)
	}
	if d.Backtracks.Reached(t.count) {
		t.cut = true
		t.some.Broadcast()
		return 0, false
	}
	t.count++
	return d.take(v), true
}

// back goes back on a path that has ended: what is over on it is closed. It returns the
// deepest state in which anything is left to begin, or nil.
func (d *DPOR) back(p *space.Path) *vertex {
	i := len(d.path) - 1
	for ; i >= 0; i-- {
		v, w := d.path[i].at, d.path[i].via
		if i < p.Len() && !d.Undisturbed {
			p.StepVariations(i)
		}
		if w == nil { // what was to be taken was not possible
			v.live--
		} else {
			w.act.disables = w.act.disables || d.rel.disables(p, p.Frame(i), w.act, &v.ahead)
			d.over(v, w)
		}
		if v.live > 0 || len(v.tree) > 0 || d.widen(p, p.Frame(i), v) {
			break
		}
		if v.waits() {
			d.rel.rouse(p, p.Frame(i), v.sleep) // others may have begun what sleeps
		}
		d.tree.finished(v, p.Frame(i))
	}
	for ; i >= 0; i-- {
		if d.path[i].at.offered {
			return d.path[i].at
		}
	}
	return nil
}

// widen has the next event that is awake in a state, of which f is the frame, tried when
// the state must be widened.
func (d *DPOR) widen(p *space.Path, f *space.Frame, v *vertex) bool {
	if from, to := f.UntimedFaults(); from < to && !d.Undisturbed {
		v.wide = true // that these can happen does not mean that they ever do
	}
	if p.Space().Probes() && f.MayBeLate() {
		v.wide = true // nor what a message's arrival takes away
	}
	for i := 0; i < len(v.sleep) && !v.wide; i++ {
		v.wide = v.sleep[i].disables
	}
	if !v.wide {
		return false
	}
	d.rel.rouse(p, f, v.sleep)
	w := d.tree.awake(v, f)
	if w == nil {
		return false
	}
	if d.leaves(v.depth) {
		d.tree.skipped.Store(true)
		return false
	}
	d.widened(v)
	v.tree = append(v.tree, w)
	d.tree.offer(v)
	return true
}

// take begins the next branch of a vertex. The path stays as it is as far as it leads there.
func (d *DPOR) take(v *vertex) (keep int) {
	w := d.tree.pop(v)
	old := len(d.path)
	for len(d.path) <= v.depth {
		d.path = append(d.path, level{})
	}
	d.path = d.path[:v.depth+1]
	for u := v; ; u = u.parent {
		l := &d.path[u.depth]
		common := u.depth < old && l.at == u && l.id == u.id
		*l = level{at: u, id: u.id, via: w, sleep: u.sleep}
		if u != v {
			l.sleep = u.sleep[:u.inherited+w.at]
		}
		if common || u.parent == nil {
			keep = u.depth
			break
		}
		w = u.via
	}
	d.acts = d.acts[:min(keep, len(d.acts))]
	for i := keep; i < v.depth; i++ {
		d.acts = append(d.acts, d.path[i].via.act)
	}
	d.known = min(d.known, keep)
	return keep
}

// Next implements Explorer.
func (d *DPOR) Next(p *space.Path) (event int, ok bool) {
	n := p.Len()
	if n == len(d.path) && !d.arrive(p) {
		return d.choose(p)
	}
	w := d.path[n].via
	if i, ok := p.Find(&w.act.event); ok || p.Err() != nil {
		return i, ok
	}
	if n < len(d.path)-1 {
		panic("a path cannot be taken again")
	}
	d.impossible()
	v, t := d.path[n].at, d.tree
	d.path[n].via = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	v.busy = nil
	d.enterLate(v, len(v.sleep))
	t.offer(v)
	return 0, false
}

// arrive enters the state that the path has come to into the tree: what sleeps in the
// state before and does not depend on the step between sleeps on, and the sequences of
// the wake-up tree that begin with the step go on here. Not ok: there are none.
func (d *DPOR) arrive(p *space.Path) (ok bool) {
	n, t := p.Len(), d.tree
	v := d.vertex()
	v.ahead.reset(p)
	if n > 0 {
		a := d.step(p)
		v.sleep = d.rel.awakened(v.sleep, d.path[n-1].sleep, a)
		v.inherited = len(v.sleep)
		d.rel.rouse(p, p.Last(), v.sleep)
		d.looked(a)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bounded = t.bounded || p.Last().Bounded
	if n > 0 {
		d.enterStep(p, v)
	} else {
		t.root = v
	}
	d.path = append(d.path, level{at: v, id: v.id, sleep: v.sleep})
	if len(v.tree) > 0 {
		d.path[n].via = t.pop(v)
		return true
	}
	v.busy = &wakeup{act: &d.chosen}
	v.live = 1
	d.path[n].via = v.busy
	return false
}

// vertex returns an empty one.
func (d *DPOR) vertex() *vertex {
	n := len(d.free)
	if n == 0 {
		return &vertex{}
	}
	v := d.free[n-1]
	d.free = d.free[:n-1]
	clear(v.begun)
	*v = vertex{sleep: v.sleep[:0], begun: v.begun[:0], ahead: v.ahead}
	return v
}

// choose chooses freely among the events that are awake in the state to which the path
// has come.
func (d *DPOR) choose(p *space.Path) (event int, ok bool) {
	n, f := p.Len(), p.Last()
	l := &d.path[n]
	d.choices = d.choices[:0]
	for i := range f.Enabled {
		if !asleep(l.sleep, &f.Enabled[i]) {
			d.choices = append(d.choices, i)
		}
	}
	if len(d.choices) == 0 {
		d.Blocked++
		d.tree.mu.Lock()
		defer d.tree.mu.Unlock()
		if len(l.at.late) > 0 {
			d.impossible()
		}
		d.path[n-1].via.to = nil
		d.free = append(d.free, l.at)
		d.path = d.path[:n]
		return 0, false
	}
	event = d.choices[0]
	if d.Choose != nil {
		var awake int
		if event, awake = d.Choose(p, d.choices); asleep(l.sleep, &f.Enabled[event]) {
			event = awake
		}
	}
	// Nobody else looks at it before it is known what it comes to.
	d.chosen.event = f.Enabled[event]
	return event, true
}

// step enters the path's last step.
func (d *DPOR) step(p *space.Path) *act {
	n := p.Len()
	a := actOf(p, n)
	d.acts = append(d.acts[:n-1], a)
	return a
}

// enterStep enters the path's last step into the tree, and the vertex that it has led to
// unless the path has ended.
func (d *DPOR) enterStep(p *space.Path, to *vertex) {
	n := p.Len()
	l, a := &d.path[n-1], d.acts[n-1]
	l.at.ahead.add(p, a)
	d.tree.known(l.at, a, to)
	d.enterLate(l.at, len(l.at.sleep)-1)
}

// looked notes whether an act has set a timer, taken a node down, parted the network or ended a
// path. When it is the first to do so, races may have been settled as if there were none.
func (d *DPOR) looked(a *act) {
	t := d.tree
	if a.after == ariadne.Never && a.back == ariadne.Never && a.Partition == nil && !a.ends || t.bound.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.bound.Swap(true) && t.count > 0 {
		d.widenAll(t.root)
	}
}

// impossible notes that what should have been possible was not.
func (d *DPOR) impossible() {
	d.Impossible++
	d.tree.impossible.Store(true)
}

// End implements Explorer: it looks for the races of the path's new steps.
func (d *DPOR) End(p *space.Path, e End) error {
	if e == Given {
		return nil
	}
	d.ended(p)
	d.order(p)
	for i := range d.races {
		r := &d.races[i]
		if r.settled && !d.tree.bound.Load() {
			continue
		}
		var err error
		if r.settled, err = d.reverse(p, r); err != nil {
			return err
		}
	}
	return nil
}

// ended enters the last step of a path.
func (d *DPOR) ended(p *space.Path) {
	if p.Len() > 0 {
		d.looked(d.step(p))
	}
	d.tree.mu.Lock()
	defer d.tree.mu.Unlock()
	d.tree.bounded = d.tree.bounded || p.Last().Bounded
	if p.Len() > 0 {
		d.enterStep(p, nil)
	}
}

// order computes what happens before what on the path, and its races.
func (d *DPOR) order(p *space.Path) {
	n := p.Len()
	d.network = len(p.Last().State.Nodes)
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

// lane of step i: the steps of a lane happen one after the other. They are those of a node, or of
// the network, unless the user says that some of these may change places; then each step is a lane
// of its own.
func (d *DPOR) lane(i int) int {
	if d.rel.apart != nil {
		return i - 1
	}
	if a := d.acts[i-1]; a.Partition == nil {
		return int(a.event.Node)
	}
	return d.network
}

// lanes of the first n steps.
func (d *DPOR) lanes(p *space.Path, n int) int {
	if d.rel.apart != nil {
		return n
	}
	return len(p.Last().State.Nodes) + 1
}

// leaves: no other event is to be tried in the state after n steps.
func (d *DPOR) leaves(n int) bool {
	most, ok := d.Branch.Limit()
	return ok && (n < d.First || n >= d.First+most)
}

// reverse enters what reverses a race into the wake-up tree of the state before it:
// all later steps that do not come after the race's first, and its second. Settled:
// with whatever steps the path had gone on after the race, there would be no more to do.
func (d *DPOR) reverse(p *space.Path, r *race) (settled bool, err error) {
	if d.leaves(r.first - 1) {
		d.tree.skipped.Store(true)
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
	// Without timers, ends and faults, the second has nothing to do with what comes later and
	// does not come after the first.
	at, bound := between, &d.tree.bound
	if bound.Load() {
		at = len(v)
	}
	b, err := d.after(p, p.Frame(r.first-1), v[:at], d.acts[r.second-1])
	if err == nil && bound.Load() && at < len(v) { // since now
		at = len(v)
		b, err = d.after(p, p.Frame(r.first-1), v, d.acts[r.second-1])
	}
	if err != nil || b == nil {
		return true, err // not possible before the first: no race
	}
	v = slices.Insert(v, at, b)
	d.sequence = v
	l := &d.path[r.first-1]
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
	d.tree.mu.Lock()
	defer d.tree.mu.Unlock()
	return d.enter(l.at, len(l.sleep), l.via.act, v, between+1), nil
}

// after is what the event of a comes to after the sequence v from the state of f; nil
// when it is not possible there.
func (d *DPOR) after(p *space.Path, f *space.Frame, v []*act, a *act) (*act, error) {
	s := &d.state
	s.CopyFrom(&f.State)
	for _, b := range v {
		e := b.event
		if !p.System().Pending(&s.State, &e) {
			d.impossible()
			return nil, nil
		}
		if _, err := p.Space().Step(s, &e); err != nil {
			return nil, err
		}
	}
	e, err := d.possible(p, s, &a.event)
	if e == nil || err != nil {
		return nil, err
	}
	n, deaf := s.Nodes[e.Node], s.IsDeaf(e.Node)
	by, err := p.Space().Step(s, e)
	if err != nil {
		return nil, err
	}
	b := newAct(p, e, &n, deaf, by)
	d.looked(b)
	return b, nil
}

// possible is the event of s that is the same action as another state's, or nil.
func (d *DPOR) possible(p *space.Path, s *space.State, action *world.Event) (*world.Event, error) {
	var err error
	if d.events, err = p.Space().Enabled(s, d.events[:0]); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.events, func(e world.Event) bool { return e.SameInput(action) })
	if i < 0 && p.System().Lasts(action) {
		if of := action.IndexOfLength(d.events); of >= 0 {
			d.events, i = append(d.events, d.events[of].WithLength(action.OutageLength())), len(d.events)
		}
	}
	if limit := p.Bounds().Time; i < 0 || limit > 0 && d.events[i].At > limit {
		return nil, nil
	}
	if action.Varied.Variation() == "" {
		return &d.events[i], nil
	}
	if ok, err := p.Space().CanVary(s, &d.events[i], action.Varied.Variation()); !ok || err != nil {
		return nil, err
	}
	e, err := d.events[i].VariedAs(action.Varied.Variation())
	return &e, err
}

// TriesFaultsAtRest implements FaultTrier.
func (d *DPOR) TriesFaultsAtRest() bool { return !d.Undisturbed }

// Leave implements Leaver.
func (d *DPOR) Leave() {
	if d.tree != nil {
		d.tree.leave()
	}
}

// Missed implements Exhaustive.
func (d *DPOR) Missed() string {
	t := d.tree
	t.mu.Lock()
	cut, bounded, count := t.cut, t.bounded, t.count
	t.mu.Unlock()
	switch {
	case cut:
		return fmt.Sprintf("the search ended after %d backtracks (--backtracks)", count)
	case t.skipped.Load():
		n, _ := d.Branch.Limit()
		return fmt.Sprintf("other orders were tried for %d steps of a path only (--branch)", n)
	case t.impossible.Load():
		return "some pairs of events could not be reversed"
	case bounded:
		return missedByBounds
	}
	return t.missed()
}
