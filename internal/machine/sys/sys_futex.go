package sys

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/futex"

	"golang.org/x/sys/unix"
)

// Commands of futex(2).
const (
	futexWait = iota
	futexWake
	futexFD // removed from Linux
	futexRequeue
	futexCmpRequeue
	futexWakeOp
	futexLockPI
	futexUnlockPI
	futexTrylockPI
	futexWaitBitset
	futexWakeBitset
	futexWaitRequeuePI
	futexCmpRequeuePI
	futexLockPI2

	futexPrivate  = 128
	futexRealtime = 256
)

// futexCall is a futex call with its arguments named.
type futexCall struct {
	t           *kernel.Thread
	f           *futex.Table
	addr, addr2 uint64
	private     bool
	val, val3   uint32
	timeout     uint64 // address of a timespec, or val2
	clock       int    // of an absolute timeout
}

func sysFutex(t *kernel.Thread, a Args) kernel.Result {
	op := int(a[1]) &^ (futexPrivate | futexRealtime)
	c := futexCall{t: t, f: futex.Of(t.Node()), addr: a[0], addr2: a[4], private: a[1]&futexPrivate != 0,
		val: uint32(a[2]), val3: uint32(a[5]), timeout: a[3], clock: unix.CLOCK_MONOTONIC}
	realtime := a[1]&futexRealtime != 0
	if realtime && op != futexWaitBitset && op != futexWaitRequeuePI && op != futexLockPI2 {
		return kernel.Fail(unix.ENOSYS)
	}
	if realtime || op == futexLockPI {
		c.clock = unix.CLOCK_REALTIME
	}
	if c.addr%4 != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return c.run(op, a)
}

func (c *futexCall) run(op int, a Args) kernel.Result {
	switch op {
	case futexWait:
		return c.wait(futex.Any, true)
	case futexWaitBitset:
		return c.wait(c.val3, false)
	case futexWake:
		return c.wake(futex.Any)
	case futexWakeBitset:
		return c.wake(c.val3)
	case futexRequeue, futexCmpRequeue:
		return c.requeue(op == futexCmpRequeue)
	case futexWakeOp:
		return c.wakeOp()
	case futexLockPI, futexLockPI2:
		return c.lockPI()
	case futexTrylockPI:
		_, e := c.f.LockPI(c.t, c.addr, c.private, false)
		return kernel.RetOr(0, e)
	case futexUnlockPI:
		return kernel.RetOr(0, c.f.UnlockPI(c.t, c.addr, c.private))
	case futexWaitRequeuePI:
		return c.waitRequeuePI()
	case futexCmpRequeuePI:
		return c.requeuePI()
	}
	c.t.Node().Refuse(c.t, fmt.Sprintf("futex %d", op), formatArgs(c.t.Call.NR, a), false)
	return kernel.Fail(unix.ENOSYS)
}

// deadline sets the call's deadline from its timespec, if it has one.
func (c *futexCall) deadline(relative bool) kernel.Errno {
	if c.timeout == 0 || c.t.Wait.Runs > 0 {
		return 0
	}
	if relative {
		return timeoutArg(c.t, c.timeout, readTimespec)
	}
	at, e := readTimespec(c.t, c.timeout)
	if e == 0 {
		setDeadlineOn(c.t, c.clock, at)
	}
	return e
}

// expect fails with EAGAIN unless the word at addr still has the value v.
func (c *futexCall) expect(v uint32) kernel.Errno {
	got, e := readU32(c.t, c.addr)
	if e == 0 && got != v {
		return unix.EAGAIN
	}
	return e
}

// wait is FUTEX_WAIT. Once queued, the thread stays so until it is woken, its
// time is up, or the node layer ends the call for a signal.
func (c *futexCall) wait(mask uint32, relative bool) kernel.Result {
	if mask == 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if e := c.deadline(relative); e != 0 {
		return kernel.Fail(e)
	}
	if c.t.Wait.Woken {
		return kernel.Ret(0)
	}
	if !futex.Waits(c.t) {
		if e := c.expect(c.val); e != 0 {
			return kernel.Fail(e)
		}
		c.f.Enqueue(c.t, c.addr, c.private, mask, 0)
	}
	if timedOut(c.t) {
		return kernel.Fail(unix.ETIMEDOUT)
	}
	if c.timeout != 0 {
		return c.t.Block(kernel.RestartNoHand)
	}
	return c.t.Block(kernel.RestartSA)
}

func (c *futexCall) wake(mask uint32) kernel.Result {
	if mask == 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if e := c.mapped(c.addr); e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(c.f.Wake(c.t, c.addr, c.private, int(int32(c.val)), mask))
}

// mapped fails with EFAULT when a shared futex is not in memory; a private one
// is only an address.
func (c *futexCall) mapped(addr uint64) kernel.Errno {
	if addr%4 != 0 {
		return unix.EINVAL
	}
	if c.private {
		return 0
	}
	_, e := readU32(c.t, addr)
	return e
}

