package check

import (
	"cmp"
	"context"
	"errors"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// living is a worker whose nodes live: each path is an execution, of which there is a tape,
// and of some a record.
type living struct {
	worker *worker
	nodes  *memo.Living
	tape   *record.Tape     // nil between two executions
	rec    *record.Recorder // of the first execution; else nil
	now    record.Attempt   // what the execution has come to
	// the execution so far, if there is a corpus; its Deviations are used again
	prefix strategy.Prefix
}

// indexed are explorers whose executions can be made again by their index.
type indexed interface{ Index() int }

func (l *living) index() int {
	if e, ok := l.worker.search.Explorer.(indexed); ok {
		return e.Index()
	}
	return l.worker.check.opts.First
}

var _ indexed = (*strategy.Random)(nil)

// watchFrame looks at the frame to which the execution has come.
func (l *living) watchFrame(p *space.Path) {
	if p.Steps() == 0 {
		l.beginRecord()
		return
	}
	if l.worker.explorer.corpus.path != "" {
		l.prefix = l.prefix.Then(p)
	}
	s := p.Step(p.Steps())
	l.worker.check.steps.Add(1)
	l.now.CountStep(s)
	l.now.Refused(s.Action.Node, s.Output.Refusals)
	l.now.Cut, l.now.CutNode = s.Output.Cut, s.Action.Node
	l.tape.Step(s)
	if l.rec != nil {
		l.rec.Step(s)
	}
}

func (l *living) beginRecord() {
	c := l.worker.check
	l.tape, l.now = record.NewTape(c.system.Digests), record.Attempt{}
	l.prefix.Deviations = l.prefix.Deviations[:0]
	index := l.index()
	if index != c.opts.First {
		return
	}
	dir := c.dir.Execution(index)
	h, err := c.header(index, dir)
	if err == nil {
		l.rec, err = record.NewRecorder(dir, c.system, h)
	}
	l.worker.err = cmp.Or(l.worker.err, err)
}

// endRecord ends the record of an execution.
func (l *living) endRecord(r *search.Result) error {
	rec := l.rec
	if rec == nil {
		return nil
	}
	l.rec = nil
	l.worker.giveServers(rec.Servers())
	return rec.End(r)
}

// stopped enters an execution that was given up, if there is one. err is why, or nil.
func (l *living) stopped(err error) error {
	if l.tape == nil {
		return nil
	}
	a := l.takeAttempt()
	if err == nil || errors.Is(err, ariadne.ErrInterrupted) {
		if a.End = search.EndStopped; a.Cut != "" {
			a.End = search.EndCut
		}
	}
	return cmp.Or(l.endRecord(&search.Result{End: a.End}), l.worker.enterOne(l.index(), &a, false))
}

// takeAttempt takes what the execution has come to. Its steps are counted elsewhere.
func (l *living) takeAttempt() record.Attempt {
	a := l.now
	a.Steps, a.Calls, a.Messages = 0, 0, 0
	l.now = record.Attempt{}
	return a
}

// enterExecution enters an execution. Its steps were counted.
func (l *living) enterExecution(ctx context.Context, p *space.Path, end string, v *ariadne.Violation) error {
	w := l.worker
	a, tape := l.takeAttempt(), l.tape
	a.End, a.Violation, l.tape = end, v, nil
	if err := l.endRecord(&search.Result{End: end, Violation: v}); err != nil {
		return err
	}
	if v == nil {
		return cmp.Or(w.keepTrace(l.index(), &a, tape), w.enterOne(l.index(), &a, true))
	}
	if w.check.ledger.isNew(v) {
		w.explorer.corpus.enterViolation(w.prefix(p))
	}
	// The nodes make room for those that confirm it.
	if err := l.nodes.Restart(); err != nil {
		return system.AsBug(err)
	}
	return w.confirmFound(ctx, l.index(), &a, tape)
}
