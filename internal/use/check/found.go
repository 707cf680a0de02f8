package check

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// confirmFound confirms the violation that an execution ended in, unless it is known, enters it and
// looks for a smaller execution. The nodes of a worker's search, where they are frozen, stay where
// they are meanwhile.
func (w *worker) confirmFound(ctx context.Context, index int, a *record.Attempt, tape *record.Tape) error {
	c := w.check
	c.confirming.Lock()
	defer c.confirming.Unlock()
	var v *record.Violation
	var t *trace.Trace
	confirm := func() (err error) {
		v, t, err = w.confirm(ctx, index, a, tape)
		return err
	}
	began, err := time.Now(), error(nil)
	if w.living != nil {
		err = confirm()
	} else {
		err = c.system.OnThread(w.id, confirm)
	}
	if v == nil {
		return err
	}
	// What is smaller takes no longer to be confirmed than what was found.
	took := time.Since(began)
	if limit := c.timeLeft(c.opts.Shrink+took) - took; err == nil && c.opts.Shrink > 0 && limit > 0 {
		if v.Shrunk, err = w.shrink(ctx, index, a, t, v.Dir, limit); v.Shrunk != nil {
			c.ledger.changeViolations(func(r *record.Report) { r.Refine(*v) })
			err = cmp.Or(err, c.saveNowAndThen())
		}
	}
	if c.opts.OnViolation != nil {
		c.telling.Lock()
		defer c.telling.Unlock()
		c.opts.OnViolation(*v)
	}
	return err
}

// confirm confirms the violation that an execution ended in, and enters it. Its record is that of
// the replay which confirmed it. nil: it is known, or did not happen again.
func (w *worker) confirm(ctx context.Context, index int, a *record.Attempt, tape *record.Tape) (*record.Violation,
	*trace.Trace, error) {
	c := w.check
	number, known, over := c.ledger.numberOf(a.Violation)
	if over || known {
		// When another worker was first, this one comes again with the next check.
		return nil, nil, w.enterOne(index, a, known)
	}
	dir := c.dir.Violation(number)
	h, err := c.header(index, dir)
	if err != nil {
		return nil, nil, err
	}
	if a.Walked {
		removeLimits(&h)
	}
	// A check that was killed while it confirmed a violation has left half a record.
	if err := os.RemoveAll(dir); err != nil {
		return nil, nil, err
	}
	rec, err := record.NewRecorder(dir, c.system, h)
	if err != nil {
		return nil, nil, err
	}
	t, calls := tape.End(h, &a.Result, c.system.Names())
	again, m, err := run.Confirm(ctx, c.system, t, calls, rec.Step)
	err = cmp.Or(err, rec.End(&again.Result))
	switch {
	case err != nil:
		return nil, nil, err
	case m != nil:
		return nil, nil, cmp.Or(os.RemoveAll(dir), w.unconfirmed(index, a, m, t, calls, tape.Used))
	case again.End == search.EndStopped:
		return nil, nil, cmp.Or(os.RemoveAll(dir), w.enterOne(index, a, false))
	}
	if a.Near != nil {
		if a.Goal.Live, err = c.saveLive(index, dir, a.Near); err != nil {
			return nil, nil, err
		}
	}
	a.Numbers, a.Late = again.Numbers, again.Late
	size := run.SizeOf(c.system, t, a.Late)
	var v record.Violation
	w.giveServers(rec.Servers())
	c.ledger.changeViolations(func(r *record.Report) { v = r.Found(a, index, dir, rec.Path(), &size) })
	return &v, t, w.enterOne(index, a, true)
}

// saveLive saves the trace of a live execution in a violation's directory, and returns where.
func (c *check) saveLive(index int, dir string, steps []trace.Step) (path string, err error) {
	to, like := filepath.Join(dir, liveDir), record.TapeOf(c.system.Digests, steps)
	h, err := c.header(index, to)
	if err != nil {
		return "", err
	}
	removeLimits(&h)
	t, calls := like.End(h, &search.Result{End: search.EndStrategy}, c.system.Names())
	return record.SaveTrace(to, t, calls, like.Used.Host())
}

// removeLimits makes a header one of an execution that went on behind the limits.
func removeLimits(h *trace.Header) { h.MaxSteps, h.MaxTime = 0, 0 }

