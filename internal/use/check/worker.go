package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// worker explores, on a goroutine of its own. It enters its counts into the report from time to
// time, because a hundred thousand paths may end in a second. With living nodes, each path is an
// execution with an index, and is entered by itself.
type worker struct {
	check    *check
	explorer *explorer
	id       int
	search   *search.Exploration
	nodes    io.Closer
	living   *living // where nodes live, else nil
	meter    *coverage.Meter
	word     word   // the user's
	goals    *goals // nil: there are none
	asked    int    // how often it was asked whether to stop

	entered  search.Coverage                    // of search.Coverage, what is in the report
	brought  map[*strategy.Tally]strategy.Tally // likewise, of each tally that the explorer keeps
	virtual  ariadne.Time                       // of paths that are not in the report yet
	paths    int                                // likewise
	known    int                                // likewise, those that came to known states
	given    int                                // likewise, those that the strategy gave up
	ends     map[string]int                     // likewise
	repeated map[violationName]*repeated        // that are entered together
	// by node: it has read the clock in a step that was tried at no other time, or at some
	readClock, triedClock []bool
	// tookTurns likewise: threads of which other ones could go first, and atLocks: at functions of
	// locks
	tookTurns, atLocks []bool
	last               time.Duration // when it last entered anything
	near               bool          // it is in a part that a resumed check walks again
	// it has looked what became of the servers on its first path
	watched bool
	err     error
	gave    atomic.Int64 // how many Results
}

// violationName names a violation, but for where on its path it is.
type violationName struct {
	kind, message string
	node          ariadne.NodeID
}

func nameOf(v *ariadne.Violation) violationName { return violationName{v.Kind, v.Message, v.Node} }

// repeated is a violation that was found before.
type repeated struct {
	violation ariadne.Violation
	execution int // the first that ended in it here
	count     int // of paths that are not in the report yet
}

// enterEvery is how often a worker enters what it counted.
const enterEvery = 20 * time.Millisecond

// newWorker returns worker id of so many.
func (x *explorer) newWorker(ctx context.Context, id int, e strategy.Explorer, m *coverage.Meter, of int) *worker {
	w := &worker{check: x.check, explorer: x, id: id, meter: m, readClock: make([]bool, len(x.check.system.Spec.Nodes)),
		triedClock: make([]bool, len(x.check.system.Spec.Nodes)),
		tookTurns:  make([]bool, len(x.check.system.Spec.Nodes)), atLocks: make([]bool, len(x.check.system.Spec.Nodes)),
		ends: map[string]int{}, repeated: map[violationName]*repeated{}, brought: map[*strategy.Tally]strategy.Tally{}}
	var s *space.Space
	if x.row.Lives {
		nodes := x.check.system.Living(x.searching, x.elapsed)
		nodes.KeepStarts = !x.check.opts.Search.NoCheckpoints && !x.row.Once
		x.living = append(x.living, nodes)
		s, w.nodes, w.living = space.Live(x.world, nodes), nodes, &living{worker: w, nodes: nodes}
	} else {
		nodes := x.pool.Worker(w.executor(of))
		s, w.nodes = space.New(x.world, x.memo, nodes), nodes
		s.Unfold = x.row.Asks
		if p := x.check.opts.Search.probes(); p != ProbeNone {
			s.Window = cmp.Or(x.world.Rules().MaxDelay, longestProbe)
			if p == ProbeSome {
				s.Sample = &x.probed
			}
		}
	}
	share := max(stage.Share, x.check.opts.Search.Audit)
	x.check.system.Judge(x.searching, s, share)
	if s.Shows, s.Equality, s.Tells = x.check.opts.Search.States, x.equality(), x.steeringSources(); s.Tells != nil {
		s.Stages = x.check.system.Stages(share)
	}
	w.search = &search.Exploration{
		Space: s, Explorer: e, Bounds: x.bounds(), Limit: x.check.system.Spec.Limits.Steps, Seen: x.none,
		Checks: x.check.system.Checks, Watch: w.watch,
		Stopped: func() bool { return w.stopped(ctx) },
		Ended: func(p *space.Path, end string, v *ariadne.Violation) bool {
			return w.enterPath(ctx, p, end, v)
		},
	}
	if strategy.Knows(e) {
		w.search.Seen = x.seen
		w.near = true
		x.check.ledger.beginRewalk()
	}
	w.word = x.applyWord(id, w.search)
	return w
}

// longestProbe is how much later messages are tried at most when the spec lets them be as late as
// may be.
const longestProbe = time.Minute

