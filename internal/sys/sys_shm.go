package sys

import (
	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

func init() {
	register(
		full(unix.SYS_SHMGET, "shmget", sysShmget),
		full(unix.SYS_SHMAT, "shmat", sysShmat),
		full(unix.SYS_SHMDT, "shmdt", sysShmdt),
		partial(unix.SYS_SHMCTL, "shmctl", sysShmctl, "not SHM_INFO and SHM_STAT, which list all segments"),
	)
}

// Linux keeps shared memory segments, in the node's own IPC namespace, where
// their ids are the same in every run. Users, processes and times are the node's.

func sysShmget(t *kernel.Thread, a Args) kernel.Result {
	id := t.M.Syscall(unix.SYS_SHMGET, a[0], a[1], a[2])
	if id >= 0 {
		t.MadeShm(int(id))
	}
	return kernel.Ret(id)
}

func sysShmat(t *kernel.Thread, a Args) kernel.Result {
	addr := t.M.Syscall(unix.SYS_SHMAT, a[0], a[1], a[2])
	if addr >= 0 {
		t.AttachedShm(int(int32(a[0])), uint64(addr))
		t.Node().SharesMemory = true
	}
	return kernel.Ret(addr)
}

func sysShmdt(t *kernel.Thread, a Args) kernel.Result {
	r := t.M.Syscall(unix.SYS_SHMDT, a[0])
	if r == 0 {
		t.DetachedShm(a[0])
	}
	return kernel.Ret(r)
}

func sysShmctl(t *kernel.Thread, a Args) kernel.Result {
	const lock, unlock = 11, 12
	id, cmd := int(int32(a[0])), a[1]&0xffffffff
	switch cmd {
	case ipcRmid, ipcStat:
	case ipcSet:
		return setShm(t, id, a[2])
	case lock, unlock:
		return kernel.Ret(0) // nothing is ever swapped out
	default:
		return unknownIPC(t, "shmctl", cmd, a)
	}
	r := t.M.Syscall(unix.SYS_SHMCTL, a[0], a[1], a[2])
	s := t.Node().Shm[id]
	if r != 0 || cmd != ipcStat || s == nil {
		return kernel.Ret(r)
	}
	return kernel.RetOr(0, patchShm(t, a[2], s))
}

// patchShm replaces what Linux wrote of the real world in a struct shmid64_ds.
func patchShm(t *kernel.Thread, addr uint64, s *kernel.Shm) kernel.Errno {
	const size = 112
	b, e := readBytes(t, addr, size)
	if e != 0 {
		return e
	}
	for i, v := range []int{s.UID, s.GID, s.CUID, s.CGID} {
		le.PutUint32(b[4+4*i:], uint32(v))
	}
	for i, v := range []int64{s.Attached, s.Detached, s.Changed} {
		le.PutUint64(b[56+8*i:], uint64(v))
	}
	le.PutUint32(b[80:], uint32(s.Creator))
	le.PutUint32(b[84:], uint32(s.Last))
	return t.M.WriteMem(addr, b)
}

// setShm changes the owner that is shown; the real one, and with it access by
// real processes, stays.
func setShm(t *kernel.Thread, id int, addr uint64) kernel.Result {
	s := t.Node().Shm[id]
	if s == nil {
		return kernel.Fail(unix.EINVAL)
	}
	b, e := readBytes(t, addr, 48)
	if e != 0 {
		return kernel.Fail(e)
	}
	s.UID, s.GID = int(int32(le.Uint32(b[4:]))), int(int32(le.Uint32(b[8:])))
	return kernel.Ret(0)
}
