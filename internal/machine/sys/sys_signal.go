package sys

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

const sigsetSize = 8

// sigactionSize is the size of the kernel's struct sigaction.
const sigactionSize = 32

// sysSigaction is run by Linux too, which builds the frames of handlers.
func sysSigaction(t *kernel.Thread, a Args) kernel.Result {
	var act []byte
	if a[1] != 0 {
		var e kernel.Errno
		if act, e = readBytes(t, a[1], sigactionSize); e != 0 {
			return kernel.Fail(e)
		}
	}
	r := t.M.Syscall(unix.SYS_RT_SIGACTION, a[0], a[1], a[2], a[3])
	if r == 0 && act != nil {
		t.Proc.SetAction(int(a[0]), signal.Action{Handler: le.Uint64(act), Flags: le.Uint64(act[8:]),
			Restorer: le.Uint64(act[16:]), Mask: signal.Set(le.Uint64(act[24:]))})
	}
	return kernel.Ret(r)
}

func sysSigprocmask(t *kernel.Thread, a Args) kernel.Result {
	if a[3] != sigsetSize {
		return kernel.Fail(unix.EINVAL)
	}
	old := t.M.SigMask()
	if a[1] != 0 {
		set, e := readU64(t, a[1])
		if e != 0 {
			return kernel.Fail(e)
		}
		m := signal.Set(set)
		switch int(int32(a[0])) {
		case unix.SIG_BLOCK:
			m |= old
		case unix.SIG_UNBLOCK:
			m = old &^ m
		case unix.SIG_SETMASK:
		default:
			return kernel.Fail(unix.EINVAL)
		}
		t.SetMask(m)
	}
	if a[2] != 0 {
		return kernel.RetOr(0, writeU64(t, a[2], uint64(old)))
	}
	return kernel.Ret(0)
}

func sysSigpending(t *kernel.Thread, a Args) kernel.Result {
	if a[1] > sigsetSize {
		return kernel.Fail(unix.EINVAL)
	}
	set := le.AppendUint64(nil, uint64(t.PendingSignals()&t.M.SigMask()))
	return kernel.RetOr(0, t.M.WriteMem(a[0], set[:a[1]]))
}

