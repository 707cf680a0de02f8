//go:build linux

package crash

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// losses are of one kind: what is lost at each point of a log.
type losses interface {
	// model is their name.
	model() string
	// after appends the operation at a place of the log, the next one, which has changed the files
	// to what they are now, and returns the images that a loss may leave now. It keeps nothing of
	// the files.
	after(now *tree, k int, which which) images
}

// which images are wanted behind an operation.
type which uint8

const (
	fresh which = iota // what has something of it
	again              // all: it has changed what is to hold
	none
)

// wantedImages says which images of a point are wanted, by the files as they are now.
func (j *judge) wantedImages(now *tree, op *disk.Op) which {
	switch {
	case j.pointed && isCrashNow(op):
		return again
	case j.pointed:
		return none
	case op.Kind == disk.Mark && j.advisor == nil || j.outside(now, op):
		return again
	}
	return fresh
}

// images are those of a point.
type images interface {
	count() int
	// form returns files of their own. It can do so until the next operation.
	form(n int) (*tree, error)
	// failure says what an image lacks.
	failure(n int) *Failure
	// losses says it operation by operation.
	losses(n int) []disk.Loss
	// leftOut is how many there are besides, or at least how many.
	leftOut() (n float64, atLeast bool)
}

// kills lose nothing: what a program has done is what it leaves.
type kills struct{ *judge }

// killed is the one image of a point.
type killed struct {
	now  *tree
	last *disk.Op
}

func (kills) model() string { return Kill }

func (j kills) after(now *tree, k int, which which) images {
	if op := j.Log[k]; which == again || which == fresh && op.Changes() {
		j.killed[j.known(now.sum(), k)] = true
		return killed{now, op}
	}
	return killed{}
}

func (k killed) count() int {
	if k.now == nil {
		return 0
	}
	return 1
}

func (k killed) form(int) (*tree, error) { return k.now.with(&disk.Image{}, nil) }

func (k killed) failure(int) *Failure { return &Failure{kept: short(k.last.String())} }

func (killed) losses(int) []disk.Loss { return nil }

func (killed) leftOut() (float64, bool) { return 0, false }

// powerLosses lose what a model lets them.
type powerLosses struct {
	*judge
	of   disk.Model
	walk *disk.Walk
	ops  []int // of the walk, by their places in the log
}

func newPowerLosses(j *judge, m disk.Model) *powerLosses {
	return &powerLosses{judge: j, of: m, walk: disk.NewWalk(m, disk.Choice{Limit: j.Images, Seed: j.Seed})}
}

func (p *powerLosses) model() string { return p.of.String() }

func (p *powerLosses) after(now *tree, k int, which which) images {
	left := &left{of: p, now: now, last: p.Log[k]}
	changes := which == fresh || !p.outside(now, left.last) // what is outside is not on this disk
	if changes {
		p.ops = append(p.ops, k)
	}
	switch {
	case which == fresh:
		left.Images = p.walk.Add(left.last)
		return left
	case changes:
		p.walk.Skip(left.last)
	}
	if which == none {
		return killed{}
	}
	left.Images = p.walk.Again()
	return left
}

// left is what a power loss at a point may leave.
type left struct {
	*disk.Images
	of      *powerLosses
	now     *tree
	last    *disk.Op
	verdict *verdict // on the first image, when it is known
}

func (l *left) count() int { return len(l.Lost) }

func (l *left) form(n int) (*tree, error) { return l.now.with(l.Image(n), l.of.Outside) }

func (l *left) failure(n int) *Failure {
	lost, kept := l.Blame(n)
	if kept == "" { // it is for what is not on the disk, or was said
		kept = l.last.String()
	}
	at := -1
	if last := l.Last(); last >= 0 {
		at = l.of.ops[last]
	}
	return &Failure{Lost: words(l.Words(n)), Name: disk.Lost(l.inLog(l.Lost[n])).String(),
		missing: l.inLog(l.Missing(n)), at: at, lost: short(lost), kept: short(kept)}
}

// inLog are parts of the walk's operations, as parts of the log's.
func (l *left) inLog(parts []disk.Part) []disk.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Op = l.of.ops[parts[i].Op]
	}
	return parts
}

func (l *left) losses(n int) []disk.Loss {
	all := l.Losses(n)
	for i := range all {
		all[i].Op = l.of.ops[all[i].Op]
	}
	return all
}

