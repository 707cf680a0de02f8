package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/aio"

	"golang.org/x/sys/unix"
)

// A call that fails although nothing is wrong with it (spec.Fail) fails where Linux would have
// found its arguments good and would ask for what may be missing: room, a descriptor, a disk
// that works. Before that it fails with what is wrong with it, and has no other alternative.

// errnos are the errors by which calls may be told to fail.
var errnos = map[string]kernel.Errno{
	"EAGAIN": unix.EAGAIN, "ECONNRESET": unix.ECONNRESET, "EDQUOT": unix.EDQUOT, "EINTR": unix.EINTR, "EIO": unix.EIO,
	"EMFILE": unix.EMFILE, "ENFILE": unix.ENFILE,
	"ENETUNREACH": unix.ENETUNREACH, "ENOBUFS": unix.ENOBUFS, "ENOMEM": unix.ENOMEM, "ENOSPC": unix.ENOSPC,
	"EROFS": unix.EROFS,
}

// Errno is the number of an error by its name.
func Errno(name string) (kernel.Errno, bool) {
	e, ok := errnos[name]
	return e, ok
}

// Failure is a way in which a call may fail although nothing is wrong with it.
type Failure struct {
	Errors []string // any of these, by name
	// Could reports whether the call that t stands in has come to where it may, and on which
	// file; nil: it may when it waits (Interruptible).
	Could func(t *kernel.Thread, a Args) (on string, ok bool)
}

// unlimited: no limit of RLIMIT_FSIZE comes before.
func unlimited(t *kernel.Thread) bool {
	limit, _ := t.Proc.Rlimit(unix.RLIMIT_FSIZE)
	return limit == unix.RLIM_INFINITY
}

// withinLimit: a file of that size is within RLIMIT_FSIZE, which is looked at first.
func withinLimit(t *kernel.Thread, size uint64) bool {
	limit, _ := t.Proc.Rlimit(unix.RLIMIT_FSIZE)
	return size <= limit
}

func writesBuffer(t *kernel.Thread, a Args) (on string, ok bool) {
	if a[2] == 0 || int64(a[2]) < 0 || !unlimited(t) || !readableAt(t, a[1]) {
		return "", false
	}
	return changedFile(t, a)
}

func writesVector(t *kernel.Thread, a Args) (on string, ok bool) {
	v, e := readIovecs(t, a[1], a[2])
	if e != 0 || iovLen(v) == 0 || !unlimited(t) {
		return "", false
	}
	for _, b := range v {
		if b.len > 0 && !readableAt(t, b.base) {
			return "", false
		}
	}
	return changedFile(t, a)
}

// readableAt: what is written does not begin where there is no memory.
func readableAt(t *kernel.Thread, at uint64) bool {
	var b [1]byte
	return t.M.ReadMem(at, b[:]) == 0
}

// openedPath: a descriptor is taken before the path is looked up.
func openedPath(t *kernel.Thread, dirfd, at, how uint64) (on string, ok bool) {
	name, e := readPath(t, at)
	if e != 0 || name == "" || how&unix.O_TMPFILE != 0 && how&unix.O_TMPFILE != unix.O_DIRECTORY {
		return "", false
	}
	return absolute(t, dirfd, name), true
}

func flags(arg int, known uint64) func(*kernel.Thread, Args) (string, bool) {
	return func(_ *kernel.Thread, a Args) (string, bool) { return "", uint64(uint32(a[arg]))&^known == 0 }
}

func always(*kernel.Thread, Args) (on string, ok bool) { return "", true }

func writesBufferAt(t *kernel.Thread, a Args) (on string, ok bool) {
	if int64(a[3]) < 0 {
		return "", false
	}
	return writesBuffer(t, a)
}

func writesVectorAt(t *kernel.Thread, a Args) (on string, ok bool) {
	if int64(a[3]) < 0 {
		return "", false
	}
	return writesVector(t, a)
}

func writesVector2(t *kernel.Thread, a Args) (on string, ok bool) {
	if int64(a[3]) < -1 || a[5]&^rwfKnown != 0 {
		return "", false
	}
	return writesVector(t, a)
}

func resized(t *kernel.Thread, a Args) (on string, ok bool) {
	if int64(a[1]) < 0 || !withinLimit(t, a[1]) {
		return "", false
	}
	return changedFile(t, a)
}

func allocated(t *kernel.Thread, a Args) (on string, ok bool) {
	if a[1] != 0 || int64(a[2]) < 0 || int64(a[3]) <= 0 || int64(a[2]+a[3]) <= 0 || !withinLimit(t, a[2]+a[3]) {
		return "", false
	}
	return changedFile(t, a)
}

func openedCwd(t *kernel.Thread, a Args) (on string, ok bool) {
	return openedPath(t, atCwd, a[0], a[1])
}
func created(t *kernel.Thread, a Args) (on string, ok bool)  { return openedPath(t, atCwd, a[0], 0) }
func openedAt(t *kernel.Thread, a Args) (on string, ok bool) { return openedPath(t, a[0], a[1], a[2]) }

