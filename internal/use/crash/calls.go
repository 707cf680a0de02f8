//go:build linux

package crash

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// Calls is the name of an execution without a loss, in which one call of the program fails, and the
// program continues. Its files must agree with its status: those from before when it reports an
// error, and those of its work when it does not.
const Calls = "calls"

// Attempts are the executions in which a call fails.
type Attempts struct {
	Count int // how many
	Left  int // calls and errors that are not tried, besides
	// Run executes them one after the other. It tells what came of each, and ends with the first
	// error of tell.
	Run func(ctx context.Context, tell func(*Attempt) error) error
}

// Attempt is an execution in which one call has failed.
type Attempt struct {
	Place string // of the call, as a variation has it: fail:ERROR@THREAD/CALL:FILE#N
	Call  string // its name
	File  string // that it is made on, by its path from the home
	Error string // with which it failed
	Syncs bool   // it was to bring something to the disk
	How   string // what the command says then: "the command reports success"
	// Status is the one with which the command has ended, as a shell has it.
	Status int
	Hangs  bool   // it does not end: it says nothing, and has to be killed
	Said   string // its last lines
	// Undecided says why nothing can be concluded, or "".
	Undecided string
	Log       []*disk.Op // what it has done to its files
}

// kind is what failed in an execution and what the command says, but for numbers in the file's
// name.
func (a *Attempt) kind() string { return a.words(numbers.ReplaceAllString(a.File, "N")) }

func (a *Attempt) words(file string) string {
	return fmt.Sprintf("%s of %s failed with %s: %s", a.Call, file, a.Error, a.How)
}

// Execution is one in which a call fails, for who reads the results.
type Execution struct {
	Place  string `json:"place"`  // as Attempt has it
	Status int    `json:"status"` // with which the command ended; -1: it hangs
	Files  string `json:"files"`  // before, after, other; or unknown, where nothing can be said
	Failed bool   `json:"failed,omitempty"`
}

// Failures are how executions in which a call fails have ended.
type Failures struct {
	// Reported, Succeeded and Hung are executions by what the command says.
	Reported  int `json:"reported"`
	Succeeded int `json:"succeeded"`
	Hung      int `json:"hung,omitempty"`
	// Before are those that report an error and leave the files from before, After those that
	// report success and leave the files that the command leaves when nothing fails.
	Before int `json:"before"`
	After  int `json:"after"`
	// Undecided are those of which nothing can be said, and Why says why, each reason once.
	Undecided int      `json:"undecided,omitempty"`
	Why       []string `json:"why,omitempty"`
	// Executions are all of them, in the order of the calls.
	Executions []Execution `json:"executions"`
}

// statusEnv tells a checker with which status the command has ended.
const statusEnv = "ARIADNE_STATUS"

// calls judges what is left where a call has failed.
type calls struct {
	*column
	ctx    context.Context
	work   chan *job
	judged []judged
}

// judged is an execution whose files are being judged.
type judged struct {
	*Attempt
	n    int // of the execution
	sum  sum
	base view // what its files should be, when they are to be compared
	look view // what they are
	lost []lost
}

// lost is what a power loss may leave behind an execution.
type lost struct {
	sum     sum
	model   string
	failure *Failure
}