// run explores until there is nothing left or the check is over. Where nodes live, an
// execution that fails by Ariadne's fault is not the last one, if the check is to keep going.
func (w *worker) run(ctx context.Context) error {
	how, err := w.explore(ctx)
	for b := (system.Bug{}); w.living != nil && errors.As(err, &b); {
		w.fail(err)
		if err = nil; w.check.stopped(ctx) {
			break
		}
		if err = system.AsBug(w.living.nodes.Restart()); err == nil {
			how, err = w.explore(ctx)
		}
	}
	w.err = cmp.Or(err, w.enterCounts())
	w.meter.Done()
	// which ends the check
	if c := w.explorer.crew; w.goals != nil && w.err == nil &&
		(how == search.SearchExhausted || how == search.SearchDone) {
		c.helpUntil(w.goals.idle, func() bool { return c.looking == 0 })
	}
	w.enterEnd(how)
	w.err = cmp.Or(w.err, w.helpOthers(ctx))
	w.countAudits()
	return cmp.Or(w.err, w.word.Err())
}

// helpOthers goes on with hunts that were stopped, and takes walks for others until all have ended.
func (w *worker) helpOthers(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = system.Bug{Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	c := w.explorer.crew
	defer func() {
		if w.goals != nil && w.err == nil && err == nil {
			c.helpUntil(w.goals.idle, func() bool { return c.active == 0 })
		}
	}()
	defer c.announce(func() { c.active-- })
	if w.err == nil {
		return w.goOnHunting(ctx)
	}
	return nil
}

// explore explores until something is wrong, too. A panic is an error that says where.
func (w *worker) explore(ctx context.Context) (how string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = w.nameExecution(system.Bug{Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())})
		}
	}()
	if w.explorer.hasGoals() && w.goals == nil {
		if w.goals, err = w.newGoals(ctx); err != nil {
			return "", err
		}
	}
	how, err = w.search.Run()
	err = cmp.Or(w.err, w.nameExecution(system.AsBug(err)))
	w.err = nil
	if w.living != nil {
		err = cmp.Or(err, w.living.stopped(err))
	}
	return how, err
}

// nameExecution says of a bug in which execution it was met, where they can be told apart.
func (w *worker) nameExecution(err error) error {
	var b system.Bug
	if w.living != nil && errors.As(err, &b) {
		return system.Bug{Err: fmt.Errorf("execution %d: %w", w.living.index(), b.Err)}
	}
	return err
}

// watch looks at the frame to which a path has come.
func (w *worker) watch(p *space.Path) {
	w.meter.Watch(p)
	if u := w.check.opts.unit; u != nil {
		u.watch(p)
	}
	if w.living != nil {
		w.living.watchFrame(p)
	}
	by := p.Last().By
	if by != nil && by.Output.ReadClock {
		if space.Probed(by) || p.Taken(p.Steps()).Kind == world.Late {
			w.triedClock[by.From.Node] = true
		} else {
			w.readClock[by.From.Node] = true
		}
	}
	if by != nil && w.check.system.Spec.Faults[world.Preempt] > 0 && !w.atLocks[by.From.Node] {
		w.noteTurns(by)
	}
	if by != nil && (w.living != nil || w.meter.MayBeNew()) && !world.KindOf(p.Taken(p.Steps()).Kind).World {
		if kind, ok := w.explorer.behaviour.lookAt(by, w.explorer.elapsed()); ok && w.explorer.corpus.wants(p) {
			w.explorer.corpus.enterSeen(w.prefix(p), kind, &w.explorer.behaviour)
		}
	}
	if by != nil && w.living == nil && w.meter.MayBeNew() {
		w.noteRefusals(by)
	}
}

// noteTurns notes where threads took turns in a transition.
func (w *worker) noteTurns(by *memo.Transition) {
	id := by.From.Node
	for i := range by.Output.Places {
		if p := &by.Output.Places[i]; p.Kind() == ariadne.ThreadLate {
			w.tookTurns[id] = true
			w.atLocks[id] = w.atLocks[id] || ariadne.AtFunction(p.Name)
		}
	}
}

// prefix is the whole of a path. Where nodes live it was put together step by step.
func (w *worker) prefix(p *space.Path) strategy.Prefix {
	if w.living == nil {
		return strategy.PrefixOf(p)
	}
	x := w.living.prefix
	x.Deviations = slices.Clone(x.Deviations)
	return x
}

