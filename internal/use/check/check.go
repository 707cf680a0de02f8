package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Why a check stops, besides what package search has.
const (
	// StopExplored: no path is left within the bounds.
	StopExplored = "all explored within the bounds"
	// StopExploredAtTimes: neither is one, but nodes read the clock in steps that were tried at no
	// other times, or at some (record.Coverage.ReadClock, TriedClock).
	StopExploredAtTimes = StopExplored + ", at the times at which events happened"
	// StopNowhere: it never came to where its paths begin.
	StopNowhere = "the natural schedule ended too early"

	stopPaths        = "the strategy has no more paths"
	stopBug          = "bug in ariadne"
	stopLimit        = "a limit of the host's" // it has not enough of something
	stopKilled       = "the host killed a process"
	stopStart        = "a node did not start" // a command died of its start
	stopHost         = "the host has changed"
	stopUncontrolled = "a program cannot be controlled" // and did not do the same twice
)

// maxBugs is how many bugs of Ariadne's a check takes.
const maxBugs = 10

// How often a check tells of its progress and saves its report.
const (
	tellEvery = 200 * time.Millisecond
	saveEvery = time.Second
)

// Check explores: the natural schedule first, then whatever the strategy chooses. When ctx
// ends it stops and reports what it has.
func Check(ctx context.Context, s *spec.Spec, o Options) (*record.Report, error) {
	o.setDefaults()
	y, err := system.Open(ctx, s, o.System)
	if err != nil {
		return nil, err
	}
	y.Rules.Delays = o.Search.Delays.Min(y.Rules.Delays)
	if o.Resume && o.Out == "" {
		return nil, errors.New("a check is resumed by its run directory: name it with --out")
	}
	dir, err := openDir(&o, s)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	c := &check{system: y, opts: o, dir: dir, began: time.Now()}
	if o.unit != nil {
		o.unit.check, c.ledger.given = c, &work.Result{}
	}
	if o.Resume {
		err = c.resume()
	} else {
		err = c.start()
	}
	if err != nil {
		return nil, err
	}
	if err := c.runWork(func() error { return c.search(ctx) }); err != nil {
		return nil, err
	}
	r, err := c.closeReport(ctx)
	r.Doubt(c.system.Doubts()...)
	r.Note(c.system.Notes()...)
	r.Explain(c.system)
	return dir.Finish(r, err)
}

func openDir(o *Options, s *spec.Spec) (*record.Dir, error) {
	if !o.Resume {
		return record.Open(o.Out, s.Name)
	}
	dir, err := record.OpenExisting(o.Out)
	if err != nil {
		return nil, fmt.Errorf("nothing to resume: %w", err)
	}
	return dir, nil
}

// check is a check that goes on. Its workers share it.
type check struct {
	system *system.System
	opts   Options
	dir    *record.Dir

	began   time.Time
	earlier time.Duration                   // real time of the parts before it was resumed
	steps   atomic.Int64                    // for the progress
	totals  atomic.Pointer[coverage.Totals] // likewise; nil until it searches
	memo    *memo.Memo                      // nil until it searches

	ledger ledger

	confirming sync.Mutex // one violation at a time
	telling    sync.Mutex // of the user's functions, one call at a time
}

func (c *check) start() error {
	replaced := c.replaced()
	r, err := c.dir.Begin(record.Command{Name: "check", System: c.system, Room: c.opts.room(), First: c.opts.First})
	if err != nil {
		return err
	}
	r.Ends, r.Programs = map[string]int{}, c.system.Programs
	r.Note(replaced...)
	c.ledger.begin(r)
	c.newPlan(c.opts.First, c.opts.Executions)
	return nil
}

// replaced says that the run directory held a check that could have gone on.
func (c *check) replaced() (notes []string) {
	old, err := c.dir.Report()
	if err != nil || old.Command != "check" || old.SpecDigest != c.system.Spec.Digest || old.Executions == 0 ||
		old.Coverage == nil || old.Coverage.Exhausted {
		return nil
	}
	if old.Stopped == search.StopViolation || old.Stopped == search.StopSought {
		return nil
	}
	return []string{fmt.Sprintf("the earlier check in %s (%d executions, ended by: %s) was replaced; --resume would have continued it", c.dir.Path, old.Executions, cmp.Or(old.Stopped, "it was killed"))}
}