// shrink looks for a smaller execution that ends in the violation of a trace, and records it below
// the violation's directory, for so long. nil: there is none.
func (w *worker) shrink(ctx context.Context, index int, a *record.Attempt, t *trace.Trace, dir string,
	limit time.Duration) (smaller *record.Shrunk, err error) {
	c, o := w.check, run.Shrinking{Limit: limit, Late: a.Late}
	var look *looking
	began := time.Now()
	if w.living == nil {
		o.Space = w.search.Space.ForkSpace()
		if a.Goal != nil {
			if look, err = w.goals.newLooking(o.Space, a.Goal.Bound); err != nil {
				return nil, err
			}
			o.Critical, o.Bound, o.IsDead = cmp.Or(a.Goal.Critical, a.Goal.By), a.Goal.Bound, look.isDead
		}
	}
	s, err := run.Shrink(ctx, c.system, t, o)
	if s == nil || err != nil {
		return nil, err
	}
	var goal *record.Goal
	if look != nil {
		look.limit = c.timeLeft(c.opts.Shrink)
		if goal, err = look.shrunk(ctx, s); err != nil {
			return nil, err
		}
	}
	took := time.Since(began)
	to := filepath.Join(dir, shrunkDir)
	confirm := func() (err error) {
		smaller, err = w.recordShrunk(ctx, index, s, to)
		return err
	}
	if w.living != nil {
		err = confirm()
	} else {
		err = c.system.OnThread(w.id, confirm)
	}
	if smaller != nil {
		smaller.Goal, smaller.Took = goal, took
	}
	return smaller, err
}

// recordShrunk confirms a smaller execution, and records it in a directory. nil: it did not happen
// again.
func (w *worker) recordShrunk(ctx context.Context, index int, s *run.Shrunk, to string) (_ *record.Shrunk, err error) {
	c := w.check
	if s.Trace.Header, err = c.header(index, to); err != nil {
		return nil, err
	}
	if s.Attempt.Walked {
		removeLimits(&s.Trace.Header)
	}
	rec, err := record.NewRecorder(to, c.system, s.Trace.Header)
	if err != nil {
		return nil, err
	}
	again, m, err := run.Confirm(ctx, c.system, s.Trace, s.Calls, rec.Step)
	err = cmp.Or(err, rec.End(&again.Result))
	switch {
	case err != nil:
		return nil, err
	case m != nil:
		return nil, cmp.Or(os.RemoveAll(to), w.unconfirmed(index, &s.Attempt, m, s.Trace, s.Calls, s.Used))
	case again.End == search.EndStopped:
		return nil, os.RemoveAll(to)
	}
	smaller := &record.Shrunk{Dir: to, Trace: rec.Path(), Replay: "ariadne replay " + record.ShellWord(rec.Path()),
		From: s.From, To: s.To, Tried: s.Tried, Numbers: again.Numbers}
	if v := again.Violation; v != nil {
		smaller.Message, smaller.At, smaller.Step = v.Message, v.At, v.Step
	}
	return smaller, nil
}

// liveDir is where in a violation's directory a live execution lies that is like it.
const liveDir = "live"

// shrunkDir is where in a violation's directory the smaller execution lies.
const shrunkDir = "shrunk"

// unconfirmed enters a violation that did not happen again. It is none, but a
// bug of Ariadne's, whose trace is kept; or, when a step was marked unreplayable,
// a doubt, of which one is enough.
func (w *worker) unconfirmed(index int, a *record.Attempt, m *replay.Mismatch, t *trace.Trace, calls []byte,
	u system.Used) error {
	c, none := w.check, *a
	none.Violation, none.End = nil, endUnconfirmed
	told := m.Excused && c.ledger.hasEnded(endUnconfirmed)
	if err := w.enterOne(index, &none, true); err != nil || told {
		return err
	}
	dir, err := c.dir.NewUnconfirmed()
	if err != nil {
		return err
	}
	path, err := record.SaveTrace(dir, t, calls, u.Host())
	if err != nil {
		return err
	}
	text := run.UnconfirmedText(t, m) + "\nreplay: ariadne replay " + record.ShellWord(path)
	if doubts := c.hostDoubts(nil, u.Changed()); len(doubts) > 0 {
		w.doubt(stopHost, append(doubts, text)...)
		return nil
	}
	beyond := c.system.UncontrolledBy(m.Node)
	if !m.Excused && beyond == "" {
		return system.Bug{Err: errors.New(text)}
	}
	why := ""
	if beyond != "" {
		why = stopUncontrolled
	}
	w.doubt(why, text+beyond)
	return nil
}

// endUnconfirmed stands in Report.Ends for a violation that did not happen again.
const endUnconfirmed = "violation that did not happen again"