func (l *left) leftOut() (float64, bool) {
	return math.Max(l.Legal-float64(l.Subsets), 0), !l.Exact
}

// column judges what losses of one kind leave.
func (j *judge) column(ctx context.Context, l losses) (*Result, error) {
	return j.judgeLosses(ctx, l, map[sum]bool{})
}

// judgeLosses is column where images that were seen elsewhere are not counted again.
func (j *judge) judgeLosses(ctx context.Context, l losses, seen map[sum]bool) (*Result, error) {
	began := time.Now()
	j.survivors = survivors{}
	c := &column{judge: j,
		Result: &Result{Model: l.model(), Operations: len(j.Log), Statuses: map[string]int{}, Before: j.rejected,
			Pointed: j.pointed, Advised: j.advisor != nil, marks: map[int]int{}, began: began}, seen: seen,
		advice: map[adviceKey]*Advice{}}
	err := c.all(ctx, l)
	if p, ok := l.(*powerLosses); ok {
		err = cmp.Or(err, c.blame(ctx, p.of))
	} else {
		c.stretches()
	}
	c.RealTime = time.Since(began)
	c.advised()
	return c.Result, err
}

// column is of the table: what comes of losses of one kind.
type column struct {
	*judge
	*Result
	seen   map[sum]bool // images that are counted
	advice map[adviceKey]*Advice
	stop   *Failure // the first of those that fail up to here
}

// all judges the images of all points. While workers judge those of one, those of the next are
// formed.
func (c *column) all(ctx context.Context, l losses) (err error) {
	t := c.start.clone()
	judged := &point{done: make(chan error, 1)}
	judged.done <- nil
	for k, op := range c.Log {
		began := time.Now()
		var p *point
		if err = t.apply(op); err == nil {
			if p, err = c.form(k, l.after(t, k, c.wantedImages(t, op))); err == nil {
				p.kill = t.find(home)
			}
		}
		c.mu.Lock()
		c.Forming += time.Since(began)
		c.mu.Unlock()
		if e := c.finish(ctx, judged); e != nil || err != nil {
			return cmp.Or(e, err)
		}
		judged = p
		go func() { p.done <- c.work(ctx, p.work) }()
	}
	return c.finish(ctx, judged)
}

// point is the images behind an operation of the log.
type point struct {
	at int // the operation's place
	images
	of    []sum   // what each is known by
	left  []sum   // likewise, but for what of the log is lost
	again []bool  // another one is the same
	trees []*tree // that are looked at for advice, or are to be recovered
	kill  *file   // the home as a kill leaves it
	work  []*job  // what nobody has judged
	done  chan error
}

