package sys

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// learner makes calls, and keeps what a program learns by them.
type learner struct {
	*kerneltest.Driver
	th     *kernel.Thread
	m      *kerneltest.Tracee
	fd     uint64
	learnt strings.Builder
}

// newLearner returns one whose machine was switched on a while ago.
func newLearner(t *testing.T) *learner {
	d, th, m := newProcess(t)
	d.Node.RealBase, d.Node.MonoBase, d.Node.Now = 1700000000e9, 100e9, 1e9
	return &learner{Driver: d, th: th, m: m}
}

// ask makes a call that answers in the buffer, and learns its result and the buffer.
func (p *learner) ask(nr int, args ...uint64) {
	p.T.Helper()
	if r, ok := p.Call(p.th, nr, args...); ok {
		fmt.Fprintln(&p.learnt, r.Value)
	} else {
		fmt.Fprintln(&p.learnt, "waits")
	}
	fmt.Fprintf(&p.learnt, "%x\n", p.m.Peek(bufAt, 256))
}

// must makes a call that succeeds, of which nothing is learnt.
func (p *learner) must(nr int, args ...uint64) uint64 {
	p.T.Helper()
	v := p.Must(p.th, nr, args...)
	if v < 0 {
		p.T.Fatalf("call %d%v: %v", nr, args, unix.Errno(-v))
	}
	return uint64(v)
}

// spec puts an interval and a time into memory.
func (p *learner) spec(interval, value uint64) { putTimes(p.m, timeAt, interval, 0, value, 0) }

// fireAt lets timers expire up to a time.
func (p *learner) fireAt(at ariadne.Time) {
	for tm := p.Node.NextTimer(true); tm != nil && tm.When <= at; tm = p.Node.NextTimer(true) {
		p.Node.Now = max(p.Node.Now, at) // the first of them is late
		p.Node.FireTimer(tm)
	}
	p.Settle()
}

// timer makes a POSIX timer of a clock, which sends signal 40.
func (p *learner) timer(clock uint64) {
	putSigevent(p.m, 0, 40, sigevSignal, 0)
	p.must(unix.SYS_TIMER_CREATE, clock, setAt, bufAt)
	p.m.Poke(bufAt, make([]byte, 8))
}

// set arms it, in seconds.
func (p *learner) set(flags, interval, value uint64) {
	p.spec(interval, value)
	p.must(unix.SYS_TIMER_SETTIME, 0, flags, timeAt, 0)
}

// timerFD makes a timer with a descriptor.
func (p *learner) timerFD(clock, flags, interval, value uint64) {
	p.fd = p.must(unix.SYS_TIMERFD_CREATE, clock, unix.TFD_NONBLOCK)
	p.spec(interval, value)
	p.must(unix.SYS_TIMERFD_SETTIME, p.fd, flags, timeAt, 0)
}

// text learns what a file of /proc says, of a process or of the system.
func (p *learner) text(file string) {
	f := systemFiles[file]
	if f == nil {
		f = processFiles[file]
	}
	p.learnt.WriteString(f(&view{p.th, p.th, p.th.Proc}))
}

// sem and msg make objects of System V.
func (p *learner) sem() uint64 { return p.must(unix.SYS_SEMGET, 0, 1, 0o600) }
func (p *learner) msg() uint64 { return p.must(unix.SYS_MSGGET, 0, 0o600) }

// post raises a semaphore.
func (p *learner) post() {
	p.m.Poke(setAt, []byte{0, 0, 1, 0, 0, 0})
	p.must(unix.SYS_SEMOP, p.fd, setAt, 1)
}

// take takes signal 40 as a handler with these flags does.
func (p *learner) take(flags uint64) {
	p.th.Proc.SetAction(40, signal.Action{Handler: handlerAt, Flags: flags})
	p.fireAt(p.Node.Now)
	i, _ := p.th.NextSignal()
	if flags&signal.SASigInfo != 0 {
		fmt.Fprintln(&p.learnt, i.Overrun)
	}
}

const (
	monotonic = unix.CLOCK_MONOTONIC
	realtime  = unix.CLOCK_REALTIME
	processor = unix.CLOCK_PROCESS_CPUTIME_ID
	abstime   = unix.TIMER_ABSTIME
	realNow   = 1700000000
)

