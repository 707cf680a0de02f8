package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Descriptors among the arguments of a call.

// fdOf is a descriptor argument: the low 32 bits.
func fdOf(a uint64) int { return int(int32(a)) }

// hostFile returns the host file behind a descriptor that is not O_PATH.
func hostFile(t *kernel.Thread, fd uint64) (*kernel.HostFile, *kernel.OpenFile, kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return nil, nil, unix.EBADF
	}
	h, _ := of.File.(*kernel.HostFile)
	return h, of, 0
}

func isHost(of *kernel.OpenFile) bool {
	_, ok := of.File.(*kernel.HostFile)
	return ok
}

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

// largeFile is O_LARGEFILE, which Linux adds on 64-bit systems.
const largeFile = 0x8000

// statusFlags are those that F_GETFL shows of open's.
func statusFlags(flags int) int {
	if flags&unix.O_PATH != 0 {
		return flags & (unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW)
	}
	return flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOCTTY|unix.O_TRUNC|unix.O_CLOEXEC) | largeFile
}

// mirrorDup enters a real duplicate, r, of a descriptor for of.
func mirrorDup(t *kernel.Thread, of *kernel.OpenFile, cloexec bool, r int64) kernel.Result {
	if r >= 0 {
		t.FDs().Set(int(r), of, cloexec)
	}
	return kernel.Ret(r)
}

// closeFD takes back a descriptor that the call made.
func closeFD(t *kernel.Thread, fd int) {
	t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
	t.FDs().Close(t.Node(), fd)
}
