package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/itimer"

	"golang.org/x/sys/unix"
)

// coarseRes is the resolution of the coarse clocks: a tick at 250 Hz.
const coarseRes = ariadne.Time(4e6)

func sysClockGettime(t *kernel.Thread, a Args) kernel.Result {
	now, e := tellClock(t, int(int32(a[0])))
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], appendTimespec(nil, now)))
}

func sysClockGetres(t *kernel.Thread, a Args) kernel.Result {
	clock := int(int32(a[0]))
	if _, e := readClock(t, clock); e != 0 {
		return kernel.Fail(e)
	}
	if a[1] == 0 {
		return kernel.Ret(0)
	}
	res := ariadne.Time(1)
	if clock == unix.CLOCK_REALTIME_COARSE || clock == unix.CLOCK_MONOTONIC_COARSE {
		res = coarseRes
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], appendTimespec(nil, res)))
}

func sysGettimeofday(t *kernel.Thread, a Args) kernel.Result {
	if a[0] != 0 {
		now, _ := tellClock(t, unix.CLOCK_REALTIME)
		if e := t.M.WriteMem(a[0], appendTimeval(nil, now)); e != 0 {
			return kernel.Fail(e)
		}
	}
	if a[1] != 0 {
		zone := le.AppendUint32(le.AppendUint32(nil, uint32(t.Node().NTP.West)), uint32(t.Node().NTP.DST))
		return kernel.RetOr(0, t.M.WriteMem(a[1], zone))
	}
	return kernel.Ret(0)
}

func sysTime(t *kernel.Thread, a Args) kernel.Result {
	now, _ := tellClock(t, unix.CLOCK_REALTIME)
	if a[0] != 0 {
		if e := writeU64(t, a[0], uint64(now/1e9)); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(int64(now / 1e9))
}

func sysNanosleep(t *kernel.Thread, a Args) kernel.Result {
	return sleep(t, unix.CLOCK_MONOTONIC, false, a[0], a[1])
}

func sysClockNanosleep(t *kernel.Thread, a Args) kernel.Result {
	clock := int(int32(a[0]))
	switch clock {
	case unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_MONOTONIC_COARSE, unix.CLOCK_THREAD_CPUTIME_ID:
		return kernel.Fail(unix.EOPNOTSUPP)
	}
	if _, e := readClock(t, clock); e != 0 {
		return kernel.Fail(e)
	}
	if _, ok := clockBase(t.Node(), clock); !ok {
		t.Node().Refuse(t, "clock_nanosleep until processor time was used", "", false)
		return kernel.Fail(unix.EOPNOTSUPP)
	}
	return sleep(t, clock, a[1]&unix.TIMER_ABSTIME != 0, a[2], a[3])
}

// sleep waits until the time at addr, on a clock or from now. An interrupted
// sleep from now stores what is left at rem.
func sleep(t *kernel.Thread, clock int, absolute bool, addr, rem uint64) kernel.Result {
	if t.Wait.Runs == 0 {
		at, e := readTimespec(t, addr)
		switch {
		case e != 0:
			return kernel.Fail(e)
		case absolute:
			setDeadlineOn(t, clock, at)
		case at != ariadne.Never:
			setTimeout(t, at)
		}
		if timedOut(t) { // as a sleep of no length gives up the processor
			return kernel.Result{Op: kernel.OpYield}
		}
	}
	if timedOut(t) {
		return kernel.Ret(0)
	}
	if t.Wait.Interrupted && !absolute && rem != 0 && t.Wait.HasDeadline {
		t.Node().TellTime()
		if e := t.M.WriteMem(rem, appendTimespec(nil, t.Wait.Deadline-t.Node().Now)); e != 0 {
			return kernel.Fail(e)
		}
	}
	return t.Block(kernel.RestartNoHand)
}

// clockTick is the unit of times(2): 100 Hz.
const clockTick = ariadne.Time(1e7)

func sysTimes(t *kernel.Thread, a Args) kernel.Result {
	if a[0] != 0 {
		var b []byte
		for _, v := range []ariadne.Time{t.Proc.CPU(), 0, t.Proc.ChildCPUTime, 0} {
			b = le.AppendUint64(b, uint64(v/clockTick))
		}
		if e := t.M.WriteMem(a[0], b); e != 0 {
			return kernel.Fail(e)
		}
	}
	now, _ := tellClock(t, unix.CLOCK_MONOTONIC)
	return kernel.Ret(int64(now / clockTick))
}

func sysGetrusage(t *kernel.Thread, a Args) kernel.Result {
	var cpu ariadne.Time
	switch int32(a[0]) {
	case unix.RUSAGE_SELF:
		cpu = t.Proc.CPU()
	case unix.RUSAGE_CHILDREN:
		if cpu = t.Proc.ChildCPUTime; cpu == 0 { // no child has been waited for
			return kernel.RetOr(0, t.M.WriteMem(a[1], make([]byte, rusageSize)))
		}
	case unix.RUSAGE_THREAD:
		cpu = t.CPUTime
	default:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], rusage(cpu)))
}

