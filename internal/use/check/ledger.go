package check

import (
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// ledger is what is known of a check: the sum of what its workers have given, of which its report
// is made, and the plan that says for how long it goes on. Its lock is taken in this file alone.
type ledger struct {
	saving sync.Mutex // one report after the other; before mu

	mu     sync.Mutex // of all below
	plan   *search.Plan
	report *record.Report
	sum    *work.Result     // of the report, which is filled with it when somebody reads it
	totals *coverage.Totals // nil until it searches
	again  bool             // whoever goes on with this check walks all again
	nearby int              // workers in parts that a resumed check walks again
	leaks  int              // transitions that were not the same the second time
	saved  time.Time
	kept   map[string]bool // ways to end of which a trace is kept
	given  *work.Result    // all that was merged, of a unit of work for somebody else; else nil
	by     []work.Source   // of violations that were adopted, as the report has them
	err    error
	// complete, when not nil, completes the report as it is about to be saved, with mu
	// held, and returns what is to be written before it, without; or nil.
	complete func(*record.Report) (write func() error)
}

// begin begins with a report and what it counts.
func (l *ledger) begin(r *record.Report) { l.report, l.sum, l.kept = r, r.Sum(), map[string]bool{} }

// beginSearch begins a search, of which c is the coverage. again: whoever goes on with this check
// walks all of it again.
func (l *ledger) beginSearch(c *record.Coverage, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Coverage, l.sum.Cover, l.again = c, work.Cover{}, again
}

// resumeCounts goes on with what a search had counted when it was interrupted.
func (l *ledger) resumeCounts(was *work.Cover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.Cover = was.Clone()
}

// countIn lets what is seen be counted in totals, and reports be completed as they are saved.
func (l *ledger) countIn(t *coverage.Totals, complete func(*record.Report) (write func() error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals, l.complete = t, complete
}

// merge enters what came of a part of the work. It is the only way for it into the report.
func (l *ledger) merge(r *work.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given != nil {
		l.given.Add(r)
	}
	l.sum.Add(r)
	for i := range l.sum.Met {
		if m := &l.sum.Met[i]; l.totals.Report(m.State) {
			l.sum.Enter(m)
		}
	}
	l.sum.Met = nil
	single := 0
	for _, s := range r.Ended {
		single += s.To - s.From
		for i := s.From; i < s.To; i++ {
			l.plan.EnterEnd(i, nil)
		}
	}
	l.plan.CountExecutions(r.Executions - single)
	for _, f := range r.Findings {
		l.plan.EnterFinding(search.Finding{Violation: f.Violation, Execution: f.Execution, Count: f.Count})
	}
	for _, why := range r.Stop {
		l.plan.Stop(why.Text)
	}
	if len(l.sum.Bugs) >= maxBugs {
		l.plan.Stop(stopBug)
	}
}

// fillReport makes the report one of what is known. mu is held.
func (l *ledger) fillReport() {
	l.report.Fill(l.sum)
	l.report.Next = l.plan.ResumeIndex()
	for i := range l.report.Violations {
		v := &l.report.Violations[i]
		v.Count = 1 // a check that walks all again has not come there again yet when there is none
		for _, f := range l.sum.Findings {
			if search.Alike(f.Violation, v.Violation) {
				v.Count = max(f.Count, 1)
			}
		}
	}
	if c := l.report.Coverage; c != nil {
		c.Again = l.again
	}
}

// endReport returns the report as it is at the end, when nobody enters anything any more.
func (l *ledger) endReport() (r *record.Report, why string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fillReport()
	return l.report, l.plan.Stopped(), l.err
}

// mergeOwn enters what the check itself has to say.
func (l *ledger) mergeOwn(r *work.Result) {
	r.Of(ofCheck)
	l.merge(r)
}

// ofCheck is the source of what the check itself says.
var ofCheck = work.Source{Unit: -1, Serial: 1}

// addNotes enters what is to be known.
func (l *ledger) addNotes(texts ...string) {
	r := &work.Result{}
	r.Notes.Say(texts...)
	l.mergeOwn(r)
}

// addDoubts enters what makes the report inconclusive.
func (l *ledger) addDoubts(texts ...string) {
	r := &work.Result{}
	r.Doubts.Say(texts...)
	l.mergeOwn(r)
}

// stopped says why the check is over, or "".
func (l *ledger) stopped() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plan.Stopped()
}

// stop stops the check.
func (l *ledger) stop(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plan.Stop(why)
}

// fail enters an error that is no bug of Ariadne's, and stops the check.
func (l *ledger) fail(err error, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.plan.Stop(why)
}

// isFirst reports whether it was not asked before of this way to end.
func (l *ledger) isFirst(end string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.kept[end]
	l.kept[end] = true
	return first
}

// next is the index of an execution that is to be made now.
func (l *ledger) next() (index int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plan.Next()
}

// index is that of an execution which was made without one, and has ended in a violation or nil.
// known: there was one like it.
func (l *ledger) index(v *ariadne.Violation) (index int, known, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.plan.Next
	if v != nil {
		next = l.plan.NextLate
	}
	index, ok = next()
	return index, v == nil || !l.plan.IsNew(*v), ok
}

// isNew reports whether no execution has ended in a violation like v.
func (l *ledger) isNew(v *ariadne.Violation) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plan.IsNew(*v)
}

