package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// What handlers need to let Linux make a call.

// atCwd is AT_FDCWD as an argument.
const atCwd = ^uint64(99)

// isCwd reports whether a directory argument is AT_FDCWD.
func isCwd(dirfd uint64) bool { return int32(dirfd) == unix.AT_FDCWD }

// run makes the call as it stands, in the thread, and returns what came of it.
func run(t *kernel.Thread) int64 {
	return t.M.Syscall(t.Call.NR, t.Call.Args[:]...)
}

// putScratch stores a path where the thread can name it to Linux: at area.Scratch.
func putScratch(t *kernel.Thread, name string) kernel.Errno {
	if len(name) >= unix.PathMax {
		return unix.ENAMETOOLONG
	}
	return t.M.WriteMem(area.Scratch, append([]byte(name), 0))
}

// errnoOf is the errno in an error of package unix.
func errnoOf(err error) kernel.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return 0
}
