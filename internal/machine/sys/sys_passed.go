package sys

import (
	"bytes"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// sysMincore asks Linux whether the range is mapped, and hides what of it is in
// memory, which depends on the host.
func sysMincore(t *kernel.Thread, a Args) kernel.Result {
	r := t.M.Syscall(unix.SYS_MINCORE, a[0], a[1], a[2])
	if r != 0 {
		return kernel.Ret(r)
	}
	pages := (a[1] + 4095) / 4096
	return kernel.RetOr(0, t.M.WriteMem(a[2], bytes.Repeat([]byte{1}, int(pages))))
}
