package sys

import (
	"fmt"
	"math"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/filelock"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

func sysClose(t *kernel.Thread, a Args) kernel.Result {
	if !t.FDs().Close(t.Node(), fdOf(a[0])) {
		return kernel.Fail(unix.EBADF)
	}
	return kernel.Native
}

func sysCloseRange(t *kernel.Thread, a Args) kernel.Result {
	first, last, flags := uint32(a[0]), uint32(a[1]), uint32(a[2])
	if flags&^(unix.CLOSE_RANGE_CLOEXEC|unix.CLOSE_RANGE_UNSHARE) != 0 || first > last {
		return kernel.Fail(unix.EINVAL)
	}
	if flags&unix.CLOSE_RANGE_UNSHARE != 0 {
		if len(t.Proc.Threads) > 1 {
			t.Node().Refuse(t, "close_range CLOSE_RANGE_UNSHARE", formatArgs(t.Call.NR, a), true)
			return kernel.Fail(unix.ENOSYS)
		}
		if e := unshareFDs(t); e != 0 {
			return kernel.Fail(e)
		}
	}
	for _, fd := range t.FDs().Numbers() {
		switch {
		case uint32(fd) < first || uint32(fd) > last:
		case flags&unix.CLOSE_RANGE_CLOEXEC != 0:
			t.FDs().SetCloseOnExec(fd, true)
		default:
			t.FDs().Close(t.Node(), fd)
		}
	}
	return kernel.Native
}

func sysDup(t *kernel.Thread, a Args) kernel.Result {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil {
		return kernel.Fail(unix.EBADF)
	}
	return mirrorDup(t, of, false, t.M.Syscall(unix.SYS_DUP, a[0]))
}

func sysDup2(t *kernel.Thread, a Args) kernel.Result {
	if t.FDs().Get(fdOf(a[0])) == nil {
		return kernel.Fail(unix.EBADF)
	}
	if fdOf(a[0]) == fdOf(a[1]) {
		return kernel.Ret(int64(fdOf(a[1])))
	}
	return dupTo(t, a[0], a[1], 0)
}

func sysDup3(t *kernel.Thread, a Args) kernel.Result {
	flags := int(int32(a[2]))
	if flags&^unix.O_CLOEXEC != 0 || fdOf(a[0]) == fdOf(a[1]) {
		return kernel.Fail(unix.EINVAL)
	}
	if t.FDs().Get(fdOf(a[0])) == nil {
		return kernel.Fail(unix.EBADF)
	}
	return dupTo(t, a[0], a[1], flags)
}

// dupTo makes descriptor to a duplicate of from; it closes what to was.
func dupTo(t *kernel.Thread, from, to uint64, flags int) kernel.Result {
	r := t.M.Syscall(unix.SYS_DUP3, from, to, uint64(flags))
	if r < 0 {
		return kernel.Fail(kernel.Errno(-r))
	}
	of := t.FDs().Get(fdOf(from))
	t.FDs().Close(t.Node(), int(r))
	return mirrorDup(t, of, flags&unix.O_CLOEXEC != 0, r)
}

// Commands of fcntl that package unix lacks.
const (
	fSetSig      = 10
	fGetSig      = 11
	fSetOwnEx    = 15
	fGetOwnEx    = 16
	fLastKnown   = 1040 // the last that Linux knows
	fGetRWHint   = 1035
	fSetFileHint = 1038

	ownerThread = 0
	ownerPID    = 1
	ownerGroup  = 2
)

func sysFcntl(t *kernel.Thread, a Args) kernel.Result {
	of := t.Target(fdOf(a[0]))
	if of == nil {
		return kernel.Fail(unix.EBADF)
	}
	cmd, arg := int(int32(a[1])), a[2]
	if of.Flags&unix.O_PATH != 0 {
		switch cmd {
		case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL:
		default:
			return kernel.Fail(unix.EBADF)
		}
	}
	switch cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		return mirrorDup(t, of, cmd == unix.F_DUPFD_CLOEXEC, t.M.Syscall(unix.SYS_FCNTL, a[:3]...))
	case unix.F_GETFD:
		if t.FDs().CloseOnExec(fdOf(a[0])) {
			return kernel.Ret(unix.FD_CLOEXEC)
		}
		return kernel.Ret(0)
	case unix.F_SETFD:
		t.FDs().SetCloseOnExec(fdOf(a[0]), arg&unix.FD_CLOEXEC != 0)
		return kernel.Native
	case unix.F_GETFL:
		return kernel.Ret(int64(of.Flags))
	case unix.F_SETFL:
		return setStatusFlags(t, of, int(int32(arg)))
	case unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		return fcntlLock(t, of, a)
	case unix.F_SETOWN:
		if int32(arg) == math.MinInt32 {
			return kernel.Fail(unix.EINVAL)
		}
		return setOwner(t, of, int(int32(arg)))
	case fSetOwnEx, fGetOwnEx:
		return ownerEx(t, of, cmd, arg)
	case unix.F_GETOWN:
		return kernel.Ret(int64(of.Owner))
	case fSetSig:
		if arg > signal.Max {
			return kernel.Fail(unix.EINVAL)
		}
		of.Sig = int(int32(arg))
		return kernel.Ret(0)
	case fGetSig:
		return kernel.Ret(int64(of.Sig))
	case unix.F_GETLEASE:
		return kernel.Ret(int64(filelock.Of(t.Node()).Lease(t.Node(), of)))
	case unix.F_SETLEASE:
		return setLease(t, of, fdOf(a[0]), int(int32(arg)))
	case unix.F_NOTIFY:
		return notifyDirectory(t, of, fdOf(a[0]), uint32(arg))
	case unix.F_SETPIPE_SZ, unix.F_GETPIPE_SZ:
		return pipeSize(t, of, cmd, arg)
	case unix.F_ADD_SEALS, unix.F_GET_SEALS:
		if h, ok := of.File.(*kernel.HostFile); ok && strings.HasPrefix(h.Path, "/memfd:") {
			return kernel.Native
		}
		if cmd == unix.F_ADD_SEALS && of.Flags&unix.O_ACCMODE == unix.O_RDONLY {
			return kernel.Fail(unix.EPERM)
		}
		return kernel.Fail(unix.EINVAL) // as on ext4
	}
	if cmd >= fGetRWHint && cmd <= fSetFileHint && isHost(of) {
		return kernel.Native
	}
	if cmd == fGetRWHint { // how long what is written will live: nobody said
		return kernel.RetOr(0, writeU64(t, arg, 0))
	}
	known := cmd >= unix.F_SETLEASE && cmd <= fLastKnown
	t.Node().Refuse(t, fmt.Sprintf("fcntl %d", cmd), formatArgs(t.Call.NR, a), !known)
	return kernel.Fail(unix.EINVAL)
}

