package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// stopBug is why a check stops after a bug of Ariadne's.
const stopBug = "bug in ariadne"

// stopLimit is why a check stops for which the host has not enough.
const stopLimit = "a limit of the host's"

// stopKilled is why a check stops when a process was killed from outside.
const stopKilled = "the host killed a process"

// stopStart is why a check stops when a command died of its start.
const stopStart = "a node did not start"

// maxBugs is how many bugs of Ariadne's a check takes.
const maxBugs = 10

// How often a check tells of its progress and saves its report.
const (
	tellEvery = 200 * time.Millisecond
	saveEvery = time.Second
)

// Check explores: the natural schedule first, then random walks. When ctx ends
// it stops and reports what it has.
func Check(ctx context.Context, s *spec.Spec, o Options) (*Report, error) {
	o.setDefaults()
	o.Nodes = o.interruptible(ctx)
	y, err := newSystem(s, o)
	if err != nil {
		return nil, err
	}
	defer y.unlock()
	c := &check{system: y, ctx: ctx, began: time.Now(), kept: map[string]bool{}}
	if o.Resume {
		err = c.resume()
	} else {
		err = c.start()
	}
	if err != nil {
		return nil, err
	}
	if err := c.work(c.search); err != nil {
		return nil, err
	}
	return y.finish(c.report, c.close())
}

// check is a check that goes on. Its workers share it.
type check struct {
	*system
	ctx     context.Context
	began   time.Time
	earlier time.Duration // real time of the parts before it was resumed
	steps   atomic.Int64  // for the progress
	// complete, when not nil, completes the report as it is about to be saved, with mu
	// held, and returns what is to be written before it, without; or nil.
	complete func() (write func() error)

	explorer   *explorer  // nil until it searches
	confirming sync.Mutex // one violation at a time
	telling    sync.Mutex // of the callbacks
	saving     sync.Mutex // one report after the other

	mu     sync.Mutex // of all below
	plan   *search.Plan
	report *Report
	saved  time.Time
	kept   map[string]bool // ways to end of which a trace is kept
	err    error
}

func (c *check) start() error {
	r, err := c.begin("check")
	if err != nil {
		return err
	}
	r.Ends, r.Programs = map[string]int{}, c.programs
	c.report = r
	c.newPlan(c.opts.First, c.opts.Executions)
	return nil
}

// changedSince says what is no longer as it was for a check that is to be resumed. What a
// search remembers, it looks after itself.
func (c *check) changedSince(r *Report) (lines []string) {
	if r.Programs != nil {
		lines = c.changes(&trace.Trace{Header: trace.Header{SpecDigest: r.SpecDigest, Programs: r.Programs}})
	}
	for _, pattern := range []string{executionDir, violationDir} {
		paths, _ := filepath.Glob(filepath.Join(c.opts.Out, pattern+"*", traceFile)) // a good pattern
		for _, path := range paths {
			t, err := LoadTrace(path)
			if err != nil {
				continue // it was being written
			}
			contents := slices.DeleteFunc(t.Files, func(f trace.File) bool { return f.Use != ariadne.FileRead && f.Use != ariadne.FileCode })
			lines = append(lines, c.digests.changed(contents)...)
		}
	}
	return distinct(lines)
}

