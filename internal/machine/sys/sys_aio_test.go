package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/aio"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

const (
	ctxAt  = kerneltest.Base + 0x300
	cbAt   = kerneltest.Base + 0x500
	listAt = kerneltest.Base + 0x600
	ring   = 0x7f0000000000
)

// putIocb stores the i-th struct iocb and its place in the list.
func putIocb(m *kerneltest.Tracee, i int, c iocb) {
	b := make([]byte, iocbSize)
	le.PutUint64(b, c.data)
	le.PutUint32(b[12:], c.rwFlags)
	le.PutUint16(b[16:], c.op)
	le.PutUint32(b[20:], c.fd)
	le.PutUint64(b[24:], c.buf)
	le.PutUint64(b[32:], c.nbytes)
	le.PutUint64(b[40:], uint64(c.offset))
	le.PutUint32(b[56:], c.flags)
	le.PutUint32(b[60:], c.resfd)
	at := uint64(cbAt + i*iocbSize)
	m.Poke(at, b)
	m.Poke(listAt+uint64(i)*8, le.AppendUint64(nil, at))
}

func TestAIO(t *testing.T) {
	d, a, m := newProcess(t)
	m.Answer[unix.SYS_MMAP] = func([]uint64) int64 { return ring }
	m.Answer[unix.SYS_MUNMAP] = func([]uint64) int64 { return 0 }
	var flags []uint64
	m.Answer[unix.SYS_PWRITEV2] = func(args []uint64) int64 {
		flags = append(flags, args[5])
		return int64(le.Uint64(m.Peek(args[1]+8, 8)))
	}
	m.Answer[unix.SYS_PREADV2] = func([]uint64) int64 { return errno(unix.EIO) }
	m.Answer[unix.SYS_FDATASYNC] = func([]uint64) int64 { return 0 }
	fd := uint32(m.Open(a, tempFile(t, ""), unix.O_RDWR))
	r, _ := pipeOf(d, a, 0)
	efd := uint32(d.Must(a, unix.SYS_EVENTFD2, 0, 0))

	want(t, "no operations", d.Must(a, unix.SYS_IO_SETUP, 0, ctxAt), errno(unix.EINVAL))
	want(t, "io_setup", d.Must(a, unix.SYS_IO_SETUP, 4, ctxAt), 0)
	want(t, "again", d.Must(a, unix.SYS_IO_SETUP, 4, ctxAt), errno(unix.EINVAL))
	ctx := le.Uint64(m.Peek(ctxAt, 8))
	want(t, "unknown context", d.Must(a, unix.SYS_IO_SUBMIT, 1, 1, listAt), errno(unix.EINVAL))

	putIocb(m, 0, iocb{data: 11, op: iocbPwrite, fd: fd, buf: bufAt, nbytes: 512,
		rwFlags: unix.RWF_DSYNC | unix.RWF_NOWAIT, flags: iocbFlagResFD, resfd: efd})
	putIocb(m, 1, iocb{data: 22, op: iocbPread, fd: fd, buf: bufAt, nbytes: 10})
	putIocb(m, 2, iocb{data: 33, op: iocbFdsync, fd: fd})
	putIocb(m, 3, iocb{op: iocbPwrite, fd: 99})
	want(t, "io_submit", d.Must(a, unix.SYS_IO_SUBMIT, ctx, 4, listAt), 3)
	if len(flags) != 1 || flags[0] != unix.RWF_DSYNC {
		t.Errorf("flags of the writes: %v", flags)
	}
	want(t, "eventfd", d.Must(a, unix.SYS_READ, uint64(efd), bufAt, 8), 8)
	want(t, "signals", int64(le.Uint64(m.Peek(bufAt, 8))), 1)
	want(t, "too many asked for", d.Must(a, unix.SYS_IO_GETEVENTS, ctx, 3, 2, bufAt, 0), errno(unix.EINVAL))
	want(t, "io_getevents", d.Must(a, unix.SYS_IO_GETEVENTS, ctx, 1, 2, bufAt, 0), 2)
	want(t, "data", int64(le.Uint64(m.Peek(bufAt, 8))), 11)
	want(t, "object", int64(le.Uint64(m.Peek(bufAt+8, 8))), cbAt)
	want(t, "result", int64(le.Uint64(m.Peek(bufAt+16, 8))), 512)
	want(t, "result", int64(le.Uint64(m.Peek(bufAt+48, 8))), errno(unix.EIO))

	// One event is left; a second comes from another thread.
	b, _ := d.Thread(a)
	d.Waits(a, unix.SYS_IO_GETEVENTS, ctx, 2, 4, bufAt, 0)
	putIocb(m, 0, iocb{data: 44, op: iocbFdsync, fd: fd})
	want(t, "io_submit", d.Must(b, unix.SYS_IO_SUBMIT, ctx, 1, listAt), 1)
	want(t, "io_getevents", d.Done(a), 2)
	want(t, "data", int64(le.Uint64(m.Peek(bufAt+32, 8))), 44)

	m.Poke(timeAt, le.AppendUint64(le.AppendUint64(nil, 1), 0))
	d.Waits(a, unix.SYS_IO_GETEVENTS, ctx, 1, 4, bufAt, timeAt)
	d.Fire()
	want(t, "timeout", d.Done(a), 0)

	putIocb(m, 0, iocb{op: iocbPread, fd: uint32(r)})
	want(t, "on a pipe", d.Must(a, unix.SYS_IO_SUBMIT, ctx, 1, listAt), errno(unix.EINVAL))
	if len(d.Node.Refusals) != 1 {
		t.Errorf("refusals: %v", d.Node.Refusals)
	}
	want(t, "io_destroy", d.Must(a, unix.SYS_IO_DESTROY, ctx), 0)
	want(t, "io_destroy", d.Must(a, unix.SYS_IO_DESTROY, ctx), errno(unix.EINVAL))
}

