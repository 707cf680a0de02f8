package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// sysProcessMadvise gives advice on the caller's own memory (process_madvise(2)). As Linux, it says
// how many bytes it has advised, and fails only when that is none.
func sysProcessMadvise(t *kernel.Thread, a Args) kernel.Result {
	if a[4] != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	v, e := readIovecs(t, a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	p, _, e := pidFile(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	switch int32(a[3]) {
	case unix.MADV_COLD, unix.MADV_PAGEOUT, unix.MADV_WILLNEED:
	default:
		return kernel.Fail(unix.EINVAL)
	}
	if p != t.Proc {
		t.Node().Refuse(t, "process_madvise", memory, true)
		return kernel.Fail(unix.EPERM)
	}
	done := uint64(0)
	for _, x := range v {
		if r := t.M.Syscall(unix.SYS_MADVISE, x.base, x.len, a[3]); r != 0 {
			if done == 0 {
				return kernel.Ret(r)
			}
			break
		}
		done += x.len
	}
	return kernel.Ret(int64(done))
}