// rusageSize is the size of a struct rusage.
const rusageSize = 144

// rusage lays out a struct rusage with user time, and the memory that every process
// is shown to have in use.
func rusage(cpu ariadne.Time) []byte {
	const maxRSS = 32
	b := append(appendTimeval(nil, cpu), make([]byte, rusageSize-16)...)
	le.PutUint64(b[maxRSS:], residentPages*4)
	return b
}

func sysAlarm(t *kernel.Thread, a Args) kernel.Result {
	it := itimer.Interval(t.Proc, itimer.Real)
	left := it.TellLeft()
	armTimer(t, it, ariadne.Time(uint32(a[0]))*1e9, 0)
	sec := left / 1e9
	if sec == 0 && left > 0 || left%1e9 >= 5e8 {
		sec++
	}
	return kernel.Ret(int64(sec))
}

// armTimer sets a timer to expire after d, or disarms it with 0.
func armTimer(t *kernel.Thread, it *itimer.Timer, d, interval ariadne.Time) {
	it.Set(it.Now()+d, d > 0, interval)
}

func sysGetitimer(t *kernel.Thread, a Args) kernel.Result {
	if a[0] > itimer.Prof {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(0, storeTimer(t, a[1], itimer.Interval(t.Proc, int(a[0])), appendTimeval))
}

// storeTimer tells a program a timer's interval and time left.
func storeTimer(t *kernel.Thread, addr uint64, it *itimer.Timer,
	layout func([]byte, ariadne.Time) []byte) kernel.Errno {
	return t.M.WriteMem(addr, layout(layout(nil, it.Interval), it.TellLeft()))
}

func sysSetitimer(t *kernel.Thread, a Args) kernel.Result {
	if a[0] > itimer.Prof {
		return kernel.Fail(unix.EINVAL)
	}
	var interval, value ariadne.Time
	if a[1] != 0 {
		var e1, e2 kernel.Errno
		interval, e1 = readTimeval(t, a[1])
		value, e2 = readTimeval(t, a[1]+16)
		if e1 != 0 || e2 != 0 {
			return kernel.Fail(max(e1, e2))
		}
	}
	it := itimer.Interval(t.Proc, int(a[0]))
	if a[2] != 0 {
		if e := storeTimer(t, a[2], it, appendTimeval); e != 0 {
			return kernel.Fail(e)
		}
	}
	if a[0] == itimer.Real && value == 0 {
		interval = 0 // the others keep it
	}
	armTimer(t, it, clampTimer(value), clampTimer(interval))
	return kernel.Ret(0)
}

// clampTimer bounds a duration so that it can be added to any time.
func clampTimer(d ariadne.Time) ariadne.Time { return min(d, ariadne.Never/2) }

// sigev_notify of a struct sigevent (sigevent(7)).
const (
	sigevSignal   = 0
	sigevNone     = 1
	sigevThread   = 2 // a signal, for libc
	sigevThreadID = 4
)

func sysTimerCreate(t *kernel.Thread, a Args) kernel.Result {
	clock := int(int32(a[0]))
	switch clock {
	case unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_MONOTONIC_COARSE:
		return kernel.Fail(unix.EOPNOTSUPP)
	}
	if _, e := readClock(t, clock); e != 0 {
		return kernel.Fail(e)
	}
	signo, target, value := int(unix.SIGALRM), (*kernel.Thread)(nil), uint64(itimer.NextID(t.Proc))
	if a[1] != 0 {
		b, e := readBytes(t, a[1], 64)
		if e != 0 {
			return kernel.Fail(e)
		}
		value, signo = le.Uint64(b), int(int32(le.Uint32(b[8:])))
		switch le.Uint32(b[12:]) {
		case sigevNone:
			signo = 0
		case sigevSignal | sigevThreadID:
			id := le.Uint32(b[16:])
			target, e = threadByID(t, uint64(id))
			if id == 0 || e != 0 || target.Proc != t.Proc {
				return kernel.Fail(unix.EINVAL)
			}
			fallthrough
		case sigevSignal, sigevThread:
			if signo <= 0 || signo > signal.Max {
				return kernel.Fail(unix.EINVAL)
			}
		default:
			return kernel.Fail(unix.EINVAL)
		}
	}
	if e := writeU32(t, a[2], uint32(itimer.NextID(t.Proc))); e != 0 {
		return kernel.Fail(e)
	}
	it := itimer.New(t.Proc, clock, signo, target, value)
	if _, ok := clockBase(t.Node(), clock); !ok {
		p, x, _ := cpuClock(t, clock)
		if x != nil {
			p = x.Proc
		}
		it.Of = kernel.CPUClock{Proc: p, Thread: x}
	}
	return kernel.Ret(0)
}

func sysTimerSettime(t *kernel.Thread, a Args) kernel.Result {
	it := itimer.Posix(t.Proc, int(int32(a[0])))
	if it == nil || a[2] == 0 {
		return kernel.Fail(unix.EINVAL)
	}
	interval, e1 := readTimespec(t, a[2])
	value, e2 := readTimespec(t, a[2]+16)
	if e1 != 0 || e2 != 0 {
		return kernel.Fail(max(e1, e2))
	}
	if a[3] != 0 {
		if e := storeTimer(t, a[3], it, appendTimespec); e != 0 {
			return kernel.Fail(e)
		}
	}
	interval, value = clampTimer(interval), clampTimer(value)
	switch absolute := a[1]&unix.TIMER_ABSTIME != 0 && value != 0; {
	case absolute && it.Of.Proc != nil:
		it.Set(value, true, interval)
	case absolute:
		when := nodeTime(t, it.Clock, value)
		if when > t.Node().Now {
			t.Node().TellTime() // by whether it expires at once
		}
		it.Set(max(t.Node().Now, when), true, interval)
		it.Real = isReal(it.Clock)
	default:
		armTimer(t, it, value, interval)
	}
	return kernel.Ret(0)
}

func sysTimerGettime(t *kernel.Thread, a Args) kernel.Result {
	it := itimer.Posix(t.Proc, int(int32(a[0])))
	if it == nil {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(0, storeTimer(t, a[1], it, appendTimespec))
}

func sysTimerGetoverrun(t *kernel.Thread, a Args) kernel.Result {
	it := itimer.Posix(t.Proc, int(int32(a[0])))
	if it == nil {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(int64(it.TellOverrun()))
}

func sysTimerDelete(t *kernel.Thread, a Args) kernel.Result {
	it := itimer.Posix(t.Proc, int(int32(a[0])))
	if it == nil {
		return kernel.Fail(unix.EINVAL)
	}
	itimer.Drop(t.Proc, it)
	return kernel.Ret(0)
}
