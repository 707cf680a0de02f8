//go:build linux

package node

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/seccomp"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// refuses asks what the program itself has put in force about the call that th enters, and does
// what comes of it when the call is not made. Then over is true, and on says whether th goes on
// running.
func (n *Node) refuses(th *thread, arch uint32) (over, on bool) {
	k := th.k
	switch k.Seccomp.Mode {
	case seccomp.None:
		return false, true
	case seccomp.Strict:
		if arch == unix.AUDIT_ARCH_X86_64 && sys.AllowedStrictly(k.Call.NR) {
			return false, true
		}
		n.record(th, 0)
		return true, n.killThread(th, unix.SIGKILL, false)
	}
	ip := th.tr.IP()
	answer := sys.Judge(k, arch, ip)
	switch answer.Action() {
	case seccomp.Allow, seccomp.Log:
		return false, true
	case seccomp.Errno:
		const maxErrno = 4095
		return true, n.failCall(th, kernel.Errno(min(answer.Data(), maxErrno)))
	case seccomp.Trace, seccomp.UserNotify: // with nobody to tell
		return true, n.failCall(th, unix.ENOSYS)
	case seccomp.Trap:
		return true, n.trap(th, arch, ip, answer.Data())
	case seccomp.KillThread:
		n.record(th, 0)
		return true, n.killThread(th, unix.SIGSYS, true)
	}
	n.record(th, 0)
	n.endProcess(k.Proc, 0, int(unix.SIGSYS), true)
	return true, false
}

// trap ends the call with SIGSYS, at whose handler the register of its result holds its number.
// Where it is blocked or ignored the process ends.
func (n *Node) trap(th *thread, arch uint32, ip uint64, data int) bool {
	k := th.k
	info := sys.BySeccomp(k.Call.NR, arch, ip, data)
	n.record(th, int64(k.Call.NR))
	if k.Proc.Ignores(info.Signo) || k.M.SigMask().Has(info.Signo) {
		n.endProcess(k.Proc, 0, info.Signo, true)
		return false
	}
	must(th.tr.Return(int64(k.Call.NR)))
	k.EndWait()
	k.Call.InCall = false
	n.expirePassed(th)
	return n.deliver(th, info, nil) && n.deliverSignals(th)
}

// killThread ends th by a signal, and its process with it when no other thread is left.
func (n *Node) killThread(th *thread, sig unix.Signal, core bool) bool {
	if len(th.k.Proc.Threads) == 1 {
		n.endProcess(th.k.Proc, 0, int(sig), core)
	} else {
		if !th.tr.InCall() {
			th.tr.Borrow()
		}
		n.endThread(th, 0)
	}
	return false
}
