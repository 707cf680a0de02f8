// Package itimer is the timers that send signals: setitimer(2)'s and timer_create(2)'s.
package itimer

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Timer is a POSIX or interval timer of a process. A periodic one is set
// anew when its signal is taken, not when it is sent, so a timer whose signal
// is blocked or ignored does not keep its node busy.
type Timer struct {
	Interval ariadne.Time
	Proc     *kernel.Process
	Target   *kernel.Thread // SIGEV_THREAD_ID, or nil for the process
	Signo    int            // 0: none (SIGEV_NONE)
	Value    uint64         // sigev_value
	ID       int            // of timer_create, or -1 for setitimer's
	Clock    int            // CLOCK_*
	// Of is whose processor time it counts; the zero value: it counts the node's time.
	Of      kernel.CPUClock
	Real    bool // it was set to a time of CLOCK_REALTIME
	Overrun int  // missed expirations before the last signal taken

	sets  int // how often it was set
	armed bool
	when  ariadne.Time     // of the next or, while its signal is out, the last expiration
	timer *kernel.Timer    // pending, or nil
	cpu   *kernel.CPUTimer // likewise, with Of
}

var _ = kernel.DeclareKind[*Timer]()

// Real, Virtual and Prof are setitimer's timers, with the
// signals they send.
const (
	Real = iota
	Virtual
	Prof
)

var signals = [3]unix.Signal{unix.SIGALRM, unix.SIGVTALRM, unix.SIGPROF}

// timers are a process's timers.
type timers struct {
	interval [3]*Timer      // setitimer: real, virtual, profiling
	posix    map[int]*Timer // timer_create
	next     int            // id of timer_create
}

var timersOf = kernel.NewSlot[*kernel.Process, timers]()

func init() {
	kernel.Register("itimer", kernel.Hooks{
		Execs:       execs,
		SignalStale: stale,
		ProcessExits: func(p *kernel.Process) {
			dropAll(p)
			for i := range timersOf.Of(p).interval {
				disarm(p, i)
			}
		},
		RealSet:         realSet,
		SignalTaken:     taken,
		SignalUnignored: rearmIgnored,
	})
}

// Posix returns a timer of timer_create's, or nil.
func Posix(p *kernel.Process, id int) *Timer { return timersOf.Of(p).posix[id] }

// String names the timer: its id or its signal, and the process.
func (it *Timer) String() string {
	if it.ID >= 0 {
		return fmt.Sprintf("timer %d/%d", it.ID, it.Proc.PID)
	}
	return fmt.Sprintf("%s/%d", unix.SignalName(unix.Signal(it.Signo)), it.Proc.PID)
}

// Interval returns p's interval timer of that kind, made when first used.
func Interval(p *kernel.Process, which int) *Timer {
	if timersOf.Of(p).interval[which] == nil {
		it := &Timer{Proc: p, Signo: int(signals[which]), ID: -1}
		if which != Real {
			it.Of.Proc = p
		}
		timersOf.Of(p).interval[which] = it
	}
	return timersOf.Of(p).interval[which]
}

// New makes a timer for timer_create.
func New(p *kernel.Process, clock, signo int, target *kernel.Thread, value uint64) *Timer {
	it := &Timer{Proc: p, Target: target, Signo: signo, Value: value, ID: timersOf.Of(p).next, Clock: clock}
	all := timersOf.Of(p)
	if all.posix == nil {
		all.posix = map[int]*Timer{}
	}
	all.posix[it.ID] = it
	timersOf.Of(p).next++
	return it
}

// NextID is the id that New will give.
func NextID(p *kernel.Process) int { return timersOf.Of(p).next }

// Drop is timer_delete.
func Drop(p *kernel.Process, it *Timer) {
	it.Set(0, false, 0)
	delete(timersOf.Of(p).posix, it.ID)
}

// execs deletes all of timer_create's timers, and what they have sent.
func execs(t *kernel.Thread) {
	dropAll(t.Proc)
	sent := func(i signal.Info) bool { return i.Code == signal.SITimer }
	t.Pending = slices.DeleteFunc(slices.Clone(t.Pending), sent)
	t.Proc.Pending = slices.DeleteFunc(slices.Clone(t.Proc.Pending), sent)
}

// stale reports whether a signal is of a timer that was deleted or set anew since. It was pending
// up to now, as in Linux from 6.13 on.
func stale(p *kernel.Process, info *signal.Info) bool {
	if info.Code != signal.SITimer {
		return false
	}
	it := timersOf.Of(p).posix[info.TimerID]
	return it == nil || it.sets != info.TimerSet
}

// dropAll deletes all of timer_create's timers.
func dropAll(p *kernel.Process) {
	for id := 0; id < timersOf.Of(p).next; id++ {
		if it := timersOf.Of(p).posix[id]; it != nil {
			Drop(p, it)
		}
	}
}

func disarm(p *kernel.Process, which int) {
	if it := timersOf.Of(p).interval[which]; it != nil {
		it.Set(0, false, 0)
	}
}

// Now is the time that the timer counts: the node's, or processor time.
func (it *Timer) Now() ariadne.Time {
	if it.Of.Proc != nil {
		return it.Of.Now()
	}
	return it.Proc.Node.Now
}

