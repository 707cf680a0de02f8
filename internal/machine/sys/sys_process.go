package sys

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

const (
	cloneNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	threadFlags = unix.CLONE_THREAD | unix.CLONE_SIGHAND | unix.CLONE_VM | unix.CLONE_FILES | unix.CLONE_FS
)

func doClone(c kernel.CloneArgs) kernel.Result {
	return kernel.Result{Op: kernel.OpClone, Clone: c}
}

func sysFork(t *kernel.Thread, a Args) kernel.Result {
	return doClone(kernel.CloneArgs{Flags: uint64(unix.SIGCHLD)})
}

func sysVfork(t *kernel.Thread, a Args) kernel.Result {
	return doClone(kernel.CloneArgs{Flags: unix.CLONE_VFORK | unix.CLONE_VM | uint64(unix.SIGCHLD)})
}

func sysClone(t *kernel.Thread, a Args) kernel.Result {
	return cloneAs(t,
		kernel.CloneArgs{Flags: a[0] & 0xffffffff, Stack: a[1], ParentTID: a[2], ChildTID: a[3], TLS: a[4]})
}

// sysClone3 takes struct clone_args (clone(2)) of any size that Linux has known.
func sysClone3(t *kernel.Thread, a Args) kernel.Result {
	const first, last, most = 64, 88, 4096
	switch {
	case a[1] < first:
		return kernel.Fail(unix.EINVAL)
	case a[1] > most:
		return kernel.Fail(unix.E2BIG)
	}
	b, e := readBytes(t, a[0], int(a[1]))
	if e != 0 {
		return kernel.Fail(e)
	}
	for i := last; i < len(b); i++ {
		if b[i] != 0 {
			return kernel.Fail(unix.E2BIG)
		}
	}
	b = append(b, make([]byte, last)...)
	word := func(i int) uint64 { return le.Uint64(b[8*i:]) }
	flags, pidfd, exitSignal, stack, size := word(0), word(1), word(4), word(5), word(6)
	switch {
	case flags>>32 != 0 || word(9) != 0 || flags&unix.CLONE_PIDFD != 0 && flags&unix.CLONE_PARENT_SETTID != 0:
		t.Node().Refuse(t, "clone3 of an unusual kind", fmt.Sprintf("flags %#x, %d ids", flags, word(9)), true)
		return kernel.Fail(unix.ENOSYS) // libc then calls clone
	case flags&0xff != 0 || exitSignal > 64 || (stack == 0) != (size == 0),
		flags&(unix.CLONE_THREAD|unix.CLONE_PARENT) != 0 && exitSignal != 0:
		return kernel.Fail(unix.EINVAL)
	}
	c := kernel.CloneArgs{Flags: flags | exitSignal, Stack: stack + size, ParentTID: word(3), ChildTID: word(2),
		TLS: word(7)}
	if flags&unix.CLONE_PIDFD != 0 {
		c.ParentTID = pidfd
	}
	return cloneAs(t, c)
}

// cloneAs checks the flags of clone and clone3.
func cloneAs(t *kernel.Thread, c kernel.CloneArgs) kernel.Result {
	has := func(f uint64) bool { return c.Flags&f != 0 }
	switch {
	case has(unix.CLONE_THREAD) && !has(unix.CLONE_SIGHAND),
		has(unix.CLONE_SIGHAND) && !has(unix.CLONE_VM),
		has(unix.CLONE_FS) && has(unix.CLONE_NEWNS|unix.CLONE_NEWUSER),
		has(unix.CLONE_PIDFD) && has(unix.CLONE_PARENT_SETTID|unix.CLONE_DETACHED|unix.CLONE_THREAD):
		return kernel.Fail(unix.EINVAL)
	case has(unix.CLONE_PIDFD) && !mayStore(t, c.ParentTID):
		return kernel.Fail(unix.EFAULT)
	case has(cloneNamespaces):
		// as in most containers
		t.Node().Refuse(t, "clone of namespaces", namespacesOf(c.Flags), true)
		return kernel.Fail(unix.EPERM)
	case has(unix.CLONE_THREAD) && c.Flags&threadFlags != threadFlags, has(unix.CLONE_FS) && !has(unix.CLONE_THREAD):
		t.Node().Refuse(t, "clone with uncommon sharing", fmt.Sprintf("flags %#x", c.Flags), false)
		return kernel.Fail(unix.EINVAL)
	}
	if !mayMultiply(t) {
		return kernel.Fail(unix.EAGAIN)
	}
	return doClone(c)
}