// setOwner implements F_SETOWN: a process, or a process group as a negative number.
func setOwner(t *kernel.Thread, of *kernel.OpenFile, who int) kernel.Result {
	if who > 0 && t.Node().Procs[who] == nil && t.Node().Thread(who) == nil || who < 0 &&
		len(t.Node().Group(-who)) == 0 {
		return kernel.Fail(unix.ESRCH)
	}
	of.Owner, of.OwnerThread = who, false
	return kernel.Ret(0)
}

// ownerEx implements F_SETOWN_EX and F_GETOWN_EX on a struct f_owner_ex: type
// and id. A thread is taken for its process.
func ownerEx(t *kernel.Thread, of *kernel.OpenFile, cmd int, addr uint64) kernel.Result {
	if cmd == fGetOwnEx {
		typ, who := uint32(ownerPID), of.Owner
		switch {
		case who < 0:
			typ, who = ownerGroup, -who
		case of.OwnerThread:
			typ = ownerThread
		}
		return kernel.RetOr(0, t.M.WriteMem(addr, le.AppendUint32(le.AppendUint32(nil, typ), uint32(who))))
	}
	b, e := readBytes(t, addr, 8)
	if e != 0 {
		return kernel.Fail(e)
	}
	typ, who := le.Uint32(b), int(int32(le.Uint32(b[4:])))
	switch {
	case typ > ownerGroup:
		return kernel.Fail(unix.EINVAL)
	case who < 0:
		return kernel.Fail(unix.ESRCH)
	case typ == ownerGroup:
		return setOwner(t, of, -who)
	}
	r := setOwner(t, of, who)
	of.OwnerThread = r.Value == 0 && typ == ownerThread
	return r
}

// setStatusFlags implements F_SETFL.
func setStatusFlags(t *kernel.Thread, of *kernel.OpenFile, flags int) kernel.Result {
	const settable = unix.O_APPEND | unix.O_NONBLOCK | unix.O_DIRECT | unix.O_NOATIME | unix.O_ASYNC
	if isHost(of) {
		r := t.M.Syscall(unix.SYS_FCNTL, t.Call.Args[0], unix.F_SETFL, uint64(flags))
		if r < 0 {
			return kernel.Ret(r)
		}
	} else if flags&unix.O_DIRECT != 0 {
		end, ok := of.File.(*pipe.End)
		if !ok {
			return kernel.Fail(unix.EINVAL)
		}
		end.Packets = true
	}
	if end, ok := of.File.(*pipe.End); ok && flags&unix.O_DIRECT == 0 {
		end.Packets = false
	}
	if !of.SetAsync(t.Node(), fdOf(t.Call.Args[0]), flags&unix.O_ASYNC != 0) {
		flags &^= unix.O_ASYNC
	}
	of.Flags = of.Flags&^settable | flags&settable
	return kernel.Ret(0)
}

