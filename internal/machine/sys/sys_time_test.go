package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/itimer"

	"golang.org/x/sys/unix"
)

func putTimes(m *kerneltest.Tracee, addr uint64, v ...uint64) {
	var b []byte
	for _, x := range v {
		b = le.AppendUint64(b, x)
	}
	m.Poke(addr, b)
}

func getTimes(m *kerneltest.Tracee, addr uint64, n int) []int64 {
	var v []int64
	for i := range n {
		v = append(v, int64(le.Uint64(m.Peek(addr+uint64(i)*8, 8))))
	}
	return v
}

func wantTimes(t *testing.T, what string, m *kerneltest.Tracee, addr uint64, v ...int64) {
	t.Helper()
	for i, got := range getTimes(m, addr, len(v)) {
		if got != v[i] {
			t.Fatalf("%s: got %d, want %d", what, getTimes(m, addr, len(v)), v)
		}
	}
}

// cpuClockOf is a clock id as clock_getcpuclockid makes it.
func cpuClockOf(id int, thread uint64) uint64 { return uint64(^id)<<3 | thread<<2 | 2 }

func TestClocks(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Thread(a)
	n := d.Node
	n.RealBase, n.MonoBase, n.Now = 1000e9+1, 50e9, 2e9
	a.CPUTime, b.CPUTime = 3e9, 4e9
	for clock, at := range map[uint64][2]int64{
		unix.CLOCK_REALTIME: {1002, 1}, unix.CLOCK_REALTIME_COARSE: {1002, 1}, unix.CLOCK_MONOTONIC: {52, 0},
		unix.CLOCK_BOOTTIME: {52, 0}, unix.CLOCK_MONOTONIC_RAW: {52, 0}, unix.CLOCK_TAI: {1002, 1},
		unix.CLOCK_THREAD_CPUTIME_ID: {3, 0}, unix.CLOCK_PROCESS_CPUTIME_ID: {7, 0},
		cpuClockOf(a.Proc.PID, 0): {7, 0}, cpuClockOf(b.TID, 1): {4, 0}, cpuClockOf(0, 0): {7, 0},
	} {
		want(t, "clock_gettime", d.Must(a, unix.SYS_CLOCK_GETTIME, clock, bufAt), 0)
		wantTimes(t, "clock", m, bufAt, at[0], at[1])
		want(t, "clock_getres", d.Must(a, unix.SYS_CLOCK_GETRES, clock, bufAt), 0)
	}
	want(t, "no such clock", d.Must(a, unix.SYS_CLOCK_GETTIME, 99, bufAt), errno(unix.EINVAL))
	want(t, "no such process", d.Must(a, unix.SYS_CLOCK_GETTIME, cpuClockOf(4000, 0), bufAt), errno(unix.EINVAL))
	want(t, "gettimeofday", d.Must(a, unix.SYS_GETTIMEOFDAY, bufAt, 0), 0)
	wantTimes(t, "timeval", m, bufAt, 1002, 0)
	want(t, "time", d.Must(a, unix.SYS_TIME, bufAt), 1002)
	want(t, "times", d.Must(a, unix.SYS_TIMES, bufAt), 5200)
	wantTimes(t, "tms", m, bufAt, 700, 0, 0, 0)
	want(t, "getrusage", d.Must(a, unix.SYS_GETRUSAGE, 0, bufAt), 0)
	wantTimes(t, "rusage", m, bufAt, 7, 0, 0, 0)
	m.Poke(bufAt, make([]byte, 208))
	want(t, "adjtimex", d.Must(a, unix.SYS_ADJTIMEX, bufAt), 0)
}