// namespacesOf names the kinds of new namespaces that flags ask for.
func namespacesOf(flags uint64) string {
	var kinds []string
	for _, ns := range []struct {
		flag uint64
		kind string
	}{
		{unix.CLONE_NEWUSER, "user"}, {unix.CLONE_NEWPID, "pid"}, {unix.CLONE_NEWNS, "mount"},
		{unix.CLONE_NEWNET, "network"},
		{unix.CLONE_NEWIPC, "ipc"}, {unix.CLONE_NEWUTS, "uts"}, {unix.CLONE_NEWCGROUP, "cgroup"},
		{unix.CLONE_NEWTIME, "time"},
	} {
		if flags&ns.flag != 0 {
			kinds = append(kinds, ns.kind)
		}
	}
	return strings.Join(kinds, ", ")
}

// mayMultiply reports whether t's user may have one more thread (RLIMIT_NPROC).
func mayMultiply(t *kernel.Thread) bool {
	limit, _ := t.Proc.Rlimit(unix.RLIMIT_NPROC)
	user := t.Cred.UID.Real
	if user == 0 || t.Capable(unix.CAP_SYS_RESOURCE) || t.Capable(unix.CAP_SYS_ADMIN) || limit == kernel.RlimInfinity {
		return true
	}
	n := uint64(0)
	for _, p := range t.Node().Procs {
		for _, x := range p.Tasks() { // one that is not waited for counts, too
			if x.Cred.UID.Real == user {
				n++
			}
		}
	}
	return n < limit
}

// sysUnshare takes a process's own share of what it may share with others. Processes share no
// directories with each other, and threads do not part.
func sysUnshare(t *kernel.Thread, a Args) kernel.Result {
	const known = cloneNamespaces | threadFlags | unix.CLONE_SYSVSEM | unix.CLONE_NEWTIME
	flags, alone := a[0], len(t.Proc.Threads) == 1
	switch {
	case flags&^known != 0, flags&(unix.CLONE_THREAD|unix.CLONE_SIGHAND|unix.CLONE_VM) != 0 && !alone:
		return kernel.Fail(unix.EINVAL)
	case flags&(cloneNamespaces|unix.CLONE_NEWTIME) != 0:
		t.Node().Refuse(t, "unshare of namespaces", namespacesOf(flags), true)
		return kernel.Fail(unix.EPERM)
	case flags&(unix.CLONE_FILES|unix.CLONE_FS) != 0 && !alone:
		t.Node().Refuse(t, "unshare of a thread", fmt.Sprintf("flags %#x", flags), false)
		return kernel.Fail(unix.EINVAL)
	}
	if flags&unix.CLONE_FILES != 0 {
		if e := unshareFDs(t); e != 0 {
			return kernel.Fail(e)
		}
	}
	if flags&unix.CLONE_SYSVSEM != 0 && alone {
		ipc.SemsOf(t.Node()).Undo(t.Proc)
	}
	return kernel.Ret(0)
}