// resume goes on where the check in the run directory was interrupted.
func (c *check) resume() error {
	if c.opts.Out == "" {
		return errors.New("which check is to be resumed? name its run directory")
	}
	if err := c.lock(c.opts.Out); err != nil {
		return fmt.Errorf("nothing to resume: %w", err)
	}
	r, err := loadReport(c.opts.Out)
	if errors.Is(err, fs.ErrNotExist) {
		if begun, err := isBegun(c.opts.Out); err == nil && !begun {
			return c.start()
		}
		return fmt.Errorf("nothing to resume: %w", err)
	}
	if err != nil {
		return fmt.Errorf("%w; so there is nothing to resume", err)
	}
	switch {
	case r.Command != "check":
		return fmt.Errorf("%s holds a %s, not a check", c.opts.Out, r.Command)
	case r.SpecDigest != c.spec.Digest:
		return fmt.Errorf("%s: the spec has changed since the check in %s", c.spec.Path, c.opts.Out)
	case r.Seed != c.spec.Seed:
		return fmt.Errorf("the check in %s has seed %d, not %d", c.opts.Out, r.Seed, c.spec.Seed)
	case r.searched() != c.opts.Search.Strategy && r.Executions > 0:
		return fmt.Errorf("the check in %s searched in another way", c.opts.Out)
	}
	r.Doubts = slices.DeleteFunc(r.Doubts, func(d string) bool {
		return d == noneEnded || strings.HasPrefix(d, interruptedAfter) || strings.HasPrefix(d, unended)
	})
	if r.untouched() {
		return c.start()
	}
	if r.Coverage != nil && r.Coverage.Again {
		r.forget(c.opts.First)
	}
	if r.Ends == nil {
		r.Ends = map[string]int{}
	}
	if err := first(c.hide(c.opts.Out), c.fits("check")); err != nil {
		return err
	}
	if lines := c.changedSince(r); len(lines) > 0 {
		return fmt.Errorf("the check in %s cannot go on, begin another one: %s", c.opts.Out, listed("not as it was", lines))
	}
	r.Out, r.Stopped = c.opts.Out, ""
	c.report, c.earlier = r, r.RealTime
	c.steps.Store(int64(r.Steps))
	left := 0
	if n := c.opts.Executions; n > 0 {
		left = max(n-r.Executions, 0)
	}
	c.newPlan(r.Next, left)
	if c.opts.Executions > 0 && left == 0 {
		c.plan.Stop(search.StopExecutions)
	}
	for _, v := range r.Violations {
		c.plan.Know(search.Finding{Violation: v.Violation, Execution: v.Execution, Count: v.Count})
	}
	return nil
}

func (c *check) newPlan(first, executions int) {
	c.plan = search.NewPlan(search.Budget{
		First: first, Executions: executions, Time: c.opts.Time, KeepGoing: c.opts.KeepGoing,
	}, func() time.Duration { return time.Since(c.began) })
}

// work does the work of the check, and tells of its progress.
func (c *check) work(f func() error) error {
	// A thread with living nodes mostly waits in the kernel for them. Go takes it to be
	// working for some time, and what else there is to do, or the thread when it
	// comes back, waits: a third of the time, without one place more for each worker.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), runtime.NumCPU()+c.opts.Workers)))
	done := make(chan struct{})
	var teller sync.WaitGroup
	teller.Go(func() { c.tellNowAndThen(done) })
	err := f()
	close(done)
	teller.Wait()
	return err
}