func TestSleep(t *testing.T) {
	d, a, m := newProcess(t)
	d.Node.RealBase, d.Node.MonoBase = 1000e9, 100e9
	sleeps := func(what string, until int64, nr int, args ...uint64) {
		t.Helper()
		d.Waits(a, nr, args...)
		d.Fire()
		want(t, what, d.Done(a), 0)
		want(t, what, int64(d.Node.Now), until)
	}
	putTimes(m, timeAt, 1, 5)
	sleeps("nanosleep", 1e9+5, unix.SYS_NANOSLEEP, timeAt, 0)
	putTimes(m, timeAt, 1003, 0)
	sleeps("absolute, real time", 3e9, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, timeAt, 0)
	putTimes(m, timeAt, 104, 0)
	sleeps("absolute", 4e9, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, timeAt, 0)
	putTimes(m, timeAt, 1, 0)
	for _, args := range [][]uint64{{unix.SYS_NANOSLEEP, timeAt + 16, 0},
		{unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, timeAt, 0}} {
		if r, _ := d.Call(a, int(args[0]), args[1:]...); r.Op != kernel.OpYield || r.Value != 0 {
			t.Errorf("no time: %+v", r)
		}
	}
	putTimes(m, timeAt, 0, 1e9)
	want(t, "bad time", d.Must(a, unix.SYS_NANOSLEEP, timeAt, 0), errno(unix.EINVAL))
	want(t, "bad clock", d.Must(a, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC_RAW, 0, timeAt, 0),
		errno(unix.EOPNOTSUPP))
	want(t, "own time", d.Must(a, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_THREAD_CPUTIME_ID, 0, timeAt, 0),
		errno(unix.EOPNOTSUPP))
	putTimes(m, timeAt, 1<<62, 0)
	d.Waits(a, unix.SYS_NANOSLEEP, timeAt, 0)
	if tm := d.Node.NextTimer(true); tm != nil {
		t.Errorf("a sleep for ever has the timer %v", tm)
	}
}

func TestSetClock(t *testing.T) {
	d, a, m := newProcess(t)
	n := d.Node
	n.RealBase, n.MonoBase, n.Now = 1000e9, 100e9, 5e9
	set := func(sec, nsec uint64) int64 {
		putTimes(m, timeAt, sec, nsec)
		return d.Must(a, unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, timeAt)
	}
	a.Proc.SetUser(1000, 1000)
	want(t, "as a user", set(2000, 0), errno(unix.EPERM))
	a.Proc.SetUser(0, 0)
	want(t, "before 1970", set(^uint64(0), 0), errno(unix.EINVAL))
	want(t, "no time", set(2000, 1e9), errno(unix.EINVAL))
	want(t, "before the machine", set(104, 0), errno(unix.EINVAL))
	want(t, "too late", set(maxRealSec, 0), errno(unix.EINVAL))
	want(t, "a clock that runs", d.Must(a, unix.SYS_CLOCK_SETTIME, unix.CLOCK_MONOTONIC, timeAt), errno(unix.EINVAL))
	want(t, "processor time", d.Must(a, unix.SYS_CLOCK_SETTIME, cpuClockOf(0, 0), timeAt), errno(unix.EPERM))
	want(t, "forward", set(2000, 7), 0)
	for clock, at := range map[uint64][2]int64{
		unix.CLOCK_REALTIME: {2000, 7}, unix.CLOCK_TAI: {2000, 7}, unix.CLOCK_MONOTONIC: {105, 0},
		unix.CLOCK_BOOTTIME: {105, 0},
	} {
		want(t, "clock_gettime", d.Must(a, unix.SYS_CLOCK_GETTIME, clock, bufAt), 0)
		wantTimes(t, "clock", m, bufAt, at[0], at[1])
	}

	putTimes(m, timeAt, 1500, 250000)
	want(t, "settimeofday", d.Must(a, unix.SYS_SETTIMEOFDAY, timeAt, 0), 0)
	want(t, "back", n.RealNow(), 1500e9+25e7)
	m.Poke(bufAt, le.AppendUint32(le.AppendUint32(nil, 60), 1))
	want(t, "zone", d.Must(a, unix.SYS_SETTIMEOFDAY, 0, bufAt), 0)
	m.Poke(bufAt, make([]byte, 8))
	want(t, "gettimeofday", d.Must(a, unix.SYS_GETTIMEOFDAY, 0, bufAt), 0)
	want(t, "minutes", int64(le.Uint32(m.Peek(bufAt, 4))), 60)

	adjust := func(modes uint32, at int, v uint64) int64 {
		b := make([]byte, timexSize)
		le.PutUint32(b, modes)
		le.PutUint64(b[at:], v)
		m.Poke(bufAt, b)
		return d.Must(a, unix.SYS_ADJTIMEX, bufAt)
	}
	want(t, "by 10 s", adjust(adjSetOffset, timexSec, 10), 0)
	want(t, "now", n.RealNow(), 1510e9+25e7)
	want(t, "by -1 s and a half", adjust(adjSetOffset|adjNano, timexSec, ^uint64(1)), 0)
	want(t, "now", n.RealNow(), 1508e9+25e7)
	want(t, "out of range", adjust(unix.ADJ_TICK, timexTick, 1), errno(unix.EINVAL))
	want(t, "tick", adjust(unix.ADJ_TICK, timexTick, 10001), 0)
	want(t, "frequency", adjust(unix.ADJ_FREQUENCY, timexFreq, 1<<36), 0)
	want(t, "asked", adjust(0, timexTick, 0), 0)
	wantTimes(t, "frequency", m, bufAt+timexFreq, 32768000)
	wantTimes(t, "tick", m, bufAt+timexTick, 10001)
	want(t, "TAI", adjust(adjTAI, timexConstant, 37), 0)
	want(t, "clock_gettime", d.Must(a, unix.SYS_CLOCK_GETTIME, unix.CLOCK_TAI, bufAt), 0)
	wantTimes(t, "37 s ahead", m, bufAt, 1545)
	want(t, "unsynchronized", adjust(unix.ADJ_STATUS, timexStatus, staUnsync), timeError)
}