// unshareFDs gives the process a table of descriptors of its own.
func unshareFDs(t *kernel.Thread) kernel.Errno {
	if !t.FDs().Shared() {
		return 0
	}
	numbers := t.FDs().Numbers()
	if n := len(numbers); n > 0 && int64(numbers[n-1]) >= kernel.FilesMax.Of(t.Node()) {
		return unix.EMFILE
	}
	if r := t.M.Syscall(unix.SYS_UNSHARE, unix.CLONE_FILES); r != 0 {
		return kernel.Errno(-r)
	}
	t.Proc.UnshareFDs()
	return 0
}

// mayStore reports whether an int can be written where it is.
func mayStore(t *kernel.Thread, addr uint64) bool {
	v, e := readU32(t, addr)
	return e == 0 && writeU32(t, addr, v) == 0
}

func sysExec(t *kernel.Thread, a Args) kernel.Result {
	if e := realProgram(t); e != 0 {
		return kernel.Fail(e)
	}
	refuseExecNotify(t)
	return kernel.Result{Op: kernel.OpExec}
}

func sysExit(t *kernel.Thread, a Args) kernel.Result {
	return kernel.Result{Op: kernel.OpExit, Value: int64(a[0] & 0xff)}
}

func sysExitGroup(t *kernel.Thread, a Args) kernel.Result {
	return kernel.Result{Op: kernel.OpExitGroup, Value: int64(a[0] & 0xff)}
}

// waitNoThread restricts wait to the children of the calling thread; here they
// are those of its process.
const waitNoThread = 0x20000000

