package sys

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/aio"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// ioRingSize is the memory behind a context. Its id is that memory's address:
// libaio looks there for the ring of events, finds no magic number and asks by
// system call.
const ioRingSize = 4096

func sysIoSetup(t *kernel.Thread, a Args) kernel.Result {
	max := uint32(a[0])
	id, e := readU64(t, a[1])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case id != 0 || max == 0 || max > 1<<22: // twice as many events would not fit into 256 MiB
		return kernel.Fail(unix.EINVAL)
	case max > 1<<20:
		return kernel.Fail(unix.EAGAIN)
	}
	at := t.M.Syscall(unix.SYS_MMAP, 0, ioRingSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0)
	if at < 0 {
		return kernel.Ret(at)
	}
	e = aio.New(t.Node(), t.Proc, uint64(at), int(max))
	if e == 0 {
		if e = writeU64(t, a[1], uint64(at)); e == 0 {
			return kernel.Ret(0)
		}
		aio.Destroy(t.Proc, uint64(at))
	}
	t.M.Syscall(unix.SYS_MUNMAP, uint64(at), ioRingSize)
	return kernel.Fail(e)
}

func sysIoDestroy(t *kernel.Thread, a Args) kernel.Result {
	if ctx := aio.Find(t.Proc, a[0]); ctx != nil && ctx.Busy() { // it waits for what is under way
		t.Wait.Uninterruptible = true
		return t.Block(kernel.RestartAlways, ctx.Changed())
	}
	if !aio.Destroy(t.Proc, a[0]) {
		return kernel.Fail(unix.EINVAL)
	}
	t.M.Syscall(unix.SYS_MUNMAP, a[0], ioRingSize)
	return kernel.Ret(0)
}

// iocb is a struct iocb.
type iocb struct {
	at      uint64
	data    uint64
	rwFlags uint32
	op      uint16
	fd      uint32
	buf     uint64
	nbytes  uint64
	offset  int64
	flags   uint32
	resfd   uint32
}

const iocbSize = 64

// Values of iocb.op and iocb.flags.
const (
	iocbPread   = 0
	iocbPwrite  = 1
	iocbFsync   = 2
	iocbFdsync  = 3
	iocbPreadv  = 7
	iocbPwritev = 8

	iocbFlagResFD  = 1
	iocbFlagIOPrio = 2
)

// readIocb reads and checks a struct iocb.
func readIocb(t *kernel.Thread, at uint64) (c iocb, e kernel.Errno) {
	b, e := readBytes(t, at, iocbSize)
	if e != 0 {
		return c, e
	}
	c = iocb{at: at, data: le.Uint64(b), rwFlags: le.Uint32(b[12:]), op: le.Uint16(b[16:]),
		fd: le.Uint32(b[20:]), buf: le.Uint64(b[24:]), nbytes: le.Uint64(b[32:]),
		offset: int64(le.Uint64(b[40:])), flags: le.Uint32(b[56:]), resfd: le.Uint32(b[60:])}
	if le.Uint64(b[48:]) != 0 || c.flags&^(iocbFlagResFD|iocbFlagIOPrio) != 0 || int64(c.nbytes) < 0 {
		return c, unix.EINVAL
	}
	return c, 0
}

func sysIoSubmit(t *kernel.Thread, a Args) kernel.Result {
	ctx := aio.Find(t.Proc, a[0])
	n := int64(a[1])
	if ctx == nil || n < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	n = min(n, int64(ctx.Max))
	for i := int64(0); i < n; i++ {
		at, e := readU64(t, a[2]+uint64(i)*8)
		if e == 0 {
			e = submit(t, ctx, at)
		}
		if e != 0 && i == 0 {
			return kernel.Fail(e)
		}
		if e != 0 {
			return kernel.Ret(i)
		}
		if t.Call.Cut { // what is submitted behind it is never begun
			break
		}
	}
	return kernel.Ret(n)
}

