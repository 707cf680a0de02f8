package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"

	"golang.org/x/sys/unix"
)

// Flags and modes of segments (shmget(2), shmat(2), shmctl(2)).
const (
	shmRdonly = 0o10000
	shmRemap  = 0o40000
	shmDest   = 0o1000
	shmLocked = 0o2000
)

// Linux makes the memory, each time a segment of its own, for its ids and keys are
// shared by all copies of the node.

func sysShmget(t *kernel.Thread, a Args) kernel.Result {
	const shmNoReserve = 0o10000
	if most, _, _ := ipc.ShmLimits(t.Node()); a[2]&shmNoReserve == 0 && a[1] <= most && overcommits(t, a[1]) {
		return kernel.Fail(unix.ENOMEM)
	}
	s, e := ipc.ShmsOf(t.Node()).Open(t, int(int32(a[0])), a[1], uint32(a[2]), func() (int, kernel.Errno) {
		if e := freeSegments(t, a[1]); e != 0 {
			return 0, e
		}
		const flags = 0o777 | ipc.Creat | ipc.Excl
		id := t.M.Syscall(unix.SYS_SHMGET, unix.IPC_PRIVATE, a[1], a[2]&^flags|0o600)
		if id < 0 {
			return 0, kernel.Errno(-id)
		}
		return int(id), 0
	})
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.Ret(int64(s.ID))
}

// freeSegments lets Linux free the segments that the node has no longer, before it makes one of so
// many bytes, unless copies of the node may have them.
func freeSegments(t *kernel.Thread, size uint64) kernel.Errno {
	n, m := t.Node(), ipc.ShmsOf(t.Node())
	if !n.Copied {
		for _, id := range m.TakeGone() {
			t.M.Syscall(unix.SYS_SHMCTL, uint64(id), ipcRmid, 0)
		}
	}
	const pageSize = 4096
	if (m.Pages()+m.GonePages())*pageSize+size > uint64(n.MemTotal()) {
		n.Refuse(t, "more shared memory than memory: in the spec, with what copies of the node hold", "", false)
		return unix.ENOMEM
	}
	return 0
}

func sysShmat(t *kernel.Thread, a Args) kernel.Result {
	s := ipc.ShmsOf(t.Node()).Get(int(int32(a[0])))
	if s == nil {
		return kernel.Fail(unix.EINVAL)
	}
	rights := uint32(ipc.Read | ipc.Write)
	if a[2]&shmRdonly != 0 {
		rights = ipc.Read
	}
	if !s.Allows(t, rights) {
		return kernel.Fail(unix.EACCES)
	}
	if a[2]&shmRemap != 0 && hitsArea(a[1], s.Size) {
		return refuseArea(t)
	}
	addr := t.M.Syscall(unix.SYS_SHMAT, uint64(s.Real), a[1], a[2])
	if addr >= 0 {
		ipc.AttachShm(t, s, uint64(addr))
	}
	return kernel.Ret(addr)
}

func sysShmdt(t *kernel.Thread, a Args) kernel.Result {
	r := t.M.Syscall(unix.SYS_SHMDT, a[0])
	if r == 0 {
		ipc.DetachShm(t, a[0])
	}
	return kernel.Ret(r)
}

func sysShmctl(t *kernel.Thread, a Args) kernel.Result {
	const lock, unlock, stat, info, statAny = 11, 12, 13, 14, 15
	n, id, cmd := t.Node(), int(int32(a[0])), int32(a[1])
	if id < 0 || cmd < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case ipcInfo:
		return kernel.RetOr(ipc.ShmsOf(n).Last(), t.M.WriteMem(a[2], shmLimits(n)))
	case info:
		return kernel.RetOr(ipc.ShmsOf(n).Last(), t.M.WriteMem(a[2], shmUsed(n)))
	case stat, statAny:
		s, ok := ipc.ShmsOf(n).At(id)
		switch {
		case !ok:
			return kernel.Fail(unix.EINVAL)
		case cmd == stat && !s.Allows(t, ipc.Read):
			return kernel.Fail(unix.EACCES)
		}
		return kernel.RetOr(s.ID, t.M.WriteMem(a[2], statShm(n, s)))
	}
	s := ipc.ShmsOf(n).Get(id)
	if s == nil {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case ipcRmid:
		if !s.Owned(t) {
			return kernel.Fail(unix.EPERM)
		}
		ipc.ShmsOf(n).Remove(n, s)
		return kernel.Ret(0)
	case ipcSet:
		return kernel.RetOr(0, setIPC(t, &s.Perm, a[2]))
	case ipcStat:
		if !s.Allows(t, ipc.Read) {
			return kernel.Fail(unix.EACCES)
		}
		return kernel.RetOr(0, t.M.WriteMem(a[2], statShm(n, s)))
	case lock, unlock: // nothing is ever swapped out
		most, _ := t.Proc.Rlimit(unix.RLIMIT_MEMLOCK)
		uid := t.Cred.UID.Effective
		if !t.Capable(unix.CAP_IPC_LOCK) && (uid != s.UID && uid != s.CUID || cmd == lock && most == 0) {
			return kernel.Fail(unix.EPERM)
		}
		s.Locked = cmd == lock
		return kernel.Ret(0)
	}
	return kernel.Fail(unix.EINVAL)
}

// shmLimits lays out a struct shminfo64, shmUsed a struct shm_info.
func shmLimits(n *kernel.Node) []byte {
	size, pages, segments := ipc.ShmLimits(n)
	var b []byte
	for _, v := range []uint64{size, 1, uint64(segments), uint64(segments), pages, 0, 0, 0, 0} {
		b = le.AppendUint64(b, v)
	}
	return b
}

func shmUsed(n *kernel.Node) []byte {
	pages := ipc.ShmsOf(n).Pages()
	var b []byte
	for _, v := range []uint64{uint64(len(ipc.ShmsOf(n).All())), pages, pages, 0, 0, 0} {
		b = le.AppendUint64(b, v)
	}
	return b
}

// statShm lays out a struct shmid64_ds.
func statShm(n *kernel.Node, s *ipc.Shm) []byte {
	p := s.Perm
	p.Mode |= shmFlags(s)
	b := ipc64(&p)
	for _, v := range []uint64{s.Size, seconds(n, s.Attached), seconds(n, s.Detached), seconds(n, s.Changed)} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(b, uint32(s.Creator))
	b = le.AppendUint32(b, uint32(s.Last))
	b = le.AppendUint64(b, uint64(s.Attachments(n)))
	return append(b, make([]byte, 16)...)
}