// TestWaitWhileTheClockIsSet: who waits for a time of the clock that is set waits for it by the new
// one.
func TestWaitWhileTheClockIsSet(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Thread(a)
	c, _ := d.Thread(a)
	n := d.Node
	n.RealBase = 1000e9
	putTimes(m, timeAt, 1010, 0)
	d.Waits(a, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, timeAt, 0)
	putTimes(m, timeAt, 10, 0)
	d.Waits(b, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_REALTIME, 0, timeAt, 0)
	d.Waits(c, unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, timeAt, 0)
	putSigevent(m, 0, 0, sigevNone, 0)
	e, _ := d.Thread(a)
	d.Must(e, unix.SYS_TIMER_CREATE, unix.CLOCK_REALTIME, setAt, bufAt)
	putTimes(m, timeAt, 0, 0, 1010, 0)
	d.Must(e, unix.SYS_TIMER_SETTIME, 0, unix.TIMER_ABSTIME, timeAt, 0)

	n.SetReal(1004e9)
	if tm := n.NextTimer(true); tm == nil || tm.When != 6e9 {
		t.Errorf("forward: %v", tm)
	}
	want(t, "timer_gettime", d.Must(e, unix.SYS_TIMER_GETTIME, 0, bufAt), 0)
	wantTimes(t, "left", m, bufAt, 0, 0, 6)
	n.SetReal(1002e9)
	if tm := n.NextTimer(true); tm == nil || tm.When != 8e9 {
		t.Errorf("back: %v", tm)
	}
	d.Fire()
	want(t, "by the clock", d.Done(a), 0)
	want(t, "then", int64(n.Now), 8e9)
	d.Fire()
	want(t, "as long as that", d.Done(b), 0)
	want(t, "then", int64(n.Now), 10e9)
}

func TestInterruptedSleep(t *testing.T) {
	d, a, m := newProcess(t)
	setHandler(a, unix.SIGUSR1)
	putTimes(m, timeAt, 3, 0)
	d.Waits(a, unix.SYS_NANOSLEEP, timeAt, timeAt+16)
	d.Node.Now = 1e9 + 1
	a.Send(info(unix.SIGUSR1))
	d.Settle()
	want(t, "nanosleep", d.Done(a), errno(unix.EINTR))
	wantTimes(t, "left", m, timeAt+16, 1, 1e9-1)
	if r, _ := d.Result(a); r.Restart != kernel.RestartNoHand {
		t.Errorf("restart %v", r.Restart)
	}
}

