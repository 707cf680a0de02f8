package sys

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

func sysOwnMemory(t *kernel.Thread, a Args) kernel.Result {
	if hitsArea(a[0], a[1]) {
		return refuseArea(t)
	}
	return kernel.Native
}

func sysMunmap(t *kernel.Thread, a Args) kernel.Result {
	if t.Proc.LocksMemory() && !hitsArea(a[0], a[1]) {
		return unmapLocked(t, a)
	}
	return sysOwnMemory(t, a)
}

func sysMremap(t *kernel.Thread, a Args) kernel.Result {
	if hitsArea(a[0], a[1]) || a[3]&unix.MREMAP_FIXED != 0 && hitsArea(a[4], a[2]) {
		return refuseArea(t)
	}
	if t.Proc.LocksMemory() {
		return moveLocked(t, a)
	}
	return kernel.Native
}

// hitsArea reports whether memory is, in part, Ariadne's. A length that goes beyond the last
// address, rounded up to pages, is no memory: the call fails.
func hitsArea(addr, length uint64) bool {
	const page = 4096
	rounded := (length + page - 1) &^ (page - 1)
	last := addr + max(rounded, 1) - 1
	return rounded >= length && addr <= last && addr < area.Base+area.Size && last >= area.Base
}

// refuseArea answers as Linux does for memory that is sealed.
func refuseArea(t *kernel.Thread) kernel.Result {
	// The vDSO is sealed in recent kernels too: Valgrind, which has no use for it, goes on.
	start, end := t.Call.Args[0], t.Call.Args[0]+t.Call.Args[1]
	vdso := start >= area.VDSO && end <= area.Scratch && end > start
	t.Node().Refuse(t, Name(t.Call.NR)+" of Ariadne's pages", formatArgs(t.Call.NR, t.Call.Args), vdso)
	return kernel.Fail(unix.EPERM)
}

// Operations of arch_prctl(2).
const (
	ArchSetGS = 0x1001
	ArchSetFS = 0x1002
	ArchGetGS = 0x1004

	archGetCPUID  = 0x1011
	archSetCPUID  = 0x1012
	archXcomp     = 0x1021 // and the following four
	archXcompLast = 0x1025
	archCETStatus = 0x3001
)

// sysArchPrctl sees what is not about segment bases. Linux's own vDSO is not mapped
// again: it shows the real time.
func sysArchPrctl(t *kernel.Thread, a Args) kernel.Result {
	switch op := uint32(a[0]); {
	case op >= archXcomp && op <= archXcompLast && t.Node().Processor != "":
		// They tell of the real processor. As on a kernel without them.
	case op >= ArchSetGS && op <= ArchGetGS, op >= archXcomp && op <= archXcompLast:
		return kernel.Native
	case op == archGetCPUID:
		return kernel.Ret(1)
	case op == archSetCPUID: // as on a processor that cannot trap cpuid
		return kernel.Fail(unix.ENODEV)
	case op != archCETStatus: // libc asks on every start
		t.Node().Refuse(t, fmt.Sprintf("arch_prctl %#x", op), formatArgs(t.Call.NR, a), true)
	}
	return kernel.Fail(unix.EINVAL)
}
