package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/mqueue"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/netlink"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

func sysMqOpen(t *kernel.Thread, a Args) kernel.Result {
	flags := int(int32(a[1]))
	var size *[2]int64
	if flags&unix.O_CREAT != 0 && a[3] != 0 {
		b, e := readBytes(t, a[3], 64)
		if e != 0 {
			return kernel.Fail(e)
		}
		size = &[2]int64{int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))}
	}
	name, e := readPath(t, a[0])
	if e == 0 {
		e = mqueue.ValidName(name)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	d, e := mqueue.Of(t.Node()).Open(t, name, flags, uint32(a[2])&0o7777, size)
	if e != 0 {
		return kernel.Fail(e)
	}
	of := &kernel.OpenFile{File: d,
		Flags: flags &^ (unix.O_CREAT | unix.O_EXCL | unix.O_NOCTTY | unix.O_TRUNC | unix.O_CLOEXEC)}
	fd, e := t.InstallFD(of, true)
	if e != 0 {
		d.Release(t.Node())
	}
	return kernel.RetOr(fd, e)
}

func sysMqUnlink(t *kernel.Thread, a Args) kernel.Result {
	name, e := readPath(t, a[0])
	if e == 0 {
		e = mqueue.ValidName(name)
	}
	if e == 0 {
		e = mqueue.Of(t.Node()).Unlink(t, name)
	}
	return kernel.RetOr(0, e)
}

// mqueueOf returns the open queue behind a descriptor.
func mqueueOf(t *kernel.Thread, fd uint64) (*mqueue.Queue, *kernel.OpenFile, kernel.Errno) {
	of := t.Target(fdOf(fd))
	if of == nil {
		return nil, nil, unix.EBADF
	}
	d, ok := of.File.(*mqueue.File)
	if !ok {
		return nil, nil, unix.EBADF
	}
	return d.Queue, of, 0
}

// mqDeadline reads the absolute time, of CLOCK_REALTIME, at which a call gives up.
func mqDeadline(t *kernel.Thread, addr uint64) (at ariadne.Time, e kernel.Errno) {
	if addr == 0 {
		return ariadne.Never, 0
	}
	return readTimespec(t, addr)
}

// mqWait waits with t entered in a queue, or says why not.
func mqWait(t *kernel.Thread, at ariadne.Time, enter func()) kernel.Result {
	if at != ariadne.Never {
		setDeadlineOn(t, unix.CLOCK_REALTIME, at)
	}
	if timedOut(t) {
		return kernel.Fail(unix.ETIMEDOUT)
	}
	if !mqueue.Waits(t) {
		enter()
	}
	return t.Block(kernel.RestartSA)
}

func sysMqTimedsend(t *kernel.Thread, a Args) kernel.Result {
	if t.Wait.Woken {
		return kernel.Ret(0)
	}
	at, e := mqDeadline(t, a[4])
	if e != 0 {
		return kernel.Fail(e)
	}
	if uint32(a[3]) >= mqueue.PrioMax {
		return kernel.Fail(unix.EINVAL)
	}
	q, of, e := mqueueOf(t, a[0])
	switch {
	case e != 0, of.Flags&unix.O_ACCMODE == unix.O_RDONLY:
		return kernel.Fail(unix.EBADF)
	case a[2] > uint64(q.MsgSize):
		return kernel.Fail(unix.EMSGSIZE)
	}
	data, e := readBytes(t, a[1], int(a[2]))
	switch {
	case e != 0:
		return kernel.Fail(e)
	case !q.Full() && !mqueue.Waits(t):
		q.Send(t, uint32(a[3]), data)
		return kernel.Ret(0)
	case of.NonBlocking():
		return kernel.Fail(unix.EAGAIN)
	}
	return mqWait(t, at, func() { q.WaitToSend(t, uint32(a[3]), data) })
}

func sysMqTimedreceive(t *kernel.Thread, a Args) kernel.Result {
	if t.Wait.Woken {
		prio, data := mqueue.Received(t)
		return mqStore(t, a, prio, data)
	}
	at, e := mqDeadline(t, a[4])
	if e != 0 {
		return kernel.Fail(e)
	}
	q, of, e := mqueueOf(t, a[0])
	switch {
	case e != 0, of.Flags&unix.O_ACCMODE == unix.O_WRONLY:
		return kernel.Fail(unix.EBADF)
	case a[2] < uint64(q.MsgSize):
		return kernel.Fail(unix.EMSGSIZE)
	case !q.Empty():
		prio, data := q.Receive(t)
		return mqStore(t, a, prio, data)
	case of.NonBlocking():
		return kernel.Fail(unix.EAGAIN)
	}
	return mqWait(t, at, func() { q.WaitToReceive(t) })
}

func mqStore(t *kernel.Thread, a Args, prio uint32, data []byte) kernel.Result {
	if a[3] != 0 {
		if e := writeU32(t, a[3], prio); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.RetOr(len(data), t.M.WriteMem(a[1], data))
}

func sysMqGetsetattr(t *kernel.Thread, a Args) kernel.Result {
	flags := uint64(0)
	if a[1] != 0 {
		b, e := readBytes(t, a[1], 64)
		if e != 0 {
			return kernel.Fail(e)
		}
		if flags = le.Uint64(b); flags&^unix.O_NONBLOCK != 0 {
			return kernel.Fail(unix.EINVAL)
		}
	}
	q, of, e := mqueueOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	old := q.EncodeAttr(of.Flags & unix.O_NONBLOCK)
	if a[1] != 0 {
		of.Flags = of.Flags&^unix.O_NONBLOCK | int(flags)
	}
	if a[2] != 0 {
		e = t.M.WriteMem(a[2], old)
	}
	return kernel.RetOr(0, e)
}

func sysMqNotify(t *kernel.Thread, a Args) kernel.Result {
	var how mqueue.Notify
	if a[1] != 0 {
		b, e := readBytes(t, a[1], 64)
		if e != 0 {
			return kernel.Fail(e)
		}
		how = mqueue.Notify{Value: le.Uint64(b), Signo: int(int32(le.Uint32(b[8:]))),
			Kind: int(int32(le.Uint32(b[12:])))}
		switch how.Kind {
		case mqueue.SigevNone:
		case mqueue.SigevSignal:
			if how.Signo < 0 || how.Signo > signal.Max {
				return kernel.Fail(unix.EINVAL)
			}
		case mqueue.SigevThread:
			if how.Cookie, e = readBytes(t, how.Value, mqueue.CookieSize); e != 0 {
				return kernel.Fail(e)
			}
			of := t.FDs().Get(how.Signo)
			if of == nil {
				return kernel.Fail(unix.EBADF)
			}
			s, ok := of.File.(*netlink.Socket)
			if !ok {
				return kernel.Fail(unix.EINVAL)
			}
			how.Socket = s
		default:
			return kernel.Fail(unix.EINVAL)
		}
	}
	q, _, e := mqueueOf(t, a[0])
	switch {
	case e != 0:
	case a[1] == 0:
		q.Unnotify(t.Proc)
	default:
		e = q.Notify(t.Proc, how)
	}
	return kernel.RetOr(0, e)
}
