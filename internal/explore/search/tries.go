package search

import (
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// tries are walks from states of a path that several may take at once (Liveness.Share). The result
// is that of one walk after the other, up to the first live one. Walks behind it that others have
// begun are given up, and do not count.
type tries struct {
	of   *Liveness
	on   *space.Path // it stays as it is
	from func(i int) int
	walk func(by *Liveness, i int) (walk, error)
	all  bool // a live one ends nothing

	mu       sync.Mutex // of all below
	next     int
	live     int         // the first live one that is known; len(outcomes): none is
	path     *space.Path // its path
	outcomes []outcome
	err      error

	least atomic.Int64 // live
	over  atomic.Bool
}

// outcome is what came of a walk.
type outcome struct {
	ended   bool // it was not stopped
	end     WalkEnd
	steps   int
	counted int // those from where it counts
}

// newTries returns so many walks that are to be taken from states of a path.
func (l *Liveness) newTries(on *space.Path, walks int, one func(by *Liveness, i int) (walk, error)) *tries {
	t := &tries{of: l, on: on, walk: one, live: walks, path: l.first, outcomes: make([]outcome, walks)}
	t.least.Store(int64(walks))
	return t
}

// takeAll takes them.
func (t *tries) takeAll() error {
	if l := t.of; l.Share != nil && len(t.outcomes) > 1 {
		l.Share(t.takeSome)
	} else {
		t.takeSome(l)
	}
	t.of.gone = t.of.gone || t.over.Load()
	return t.err
}

// takeSome takes one after the other of those that nobody has taken.
func (t *tries) takeSome(by *Liveness) {
	at := -1
	for {
		i, ok := t.drawNext()
		if !ok {
			return
		}
		err := error(nil)
		if n := t.from(i); at == n {
			by.try.CutExecution(n)
		} else {
			at, err = n, by.forkWithoutBudgets(by.try, t.on, n)
		}
		var w walk
		work := by.work
		if err == nil {
			by.halt = func() bool { return t.least.Load() < int64(i) || t.isOver() }
			w, err = t.walk(by, i)
			by.halt = nil
		}
		t.enterWalk(by, i, w, by.work-work, err)
	}
}

// isOver reports whether all is to be given up, for who helps.
func (t *tries) isOver() bool {
	if t.of.Over != nil && t.of.Over() || t.of.IsLate() {
		t.over.Store(true)
	}
	return t.over.Load()
}

func (t *tries) drawNext() (i int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i = t.next; t.err != nil || t.over.Load() || i >= len(t.outcomes) || !t.all && i >= t.live {
		return 0, false
	}
	t.next++
	return i, true
}

func (t *tries) enterWalk(by *Liveness, i int, w walk, steps int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.err = err
		return
	}
	t.outcomes[i] = outcome{!w.halted, w.end, steps, by.try.Steps() - w.start}
	switch {
	case w.halted && i < t.live: // not because of a live one before it
		t.over.Store(true)
	case t.all || i >= t.live:
	case w.end == WalkLive:
		t.live = i
		t.least.Store(int64(i))
		by.try.ForkInto(t.path, by.try.Steps())
	case steps == 0: // nothing happens there, in others neither
		t.next = len(t.outcomes)
	}
}