func madeSocket(_ *kernel.Thread, a Args) (on string, ok bool) {
	domain, typ := int(int32(a[0])), int(int32(a[1]))&^sockFlags
	known := domain == unix.AF_INET || domain == unix.AF_INET6 || domain == unix.AF_UNIX
	return "", known && a[2] == 0 && (typ == unix.SOCK_STREAM || typ == unix.SOCK_DGRAM)
}

func accepted(t *kernel.Thread, a Args) (on string, ok bool) {
	return "", t.FDs().Get(fdOf(a[0])) != nil
}

func accepted4(t *kernel.Thread, a Args) (on string, ok bool) {
	if a[3]&^sockFlags != 0 {
		return "", false
	}
	return accepted(t, a)
}

// readsFile: there is something to read of a regular file on a disk.
func readsFile(t *kernel.Thread, a Args) (on string, ok bool) {
	h, of, e := hostFile(t, a[0])
	if e != 0 || h == nil || !of.Reads() || h.Mode&unix.S_IFMT != unix.S_IFREG || h.Synthetic || !onDisk(h.Path) {
		return "", false
	}
	size, pos := fileEnd(t, a[0])
	n := a[2]
	switch t.Call.NR {
	case unix.SYS_PREAD64:
		pos = int64(a[3])
	case unix.SYS_READV, unix.SYS_PREADV, unix.SYS_PREADV2:
		v, e := readIovecs(t, a[1], a[2])
		if e != 0 || t.Call.NR == unix.SYS_PREADV2 && a[5] != 0 {
			return "", false
		}
		n = uint64(iovLen(v))
		if t.Call.NR == unix.SYS_PREADV || t.Call.NR == unix.SYS_PREADV2 && int64(a[3]) != -1 {
			pos = int64(a[3])
		}
	}
	return h.Path, n > 0 && int64(n) > 0 && pos >= 0 && pos < size
}

// leftOf: there is something to copy of a regular file, from where its descriptor or the
// position at an address says.
func leftOf(t *kernel.Thread, fd, at uint64) (h *kernel.HostFile, ok bool) {
	h, of, e := hostFile(t, fd)
	if e != 0 || h == nil || !of.Reads() || h.Mode&unix.S_IFMT != unix.S_IFREG || h.Synthetic {
		return nil, false
	}
	size, pos := fileEnd(t, fd)
	if at != 0 {
		v, e := readU64(t, at)
		if e != 0 {
			return nil, false
		}
		pos = int64(v)
	}
	return h, pos >= 0 && pos < size
}

func copiesRange(t *kernel.Thread, a Args) (on string, ok bool) {
	from, ok := leftOf(t, a[0], a[1])
	to, of, e := hostFile(t, a[2])
	if !ok || e != 0 || to == nil || from.Key() == to.Key() || of.Flags&unix.O_APPEND != 0 || a[5] != 0 ||
		int64(a[4]) <= 0 || !unlimited(t) {
		return "", false
	}
	if a[3] != 0 {
		if at, e := readU64(t, a[3]); e != 0 || int64(at) < 0 {
			return "", false
		}
	}
	return changedFile(t, Args{a[2]})
}

func sendsToFile(t *kernel.Thread, a Args) (on string, ok bool) {
	if _, ok := leftOf(t, a[1], a[2]); !ok || int64(a[3]) <= 0 || !unlimited(t) {
		return "", false
	}
	return changedFile(t, a)
}

func splicesOut(t *kernel.Thread, a Args) (on string, ok bool) {
	in, e := openedAs(t, a[0], (*kernel.OpenFile).Reads)
	if e != 0 || a[1] != 0 || a[4] == 0 || a[5]&^spliceFlags != 0 || !unlimited(t) {
		return "", false
	}
	from, ok := in.File.(*pipe.End)
	_, of, e := hostFile(t, a[2])
	if !ok || from.Pipe.Buffered() == 0 || e != 0 || of.Flags&unix.O_APPEND != 0 {
		return "", false
	}
	if a[3] != 0 {
		if at, e := readU64(t, a[3]); e != 0 || int64(at) < 0 {
			return "", false
		}
	}
	return changedFile(t, Args{a[2]})
}

// submitsWrite: the first of the operations that are submitted writes to a file. It is that
// which fails, as its event says, and not the call.
func submitsWrite(t *kernel.Thread, a Args) (on string, ok bool) {
	ctx := aio.Find(t.Proc, a[0])
	if ctx == nil || int64(a[1]) <= 0 || ctx.Room() == 0 || !unlimited(t) {
		return "", false
	}
	at, e := readU64(t, a[2])
	if e != 0 {
		return "", false
	}
	c, e := readIocb(t, at)
	if e != 0 || c.op != iocbPwrite || c.nbytes == 0 || c.offset < 0 || c.rwFlags&^rwfKnown != 0 ||
		!readableAt(t, c.buf) {
		return "", false
	}
	return changedFile(t, Args{uint64(c.fd)})
}

// waits: a call that waits may be interrupted (Interruption).
func waits(r *Row) { r.Fails = append(r.Fails, Failure{Errors: []string{"EINTR"}}) }
