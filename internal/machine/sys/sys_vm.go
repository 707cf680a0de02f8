package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// sysProcessVM copies memory between the caller and another process of the node,
// page by page: what follows a fault is not copied (process_vm_readv(2)).
func sysProcessVM(t *kernel.Thread, a Args) kernel.Result {
	if a[5] != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	local, e := readIovecs(t, a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	remote, e := readIovecs(t, a[3], a[4])
	if e != 0 {
		return kernel.Fail(e)
	}
	if iovLen(local) == 0 || iovLen(remote) == 0 {
		return kernel.Ret(0)
	}
	other, e := vmTarget(t, int(int32(a[0])))
	if e != 0 {
		return kernel.Fail(e)
	}
	here, there := memoryWalk{t, local}, memoryWalk{other, remote}
	if t.Call.NR == unix.SYS_PROCESS_VM_READV {
		return copyMemory(&here, &there)
	}
	return copyMemory(&there, &here)
}

// vmTarget finds a thread of the process whose memory is meant.
func vmTarget(t *kernel.Thread, pid int) (*kernel.Thread, kernel.Errno) {
	th := t.Node().Thread(pid)
	if th == nil {
		return nil, unix.ESRCH
	}
	if !t.MayTrace(th, true) {
		return nil, unix.EPERM
	}
	return th, 0
}

// memoryWalk goes through the memory that iovecs name.
type memoryWalk struct {
	t *kernel.Thread
	v []iovec
}

// piece returns the next piece of memory that ends with its page at the latest;
// length 0 at the end.
func (w *memoryWalk) piece() (addr, length uint64) {
	for len(w.v) > 0 && w.v[0].len == 0 {
		w.v = w.v[1:]
	}
	if len(w.v) == 0 {
		return 0, 0
	}
	x := w.v[0]
	return x.base, min(x.len, 4096-x.base%4096)
}

func (w *memoryWalk) skip(n uint64) {
	w.v[0].base += n
	w.v[0].len -= n
}

func copyMemory(to, from *memoryWalk) kernel.Result {
	done := int64(0)
	for {
		src, n := from.piece()
		dst, m := to.piece()
		n = min(n, m)
		if n == 0 {
			return kernel.Ret(done)
		}
		b, e := readBytes(from.t, src, int(n))
		if e == 0 {
			e = to.t.M.WriteMem(dst, b)
		}
		if e != 0 {
			if done > 0 {
				return kernel.Ret(done)
			}
			return kernel.Fail(e)
		}
		from.skip(n)
		to.skip(n)
		done += int64(n)
	}
}
