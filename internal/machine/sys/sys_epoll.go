package sys

import (
	"math"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"

	"golang.org/x/sys/unix"
)

// epollEventSize is the size of struct epoll_event, which is packed.
const epollEventSize = 12

func sysEpollCreate(t *kernel.Thread, a Args) kernel.Result {
	if int32(a[0]) <= 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(t.NewFD(epoll.New(t), unix.O_RDWR))
}

func sysEpollCreate1(t *kernel.Thread, a Args) kernel.Result {
	flags := int(int32(a[0]))
	if flags&^unix.EPOLL_CLOEXEC != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(t.NewFD(epoll.New(t), unix.O_RDWR|flags))
}

func sysEpollCtl(t *kernel.Thread, a Args) kernel.Result {
	op, fd := int(int32(a[1])), fdOf(a[2])
	var ev epoll.Event
	if op != unix.EPOLL_CTL_DEL {
		b, e := readBytes(t, a[3], epollEventSize)
		if e != 0 {
			return kernel.Fail(e)
		}
		ev = epoll.Event{Events: le.Uint32(b), Data: le.Uint64(b[4:])}
	}
	set, of := t.FDs().Get(fdOf(a[0])), t.FDs().Get(fd)
	if set == nil || of == nil || (set.Flags|of.Flags)&unix.O_PATH != 0 {
		return kernel.Fail(unix.EBADF)
	}
	if !epoll.Pollable(of.File) {
		return kernel.Fail(unix.EPERM)
	}
	ep, ok := set.File.(*epoll.Set)
	if !ok || set == of {
		return kernel.Fail(unix.EINVAL)
	}
	var e kernel.Errno
	switch op {
	case unix.EPOLL_CTL_ADD:
		e = ep.Add(t.Node(), of, fd, ev)
	case unix.EPOLL_CTL_MOD:
		e = ep.Modify(of, fd, ev)
	case unix.EPOLL_CTL_DEL:
		e = ep.Delete(of, fd)
	default:
		e = unix.EINVAL
	}
	return kernel.RetOr(0, e)
}

func sysEpollWait(t *kernel.Thread, a Args) kernel.Result {
	if ms := int64(int32(a[3])); ms >= 0 {
		setTimeout(t, ariadne.Time(ms*1e6))
	}
	return epollWait(t, a)
}

func sysEpollPwait(t *kernel.Thread, a Args) kernel.Result {
	if ms := int64(int32(a[3])); ms >= 0 {
		setTimeout(t, ariadne.Time(ms*1e6))
	}
	if e := swapMask(t, a[4], a[5]); e != 0 {
		return kernel.Fail(e)
	}
	return epollWait(t, a)
}

func sysEpollPwait2(t *kernel.Thread, a Args) kernel.Result {
	if e := timeoutArg(t, a[3], readTimespec); e != 0 {
		return kernel.Fail(e)
	}
	if e := swapMask(t, a[4], a[5]); e != 0 {
		return kernel.Fail(e)
	}
	return epollWait(t, a)
}

func epollWait(t *kernel.Thread, a Args) kernel.Result {
	of := t.Target(fdOf(a[0]))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return kernel.Fail(unix.EBADF)
	}
	most := int64(int32(a[2]))
	if most <= 0 || most > math.MaxInt32/epollEventSize {
		return kernel.Fail(unix.EINVAL)
	}
	ep, ok := of.File.(*epoll.Set)
	if !ok {
		return kernel.Fail(unix.EINVAL)
	}
	var b []byte
	events := ep.Collect(int(most))
	for _, ev := range events {
		b = le.AppendUint64(le.AppendUint32(b, ev.Events), ev.Data)
	}
	if len(events) == 0 && !timedOut(t) {
		return t.Block(kernel.RestartNever, ep.Changed())
	}
	return kernel.RetOr(len(events), t.M.WriteMem(a[1], b))
}
