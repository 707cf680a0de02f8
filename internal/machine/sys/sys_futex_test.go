package sys

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/futex"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Two futex words and a second page of them that may be shared.
const (
	word1    = kerneltest.Base + 0x2000
	word2    = kerneltest.Base + 0x2004
	shared   = kerneltest.Base + 0x3000
	robustAt = kerneltest.Base + 0x4000
)

func setWord(m *kerneltest.Tracee, addr uint64, v uint32) { m.Poke(addr, le.AppendUint32(nil, v)) }
func getWord(m *kerneltest.Tracee, addr uint64) int64     { return int64(le.Uint32(m.Peek(addr, 4))) }

func callFutex(d *kerneltest.Driver, t *kernel.Thread, op int, args ...uint64) int64 {
	d.T.Helper()
	return d.Must(t, unix.SYS_FUTEX, append([]uint64{args[0], uint64(op)}, args[1:]...)...)
}

func futexWaits(d *kerneltest.Driver, t *kernel.Thread, op int, args ...uint64) {
	d.T.Helper()
	d.Waits(t, unix.SYS_FUTEX, append([]uint64{args[0], uint64(op)}, args[1:]...)...)
}

// crew makes n threads of one process.
func crew(t *testing.T, n int) (*kerneltest.Driver, []*kernel.Thread, *kerneltest.Tracee) {
	d, a, m := newProcess(t)
	ts := []*kernel.Thread{a}
	for len(ts) < n {
		b, _ := d.Thread(a)
		ts = append(ts, b)
	}
	return d, ts, m
}

func TestFutexWaitWake(t *testing.T) {
	d, ts, m := crew(t, 4)
	setWord(m, word1, 7)
	want(t, "other value", callFutex(d, ts[1], futexWait, word1, 8), errno(unix.EAGAIN))
	want(t, "misaligned", callFutex(d, ts[1], futexWait, word1+1, 7), errno(unix.EINVAL))
	want(t, "no memory", callFutex(d, ts[1], futexWait, bad&^3, 7), errno(unix.EFAULT))
	want(t, "nobody", callFutex(d, ts[0], futexWake, word1, 1), 0)
	for _, x := range ts[1:] {
		futexWaits(d, x, futexWait|futexPrivate, word1, 7)
	}
	want(t, "wake shared", callFutex(d, ts[0], futexWake, word1, 9), 0)
	want(t, "wake", callFutex(d, ts[0], futexWake|futexPrivate, word1, 1), 1)
	want(t, "first", d.Done(ts[1]), 0)
	if _, done := d.Result(ts[2]); done {
		t.Error("the second waiter woke up too")
	}
	want(t, "wake all", callFutex(d, ts[0], futexWake|futexPrivate, word1, 1<<31-1), 2)
	want(t, "second", d.Done(ts[2]), 0)
	want(t, "third", d.Done(ts[3]), 0)
	want(t, "unknown", callFutex(d, ts[0], 99, word1), errno(unix.ENOSYS))
}

func TestFutexTimeouts(t *testing.T) {
	d, ts, m := crew(t, 2)
	a := ts[0]
	d.Node.MonoBase, d.Node.RealBase, d.Node.Now = 100e9, 1000e9, 5e9
	timespecAt := func(sec, ns uint64) { m.Poke(timeAt, le.AppendUint64(le.AppendUint64(nil, sec), ns)) }
	check := func(what string, op int, at int64, args ...uint64) {
		t.Helper()
		futexWaits(d, a, op, args...)
		d.Fire()
		want(t, what, d.Done(a), errno(unix.ETIMEDOUT))
		want(t, what+": clock", int64(d.Node.Now), at)
	}
	timespecAt(2, 1)
	check("relative", futexWait, 7e9+1, word1, 0, timeAt)
	timespecAt(110, 0)
	check("absolute", futexWaitBitset, 10e9, word1, 0, timeAt, 0, 1)
	timespecAt(1012, 0)
	check("real time", futexWaitBitset|futexRealtime, 12e9, word1, 0, timeAt, 0, 1)
	timespecAt(1, 0)
	want(t, "past", callFutex(d, a, futexWaitBitset, word1, 0, timeAt, 0, 1), errno(unix.ETIMEDOUT))
	want(t, "past, other value", callFutex(d, a, futexWaitBitset, word1, 1, timeAt, 0, 1), errno(unix.EAGAIN))
	want(t, "nobody is left in the queue", callFutex(d, ts[1], futexWake, word1, 1), 0)
	want(t, "no bits", callFutex(d, a, futexWaitBitset, word1, 0, 0, 0, 0), errno(unix.EINVAL))
	want(t, "real time, relative", callFutex(d, a, futexWait|futexRealtime, word1, 0, timeAt), errno(unix.ENOSYS))
	timespecAt(1, 1e9)
	want(t, "bad time", callFutex(d, a, futexWait, word1, 0, timeAt), errno(unix.EINVAL))
	if tm := d.Node.NextTimer(true); tm != nil {
		t.Errorf("a timer is left: %v", tm)
	}
}

