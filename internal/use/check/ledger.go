package check

import (
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// ledger is what is known of a check: its report, and the plan that says for how long it goes
// on. All workers enter what they have found.
type ledger struct {
	saving sync.Mutex // one report after the other; before mu

	mu     sync.Mutex // of all below
	plan   *search.Plan
	report *record.Report
	cover  *record.Coverage // the report's; nil until it searches
	nearby int              // workers in parts that a resumed check walks again
	leaks  int              // transitions that were not the same the second time
	saved  time.Time
	kept   map[string]bool // ways to end of which a trace is kept
	err    error
	// complete, when not nil, completes the report as it is about to be saved, with mu
	// held, and returns what is to be written before it, without; or nil.
	complete func() (write func() error)
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

// doubt enters what makes the report inconclusive, and stops the check.
func (l *ledger) doubt(why string, doubts ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Doubt(doubts...)
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

// isFirst reports whether no execution before ended in this way.
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

func (l *ledger) progress() (executions, violations int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.Executions, len(l.report.Violations)
}

// recount takes from the plan how often what was found. mu is held.
func (l *ledger) recount() {
	l.report.Next = l.plan.Resume()
	for i, f := range l.plan.Findings() {
		// A check that walks all again has not come there again yet when it is 0.
		l.report.Violations[i].Count = max(f.Count, 1)
	}
}

// due reports whether it is time to save the report; others need not, then.
func (l *ledger) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := time.Since(l.saved) >= saveEvery
	if due {
		l.saved = time.Now()
	}
	return due
}

// save writes the report as it stands. Who works meanwhile does not wait for the disk.
func (l *ledger) save(took time.Duration) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	l.saved = time.Now()
	l.report.RealTime = took
	l.report.Judge()
	var write func() error
	if l.complete != nil {
		write = l.complete()
	}
	data, err := l.report.Encode()
	l.mu.Unlock()
	if err == nil && write != nil {
		err = write()
	}
	if err != nil {
		return err
	}
	return l.report.Write(data)
}
