package sys

import (
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/console"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// maxChunk is the most that one call to a kernel.Reader or Writer moves.
const maxChunk = 1 << 18

// fdOf is a descriptor argument: the low 32 bits.
func fdOf(a uint64) int { return int(int32(a)) }

// readable and writable return the open file that descriptor fd reads or
// writes; EBADF when there is none or it is not open that way.
func readable(t *kernel.Thread, fd uint64) (*kernel.OpenFile, kernel.Errno) {
	return opened(t, fd, (*kernel.OpenFile).Reads)
}

func writable(t *kernel.Thread, fd uint64) (*kernel.OpenFile, kernel.Errno) {
	return opened(t, fd, (*kernel.OpenFile).Writes)
}

func opened(t *kernel.Thread, fd uint64, may func(*kernel.OpenFile) bool) (*kernel.OpenFile, kernel.Errno) {
	of := t.Target(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 || !may(of) {
		return nil, unix.EBADF
	}
	return of, 0
}

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

// vectorOf reads the buffers of a call that has one or several.
func vectorOf(t *kernel.Thread, a Args) ([]iovec, kernel.Errno) {
	switch t.Call.NR {
	case unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2:
		return readIovecs(t, a[1], a[2])
	}
	return []iovec{{a[1], min(a[2], maxIO)}}, 0
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

func isHost(of *kernel.OpenFile) bool {
	_, ok := of.File.(*kernel.HostFile)
	return ok
}

// writeHost lets Linux write to the host file of descriptor fd.
func writeHost(t *kernel.Thread, of *kernel.OpenFile, fd uint64) kernel.Result {
	h := of.File.(*kernel.HostFile)
	fileModified(t, h)
	src := copySource(t)
	if t.Node().Files.SetIDBits(h.Key()) == 0 && !inotify.WantsOpen(t.Node(), h, unix.IN_MODIFY) &&
		(src == nil || !inotify.WantsOpen(t.Node(), src, unix.IN_ACCESS)) {
		return kernel.Native
	}
	r := run(t)
	keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(fdOf(fd))))
	notifyWritten(t, h, r)
	return kernel.Ret(r)
}

// notifyWritten tells of what a call has written. Those that do not say how much answer 0.
func notifyWritten(t *kernel.Thread, h *kernel.HostFile, r int64) {
	if nr := t.Call.NR; r > 0 || r == 0 && (nr == unix.SYS_FTRUNCATE || nr == unix.SYS_FALLOCATE) {
		if src := copySource(t); src != nil {
			notifyFile(t, src, unix.IN_ACCESS)
		}
		notifyFile(t, h, unix.IN_MODIFY)
	}
}

// copySource is the host file that the call copies from, if it is one that copies.
func copySource(t *kernel.Thread) *kernel.HostFile {
	fd := t.Call.Args[0]
	switch t.Call.NR {
	case unix.SYS_SENDFILE:
		fd = t.Call.Args[1]
	case unix.SYS_COPY_FILE_RANGE:
	default:
		return nil
	}
	h, _, _ := hostFile(t, fd)
	return h
}

// keepSetID is called after a change of a file's content, by which Linux has taken
// the set-id bits away. The node's root has the privilege (CAP_FSETID) to keep them, but not
// on the machine: for him they are put back. name is the file's, to the supervisor.
func keepSetID(t *kernel.Thread, key inode.Key, name string) {
	files := &t.Node().Files
	bits := files.SetIDBits(key)
	var st unix.Stat_t
	if bits == 0 || unix.Stat(name, &st) != nil || keyOf(&st) != key {
		return
	}
	mode := st.Mode | bits
	if !t.Capable(unix.CAP_FSETID) {
		mode = withoutSetID(st.Mode)
	}
	if mode != st.Mode && unix.Chmod(name, mode&0o7777) == nil {
		st.Mode = mode
	}
	files.NoteMode(key, st.Mode)
}

// withoutSetID is what is left of a mode when somebody writes to the file who may not keep
// its set-id bits. Without execution by the group the bit means something else.
func withoutSetID(mode uint32) uint32 {
	if mode&unix.S_IXGRP != 0 {
		mode &^= unix.S_ISGID
	}
	return mode &^ unix.S_ISUID
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

// unread gives back what could not be stored, to a file that takes it.
func unread(f kernel.File, b []byte) {
	if u, ok := f.(socket.Unreader); ok {
		u.Unread(b)
	}
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

// chunkOf is how much of what is left is given to a file at a time. A socket with messages gets
// the whole message, or more than it can take.
func chunkOf(f kernel.File, left int64) int {
	if s, ok := f.(socket.Socket); ok && !isStream(s) {
		return int(min(left, max(4*maxChunk, int64(s.Base().Opt(unix.SOL_SOCKET, unix.SO_SNDBUF))+1)))
	}
	return int(min(left, maxChunk))
}

// interrupted reports whether a signal will end the call if it waits.
func interrupted(t *kernel.Thread) bool { return t.Wait.Interrupted || t.HasSignal() }

// brokenPipe ends a write that met EPIPE. A stream socket that took some bytes
// before raises no signal yet; a pipe does; a socket with packets never.
func brokenPipe(t *kernel.Thread, of *kernel.OpenFile) kernel.Result {
	s, socket := of.File.(socket.Socket)
	if !socket || isStream(s) && t.Wait.Done == 0 {
		raise(t, int(unix.SIGPIPE))
	}
	if t.Wait.Done > 0 {
		return kernel.Ret(t.Wait.Done)
	}
	return kernel.Fail(unix.EPIPE)
}

// reader is readBytes or readLate.
type reader func(t *kernel.Thread, addr uint64, n int) ([]byte, kernel.Errno)

// contentReader reads what is to be written to a file. Linux reads it when there is room, but for
// the number that an eventfd is to add, and for a whole message before it looks whether its
// receiver takes it.
func contentReader(f kernel.File) reader {
	switch x := f.(type) {
	case *eventfd.File:
		return readBytes
	case *unixsock.Socket:
		if !isStream(x) && x.Sends() {
			return readBytes
		}
	}
	return readLate
}

// gatherFrom reads at most max bytes of what v points at, from offset off. A
// fault after the first bytes cuts it short.
func gatherFrom(t *kernel.Thread, v []iovec, off, max int, read reader) ([]byte, kernel.Errno) {
	var out []byte
	for _, x := range v {
		skip := min(off, int(x.len))
		off -= skip
		n := min(int(x.len)-skip, max-len(out))
		if n == 0 {
			continue
		}
		b, e := read(t, x.base+uint64(skip), n)
		if e != 0 {
			if len(out) > 0 {
				return out, 0
			}
			return nil, e
		}
		if out == nil {
			out = b
		} else {
			out = append(out, b...)
		}
	}
	return out, 0
}

// timeouts returns a file's SO_RCVTIMEO and SO_SNDTIMEO, 0 for none.
func timeouts(of *kernel.OpenFile) (rcv, snd ariadne.Time) {
	if x, ok := of.File.(kernel.Timeouter); ok {
		return x.Timeouts()
	}
	return 0, 0
}

// waitIO blocks until of changes. With a timeout, a signal always gives EINTR
// (signal(7)).
func waitIO(t *kernel.Thread, of *kernel.OpenFile, timeout ariadne.Time) kernel.Result {
	restart := kernel.RestartSA
	if timeout > 0 {
		restart = kernel.RestartNever
		t.SetDeadline(t.Node().Now + timeout)
	}
	return t.Block(restart, of.File.Changed())
}

// raise sends a signal to the calling thread, as a fault of its own does.
func raise(t *kernel.Thread, sig int) {
	t.Send(signal.Info{Signo: sig, Code: signal.SIUser, PID: t.Proc.PID, UID: t.Cred.UID.Real})
}
