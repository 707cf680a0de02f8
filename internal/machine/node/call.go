//go:build linux

package node

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/seccomp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// handleStop handles one stop of th and reports whether th goes on running.
func (n *Node) handleStop(th *thread, s tracee.Stop) bool {
	n.layout.forget()
	switch s.Kind {
	case tracee.Call:
		must(th.tr.LoadCall())
		if n.cfg.Pages && n.noteMappingCall(th) {
			return true // Linux runs it as it stands
		}
		th.k.Native = false
		th.k.Call = kernel.Call{NR: th.tr.Number(), Args: th.tr.Args(), InCall: true}
		if !th.tr.Is64() {
			th.k.Call.NR = -1
		}
		th.k.Call.Naps = n.naps(th)
		n.step.makes(th.k.Call.NR)
		n.watch.Called()
		n.spendTime(th, n.callCost())
		if sys.Of(th.k.Call.NR).ReadsClock {
			n.step.looksAtClock()
			n.noteRead(th)
		}
		if !n.home.clock.Asked() { // who only reads the clock is to be hurried on
			n.resetReads()
		}
		if over, on := n.refuses(th, unix.AUDIT_ARCH_X86_64); over {
			return on
		}
		return !n.turnEnds(th) && !n.overtaken(th) && n.handleCall(th)
	case tracee.Signal:
		return n.handleSignal(th, s.Signal)
	case tracee.Exited:
		panic(toolError{fmt.Errorf("process %d was ended from outside (signal %d)", th.k.Proc.PID, s.Signal)})
	}
	panic(toolError{fmt.Errorf("thread %d: unexpected %v stop", th.k.TID, s.Kind)})
}

// handleCall runs the handler of the call that th stands in, for the first time or
// again, and reports whether th goes on running.
func (n *Node) handleCall(th *thread) bool {
	k := th.k
	n.layout.forget()
	if k.Call.NR == unix.SYS_SETRLIMIT || k.Call.NR == unix.SYS_PRLIMIT64 {
		n.paging.noteChanges() // Linux is told of some of them, and not by a call
	}
	if n.goesDownBefore(th) {
		return false
	}
	if e := n.vary(th); e != 0 {
		return n.failCall(th, e)
	}
	n.askCall(th)
	n.showInstead(th)
	r := n.handleWatched(th)
	if k.Call.Cut {
		return false
	}
	if len(n.k.Used)+len(n.k.Asked) > 0 {
		n.takeUsed()
	}
	instead := n.k.Instead != nil
	n.k.Instead = nil
	switch r.Op {
	case kernel.OpReturn:
		if r.Unseen {
			return n.finishUnseen(th, r.Value)
		}
		if k.Call.NR == unix.SYS_SHMAT && r.Value >= 0 && n.hasOrphans() {
			n.adoptSegment(th, uint64(r.Value))
		}
		if n.mapsCode(k) {
			n.breakMapped(th, r.Value)
		}
		if k.Call.Part > 0 {
			sys.MovedPart(k)
		}
		return n.finish(th, r.Value)
	case kernel.OpBlock:
		if k.Wait.Uninterruptible && !k.Doomed() {
			k.Wait.Interrupted = false
			k.Park()
			return false
		}
		if k.Wait.Interrupted || k.HasSignal() {
			return n.interrupt(th, r)
		}
		if n.failing != nil {
			if interrupted, goesOn := n.varyWait(th, r); interrupted {
				return goesOn
			}
		}
		k.Park()
		return false
	case kernel.OpNative:
		return n.runNative(th)
	case kernel.OpYield:
		if n.finish(th, r.Value) {
			n.requeue(th)
		}
		return false
	case kernel.OpClone:
		return n.clone(th, r.Clone)
	case kernel.OpExec:
		if instead {
			execArgs(k) // as exec does
			return n.finish(th, -int64(unix.ENOENT))
		}
		return n.exec(th)
	case kernel.OpExit:
		n.record(th, 0)
		n.endThread(th, int(r.Value))
		return false
	case kernel.OpExitGroup:
		n.record(th, 0)
		n.endProcess(k.Proc, int(r.Value), 0, false)
		return false
	}
	panic(toolError{fmt.Errorf("%s: handler returned op %d", callName(k.Call.NR), r.Op)})
}