// tellingCalls are calls, and whether a program learns by them what time it is.
var tellingCalls = []struct {
	name  string
	tells bool
	// before happens in an earlier step, and step in the one that may happen at other times.
	before func(p *learner)
	step   func(p *learner)
}{
	{"clock_gettime", true, nil, func(p *learner) { p.ask(unix.SYS_CLOCK_GETTIME, monotonic, bufAt) }},
	{"clock_gettime, coarse", true, nil,
		func(p *learner) { p.ask(unix.SYS_CLOCK_GETTIME, unix.CLOCK_REALTIME_COARSE, bufAt) }},
	{"clock_gettime, processor time", false, nil, func(p *learner) { p.ask(unix.SYS_CLOCK_GETTIME, processor, bufAt) }},
	{"clock_gettime, no clock", false, nil, func(p *learner) { p.ask(unix.SYS_CLOCK_GETTIME, 99, bufAt) }},
	{"clock_getres", false, nil, func(p *learner) { p.ask(unix.SYS_CLOCK_GETRES, monotonic, bufAt) }},
	{"gettimeofday", true, nil, func(p *learner) { p.ask(unix.SYS_GETTIMEOFDAY, bufAt, 0) }},
	{"gettimeofday, zone", false, nil, func(p *learner) { p.ask(unix.SYS_GETTIMEOFDAY, 0, bufAt) }},
	{"time", true, nil, func(p *learner) { p.ask(unix.SYS_TIME, 0) }},
	{"times", true, nil, func(p *learner) { p.ask(unix.SYS_TIMES, bufAt) }},
	{"getrusage", false, nil, func(p *learner) { p.ask(unix.SYS_GETRUSAGE, unix.RUSAGE_SELF, bufAt) }},
	{"sysinfo", true, nil, func(p *learner) { p.ask(unix.SYS_SYSINFO, bufAt) }},
	{"adjtimex", true, nil, func(p *learner) { p.ask(unix.SYS_ADJTIMEX, bufAt) }},
	{"clock_adjtime", true, nil, func(p *learner) { p.ask(unix.SYS_CLOCK_ADJTIME, realtime, bufAt) }},
	{"clock_adjtime, processor time", false, nil,
		func(p *learner) { p.ask(unix.SYS_CLOCK_ADJTIME, cpuClockOf(0, 0), bufAt) }},

	{"alarm", true, func(p *learner) { p.must(unix.SYS_ALARM, 60) }, func(p *learner) { p.ask(unix.SYS_ALARM, 0) }},
	{"alarm, none before", false, nil, func(p *learner) { p.ask(unix.SYS_ALARM, 60) }},
	{"getitimer", true, func(p *learner) { p.must(unix.SYS_ALARM, 60) },
		func(p *learner) { p.ask(unix.SYS_GETITIMER, 0, bufAt) }},
	{"getitimer, not set", false, nil, func(p *learner) { p.ask(unix.SYS_GETITIMER, 0, bufAt) }},
	{"getitimer, processor time", false,
		func(p *learner) { p.spec(0, 60); p.must(unix.SYS_SETITIMER, 2, timeAt, 0) },
		func(p *learner) { p.ask(unix.SYS_GETITIMER, 2, bufAt) }},
	{"setitimer, old value", true, func(p *learner) { p.must(unix.SYS_ALARM, 60) },
		func(p *learner) { p.spec(0, 9); p.ask(unix.SYS_SETITIMER, 0, timeAt, bufAt) }},
	{"setitimer", false, func(p *learner) { p.must(unix.SYS_ALARM, 60) },
		func(p *learner) { p.spec(0, 9); p.ask(unix.SYS_SETITIMER, 0, timeAt, 0) }},

	{"timer_gettime", true, func(p *learner) { p.timer(monotonic); p.set(0, 0, 60) },
		func(p *learner) { p.ask(unix.SYS_TIMER_GETTIME, 0, bufAt) }},
	{"timer_gettime, not set", false, func(p *learner) { p.timer(monotonic) },
		func(p *learner) { p.ask(unix.SYS_TIMER_GETTIME, 0, bufAt) }},
	{"timer_gettime, processor time", false, func(p *learner) { p.timer(processor); p.set(0, 0, 60) },
		func(p *learner) { p.ask(unix.SYS_TIMER_GETTIME, 0, bufAt) }},
	{"timer_settime, old value", true, func(p *learner) { p.timer(monotonic); p.set(0, 0, 60) },
		func(p *learner) { p.spec(0, 9); p.ask(unix.SYS_TIMER_SETTIME, 0, 0, timeAt, bufAt) }},
	{"timer_settime", false, func(p *learner) { p.timer(monotonic) },
		func(p *learner) { p.spec(0, 9); p.ask(unix.SYS_TIMER_SETTIME, 0, 0, timeAt, 0) }},
	{"timer_settime, absolute", true, func(p *learner) { p.timer(realtime) }, func(p *learner) {
		p.th.M.SetSigMask(signal.SetOf(40))
		p.set(abstime, 0, realNow+10)
		p.fireAt(p.Node.Now)
		p.ask(unix.SYS_RT_SIGPENDING, bufAt, 8)
	}},
	{"timer_settime, absolute, past", false, func(p *learner) { p.timer(realtime) }, func(p *learner) {
		p.th.M.SetSigMask(signal.SetOf(40))
		p.set(abstime, 0, realNow+2)
		p.fireAt(p.Node.Now)
		p.ask(unix.SYS_RT_SIGPENDING, bufAt, 8)
	}},
	{"timer_getoverrun", true, func(p *learner) { p.timer(monotonic); p.set(0, 1, 1) }, func(p *learner) {
		p.take(0)
		p.ask(unix.SYS_TIMER_GETOVERRUN, 0)
	}},
	{"timer_getoverrun, once", false, func(p *learner) { p.timer(monotonic); p.set(0, 0, 1) }, func(p *learner) {
		p.take(0)
		p.ask(unix.SYS_TIMER_GETOVERRUN, 0)
	}},
	{"signal of a periodic timer, siginfo", true, func(p *learner) { p.timer(monotonic); p.set(0, 1, 1) },
		func(p *learner) { p.take(signal.SASigInfo) }},
	{"signal of a periodic timer", false, func(p *learner) { p.timer(monotonic); p.set(0, 1, 1) },
		func(p *learner) { p.take(0) }},
	{"rt_sigtimedwait of a periodic timer", true, func(p *learner) { p.timer(monotonic); p.set(0, 1, 1) },
		func(p *learner) {
			p.th.M.SetSigMask(signal.SetOf(40))
			p.fireAt(p.Node.Now)
			p.m.Poke(setAt, le.AppendUint64(nil, uint64(signal.SetOf(40))))
			p.ask(unix.SYS_RT_SIGTIMEDWAIT, setAt, bufAt, 0, 8)
		}},

	{"timerfd_gettime", true, func(p *learner) { p.timerFD(monotonic, 0, 0, 60) },
		func(p *learner) { p.ask(unix.SYS_TIMERFD_GETTIME, p.fd, bufAt) }},
	{"timerfd_gettime, not set", false, func(p *learner) { p.timerFD(monotonic, 0, 0, 0) },
		func(p *learner) { p.ask(unix.SYS_TIMERFD_GETTIME, p.fd, bufAt) }},
	{"timerfd_settime, old value", true, func(p *learner) { p.timerFD(monotonic, 0, 0, 60) },
		func(p *learner) { p.spec(0, 9); p.ask(unix.SYS_TIMERFD_SETTIME, p.fd, 0, timeAt, bufAt) }},
	{"timerfd_settime", false, func(p *learner) { p.timerFD(monotonic, 0, 0, 60) },
		func(p *learner) { p.spec(0, 9); p.ask(unix.SYS_TIMERFD_SETTIME, p.fd, 0, timeAt, 0) }},
	{"timerfd_settime, absolute", true, nil, func(p *learner) {
		p.timerFD(realtime, abstime, 0, realNow+10)
		p.ask(unix.SYS_READ, p.fd, bufAt, 8)
	}},
	{"timerfd_settime, absolute, past", false, nil, func(p *learner) {
		p.timerFD(realtime, abstime, 0, realNow+2)
		p.ask(unix.SYS_READ, p.fd, bufAt, 8)
	}},
	{"read of a periodic timerfd", true, func(p *learner) { p.timerFD(monotonic, 0, 1, 1) },
		func(p *learner) { p.fireAt(p.Node.Now); p.ask(unix.SYS_READ, p.fd, bufAt, 8) }},
	{"read of a timerfd", false, func(p *learner) { p.timerFD(monotonic, 0, 0, 1) },
		func(p *learner) { p.fireAt(p.Node.Now); p.ask(unix.SYS_READ, p.fd, bufAt, 8) }},

	{"nanosleep, what is left", true,
		func(p *learner) { putTimes(p.m, timeAt, 60, 0); p.Waits(p.th, unix.SYS_NANOSLEEP, timeAt, bufAt) },
		(*learner).interrupt},
	{"nanosleep", false, nil, func(p *learner) {
		putTimes(p.m, timeAt, 60, 0)
		p.ask(unix.SYS_NANOSLEEP, timeAt, bufAt)
	}},
	{"clock_nanosleep", false, nil,
		func(p *learner) {
			putTimes(p.m, timeAt, 60, 0)
			p.ask(unix.SYS_CLOCK_NANOSLEEP, monotonic, 0, timeAt, 0)
		}},
	{"clock_nanosleep, absolute", true, nil, func(p *learner) {
		putTimes(p.m, timeAt, 110, 0)
		p.ask(unix.SYS_CLOCK_NANOSLEEP, monotonic, abstime, timeAt, 0)
	}},
	{"clock_nanosleep, absolute, past", false, nil, func(p *learner) {
		putTimes(p.m, timeAt, 102, 0)
		p.ask(unix.SYS_CLOCK_NANOSLEEP, monotonic, abstime, timeAt, 0)
	}},
	{"select, what is left", true, (*learner).selects, (*learner).interrupt},
	{"futex", false, nil, func(p *learner) {
		putTimes(p.m, timeAt, 60, 0)
		p.ask(unix.SYS_FUTEX, setAt, futexWait, 0, timeAt)
	}},
	{"futex, absolute", true, nil, func(p *learner) { p.futexUntil(realNow+10, 0) }},
	{"futex, absolute, other value", false, nil, func(p *learner) { p.futexUntil(realNow+10, 1) }},
	{"mq_timedreceive", true, (*learner).openQueue, func(p *learner) {
		putTimes(p.m, timeAt, realNow+10, 0)
		p.ask(unix.SYS_MQ_TIMEDRECEIVE, p.fd, bufAt, 8192, 0, timeAt)
	}},
	{"mq_timedreceive, a message", false,
		func(p *learner) { p.openQueue(); p.must(unix.SYS_MQ_TIMEDSEND, p.fd, bufAt, 1, 0, 0) },
		func(p *learner) {
			putTimes(p.m, timeAt, realNow+10, 0)
			p.ask(unix.SYS_MQ_TIMEDRECEIVE, p.fd, bufAt, 8192, 0, timeAt)
		}},

	{"semctl, just used", true, func(p *learner) { p.fd = p.sem() },
		func(p *learner) { p.post(); p.ask(unix.SYS_SEMCTL, p.fd, 0, unix.IPC_STAT, bufAt) }},
	{"semctl, used before", false, func(p *learner) { p.fd = p.sem(); p.post() },
		func(p *learner) { p.ask(unix.SYS_SEMCTL, p.fd, 0, unix.IPC_STAT, bufAt) }},
	{"msgctl, just made", true, nil,
		func(p *learner) { p.fd = p.msg(); p.ask(unix.SYS_MSGCTL, p.fd, unix.IPC_STAT, bufAt) }},
	{"msgctl, made before", false, func(p *learner) { p.fd = p.msg() },
		func(p *learner) { p.ask(unix.SYS_MSGCTL, p.fd, unix.IPC_STAT, bufAt) }},
	{"/proc/sysvipc/sem, just used", true, func(p *learner) { p.fd = p.sem() },
		func(p *learner) { p.post(); p.text("sysvipc/sem") }},
	{"/proc/sysvipc/sem, used before", false, func(p *learner) { p.fd = p.sem(); p.post() },
		func(p *learner) { p.text("sysvipc/sem") }},
	{"/proc/sysvipc/msg, just made", true, nil, func(p *learner) { p.msg(); p.text("sysvipc/msg") }},

	{"/proc/uptime", true, nil, func(p *learner) { p.text("uptime") }},
	{"/proc/stat", true, nil, func(p *learner) { p.text("stat") }},
	{"/proc/loadavg", false, nil, func(p *learner) { p.text("loadavg") }},
	{"/proc/pid/status", false, nil, func(p *learner) { p.text("status") }},
	{"/proc/pid/stat of a new thread", true, nil, func(p *learner) {
		p.learnt.WriteString(statText(&view{p.th, p.th.Proc.NewThread(), p.th.Proc}))
	}},
	{"/proc/pid/stat", false, nil, func(p *learner) { p.learnt.WriteString(statText(&view{p.th, p.th, p.th.Proc})) }},
}

