package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// sems makes a private set with these values.
func sems(d *kerneltest.Driver, t *kernel.Thread, values ...uint64) uint64 {
	d.T.Helper()
	id := d.Must(t, unix.SYS_SEMGET, 0, uint64(len(values)), 0o600)
	for i, v := range values {
		want(d.T, "SETVAL", d.Must(t, unix.SYS_SEMCTL, uint64(id), uint64(i), semSetVal, v), 0)
	}
	return uint64(id)
}

// semops stores a list for semop and returns its arguments.
func semops(t *kernel.Thread, id uint64, ops ...[3]int) []uint64 {
	var b []byte
	for _, o := range ops {
		for _, v := range o {
			b = le.AppendUint16(b, uint16(v))
		}
	}
	t.M.WriteMem(setAt, b)
	return []uint64{id, setAt, uint64(len(ops)), 0}
}

func TestSemop(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := child(d, a)
	id := sems(d, a, 1, 0)
	value := func(i uint64) int64 { return d.Must(a, unix.SYS_SEMCTL, id, i, semGetVal) }
	want(t, "take", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{0, -1, 0})...), 0)
	want(t, "not now", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{0, -1, ipc.NoWait})...), errno(unix.EAGAIN))
	want(t, "all or nothing", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{1, 5, 0}, [3]int{0, -1, ipc.NoWait})...),
		errno(unix.EAGAIN))
	want(t, "nothing", value(1), 0)
	want(t, "no such semaphore", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{2, 1, 0})...), errno(unix.EFBIG))
	want(t, "too much", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{0, 32767, 0}, [3]int{0, 1, 0})...),
		errno(unix.ERANGE))
	want(t, "no set", d.Must(a, unix.SYS_SEMOP, semops(a, 77, [3]int{0, 1, 0})...), errno(unix.EINVAL))
	want(t, "no operations", d.Must(a, unix.SYS_SEMOP, id, setAt, 0), errno(unix.EINVAL))
	want(t, "too many", d.Must(a, unix.SYS_SEMOP, id, setAt, 501), errno(unix.E2BIG))

	d.Waits(b, unix.SYS_SEMOP, semops(b, id, [3]int{0, -2, 0}, [3]int{1, 1, 0})...)
	want(t, "waiting for more", d.Must(a, unix.SYS_SEMCTL, id, 0, semGetNCnt), 1)
	want(t, "one is not enough", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{0, 1, 0})...), 0)
	if _, done := d.Result(b); done {
		t.Error("woken too early")
	}
	want(t, "give", d.Must(a, unix.SYS_SEMOP, semops(a, id, [3]int{0, 1, 0})...), 0)
	want(t, "taken", d.Done(b), 0)
	want(t, "value", value(0), 0)
	want(t, "value", value(1), 1)
	want(t, "last", d.Must(a, unix.SYS_SEMCTL, id, 0, semGetPID), int64(b.TID))

	d.Waits(b, unix.SYS_SEMOP, semops(b, id, [3]int{1, 0, 0})...)
	want(t, "waiting for zero", d.Must(a, unix.SYS_SEMCTL, id, 1, semGetZCnt), 1)
	m.Poke(bufAt, []byte{3, 0, 0, 0})
	want(t, "SETALL", d.Must(a, unix.SYS_SEMCTL, id, 0, semSetAll, bufAt), 0)
	want(t, "zero", d.Done(b), 0)
	want(t, "GETALL", d.Must(a, unix.SYS_SEMCTL, id, 0, semGetAll, bufAt+8), 0)
	want(t, "first", int64(le.Uint16(m.Peek(bufAt+8, 2))), 3)
	want(t, "SETVAL", d.Must(a, unix.SYS_SEMCTL, id, 0, semSetVal, 40000), errno(unix.ERANGE))
	d.Node.RealBase = 5e9
	want(t, "SETVAL", d.Must(a, unix.SYS_SEMCTL, id, 0, semSetVal, 0), 0)
	want(t, "STAT", d.Must(a, unix.SYS_SEMCTL, id, 0, ipcStat, bufAt), 0)
	want(t, "changed", int64(le.Uint64(m.Peek(bufAt+64, 8))), 5)
	want(t, "count", int64(le.Uint64(m.Peek(bufAt+80, 8))), 2)

	d.Waits(b, unix.SYS_SEMOP, semops(b, id, [3]int{0, -1, 0})...)
	want(t, "remove", d.Must(a, unix.SYS_SEMCTL, id, 0, ipcRmid), 0)
	want(t, "removed", d.Done(b), errno(unix.EIDRM))
}