// resume goes on where the check in the run directory was interrupted.
func (c *check) resume() error {
	out, s := c.dir.Path, c.system.Spec
	r, err := c.dir.Report()
	if errors.Is(err, fs.ErrNotExist) {
		if begun, err := c.dir.Begun(); err == nil && !begun {
			return c.start()
		}
		return fmt.Errorf("nothing to resume: %w", err)
	}
	if err != nil {
		return fmt.Errorf("%w; nothing of it can be resumed: begin again with another --out", err)
	}
	switch {
	case r.Command != "check":
		return fmt.Errorf("%s holds a %s, not a check", out, r.Command)
	case r.SpecDigest != s.Digest:
		return fmt.Errorf("%s: the spec has changed since the check in %s: begin another check", s.Path, out)
	case r.Seed != s.Seed:
		return fmt.Errorf("the check in %s has seed %d, not %d", out, r.Seed, s.Seed)
	case r.Properties != s.Properties.Digest && r.Executions > 0:
		return fmt.Errorf("the check in %s had other properties: begin another check", out)
	case r.Budgets != s.Budgets() && r.Executions > 0:
		return fmt.Errorf("the check in %s had other budgets of faults: %s, not %s", out,
			cmp.Or(r.Budgets, "unknown ones"), s.Budgets())
	case r.Searched() != c.opts.Search.Strategy && r.Executions > 0:
		return fmt.Errorf("the check in %s has --strategy %s, not %s", out, cmp.Or(r.Searched(), "unknown"),
			c.opts.Search.Strategy)
	case r.Coverage != nil && equalityOf(r.Coverage) != c.opts.Search.equality():
		return fmt.Errorf("the check in %s compared states by %s, not by %s", out, equalityOf(r.Coverage),
			c.opts.Search.equality())
	}
	r.GoOn()
	if r.Untouched() {
		return c.start()
	}
	if r.Coverage != nil && r.Coverage.Again {
		r.Forget(c.opts.First)
	}
	if r.Ends == nil {
		r.Ends = map[string]int{}
	}
	if err := record.Hide(c.system, out); err != nil {
		return err
	}
	if err := c.system.Fits(c.opts.room()); err != nil {
		return err
	}
	if lines := c.changedSince(r); len(lines) > 0 {
		return fmt.Errorf("the check in %s cannot be resumed: begin another check: %s", out,
			system.Listed("not as it was", lines))
	}
	r.Out, r.Stopped = out, ""
	c.earlier = r.RealTime
	c.ledger.begin(r)
	c.steps.Store(int64(r.Steps))
	left := 0
	if n := c.opts.Executions; n > 0 {
		left = max(n-r.Executions, 0)
	}
	c.newPlan(r.Next, left)
	if c.opts.Executions > 0 && left == 0 {
		c.ledger.plan.Stop(search.StopExecutions)
	}
	for _, v := range r.Violations {
		c.ledger.plan.EnterKnown(search.Finding{Violation: v.Violation, Execution: v.Execution, Count: v.Count})
	}
	return nil
}

// changedSince says what has changed for a check that is to be resumed. The memory of a search
// detects its own changes.
func (c *check) changedSince(r *record.Report) (lines []string) {
	if r.Programs != nil {
		lines = c.system.Changes(&trace.Trace{Header: trace.Header{SpecDigest: r.SpecDigest, Programs: r.Programs}})
	}
	for _, path := range c.dir.Traces() {
		t, err := system.LoadTrace(path)
		if err != nil {
			continue // it was being written
		}
		contents := slices.DeleteFunc(t.Files, func(f trace.File) bool {
			return f.Use != ariadne.FileRead && f.Use != ariadne.FileCode
		})
		lines = append(lines, c.system.Digests.Changed(contents)...)
	}
	return lines
}

func (c *check) newPlan(first, executions int) {
	c.ledger.plan = search.NewPlan(search.Budget{
		First: first, Executions: executions, Time: c.opts.Time, KeepGoing: c.opts.KeepGoing,
		Until: c.opts.Until,
	}, func() time.Duration { return time.Since(c.began) })
}

// limits of one execution.
func (c *check) limits() search.Limits {
	l := c.system.Limits()
	if d := c.opts.Depth; d > 0 && (l.Steps == 0 || d < l.Steps) {
		l.Steps = d
	}
	return l
}

// header is the head of the trace of an execution, for a trace in dir.
func (c *check) header(execution int, dir string) (trace.Header, error) {
	h, err := c.system.Header(execution, dir)
	// else a depth counts from there, not from the start
	if s := &c.opts.Search; s.From == nil && !s.FromLive {
		h.MaxSteps = c.limits().Steps
	}
	return h, err
}

// runWork does the work of the check, and tells of its progress.
func (c *check) runWork(f func() error) error {
	done := make(chan struct{})
	var teller sync.WaitGroup
	teller.Go(func() { c.tellNowAndThen(done) })
	err := f()
	close(done)
	teller.Wait()
	return err
}

// tellNowAndThen tells of the progress until done.
func (c *check) tellNowAndThen(done <-chan struct{}) {
	if c.opts.OnProgress == nil {
		return
	}
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			c.tellProgress(true)
			return
		case <-tick.C:
			c.tellProgress(false)
		}
	}
}

