package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

func TestProcessVM(t *testing.T) {
	d, a, m := newProcess(t)
	b, n := d.Process(a.Proc)
	n.Poke(kerneltest.Base, []byte("abcdef"))
	iovs := func(at uint64, v ...uint64) uint64 {
		for i, x := range v {
			m.Poke(at+uint64(8*i), le.AppendUint64(nil, x))
		}
		return at
	}
	local := iovs(iovAt, bufAt, 4, bufAt+10, 10)
	remote := iovs(iovAt+0x100, kerneltest.Base, 6)
	want(t, "read", d.Must(a, unix.SYS_PROCESS_VM_READV, uint64(b.TID), local, 2, remote, 1, 0), 6)
	if s := string(m.Peek(bufAt, 4)) + string(m.Peek(bufAt+10, 2)); s != "abcdef" {
		t.Errorf("read %q", s)
	}
	want(t, "write", d.Must(a, unix.SYS_PROCESS_VM_WRITEV, uint64(b.TID), iovs(iovAt, bufAt+2, 2), 1, remote, 1, 0), 2)
	if s := string(n.Peek(kerneltest.Base, 6)); s != "cdcdef" {
		t.Errorf("wrote %q", s)
	}
	end := uint64(kerneltest.Base + kerneltest.Size)
	far := iovs(iovAt+0x200, end-3, 100)
	want(t, "read over the end",
		d.Must(a, unix.SYS_PROCESS_VM_READV, uint64(b.TID), iovs(iovAt, bufAt, 100), 1, far, 1, 0), 3)
	want(t, "read of nothing",
		d.Must(a, unix.SYS_PROCESS_VM_READV, uint64(b.TID), local, 1, iovs(iovAt+0x200, 8, 1), 1, 0),
		errno(unix.EFAULT))
	want(t, "no such process", d.Must(a, unix.SYS_PROCESS_VM_READV, 999, local, 1, remote, 1, 0), errno(unix.ESRCH))
	b.Proc.SetUser(5, 5)
	a.Proc.SetUser(6, 6)
	want(t, "another user", d.Must(a, unix.SYS_PROCESS_VM_READV, uint64(b.TID), local, 1, remote, 1, 0),
		errno(unix.EPERM))
}