func TestSemopOrderAndTimeout(t *testing.T) {
	d, ts, m := crew(t, 4)
	id := sems(d, ts[0], 0)
	for _, x := range ts[1:] {
		d.Waits(x, unix.SYS_SEMOP, semops(x, id, [3]int{0, -1, 0})...)
	}
	want(t, "give two", d.Must(ts[0], unix.SYS_SEMOP, semops(ts[0], id, [3]int{0, 2, 0})...), 0)
	want(t, "first", d.Done(ts[1]), 0)
	want(t, "second", d.Done(ts[2]), 0)
	if _, done := d.Result(ts[3]); done {
		t.Error("the third got one too")
	}
	setHandler(ts[3], unix.SIGUSR1)
	ts[3].Send(info(unix.SIGUSR1))
	d.Settle()
	want(t, "interrupted", d.Done(ts[3]), errno(unix.EINTR))
	want(t, "nobody waits", d.Must(ts[0], unix.SYS_SEMCTL, id, 0, semGetNCnt), 0)
	putTimes(m, timeAt, 1, 0)
	args := semops(ts[0], id, [3]int{0, -1, 0})
	args[3] = timeAt
	d.Waits(ts[0], unix.SYS_SEMTIMEDOP, args...)
	d.Fire()
	want(t, "timeout", d.Done(ts[0]), errno(unix.EAGAIN))
}

func TestSemUndo(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := child(d, a)
	id := sems(d, a, 3)
	want(t, "take", d.Must(b, unix.SYS_SEMOP, semops(b, id, [3]int{0, -2, ipc.SemUndo})...), 0)
	want(t, "take", d.Must(b, unix.SYS_SEMOP, semops(b, id, [3]int{0, -1, 0})...), 0)
	d.Waits(a, unix.SYS_SEMOP, semops(a, id, [3]int{0, -2, 0})...)
	b.Proc.Exit(0, 9, false)
	d.Settle()
	want(t, "given back", d.Done(a), 0)
	want(t, "value", d.Must(a, unix.SYS_SEMCTL, id, 0, semGetVal), 0)
}

func TestSemget(t *testing.T) {
	d, a, _ := newProcess(t)
	get := func(key, n, flags uint64) int64 { return d.Must(a, unix.SYS_SEMGET, key, n, flags) }
	want(t, "none", get(5, 1, 0), errno(unix.ENOENT))
	want(t, "empty", get(5, 0, ipc.Creat), errno(unix.EINVAL))
	want(t, "first", get(5, 2, ipc.Creat|0o600), 0)
	want(t, "second", get(0, 1, 0o600), 1)
	want(t, "same", get(5, 0, 0o600), 0)
	want(t, "exclusive", get(5, 2, ipc.Creat|ipc.Excl), errno(unix.EEXIST))
	want(t, "too many", get(5, 3, 0), errno(unix.EINVAL))
	want(t, "remove", d.Must(a, unix.SYS_SEMCTL, 0, 0, ipcRmid), 0)
	want(t, "index again, other id", get(0, 1, 0), 1<<15)
	want(t, "old id", d.Must(a, unix.SYS_SEMCTL, 0, 0, semGetVal), errno(unix.EINVAL))
	a.Proc.SetUser(1000, 1000)
	want(t, "not mine", d.Must(a, unix.SYS_SEMCTL, 1, 0, semGetVal), errno(unix.EACCES))
	want(t, "not mine", d.Must(a, unix.SYS_SEMCTL, 1, 0, ipcRmid), errno(unix.EPERM))
}

