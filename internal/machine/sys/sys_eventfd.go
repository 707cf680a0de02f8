package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"

	"golang.org/x/sys/unix"
)

func sysEventfd(t *kernel.Thread, a Args) kernel.Result { return makeEventfd(t, a[0], 0) }

func sysEventfd2(t *kernel.Thread, a Args) kernel.Result {
	return makeEventfd(t, a[0], int(int32(a[1])))
}

func makeEventfd(t *kernel.Thread, count uint64, flags int) kernel.Result {
	if flags&^(unix.EFD_SEMAPHORE|unix.EFD_CLOEXEC|unix.EFD_NONBLOCK) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	f := &eventfd.File{Count: uint64(uint32(count)), Semaphore: flags&unix.EFD_SEMAPHORE != 0}
	return kernel.RetOr(t.NewFD(f, unix.O_RDWR|flags&^unix.EFD_SEMAPHORE))
}
