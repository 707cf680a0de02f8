package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// bound is how long walks are (search.Liveness.Bound). The first worker that needs it computes it
// for all. The crew's mu guards it.
type bound struct {
	sought, known bool
	steps         []int
	bound         int
	longest       int // that walks were found to need after all; 0: none
	err           error
}

// longestWalk is how many steps walks were found to need after they had been taken for not live.
func (x *explorer) longestWalk() (n int) {
	x.crew.announce(func() { n = x.bound.longest })
	return n
}

// goals looks after what must happen, for a worker.
type goals struct {
	worker  *worker
	look    *search.Liveness
	idle    *search.Liveness // helps others when there is nothing more to explore
	busy    bool             // it looks, or helps
	helped  int64            // the number of the last task (crew)
	did     work.Liveness    // that is not in the report yet
	entered int              // of look.Work
	sampled int              // of look.Work: to find out how long walks are
}

// needsFrozen says why a search of nodes that live cannot look after what must happen, or nil.
func (x *explorer) needsFrozen() error {
	all := x.check.system.Spec.Properties.Goals
	if len(all) == 0 || !x.row.Lives {
		return nil
	}
	return &ariadne.SetupError{Err: fmt.Errorf("property %q needs walks from frozen states, and strategy %s freezes nothing: choose another strategy", all[0].Name, x.row.Name)}
}

// needsGoals says why a search cannot begin in a steady state, or nil.
func (x *explorer) needsGoals() error {
	if !x.check.opts.Search.FromLive || x.hasGoals() {
		return nil
	}
	return &ariadne.SetupError{Err: errors.New("from live: the spec has no property with eventually or leads_to")}
}

// hasGoals reports whether there is something that must happen.
func (x *explorer) hasGoals() bool { return len(x.check.system.Spec.Properties.Goals) > 0 }

// hasTimes reports whether something must happen within a time.
func (x *explorer) hasTimes() bool {
	return slices.ContainsFunc(x.check.system.Spec.Properties.Goals, func(g property.Goal) bool { return g.Within > 0 })
}

// newGoals returns who looks after the goals of a worker's search, or nil when there are none.
func (w *worker) newGoals(ctx context.Context) (*goals, error) {
	l, err := search.NewLiveness(w.search)
	if l == nil || err != nil {
		return nil, err
	}
	x := w.explorer
	l.Seed, l.Weights, l.Seen = x.check.system.Spec.Seed, x.check.opts.Search.Weights, x.looked
	l.Watch = w.noteRefusals
	if n := x.check.opts.Search.Walks; n > 0 {
		l.Walks = n
	}
	l.Over = func() bool { return x.over.Load() || x.check.stopped(ctx) }
	l.Clock = x.elapsed
	g := &goals{worker: w, look: l}
	idle, err := g.newLooking(w.search.Space.ForkSpace(), 0)
	if err != nil {
		return nil, err
	}
	g.idle = idle.Liveness
	if x.check.opts.Workers > 1 {
		l.Share = func(f func(*search.Liveness)) { x.crew.shareWalks(l, f) }
	}
	return g, nil
}

// helpOthers takes walks for another worker that needs many, between two steps.
func (g *goals) helpOthers() {
	if g.busy {
		return
	}
	g.busy = true
	defer func() { g.busy = false }()
	g.helped = g.worker.explorer.crew.help(g.look, g.helped)
}

// calibrate finds out how long walks are, unless it is known.
func (g *goals) calibrate() error {
	x := g.worker.explorer
	b, sought := &x.bound, false
	x.crew.announce(func() { sought, b.sought = b.sought, true })
	if sought {
		x.crew.helpUntil(g.look, func() bool { return b.known })
		g.look.Bound = b.bound
		return b.err
	}
	steps, err := g.look.Calibrate(g.worker.search.Bounds)
	g.sampled = g.look.Work()
	g.worker.giveResult(&work.Result{Cover: work.Cover{Liveness: &work.Liveness{Bound: g.look.Bound, Sampled: steps}}})
	x.crew.announce(func() { b.known, b.steps, b.bound, b.err = true, steps, g.look.Bound, err })
	return err
}

