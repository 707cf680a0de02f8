package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"

	"golang.org/x/sys/unix"
)

func sysPipe(t *kernel.Thread, a Args) kernel.Result { return makePipe(t, a[0], 0) }

func sysPipe2(t *kernel.Thread, a Args) kernel.Result {
	flags := int(int32(a[1]))
	if flags&^(unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_DIRECT) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return makePipe(t, a[0], flags)
}

func makePipe(t *kernel.Thread, addr uint64, flags int) kernel.Result {
	r, w, e := pipe.New(t, flags&unix.O_DIRECT != 0)
	if e != 0 {
		return kernel.Fail(e)
	}
	rfd, e := t.NewFD(r, flags&^unix.O_DIRECT|unix.O_RDONLY)
	if e != 0 {
		r.Release(t.Node())
		w.Release(t.Node())
		return kernel.Fail(e)
	}
	wfd, e := t.NewFD(w, flags|unix.O_WRONLY)
	if e != 0 {
		closeFD(t, rfd)
		w.Release(t.Node())
		return kernel.Fail(e)
	}
	b := le.AppendUint32(le.AppendUint32(nil, uint32(rfd)), uint32(wfd))
	if e := t.M.WriteMem(addr, b); e != 0 {
		closeFD(t, rfd)
		closeFD(t, wfd)
		return kernel.Fail(e)
	}
	return kernel.Ret(0)
}
