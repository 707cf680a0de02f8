//go:build linux

package node

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/node/watchdog"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

// slice is how many calls a thread makes before others get their turn; so two threads
// that poll for each other end.
const slice = 4096

// run lets the runnable threads run, one at a time, in the order in which they
// became runnable unless the step is varied, until all of them wait, or do nothing but
// poll: the node is quiescent.
func (n *Node) run() {
	for !n.step.over() && !n.step.polls() {
		t := n.nextTurn()
		if t == nil {
			if n.watch.Grown() { // also by what has come to it, and which no program has asked for
				n.step.cut = n.tooHeavy()
			}
			return
		}
		th := n.threads[t]
		if th == nil {
			panic(toolError{fmt.Errorf("thread %d is runnable and has no tracee", t.TID)})
		}
		n.runThread(th)
	}
}

// runThread runs th until it waits, ends or has used its slice.
func (n *Node) runThread(th *thread) {
	k := th.k
	th.used, th.began = 0, n.k.Now
	switch {
	case th.k.Vfork != nil:
		if !n.endVfork(th) {
			return
		}
	case k.Call.InCall:
		if !n.handleCall(th) {
			return
		}
	case !n.deliverSignals(th):
		return
	}
	for ; !n.limits(th); th.used++ {
		if th.overdue(slice) {
			n.requeue(th)
			return
		}
		n.lendClock(th)
		s := n.goOn(th)
		n.takeClock(th)
		asked, woken := n.home.clock.Asked(), n.k.Woken
		if !n.handleStop(th, s) || n.k.Woken > woken && n.overtakenBehind(th) {
			return
		}
		if asked && n.k.HasReady() && !n.asksEarly(th) {
			n.requeue(th)
			return
		}
	}
}

// goOn lets th run up to its next stop.
func (n *Node) goOn(th *thread) tracee.Stop {
	if n.debugging != nil {
		return n.debugging.goOn(th)
	}
	must(n.watch.Running(th.tr.Process(), n.canPreempt(th)))
	must(th.tr.Continue(0))
	s, err := th.tr.Wait()
	must(err)
	n.watch.Stopped()
	return s
}

// wholeStep is how many times Limits.Calls a step may make at all.
const wholeStep = 10

// movesData: a step of which one call in so many has read or written something is not
// known to be a loop.
const movesData = 50

// limits reports whether the step has used up what one step may. A loop is told from long work by
// calls: whoever opens a file or runs code that is new to the step gets on, and may make as many
// calls again. A cut by real time depends on the machine, and is no verdict (th ran last). Nor is
// it one when the calls go on moving data, as those of a program that reads byte by byte.
func (n *Node) limits(th *thread) bool {
	if n.interrupted() {
		panic(toolError{ariadne.ErrInterrupted})
	}
	s := &n.step
	if used := s.openedFiles(); used != s.lastOpened {
		s.lastOpened, s.gotOn = used, s.calls
	}
	limit := n.cfg.Limits.Calls
	switch {
	case s.over():
	case limit > 0 && (s.calls-s.gotOn >= limit || s.calls >= wholeStep*limit):
		why := fmt.Sprintf("%d system calls in one step without coming to rest, most of them %s", s.calls, s.byNumber.names())
		if s.moved >= s.calls/movesData {
			s.cut = why + ", which still move data; unless it is a loop, raise limits.calls"
			break
		}
		s.diverged = why
	case n.watch.Grown():
		s.cut = n.tooHeavy()
	case n.watch.Expired():
		if why, ok := n.repeats(th); ok {
			s.diverged = why
			break
		}
		s.cutAt = n.pointOf(th)
		s.cut = fmt.Sprintf("no rest within %v of processor time and %v for each system call; unless it is a loop, raise limits.divergence; what ran last: %s", n.cfg.Limits.Divergence, watchdog.PerCall, n.whereIs(th))
	}
	return s.over()
}