func sysSigsuspend(t *kernel.Thread, a Args) kernel.Result {
	if a[1] != sigsetSize {
		return kernel.Fail(unix.EINVAL)
	}
	set, e := readU64(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	t.SwapMask(signal.Set(set))
	return t.Block(kernel.RestartNoHand)
}

func sysPause(t *kernel.Thread, a Args) kernel.Result { return t.Block(kernel.RestartNoHand) }

func sysSigtimedwait(t *kernel.Thread, a Args) kernel.Result {
	if a[3] != sigsetSize {
		return kernel.Fail(unix.EINVAL)
	}
	set, e := readU64(t, a[0])
	if e == 0 {
		e = timeoutArg(t, a[2], readTimespec)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	// SIGKILL and SIGSTOP cannot be waited for.
	want := signal.Set(set) &^ signal.SetOf(int(unix.SIGKILL), int(unix.SIGSTOP))
	if info, ok := t.TakeSignal(want); ok {
		if a[1] != 0 {
			if e := t.M.WriteMem(a[1], info.Encode()); e != 0 {
				return kernel.Fail(e)
			}
		}
		return kernel.Ret(int64(info.Signo))
	}
	if timedOut(t) {
		return kernel.Fail(unix.EAGAIN)
	}
	return t.Block(kernel.RestartNever, &t.Proc.Signals)
}

// sender is the siginfo of a signal that t sends by kill.
func sender(t *kernel.Thread, sig, code int) signal.Info {
	return signal.Info{Signo: sig, Code: code, PID: t.Proc.PID, UID: t.Cred.UID.Real}
}

// maySignal checks kill(2)'s permission and the signal's number.
func maySignal(t, to *kernel.Thread, sig int) kernel.Errno {
	if sig < 0 || sig > signal.Max {
		return unix.EINVAL
	}
	me, him := t.Cred.UID, to.Cred.UID
	if to.Proc == t.Proc || t.Capable(unix.CAP_KILL) || me.Effective == him.Real || me.Effective == him.Saved ||
		me.Real == him.Real || me.Real == him.Saved || sig == int(unix.SIGCONT) && to.Proc.SID == t.Proc.SID {
		return 0
	}
	return unix.EPERM
}

// signalProcess sends info to p as t may; signal 0 only asks whether it might.
func signalProcess(t *kernel.Thread, p *kernel.Process, info signal.Info) kernel.Errno {
	if e := maySignal(t, p.Leader, info.Signo); e != 0 || info.Signo == 0 {
		return e
	}
	return t.Node().Kill(p, info)
}

// signalByThread sends info to the process of one of its threads, whose user decides whether t may
// and which is asked first to take it.
func signalByThread(t, to *kernel.Thread, info signal.Info) kernel.Errno {
	if e := maySignal(t, to, info.Signo); e != 0 || info.Signo == 0 {
		return e
	}
	return to.SendProcess(info)
}

// signalByID is signalByThread of the process or thread that has an id.
func signalByID(t *kernel.Thread, pid int, info signal.Info) kernel.Errno {
	if p := t.Node().Procs[pid]; p != nil {
		return signalProcess(t, p, info)
	}
	if x := t.Node().Thread(pid); x != nil {
		return signalByThread(t, x, info)
	}
	return unix.ESRCH
}

func sysKill(t *kernel.Thread, a Args) kernel.Result {
	pid, sig := int(int32(a[0])), int(int32(a[1]))
	info := sender(t, sig, signal.SIUser)
	switch {
	case pid > 0:
		if pid == t.Node().Init.TID {
			return signalInit(t, sig)
		}
		return kernel.RetOr(0, signalByID(t, pid, info))
	case pid == 0:
		return signalAll(t, t.Node().Group(t.Proc.PGID), info)
	case pid == -1:
		var others []*kernel.Process
		for _, id := range t.Node().PIDs() {
			if p := t.Node().Procs[id]; p != t.Proc {
				others = append(others, p)
			}
		}
		return signalAll(t, others, info)
	}
	return signalAll(t, t.Node().Group(-pid), info)
}

// signalInit: process 1 can be seen, but not told anything.
func signalInit(t *kernel.Thread, sig int) kernel.Result {
	if e := maySignal(t, t.Node().Init, sig); e != 0 || sig == 0 {
		return kernel.RetOr(0, e)
	}
	t.Node().Refuse(t, "kill init", fmt.Sprintf("signal %d", sig), false)
	return kernel.Fail(unix.EPERM)
}

// signalAll succeeds when one could be signalled.
func signalAll(t *kernel.Thread, ps []*kernel.Process, info signal.Info) kernel.Result {
	failed := kernel.Errno(unix.ESRCH)
	some := false
	for _, p := range ps {
		if e := signalProcess(t, p, info); e == 0 {
			some = true
		} else {
			failed = e
		}
	}
	if some {
		return kernel.Ret(0)
	}
	return kernel.Fail(failed)
}

func sysTkill(t *kernel.Thread, a Args) kernel.Result {
	return signalThread(t, -1, int(int32(a[0])), sender(t, int(int32(a[1])), signal.SITkill))
}

func sysTgkill(t *kernel.Thread, a Args) kernel.Result {
	if int32(a[0]) <= 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return signalThread(t, int(int32(a[0])), int(int32(a[1])), sender(t, int(int32(a[2])), signal.SITkill))
}

// signalThread sends to one thread; tgid -1 matches any process.
func signalThread(t *kernel.Thread, tgid, tid int, info signal.Info) kernel.Result {
	if tid <= 0 {
		return kernel.Fail(unix.EINVAL)
	}
	x := t.Node().Task(tid)
	if x == nil || tgid >= 0 && x.Proc.PID != tgid {
		return kernel.Fail(unix.ESRCH)
	}
	if e := maySignal(t, x, info.Signo); e != 0 || info.Signo == 0 {
		return kernel.RetOr(0, e)
	}
	return kernel.RetOr(0, x.Send(info))
}

// readInfo reads the siginfo that a caller sends. Only the kernel and kill have
// codes from 0 up, and only to oneself may they be imitated.
func readInfo(t *kernel.Thread, addr uint64, pid, sig int) (signal.Info, kernel.Errno) {
	b, e := readBytes(t, addr, signal.InfoSize)
	if e != 0 {
		return signal.Info{}, e
	}
	le.PutUint32(b, uint32(sig))
	info := signal.DecodeInfo(b)
	if (info.Code >= 0 || info.Code == signal.SITkill) && pid != t.Proc.PID {
		return info, unix.EPERM
	}
	return info, 0
}

func sysSigqueueinfo(t *kernel.Thread, a Args) kernel.Result {
	pid, sig := int(int32(a[0])), int(int32(a[1]))
	info, e := readInfo(t, a[2], pid, sig)
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, signalByID(t, pid, info))
}

func sysTgsigqueueinfo(t *kernel.Thread, a Args) kernel.Result {
	tgid, tid, sig := int(int32(a[0])), int(int32(a[1])), int(int32(a[2]))
	if tgid <= 0 || tid <= 0 {
		return kernel.Fail(unix.EINVAL)
	}
	info, e := readInfo(t, a[3], tgid, sig)
	if e != 0 {
		return kernel.Fail(e)
	}
	return signalThread(t, tgid, tid, info)
}

func sysPidfdOpen(t *kernel.Thread, a Args) kernel.Result {
	pid := int(int32(a[0]))
	if pid <= 0 || a[1]&^unix.O_NONBLOCK != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	p := t.Node().Procs[pid]
	if p == nil {
		if t.Node().Thread(pid) != nil {
			return kernel.Fail(unix.EINVAL) // not a group's leader
		}
		return kernel.Fail(unix.ESRCH)
	}
	return kernel.RetOr(t.NewFD(&kernel.PidFile{Proc: p}, unix.O_RDWR|unix.O_CLOEXEC|int(a[1])))
}

// signalled is the process that a descriptor stands for: a pidfd or, older than
// these, the directory /proc/<pid>.
func signalled(t *kernel.Thread, fd uint64) (*kernel.Process, kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil {
		return nil, unix.EBADF
	}
	dir, ok := of.File.(*procfs.Dir)
	if !ok {
		p, _, e := pidFile(t, fd)
		return p, e
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(dir.Path, "/proc/"))
	if err != nil {
		return nil, unix.EBADF
	}
	if pid == t.Node().Init.TID {
		return t.Node().Init.Proc, 0
	}
	if p := t.Node().Procs[pid]; p != nil { // ids are not given twice
		return p, 0
	}
	return nil, unix.ESRCH
}

// sysPidfdGetfd gives the caller a descriptor for an open file of another process.
func sysPidfdGetfd(t *kernel.Thread, a Args) kernel.Result {
	if a[2]&0xffffffff != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	p, _, e := pidFile(t, a[0])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case p.Dead || len(p.Threads) == 0:
		return kernel.Fail(unix.ESRCH)
	case p != t.Proc && !t.MayTrace(p.Leader, true):
		return kernel.Fail(unix.EPERM)
	}
	of := p.FDs.Get(fdOf(a[1]))
	if of == nil {
		return kernel.Fail(unix.EBADF)
	}
	if _, host := of.File.(*kernel.HostFile); !host {
		return kernel.RetOr(t.InstallFD(of, true))
	}
	file, e := p.Threads[0].M.HostFD(fdOf(a[1]))
	if e != 0 {
		return kernel.Fail(e)
	}
	defer unix.Close(file)
	fd, e := t.M.Adopt(file, true)
	if e == 0 {
		t.FDs().Set(fd, of, true)
	}
	return kernel.RetOr(fd, e)
}

