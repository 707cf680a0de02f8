package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"

	"golang.org/x/sys/unix"
)

// The memory of a process as a file, as Linux's mem_rw has it: page by page, whatever the process
// itself may do there, as far as that goes.

// moveMemory reads from such a file into v, or writes v to it. at is where; nil: where the file
// stands.
func moveMemory(t *kernel.Thread, m *procfs.Mem, at *uint64, v []iovec, write bool) kernel.Result {
	if at == nil {
		at = &m.At
	}
	of, done := m.Thread(t.Node()), int64(0)
	if of == nil {
		return kernel.Ret(0)
	}
	for w := (memoryWalk{t, v}); ; {
		addr, n := w.piece()
		if n = min(n, 4096-*at%4096); n == 0 {
			return kernel.Ret(done)
		}
		if e := moveOne(t, of, *at, addr, int(n), write); e != 0 {
			if done > 0 && e == unix.EIO {
				return kernel.Ret(done)
			}
			return kernel.Fail(e)
		}
		w.skip(n)
		*at += n
		done += int64(n)
	}
}

// moveOne moves bytes of one page between the memory of thread of, and the caller's.
func moveOne(t, of *kernel.Thread, at, addr uint64, n int, write bool) kernel.Errno {
	b := make([]byte, n)
	if write {
		if e := t.M.ReadMem(addr, b); e != 0 {
			return e
		}
	}
	if hitsArea(at, uint64(n)) {
		return unix.EIO
	}
	if write {
		if of.M.PokeMem(at, b) != 0 {
			return unix.EIO
		}
		return 0
	}
	if of.M.PeekMem(at, b) != 0 {
		return unix.EIO
	}
	return t.M.WriteMem(addr, b)
}

// seekMemory is lseek of such a file: any address, but none from its end.
func seekMemory(m *procfs.Mem, a Args) kernel.Result {
	switch uint32(a[2]) {
	case unix.SEEK_SET:
		m.At = a[1]
	case unix.SEEK_CUR:
		m.At += a[1]
	default:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(int64(m.At))
}

// memoryAt is pread or pwrite, of one buffer or several, of such a file.
func memoryAt(t *kernel.Thread, m *procfs.Mem, a Args, write bool) kernel.Result {
	v, e := vectorOf(t, a)
	if e != 0 {
		return kernel.Fail(e)
	}
	at := a[3]
	return moveMemory(t, m, &at, v, write)
}
