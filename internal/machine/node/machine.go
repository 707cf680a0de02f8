//go:build linux

package node

import (
	"encoding/binary"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// The interfaces by which kernel objects and handlers use a thread.
var (
	_ kernel.Tracee      = (*thread)(nil)
	_ sys.DirectoryAsker = (*thread)(nil)
	_ sys.PowerAsker     = (*thread)(nil)
	_ dialog.Asker       = (*thread)(nil)
	_ slowdisk.Asker     = (*thread)(nil)
)

func (th *thread) ReadMem(addr uint64, b []byte) kernel.Errno {
	e := th.tr.ReadMem(addr, b)
	if e == 0 && !isScratch(addr) {
		th.n.step.memory.note(b)
	}
	return e
}

func (th *thread) WriteMem(addr uint64, b []byte) kernel.Errno {
	if isScratch(addr) {
		th.n.home.used = true
	} else {
		th.n.step.memory.note(b)
	}
	return th.tr.WriteMem(addr, b)
}

func (th *thread) PeekMem(addr uint64, b []byte) kernel.Errno {
	e := th.tr.Peek(addr, b)
	if e == 0 {
		th.n.step.memory.note(b)
	}
	return e
}

func (th *thread) PokeMem(addr uint64, b []byte) kernel.Errno {
	th.n.step.memory.note(b)
	th.n.paging.noteChange(th.tr.PID) // the program may have no right to write there
	return th.tr.Poke(addr, b)
}

// isScratch reports whether memory is Ariadne's, not the program's: it holds what Linux
// was asked and has answered as it is on the host, such as device and inode numbers.
func isScratch(addr uint64) bool { return addr-area.Scratch < area.ScratchSize }

func (th *thread) Syscall(nr int, args ...uint64) int64 {
	for _, a := range args {
		th.n.home.used = th.n.home.used || isScratch(a)
	}
	th.n.layout.forget()
	th.n.paging.noteCall(th.tr.PID, nr, args)
	v, err := th.tr.Inject(nr, args...)
	must(err)
	return v
}

func (th *thread) HostFD(fd int) (int, kernel.Errno) {
	th.n.paging.noteFileUse() // who has it may move the program's
	got, err := th.tr.HostFD(fd)
	if e, ok := err.(kernel.Errno); ok {
		return -1, e
	}
	must(err)
	return got, 0
}

// Adopt has the thread receive the descriptor over a real socket pair of its own
// whose other end we hold: the one way that needs no rights over anybody.
func (th *thread) Adopt(host int, cloexec bool) (int, kernel.Errno) {
	got, e := th.receive(host, area.Scratch)
	if e == unix.EMFILE {
		// It takes descriptors besides the one that is wanted, which the limit is not for.
		restore := liftLimits(th.tr.PID)
		got, e = th.receive(host, area.Scratch)
		restore()
	}
	if e != 0 {
		return -1, e
	}
	cmd := uint64(unix.F_DUPFD)
	if cloexec {
		cmd = unix.F_DUPFD_CLOEXEC
	}
	fd := th.Syscall(unix.SYS_FCNTL, got, cmd, 0) // the lowest number, now that the pair is gone
	th.Syscall(unix.SYS_CLOSE, got)
	if fd < 0 {
		return -1, kernel.Errno(-fd)
	}
	return int(fd), 0
}

// receiveSize is how much memory receive needs.
const receiveSize = 128

// receive gives the thread some descriptor of the open file behind host. It uses the
// thread's memory at scratch.
func (th *thread) receive(host int, scratch uint64) (uint64, kernel.Errno) {
	if r := th.Syscall(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_DGRAM, 0, scratch); r < 0 {
		return 0, kernel.Errno(-r)
	}
	var pair [8]byte
	if e := th.ReadMem(scratch, pair[:]); e != 0 {
		return 0, e
	}
	a, b := uint64(binary.LittleEndian.Uint32(pair[:])), uint64(binary.LittleEndian.Uint32(pair[4:]))
	got, e := th.receiveOver(a, b, host, scratch)
	th.Syscall(unix.SYS_CLOSE, a)
	th.Syscall(unix.SYS_CLOSE, b)
	return got, e
}

// receiveOver sends host over our copy of the thread's descriptor b, and has the
// thread receive it from a. It returns the thread's new descriptor.
func (th *thread) receiveOver(a, b uint64, host int, scratch uint64) (uint64, kernel.Errno) {
	ours, e := th.HostFD(int(b))
	if e != 0 {
		return 0, e
	}
	defer unix.Close(ours)
	if err := unix.Sendmsg(ours, []byte{0}, unix.UnixRights(host), nil, 0); err != nil {
		panic(toolError{fmt.Errorf("send a descriptor: %w", err)})
	}
	iovAt, byteAt, ctrlAt := scratch+64, scratch+80, scratch+96
	space := uint64(unix.CmsgSpace(4))
	var msg []byte
	// struct msghdr, then the iovec
	for _, v := range []uint64{0, 0, iovAt, 1, ctrlAt, space, 0, 0, byteAt, 1} {
		msg = binary.LittleEndian.AppendUint64(msg, v)
	}
	if e := th.WriteMem(scratch, msg); e != 0 {
		return 0, e
	}
	if r := th.Syscall(unix.SYS_RECVMSG, a, scratch, unix.MSG_DONTWAIT); r < 0 {
		return 0, kernel.Errno(-r)
	}
	var ctrl [24]byte
	if e := th.ReadMem(ctrlAt, ctrl[:]); e != 0 {
		return 0, e
	}
	if binary.LittleEndian.Uint64(ctrl[:]) < uint64(unix.CmsgLen(4)) {
		return 0, unix.EMFILE // Linux had no number for it
	}
	return uint64(binary.LittleEndian.Uint32(ctrl[unix.SizeofCmsghdr:])), 0
}

func (th *thread) SigMask() signal.Set { return signal.Set(th.tr.SigMask()) }

func (th *thread) SetSigMask(m signal.Set) { must(th.tr.SetSigMask(uint64(m))) }

func (th *thread) RealTID() int { return th.tr.TID }

// liftLimits raises the limits of a process that Linux watches over as far as they go;
// the function that it returns sets them back.
func liftLimits(pid int) (restore func()) {
	var old [3]unix.Rlimit
	limits := []int{unix.RLIMIT_NOFILE, unix.RLIMIT_AS, unix.RLIMIT_DATA}
	for i, what := range limits {
		must(unix.Prlimit(pid, what, nil, &old[i]))
		must(unix.Prlimit(pid, what, &unix.Rlimit{Cur: old[i].Max, Max: old[i].Max}, nil))
	}
	return func() {
		for i, what := range limits {
			must(unix.Prlimit(pid, what, &old[i], nil))
		}
	}
}

// inject runs a call that cannot fail unless the tool is wrong.
func (n *Node) inject(th *thread, nr int, args ...uint64) int64 {
	v := th.Syscall(nr, args...)
	if v < 0 {
		must(fmt.Errorf("thread %d: injected %s: %w", th.k.TID, callName(nr), unix.Errno(-v)))
	}
	return v
}

func (n *Node) addThread(k *kernel.Thread, tr *tracee.Thread) *thread {
	th := &thread{n: n, k: k, tr: tr}
	k.M = th
	n.threads[k] = th
	return th
}