func TestAIOContextsEndWithTheirMemory(t *testing.T) {
	d, a, _ := newProcess(t)
	if e := aio.New(d.Node, a.Proc, 1, 60000); e != 0 {
		t.Fatal(e)
	}
	b, _ := d.Process(nil)
	want(t, "too many", errno(aio.New(d.Node, b.Proc, 1, 60000)), errno(unix.EAGAIN))
	a.Proc.Exit(0, 0, false)
	want(t, "after the other's exit", errno(aio.New(d.Node, b.Proc, 1, 60000)), 0)
	if aio.Find(a.Proc, 1) != nil || aio.Find(b.Proc, 1) == nil {
		t.Error("wrong context")
	}
}

func TestSignalFD(t *testing.T) {
	d, a, m := newProcess(t)
	usr1 := signal.SetOf(int(unix.SIGUSR1))
	m.Mask = usr1
	m.Poke(setAt, le.AppendUint64(nil, uint64(usr1)))
	fd := uint64(d.Must(a, unix.SYS_SIGNALFD4, ^uint64(0), setAt, 8, unix.SFD_NONBLOCK))
	want(t, "bad size", d.Must(a, unix.SYS_SIGNALFD4, ^uint64(0), setAt, 4, 0), errno(unix.EINVAL))
	want(t, "none", d.Must(a, unix.SYS_READ, fd, bufAt, 256), errno(unix.EAGAIN))
	want(t, "short", d.Must(a, unix.SYS_READ, fd, bufAt, 100), errno(unix.EINVAL))

	b, _ := d.Thread(a)
	putPoll(a, fd, unix.POLLIN)
	d.Waits(a, unix.SYS_POLL, setAt, 1, ^uint64(0))
	d.Node.Kill(a.Proc, signal.Info{Signo: int(unix.SIGUSR1), PID: 42, Value: 7})
	d.Settle()
	want(t, "poll", d.Done(a), 1)
	want(t, "read", d.Must(b, unix.SYS_READ, fd, bufAt, 256), 128)
	info := m.Peek(bufAt, 128)
	if le.Uint32(info) != uint32(unix.SIGUSR1) || le.Uint32(info[12:]) != 42 || le.Uint64(info[48:]) != 7 {
		t.Errorf("info %v", info)
	}
	want(t, "taken", d.Must(a, unix.SYS_READ, fd, bufAt, 256), errno(unix.EAGAIN))
}

func TestTimerfdCalls(t *testing.T) {
	d, a, m := newProcess(t)
	d.Node.RealBase, d.Node.MonoBase = 1e18, 5e9
	want(t, "bad clock", d.Must(a, unix.SYS_TIMERFD_CREATE, 3, 0), errno(unix.EINVAL))
	fd := uint64(d.Must(a, unix.SYS_TIMERFD_CREATE, unix.CLOCK_REALTIME, 0))
	set := func(flags uint64, interval, value int64) int64 {
		var b []byte
		for _, v := range []int64{interval, value} {
			b = le.AppendUint64(le.AppendUint64(b, uint64(v/1e9)), uint64(v%1e9))
		}
		m.Poke(timeAt, b)
		return d.Must(a, unix.SYS_TIMERFD_SETTIME, fd, flags, timeAt, setAt)
	}
	want(t, "absolute", set(unix.TFD_TIMER_ABSTIME|tfdCancelOnSet, 2e9, 1e18+3e9), 0)
	d.Waits(a, unix.SYS_READ, fd, bufAt, 8)
	d.Fire()
	want(t, "read", d.Done(a), 8)
	want(t, "clock", int64(d.Node.Now), 3e9)
	d.Node.Now = 4e9
	want(t, "gettime", d.Must(a, unix.SYS_TIMERFD_GETTIME, fd, setAt), 0)
	want(t, "interval", int64(le.Uint64(m.Peek(setAt, 8))), 2)
	want(t, "left", int64(le.Uint64(m.Peek(setAt+16, 8))), 1)
	want(t, "disarm", set(0, 0, 0), 0)
	want(t, "old value", int64(le.Uint64(m.Peek(setAt+16, 8))), 1)
	if tm := d.Node.NextTimer(true); tm != nil {
		t.Errorf("a timer is left: %+v", tm)
	}
	want(t, "no timer", d.Must(a, unix.SYS_TIMERFD_GETTIME, 0, setAt), errno(unix.EBADF))
}