func (c *check) tellProgress(done bool) {
	p := Progress{Elapsed: c.earlier + time.Since(c.began), Steps: int(c.steps.Load()), Workers: c.opts.Workers,
		Done: done}
	p.Executions, p.Violations = c.ledger.progress()
	if t := c.totals.Load(); t != nil {
		p.Different = t.Traces()
	}
	c.telling.Lock()
	defer c.telling.Unlock()
	c.opts.OnProgress(p)
}

// fail ends the check, or enters the bug and ends it unless it is to keep going.
func (w *worker) fail(err error) {
	c := w.check
	if err == nil || errors.Is(err, ariadne.ErrInterrupted) {
		return
	}
	var b system.Bug
	if !errors.As(err, &b) {
		c.ledger.fail(err, stopReason(err))
		return
	}
	if doubts := c.hostDoubts(err, nil); len(doubts) > 0 {
		w.doubt(stopHost, doubts...)
		return
	}
	var m *memo.Mismatch
	r := &work.Result{}
	if !errors.As(err, &m) { // of those the worker has told already
		r.Bugs.Say(b.Error())
	}
	if !c.opts.KeepGoing {
		r.Stop.Say(stopBug)
	}
	w.giveResult(r)
}

// stopReason is why a check stops that fails with an error which is no bug.
func stopReason(err error) string {
	var dead *system.NotStarted
	var killed *ariadne.KilledError
	var limit *ariadne.LimitError
	var changed *ariadne.ChangedError
	switch {
	case errors.As(err, &changed):
		return stopHost
	case errors.As(err, &dead):
		return stopStart
	case errors.As(err, &killed):
		return stopKilled
	case errors.As(system.AsLimit(err), &limit):
		return stopLimit
	}
	return stopBug
}

// stopped is asked by executions that are under way.
func (c *check) stopped(ctx context.Context) bool {
	return ctx.Err() != nil || c.ledger.stopped() != ""
}

// keepTrace keeps the trace of the first execution that ended in this way, besides the one
// that is recorded anyway.
func (w *worker) keepTrace(index int, a *record.Attempt, tape *record.Tape) error {
	c := w.check
	if index == c.opts.First || !c.ledger.isFirst(a.End) {
		return nil
	}
	dir := c.dir.Execution(index)
	h, err := c.header(index, dir)
	if err != nil {
		return err
	}
	t, calls := tape.End(h, &a.Result, c.system.Names())
	_, err = record.SaveTrace(dir, t, calls, tape.Used.Host())
	return err
}

// enterOne counts an execution. One that was given up is not ended.
func (w *worker) enterOne(index int, a *record.Attempt, ended bool) error {
	c := w.check
	r := a.Work(c.system.Names())
	if ended {
		r.Executions, r.Ends, r.Ended = 1, map[string]int{c.endOf(a): 1}, []work.Span{{From: index, To: index + 1}}
		if v := a.Violation; v != nil {
			r.Findings = []work.Finding{{Violation: *v, Execution: index, Count: 1}}
		}
	}
	if w.giveResult(r); !ended {
		return nil
	}
	return c.saveNowAndThen()
}

// endOf says why an execution ended. The number of steps that the user gave is a bound.
func (c *check) endOf(a *record.Attempt) string {
	if a.End == search.EndSteps && c.opts.Depth > 0 && c.opts.Depth < c.system.Spec.Limits.Steps {
		return search.EndBounds
	}
	return a.End
}

// saveNowAndThen saves the report when it is time to.
func (c *check) saveNowAndThen() error {
	if !c.ledger.isSaveDue() {
		return nil
	}
	return c.ledger.save(c.earlier + time.Since(c.began))
}

// closeReport returns the report, which says why the check stopped.
func (c *check) closeReport(ctx context.Context) (*record.Report, error) {
	r, why, err := c.ledger.endReport()
	r.RealTime = c.earlier + time.Since(c.began)
	if why == "" && ctx.Err() != nil {
		why = record.Interrupted
	}
	if c := r.Coverage; c != nil && c.Exhausted && why == search.StopTime {
		why = StopExplored // and the time was up later, beyond that
	}
	if c := r.Coverage; why == StopExplored && c != nil {
		switch {
		case !c.Exhausted && c.CutOff > 0:
			why = record.PathsCutOff
		case len(c.ReadClock)+len(c.TriedClock) > 0:
			why = StopExploredAtTimes
		}
	}
	r.Served(c.system.FailedWorkers())
	r.Stop(why, c.system.Spec)
	row, _ := strategy.Named(c.opts.Search.Strategy)
	switch {
	case why == stopPaths, row.Once: // it was asked for no more
	case c.opts.Usual && c.opts.Executions > 0:
		r.Enough(min(record.AtLeast, c.opts.Executions), false)
	case c.opts.Usual:
		r.Enough(record.AtLeast, false)
	case c.opts.AtLeast > 0:
		r.Enough(c.opts.AtLeast, true)
	}
	return r, err
}