// start has it expire at its time, and stop not.
func (it *Timer) start() {
	if it.Of.Proc != nil {
		it.cpu = it.Of.AddCPUTimer(it.when, it)
	} else {
		it.timer = it.Proc.Node.AddTimer(it.when, it)
	}
}

func (it *Timer) stop() {
	if it.timer != nil {
		it.Proc.Node.StopTimer(it.timer)
	}
	if it.cpu != nil {
		it.cpu.Stop()
	}
	it.timer, it.cpu = nil, nil
}

// Set arms the timer for the absolute time when, or disarms it.
func (it *Timer) Set(when ariadne.Time, armed bool, interval ariadne.Time) {
	it.stop()
	it.Overrun, it.Real = 0, false
	it.sets++
	it.armed, it.when, it.Interval = armed, when, interval
	if armed && it.Signo != 0 {
		it.start()
	}
}

// realSet moves the timers that are set to a time of CLOCK_REALTIME.
func realSet(n *kernel.Node, by ariadne.Time) {
	for _, pid := range n.PIDs() {
		all := timersOf.Of(n.Procs[pid])
		for id := 0; id < all.next; id++ {
			it := all.posix[id]
			if it == nil || !it.Real {
				continue
			}
			it.when = kernel.RealComes(it.when, by)
			if it.timer != nil {
				it.stop()
				it.start()
			}
		}
	}
}

// TellLeft returns Left to a program, which learns by it what time it is.
func (it *Timer) TellLeft() ariadne.Time {
	left := it.Left()
	if left > 0 && it.Of.Proc == nil {
		it.Proc.Node.TellTime()
	}
	return left
}

// TellOverrun returns to a program how many expirations were missed before the last signal. That
// tells how late the signal was taken.
func (it *Timer) TellOverrun() int {
	if it.Interval > 0 && it.Of.Proc == nil {
		it.Proc.Node.TellTime()
	}
	return it.Overrun
}

// Left returns the time to the next expiration: 0 when disarmed, never 0 when
// armed.
func (it *Timer) Left() ariadne.Time {
	now := it.Now()
	if !it.armed {
		return 0
	}
	next := it.when
	if next <= now && it.Interval > 0 {
		next += it.periods(now) * it.Interval
	}
	if next <= now {
		if it.Signo == 0 {
			return 0
		}
		return 1
	}
	return next - now
}

// periods is how many intervals after when the first expiration after now lies.
func (it *Timer) periods(now ariadne.Time) ariadne.Time {
	return (now-it.when)/it.Interval + 1
}

// Expire implements Expirer.
func (it *Timer) Expire(*kernel.Timer) {
	it.timer, it.cpu = nil, nil
	if it.Interval == 0 {
		it.armed = false
	}
	p := it.Proc
	info := signal.Info{Signo: it.Signo, Code: signal.SIKernel}
	if it.ID >= 0 {
		info = signal.Info{Signo: it.Signo, Code: signal.SITimer, TimerID: it.ID, TimerSet: it.sets, Value: it.Value}
	}
	if it.Target == nil {
		p.Node.Kill(p, info)
	} else {
		it.Target.Send(info)
	}
}

// taken is told of each signal taken off p's queues: a periodic timer that sent
// it is set for its next expiration, and reports those that it missed.
func taken(p *kernel.Process, info *signal.Info) {
	it := sender(p, *info)
	if it == nil {
		return
	}
	missed := it.rearm()
	if it.ID >= 0 {
		it.Overrun = missed
		info.Overrun = missed
		if p.Actions[info.Signo].TellsInfo() {
			it.TellOverrun()
		}
	}
}

// sender returns the timer that sent info, or nil.
func sender(p *kernel.Process, info signal.Info) *Timer {
	if info.Code == signal.SITimer {
		return timersOf.Of(p).posix[info.TimerID]
	}
	for i, s := range signals {
		if info.Signo == int(s) && info.Code == signal.SIKernel {
			return timersOf.Of(p).interval[i]
		}
	}
	return nil
}

// rearm sets a periodic timer whose signal was out for its next expiration, and
// returns how many expirations went by meanwhile.
func (it *Timer) rearm() (missed int) {
	if !it.armed || it.timer != nil || it.cpu != nil || it.Interval == 0 {
		return 0
	}
	k := max(it.periods(it.Now()), 1)
	it.when += k * it.Interval
	it.start()
	return int(k - 1)
}

// rearmIgnored sets the periodic timers anew whose signal s was ignored until now.
func rearmIgnored(p *kernel.Process, s int) {
	pending := signal.Pending(p.Pending)
	for _, t := range p.Threads {
		pending |= signal.Pending(t.Pending)
	}
	if pending.Has(s) {
		return
	}
	for _, it := range timersOf.Of(p).interval {
		if it != nil && it.Signo == s {
			it.rearm()
		}
	}
	for id := 0; id < timersOf.Of(p).next; id++ {
		if it := timersOf.Of(p).posix[id]; it != nil && it.Signo == s {
			it.rearm()
		}
	}
}