// Whom a signal that is sent by a pidfd concerns (pidfd_send_signal(2), Linux 6.9).
const (
	pidfdThread       = 1 // the process's first thread
	pidfdThreadGroup  = 2 // the process
	pidfdProcessGroup = 4 // the process group that the process leads
)

func sysPidfdSendSignal(t *kernel.Thread, a Args) kernel.Result {
	scope := uint32(a[3])
	switch scope {
	case 0, pidfdThread, pidfdThreadGroup, pidfdProcessGroup:
	default:
		return kernel.Fail(unix.EINVAL)
	}
	p, e := signalled(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	sig := int(int32(a[1]))
	if p == t.Node().Init.Proc && scope != pidfdProcessGroup {
		return signalInit(t, sig)
	}
	code := signal.SIUser
	if scope == pidfdThread {
		code = signal.SITkill
	}
	info := sender(t, sig, code)
	if a[2] != 0 {
		given, e := readU32(t, a[2])
		if e == 0 && int(int32(given)) != sig {
			e = unix.EINVAL
		}
		pid := p.PID
		if scope == pidfdProcessGroup {
			pid = 0 // others may be in it
		}
		if e == 0 {
			info, e = readInfo(t, a[2], pid, sig)
		}
		if e != 0 {
			return kernel.Fail(e)
		}
	}
	if scope == pidfdProcessGroup {
		return signalAll(t, t.Node().Group(p.PID), info)
	}
	if t.Node().Procs[p.PID] != p {
		return kernel.Fail(unix.ESRCH)
	}
	if scope == pidfdThread {
		return signalThread(t, p.PID, p.PID, info)
	}
	return kernel.RetOr(0, signalProcess(t, p, info))
}

// Flags of a stack_t (sigaltstack(2)).
const (
	ssOnStack    = 1
	ssDisable    = 2
	ssAutodisarm = 1 << 31
)

// noStack reports whether s, which Linux has taken or may take, is none.
func noStack(s kernel.AltStack) bool {
	return le.Uint32(s[8:])&ssDisable != 0 || le.Uint64(s[16:]) == 0
}

// sysSigaltstack is Linux's: it builds the frames. The supervisor keeps a copy for
// the thread's own copies.
func sysSigaltstack(t *kernel.Thread, a Args) kernel.Result {
	var s kernel.AltStack
	if a[0] != 0 {
		if e := t.M.ReadMem(a[0], s[:]); e != 0 {
			return kernel.Fail(e)
		}
		if noStack(s) && noStack(t.AltStack) && le.Uint32(s[8:])&^(ssOnStack|ssAutodisarm) == 0 {
			// A stack without size: newer kernels take it for what a thread that never had one
			// has already, but not for what one has whose stack was disabled; and a copy of a
			// thread can only be given the latter.
			return kernel.Fail(unix.ENOMEM)
		}
	}
	r := t.M.Syscall(unix.SYS_SIGALTSTACK, a[0], a[1])
	if r == 0 && a[0] != 0 {
		t.AltStack = s
		t.AskAltStack = t.AskAltStack || t.Handled || le.Uint32(s[8:])&ssAutodisarm != 0
	}
	return kernel.Ret(r)
}