// statesToWalkFrom are those on a path that has ended from which walks are to be taken, by their
// steps: the last, one that is drawn, and those from which a time counts. Walks take no more than
// about half of all steps, but where nothing can happen they take none.
func (g *goals) statesToWalkFrom(p *space.Path) []int {
	n := p.Steps()
	over := g.worker.explorer.world.IsOver(&p.Last().State.State)
	begins := g.look.WaitsFrom(p)
	if (!over || len(begins) > 0) && g.look.Work()-g.sampled > g.worker.search.Coverage.Steps-g.look.Work()+freeSteps {
		g.did.Skipped++
		begins = nil
		if !over {
			return nil
		}
	}
	all := []int{n}
	// most lie on what this path has in common with others; to fork one is dear
	for _, i := range begins {
		if g.worker.explorer.looked.Add(p.Hash(p.FrameAt(i)).Plus(hash.Of(0, 0, 43))) {
			all = append(all, i)
		}
	}
	if !over && n > 0 {
		all = append(all, int(p.Hash(p.Last()).Hi%uint64(n)))
	}
	return all
}

// freeSteps may be taken by walks before a search has taken as many.
const freeSteps = 20_000

// lookAfterEnd looks after the goals from states of a path that has ended. found: one is not live,
// and the path has been entered as an execution that shows that.
func (g *goals) lookAfterEnd(ctx context.Context, p *space.Path) (found bool, err error) {
	c := g.worker.explorer.crew
	g.busy = true
	c.announce(func() { c.looking++ })
	defer func() {
		g.busy = false
		c.announce(func() { c.looking-- })
	}()
	if err := g.calibrate(); err != nil {
		return false, err
	}
	for _, n := range g.statesToWalkFrom(p) {
		r, err := g.look.TakeWalk(p, n)
		if err != nil {
			return false, err
		}
		switch {
		case r.Known:
			continue
		case r.Live && r.Quiet:
			g.did.Quiet++
		case r.Live:
			g.did.Live++
			g.did.Most = max(g.did.Most, r.Steps)
			g.did.States++
		case r.Stuck == nil:
			g.did.GivenUp++
			g.did.States++
		default:
			g.did.States++
			if found, err := g.examineStuck(ctx, r.Stuck); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// examineStuck finds out what there is to an execution that is stuck, and enters it if it is a
// violation.
func (g *goals) examineStuck(ctx context.Context, s *search.Stuck) (found bool, err error) {
	if found, err = g.findOut(ctx, s); !found && errors.Is(err, ariadne.ErrInterrupted) {
		g.enterDoubt(s)
	}
	return found, err
}

// findOut is examineStuck, which fails when there is no time to find out.
func (g *goals) findOut(ctx context.Context, s *search.Stuck) (found bool, err error) {
	if long := g.worker.explorer.longestWalk(); s.End == search.WalkBound && long > g.look.Bound {
		g.look.Bound = long
		if live, err := g.look.ProlongWalk(s, long); live || err != nil {
			return false, err
		}
	}
	if s.End == search.WalkBound && g.look.IsTimed(s.Goal) { // its time is not up
		live, err := g.look.ProlongWalk(s, g.look.RaisedBound())
		if live || err != nil {
			return false, err
		}
		if s.End == search.WalkBound {
			g.did.Undecided++
			return false, nil
		}
	}
	if s.End == search.WalkViolation {
		return true, g.enterExecution(ctx, s.Path, s.Violation, nil, nil)
	}
	v := g.look.Violation(s)
	if !g.worker.check.ledger.isNew(v) {
		g.worker.giveResult(&work.Result{Findings: []work.Finding{{Violation: *v, Execution: work.NoIndex, Count: 1}}})
		return false, nil
	}
	began := time.Now()
	x := g.worker.explorer
	g.look.Until = x.mayHunt()
	defer func() { g.look.Until = 0 }()
	bound, c, live, err := g.examine(s)
	x.addHuntTime(time.Since(began))
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil, (live || c.Verdict == search.Undecided) && g.look.IsLate():
		g.enterDoubt(s)
		return false, nil
	case live, c.Verdict == search.Undecided && s.End == search.WalkBound:
		if g.did.Undecided++; g.worker.check.stopped(ctx) {
			g.enterDoubt(s)
		}
		x.crew.announce(func() { x.bound.longest = max(x.bound.longest, bound) })
		return false, nil
	case s.End == search.WalkViolation:
		return true, g.enterExecution(ctx, s.Path, s.Violation, nil, nil)
	}
	v = g.look.Violation(s)
	e := record.NewGoal(g.look, s, &c, time.Since(began), bound)
	var near []trace.Step
	if c.Near != nil {
		e.Along, e.LiveIn = c.Along, c.Near.Steps()
		near = stepsOf(c.Near)
	}
	n := s.Path.Steps()
	if s.End == search.WalkBound && !g.look.IsLate() {
		cycle, err := g.look.FindCycle(s)
		if err != nil && !errors.Is(err, ariadne.ErrInterrupted) {
			return false, err
		}
		if cycle != nil {
			e.Cycle = &record.Cycle{Steps: len(cycle.Steps), Time: cycle.Time, Times: cycle.Times}
			for _, st := range cycle.Steps[:min(len(cycle.Steps), mostNames)] {
				e.Cycle.Names = append(e.Cycle.Names, st.Name)
			}
		}
		s.Path.CutExecution(n)
	}
	if err := g.enterExecution(ctx, s.Path, v, e, near); err != nil || c.Verdict != search.Between ||
		!g.worker.check.opts.KeepGoing {
		return true, err
	}
	return true, g.postpone(s, v, &c, e)
}

// examine looks for the critical transition of an execution that is stuck. When it is live after
// all, walks were too short: they are made longer, and bound is how long.
func (g *goals) examine(s *search.Stuck) (bound int, c search.Crisis, live bool, err error) {
	was := g.look.Bound
	defer func() { g.look.Bound = was }()
	most := g.look.RaisedBound()
	if s.End == search.WalkBound {
		if live, s.Further, err = g.look.TakeLongWalks(s.Path, s.Path.Steps(), s.Goal); live || err != nil {
			return min(max(2*was, s.Path.Steps()-s.Start+s.Further.Steps), most), c, live, err
		}
	}
	for raised := 0; ; raised++ {
		if c, err = g.look.FindCritical(s, nil); err != nil || s.End != search.WalkBound || g.look.IsLate() {
			break
		}
		known := c.Verdict == search.DeadFrom || c.Verdict == search.Between && c.Behind > 0
		if known && !c.Exact { // walks behind it may have been as short
			after := false
			if after, _, err = g.look.TakeLongWalks(s.Path, c.Step, s.Goal); err != nil {
				break
			}
			if known = !after; after && g.look.IsLate() {
				c = search.Crisis{}
				break
			}
		}
		if known || c.Verdict == search.Between && c.Behind == 0 || c.Verdict == search.NeverLive && raised == 1 {
			break
		}
		if raised == search.Raises {
			c = search.Crisis{}
			break
		}
		g.look.Bound *= 2
		if live, err = g.look.ProlongWalk(s, g.look.Bound); live || err != nil || s.End == search.WalkViolation {
			break
		}
	}
	if live && s.End == search.WalkGivenUp && g.look.IsLate() {
		live, c = false, search.Crisis{}
	}
	// there was no time to look twice
	if c.Verdict == search.NeverLive && s.End == search.WalkBound && g.look.Bound == was {
		c = search.Crisis{}
	}
	return g.look.Bound, c, live, err
}

// enterDoubt enters that the check ended before it was known what there is to an execution that is
// stuck.
func (g *goals) enterDoubt(s *search.Stuck) {
	name, v := g.worker.check.system.Spec.Properties.Goals[s.Goal].Name, g.look.Violation(s)
	if g.worker.check.ledger.isNew(v) { // else another worker has found it meanwhile
		g.worker.doubt("", record.GoalDoubt(name))
	}
}

// mostNames is how many steps of a cycle a report has.
const mostNames = 12

func stepsOf(p *space.Path) (all []trace.Step) {
	for i := range p.Steps() {
		all = append(all, trace.NewStep(p.Step(i+1)))
	}
	return all
}

// enterExecution enters an execution that a walk has taken.
func (g *goals) enterExecution(ctx context.Context, p *space.Path, v *ariadne.Violation, e *record.Goal,
	near []trace.Step) error {
	w := g.worker
	a := w.attempt(p, search.EndViolation, v)
	a.Walked, a.Goal, a.Near = true, e, near
	w.addCounts()
	index, known, ok := w.check.ledger.index(v)
	if !ok {
		return nil
	}
	if known {
		return w.enterOne(index, a, true)
	}
	w.explorer.corpus.enterViolation(w.prefix(p))
	tape := record.TapeOf(w.check.system.Digests, stepsOf(p))
	return w.confirmFound(ctx, index, a, tape)
}

// takeDone returns what was done since it was asked last; nil: nothing.
func (g *goals) takeDone() *work.Liveness {
	did := g.did
	did.Steps = g.look.Work() - g.entered
	g.entered, g.did = g.look.Work(), work.Liveness{}
	if did.Empty() {
		return nil
	}
	return &did
}

// looking looks after a goal in smaller executions than that in which it was found not to be live.
type looking struct {
	*search.Liveness
	limit time.Duration // of real time, to find the critical transition
	ctx   context.Context
}

// newLooking returns who looks in a space, by walks of so many steps.
func (g *goals) newLooking(s *space.Space, bound int) (*looking, error) {
	c := g.worker.check
	look := &looking{limit: c.opts.Shrink, ctx: context.Background()}
	over := func() bool { return look.ctx.Err() != nil }
	x := &search.Exploration{Space: s, Checks: c.system.Checks, Stopped: over}
	var err error
	if look.Liveness, err = search.NewLiveness(x); err != nil {
		return nil, err
	}
	of := g.look
	if look.Over = over; c.opts.Workers > 1 {
		look.Share = func(f func(*search.Liveness)) { g.worker.explorer.crew.shareWalks(look.Liveness, f) }
	}
	look.Seed, look.Weights, look.Walks, look.Watch, look.Bound, look.Clock = of.Seed, of.Weights, of.Walks, of.Watch,
		bound, of.Clock
	return look, nil
}

// isDead reports whether no walk from a state of an execution is live, behind which it was followed
// for as long as a walk.
func (l *looking) isDead(ctx context.Context, p *space.Path, goal int) (bool, error) {
	l.ctx = ctx
	return l.IsDead(p, max(p.Steps()-l.Bound, p.Steps()/2), goal)
}

// shrunk finds the critical transition of a smaller execution, and takes off what it goes on for
// longer behind that than a walk. nil: the time was too short.
func (l *looking) shrunk(ctx context.Context, s *run.Shrunk) (*record.Goal, error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	l.ctx = ctx
	stuck, err := l.StuckIn(s.Path, s.Goal)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	l.Until = l.Clock() + l.limit
	c, err := l.FindCritical(stuck, nil)
	took := time.Since(began)
	if errors.Is(err, ariadne.ErrInterrupted) {
		return nil, nil
	}
	if err != nil || c.Verdict == search.Undecided {
		return nil, err
	}
	if n := c.Step + l.Bound; stuck.End == search.WalkBound && n < s.Path.Steps() {
		if err := l.Shorten(stuck, n); err != nil {
			return nil, err
		}
		v := l.Violation(stuck)
		s.Trace.Steps, s.To.Steps, s.Attempt.Violation = s.Trace.Steps[:n], n, v
		s.Trace.Violation = trace.NewViolation(v, l.X.Space.System.Names().Node)
	}
	return record.NewGoal(l.Liveness, stuck, &c, took, l.Bound), nil
}
