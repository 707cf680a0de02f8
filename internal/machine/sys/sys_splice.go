package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

const spliceFlags = unix.SPLICE_F_MOVE | unix.SPLICE_F_NONBLOCK | unix.SPLICE_F_MORE | unix.SPLICE_F_GIFT

// openedAs returns the open file behind fd, if it may be used for what the call does. Unlike opened
// it does not choose what the call waits on: these calls have two files.
func openedAs(t *kernel.Thread, fd uint64, may func(*kernel.OpenFile) bool) (*kernel.OpenFile, kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 || !may(of) {
		return nil, unix.EBADF
	}
	return of, 0
}

func sysSendfile(t *kernel.Thread, a Args) kernel.Result {
	var pos uint64
	var e kernel.Errno
	if a[2] != 0 {
		if pos, e = readU64(t, a[2]); e != 0 {
			return kernel.Fail(e) // before any descriptor is looked at
		}
	}
	in, e := openedAs(t, a[1], (*kernel.OpenFile).Reads)
	if e == 0 && a[2] != 0 {
		e = sendfileOffset(in, pos)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	out, e := openedAs(t, a[0], (*kernel.OpenFile).Writes)
	if e != 0 {
		return kernel.Fail(e)
	}
	if int64(a[3]) < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	end, pipes := out.File.(*pipe.End)
	switch {
	case pipes && end.Ready()&kernel.Err != 0:
		return brokenPipe(t, out)
	case pipes && end.Pipe.Room() == 0:
		return blockUnless(t, out.NonBlocking(), out)
	case a[3] == 0 && (pipes || anonymous(in.File) || isNull(in) || isDir(in)):
		return kernel.Ret(0) // it can be sought in, and that is all that is asked
	case isNull(in) || isDir(in):
		return kernel.Fail(unix.EINVAL)
	}
	if anonymous(out.File) {
		return sendNowhere(t, in, a)
	}
	if !isHost(in) {
		return sendfileFrom(t, in, out, a)
	}
	if isHost(out) {
		return copyRoom(t, out, a[0], 3)
	}
	if pipes {
		return spliceIn(t, in, out, Args{a[1], a[2]}, int(min(a[3], maxChunk)), out.NonBlocking())
	}
	src, e := hostEnd(t, a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	defer src.close()
	if int64(src.pos) < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if b, e := src.readAt(0, int(min(a[3], 1))); len(b) == 0 {
		return kernel.RetOr(0, e) // before the socket is looked at
	}
	r := writeFrom(t, out, int64(min(a[3], maxIO)), out.NonBlocking(), src.readAt)
	if r.Op == kernel.OpReturn && r.Value > 0 {
		notifyCopied(t, in.File, nil)
		if e := src.moveTo(src.pos + r.Value); e != 0 {
			return kernel.Fail(e)
		}
	}
	return r
}

// sendNowhere is sendfile to what takes no data this way: only that there is none does not
// fail.
func sendNowhere(t *kernel.Thread, in *kernel.OpenFile, a Args) kernel.Result {
	if !isHost(in) {
		return kernel.Fail(unix.EINVAL)
	}
	src, e := hostEnd(t, a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	defer src.close()
	b, e := src.readAt(0, int(min(a[3], 1)))
	switch {
	case e != 0:
		return kernel.Fail(e)
	case len(b) > 0:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}

// sendfileOffset checks the position from which sendfile is to read.
func sendfileOffset(in *kernel.OpenFile, pos uint64) kernel.Errno {
	switch _, seeks := in.File.(*kernel.HostFile); {
	case !seeks:
		return unix.ESPIPE
	case int64(pos) < 0:
		return unix.EINVAL
	}
	return 0
}

// sendfileFrom is sendfile from what cannot seek: into a pipe from a socket.
func sendfileFrom(t *kernel.Thread, in, out *kernel.OpenFile, a Args) kernel.Result {
	_, socket := in.File.(socket.Socket)
	if _, pipe := out.File.(*pipe.End); !socket || !pipe {
		return kernel.Fail(unix.EINVAL)
	}
	return spliceIn(t, in, out, Args{}, int(min(a[3], maxChunk)), out.NonBlocking())
}

// hostSide is a host file that takes part in a copy: at its own position, or at
// the one kept in the caller's memory.
type hostSide struct {
	t    *kernel.Thread
	fd   int // the supervisor's
	pos  int64
	addr uint64 // of the position, or 0
}

func hostEnd(t *kernel.Thread, fd, addr uint64) (*hostSide, kernel.Errno) {
	host, e := t.M.HostFD(fdOf(fd))
	if e != 0 {
		return nil, e
	}
	s := &hostSide{t: t, fd: host, addr: addr}
	if addr != 0 {
		var v uint64
		v, e = readU64(t, addr)
		s.pos = int64(v)
	} else {
		var err error
		s.pos, err = unix.Seek(host, 0, unix.SEEK_CUR)
		e = errnoOf(err)
	}
	if e != 0 {
		s.close()
		return nil, e
	}
	return s, 0
}

func (s *hostSide) close() { unix.Close(s.fd) }

// readAt returns at most max bytes that lie off behind the position.
func (s *hostSide) readAt(off int64, max int) ([]byte, kernel.Errno) {
	b := make([]byte, min(max, 1<<16))
	n, err := unix.Pread(s.fd, b, s.pos+off)
	if err != nil {
		return nil, errnoOf(err)
	}
	return b[:n], 0
}

// moveTo sets the position.
func (s *hostSide) moveTo(pos int64) kernel.Errno {
	s.pos = pos
	if s.addr != 0 {
		return writeU64(s.t, s.addr, uint64(pos))
	}
	_, err := unix.Seek(s.fd, pos, unix.SEEK_SET)
	return errnoOf(err)
}

// Read implements kernel.Reader; it leaves the position where it is.
func (s *hostSide) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	n, err := unix.Pread(s.fd, b, s.pos)
	return max(0, n), errnoOf(err)
}

// Write implements kernel.Writer.
func (s *hostSide) Write(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	n, err := unix.Pwrite(s.fd, b, s.pos)
	if err != nil {
		return 0, errnoOf(err)
	}
	return n, s.moveTo(s.pos + int64(n))
}

// sysSplice moves bytes between a pipe and another file, or two pipes. Like
// Linux it returns after one round: what the pipe held, or what it had room for.
func sysSplice(t *kernel.Thread, a Args) kernel.Result {
	if a[4] == 0 {
		return kernel.Ret(0)
	}
	if a[5]&^spliceFlags != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	for at := 0; at < 4; at += 2 { // before how they are open
		if of := t.FDs().Get(fdOf(a[at])); of == nil || of.Flags&unix.O_PATH != 0 {
			return kernel.Fail(unix.EBADF)
		}
	}
	for at := 0; at < 4; at += 2 {
		if _, pipe := t.FDs().Get(fdOf(a[at])).File.(*pipe.End); pipe && a[at+1] != 0 {
			return kernel.Fail(unix.ESPIPE)
		}
		if a[at+1] != 0 { // whatever becomes of it while the call waits
			if _, e := readU64(t, a[at+1]); e != 0 {
				return kernel.Fail(e)
			}
		}
	}
	in, e := openedAs(t, a[0], (*kernel.OpenFile).Reads)
	if e != 0 {
		return kernel.Fail(e)
	}
	out, e := openedAs(t, a[2], (*kernel.OpenFile).Writes)
	if e != 0 {
		return kernel.Fail(e)
	}
	from, inPipe := in.File.(*pipe.End)
	to, outPipe := out.File.(*pipe.End)
	switch {
	case !inPipe && !outPipe, inPipe && outPipe && from.Pipe == to.Pipe:
		return kernel.Fail(unix.EINVAL)
	case !inPipe && !isHost(in) && a[1] != 0, !outPipe && !isHost(out) && a[3] != 0:
		return kernel.Fail(unix.EINVAL)
	}
	if anonymous(in.File) || anonymous(out.File) {
		return kernel.Fail(unix.EINVAL)
	}
	nonblock := a[5]&unix.SPLICE_F_NONBLOCK != 0 || outPipe && (out.NonBlocking() || inPipe && in.NonBlocking())
	size := int(min(a[4], maxChunk))
	if outPipe {
		return spliceIn(t, in, out, a, size, nonblock)
	}
	return spliceOut(t, in, out, a, size, nonblock)
}

// isNull reports whether a file is /dev/null, which can only be spliced to.
func isNull(of *kernel.OpenFile) bool {
	h, ok := of.File.(*kernel.HostFile)
	return ok && h.Path == "/dev/null"
}

// isDir reports whether a file is a directory.
func isDir(of *kernel.OpenFile) bool {
	h, ok := of.File.(*kernel.HostFile)
	return ok && h.Mode&unix.S_IFMT == unix.S_IFDIR
}

// spliceIn fills a pipe.
func spliceIn(t *kernel.Thread, in, out *kernel.OpenFile, a Args, size int, nonblock bool) kernel.Result {
	to := out.File.(*pipe.End)
	if from, ok := in.File.(*pipe.End); ok && len(from.Pipe.Peek(1)) == 0 && !from.Pipe.Ended() {
		return blockUnless(t, nonblock, in) // before Linux looks for readers
	}
	if to.Ready()&kernel.Err != 0 {
		return brokenPipe(t, out)
	}
	size = min(size, to.Pipe.Room())
	if size == 0 {
		return blockUnless(t, nonblock || out.NonBlocking(), out)
	}
	var r kernel.Reader
	var side *hostSide
	if isNull(in) || isDir(in) {
		return kernel.Fail(unix.EINVAL)
	}
	if isHost(in) {
		var e kernel.Errno
		if side, e = hostEnd(t, a[0], a[1]); e != 0 {
			return kernel.Fail(e)
		}
		defer side.close()
		r = side
	} else {
		var ok bool
		if r, ok = in.File.(kernel.Reader); !ok {
			return kernel.Fail(unix.EINVAL)
		}
	}
	b := make([]byte, size)
	n, e := r.Read(t, b)
	if e == unix.EAGAIN {
		// Of the sockets only Unix streams heed SPLICE_F_NONBLOCK.
		s, socket := in.File.(socket.Socket)
		heeds := !socket || s.Base().Domain == unix.AF_UNIX && isStream(s)
		return blockUnless(t, nonblock && heeds || in.NonBlocking(), in)
	}
	if e != 0 || n == 0 {
		return kernel.RetOr(0, e)
	}
	if side == nil {
		return kernel.RetOr(to.Write(t, b[:n]))
	}
	const page = 4096
	n = to.Splice(b[:n], int(side.pos%page))
	if n > 0 {
		notifyCopied(t, in.File, nil)
	}
	return kernel.RetOr(n, side.moveTo(side.pos+int64(n)))
}

// spliceOut empties a pipe.
func spliceOut(t *kernel.Thread, in, out *kernel.OpenFile, a Args, size int, nonblock bool) kernel.Result {
	from := in.File.(*pipe.End)
	b := from.Pipe.Peek(size)
	if len(b) == 0 {
		if from.Pipe.Ended() {
			return kernel.Ret(0)
		}
		return blockUnless(t, nonblock || in.NonBlocking(), in)
	}
	var w kernel.Writer
	if h, ok := out.File.(*kernel.HostFile); ok {
		if out.Flags&unix.O_APPEND != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		side, e := hostEnd(t, a[2], a[3])
		if e != 0 {
			return kernel.Fail(e)
		}
		defer side.close()
		if n := takeRoom(t, h, out, a[2], side.pos, int64(len(b))); n < int64(len(b)) {
			if b = b[:n]; n == 0 {
				return kernel.Fail(unix.ENOSPC)
			}
		}
		fileModified(t, h)
		w = side
	} else if w, ok = out.File.(kernel.Writer); !ok {
		return kernel.Fail(unix.EINVAL)
	}
	n, e := w.Write(t, b)
	switch {
	case e == unix.EAGAIN:
		return blockUnless(t, nonblock || out.NonBlocking(), out)
	case e == unix.EPIPE:
		return brokenPipe(t, out)
	case e != 0:
		return kernel.Fail(e)
	}
	from.Pipe.Take(n)
	if n > 0 {
		notifyCopied(t, nil, out.File)
	}
	return kernel.Ret(int64(n))
}

// blockUnless answers EAGAIN, or waits until of changes.
func blockUnless(t *kernel.Thread, nonblock bool, of *kernel.OpenFile) kernel.Result {
	if nonblock {
		return kernel.Fail(unix.EAGAIN)
	}
	return t.Block(kernel.RestartSA, of.File.Changed())
}

func sysTee(t *kernel.Thread, a Args) kernel.Result {
	if a[3]&^spliceFlags != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if a[2] == 0 {
		return kernel.Ret(0)
	}
	in, e := openedAs(t, a[0], (*kernel.OpenFile).Reads)
	if e != 0 {
		return kernel.Fail(e)
	}
	out, e := openedAs(t, a[1], (*kernel.OpenFile).Writes)
	if e != 0 {
		return kernel.Fail(e)
	}
	from, ok1 := in.File.(*pipe.End)
	to, ok2 := out.File.(*pipe.End)
	if !ok1 || !ok2 || from.Pipe == to.Pipe {
		return kernel.Fail(unix.EINVAL)
	}
	nonblock := a[3]&unix.SPLICE_F_NONBLOCK != 0 || in.NonBlocking() || out.NonBlocking()
	if to.Ready()&kernel.Err != 0 {
		return brokenPipe(t, out)
	}
	b := from.Pipe.Peek(int(min(a[2], uint64(to.Pipe.Room()))))
	switch {
	case len(b) > 0:
		return kernel.RetOr(to.Write(t, b))
	case from.Pipe.Buffered() == 0 && from.Pipe.Ended() && to.Pipe.Room() > 0:
		return kernel.Ret(0)
	case from.Pipe.Buffered() == 0 && !from.Pipe.Ended():
		return blockUnless(t, nonblock || in.NonBlocking(), in)
	}
	return blockUnless(t, nonblock || out.NonBlocking(), out)
}

func sysVmsplice(t *kernel.Thread, a Args) kernel.Result {
	if a[3]&^spliceFlags != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	of := t.Target(fdOf(a[0]))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return kernel.Fail(unix.EBADF)
	}
	v, e := readIovecs(t, a[1], a[2])
	switch end, ok := of.File.(*pipe.End); {
	case e != 0:
		return kernel.Fail(e)
	case iovLen(v) == 0:
		return kernel.Ret(0)
	case !ok:
		return kernel.Fail(unix.EBADF)
	default:
		return spliceMemory(t, of, end, v, a)
	}
}

// spliceMemory is vmsplice on a pipe's end.
func spliceMemory(t *kernel.Thread, of *kernel.OpenFile, end *pipe.End, v []iovec, a Args) kernel.Result {
	nonblock := a[3]&unix.SPLICE_F_NONBLOCK != 0
	if !end.Writes {
		return readFile(t, of, v, nonblock)
	}
	if end.Pipe.Room() == 0 && end.Ready()&kernel.Err == 0 {
		return blockUnless(t, nonblock, of)
	}
	return writeFile(t, of, v, true) // what there is room for
}

// sysCopyFileRange looks at what the files are before how they are open.
func sysCopyFileRange(t *kernel.Thread, a Args) kernel.Result {
	in, _, e := hostFile(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	out, _, e := hostFile(t, a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	const dir, regular = unix.S_IFDIR, unix.S_IFREG
	for _, kind := range []uint32{dir, 0} {
		for _, h := range []*kernel.HostFile{in, out} {
			switch {
			case kind == dir && a[5] == 0 && h != nil && h.Mode&unix.S_IFMT == dir:
				return kernel.Fail(unix.EISDIR)
			case kind != dir && (a[5] != 0 || h == nil || h.Mode&unix.S_IFMT != regular):
				return kernel.Fail(unix.EINVAL)
			}
		}
	}
	if _, e := openedAs(t, a[0], (*kernel.OpenFile).Reads); e != 0 {
		return kernel.Fail(e)
	}
	to, e := openedAs(t, a[2], (*kernel.OpenFile).Writes)
	if e == 0 && to.Flags&unix.O_APPEND != 0 {
		e = unix.EBADF
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	return copyRoom(t, to, a[2], 4)
}