// interrupt ends the call in which the thread waits, by a signal, and learns what is left of it.
func (p *learner) interrupt() {
	setHandler(p.th, unix.SIGUSR1)
	p.th.Send(info(unix.SIGUSR1))
	p.Settle()
	fmt.Fprintf(&p.learnt, "%x", p.m.Peek(bufAt, 16))
}

// selects waits in select for 60 s.
func (p *learner) selects() {
	r, _ := pipeOf(p.Driver, p.th, 0)
	p.m.Poke(setAt, le.AppendUint64(nil, 1<<r))
	putTimes(p.m, bufAt, 60, 0)
	p.Waits(p.th, unix.SYS_SELECT, r+1, setAt, 0, 0, bufAt)
}

// futexUntil waits until a time of CLOCK_REALTIME while a word, which is 0, has a value.
func (p *learner) futexUntil(sec, value uint64) {
	putTimes(p.m, timeAt, sec, 0)
	p.m.Poke(setAt, make([]byte, 4))
	p.ask(unix.SYS_FUTEX, setAt, futexWaitBitset|futexRealtime, value, timeAt, 0, 1<<32-1)
}

// openQueue makes a POSIX queue.
func (p *learner) openQueue() {
	p.m.Poke(bufAt, []byte("queue\x00"))
	p.fd = p.must(unix.SYS_MQ_OPEN, bufAt, unix.O_RDWR|unix.O_CREAT, 0o600, 0)
}

