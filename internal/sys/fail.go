package sys

import (
	"strings"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// A call that fails although nothing is wrong with it (spec.Fail) fails where Linux would have
// found its arguments good and would ask for what may be missing: room, a descriptor, a disk
// that works. Before that it fails with what is wrong with it, and has no other alternative.

// errnos are the errors by which calls may be told to fail.
var errnos = map[string]kernel.Errno{
	"EDQUOT": unix.EDQUOT, "EIO": unix.EIO, "EMFILE": unix.EMFILE, "ENFILE": unix.ENFILE,
	"ENOBUFS": unix.ENOBUFS, "ENOMEM": unix.ENOMEM, "ENOSPC": unix.ENOSPC,
}

// Errno is the number of an error by its name.
func Errno(name string) (kernel.Errno, bool) {
	e, ok := errnos[name]
	return e, ok
}

// CouldFail reports whether the call that t stands in may fail although nothing is wrong with
// it, and on which file.
func CouldFail(t *kernel.Thread) (on string, ok bool) {
	f := Of(t.Call.NR).mayFail
	if f == nil {
		return "", false
	}
	return f(t, t.Call.Args)
}

// changedFile: a regular file of the node's that is open for writing.
func changedFile(t *kernel.Thread, a Args) (on string, ok bool) {
	h, of, e := hostFile(t, a[0])
	if e != 0 || h == nil || !of.Writes() || h.Mode&unix.S_IFMT != unix.S_IFREG || h.Synthetic || !onDisk(h.Path) {
		return "", false
	}
	return h.Path, true
}

// onDisk: what is there is not in memory on machines either.
func onDisk(path string) bool {
	return !strings.HasPrefix(path, "/memfd:") && !strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/sys/")
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

func synced(t *kernel.Thread, a Args) (on string, ok bool) {
	h, _, e := hostFile(t, a[0])
	if e != 0 || h == nil || h.Synthetic || !onDisk(h.Path) {
		return "", false
	}
	kind := h.Mode & unix.S_IFMT
	return h.Path, kind == unix.S_IFREG || kind == unix.S_IFDIR
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