// fail ends the check, or enters the bug and ends it unless it is to keep going.
func (c *check) fail(err error) {
	if err == nil || errors.Is(err, ariadne.ErrInterrupted) {
		return
	}
	var b bug
	var killed *ariadne.KilledError
	var limit *ariadne.LimitError
	if errors.As(err, &b) {
		if doubts := c.hostDoubts(err, nil); len(doubts) > 0 {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.report.doubt(doubts...)
			c.plan.Stop(stopHost)
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !errors.As(err, &b) {
		var dead *notStarted
		switch {
		case errors.As(err, &dead):
			c.plan.Stop(stopStart)
		case errors.As(err, &killed):
			c.plan.Stop(stopKilled)
		case errors.As(AsLimit(err), &limit):
			c.plan.Stop(stopLimit)
		}
		c.err = first(c.err, err)
		c.plan.Stop(stopBug)
		return
	}
	var m *memo.Mismatch
	if !errors.As(err, &m) { // of those the explorer has told already
		c.report.Bugs = append(c.report.Bugs, b.Error())
	}
	if !c.opts.KeepGoing || len(c.report.Bugs) >= maxBugs {
		c.plan.Stop(stopBug)
	}
}

// stopped is asked by executions that are under way.
func (c *check) stopped() bool {
	if c.ctx.Err() != nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan.Stopped() != ""
}

// keep keeps the trace of the first execution that ended in this way, besides the one
// that is recorded anyway.
func (c *check) keep(index int, a *attempt, tape *tape) error {
	c.mu.Lock()
	known := c.kept[a.End] || index == c.opts.First
	if !known {
		c.kept[a.End] = true
	}
	c.mu.Unlock()
	if known {
		return nil
	}
	dir := filepath.Join(c.report.Out, fmt.Sprintf("%s%d", executionDir, index))
	h, err := c.header(index, dir)
	if err != nil {
		return err
	}
	t, calls := tape.end(h, &a.Result, nodeNames(c.spec))
	_, err = saveTrace(dir, t, calls, tape.used.host())
	return err
}

// enter counts an execution. One that was given up is not ended.
func (c *check) enter(index int, a *attempt, ended bool) error {
	c.mu.Lock()
	c.report.count(a)
	if ended {
		c.report.Executions++
		c.report.Ends[c.endOf(a)]++
		c.plan.Ended(index, a.Violation)
		c.recount()
	}
	c.mu.Unlock()
	if !ended {
		return nil
	}
	return c.saveNowAndThen()
}

// endOf says why an execution ended. The number of steps that the user gave is a bound.
func (c *check) endOf(a *attempt) string {
	if a.End == search.EndSteps && c.opts.Depth > 0 && c.opts.Depth < c.spec.Limits.Steps {
		return search.EndBounds
	}
	return a.End
}

// recount takes from the plan how often what was found. c.mu is held.
func (c *check) recount() {
	c.report.Next = c.plan.Resume()
	for i, f := range c.plan.Findings() {
		// A check that walks all again has not come there again yet when it is 0.
		c.report.Violations[i].Count = max(f.Count, 1)
	}
}

// saveNowAndThen saves the report when it is time to.
func (c *check) saveNowAndThen() error {
	c.mu.Lock()
	due := time.Since(c.saved) >= saveEvery
	if due {
		c.saved = time.Now() // others need not
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.save()
}

// save writes the report as it stands. Who works meanwhile does not wait for the disk.
func (c *check) save() error {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	c.saved = time.Now()
	c.report.RealTime = c.earlier + time.Since(c.began)
	c.report.judge()
	var write func() error
	if c.complete != nil {
		write = c.complete()
	}
	data, err := c.report.encode()
	c.mu.Unlock()
	if err == nil && write != nil {
		err = write()
	}
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(c.report.Out, reportFile), data)
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
			c.tell(true)
			return
		case <-tick.C:
			c.tell(false)
		}
	}
}

func (c *check) tell(done bool) {
	c.mu.Lock()
	p := Progress{Elapsed: c.earlier + time.Since(c.began), Executions: c.report.Executions, Steps: int(c.steps.Load()),
		Violations: len(c.report.Violations), Workers: c.opts.Workers, Done: done}
	c.mu.Unlock()
	c.telling.Lock()
	defer c.telling.Unlock()
	c.opts.OnProgress(p)
}

// close says why the check stopped.
func (c *check) close() error {
	r := c.report
	r.RealTime = c.earlier + time.Since(c.began)
	r.Stopped = c.plan.Stopped()
	if r.Stopped == "" && c.ctx.Err() != nil {
		r.Stopped = interrupted
		r.doubt(fmt.Sprintf("%s%d executions", interruptedAfter, r.Executions))
	}
	if r.Stopped == search.StopTime && r.Executions == 0 {
		r.doubt(noneEnded)
	}
	if d := unendedDoubt(c.spec, r.Ends); d != "" {
		r.doubt(d)
	}
	return c.err
}

// Doubts that are none any more when the check is resumed.
const (
	interruptedAfter = "it was interrupted after "
	noneEnded        = "not even one execution ended in the time given"
)