func TestFutexInterrupted(t *testing.T) {
	d, ts, _ := crew(t, 2)
	a := ts[1]
	setHandler(a, unix.SIGUSR1)
	futexWaits(d, a, futexWait, word1, 0)
	a.Send(signal.Info{Signo: int(unix.SIGUSR1)})
	d.Settle()
	want(t, "interrupted", d.Done(a), errno(unix.EINTR))
	want(t, "nobody is left in the queue", callFutex(d, ts[0], futexWake, word1, 1), 0)
}

func TestFutexShared(t *testing.T) {
	d, a, m := newProcess(t)
	m.Shared = map[uint64]uint64{shared: 42}
	b, bm := d.Fork(a, kernel.CloneArgs{Flags: uint64(unix.SIGCHLD)})
	bm.Shared = map[uint64]uint64{shared + 0x1000: 42}
	futexWaits(d, b, futexWait, shared+0x1008, 0)
	want(t, "private", callFutex(d, a, futexWake|futexPrivate, shared+8, 1), 0)
	want(t, "other word", callFutex(d, a, futexWake, shared+12, 1), 0)
	want(t, "same object", callFutex(d, a, futexWake, shared+8, 1), 1)
	want(t, "woken", d.Done(b), 0)

	// Memory of its own is another futex in each process, even if shared ones are meant.
	futexWaits(d, b, futexWait, word1, 0)
	want(t, "other process", callFutex(d, a, futexWake, word1, 1), 0)
}

func TestFutexRequeue(t *testing.T) {
	d, ts, _ := crew(t, 5)
	a := ts[0]
	for _, x := range ts[1:] {
		futexWaits(d, x, futexWait, word1, 0)
	}
	want(t, "changed", callFutex(d, a, futexCmpRequeue, word1, 1, 2, word2, 9), errno(unix.EAGAIN))
	want(t, "negative", callFutex(d, a, futexRequeue, word1, ^uint64(0), 2, word2), errno(unix.EINVAL))
	want(t, "requeue", callFutex(d, a, futexCmpRequeue, word1, 1, 2, word2, 0), 3)
	want(t, "woken", d.Done(ts[1]), 0)
	want(t, "wake the moved", callFutex(d, a, futexWake, word2, 9), 2)
	want(t, "moved first", d.Done(ts[2]), 0)
	want(t, "moved second", d.Done(ts[3]), 0)
	want(t, "wake the rest", callFutex(d, a, futexWake, word1, 9), 1)
}

func TestFutexWakeOp(t *testing.T) {
	d, ts, m := crew(t, 3)
	const add, gt = 1, 4
	op := func(op, cmp, oparg, cmparg uint64) uint64 { return op<<28 | cmp<<24 | oparg<<12 | cmparg }
	futexWaits(d, ts[1], futexWait, word1, 0)
	futexWaits(d, ts[2], futexWait, word2, 0)
	want(t, "fails its test", callFutex(d, ts[0], futexWakeOp, word1, 1, 1, word2, op(add, gt, 5, 0)), 1)
	want(t, "added", getWord(m, word2), 5)
	want(t, "passes its test", callFutex(d, ts[0], futexWakeOp, word1, 1, 1, word2, op(add, gt, 0xfff, 4)), 1)
	want(t, "added -1", getWord(m, word2), 4)
	want(t, "woken", d.Done(ts[2]), 0)
	want(t, "unknown", callFutex(d, ts[0], futexWakeOp, word1, 1, 1, word2, op(6, 0, 0, 0)), errno(unix.ENOSYS))
}

func TestFutexPI(t *testing.T) {
	d, ts, m := crew(t, 4)
	a, b, c := ts[0], ts[1], ts[2]
	want(t, "free", callFutex(d, a, futexLockPI, word1), 0)
	want(t, "owner", getWord(m, word1), int64(a.TID))
	want(t, "again", callFutex(d, a, futexLockPI, word1), errno(unix.EDEADLK))
	want(t, "try", callFutex(d, b, futexTrylockPI, word1), errno(unix.EAGAIN))
	want(t, "not mine", callFutex(d, b, futexUnlockPI, word1), errno(unix.EPERM))
	futexWaits(d, b, futexLockPI, word1)
	futexWaits(d, c, futexLockPI2, word1)
	want(t, "plain wake", callFutex(d, a, futexWake, word1, 1), errno(unix.EINVAL))
	want(t, "unlock", callFutex(d, a, futexUnlockPI, word1), 0)
	want(t, "handed over", d.Done(b), 0)
	want(t, "new owner", getWord(m, word1), int64(b.TID)|futex.Waiters)
	want(t, "unlock", callFutex(d, b, futexUnlockPI, word1), 0)
	want(t, "handed over", d.Done(c), 0)
	want(t, "unlock", callFutex(d, c, futexUnlockPI, word1), 0)
	want(t, "free again", getWord(m, word1), 0)
	setWord(m, word1, 4000)
	want(t, "no such owner", callFutex(d, a, futexLockPI, word1), errno(unix.ESRCH))
}