func TestAlarm(t *testing.T) {
	d, a, _ := newProcess(t)
	setHandler(a, unix.SIGALRM)
	want(t, "none", d.Must(a, unix.SYS_ALARM, 5), 0)
	d.Node.Now = 2e9 + 6e8
	want(t, "left, rounded", d.Must(a, unix.SYS_ALARM, 1), 2)
	d.Waits(a, unix.SYS_PAUSE)
	d.Fire()
	want(t, "pause", d.Done(a), errno(unix.EINTR))
	want(t, "clock", int64(d.Node.Now), 3e9+6e8)
	want(t, "signal", next(a), int64(unix.SIGALRM))
	want(t, "once", d.Must(a, unix.SYS_ALARM, 0), 0)
}

func TestSetitimer(t *testing.T) {
	d, a, m := newProcess(t)
	setHandler(a, unix.SIGALRM)
	putTimes(m, timeAt, 2, 0, 1, 0) // every 2 s, first after 1 s
	want(t, "setitimer", d.Must(a, unix.SYS_SETITIMER, 0, timeAt, 0), 0)
	d.Fire()
	if d.Node.NextTimer(true) != nil {
		t.Error("set anew before its signal is taken")
	}
	d.Node.Now = 1e9 + 5e8
	want(t, "signal", next(a), int64(unix.SIGALRM))
	want(t, "next", int64(d.Node.NextTimer(true).When), 3e9)
	want(t, "getitimer", d.Must(a, unix.SYS_GETITIMER, 0, bufAt), 0)
	wantTimes(t, "interval and value", m, bufAt, 2, 0, 1, 500000)
	putTimes(m, timeAt, 0, 0, 0, 0)
	want(t, "disarm", d.Must(a, unix.SYS_SETITIMER, 0, timeAt, bufAt), 0)
	wantTimes(t, "old", m, bufAt, 2, 0, 1, 500000)
	if d.Node.NextTimer(true) != nil {
		t.Error("still armed")
	}
	putTimes(m, timeAt, 0, 1e6, 0, 0)
	want(t, "bad value", d.Must(a, unix.SYS_SETITIMER, 0, timeAt, 0), errno(unix.EINVAL))
	want(t, "bad timer", d.Must(a, unix.SYS_SETITIMER, 3, timeAt, 0), errno(unix.EINVAL))
}

// putSigevent stores a struct sigevent.
func putSigevent(m *kerneltest.Tracee, value uint64, signo, notify, tid int) {
	b := le.AppendUint64(nil, value)
	for _, v := range []int{signo, notify, tid} {
		b = le.AppendUint32(b, uint32(v))
	}
	m.Poke(setAt, append(b, make([]byte, 44)...))
}