// numberOf is the number of a violation that is to be confirmed. over: the check takes no further
// ones.
func (l *ledger) numberOf(v *ariadne.Violation) (number int, known, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := l.plan.Stopped()
	return len(l.report.Violations) + 1, !l.plan.IsNew(*v), why == search.StopViolation || why == search.StopSought
}

// adopt enters a violation with a record in a directory that others have found and confirmed. Not
// listed: there is one like it of a lesser source. over is the directory of one of a greater
// source, in whose place it is; "": there was none.
func (l *ledger) adopt(r *record.Violation, v *work.Violation, dir string) (listed bool, over string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Move("", dir)
	by := work.Source{Unit: v.By.Unit, Worker: v.Item} // the unit has numbered them
	for i, was := range l.report.Violations {
		if !search.Alike(was.Violation, r.Violation) {
			continue
		}
		if l.by[i].Compare(by) <= 0 {
			return false, ""
		}
		over = was.Dir
		l.report.Violations, l.by = slices.Delete(l.report.Violations, i, i+1), slices.Delete(l.by, i, i+1)
		break
	}
	i, _ := slices.BinarySearchFunc(l.by, by, work.Source.Compare)
	l.report.Violations, l.by = slices.Insert(l.report.Violations, i, *r), slices.Insert(l.by, i, by)
	return true, over
}

// findLike is a copy of the violation of a goal that is like v; nil: there is none.
func (l *ledger) findLike(v *ariadne.Violation) *record.Violation {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.report.Violations {
		if w.Goal != nil && search.Alike(w.Violation, *v) {
			return &w
		}
	}
	return nil
}

// changeViolations changes what is known of the violations that were found, which is saved at once.
func (l *ledger) changeViolations(f func(*record.Report)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.report)
	l.saved = time.Time{}
}

// hasEnded reports whether an execution has ended so.
func (l *ledger) hasEnded(end string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum.Ends[end] > 0
}

// countMismatch counts a transition that was not the same the second time.
func (l *ledger) countMismatch() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaks++
	return l.leaks
}

// beginRewalk enters that a worker begins in a part that a resumed check walks again.
func (l *ledger) beginRewalk() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nearby++
}

// endRewalk enters that one has left it. again: a resumed check walks all again anyway.
func (l *ledger) endRewalk(again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nearby--
	l.again = again || l.nearby > 0
}

func (l *ledger) progress() (executions, violations int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum.Executions, len(l.report.Violations)
}

// isSaveDue reports whether it is time to save the report; others need not, then.
func (l *ledger) isSaveDue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := time.Since(l.saved) >= saveEvery
	if due {
		l.saved = time.Now()
	}
	return due
}

// save writes the report as it stands. Workers do not wait for the disk meanwhile.
func (l *ledger) save(took time.Duration) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	data, write, err := l.encode(took)
	if err == nil && write != nil {
		err = write()
	}
	if err != nil {
		return err
	}
	return l.report.Write(data)
}

// encode is the report as it stands, with what is to be written before it.
func (l *ledger) encode(took time.Duration) (data []byte, write func() error, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = time.Now()
	l.fillReport()
	l.report.RealTime = took
	if l.complete != nil {
		write = l.complete(l.report)
	}
	l.report.Judge()
	data, err = l.report.Encode()
	return data, write, err
}