func TestFutexPIDeadlock(t *testing.T) {
	d, ts, _ := crew(t, 2)
	a, b := ts[0], ts[1]
	callFutex(d, a, futexLockPI, word1)
	callFutex(d, b, futexLockPI, word2)
	futexWaits(d, a, futexLockPI, word2)
	want(t, "circle", callFutex(d, b, futexLockPI, word1), errno(unix.EDEADLK))
	want(t, "unlock", callFutex(d, b, futexUnlockPI, word2), 0)
	want(t, "handed over", d.Done(a), 0)
}

func TestFutexPITimeout(t *testing.T) {
	d, ts, m := crew(t, 2)
	d.Node.RealBase = 1000e9
	callFutex(d, ts[0], futexLockPI, word1)
	m.Poke(timeAt, le.AppendUint64(le.AppendUint64(nil, 1003), 0))
	futexWaits(d, ts[1], futexLockPI, word1, 0, timeAt)
	d.Fire()
	want(t, "timeout", d.Done(ts[1]), errno(unix.ETIMEDOUT))
	want(t, "clock", int64(d.Node.Now), 3e9)
	want(t, "unlock", callFutex(d, ts[0], futexUnlockPI, word1), 0)
	want(t, "free", getWord(m, word1), 0)
}

func TestFutexRequeuePI(t *testing.T) {
	d, ts, m := crew(t, 4)
	a := ts[0]
	for _, x := range ts[1:3] {
		futexWaits(d, x, futexWaitRequeuePI, word1, 0, 0, word2)
	}
	want(t, "plain wake", callFutex(d, a, futexWake, word1, 1), errno(unix.EINVAL))
	want(t, "wrong target", callFutex(d, a, futexCmpRequeuePI, word1, 1, 9, word2+4, 0), errno(unix.EINVAL))
	want(t, "requeue", callFutex(d, a, futexCmpRequeuePI, word1, 1, 9, word2, 0), 2)
	want(t, "first has the lock", d.Done(ts[1]), 0)
	if _, done := d.Result(ts[2]); done {
		t.Error("the second has the lock too")
	}
	want(t, "word", getWord(m, word2), int64(ts[1].TID)|futex.Waiters)
	want(t, "unlock", callFutex(d, ts[1], futexUnlockPI, word2), 0)
	want(t, "second has the lock", d.Done(ts[2]), 0)
}

// putRobust links the locks at offset 16 behind their entries into t's list.
func putRobust(d *kerneltest.Driver, t *kernel.Thread, m *kerneltest.Tracee, pending uint64, entries ...uint64) {
	d.T.Helper()
	at := uint64(robustAt)
	for _, e := range entries {
		m.Poke(at&^1, le.AppendUint64(nil, e))
		at = e
	}
	m.Poke(at&^1, le.AppendUint64(nil, robustAt))
	m.Poke(robustAt+8, le.AppendUint64(nil, 16))
	m.Poke(robustAt+16, le.AppendUint64(nil, pending))
	want(d.T, "set_robust_list", d.Must(t, unix.SYS_SET_ROBUST_LIST, robustAt, robustHeadSize), 0)
}