// submit runs one operation to its end, but for a sync that takes time. The errno is why it was not
// accepted; what became of an accepted one stands in its event.
func submit(t *kernel.Thread, ctx *aio.Context, at uint64) kernel.Errno {
	c, e := readIocb(t, at)
	if e != 0 {
		return e
	}
	if ctx.Room() == 0 {
		return unix.EAGAIN
	}
	of := t.FDs().Get(fdOf(uint64(c.fd)))
	if of == nil {
		return unix.EBADF
	}
	var signal *eventfd.File
	if c.flags&iocbFlagResFD != 0 {
		res := t.FDs().Get(fdOf(uint64(c.resfd)))
		if res == nil {
			return unix.EBADF
		}
		var ok bool
		if signal, ok = res.File.(*eventfd.File); !ok {
			return unix.EINVAL
		}
	}
	if e := writeU32(t, at+8, 0); e != 0 { // aio_key
		return e
	}
	var slow *slowdisk.Sync
	if file, ok := syncsAIO(t, of, c); ok && t.Node().Stalls {
		slow = slowdisk.Ask(t, "io_submit", file)
	}
	v, e := perform(t, of, c)
	if slow != nil && (e != 0 || v < 0) {
		slowdisk.Drop(t)
		slow = nil
	}
	if e != 0 {
		return e
	}
	end := ended{ctx, aio.Event{Data: c.data, Obj: at, Res: v}, signal}
	if slow != nil {
		ctx.Begin()
		slow.Begin(t, v, &underWay{end})
		return 0
	}
	end.signalEnd()
	return 0
}

// ended is an operation that has ended, and the eventfd that signals its end.
type ended struct {
	ctx    *aio.Context
	event  aio.Event
	signal *eventfd.File // or nil
}

// signalEnd completes the operation, and wakes those that wait for it.
func (e *ended) signalEnd() {
	e.ctx.Complete(e.event)
	if e.signal != nil {
		e.signal.Signal()
	}
}

// underWay is an operation that ends with a sync that takes time.
type underWay struct{ ended }

// SyncEnded implements slowdisk.Ender.
func (u *underWay) SyncEnded(*kernel.Node) {
	u.ctx.End()
	u.signalEnd()
}

// syncsAIO reports whether an operation has a file written to the disk before it ends: a sync, a
// write like those that other calls wait for, or one past the page cache. Others end when they are
// submitted, as on Linux.
func syncsAIO(t *kernel.Thread, of *kernel.OpenFile, c iocb) (file string, ok bool) {
	switch c.op {
	case iocbFsync, iocbFdsync:
		return syncsFile(t, Args{uint64(c.fd)})
	case iocbPwrite, iocbPwritev:
		if of.Flags&(unix.O_DSYNC|unix.O_DIRECT) != 0 || c.rwFlags&(unix.RWF_SYNC|unix.RWF_DSYNC) != 0 {
			return writesDisk(t, uint64(c.fd))
		}
	}
	return "", false
}

// perform runs the operation as the ordinary call that does the same.
func perform(t *kernel.Thread, of *kernel.OpenFile, c iocb) (int64, kernel.Errno) {
	h, ok := of.File.(*kernel.HostFile)
	if !ok {
		t.Node().Refuse(t, "io_submit on an emulated file", fmt.Sprintf("opcode %d on descriptor %d", c.op, c.fd),
			false)
		return 0, unix.EINVAL
	}
	writes := c.op == iocbPwrite || c.op == iocbPwritev
	switch c.op {
	case iocbFsync, iocbFdsync:
		if c.buf != 0 || c.offset != 0 || c.nbytes != 0 || c.rwFlags != 0 {
			return 0, unix.EINVAL
		}
		nr := unix.SYS_FSYNC
		if c.op == iocbFdsync {
			nr = unix.SYS_FDATASYNC
		}
		done := recordAIO(t, c, 0)
		v := t.M.Syscall(nr, uint64(c.fd))
		if done != nil {
			done(v)
		}
		return v, 0
	case iocbPread, iocbPreadv, iocbPwrite, iocbPwritev:
		switch {
		case writes && !of.Writes(), !writes && !of.Reads():
			return 0, unix.EBADF
		case c.rwFlags&^rwfKnown != 0:
			return 0, unix.EOPNOTSUPP
		case c.offset < 0:
			return 0, unix.EINVAL
		}
		var done recording
		if writes {
			if e := t.Call.Fails; e != 0 {
				t.Call.Fails = 0
				return -int64(e), 0
			}
			n := int64(min(c.nbytes, maxIO))
			if c.op == iocbPwritev {
				n = 0
				if v, e := readIovecs(t, c.buf, c.nbytes); e == 0 {
					n = int64(iovLen(v))
				}
			}
			if takeRoom(t, h, of, uint64(c.fd), c.offset, n) < n {
				return -int64(unix.ENOSPC), 0
			}
			fileModified(t, h)
			done = recordAIO(t, c, n)
		}
		r := performRW(t, c, writes)
		if done != nil {
			done(r)
		}
		if mask := uint32(unix.IN_ACCESS); r > 0 {
			if writes {
				mask = unix.IN_MODIFY
			}
			notifyFile(t, h, mask)
		}
		return r, 0
	}
	t.Node().Refuse(t, fmt.Sprintf("io_submit opcode %d", c.op), fmt.Sprintf("descriptor %d", c.fd), false)
	return 0, unix.EINVAL
}