func TestMessageQueue(t *testing.T) {
	d, a, m := newProcess(t)
	b, mb := child(d, a)
	id := uint64(d.Must(a, unix.SYS_MSGGET, 7, ipc.Creat|0o600))
	send := func(kind uint64, s string, flags uint64) int64 {
		m.Poke(bufAt, append(le.AppendUint64(nil, kind), s...))
		return d.Must(a, unix.SYS_MSGSND, id, bufAt, uint64(len(s)), flags)
	}
	recv := func(size uint64, kind int64, flags uint64) (int64, string) {
		r := d.Must(a, unix.SYS_MSGRCV, id, bufAt, size, uint64(kind), flags|ipc.NoWait)
		if r < 0 {
			return r, ""
		}
		return r, string(m.Peek(bufAt+8, int(r)))
	}
	expect := func(what string, size uint64, kind int64, flags uint64, r int64, s string) {
		t.Helper()
		gotR, got := recv(size, kind, flags)
		if gotR != r || got != s {
			t.Fatalf("%s: got %d %q, want %d %q", what, gotR, got, r, s)
		}
	}
	want(t, "bad type", send(0, "x", 0), errno(unix.EINVAL))
	for i, s := range []string{"one", "two", "three", "four"} {
		want(t, "send", send(uint64(4-i), s, 0), 0)
	}
	expect("too big", 2, 0, 0, errno(unix.E2BIG), "")
	expect("cut", 2, 0, ipc.MsgNoError, 2, "on")
	expect("by type", 9, 1, 0, 4, "four")
	expect("lowest", 9, -9, 0, 5, "three")
	expect("except", 9, 3, ipc.MsgExcept, errno(unix.ENOMSG), "")
	expect("any", 9, 0, 0, 3, "two")
	expect("none", 9, 0, 0, errno(unix.ENOMSG), "")

	d.Waits(b, unix.SYS_MSGRCV, id, bufAt, 9, 2, 0)
	want(t, "another kind", send(1, "stay", 0), 0)
	if _, done := d.Result(b); done {
		t.Error("woken by another kind")
	}
	want(t, "its kind", send(2, "go", 0), 0)
	want(t, "received", d.Done(b), 2)
	if got := string(mb.Peek(bufAt+8, 2)); got != "go" {
		t.Errorf("received %q", got)
	}
	want(t, "STAT", d.Must(a, unix.SYS_MSGCTL, id, ipcStat, bufAt), 0)
	want(t, "messages", int64(le.Uint64(m.Peek(bufAt+80, 8))), 1)
	want(t, "last receiver", int64(le.Uint32(m.Peek(bufAt+100, 4))), int64(b.TID))
	le16k := le.AppendUint64(nil, 6)
	m.Poke(bufAt+88, le16k)
	want(t, "SET", d.Must(a, unix.SYS_MSGCTL, id, ipcSet, bufAt), 0)
	want(t, "full", send(1, "abc", ipc.NoWait), errno(unix.EAGAIN))
	mb.Poke(bufAt, append(le.AppendUint64(nil, 1), "abc"...))
	d.Waits(b, unix.SYS_MSGSND, id, bufAt, 3, 0)
	expect("room", 9, 0, 0, 4, "stay")
	want(t, "sent", d.Done(b), 0)
	d.Waits(b, unix.SYS_MSGSND, id, bufAt, 4, 0)
	want(t, "remove", d.Must(a, unix.SYS_MSGCTL, id, ipcRmid), 0)
	want(t, "removed", d.Done(b), errno(unix.EIDRM))
}

