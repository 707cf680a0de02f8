package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ariadne"
	"ariadne/internal/replay"
	"ariadne/internal/search"
	"ariadne/internal/trace"
)

// found confirms the violation that an execution ended in, unless it is known,
// and enters it. Its record is that of the replay which confirmed it.
func (c *check) found(index int, a *attempt, tape *tape) error {
	c.confirming.Lock()
	defer c.confirming.Unlock()
	c.mu.Lock()
	known := !c.plan.IsNew(*a.Violation)
	over := c.plan.Stopped() == search.StopViolation
	dir := filepath.Join(c.report.Out, fmt.Sprintf("%s%d", violationDir, len(c.report.Violations)+1))
	c.mu.Unlock()
	if over || known {
		// When another worker was first, this one comes again with the next check.
		return c.enter(index, a, known)
	}
	h, err := c.header(index, dir)
	if err != nil {
		return err
	}
	// A check that was killed while it confirmed a violation has left half a record.
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	rec, err := newRecorder(dir, c.spec, h, c.digests)
	if err != nil {
		return err
	}
	t, calls := tape.end(h, &a.Result, nodeNames(c.spec))
	again, m, err := c.confirm(t, calls, rec.step, func() bool { return c.ctx.Err() != nil })
	err = first(err, rec.end(&again.Result))
	switch {
	case err != nil:
		return err
	case m != nil:
		return first(os.RemoveAll(dir), c.unconfirmed(index, a, m, t, calls, tape.used))
	case again.End == search.EndStopped:
		return first(os.RemoveAll(dir), c.enter(index, a, false))
	}
	c.mu.Lock()
	v := c.report.violation(a, index, dir, rec.path())
	c.saved = time.Time{} // what was found is kept at once
	c.mu.Unlock()
	err = c.enter(index, a, true)
	if c.opts.OnViolation != nil {
		c.telling.Lock()
		defer c.telling.Unlock()
		c.opts.OnViolation(v)
	}
	return err
}

// confirm replays a violation that was just found.
func (y *system) confirm(t *trace.Trace, calls []byte, watch func(ariadne.Step), stopped func() bool) (attempt, *replay.Mismatch, error) {
	reader, err := trace.NewCallReader(bytes.NewReader(calls))
	if err != nil {
		return attempt{}, nil, bug{err}
	}
	return y.follow(t, reader, watch, stopped)
}

// unconfirmed enters a violation that did not happen again. It is none, but a
// bug of Ariadne's, whose trace is kept; or, when a step was marked unreplayable,
// a doubt, of which one is enough.
func (c *check) unconfirmed(index int, a *attempt, m *replay.Mismatch, t *trace.Trace, calls []byte, u used) error {
	none := *a
	none.Violation, none.End = nil, endUnconfirmed
	c.mu.Lock()
	told := m.Excused && c.report.Ends[endUnconfirmed] > 0
	c.mu.Unlock()
	if err := c.enter(index, &none, true); err != nil || told {
		return err
	}
	dir, err := newOut(filepath.Join(c.report.Out, unconfirmed))
	if err != nil {
		return err
	}
	path, err := saveTrace(dir, t, calls, u.host())
	if err != nil {
		return err
	}
	text := unconfirmedText(t, m) + "\nreplay: ariadne replay " + shellWord(path)
	if doubts := c.hostDoubts(nil, u.changed()); len(doubts) > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.report.doubt(append(doubts, text)...)
		c.plan.Stop(stopHost)
		return nil
	}
	beyond := c.uncontrolledBy(m.Node)
	if !m.Excused && beyond == "" {
		return bug{errors.New(text)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.doubt(text + beyond)
	if beyond != "" {
		c.plan.Stop(stopUncontrolled)
	}
	return nil
}

// endUnconfirmed stands in Report.Ends for a violation that did not happen again.
const endUnconfirmed = "violation that did not happen again"

func unconfirmedText(t *trace.Trace, m *replay.Mismatch) string {
	v := t.Violation
	return fmt.Sprintf("a violation in execution %d did not happen again when it was replayed: %s of %s at step %d: %s\n%s",
		t.Execution, v.Kind, v.Node, v.Step, v.Message, m)
}
