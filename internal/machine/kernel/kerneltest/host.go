package kerneltest

import (
	"os"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// HostMachine is a kernel.Tracee for handlers that need Linux: injected calls
// really happen, in the test's own process, whose memory at At is the fake
// process's.
type HostMachine struct {
	At   uint64 // of HostSize bytes
	Mask signal.Set

	mem []byte
}

// HostSize is how much memory a HostMachine has at At.
const HostSize = 1 << 20

// NewHostMachine returns a machine until the end of the test. Only one can be in
// use at a time.
func NewHostMachine(tb testing.TB) *HostMachine {
	tb.Helper()
	m := &HostMachine{}
	var err error
	if m.mem, err = unix.Mmap(-1, 0, HostSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		tb.Fatal(err)
	}
	m.At = uint64(uintptr(unsafe.Pointer(&m.mem[0])))
	r := m.Syscall(unix.SYS_MMAP, area.Scratch, area.ScratchSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED_NOREPLACE, ^uint64(0), 0)
	if r < 0 {
		tb.Fatal(unix.Errno(-r))
	}
	tb.Cleanup(func() {
		unix.Munmap(m.mem)
		m.Syscall(unix.SYS_MUNMAP, area.Scratch, area.ScratchSize)
	})
	return m
}

// ReadMem implements kernel.Tracee.
func (m *HostMachine) ReadMem(addr uint64, b []byte) kernel.Errno {
	return m.transfer(unix.SYS_PROCESS_VM_READV, addr, b)
}

// WriteMem implements kernel.Tracee.
func (m *HostMachine) WriteMem(addr uint64, b []byte) kernel.Errno {
	return m.transfer(unix.SYS_PROCESS_VM_WRITEV, addr, b)
}

func (m *HostMachine) transfer(nr uintptr, addr uint64, b []byte) kernel.Errno {
	if len(b) == 0 {
		return 0
	}
	local := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	remote := [2]uint64{addr, uint64(len(b))}
	n, _, e := unix.Syscall6(nr, uintptr(os.Getpid()), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e == 0 && int(n) != len(b) {
		return unix.EFAULT
	}
	return e
}

// PeekMem and PokeMem implement kernel.Tracee.
func (m *HostMachine) PeekMem(addr uint64, b []byte) kernel.Errno { return m.ReadMem(addr, b) }
func (m *HostMachine) PokeMem(addr uint64, b []byte) kernel.Errno { return m.WriteMem(addr, b) }

// Syscall implements kernel.Tracee.
func (m *HostMachine) Syscall(nr int, args ...uint64) int64 {
	var a [6]uintptr
	for i, v := range args {
		a[i] = uintptr(v)
	}
	r, _, e := unix.Syscall6(uintptr(nr), a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return -int64(e)
	}
	return int64(r)
}

// HostFD implements kernel.Tracee.
func (m *HostMachine) HostFD(fd int) (int, kernel.Errno) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, err.(kernel.Errno)
	}
	return n, 0
}

// Adopt implements kernel.Tracee.
func (m *HostMachine) Adopt(host int, cloexec bool) (int, kernel.Errno) {
	cmd := unix.F_DUPFD
	if cloexec {
		cmd = unix.F_DUPFD_CLOEXEC
	}
	n, err := unix.FcntlInt(uintptr(host), cmd, 0)
	if err != nil {
		return -1, err.(kernel.Errno)
	}
	return n, 0
}

// SigMask and SetSigMask implement kernel.Tracee.
func (m *HostMachine) SigMask() signal.Set     { return m.Mask }
func (m *HostMachine) SetSigMask(s signal.Set) { m.Mask = s }

// RealTID implements kernel.Tracee.
func (m *HostMachine) RealTID() int { return os.Getpid() }

// Text stores s, with a NUL, at off in the memory and returns its address.
func (m *HostMachine) Text(off int, s string) uint64 {
	copy(m.mem[off:], append([]byte(s), 0))
	return m.At + uint64(off)
}

// Bytes returns the n bytes at an address in the memory.
func (m *HostMachine) Bytes(addr uint64, n int) []byte {
	return append([]byte(nil), m.mem[addr-m.At:][:n]...)
}
