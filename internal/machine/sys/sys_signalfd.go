package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signalfd"

	"golang.org/x/sys/unix"
)

func sysSignalfd(t *kernel.Thread, a Args) kernel.Result { return makeSignalfd(t, a, 0) }

func sysSignalfd4(t *kernel.Thread, a Args) kernel.Result {
	return makeSignalfd(t, a, int(int32(a[3])))
}

// makeSignalfd makes a new descriptor, or changes the mask of one.
func makeSignalfd(t *kernel.Thread, a Args, flags int) kernel.Result {
	if a[2] != 8 || flags&^(unix.SFD_CLOEXEC|unix.SFD_NONBLOCK) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	mask, e := readU64(t, a[1])
	if e != 0 {
		return kernel.Fail(e)
	}
	fd := fdOf(a[0])
	if fd == -1 {
		return kernel.RetOr(t.NewFD(signalfd.New(t.Proc, signal.Set(mask)), unix.O_RDWR|flags))
	}
	of := t.FDs().Get(fd)
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return kernel.Fail(unix.EBADF)
	}
	f, ok := of.File.(*signalfd.File)
	if !ok {
		return kernel.Fail(unix.EINVAL)
	}
	f.SetMask(signal.Set(mask))
	return kernel.Ret(int64(fd))
}