// calls judges all executions in which a call fails. While workers judge files the next executions
// go on.
func (j *judge) calls(ctx context.Context) (*Result, error) {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &Result{Model: Calls, Operations: j.Attempts.Count, LeftOut: float64(j.Attempts.Left),
		Statuses: map[string]int{}, Advised: j.advisor != nil, Failures: &Failures{}, began: began}
	c := &calls{column: &column{judge: j, Result: r, seen: map[sum]bool{}, advice: map[adviceKey]*Advice{}}, ctx: ctx,
		work: make(chan *job)}
	var workers sync.WaitGroup
	for range j.Workers {
		workers.Go(func() {
			for job := range c.work {
				if err := c.judgeOne(ctx, job); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := c.natural()
	if err == nil {
		err = j.Attempts.Run(ctx, c.attempt)
	}
	close(c.work)
	workers.Wait()
	c.conclude()
	r.RealTime = time.Since(began)
	return r, cmp.Or(context.Cause(ctx), err)
}

// natural sees to it that the checker accepts what the command leaves when no call fails, also when
// it is told that it has ended well.
func (c *calls) natural() error {
	if len(c.Check) == 0 {
		return nil
	}
	job, _, err := c.left(&Attempt{Log: c.Log})
	if err != nil {
		return err
	}
	v, err := c.check(c.ctx, job, new(Result))
	if err != nil {
		return err
	}
	if !v.passed {
		return fmt.Errorf("the checker rejects the files as the command left them, with %s=0: %s", statusEnv, v)
	}
	c.verdicts[job.sum] = v
	return nil
}

// left is what an execution has left, for a checker, and whether the program owes anything besides.
func (c *calls) left(a *Attempt) (*job, disk.Epoch, error) {
	t := c.start.clone()
	var epoch disk.Epoch
	for _, op := range a.Log {
		if err := t.apply(op); err != nil {
			return nil, epoch, err
		}
		epoch.Add(op)
	}
	env := epoch.Env()
	if !a.Hangs {
		env = append(env, fmt.Sprint(statusEnv, "=", a.Status))
	}
	job := newJob(t, t.sum(), env)
	if c.Tell {
		job.giveLog(&logged{newOplog(a.Log), len(a.Log) - 1, nil})
	}
	return job, epoch, nil
}

// attempt has what an execution has left judged.
func (c *calls) attempt(a *Attempt) error {
	c.mu.Lock()
	c.Judged++
	c.progress()
	c.mu.Unlock()
	c.Failures.Executions = append(c.Failures.Executions, Execution{Place: a.Place, Status: a.Status, Files: "unknown"})
	if a.Undecided != "" {
		c.Failures.Undecided++
		if !slices.Contains(c.Failures.Why, a.Undecided) {
			c.Failures.Why = append(c.Failures.Why, a.Undecided)
		}
		return nil
	}
	began := time.Now()
	job, epoch, err := c.left(a)
	if err != nil {
		return err
	}
	c.ended(a, job.files)
	now := judged{Attempt: a, n: len(c.Failures.Executions) - 1, sum: job.sum, base: c.owed(a, job.files)}
	if len(c.Read) == 0 && now.base != nil {
		now.look = job.tree.view()
	}
	if len(c.Check) > 0 && job.files == c.accepted && (a.Hangs || a.Status != 0) && !epoch.Owes() {
		c.mu.Lock()
		c.verdicts[job.sum] = &verdict{passed: true}
		c.mu.Unlock()
	}
	c.Forming += time.Since(began)
	if err = c.queue(job); err == nil && a.Syncs && len(c.Check) > 0 {
		now.lost, err = c.lose(a)
	}
	a.Log = nil
	c.judged = append(c.judged, now)
	return err
}

// lose has judged what a power loss may leave at the end of an execution, by models by which
// nothing fails where no call does. Images that are also possible without the failed call are left
// out.
func (c *calls) lose(a *Attempt) (all []lost, err error) {
	o := c.Options
	o.Log = a.Log
	j := &judge{Options: o, start: c.start, epochs: epochsAfter(disk.Epoch{}, a.Log), killed: map[sum]bool{}}
	if j.Tell {
		j.told = newOplog(j.Log)
	}
	last := len(a.Log) - 1
	for _, m := range c.Models {
		if c.fails[m.String()] {
			continue
		}
		t, p := c.start.clone(), newPowerLosses(j, m)
		var left images
		for k, op := range a.Log {
			if err := t.apply(op); err != nil {
				return nil, err
			}
			which := none
			if k == last {
				which = again
			}
			left = p.after(t, k, which)
		}
		for n := range count(left) {
			i, err := left.form(n)
			if err != nil {
				return nil, err
			}
			files := i.sum()
			if c.formed[j.known(files, last)] {
				continue
			}
			job := j.job(i, files, last, func() []disk.Loss { return left.losses(n) })
			all = append(all, lost{job.sum, m.String(), left.failure(n)})
			if err := c.queue(job); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// count is how many images there are.
func count(i images) int {
	if i == nil {
		return 0
	}
	return i.count()
}

// queue has a job judged, unless that is done.
func (c *calls) queue(job *job) error {
	c.mu.Lock()
	again, v := c.seen[job.sum], c.verdicts[job.sum]
	c.seen[job.sum] = true
	if c.Images++; v != nil && !again {
		c.count(v)
	}
	c.mu.Unlock()
	if again || v != nil {
		return nil
	}
	select {
	case c.work <- job:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// ended counts an execution by what the command says.
func (c *calls) ended(a *Attempt, files sum) {
	f := c.Failures
	e := &f.Executions[len(f.Executions)-1]
	switch files {
	case c.end:
		e.Files = "after"
	case c.accepted:
		e.Files = "before"
	default:
		e.Files = "other"
	}
	switch {
	case a.Hangs:
		e.Status = -1
		f.Hung++
	case a.Status != 0:
		f.Reported++
		if files == c.accepted {
			f.Before++
		}
	default:
		f.Succeeded++
		if files == c.end {
			f.After++
		}
	}
}

// owed is what an execution should have left, when there is something to compare: without a checker
// always, else where the command reports success and has done nothing at all, which a checker that
// accepts the files from before does not see.
func (c *calls) owed(a *Attempt, files sum) view {
	switch {
	case a.Hangs:
		return nil
	case c.advisor == nil && (a.Status != 0 || files != c.accepted || c.accepted == c.end):
		return nil
	case a.Status != 0:
		return c.before
	}
	return c.after
}

// conclude says what is wrong with what executions have left, in their order.
func (c *calls) conclude() {
	groups := map[string]*Group{}
	fails := func(kind string, f *Failure) {
		if groups[kind] == nil {
			groups[kind] = &Group{Kept: kind, Example: f, call: true}
		}
		groups[kind].Images++
		if c.Shortest == nil {
			c.Shortest = f
		}
	}
	for i := range c.judged {
		t := &c.judged[i]
		v := c.verdicts[t.sum]
		if v == nil { // it was interrupted
			continue
		}
		f := &Failure{Operation: t.n + 1, Last: t.words(t.File), Name: t.Place, Status: v.status,
			Output: tail(cmp.Or(v.output, t.Said)), kept: t.kind()}
		if v.read != nil {
			t.look, f.Output = v.read, tail(t.Said)
		}
		e := &c.Failures.Executions[t.n]
		switch {
		case v.undecided:
			c.Undecidable = cmp.Or(c.Undecidable, f)
			continue
		case c.advisor == nil && !v.passed:
			e.Failed = true
			fails(t.kind(), f)
			continue
		case t.base != nil:
			c.compare(t, f)
		}
		for _, l := range t.lost {
			v := c.verdicts[l.sum]
			if v == nil || v.passed {
				continue
			}
			then := ", then power is lost (" + l.model + ")"
			after := &Failure{Operation: f.Operation, Last: f.Last + then, Lost: l.failure.Lost,
				Name: t.Place + " " + l.failure.Name, Status: v.status, Output: tail(v.output)}
			if v.undecided {
				c.Undecidable = cmp.Or(c.Undecidable, after)
				continue
			}
			e.Failed = true
			fails(t.kind()+then, after)
			break // one of them is enough
		}
	}
	for _, g := range groups {
		c.Groups = append(c.Groups, *g)
	}
	sortGroups(c.Groups)
	c.advised()
}

// compare advises to look at what differs from what it should be.
func (c *calls) compare(t *judged, f *Failure) {
	from, far := "before", map[adviceKey]int{}
	if t.Status == 0 {
		from = "after"
	}
	look := func(name string) {
		now, base := t.look[name], t.base[name]
		d := now.distance(base)
		if d == 0 {
			return
		}
		found := now.found()
		if base == nil {
			found = "left behind"
		} else if from == "after" && now.distance(c.before[name]) == 0 {
			found = "as before"
		}
		key := adviceKey{numbers.ReplaceAllString(name, "N"), found, from, f.kept}
		far[key] = max(far[key], d)
	}
	for name := range t.look {
		look(name)
	}
	for name := range t.base {
		if t.look[name] == nil {
			look(name)
		}
	}
	for key, d := range far {
		c.enter(key, d, f)
	}
	if len(far) > 0 {
		c.Far++
	}
}
