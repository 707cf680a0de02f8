package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/console"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

func sysRead(t *kernel.Thread, a Args) kernel.Result {
	of, e := readable(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if isHost(of) {
		return readHost(t, of)
	}
	return readFile(t, of, []iovec{{a[1], min(a[2], maxIO)}}, of.NonBlocking())
}

func sysWrite(t *kernel.Thread, a Args) kernel.Result {
	of, e := writable(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if isHost(of) {
		return writeRoom(t, of, a[0], -1, int64(min(a[2], maxIO)), 2)
	}
	return writeFile(t, of, []iovec{{a[1], min(a[2], maxIO)}}, of.NonBlocking())
}

func sysReadv(t *kernel.Thread, a Args) kernel.Result {
	of, e := readable(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if isHost(of) {
		return readHost(t, of)
	}
	v, e := readIovecs(t, a[1], a[2])
	if _, able := of.File.(kernel.Reader); e != 0 || able && iovLen(v) == 0 {
		return kernel.RetOr(0, e)
	}
	return readFile(t, of, v, of.NonBlocking())
}

func sysWritev(t *kernel.Thread, a Args) kernel.Result {
	of, e := writable(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if isHost(of) {
		return writeVector(t, of, a, -1)
	}
	v, e := readIovecs(t, a[1], a[2])
	if _, able := of.File.(kernel.Writer); e != 0 || able && iovLen(v) == 0 {
		return kernel.RetOr(0, e)
	}
	return writeFile(t, of, v, of.NonBlocking())
}

// sysPread is pread64 and preadv: what is emulated cannot seek.
func sysPread(t *kernel.Thread, a Args) kernel.Result {
	of, e := readable(t, a[0])
	switch {
	case int64(a[3]) < 0:
		return kernel.Fail(unix.EINVAL)
	case e != 0 && seekless(t, a[0]):
		return kernel.Fail(unix.ESPIPE)
	case e != 0:
		return kernel.Fail(e)
	case isHost(of):
		return readHost(t, of)
	}
	return emulatedAt(t, of, a, false)
}

// emulatedAt is pread or pwrite, of one buffer or several, of an emulated file: few have places.
func emulatedAt(t *kernel.Thread, of *kernel.OpenFile, a Args, write bool) kernel.Result {
	switch f := of.File.(type) {
	case *procfs.Mem:
		return memoryAt(t, f, a, write)
	case *procfs.Dir:
		return kernel.Fail(unix.EISDIR)
	case procfs.Texter:
		return textAt(t, f, a, write)
	}
	return kernel.Fail(unix.ESPIPE)
}

// textAt reads or writes such a file at a place.
func textAt(t *kernel.Thread, f procfs.Texter, a Args, write bool) kernel.Result {
	v, e := vectorOf(t, a)
	if e != 0 {
		return kernel.Fail(e)
	}
	if write {
		if _, attr := f.(*procfs.Attr); attr {
			return kernel.Fail(unix.ESPIPE)
		}
		was := *f.Position()
		r := writeFile(t, &kernel.OpenFile{File: f, Flags: unix.O_RDWR}, v, true)
		*f.Position() = was
		return r
	}
	b := make([]byte, min(iovLen(v), maxChunk))
	n := f.ReadAt(t.Node(), b, int64(a[3]))
	return kernel.RetOr(n, scatter(t, v, b[:n]))
}

func sysPwrite(t *kernel.Thread, a Args) kernel.Result {
	of, e := writable(t, a[0])
	switch {
	case int64(a[3]) < 0:
		return kernel.Fail(unix.EINVAL)
	case e != 0 && seekless(t, a[0]):
		return kernel.Fail(unix.ESPIPE)
	case e != 0:
		return kernel.Fail(e)
	case !isHost(of):
		return emulatedAt(t, of, a, true)
	case t.Call.NR == unix.SYS_PWRITEV:
		return writeVector(t, of, a, int64(a[3]))
	}
	return writeRoom(t, of, a[0], int64(a[3]), int64(min(a[2], maxIO)), 2)
}

// seekless reports whether fd is open and has no offset, however it is open.
func seekless(t *kernel.Thread, fd uint64) bool {
	of := t.FDs().Get(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return false
	}
	switch of.File.(type) {
	case *procfs.Mem, *procfs.Dir, procfs.Texter:
		return false
	}
	return !isHost(of)
}

// rwfKnown are the flags of preadv2 and pwritev2.
const rwfKnown = unix.RWF_HIPRI | unix.RWF_DSYNC | unix.RWF_SYNC | unix.RWF_NOWAIT | unix.RWF_APPEND

func sysPreadv2(t *kernel.Thread, a Args) kernel.Result {
	of, e := readable(t, a[0])
	if e != 0 && int64(a[3]) >= 0 && seekless(t, a[0]) {
		e = unix.ESPIPE
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	if isHost(of) {
		return readHost(t, of)
	}
	if !seekless(t, a[0]) && int64(a[3]) >= 0 && a[5]&^rwfKnown == 0 {
		return emulatedAt(t, of, a, false)
	}
	v, nonblock, e := emulatedV2(t, of, a)
	if e != 0 || iovLen(v) == 0 {
		return kernel.RetOr(0, e)
	}
	return readFile(t, of, v, nonblock)
}

func sysPwritev2(t *kernel.Thread, a Args) kernel.Result {
	of, e := writable(t, a[0])
	if e != 0 && int64(a[3]) >= 0 && seekless(t, a[0]) {
		e = unix.ESPIPE
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	if isHost(of) {
		return writeVector(t, of, a, int64(a[3]))
	}
	if !seekless(t, a[0]) && int64(a[3]) >= 0 && a[5]&^rwfKnown == 0 {
		return emulatedAt(t, of, a, true)
	}
	v, nonblock, e := emulatedV2(t, of, a)
	if e != 0 || iovLen(v) == 0 {
		return kernel.RetOr(0, e)
	}
	return writeFile(t, of, v, nonblock)
}

// emulatedV2 reads the arguments of preadv2 and pwritev2 for a file that cannot
// seek: the offset must be -1.
func emulatedV2(t *kernel.Thread, of *kernel.OpenFile, a Args) (v []iovec, nonblock bool, e kernel.Errno) {
	switch {
	case int64(a[3]) < -1:
		return nil, false, unix.EINVAL
	case int64(a[3]) != -1 && seekless(t, a[0]):
		return nil, false, unix.ESPIPE
	case a[5]&^rwfKnown != 0:
		return nil, false, unix.EOPNOTSUPP
	}
	v, e = readIovecs(t, a[1], a[2])
	return v, of.NonBlocking() || a[5]&unix.RWF_NOWAIT != 0, e
}

// readFile reads from an emulated file into v.
func readFile(t *kernel.Thread, of *kernel.OpenFile, v []iovec, nonblock bool) kernel.Result {
	if m, ok := of.File.(*procfs.Mem); ok {
		return moveMemory(t, m, nil, v, false)
	}
	r, ok := of.File.(kernel.Reader)
	if _, dir := of.File.(*procfs.Dir); dir {
		return kernel.Fail(unix.EISDIR)
	}
	if !ok {
		return kernel.Fail(unix.EINVAL)
	}
	if _, socket := of.File.(socket.Socket); socket {
		return readSocket(t, v, nonblock)
	}
	size := min(iovLen(v), maxChunk)
	if s, ok := r.(kernel.Sized); ok {
		size = min(size, max(1, s.Buffered()))
	}
	b := make([]byte, size)
	n, e := r.Read(t, b)
	if e == unix.EAGAIN && !nonblock && !t.Wait.TimedOut {
		rcv, _ := timeouts(of)
		return waitIO(t, of, rcv)
	}
	if e == 0 {
		if e = scatter(t, v, b[:n]); e != 0 {
			unread(of.File, b[:n])
		}
	}
	return kernel.RetOr(n, e)
}

// readSocket is recv(2) but for reads of no bytes, by which recv would take an empty part of
// a datagram.
func readSocket(t *kernel.Thread, v []iovec, nonblock bool) kernel.Result {
	if iovLen(v) == 0 {
		return kernel.Ret(0)
	}
	flags := 0
	if nonblock {
		flags = unix.MSG_DONTWAIT
	}
	m, r := receive(t, t.Call.Args[0], v, flags)
	dropRights(t, m.Rights, 0) // there is no room for them
	return r
}

// writeFile writes v to an emulated file.
func writeFile(t *kernel.Thread, of *kernel.OpenFile, v []iovec, nonblock bool) kernel.Result {
	if m, ok := of.File.(*procfs.Mem); ok {
		return moveMemory(t, m, nil, v, true)
	}
	read := contentReader(of.File)
	return writeFrom(t, of, int64(iovLen(v)), nonblock, func(off int64, max int) ([]byte, kernel.Errno) {
		return gatherFrom(t, v, int(off), max, read)
	})
}

// writeFrom writes total bytes to an emulated file, as chunk gives them; it may
// give fewer than there should be and then none. t.Wait.Done bytes were written
// by earlier runs.
func writeFrom(t *kernel.Thread, of *kernel.OpenFile, total int64, nonblock bool,
	chunk func(off int64, max int) ([]byte, kernel.Errno)) kernel.Result {
	w, ok := of.File.(kernel.Writer)
	if !ok {
		return kernel.Fail(unix.EINVAL)
	}
	for {
		if c, ok := of.File.(*console.File); ok && c.Full(t) {
			t.Wait.Done = total
			return kernel.Ret(total)
		}
		b, e := chunk(t.Wait.Done, chunkOf(of.File, total-t.Wait.Done))
		n := 0
		if e == 0 {
			n, e = w.Write(t, b)
			t.Wait.Done += int64(n)
		} else if s, ok := of.File.(socket.Socket); ok {
			e = unsendable(t, s, 0, e)
		}
		done := t.Wait.Done
		switch {
		case e == unix.EAGAIN && !nonblock && !t.Wait.TimedOut && !(done > 0 && interrupted(t)):
			_, snd := timeouts(of)
			return waitIO(t, of, snd)
		case e == unix.EPIPE:
			return brokenPipe(t, of)
		case e != 0 && done == 0:
			return kernel.Fail(e)
		case e != 0 || len(b) == 0 || done >= total:
			return kernel.Ret(done)
		}
	}
}
