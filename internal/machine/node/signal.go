//go:build linux

package node

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// The supervisor holds the queues of pending signals; Linux holds masks and
// dispositions and builds the handler's frame. To deliver a signal the supervisor
// queues the real one just before the thread runs, replaces its siginfo at the
// signal stop, and steps into the handler.

// interrupt ends or resumes a blocked call when a signal is to be delivered.
func (n *Node) interrupt(th *thread, r kernel.Result) bool {
	k := th.k
	k.Wait.Interrupted = false
	for k.HasSignal() {
		info, ok := k.NextSignal()
		if !ok {
			break
		}
		act := k.Proc.Actions[info.Signo]
		if act.Handler <= signal.Ign {
			if !n.defaultAction(th, info) {
				return false
			}
			if r.Restart == kernel.RestartNever {
				return n.finish(th, -int64(unix.EINTR))
			}
			continue // no handler runs: the call goes on
		}
		n.record(th, -int64(unix.EINTR))
		if r.Restart == kernel.RestartAlways || r.Restart == kernel.RestartSA && act.Flags&signal.SARestart != 0 {
			must(th.tr.Restart())
		} else {
			must(th.tr.Return(-int64(unix.EINTR)))
		}
		saved := k.Wait.SavedMask
		k.EndWait()
		k.Call.InCall = false
		return n.deliver(th, info, saved) && n.deliverSignals(th)
	}
	k.Park()
	return false
}

// defaultAction does what SIG_DFL and SIG_IGN mean; false: the process is gone.
func (n *Node) defaultAction(th *thread, info signal.Info) bool {
	p := th.k.Proc
	if p.Actions[info.Signo].Handler == signal.Ign {
		return true
	}
	action := signal.Default(info.Signo)
	if ends := action == signal.ActTerminate || action == signal.ActCore; ends && info.PID == p.PID {
		n.watchEnd(th)
	}
	switch action {
	case signal.ActTerminate:
		n.endProcess(p, 0, info.Signo, false)
		return false
	case signal.ActCore:
		n.endProcess(p, 0, info.Signo, true)
		return false
	case signal.ActStop:
		p.Stop(info.Signo)
	}
	return true
}

// deliverSignals delivers all pending signals that th does not block, before its
// next instruction in user mode; it reports whether th goes on running.
func (n *Node) deliverSignals(th *thread) bool {
	k := th.k
	for k.HasSignal() {
		info, ok := k.NextSignal()
		if !ok {
			break
		}
		if !n.deliver(th, info, nil) {
			return false
		}
	}
	if k.Proc.Stopped {
		n.requeue(th)
		return false
	}
	return true
}

// leaveHandler lets th return from a handler while signals are pending: the mask
// that it restores may let them through at once.
func (n *Node) leaveHandler(th *thread) bool {
	for {
		must(th.tr.ToExit())
		s, err := th.tr.Wait()
		must(err)
		if s.Kind == tracee.CallExit {
			break
		}
		if s.Kind != tracee.Signal || s.Signal != unix.SIGSTOP { // the watchdog's
			panic(toolError{fmt.Errorf("thread %d: %v stop (%v) on the way out of a handler", th.k.TID, s.Kind,
				s.Signal)})
		}
	}
	must(th.tr.Refresh())
	return n.deliverSignals(th)
}

// deliver makes th enter the handler of info, or takes the default action.
// frameMask, when not nil, is the mask that the handler will restore.
func (n *Node) deliver(th *thread, info signal.Info, frameMask *signal.Set) bool {
	act := th.k.Proc.Actions[info.Signo]
	if act.Handler <= signal.Ign {
		return n.defaultAction(th, info)
	}
	sig := unix.Signal(info.Signo)
	must(th.tr.Queue(sig))
	for {
		must(th.tr.Continue(0))
		s, err := th.tr.Wait()
		must(err)
		if s.Kind == tracee.Signal && s.Signal == sig {
			break
		}
		if s.Kind != tracee.Signal || s.Signal != unix.SIGSTOP { // the watchdog's
			panic(toolError{fmt.Errorf("thread %d: %v stop (%v) where signal %d was to come", th.k.TID, s.Kind,
				s.Signal, info.Signo)})
		}
	}
	raw := tracee.SigInfo(info.Encode())
	must(th.tr.SetSigInfo(&raw))
	return n.enterHandler(th, sig, act, frameMask)
}

// enterHandler runs from a signal stop to the handler's first instruction.
func (n *Node) enterHandler(th *thread, sig unix.Signal, act signal.Action, frameMask *signal.Set) bool {
	if act.Flags&signal.SAResetHand != 0 {
		th.k.Proc.Actions[int(sig)].Handler = signal.Dfl
	}
	th.k.Handled = true
	n.step.stream.addCall(th.k.TID, -int(sig), 0)
	must(th.tr.Step(sig))
	s, err := th.tr.Wait()
	must(err)
	switch {
	case s.Kind == tracee.Signal && s.Signal == unix.SIGTRAP:
	case s.Kind == tracee.Signal && s.Signal == unix.SIGSEGV:
		// No room for the frame on the (alternate) stack.
		return n.fault(th, unix.SIGSEGV)
	case s.Kind == tracee.Exited && s.Signal == unix.SIGSEGV:
		// Nor for the frame of SIGSEGV itself: Linux has ended the process.
		n.endProcess(th.k.Proc, 0, int(unix.SIGSEGV), true)
		return false
	default:
		panic(toolError{fmt.Errorf("thread %d: %v stop (%v) entering the handler of signal %d", th.k.TID, s.Kind,
			s.Signal, sig)})
	}
	must(th.tr.LoadSigMask())
	if frameMask != nil {
		must(th.tr.SetFrameMask(uint64(*frameMask)))
	}
	return true
}

// fault handles a signal that an instruction of th caused. When th blocks it Linux
// has taken the handler away (force_sig in kernel/signal.c), and the process ends.
func (n *Node) fault(th *thread, sig unix.Signal) bool {
	p := th.k.Proc
	act := p.Actions[int(sig)]
	if act.Handler <= signal.Ign || th.SigMask().Has(int(sig)) {
		n.watchEnd(th)
		n.endProcess(p, 0, int(sig), true)
		return false
	}
	if !n.enterHandler(th, sig, act, nil) {
		return false
	}
	return n.deliverSignals(th)
}

// keepAction undoes what a trapped instruction or call has done to a thread that blocks or
// ignores the signal: Linux took its action away, and the signal out of the mask.
func (n *Node) keepAction(th *thread, sig unix.Signal) {
	act := th.k.Proc.Actions[sig]
	blocked := th.SigMask().Has(int(sig))
	if act.Handler != signal.Dfl && (blocked || act.Handler == signal.Ign) {
		restore := th.tr.Borrow()
		n.setAction(th.tr, int(sig), act) // all is as it was
		must(restore())
	}
	if blocked {
		th.SetSigMask(th.SigMask())
	}
}

// watchEnd lets somebody who watches the node see the thread that ends its process.
func (n *Node) watchEnd(th *thread) {
	if n.watching != nil {
		must(n.watching(&inspect.Effect{PID: th.k.Proc.PID, TID: th.k.TID, Ends: true}))
	}
}
