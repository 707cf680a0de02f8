//go:build linux

package disk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// outcome is what came of a recovery.
type outcome struct {
	results []stack.Result // of the steps of examine
	failed  string         // how a step failed, or ""
	layer   string         // whose step it was, or ""
	late    bool
	log     []block.Op // of the recovery, if power is lost there too
}

// refuses reports whether a layer cannot work, or a file cannot be read.
func (o *outcome) refuses() bool {
	return o.failed != "" || slices.ContainsFunc(o.results, func(r stack.Result) bool { return unreadable(r.Tree) })
}

// image is contents of the devices after a loss.
type image struct {
	at     int // position in the log
	n      int // of the images of that point
	sum    block.Sum
	epoch  *epoch
	result *outcome
	// during, when not nil, is the recovery in which the power was lost once more; at and n are
	// of its log.
	during *image
}

// imageKey is the key of images that share an outcome.
type imageKey struct {
	sum  block.Sum
	said string
}

// round is the images of one log.
type round struct {
	j     *judge
	e     *execution
	known map[imageKey]*outcome
	mu    sync.Mutex
	err   error
	work  sync.WaitGroup
	all   []*image
	// logs are those of recoveries, by the image.
	parent *image
	base   []*block.Disk
	log    []block.Op
}

// judge forms the images of an execution, has the stack recover on each, and judges them.
func (j *judge) judge(ctx context.Context, e *execution) error {
	began := time.Now()
	defer func() { j.Judging += time.Since(began) }()
	for i := range e.log {
		switch {
		case e.log[i].Changes():
			j.Requests++
		case e.log[i].Kind == block.Flush:
			j.Flushes++
		}
	}
	if e.failed != "" {
		j.blameCall(e)
	}
	r := &round{j: j, e: e, known: map[imageKey]*outcome{}, base: e.base, log: e.log}
	if err := r.final(ctx); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	if !j.Spec.Recovery {
		return nil
	}
	return r.recoveries(ctx)
}

// final sees to it that the checker accepts what the workload left.
func (r *round) final(ctx context.Context) error {
	if r.e.failed != "" || r.e.plan.fault != nil { // then what it rejects is a failing image
		return nil
	}
	end := epochAt(r.log, len(r.log))
	disks := clones(r.base)
	for i := range r.log {
		r.log[i].Do(disks[r.log[i].Device])
	}
	out, err := r.recover(ctx, <-r.j.free, disks, end, nil)
	if err != nil {
		return err
	}
	if why := r.wrong(end, out); why != "" {
		return fmt.Errorf("%s: the checker rejects what is left without a loss of power: %s", r.e.plan.name, why)
	}
	return nil
}

// points are the positions at which images are formed.
func (r *round) points() []int {
	asks := func(text string) bool { return text == crashNow }
	when := r.j.Spec.Moments
	if r.parent == nil &&
		slices.ContainsFunc(r.log, func(o block.Op) bool { return o.Kind == block.Mark && asks(o.Text) }) {
		when = block.Said
		r.j.Pointed = true
	}
	return block.Points(r.log, when, asks)
}

// run forms and judges all images of the log.
func (r *round) run(ctx context.Context) error {
	walk := block.NewWalk(r.base, r.log, r.j.Spec.Sector)
	for _, at := range r.points() {
		walk.To(at)
		said := r.epochOf(at)
		key := r.keyOf(said)
		p := walk.Images(r.j.Spec.Images, r.j.Spec.Seed)
		r.j.Points++
		r.j.Images += p.Len()
		r.j.LeftOut += p.LeftOut()
		for n := range p.Len() {
			disks, sum := p.Form(n)
			im := &image{at: at, n: n, sum: sum, epoch: said, during: r.parent}
			r.all = append(r.all, im)
			k := imageKey{sum, key}
			if out := r.known[k]; out != nil {
				im.result = out
				continue
			}
			im.result = new(outcome)
			r.known[k] = im.result
			if err := r.dispatch(ctx, disks, im); err != nil {
				r.work.Wait()
				return err
			}
			r.j.show()
		}
	}
	r.work.Wait()
	if r.err != nil {
		return r.err
	}
	return r.judgeAll(ctx)
}

// keyOf tells apart images with equal contents that are examined each: because of what was said,
// and of the devices that are used no more.
func (r *round) keyOf(e *epoch) string { return fmt.Sprint(r.j.subject.key(e), e.dropped) }

// epochOf is what was said at a position of the log: for a recovery, when the first loss happened.
func (r *round) epochOf(at int) *epoch {
	if r.parent != nil {
		return r.parent.epoch
	}
	return epochAt(r.log, at)
}

// dispatch has the next free worker recover an image.
func (r *round) dispatch(ctx context.Context, disks []*block.Disk, im *image) error {
	var w *stack.Worker
	select {
	case w = <-r.j.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	err := r.err
	r.mu.Unlock()
	if err != nil {
		r.j.free <- w
		return err
	}
	r.j.Checked++
	if r.parent != nil {
		r.j.During++
	}
	r.work.Go(func() {
		var to *stack.Recorder
		if r.j.Spec.Recovery && r.parent == nil {
			to = new(stack.Recorder)
		}
		out, err := r.recover(ctx, w, disks, im.epoch, to)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.err = err
			return
		}
		*im.result = *out
	})
	return nil
}