func (c *futexCall) requeue(compare bool) kernel.Result {
	wake, move := int(int32(c.val)), int(int32(c.timeout))
	if wake < 0 || move < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	for _, addr := range []uint64{c.addr, c.addr2} {
		if e := c.mapped(addr); e != 0 {
			return kernel.Fail(e)
		}
	}
	if compare {
		if e := c.expect(c.val3); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.RetOr(c.f.Requeue(c.t, c.addr, c.addr2, c.private, wake, move))
}

// wakeOp changes the second word, wakes waiters of the first, and those of the
// second if the old value compares as val3 says.
func (c *futexCall) wakeOp() kernel.Result {
	if e := c.mapped(c.addr); e != 0 {
		return kernel.Fail(e)
	}
	if c.addr2%4 != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	old, e := readU32(c.t, c.addr2)
	if e != 0 {
		return kernel.Fail(e)
	}
	v, both, e := futexOp(c.val3, old)
	if e == 0 {
		e = writeU32(c.t, c.addr2, v)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(c.f.WakeOp(c.t, c.addr, c.addr2, c.private, int(int32(c.val)), int(int32(c.timeout)), both))
}

// futexOp returns the value that the encoded operation makes of old, and
// whether old passes its comparison.
func futexOp(code, old uint32) (v uint32, pass bool, e kernel.Errno) {
	signed12 := func(x uint32) int32 { return int32(x<<20) >> 20 }
	arg, cmp := signed12(code>>12), signed12(code)
	if code>>31 != 0 { // FUTEX_OP_ARG_SHIFT; Linux too uses the low five bits
		arg = 1 << (uint(arg) & 31)
	}
	switch code >> 28 & 7 {
	case 0:
		v = uint32(arg)
	case 1:
		v = old + uint32(arg)
	case 2:
		v = old | uint32(arg)
	case 3:
		v = old &^ uint32(arg)
	case 4:
		v = old ^ uint32(arg)
	default:
		return 0, false, unix.ENOSYS
	}
	o := int32(old)
	tests := [...]bool{o == cmp, o != cmp, o < cmp, o <= cmp, o > cmp, o >= cmp}
	if k := code >> 24 & 15; int(k) < len(tests) {
		return v, tests[k], 0
	}
	return 0, false, unix.ENOSYS
}

func (c *futexCall) lockPI() kernel.Result {
	if e := c.deadline(false); e != 0 {
		return kernel.Fail(e)
	}
	if c.t.Wait.Woken {
		return kernel.Ret(0)
	}
	if !futex.Waits(c.t) {
		waits, e := c.f.LockPI(c.t, c.addr, c.private, true)
		if e != 0 || !waits {
			return kernel.RetOr(0, e)
		}
	}
	if timedOut(c.t) {
		return kernel.Fail(unix.ETIMEDOUT)
	}
	return c.t.Block(kernel.RestartAlways)
}

// waitRequeuePI waits on the first futex to be given, or moved to, the second.
func (c *futexCall) waitRequeuePI() kernel.Result {
	if c.addr == c.addr2 {
		return kernel.Fail(unix.EINVAL)
	}
	if e := c.deadline(false); e != 0 {
		return kernel.Fail(e)
	}
	if c.t.Wait.Woken {
		return kernel.Ret(0)
	}
	if !futex.Waits(c.t) {
		if e := c.expect(c.val); e != 0 {
			return kernel.Fail(e)
		}
		c.f.Enqueue(c.t, c.addr, c.private, futex.Any, c.addr2)
	}
	if timedOut(c.t) {
		return kernel.Fail(unix.ETIMEDOUT)
	}
	if c.t.Wait.Interrupted && futex.WaitsToOwn(c.t) {
		return kernel.Fail(unix.EAGAIN) // moved, then interrupted: Linux has the caller look again
	}
	return c.t.Block(kernel.RestartAlways)
}

func (c *futexCall) requeuePI() kernel.Result {
	if c.val != 1 || c.addr == c.addr2 || int32(c.timeout) < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if e := c.expect(c.val3); e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(c.f.RequeuePI(c.t, c.addr, c.addr2, c.private, int(int32(c.timeout))))
}

// robustHeadSize is the size of a struct robust_list_head.
const robustHeadSize = 24

func sysSetRobustList(t *kernel.Thread, a Args) kernel.Result {
	if a[1] != robustHeadSize {
		return kernel.Fail(unix.EINVAL)
	}
	t.RobustList = a[0]
	return kernel.Ret(0)
}

func sysGetRobustList(t *kernel.Thread, a Args) kernel.Result {
	x, e := threadByID(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if x != t && !t.MayTrace(x, true) {
		return kernel.Fail(unix.EPERM)
	}
	if e := writeU64(t, a[2], robustHeadSize); e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, writeU64(t, a[1], x.RobustList))
}