// noteRefusals enters what a transition met that cannot be modelled, once.
func (w *worker) noteRefusals(by *memo.Transition) {
	cut := by.Output.Cut
	preempted := by.Output.Unreplayable && cut == ""
	if len(by.Output.Refusals) == 0 && !preempted && cut == "" {
		return
	}
	if w.explorer.totals.Reported(by.To) {
		return
	}
	id := by.From.Node
	name := w.check.system.Spec.Nodes[id].Name
	m := work.Met{State: coverage.NameOf(by.To), Node: id, Refusals: by.Output.Refusals,
		Doubts: record.Refused(name, by.Output.Refusals)}
	if preempted {
		m.Doubts = append(m.Doubts, record.MayNotReplay)
	}
	m.CutAt, m.Step = by.Output.CutAt, stepOf(by)
	if cut != "" { // the path may not come to count, since the time may be up
		m.Doubts = append(m.Doubts, record.CutOff(name, cut))
	}
	w.giveResult(&work.Result{Met: []work.Met{m}})
}

// stepOf names a step whose outcome may be another one each time, by what led to it.
func stepOf(by *memo.Transition) string {
	from := coverage.NameOf(by.From)
	return fmt.Sprintf("%016x", hash.Of(from.Hi, from.Lo, uint64(by.Input.At)).Lo)
}

// giveResult gives a part of what came of the worker's work to who keeps the account.
func (w *worker) giveResult(r *work.Result) {
	by := work.Source{Worker: w.id, Serial: int(w.gave.Add(1))}
	if u := w.check.opts.unit; u != nil {
		by.Unit = u.work.Unit
	}
	r.Of(by)
	w.check.ledger.merge(r)
}

// doubt gives what makes the report inconclusive, and stops the check, unless why is "".
func (w *worker) doubt(why string, doubts ...string) {
	r := &work.Result{}
	r.Doubts.Say(doubts...)
	if why != "" {
		r.Stop.Say(why)
	}
	w.giveResult(r)
}

// giveServers gives what became of the servers in an execution that is recorded.
func (w *worker) giveServers(lines []string) {
	r := &work.Result{}
	r.Servers.Say(lines...)
	w.giveResult(r)
}

// stopped is asked before each step. To find out costs more than a step does.
func (w *worker) stopped(ctx context.Context) bool {
	w.asked++
	if c := w.explorer.crew; w.goals != nil && c.number.Load() > w.goals.helped {
		w.goals.helpOthers()
	}
	if w.asked%64 == 1 || w.living != nil {
		if w.goals != nil && w.explorer.huntsLeft() {
			w.check.ledger.stop(search.StopTime)
		}
		if w.check.stopped(ctx) {
			w.explorer.over.Store(true)
		}
	}
	return w.explorer.over.Load() || w.word.Err() != nil
}

// enterPath enters a path. Those that came to known states are no executions.
func (w *worker) enterPath(ctx context.Context, p *space.Path, end string, v *ariadne.Violation) bool {
	if end == search.EndSeen || end == search.EndStrategy {
		if end == search.EndSeen {
			w.known++
		} else {
			w.given++
		}
		return !w.explorer.over.Load()
	}
	if p.Approaching() && w.id > 0 || w.search.Single && !w.isFirst() {
		return false // all workers come to the same end, which counts once
	}
	if w.living == nil && !w.explorer.takePath(v) {
		return false
	}
	w.tally(v)
	if w.explorer.totals.Path(p) {
		if w.err = w.explorer.writeSample(); w.err != nil {
			return false
		}
	}
	if v == nil && w.explorer.row.Asks && w.living == nil {
		if w.err = w.keepShown(p, end); w.err != nil {
			return false
		}
	}
	if w.goals != nil && v == nil && end != search.EndFatal && end != search.EndCut {
		var found bool
		if found, w.err = w.goals.lookAfterEnd(ctx, p); found || w.err != nil {
			return w.err == nil && !w.check.stopped(ctx)
		}
	}
	if w.living != nil {
		w.addCounts()
		w.err = w.living.enterExecution(ctx, p, end, v)
		return w.err == nil && !w.check.stopped(ctx)
	}
	if v == nil && end != search.EndFatal && end != search.EndCut || v != nil && w.countAgain(v) {
		if w.id == 0 && !w.watched {
			w.watched = true
			w.watchServers(p)
		}
		w.paths++
		w.ends[end]++
		w.virtual += p.Last().State.Now
		if now := w.explorer.elapsed(); now-w.last > enterEvery {
			w.last = now
			w.err = w.enterCounts()
			w.asked = 0
		}
		return w.err == nil && !w.explorer.over.Load()
	}
	w.addCounts() // enterAlone saves: before it the path is seen and not counted
	w.err = w.enterExecution(ctx, p, end, v)
	return w.err == nil && !w.check.stopped(ctx)
}

