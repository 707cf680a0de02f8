package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// decide runs the filter on a call. The virtual machine reads big-endian words where
// Linux reads the processor's: so the words are stored that way.
func decide(t *testing.T, vm *bpf.VM, arch, nr uint32, args [6]uint64) int {
	t.Helper()
	b := make([]byte, 64)
	binary.BigEndian.PutUint32(b, nr)
	binary.BigEndian.PutUint32(b[4:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(b[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(b[20+8*i:], uint32(a>>32))
	}
	r, err := vm.Run(b)
	must(t, err)
	return r
}

func TestFilter(t *testing.T) {
	vm, err := bpf.NewVM(filterProgram(sys.Table[:], false))
	must(t, err)
	// The other filter stops quietly where this one lets a call pass that may change mappings.
	stopping, err := bpf.NewVM(filterProgram(sys.Table[:], true))
	must(t, err)
	quietly := func(nr uint32, want int) int {
		maps := []uint32{unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_PKEY_MPROTECT, unix.SYS_MREMAP,
			unix.SYS_MADVISE, unix.SYS_BRK}
		if want == unix.SECCOMP_RET_ALLOW && slices.Contains(maps, nr) {
			return unix.SECCOMP_RET_TRACE | Quiet
		}
		return want
	}
	const arch = unix.AUDIT_ARCH_X86_64
	errno := func(e unix.Errno) int { return unix.SECCOMP_RET_ERRNO | int(e) }
	for nr, row := range sys.Table {
		want := unix.SECCOMP_RET_TRACE
		if sometimes(false)[row.Runs] != nil {
			continue
		}
		switch {
		case nr == unix.SYS_RSEQ:
			want = errno(unix.ENOSYS)
		case row.Level == sys.Passed:
			want = unix.SECCOMP_RET_ALLOW
		}
		if got := decide(t, vm, arch, uint32(nr), [6]uint64{}); got != want {
			t.Errorf("%d %s: %#x, want %#x", nr, row.Name, got, want)
		}
		want = quietly(uint32(nr), want)
		if got := decide(t, stopping, arch, uint32(nr), [6]uint64{}); got != want {
			t.Errorf("%d %s, where mappings matter: %#x, want %#x", nr, row.Name, got, want)
		}
	}
	// Injected calls enter as this one, whatever their arguments.
	for i := range 6 {
		args := [6]uint64{}
		args[i] = ^uint64(0)
		if got := decide(t, vm, arch, tracee.Gate, args); got != unix.SECCOMP_RET_TRACE {
			t.Errorf("injected: %#x", got)
		}
	}
	for _, c := range []struct {
		what     string
		arch, nr uint32
		args     [6]uint64
		want     int
	}{
		{"anonymous mapping", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_PRIVATE | unix.MAP_ANONYMOUS},
			unix.SECCOMP_RET_ALLOW},
		{"anonymous mapping, shared", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_SHARED | unix.MAP_ANONYMOUS},
			unix.SECCOMP_RET_TRACE},
		{"locked mapping", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_PRIVATE | unix.MAP_LOCKED | unix.MAP_ANONYMOUS},
			unix.SECCOMP_RET_TRACE},
		{"droppable mapping", arch, unix.SYS_MMAP, [6]uint64{3: sys.MapDroppable | unix.MAP_ANONYMOUS},
			unix.SECCOMP_RET_TRACE},
		{"memory not needed", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_DONTNEED}, unix.SECCOMP_RET_ALLOW},
		{"memory not for children", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_DONTFORK}, unix.SECCOMP_RET_TRACE},
		{"memory wiped in children", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_WIPEONFORK},
			unix.SECCOMP_RET_TRACE},
		{"the last advice that stops", arch, unix.SYS_MADVISE,
			[6]uint64{2: uint64(sys.StopsAdvice[len(sys.StopsAdvice)-1])}, unix.SECCOMP_RET_TRACE},
		{"mapping at a place", arch, unix.SYS_MMAP,
			[6]uint64{0: 1 << 32, 1: 4096, 3: unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED},
			unix.SECCOMP_RET_ALLOW},
		{"mapping over Ariadne's pages", arch, unix.SYS_MMAP,
			[6]uint64{0: area.Base, 1: 4096, 3: unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED},
			unix.SECCOMP_RET_TRACE},
		{"unmapping a page", arch, unix.SYS_MUNMAP, [6]uint64{1 << 32, 4096}, unix.SECCOMP_RET_ALLOW},
		{"unmapping far below Ariadne's pages", arch, unix.SYS_MUNMAP, [6]uint64{0x7ffff0000000, 1 << 20},
			unix.SECCOMP_RET_ALLOW},
		{"unmapping just below them", arch, unix.SYS_MUNMAP, [6]uint64{area.Base - 4096, 4096}, unix.SECCOMP_RET_ALLOW},
		{"unmapping just above them", arch, unix.SYS_MUNMAP, [6]uint64{area.Base + area.Size, 4096},
			unix.SECCOMP_RET_ALLOW},
		{"unmapping their last page", arch, unix.SYS_MUNMAP, [6]uint64{area.Base + area.Size - 4096, 4096},
			unix.SECCOMP_RET_TRACE},
		{"unmapping nearly 4 GiB", arch, unix.SYS_MUNMAP, [6]uint64{0x7ffff0000000, 1<<32 - 4096},
			unix.SECCOMP_RET_TRACE},
		{"unmapping more from below", arch, unix.SYS_MUNMAP, [6]uint64{0x7ffe00000000, 1<<32 - 4096},
			unix.SECCOMP_RET_TRACE},
		{"unmapping Ariadne's pages", arch, unix.SYS_MUNMAP, [6]uint64{area.Scratch, 4096}, unix.SECCOMP_RET_TRACE},
		{"unmapping up to them", arch, unix.SYS_MUNMAP, [6]uint64{area.Base - 4096, 8192}, unix.SECCOMP_RET_TRACE},
		{"unmapping all", arch, unix.SYS_MUNMAP, [6]uint64{0, 1 << 47}, unix.SECCOMP_RET_TRACE},
		{"protecting Ariadne's pages", arch, unix.SYS_MPROTECT, [6]uint64{area.VDSO, 4096}, unix.SECCOMP_RET_TRACE},
		{"the same with a key", arch, unix.SYS_PKEY_MPROTECT, [6]uint64{area.VDSO, 4096, 7, ^uint64(0)},
			unix.SECCOMP_RET_TRACE},
		{"moving memory", arch, unix.SYS_MREMAP, [6]uint64{1 << 32, 4096, 8192, unix.MREMAP_MAYMOVE},
			unix.SECCOMP_RET_ALLOW},
		{"moving Ariadne's pages", arch, unix.SYS_MREMAP, [6]uint64{area.Clock, 0, 4096, unix.MREMAP_MAYMOVE},
			unix.SECCOMP_RET_TRACE},
		{"moving to a place", arch, unix.SYS_MREMAP,
			[6]uint64{1 << 32, 4096, 4096, unix.MREMAP_MAYMOVE | unix.MREMAP_FIXED, 1 << 40}, unix.SECCOMP_RET_TRACE},
		{"Ariadne's pages not needed", arch, unix.SYS_MADVISE, [6]uint64{area.Scratch, 4096, unix.MADV_DONTNEED},
			unix.SECCOMP_RET_TRACE},
		{"segment base", arch, unix.SYS_ARCH_PRCTL, [6]uint64{0: sys.ArchSetFS}, unix.SECCOMP_RET_ALLOW},
		{"Linux's own vDSO", arch, unix.SYS_ARCH_PRCTL, [6]uint64{0: 0x2003}, unix.SECCOMP_RET_TRACE},
		{"mapping of a file", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_PRIVATE}, unix.SECCOMP_RET_TRACE},
		{"unknown number", arch, 5000, [6]uint64{}, unix.SECCOMP_RET_TRACE},
		{"x32", arch, x32Bit | unix.SYS_GETPID, [6]uint64{}, unix.SECCOMP_RET_TRAP},
		{"32 bits", unix.AUDIT_ARCH_I386, unix.SYS_GETPID, [6]uint64{}, unix.SECCOMP_RET_TRAP},
	} {
		if got := decide(t, vm, c.arch, c.nr, c.args); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
		}
		want := quietly(c.nr, c.want)
		if got := decide(t, stopping, c.arch, c.nr, c.args); got != want {
			t.Errorf("%s, where mappings matter: %#x, want %#x", c.what, got, want)
		}
	}
}