func pipeSize(t *kernel.Thread, of *kernel.OpenFile, cmd int, arg uint64) kernel.Result {
	end, ok := of.File.(*pipe.End)
	if !ok {
		return kernel.Fail(unix.EBADF)
	}
	if cmd == unix.F_GETPIPE_SZ {
		return kernel.Ret(int64(end.Pipe.Size()))
	}
	return kernel.RetOr(end.Pipe.Resize(t, uint64(uint32(arg))))
}

// ioctls that every descriptor understands, and those for terminals.
const (
	fionbio   = 0x5421
	fionclex  = 0x5450
	fioclex   = 0x5451
	fioasync  = 0x5452
	fiosetown = 0x8901
	siocspgrp = 0x8902
	fiogetown = 0x8903
	siocgpgrp = 0x8904
	fionread  = 0x541b
	fioqsize  = 0x5460
	ficlone   = 0x40049409
	fidedupe  = 0xc0189436
	ficlonerg = 0x4020940d
)

func sysIoctl(t *kernel.Thread, a Args) kernel.Result {
	of := t.Target(fdOf(a[0]))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return kernel.Fail(unix.EBADF)
	}
	cmd, arg := uint64(uint32(a[1])), a[2]
	switch cmd {
	case fioclex, fionclex:
		t.FDs().SetCloseOnExec(fdOf(a[0]), cmd == fioclex)
		return kernel.Native
	case fionbio:
		return setNonBlocking(t, of, arg)
	case fioasync:
		return setAsync(t, of, fdOf(a[0]), arg)
	case fiosetown, siocspgrp, fiogetown, siocgpgrp:
		if _, ok := of.File.(socket.Socket); ok {
			return socketOwner(t, of, cmd == fiosetown || cmd == siocspgrp, arg)
		}
	}
	if isHost(of) {
		return hostIoctl(t, cmd, a)
	}
	if _, ok := of.File.(*epoll.Set); ok {
		return kernel.Fail(unix.EINVAL) // it has ioctls of its own, and answers all others so
	}
	if x, ok := of.File.(kernel.Ioctler); ok {
		v, e := x.Ioctl(t, cmd, arg)
		if e == unix.EAGAIN && tty.Is(of.File) { // from the background
			return t.Block(kernel.RestartSA, of.File.Changed())
		} else if e != unix.ENOTTY {
			return kernel.RetOr(int(v), e)
		}
	}
	return unknownIoctl(t, cmd, a)
}

// socketOwner implements what stands for F_SETOWN and F_GETOWN among the ioctls of sockets.
func socketOwner(t *kernel.Thread, of *kernel.OpenFile, set bool, addr uint64) kernel.Result {
	if !set {
		return kernel.RetOr(0, writeU32(t, addr, uint32(int32(of.Owner))))
	}
	who, e := readU32(t, addr)
	if e == 0 && int32(who) == math.MinInt32 {
		e = unix.EINVAL
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	return setOwner(t, of, int(int32(who)))
}

// setAsync implements FIOASYNC.
func setAsync(t *kernel.Thread, of *kernel.OpenFile, fd int, addr uint64) kernel.Result {
	on, e := readU32(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	if (on != 0) != of.Async() && !of.SetAsync(t.Node(), fd, on != 0) {
		return kernel.Fail(unix.ENOTTY)
	}
	return kernel.Ret(0)
}

func setNonBlocking(t *kernel.Thread, of *kernel.OpenFile, addr uint64) kernel.Result {
	on, e := readU32(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	of.Flags &^= unix.O_NONBLOCK
	if on != 0 {
		of.Flags |= unix.O_NONBLOCK
	}
	if isHost(of) {
		return kernel.Native
	}
	return kernel.Ret(0)
}

// hostIoctl answers for regular files, directories and the harmless devices.
func hostIoctl(t *kernel.Thread, cmd uint64, a Args) kernel.Result {
	switch cmd {
	case fionread, fioqsize:
		return kernel.Native
	case ficlone, ficlonerg, fidedupe:
		return kernel.Fail(unix.EOPNOTSUPP)
	case unix.FS_IOC_GETFLAGS, unix.FS_IOC_SETFLAGS:
		return kernel.Fail(unix.ENOTTY)
	}
	return unknownIoctl(t, cmd, a)
}

// unknownIoctl answers ENOTTY: in silence to questions that are put to any
// descriptor in order to learn whether it is a terminal.
func unknownIoctl(t *kernel.Thread, cmd uint64, a Args) kernel.Result {
	switch cmd {
	case unix.TCGETS, unix.TCGETA, unix.TCGETS2, unix.TCSETS, unix.TCSETSW, unix.TCSETSF,
		unix.TIOCGWINSZ, unix.TIOCSWINSZ, unix.TIOCGPGRP, unix.TIOCSPGRP, unix.TIOCGSID,
		unix.TIOCNOTTY, unix.TIOCSCTTY, unix.TIOCGPTN:
	default:
		t.Node().Refuse(t, fmt.Sprintf("ioctl %#x", cmd), formatArgs(t.Call.NR, a), true)
	}
	return kernel.Fail(unix.ENOTTY)
}