// keepShown keeps the trace of the first execution of a script that violates nothing, for who wants
// to see what it does.
func (w *worker) keepShown(p *space.Path, end string) error {
	c := w.check
	if !c.ledger.isFirst(shown) {
		return nil
	}
	var steps []trace.Step
	for i := range p.Steps() {
		steps = append(steps, trace.NewStep(p.Step(i+1)))
	}
	dir, tape := c.dir.Execution(c.opts.First), record.TapeOf(c.system.Digests, steps)
	h, err := c.header(c.opts.First, dir)
	if err != nil {
		return err
	}
	t, calls := tape.End(h, &search.Result{End: end, Time: p.Last().State.Now}, c.system.Names())
	path, err := record.SaveTrace(dir, t, calls, tape.Used.Host())
	if err != nil {
		return err
	}
	r := &work.Result{}
	r.Notes.Say("the script's first execution without a violation: ariadne replay " + record.ShellWord(path))
	w.giveResult(r)
	return nil
}

// shown is the way to end of a script's execution that is kept for who wants to see it.
const shown = "the first of a script"

// tally counts an execution for the strategy that made it, if there are several.
func (w *worker) tally(v *ariadne.Violation) {
	t := strategy.TallyOf(w.search.Explorer)
	if t == nil {
		return
	}
	if _, ok := w.brought[t]; !ok {
		w.brought[t] = strategy.Tally{Name: t.Name}
	}
	if t.Executions++; v != nil {
		t.Violations++
	}
}

// watchServers enters what became of the servers on the first path, which is the natural schedule.
func (w *worker) watchServers(p *space.Path) {
	watch := record.NewServers(w.check.system.Spec)
	for i := range p.Steps() {
		s := p.Step(i + 1)
		watch.Step(&s)
	}
	w.giveServers(watch.Lines())
}

// isFirst reports whether the worker is the first one, or makes the first execution.
func (w *worker) isFirst() bool {
	if w.living != nil {
		return w.living.index() <= w.check.opts.First+w.explorer.from
	}
	return w.id == 0
}

// countAgain counts a violation that this worker has met before.
func (w *worker) countAgain(v *ariadne.Violation) bool {
	r := w.repeated[nameOf(v)]
	if r != nil {
		r.count++
	}
	return r != nil
}

// enterCounts enters what was counted, and saves the report now and then.
func (w *worker) enterCounts() error {
	w.addCounts()
	return w.check.saveNowAndThen()
}

// addCounts adds to the report what was counted.
func (w *worker) addCounts() {
	c, e := &w.search.Coverage, &w.entered
	r := &work.Result{
		Counts: work.Counts{Executions: w.paths, Steps: c.Steps - e.Steps, Calls: c.Calls - e.Calls,
			Messages: c.Messages - e.Messages, Virtual: w.virtual, Ends: w.ends},
		Cover: work.Cover{
			Bounded: c.Bounded - e.Bounded, Merged: c.Merged - e.Merged, Cycles: c.Cycles - e.Cycles,
			CutOff: c.CutOff - e.CutOff,
			Known:  w.known, Given: w.given, Assertions: c.Assertions, Tried: w.takeFaults(),
			ReadClock: nodesIn(w.readClock), TriedClock: nodesIn(w.triedClock), TookTurns: nodesIn(w.tookTurns),
			AtLocks: nodesIn(w.atLocks), Probing: w.search.Space.Probing,
		},
	}
	if w.living == nil { // which counts as it goes
		w.check.steps.Add(int64(r.Steps))
	}
	for t, was := range w.brought { // in whatever order
		r.Strategies = append(r.Strategies, t.Minus(was))
		w.brought[t] = *t
	}
	if w.goals != nil {
		r.Liveness = w.goals.takeDone()
	}
	for _, f := range w.repeated {
		if f.count > 0 {
			r.Findings = append(r.Findings,
				work.Finding{Violation: f.violation, Execution: f.execution, Count: f.count})
		}
		f.count = 0
	}
	w.giveResult(r)
	if w.near && !strategy.Knows(w.search.Explorer) {
		w.near = false
		w.check.ledger.endRewalk(w.explorer.row.Again)
	}
	w.search.Space.Probing = space.Probing{}
	w.entered, w.paths, w.known, w.given, w.virtual = *c, 0, 0, 0, 0
	clear(w.ends)
}