func TestPosixTimers(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Thread(a)
	d.Node.MonoBase = 100e9
	setHandler(a, unix.SIGUSR1, 40)
	create := func(clock uint64) int64 { return d.Must(a, unix.SYS_TIMER_CREATE, clock, setAt, bufAt) }
	putSigevent(m, 77, 40, sigevSignal|sigevThreadID, b.TID)
	want(t, "timer_create", create(unix.CLOCK_MONOTONIC), 0)
	want(t, "id", int64(le.Uint32(m.Peek(bufAt, 4))), 0)
	putTimes(m, timeAt, 1, 0, 102, 0)
	want(t, "timer_settime", d.Must(a, unix.SYS_TIMER_SETTIME, 0, unix.TIMER_ABSTIME, timeAt, 0), 0)
	d.Waits(b, unix.SYS_PAUSE)
	d.Fire()
	want(t, "clock", int64(d.Node.Now), 2e9)
	want(t, "its thread", d.Done(b), errno(unix.EINTR))
	d.Node.Now = 5e9 + 5e8 // three more went by
	i, _ := b.NextSignal()
	if i.Signo != 40 || i.Code != signal.SITimer || i.Value != 77 || i.Overrun != 3 || i.TimerID != 0 {
		t.Errorf("info %+v", i)
	}
	want(t, "timer_getoverrun", d.Must(a, unix.SYS_TIMER_GETOVERRUN, 0), 3)
	want(t, "timer_gettime", d.Must(a, unix.SYS_TIMER_GETTIME, 0, bufAt), 0)
	wantTimes(t, "left", m, bufAt, 1, 0, 0, 5e8)
	want(t, "timer_delete", d.Must(a, unix.SYS_TIMER_DELETE, 0), 0)
	want(t, "deleted", d.Must(a, unix.SYS_TIMER_GETTIME, 0, bufAt), errno(unix.EINVAL))

	want(t, "default", d.Must(a, unix.SYS_TIMER_CREATE, unix.CLOCK_REALTIME, 0, bufAt), 0)
	want(t, "id", int64(le.Uint32(m.Peek(bufAt, 4))), 1)
	if it := itimer.Posix(a.Proc, 1); it.Signo != int(unix.SIGALRM) || it.Value != 1 {
		t.Errorf("timer %+v", it)
	}
	putSigevent(m, 0, 40, sigevSignal|sigevThreadID, 4000)
	want(t, "no such thread", create(unix.CLOCK_MONOTONIC), errno(unix.EINVAL))
	putSigevent(m, 0, 65, sigevSignal, 0)
	want(t, "bad signal", create(unix.CLOCK_MONOTONIC), errno(unix.EINVAL))
	putSigevent(m, 0, 0, sigevNone, 0)
	want(t, "no such clock", create(99), errno(unix.EINVAL))
	want(t, "silent", create(unix.CLOCK_MONOTONIC), 0)
	putTimes(m, timeAt, 0, 0, 1, 0)
	want(t, "settime", d.Must(a, unix.SYS_TIMER_SETTIME, 2, 0, timeAt, 0), 0)
	if d.Node.NextTimer(true) != nil {
		t.Error("a timer that tells nobody keeps the node busy")
	}
	d.Node.Now += 4e8
	want(t, "gettime", d.Must(a, unix.SYS_TIMER_GETTIME, 2, bufAt), 0)
	wantTimes(t, "left", m, bufAt, 0, 0, 0, 6e8)
}

func TestIgnoredPeriodicTimerRests(t *testing.T) {
	d, a, _ := newProcess(t)
	p := a.Proc
	p.SetAction(int(unix.SIGUSR1), signal.Action{Handler: signal.Ign})
	it := itimer.New(p, unix.CLOCK_MONOTONIC, int(unix.SIGUSR1), nil, 0)
	it.Set(1e9, true, 1e9)
	d.Fire()
	if d.Node.NextTimer(true) != nil {
		t.Error("an ignored timer ticks on")
	}
	d.Node.Now = 3e9 + 1
	want(t, "left", int64(it.Left()), 1e9-1)
	setHandler(a, unix.SIGUSR1)
	if tm := d.Node.NextTimer(true); tm == nil || tm.When != 4e9 {
		t.Errorf("after its signal is no longer ignored: %v", tm)
	}
}

func TestTimersDoNotOutliveTheProcess(t *testing.T) {
	d, a, _ := newProcess(t)
	itimer.New(a.Proc, 0, 14, nil, 0).Set(5, true, 5)
	d.Must(a, unix.SYS_ALARM, 5)
	a.Proc.Exit(0, 0, false)
	if tm := d.Node.NextTimer(true); tm != nil {
		t.Errorf("timer %v is left", tm)
	}
}

func TestSilentTimers(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Thread(a)
	putTimes(m, timeAt, 1, 0)
	b.Name = "VM Periodic Tas"
	d.Waits(b, unix.SYS_NANOSLEEP, timeAt, 0)
	if tm := d.Node.NextTimer(false); tm != nil {
		t.Error("HotSpot's ticker is a choice of the search")
	}
	d.Waits(a, unix.SYS_NANOSLEEP, timeAt, 0)
	if tm := d.Node.NextTimer(false); tm == nil || tm.When != ariadne.Time(1e9) {
		t.Errorf("timer %v", tm)
	}
}