func TestRobustList(t *testing.T) {
	d, ts, m := crew(t, 5)
	a := ts[1]
	entry := func(i uint64) uint64 { return robustAt + 0x100*i }
	lock := func(i uint64) uint64 { return entry(i) + 16 }
	setWord(m, lock(1), uint32(a.TID)|futex.Waiters)
	setWord(m, lock(2), uint32(ts[0].TID)) // not its own
	setWord(m, lock(3), uint32(a.TID))     // being taken or given up
	setWord(m, lock(4), 0)
	want(t, "lock", callFutex(d, a, futexLockPI, lock(4)), 0)
	putRobust(d, a, m, entry(3), entry(1), entry(2), entry(4)|1)
	futexWaits(d, ts[2], futexWait, lock(1), uint64(getWord(m, lock(1))))
	futexWaits(d, ts[3], futexLockPI, lock(4))

	want(t, "get_robust_list", d.Must(ts[0], unix.SYS_GET_ROBUST_LIST, uint64(a.TID), bufAt, bufAt+8), 0)
	want(t, "its address", int64(le.Uint64(m.Peek(bufAt, 8))), robustAt)
	a.Exit()
	d.Settle()
	want(t, "1", getWord(m, lock(1)), futex.Waiters|futex.OwnerDied)
	want(t, "1: woken", d.Done(ts[2]), 0)
	want(t, "2", getWord(m, lock(2)), int64(ts[0].TID))
	want(t, "3", getWord(m, lock(3)), futex.OwnerDied)
	want(t, "4: handed over", d.Done(ts[3]), 0)
	want(t, "4", getWord(m, lock(4)), int64(ts[3].TID)|futex.Waiters|futex.OwnerDied)
}

func TestClearTID(t *testing.T) {
	d, ts, m := crew(t, 2)
	a, b := ts[0], ts[1]
	setWord(m, word1, uint32(b.TID))
	want(t, "set_tid_address", d.Must(b, unix.SYS_SET_TID_ADDRESS, word1), int64(b.TID))
	futexWaits(d, a, futexWait, word1, uint64(b.TID))
	b.Exit()
	d.Settle()
	want(t, "joined", d.Done(a), 0)
	want(t, "word", getWord(m, word1), 0)
}

// dumbFutex is the reference: a list of who waits where for what.
type dumbFutex struct{ waits []dumbWait }
type dumbWait struct {
	who  int
	addr uint64
	mask uint32
}

func (f *dumbFutex) wake(addr uint64, n int, mask uint32) (woken []int) {
	var left []dumbWait
	for _, w := range f.waits {
		if w.addr == addr && w.mask&mask != 0 && len(woken) < n {
			woken = append(woken, w.who)
		} else {
			left = append(left, w)
		}
	}
	f.waits = left
	return woken
}

func (f *dumbFutex) requeue(from, to uint64, wake, move int) (woken []int, moved int) {
	woken = f.wake(from, wake, futex.Any)
	var left, tail []dumbWait
	for _, w := range f.waits {
		if w.addr == from && len(tail) < move {
			w.addr = to
			tail = append(tail, w)
		} else {
			left = append(left, w)
		}
	}
	f.waits = append(left, tail...)
	return woken, len(tail)
}

func TestFutexAgainstReference(t *testing.T) {
	for seed := range uint64(200) {
		d, ts, _ := crew(t, 7)
		var ref dumbFutex
		r := kernel.NewRand(seed)
		pick := func(n int) int { return int(r.Uint64() % uint64(n)) }
		addrs := []uint64{word1, word2, word2 + 4}
		var log []string
		waiting := make([]bool, len(ts))
		for range 60 {
			addr, mask := addrs[pick(3)], uint32(1+pick(3))
			var woken []int
			var got, expected int64
			switch pick(4) {
			case 0, 1:
				i := 1 + pick(len(ts)-1)
				if waiting[i] {
					continue
				}
				log = append(log, fmt.Sprintf("%d waits on %#x for %d", i, addr, mask))
				futexWaits(d, ts[i], futexWaitBitset, addr, 0, 0, 0, uint64(mask))
				ref.waits = append(ref.waits, dumbWait{i, addr, mask})
				waiting[i] = true
				continue
			case 2:
				n := 1 + pick(3)
				log = append(log, fmt.Sprintf("wake %d on %#x for %d", n, addr, mask))
				woken = ref.wake(addr, n, mask)
				got, expected = callFutex(d, ts[0], futexWakeBitset, addr, uint64(n), 0, 0, uint64(mask)),
					int64(len(woken))
			case 3:
				n, move, to := pick(3), pick(3), addrs[pick(3)]
				if to == addr {
					continue // Linux leaves the order alone, and so do we
				}
				log = append(log, fmt.Sprintf("requeue %#x to %#x: wake %d, move %d", addr, to, n, move))
				var moved int
				woken, moved = ref.requeue(addr, to, n, move)
				got, expected = callFutex(d, ts[0], futexRequeue, addr, uint64(n), uint64(move), to),
					int64(len(woken)+moved)
			}
			if got != expected {
				t.Fatalf("seed %d: got %d, want %d after %q", seed, got, expected, log)
			}
			for i := range ts {
				_, done := d.Result(ts[i])
				if waiting[i] && done != slices.Contains(woken, i) {
					t.Fatalf("seed %d: thread %d woken: %v, want %v after %q", seed, i, done, woken, log)
				}
				waiting[i] = waiting[i] && !done
			}
		}
	}
}
