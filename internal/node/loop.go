//go:build linux

package node

import (
	"fmt"

	"ariadne/internal/kernel"
)

// slice is how many calls a thread makes before others get their turn; so two threads
// that poll for each other end.
const slice = 4096

// run lets the runnable threads run, one at a time, in the order in which they
// became runnable, until all of them wait, or do nothing but poll: the node is
// quiescent.
func (n *Node) run() {
	for n.step.diverged == "" && !n.step.polling {
		t := n.k.NextReady()
		if t == nil {
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
	case th.vfork != nil:
		if !n.endVfork(th) {
			return
		}
	case k.Call.InCall:
		if !n.call(th) {
			return
		}
	case !n.deliverSignals(th):
		return
	}
	for ; !n.limits(); th.used++ {
		if th.overdue(slice) {
			n.requeue(th)
			return
		}
		n.lendClock(th)
		n.watch.running(th.tr.PID, th.tr.TID, n.canPreempt())
		must(th.tr.Continue(0))
		s, err := th.tr.Wait()
		must(err)
		n.watch.stopped()
		n.takeClock(th)
		asked := n.home.clock.Asked()
		if !n.stop(th, s) {
			return
		}
		if asked && n.k.HasReady() {
			n.requeue(th)
			return
		}
	}
}

// requeue puts a thread that could go on at the end of the run queue.
func (n *Node) requeue(th *thread) {
	th.k.State = kernel.Runnable
	n.k.MakeReady(th.k)
}

// limits reports whether the step has used up what one step may.
func (n *Node) limits() bool {
	if n.step.diverged != "" {
		return true
	}
	if limit := n.cfg.Spec.Limits.Calls; limit > 0 && n.step.calls >= limit {
		n.step.diverged = fmt.Sprintf("%d system calls in one step without coming to rest, most of them %s", n.step.calls, n.step.made.names())
	} else if n.watch.expired() {
		n.step.diverged = fmt.Sprintf("no rest after %v of processor time in one step", n.cfg.Spec.Limits.Divergence)
		if n.step.calls > slice {
			n.step.diverged += fmt.Sprintf(" and %d system calls, most of them %s", n.step.calls, n.step.made.names())
		}
	}
	return n.step.diverged != ""
}