// form forms the images of a point.
func (c *column) form(at int, images images) (*point, error) {
	count := images.count()
	p := &point{at: at, images: images, of: make([]sum, count), left: make([]sum, count), again: make([]bool, count),
		trees: make([]*tree, count), done: make(chan error, 1)}
	for n := range p.of {
		t, err := images.form(n)
		if err != nil {
			return nil, err
		}
		files := t.sum()
		job := c.job(t, files, at, func() []disk.Loss { return images.losses(n) })
		p.of[n], p.left[n] = job.sum, c.known(files, at)
		c.formed[p.left[n]] = true
		if p.again[n] = c.seen[p.of[n]]; p.again[n] {
			continue
		}
		c.seen[p.of[n]] = true
		if c.advisor != nil || c.Recovery != nil {
			p.trees[n] = t
		}
		c.mu.Lock()
		if e := c.epochs[at]; files == c.accepted && !e.Owes() && (c.rejected || e.Begun == 0 && !c.Tell) {
			c.verdicts[p.of[n]] = &verdict{passed: true}
		}
		if v := c.verdicts[p.of[n]]; v != nil {
			c.count(v)
		} else {
			p.work = append(p.work, job)
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if count > 0 {
		c.Points++
	}
	n, more := images.leftOut()
	// JSON has no infinity
	c.LeftOut, c.AtLeast = min(c.LeftOut+n, math.MaxFloat64), c.AtLeast || more
	c.Images += count
	return p, nil
}

// finish waits for the verdicts on the images of a point, and notes what comes of them.
func (c *column) finish(ctx context.Context, p *point) error {
	err := <-p.done
	if err != nil && ctx.Err() == nil {
		return err
	}
	for n, t := range p.trees {
		switch v := c.verdicts[p.of[n]]; {
		case t == nil || c.advisor == nil:
		case v != nil && v.read != nil:
			c.adviseOnOutput(v.read, p.images, n, p.at)
		case len(c.Read) == 0:
			c.adviseOn(t, p.kill, p.images, n, p.at)
		}
	}
	defer c.stopped(p)
	for n, sum := range p.of {
		v := c.verdicts[sum]
		switch {
		case v == nil || v.passed: // nil: it was interrupted
			if c.stop = nil; v != nil {
				c.survives(p, n)
			}
			continue
		case v.undecided && c.Undecidable != nil, !v.undecided && c.advisor != nil:
			continue
		}
		f := p.failure(n)
		f.Operation, f.Last, f.Status, f.Output = p.at+1, short(c.Log[p.at].String()), v.status, tail(v.output)
		if v.undecided {
			c.Undecidable = f
			continue
		}
		f.again, f.killed = p.again[n], c.Model != Kill && c.killed[p.left[n]]
		switch {
		case p.again[n]:
		case f.killed:
			c.Killed++
		default:
			c.marks[p.at]++
		}
		c.failures = append(c.failures, f)
		c.stop = cmp.Or(c.stop, f)
	}
	if err == nil && p.images != nil {
		c.Judged++
		c.mu.Lock()
		c.progress()
		c.mu.Unlock()
	}
	return err
}

// stopped notes whether what a kill leaves at a point fails, as it does since an earlier one.
func (c *column) stopped(p *point) {
	if c.Model == Kill && p.images != nil {
		c.stops[p.at] = c.stop
	}
}

// job is an image that is to be judged.
type job struct {
	tree  *tree
	files sum // the tree's
	sum   sum // of all that a checker sees
	env   []string
	log   *logged // what it is told, or nil
}

// newJob is that of files, by their sum, for who is told of them in his environment.
func newJob(t *tree, files sum, env []string) *job {
	return &job{tree: t, files: files, sum: known(files, env), env: env}
}

// known is the name under which the verdict on files is stored. env is what the checker gets.
func known(files sum, env []string) sum { return sha256.Sum256(fmt.Appendf(files[:], "%q", env)) }

// identity distinguishes the job from others with the same files.
func (w *job) identity() string {
	b := fmt.Appendf(nil, "%q ", w.env)
	if w.log != nil {
		b = w.log.append(b)
	}
	return string(b)
}

// giveLog gives the job the log of operations.
func (w *job) giveLog(log *logged) {
	w.log = log
	w.sum = sha256.Sum256(log.append(w.sum[:]))
}

func (j *judge) known(files sum, at int) sum { return known(files, j.epochs[at].Env()) }

// job is that of files, by their sum, behind the operation at a place. lost says what of the log is
// not there.
func (j *judge) job(t *tree, files sum, at int, lost func() []disk.Loss) *job {
	w := newJob(t, files, j.epochs[at].Env())
	if j.Tell {
		w.giveLog(&logged{j.told, at, lost()})
	}
	return w
}

// work lets workers judge images, until one of them fails.
func (c *column) work(ctx context.Context, work []*job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *job)
	var workers sync.WaitGroup
	for range min(c.Workers, len(work)) {
		workers.Go(func() {
			for job := range next {
				if err := c.judgeOne(ctx, job); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, job := range work {
		next <- job
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// judgeOne judges one image.
func (c *column) judgeOne(ctx context.Context, job *job) error {
	v, err := c.check(ctx, job, c.Result)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.verdicts[job.sum] = v
	c.Checked++
	c.count(v)
	c.progress()
	return nil
}

// count enters the verdict on an image that this column has not seen before.
func (c *column) count(v *verdict) {
	c.Distinct++
	switch {
	case v.undecided:
		if c.Undecided++; v.flaky {
			c.Flaky++
		}
	case c.advisor != nil: // nobody has judged it
	case v.passed:
		c.Passed++
	default:
		c.Failed++
		c.Statuses[v.status]++
	}
}

// progress tells of it if that is due.
func (c *column) progress() {
	if c.judge.Progress != nil && time.Since(c.shown) > max(c.Pause, 200*time.Millisecond) {
		c.shown = time.Now()
		c.judge.Progress(c.Result)
	}
}
