package run

import (
	"fmt"
	"path/filepath"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
)

// living is a worker whose nodes live: each path is an execution, of which there is a tape,
// and of some a record.
type living struct {
	*worker
	nodes *memo.Living
	tape  *tape     // nil between two executions
	rec   *recorder // of the first execution; else nil
	now   attempt   // what the execution has come to
}

// indexed are explorers whose executions can be made again by their index.
type indexed interface{ Index() int }

func (l *living) index() int {
	if e, ok := l.search.Explorer.(indexed); ok {
		return e.Index()
	}
	return l.opts.First
}

var _ indexed = (*strategy.Random)(nil)

// watch looks at the frame to which the execution has come.
func (l *living) watch(p *space.Path) {
	if p.Steps() == 0 {
		l.begin()
		return
	}
	s := p.Step(p.Steps())
	l.check.steps.Add(1)
	l.now.Count(s)
	l.now.refused(s.Action.Node, s.Output.Refusals)
	l.tape.step(s)
	if l.rec != nil {
		l.rec.step(s)
	}
}

func (l *living) begin() {
	l.tape, l.now = newTape(l.digests), attempt{}
	if index := l.index(); index == l.opts.First {
		var err error
		l.rec, err = l.record(index, l.directory(index))
		l.err = first(l.err, err)
	}
}

// directory is where an execution of which something is kept has its own.
func (l *living) directory(index int) string {
	return filepath.Join(l.report.Out, fmt.Sprintf("%s%d", executionDir, index))
}

// end ends the record of an execution.
func (l *living) end(r *search.Result) error {
	rec := l.rec
	if rec == nil {
		return nil
	}
	l.rec = nil
	return rec.end(r)
}

// stopped enters an execution that was given up, if there is one. err is why, or nil.
func (l *living) stopped(err error) error {
	if l.tape == nil {
		return nil
	}
	a := l.take()
	if err == nil {
		a.End = search.EndStopped
	}
	return first(l.end(&search.Result{End: a.End}), l.check.enter(l.index(), &a, false))
}

// take takes what the execution has come to. Its steps are counted elsewhere.
func (l *living) take() attempt {
	a := l.now
	a.Steps, a.Calls, a.Messages = 0, 0, 0
	l.now = attempt{}
	return a
}

// ended enters an execution. Its steps were counted.
func (l *living) ended(p *space.Path, end string, v *ariadne.Violation) error {
	a, tape := l.take(), l.tape
	a.End, a.Violation, l.tape = end, v, nil
	if err := l.end(&search.Result{End: end, Violation: v}); err != nil {
		return err
	}
	if v == nil {
		return first(l.keep(l.index(), &a, tape), l.check.enter(l.index(), &a, true))
	}
	// The nodes make room for those that confirm it.
	if err := l.nodes.Restart(); err != nil {
		return asBug(err)
	}
	return l.found(l.index(), &a, tape)
}