// TestTellsClock: a call counts as a read of the clock exactly if a program learns something else
// by it when the step happens later.
func TestTellsClock(t *testing.T) {
	for _, c := range tellingCalls {
		t.Run(strings.ReplaceAll(c.name, "/", "_"), func(t *testing.T) {
			var learnt [2]string
			for i, at := range []ariadne.Time{5e9, 15e9} {
				p := newLearner(t)
				if c.before != nil {
					c.before(p)
				}
				p.Node.Told = kernel.Told{Began: at}
				p.Node.Now = at
				c.step(p)
				learnt[i] = p.learnt.String()
				if i == 0 && p.Node.ClockTold != c.tells {
					t.Errorf("counts as a read of the clock: %v", p.Node.ClockTold)
				}
			}
			if differs := learnt[0] != learnt[1]; differs != c.tells {
				t.Errorf("at another time it learns something else: %v\n%s\n%s", differs, learnt[0], learnt[1])
			}
		})
	}
}

// TestStatTellsClock: the times of a file tell the time if they are of the same step.
func TestStatTellsClock(t *testing.T) {
	f := newFiles(t)
	n := f.d.Node
	fd := f.open("old", unix.O_RDWR|unix.O_CREAT)
	step := func(what string, tells bool, stat func()) {
		t.Helper()
		n.Now += 1e9
		n.Told = kernel.Told{Began: n.Now}
		n.Now += 1000
		stat()
		if n.ClockTold != tells {
			t.Errorf("%s counts as a read of the clock: %v", what, n.ClockTold)
		}
	}
	statx := func(mask int) { f.call(unix.SYS_STATX, int(unix.AT_FDCWD), "old", 0, mask, f.data()) }
	step("stat, changed before", false, func() { f.stat(unix.SYS_STAT, "old", f.data()) })
	step("fstat, just written", true, func() {
		f.call(unix.SYS_WRITE, fd, f.data(), 1)
		f.stat(unix.SYS_FSTAT, fd, f.data())
	})
	step("stat of a file of the host", false, func() { f.call(unix.SYS_STAT, "/etc/passwd", f.data()) })
	step("utimensat, statx", true, func() {
		f.call(unix.SYS_UTIMENSAT, int(unix.AT_FDCWD), "old", 0, 0)
		statx(unix.STATX_MTIME)
	})
	step("utimensat, statx of the size", false, func() {
		f.call(unix.SYS_UTIMENSAT, int(unix.AT_FDCWD), "old", 0, 0)
		statx(unix.STATX_SIZE)
	})
	step("a time that the program has chosen", true, func() {
		f.m.Text(dataOff, string(appendTimes([2]unix.Timespec{{Sec: 9}, {Sec: 9}})))
		f.call(unix.SYS_UTIMENSAT, int(unix.AT_FDCWD), "old", f.data(), 0)
		statx(unix.STATX_BASIC_STATS) // of which the time of the change is now
	})
}