// performRW runs preadv2 or pwritev2. Whether the operation would have waited
// for the disk (RWF_NOWAIT) must not show: it depends on the machine.
func performRW(t *kernel.Thread, c iocb, writes bool) int64 {
	nr := unix.SYS_PREADV2
	if writes {
		nr = unix.SYS_PWRITEV2
	}
	list, n := c.buf, c.nbytes
	if c.op == iocbPread || c.op == iocbPwrite {
		list, n = area.Scratch, 1
		b := le.AppendUint64(le.AppendUint64(nil, c.buf), c.nbytes)
		if e := t.M.WriteMem(list, b); e != 0 {
			return -int64(e)
		}
	}
	flags := c.rwFlags &^ (unix.RWF_NOWAIT | unix.RWF_HIPRI)
	return t.M.Syscall(nr, uint64(c.fd), list, n, uint64(c.offset), 0, uint64(flags))
}

func sysIoGetevents(t *kernel.Thread, a Args) kernel.Result {
	return getevents(t, a, kernel.RestartNever)
}

func sysIoPgetevents(t *kernel.Thread, a Args) kernel.Result {
	if a[5] != 0 {
		b, e := readBytes(t, a[5], 16)
		if e != 0 {
			return kernel.Fail(e)
		}
		if e := swapMask(t, le.Uint64(b), le.Uint64(b[8:])); e != 0 {
			return kernel.Fail(e)
		}
	}
	return getevents(t, a, kernel.RestartNoHand)
}

// getevents waits for at least a[1] events and stores at most a[2];
// t.Wait.Done of them were stored by earlier runs.
func getevents(t *kernel.Thread, a Args, restart kernel.Restart) kernel.Result {
	if e := timeoutArg(t, a[4], readTimespec); e != 0 {
		return kernel.Fail(e)
	}
	ctx := aio.Find(t.Proc, a[0])
	least, most := int64(a[1]), int64(a[2])
	if ctx == nil || least < 0 || most < least {
		return kernel.Fail(unix.EINVAL)
	}
	var b []byte
	got := ctx.Take(int(most - t.Wait.Done))
	for _, e := range got {
		for _, v := range []uint64{e.Data, e.Obj, uint64(e.Res), uint64(e.Res2)} {
			b = le.AppendUint64(b, v)
		}
	}
	if e := t.M.WriteMem(a[3]+uint64(t.Wait.Done)*32, b); e != 0 {
		return kernel.Fail(e)
	}
	t.Wait.Done += int64(len(got))
	done := t.Wait.Done
	if done < least && !timedOut(t) && !(done > 0 && interrupted(t)) {
		return t.Block(restart, ctx.Changed())
	}
	return kernel.Ret(done)
}

// sysIoCancel finds nothing to cancel: every operation has ended, or is one that Linux cannot
// cancel either.
func sysIoCancel(t *kernel.Thread, a Args) kernel.Result {
	if _, e := readBytes(t, a[1], iocbSize); e != 0 {
		return kernel.Fail(e)
	}
	return kernel.Fail(unix.EINVAL)
}