// runNative lets Linux run the call as it stands.
func (n *Node) runNative(th *thread) bool {
	k := th.k
	n.paging.noteCall(th.tr.PID, k.Call.NR, k.Call.Args[:])
	n.holdMapped(th)
	if n.sealsFrozen(th) {
		return n.finish(th, -int64(unix.EBUSY))
	}
	if th.tr.Consumed() || k.Wait.Preempted || k.Call.Part > 0 {
		// The handler used up the call's own entry for another call. A thread that was
		// preempted there may be a copy, which has none and must do the same. Or the call has
		// other arguments than its program gave it.
		v, err := th.tr.Inject(k.Call.NR, k.Call.Args[:]...)
		must(err)
		if n.mapsCode(k) {
			n.breakMapped(th, v)
		}
		return n.finish(th, v)
	}
	n.record(th, nativeResult)
	code := n.mapsCode(k)
	if code || k.HasSignal() && k.Call.NR != unix.SYS_RT_SIGRETURN { // of a timer that has expired
		v, err := th.tr.Inject(k.Call.NR, k.Call.Args[:]...)
		must(err)
		if code {
			n.breakMapped(th, v)
		}
		must(th.tr.Return(v))
		return n.leaveCall(th)
	}
	k.EndWait()
	k.Call.InCall = false
	k.Native = true
	if k.Call.NR == unix.SYS_RT_SIGRETURN {
		if th.tr.LeavesHandler(); k.PendingSignals() != 0 {
			return n.leaveHandler(th)
		}
	}
	return true
}

// handleSignal handles a signal that Linux itself raised in th: a fault, a trapped
// instruction, or the watchdog's SIGSTOP.
func (n *Node) handleSignal(th *thread, sig unix.Signal) bool {
	switch sig {
	case unix.SIGSEGV:
		if length, aux := th.tr.TrappedTSC(); length > 0 && !th.k.NoTSC {
			n.readTSC(th, length, aux)
			n.keepAction(th, sig)
			return n.deliverSignals(th)
		}
		if length := th.tr.TrappedCPUID(); length > 0 && tracee.CanTrapCPUID() {
			must(th.tr.SkipCPUID(length, n.cpuid))
			n.keepAction(th, sig)
			return true
		}
		return n.fault(th, sig)
	case unix.SIGSYS:
		if nr, arch, ok := th.tr.DeniedCall(); ok {
			return n.handleDeniedCall(th, nr, arch)
		}
		return n.fault(th, sig)
	case unix.SIGTRAP:
		if ours, goesOn := n.atBreak(th); ours {
			return goesOn
		}
		return n.fault(th, sig)
	case unix.SIGBUS, unix.SIGFPE, unix.SIGILL:
		return n.fault(th, sig)
	case unix.SIGXFSZ: // a write past RLIMIT_FSIZE
		th.k.Send(signal.Info{Signo: int(sig), Code: signal.SIKernel})
		return n.deliverSignals(th)
	case unix.SIGSTOP:
		if n.watch.Expired() {
			return true // limits() ends the step
		}
		return n.preempt(th)
	}
	panic(toolError{fmt.Errorf("thread %d: signal %v from outside", th.k.TID, sig)})
}

// handleDeniedCall is a call that raised SIGSYS instead of a stop. One of a 32-bit or an x32
// program is refused: Linux may be built without the latter, and most are. One that is refused
// unseen comes here where the program's own filter may want to know of it.
func (n *Node) handleDeniedCall(th *thread, nr int, arch uint32) bool {
	n.step.makes(-1)
	n.watch.Called()
	n.spendTime(th, kernel.CallCost)
	if th.k.Seccomp.Mode != seccomp.None {
		n.keepAction(th, unix.SIGSYS)
		th.k.Call = kernel.Call{NR: nr, Args: th.tr.StandAtDenied(arch)}
		if over, on := n.refuses(th, arch); over {
			return on
		}
	}
	n.step.stream.addCall(th.k.TID, nr, -int64(unix.ENOSYS))
	switch {
	case sys.Of(nr).Runs == sys.Unseen && arch == unix.AUDIT_ARCH_X86_64:
	case arch == unix.AUDIT_ARCH_X86_64:
		n.k.Refuse(th.k, "calls of x32 programs", fmt.Sprintf("number %#x", nr), true)
	default:
		n.k.Refuse(th.k, "calls of 32-bit programs", fmt.Sprintf("number %#x", nr), false)
	}
	must(th.tr.Deny(unix.ENOSYS))
	n.keepAction(th, unix.SIGSYS)
	return n.deliverSignals(th)
}
