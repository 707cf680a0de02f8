package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	"ariadne/internal/sys"

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
	vm, err := bpf.NewVM(filterProgram(sys.Table[:]))
	must(t, err)
	const arch = unix.AUDIT_ARCH_X86_64
	errno := func(e unix.Errno) int { return unix.SECCOMP_RET_ERRNO | int(e) }
	for nr, row := range sys.Table {
		want := unix.SECCOMP_RET_TRACE
		switch {
		case nr == unix.SYS_RSEQ:
			want = errno(unix.ENOSYS)
		case row.Level == sys.Passed, nr == unix.SYS_MADVISE && !slices.Contains(sys.StopsAdvice, 0):
			want = unix.SECCOMP_RET_ALLOW
		}
		if got := decide(t, vm, arch, uint32(nr), [6]uint64{}); got != want {
			t.Errorf("%d %s: %#x, want %#x", nr, row.Name, got, want)
		}
	}
	for _, c := range []struct {
		what     string
		arch, nr uint32
		args     [6]uint64
		want     int
	}{
		{"injected", arch, unix.SYS_OPENAT, [6]uint64{5: InjectMagic}, unix.SECCOMP_RET_ALLOW},
		{"half the magic", arch, unix.SYS_OPENAT, [6]uint64{5: InjectMagic & 0xffffffff}, unix.SECCOMP_RET_TRACE},
		{"the other half", arch, unix.SYS_OPENAT, [6]uint64{5: InjectMagic &^ 0xffffffff}, unix.SECCOMP_RET_TRACE},
		{"anonymous mapping", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}, unix.SECCOMP_RET_ALLOW},
		{"anonymous mapping, shared", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_SHARED | unix.MAP_ANONYMOUS}, unix.SECCOMP_RET_TRACE},
		{"droppable mapping", arch, unix.SYS_MMAP, [6]uint64{3: sys.MapDroppable | unix.MAP_ANONYMOUS}, unix.SECCOMP_RET_TRACE},
		{"memory not needed", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_DONTNEED}, unix.SECCOMP_RET_ALLOW},
		{"memory not for children", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_DONTFORK}, unix.SECCOMP_RET_TRACE},
		{"memory wiped in children", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_WIPEONFORK}, unix.SECCOMP_RET_TRACE},
		{"the last advice that stops", arch, unix.SYS_MADVISE, [6]uint64{2: uint64(sys.StopsAdvice[len(sys.StopsAdvice)-1])}, unix.SECCOMP_RET_TRACE},
		{"advice that stops, injected", arch, unix.SYS_MADVISE, [6]uint64{2: unix.MADV_DONTFORK, 5: InjectMagic}, unix.SECCOMP_RET_ALLOW},
		{"mapping of a file", arch, unix.SYS_MMAP, [6]uint64{3: unix.MAP_PRIVATE}, unix.SECCOMP_RET_TRACE},
		{"unknown number", arch, 5000, [6]uint64{}, unix.SECCOMP_RET_TRACE},
		{"x32", arch, x32Bit | unix.SYS_GETPID, [6]uint64{}, errno(unix.ENOSYS)},
		{"32 bits", unix.AUDIT_ARCH_I386, unix.SYS_GETPID, [6]uint64{}, errno(unix.ENOSYS)},
		{"32 bits with the magic", unix.AUDIT_ARCH_I386, unix.SYS_GETPID, [6]uint64{5: InjectMagic}, errno(unix.ENOSYS)},
	} {
		if got := decide(t, vm, c.arch, c.nr, c.args); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.want)
		}
	}
}