// recover mounts the stack over disks, which it changes, examines it and unmounts it. The worker is
// free afterwards.
func (r *round) recover(ctx context.Context, w *stack.Worker, disks []*block.Disk, at *epoch,
	to *stack.Recorder) (*outcome, error) {
	nodes := w.Serve(disks, to, true, at.dropped...)
	examine := r.j.subject.examine(r.e, at)
	steps := append([]stack.Step{{Kind: stack.Mount, Nodes: nodes, Recover: true}}, examine...)
	verify := verifies(&r.j.Spec.Config)
	steps = append(steps, stack.Step{Kind: stack.Unmount, Always: true, Keep: verify})
	if verify {
		steps = append(steps, stack.Step{Kind: stack.Verify, Nodes: nodes})
	}
	results, err := w.Do(ctx, steps, limitOf(steps, &r.j.Spec.Config))
	var hangs *stack.HangError
	if errors.As(err, &hangs) {
		return &outcome{failed: hangs.Error(), late: true}, r.j.replace(w)
	}
	w.Drop(nodes)
	r.j.free <- w
	if err != nil {
		return nil, err
	}
	out := &outcome{results: results[1 : 1+len(examine)]}
	if f := failure(steps, results); f != nil {
		if f.Host {
			return nil, errors.New(f.String())
		}
		out.failed, out.layer, out.late = f.String(), f.Component, f.Late
	}
	if to != nil {
		out.log = to.Ops()
	}
	return out, nil
}

func verifies(c *stack.Config) bool {
	return slices.ContainsFunc(c.Components, func(c stack.Component) bool { return len(c.Verify) > 0 })
}

// wrong is why an outcome is rejected, or "". After a silent fault, a layer may say that it cannot
// work: then it has noticed something.
func (r *round) wrong(at *epoch, out *outcome) string {
	if out.layer != "" && !out.late && r.j.Spec.silent(r.e.plan.fault) {
		return ""
	}
	if out.failed != "" {
		return out.failed
	}
	return r.j.subject.verdict(r.e, at, out.results)
}

// judgeAll judges the outcomes.
func (r *round) judgeAll(ctx context.Context) error {
	type verdict struct {
		out  *outcome
		said string
	}
	counted := map[verdict]bool{}
	for _, im := range r.all {
		v := verdict{im.result, fmt.Sprint(im.epoch.begun, im.epoch.ended, r.keyOf(im.epoch))}
		again := counted[v]
		counted[v] = true
		why := r.wrong(im.epoch, im.result)
		switch {
		case again:
		case why == "":
			if r.j.Passed++; r.j.Spec.silent(r.e.plan.fault) && im.result.refuses() {
				r.j.Noticed++
			}
		case im.result.late:
			r.j.undecided(fmt.Sprintf("%s: %s", r.e.plan.name, why))
		default:
			if err := r.reject(ctx, im, why); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *judge) undecided(why string) {
	j.Undecided++
	if j.Undecidable == "" {
		j.Undecidable = why
	}
}

// reject checks a rejected image once more, and blames it.
func (r *round) reject(ctx context.Context, im *image, why string) error {
	p := r.pointOf(im)
	again, err := r.try(ctx, p, im.n, im.epoch)
	if err != nil {
		return err
	}
	if again == "" {
		r.j.undecided(fmt.Sprintf("%s: rejected once, and accepted the next time: %s", r.e.plan.name, why))
		return nil
	}
	r.j.Failed++
	return r.blame(ctx, im, p, why)
}

// pointOf forms the images of a point once more.
func (r *round) pointOf(im *image) *block.Point {
	walk := block.NewWalk(r.base, r.log, r.j.Spec.Sector)
	walk.To(im.at)
	return walk.Images(r.j.Spec.Images, r.j.Spec.Seed)
}

// try recovers an image of a point, and says why it is rejected, or returns "".
func (r *round) try(ctx context.Context, p *block.Point, n int, at *epoch) (why string, err error) {
	disks, _ := p.Form(n)
	out, err := r.recover(ctx, <-r.j.free, disks, at, nil)
	if err != nil {
		return "", err
	}
	return r.wrong(at, out), nil
}

// recoveries loses the power once more at each point of the recovery of each image.
func (r *round) recoveries(ctx context.Context) error {
	done := map[*outcome]bool{}
	known := map[imageKey]*outcome{}
	for k, out := range r.known {
		known[k] = out
	}
	for _, im := range r.all {
		if done[im.result] || im.result.failed != "" || len(im.result.log) == 0 {
			continue
		}
		done[im.result] = true
		disks, _ := r.pointOf(im).Form(im.n)
		inner := &round{j: r.j, e: r.e, known: known, parent: im, base: disks, log: im.result.log}
		if err := inner.run(ctx); err != nil {
			return err
		}
	}
	return nil
}