// nodesIn are the nodes that are in a set, in order.
func nodesIn(set []bool) (nodes []ariadne.NodeID) {
	for id, in := range set {
		if in {
			nodes = append(nodes, ariadne.NodeID(id))
		}
	}
	return nodes
}

// takeFaults is how much faults were tried since it was asked last, of the kinds for which there is
// a budget.
func (w *worker) takeFaults() (all []work.Faults) {
	c, e := &w.search.Coverage, &w.entered
	s := w.check.system.Spec
	for _, k := range world.Kinds() {
		if s.Faults[k] == 0 {
			continue
		}
		f := work.Faults{Kind: world.KindOf(k).Name, Faults: c.Faults[k].Minus(e.Faults[k])}
		for n := range len(s.Nodes) + 1 {
			row := work.Struck{Node: ariadne.NodeID(n - 1)}
			sum := 0
			for p := range row.Phases {
				row.Phases[p] = c.Strikes[search.Strike{Kind: k, Node: row.Node, Phase: search.Phase(p)}]
				sum += row.Phases[p]
			}
			if sum > 0 {
				f.By = append(f.By, row)
			}
			if row.Node != ariadne.NoNode && c.Open[k].Has(row.Node) {
				f.Open = append(f.Open, row.Node)
			}
		}
		all = append(all, f)
	}
	clear(c.Strikes)
	return all
}

// enterExecution enters a path that is more than one of many.
func (w *worker) enterExecution(ctx context.Context, p *space.Path, end string, v *ariadne.Violation) error {
	a := w.attempt(p, end, v)
	index, known, ok := w.check.ledger.index(v)
	if !ok {
		return nil
	}
	if known {
		if v != nil {
			w.repeated[nameOf(v)] = &repeated{violation: *v, execution: index}
		}
		return w.enterOne(index, a, true)
	}
	var steps []trace.Step
	for i := range p.Steps() {
		steps = append(steps, trace.NewStep(p.Step(i+1)))
	}
	if v != nil {
		w.explorer.corpus.enterViolation(w.prefix(p))
		if s := w.explorer.sought; s != nil {
			s.Look(p)
		}
	}
	tape := record.TapeOf(w.check.system.Digests, steps)
	return w.confirmFound(ctx, index, a, tape)
}

// attempt is what a path came to. Its steps are counted elsewhere.
func (w *worker) attempt(p *space.Path, end string, v *ariadne.Violation) *record.Attempt {
	f := p.Last()
	a := &record.Attempt{Result: search.Result{Time: f.State.Now, End: end, Violation: v}, Counted: true}
	switch end {
	case search.EndFatal:
		a.Fatal, a.FatalNode = f.By.Output.Fatal, f.By.From.Node
	case search.EndCut:
		a.Cut, a.CutNode = f.By.Output.Cut, f.By.From.Node
	}
	for i := range p.Steps() {
		t := p.Transition(i + 1)
		a.Unreplayable = a.Unreplayable || t.Output.Unreplayable && t.Output.Cut == ""
		if v != nil { // is it Ariadne's doing?
			a.Refused(t.From.Node, t.Output.Refusals)
		}
	}
	return a
}

// exploredBefore reports whether a search that something has stopped had explored all before, and
// only went on beyond that.
func (w *worker) exploredBefore() bool {
	s, ok := w.search.Explorer.(*strategy.Series)
	return ok && s.Explored() && !w.explorer.hasTimes()
}

// enterEnd enters how the worker's search has ended.
func (w *worker) enterEnd(how string) {
	r := &work.Result{}
	switch {
	case how == search.SearchExhausted && w.explorer.hasTimes():
		r.Missed = "properties with within were checked by walks alone"
		r.Stop.Say(stopPaths)
		w.giveResult(r)
		return
	case how == search.SearchExhausted:
		r.Explored = true
		r.Stop.Say(StopExplored)
	case w.exploredBefore():
		r.Explored = true
	// there others may still be at work on the last of them
	case how == search.SearchDone && w.living == nil:
		r.Stop.Say(stopPaths)
	case how == search.SearchNowhere:
		r.Stop.Say(StopNowhere)
		doubt := "the natural schedule ended before the step at which the search begins (--from): nothing was explored"
		if w.search.Missing != "" {
			doubt += ": " + w.search.Missing
		}
		r.Doubts.Say(doubt)
	}
	if s, ok := w.search.Explorer.(interface{ Cut() string }); ok && s.Cut() != "" {
		r.Missed = s.Cut()
	} else if m, ok := w.search.Explorer.(strategy.Exhaustive); ok && how == search.SearchDone {
		r.Missed = m.Missed()
	}
	w.giveResult(r)
}