// TestSharedMemoryIsTheNodes: what Linux's segments are called, and who else has them
// attached, does not show.
func TestSharedMemoryIsTheNodes(t *testing.T) {
	d, a, m := newProcess(t)
	d.Node.RealBase = 7e9
	b, _ := child(d, a)
	b.Proc.SetUser(1000, 1000)
	real := int64(40)
	m.Answer[unix.SYS_SHMGET] = func(args []uint64) int64 {
		want(t, "key", int64(args[0]), unix.IPC_PRIVATE)
		real++
		return real
	}
	at := uint64(0)
	m.Answer[unix.SYS_SHMAT] = func(args []uint64) int64 { at = args[0]; return 0x7000 }
	m.Answer[unix.SYS_SHMDT] = func([]uint64) int64 { return 0 }
	stat := func() []byte {
		t.Helper()
		want(t, "shmctl", d.Must(a, unix.SYS_SHMCTL, 1, ipcStat, bufAt), 0)
		s := make([]byte, 112)
		a.M.ReadMem(bufAt, s)
		return s
	}
	want(t, "first", d.Must(a, unix.SYS_SHMGET, 8, 4096, 0o1600), 0)
	want(t, "second", d.Must(a, unix.SYS_SHMGET, 9, 4096, 0o1666), 1)
	want(t, "again", d.Must(a, unix.SYS_SHMGET, 9, 0, 0), 1)
	want(t, "error", d.Must(a, unix.SYS_SHMGET, 9, 4096, 0o3666), errno(unix.EEXIST))
	want(t, "error", d.Must(a, unix.SYS_SHMGET, 9, 8192, 0), errno(unix.EINVAL))
	want(t, "error", d.Must(a, unix.SYS_SHMGET, 10, 0, 0o1666), errno(unix.EINVAL))
	want(t, "error", d.Must(a, unix.SYS_SHMGET, 10, 4096, 0), errno(unix.ENOENT))
	want(t, "shmat", d.Must(b, unix.SYS_SHMAT, 1, 0, 0), 0x7000)
	want(t, "Linux's id", int64(at), 42)
	want(t, "error", d.Must(b, unix.SYS_SHMAT, 0, 0, 0), errno(unix.EACCES))
	s := stat()
	want(t, "owner", int64(le.Uint32(s[4:])), 0)
	want(t, "size", int64(le.Uint64(s[48:])), 4096)
	want(t, "attached", int64(le.Uint64(s[56:])), 7)
	want(t, "creator", int64(le.Uint32(s[80:])), int64(a.TID))
	want(t, "last", int64(le.Uint32(s[84:])), int64(b.TID))
	want(t, "attachments", int64(le.Uint64(s[88:])), 1)

	want(t, "shmat", d.Must(a, unix.SYS_SHMAT, 1, 0, 0), 0x7000)
	c, _ := child(d, a)
	s = stat()
	want(t, "last to attach", int64(le.Uint32(s[84:])), int64(a.TID))
	want(t, "a child inherits", int64(le.Uint64(s[88:])), 3)
	d.Node.Now = 2e9
	c.Proc.Exit(0, 0, false)
	s = stat()
	want(t, "last to detach", int64(le.Uint32(s[84:])), int64(c.TID))
	want(t, "detached", int64(le.Uint64(s[64:])), 9)

	want(t, "remove", d.Must(a, unix.SYS_SHMCTL, 1, ipcRmid, 0), 0)
	want(t, "error", d.Must(a, unix.SYS_SHMGET, 9, 0, 0), errno(unix.ENOENT))
	want(t, "to be destroyed", int64(le.Uint32(stat()[20:])), 0o1666)
	want(t, "detach", d.Must(a, unix.SYS_SHMDT, 0x7000), 0)
	b.Proc.Exit(0, 0, false)
	want(t, "error", d.Must(a, unix.SYS_SHMCTL, 1, ipcStat, bufAt), errno(unix.EINVAL))
}
