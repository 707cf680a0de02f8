package sys

import (
	"bytes"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

func TestAffinity(t *testing.T) {
	d := kerneltest.NewDriver(t, Handle)
	d.Node.CPUs = 2
	a, m := d.Process(nil)
	m.Poke(bufAt, bytes.Repeat([]byte{0xff}, 1024))
	want(t, "small mask", d.Must(a, unix.SYS_SCHED_GETAFFINITY, 0, 4, bufAt), errno(unix.EINVAL))
	want(t, "big mask", d.Must(a, unix.SYS_SCHED_GETAFFINITY, 0, 1024, bufAt), 8)
	want(t, "processors", int64(m.Peek(bufAt, 1)[0]), 3)
	want(t, "not more than the kernel's", int64(m.Peek(bufAt+8, 1)[0]), 0xff)
	m.Poke(bufAt, bytes.Repeat([]byte{0xfe}, 512))
	want(t, "set", d.Must(a, unix.SYS_SCHED_SETAFFINITY, 0, 512, bufAt), 0)
	b, _ := child(d, a)
	want(t, "get", d.Must(b, unix.SYS_SCHED_GETAFFINITY, 0, 8, bufAt), 8)
	want(t, "second", int64(b.M.(*kerneltest.Tracee).Peek(bufAt, 1)[0]), 2)
	m.Poke(bufAt, make([]byte, 8))
	want(t, "none", d.Must(a, unix.SYS_SCHED_SETAFFINITY, 0, 8, bufAt), errno(unix.EINVAL))
	want(t, "no thread", d.Must(a, unix.SYS_SCHED_SETAFFINITY, 4000, 8, bufAt), errno(unix.ESRCH))
}

func TestPolicies(t *testing.T) {
	d, a, m := newProcess(t)
	set := func(policy, priority uint64) int64 {
		m.Poke(bufAt, le.AppendUint32(nil, uint32(priority)))
		return d.Must(a, unix.SYS_SCHED_SETSCHEDULER, 0, policy, bufAt)
	}
	want(t, "default", d.Must(a, unix.SYS_SCHED_GETSCHEDULER, 0), unix.SCHED_NORMAL)
	want(t, "fifo needs a priority", set(unix.SCHED_FIFO, 0), errno(unix.EINVAL))
	want(t, "fifo", set(unix.SCHED_FIFO|schedResetOnFork, 50), 0)
	want(t, "get", d.Must(a, unix.SYS_SCHED_GETSCHEDULER, 0), unix.SCHED_FIFO|schedResetOnFork)
	want(t, "getparam", d.Must(a, unix.SYS_SCHED_GETPARAM, 0, bufAt), 0)
	want(t, "priority", int64(le.Uint32(m.Peek(bufAt, 4))), 50)
	b, _ := child(d, a)
	want(t, "reset on fork", d.Must(b, unix.SYS_SCHED_GETSCHEDULER, 0), unix.SCHED_NORMAL)
	want(t, "getattr", d.Must(a, unix.SYS_SCHED_GETATTR, 0, bufAt, 48, 0), 0)
	attr := m.Peek(bufAt, 48)
	want(t, "policy", int64(le.Uint32(attr[4:])), unix.SCHED_FIFO)
	le.PutUint32(attr[4:], unix.SCHED_BATCH)
	le.PutUint32(attr[16:], 5)
	le.PutUint32(attr[20:], 0)
	m.Poke(bufAt, attr)
	want(t, "setattr", d.Must(a, unix.SYS_SCHED_SETATTR, 0, bufAt, 0), 0)
	want(t, "nice", d.Must(a, unix.SYS_GETPRIORITY, 0, 0), 15)
	want(t, "max", d.Must(a, unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SCHED_RR), 99)
	want(t, "min", d.Must(a, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SCHED_NORMAL), 0)
	want(t, "no such policy", d.Must(a, unix.SYS_SCHED_GET_PRIORITY_MIN, 77), errno(unix.EINVAL))
	a.Proc.SetUser(1000, 1000)
	want(t, "not an ordinary user", set(unix.SCHED_RR, 1), errno(unix.EPERM))
	want(t, "nicer", d.Must(a, unix.SYS_SETPRIORITY, 0, 0, 9), 0)
	want(t, "less nice", d.Must(a, unix.SYS_SETPRIORITY, 0, 0, 0), errno(unix.EACCES))
	if r, _ := d.Call(a, unix.SYS_SCHED_YIELD); r.Op != kernel.OpYield {
		t.Errorf("yield: %+v", r)
	}
}

func TestPriorityOfGroups(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := child(d, a)
	want(t, "set", d.Must(a, unix.SYS_SETPRIORITY, whichGroup, 0, 10), 0)
	want(t, "member", int64(b.Nice), 10)
	b.Nice = 3
	want(t, "highest", d.Must(a, unix.SYS_GETPRIORITY, whichGroup, 0), 17)
	want(t, "user", d.Must(a, unix.SYS_GETPRIORITY, whichUser, 0), 17)
	want(t, "nobody", d.Must(a, unix.SYS_GETPRIORITY, whichUser, 77), errno(unix.ESRCH))
	want(t, "bad", d.Must(a, unix.SYS_GETPRIORITY, 3, 0), errno(unix.EINVAL))
	want(t, "ioprio_set", d.Must(a, unix.SYS_IOPRIO_SET, 1, 0, 2<<13|4), 0)
	want(t, "ioprio_get", d.Must(a, unix.SYS_IOPRIO_GET, 1, 0), 2<<13|4)
}

func TestMembarrier(t *testing.T) {
	d, a, _ := newProcess(t)
	want(t, "unregistered", d.Must(a, unix.SYS_MEMBARRIER, membarrierPrivate, 0), errno(unix.EPERM))
	if q := d.Must(a, unix.SYS_MEMBARRIER, 0, 0); q&membarrierPrivate == 0 {
		t.Errorf("query %#x", q)
	}
	want(t, "register", d.Must(a, unix.SYS_MEMBARRIER, membarrierRegisterPrivate, 0), 0)
	want(t, "registered", d.Must(a, unix.SYS_MEMBARRIER, membarrierPrivate, 0), 0)
	want(t, "unknown", d.Must(a, unix.SYS_MEMBARRIER, 1<<20, 0), errno(unix.EINVAL))
}
