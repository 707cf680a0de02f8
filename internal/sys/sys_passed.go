package sys

import (
	"bytes"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// Calls that Linux runs without a stop: they act on the caller's own memory and
// registers alone, and their results are the same in every run. mmap passes
// too when it maps no file, and madvise when it is not about forks.
func init() {
	register(
		passed(unix.SYS_BRK, "brk"),
	)
	register(
		partial(unix.SYS_MINCORE, "mincore", sysMincore, "all mapped pages are in memory"),
		partial(unix.SYS_MLOCK, "mlock", succeeds, locked),
		partial(unix.SYS_MLOCK2, "mlock2", succeeds, locked),
		partial(unix.SYS_MUNLOCK, "munlock", succeeds, locked),
		partial(unix.SYS_MLOCKALL, "mlockall", succeeds, locked),
		partial(unix.SYS_MUNLOCKALL, "munlockall", succeeds, locked),
		refused(unix.SYS_PKEY_ALLOC, "pkey_alloc", unix.ENOSPC, true, "not all processors have protection keys"),
		refused(unix.SYS_PKEY_FREE, "pkey_free", unix.EINVAL, true, "not all processors have protection keys"),
		refused(unix.SYS_MSEAL, "mseal", unix.ENOSYS, true, "Linux has it since 6.10 only"),
	)
}

const locked = "always succeeds: how much may be locked depends on the host"

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