func sysWait4(t *kernel.Thread, a Args) kernel.Result {
	pid, options := int(int32(a[0])), int(uint32(a[2]))
	if options&^(unix.WNOHANG|unix.WUNTRACED|unix.WCONTINUED|waitNoThread|kernel.WCLONE|kernel.WALL) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	w := kernel.WaitFor{Options: options | unix.WEXITED}
	switch {
	case pid == -1<<31:
		return kernel.Fail(unix.ESRCH)
	case pid > 0:
		w.PID = pid
	case pid == 0:
		w.PGID = t.Proc.PGID
	case pid < -1:
		w.PGID = -pid
	}
	ch, r, done := wait(t, w)
	if !done {
		return r
	}
	if a[1] != 0 {
		if e := writeU32(t, a[1], uint32(ch.WaitStatus())); e != 0 {
			return kernel.Fail(e)
		}
	}
	if a[3] != 0 {
		if e := t.M.WriteMem(a[3], rusage(ch.CPU)); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(int64(ch.PID))
}

// wait looks for a change of a child. When there is none, r is what the call
// does instead.
func wait(t *kernel.Thread, w kernel.WaitFor) (ch kernel.Change, r kernel.Result, done bool) {
	ch, e := t.Proc.Wait(w)
	switch {
	case e != 0:
		return ch, kernel.Fail(e), false
	case ch.PID != 0:
		return ch, r, true
	case w.Options&unix.WNOHANG != 0:
		return ch, kernel.Ret(0), false
	}
	return ch, t.Block(kernel.RestartSA, &t.Proc.ChildChanged), false
}

func sysWaitid(t *kernel.Thread, a Args) kernel.Result {
	options := int(uint32(a[3]))
	known := unix.WNOHANG | unix.WNOWAIT | unix.WEXITED | unix.WSTOPPED | unix.WCONTINUED | waitNoThread | kernel.WCLONE | kernel.WALL
	if options&^known != 0 || options&(unix.WEXITED|unix.WSTOPPED|unix.WCONTINUED) == 0 {
		return kernel.Fail(unix.EINVAL)
	}
	w := kernel.WaitFor{Options: options}
	pidfdBusy := false
	switch id := int(int32(a[1])); int32(a[0]) {
	case unix.P_ALL:
	case unix.P_PID:
		if w.PID = id; id <= 0 {
			return kernel.Fail(unix.EINVAL)
		}
	case unix.P_PGID:
		if w.PGID = id; id < 0 {
			return kernel.Fail(unix.EINVAL)
		} else if id == 0 {
			w.PGID = t.Proc.PGID
		}
	case unix.P_PIDFD:
		if int32(a[1]) < 0 {
			return kernel.Fail(unix.EINVAL)
		}
		p, of, e := pidFile(t, a[1])
		if e != 0 {
			return kernel.Fail(e)
		}
		w.Proc = p
		if of.NonBlocking() && options&unix.WNOHANG == 0 {
			pidfdBusy = true
			w.Options |= unix.WNOHANG
		}
	default:
		return kernel.Fail(unix.EINVAL)
	}
	ch, r, done := wait(t, w)
	if !done && (r.Op == kernel.OpBlock || r.Value != 0) {
		return r
	}
	if !done && pidfdBusy {
		return kernel.Fail(unix.EAGAIN)
	}
	return storeWaitid(t, a, ch)
}

// storeWaitid writes the siginfo and usage; all zero when nothing was found.
func storeWaitid(t *kernel.Thread, a Args, ch kernel.Change) kernel.Result {
	if a[2] != 0 {
		var info signal.Info
		if ch.PID != 0 {
			info = signal.Info{Signo: int(unix.SIGCHLD), Code: ch.Code, PID: ch.PID, UID: ch.UID, Status: ch.Status}
		}
		// Linux writes these fields alone.
		if e := t.M.WriteMem(a[2], info.Encode()[:28]); e != 0 {
			return kernel.Fail(e)
		}
	}
	if a[4] != 0 && ch.PID != 0 {
		return kernel.RetOr(0, t.M.WriteMem(a[4], rusage(ch.CPU)))
	}
	return kernel.Ret(0)
}

// sysSetTIDAddress keeps the address from Linux, whose ids are not the node's.
func sysSetTIDAddress(t *kernel.Thread, a Args) kernel.Result {
	t.ClearTID = a[0]
	return kernel.Ret(int64(t.TID))
}

// Parts of a personality(2).
const (
	perMask        = 0xff
	perLinux32     = 0x8
	uname26        = 0x20000
	noRandomize    = 0x40000
	stickyTimeouts = 0x4000000
)

// sysPersonality keeps what Linux's own has too, but for the randomisation of addresses, which
// Ariadne has turned off.
func sysPersonality(t *kernel.Thread, a Args) kernel.Result {
	old := t.Proc.Persona
	if p := uint32(a[0]); p != 0xffffffff {
		if r := t.M.Syscall(unix.SYS_PERSONALITY, uint64(p|noRandomize)); r < 0 {
			return kernel.Ret(r)
		}
		t.Proc.Persona = p
	}
	return kernel.Ret(int64(old))
}

// The types of kcmp(2).
const (
	kcmpFile = iota
	kcmpVM
	kcmpFiles
	kcmpFS
	kcmpSighand
	kcmpIO
	kcmpSysvsem
)

func sysKcmp(t *kernel.Thread, a Args) kernel.Result {
	x, e1 := threadByID(t, a[0]&0xffffffff)
	y, e2 := threadByID(t, a[1]&0xffffffff)
	if e1 != 0 || e2 != 0 {
		return kernel.Fail(unix.ESRCH)
	}
	p, q := x.Proc, y.Proc
	same := p == q
	switch int32(a[2]) {
	case kcmpFile:
		f, g := p.FDs.Get(fdOf(a[3])), q.FDs.Get(fdOf(a[4]))
		if f == nil || g == nil {
			return kernel.Fail(unix.EBADF)
		}
		same = f == g
	case kcmpVM:
		same = p.MM == q.MM
	case kcmpFiles:
		same = p.FDs == q.FDs
	case kcmpSighand:
		same = p.Actions == q.Actions
	case kcmpFS, kcmpIO, kcmpSysvsem:
	default:
		return kernel.Fail(unix.EINVAL)
	}
	if same {
		return kernel.Ret(0)
	}
	return kernel.Ret(3) // different, ordering unavailable
}
