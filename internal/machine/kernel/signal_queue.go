package kernel

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Ignores reports whether the process's disposition of s is to do nothing.
func (p *Process) Ignores(s int) bool {
	switch p.Actions[s].Handler {
	case signal.Ign:
		return !signal.Unblockable.Has(s)
	case signal.Dfl:
		d := signal.Default(s)
		return d == signal.ActIgnore || d == signal.ActContinue
	}
	return false
}

// Catch returns the disposition with which a handler is about to be called for
// s, and resets it when it has SA_RESETHAND.
func (p *Process) Catch(s int) signal.Action {
	a := p.Actions[s]
	if a.Flags&signal.SAResetHand != 0 {
		p.Actions[s].Handler = signal.Dfl
	}
	return a
}

// SetAction changes the disposition of s. Pending signals that are now ignored are dropped, blocked
// or not (POSIX 3.3.1.3; Linux's do_sigaction).
func (p *Process) SetAction(s int, a signal.Action) {
	a.Mask &^= signal.Unblockable
	p.Actions[s] = a
	if !p.Ignores(s) {
		for i := range hooks {
			if h := hooks[i].SignalUnignored; h != nil {
				h(p, s)
			}
		}
		return
	}
	p.flushSignals(signal.SetOf(s))
}

// flushSignals takes the signals of set out of all queues of the process.
func (p *Process) flushSignals(set signal.Set) {
	p.Pending = signal.Drop(p.Pending, set)
	for _, t := range p.Threads {
		t.Pending = signal.Drop(t.Pending, set)
	}
}

// Kill queues a signal for the process; any thread that does not block it may
// take it, the main thread before others. EAGAIN: too many are queued already.
func (n *Node) Kill(p *Process, info signal.Info) Errno {
	if p.Dead || len(p.Threads) == 0 {
		return 0
	}
	return p.sendSignal(p.Threads[0], &p.Pending, info, false)
}

// SendProcess queues a signal for t's process, which t is asked first to take.
func (t *Thread) SendProcess(info signal.Info) Errno {
	if t.State == Dead || t.Proc.Dead {
		return t.Node().Kill(t.Proc, info)
	}
	return t.Proc.sendSignal(t, &t.Proc.Pending, info, false)
}

// Send queues a signal for one thread.
func (t *Thread) Send(info signal.Info) Errno {
	if t.State == Dead || t.Proc.Dead {
		return 0
	}
	return t.Proc.sendSignal(t, &t.Pending, info, true)
}

// sendSignal is Linux's __send_signal_locked: t decides whether the signal is
// ignored and is asked first to take it.
func (p *Process) sendSignal(t *Thread, queue *[]signal.Info, info signal.Info, only bool) Errno {
	s := info.Signo
	p.cancelOpposite(s)
	if p.Ignores(s) && !t.M.SigMask().Has(s) {
		return 0
	}
	if s < signal.RTMin && signal.Pending(*queue).Has(s) {
		return 0 // standard signals do not queue
	}
	if limit, _ := p.Rlimit(unix.RLIMIT_SIGPENDING); (s >= signal.RTMin || info.Code < 0) &&
		uint64(p.countQueued()) >= limit {
		switch {
		case s >= signal.RTMin && info.Code != signal.SIUser:
			return unix.EAGAIN
		case signal.Pending(*queue).Has(s):
			return 0
		}
		info = signal.Info{Signo: s, Code: signal.SIUser} // there is room for no more
	}
	*queue = append(*queue, info)
	if p.wakeTaker(t, s, only) && p.fatal.Signo == 0 && p.Actions[s].Handler == signal.Dfl &&
		signal.Default(s) == signal.ActTerminate {
		p.fatal = signal.Info{Signo: s}
	}
	p.Signals.Notify(In)
	return 0
}

// cancelOpposite does what a signal does when it is sent, whatever its disposition:
// stopping and continuing cancel each other.
func (p *Process) cancelOpposite(s int) {
	switch {
	case signal.Stops.Has(s):
		p.flushSignals(signal.SetOf(int(unix.SIGCONT)))
	case s == int(unix.SIGCONT):
		p.flushSignals(signal.Stops)
		p.Continue()
	case s == int(unix.SIGKILL) && p.Stopped:
		p.Stopped = false
		p.resumeThreads()
	}
}

// countQueued counts the signals pending in the process.
func (p *Process) countQueued() int {
	c := len(p.Pending)
	for _, t := range p.Threads {
		c += len(t.Pending)
	}
	return c
}

// wakeTaker finds a thread for signal s and wakes it: t if it wants the signal,
// otherwise (unless it is for t only) the first that does. It is false when none wants it.
func (p *Process) wakeTaker(t *Thread, s int, only bool) bool {
	for _, x := range p.Threads {
		x.seenMask = x.M.SigMask()
	}
	takers := p.Threads
	if only {
		takers = nil
	}
	for _, x := range append([]*Thread{t}, takers...) {
		if !x.canTake(s) {
			continue
		}
		x.endWaitForSignal()
		return true
	}
	return false
}

// canTake reports whether t can be asked to take s: a thread that already has a
// signal to take is passed over, as in Linux.
func (t *Thread) canTake(s int) bool {
	if t.State == Dead || t.seenMask.Has(s) && !signal.Unblockable.Has(s) {
		return false
	}
	return s == int(unix.SIGKILL) || !t.Proc.Stopped && !t.sigPending
}

// endWaitForSignal tells t that it has a signal to take, and ends its wait.
func (t *Thread) endWaitForSignal() {
	t.sigPending = true
	if t.Wait.Uninterruptible && !t.hasFatal() {
		return
	}
	if t.State == Blocked || t.Wait.Runs > 0 {
		t.Wait.Interrupted = true
	}
	t.Unpark()
}

// hasFatal reports whether a signal is pending that will end the process.
func (t *Thread) hasFatal() bool {
	set := t.PendingSignals()
	for s := 1; s <= signal.Max; s++ {
		if set.Has(s) && t.Proc.Actions[s].Handler == signal.Dfl && signal.Default(s) == signal.ActTerminate {
			return true
		}
	}
	return false
}

// Doomed reports whether a signal ends t's process whatever t does.
func (t *Thread) Doomed() bool {
	return t.Proc.fatal.Signo != 0 || t.PendingSignals().Has(int(unix.SIGKILL))
}

// HasSignal reports whether t is to take a signal before it goes on: one was
// sent to it or chose it, or it opened its mask for one that waits.
func (t *Thread) HasSignal() bool {
	if t.Proc.fatal.Signo != 0 {
		return true
	}
	if len(t.Pending) == 0 && len(t.Proc.Pending) == 0 {
		t.sigPending = false
		return false
	}
	m := t.M.SigMask()
	if opened := t.seenMask &^ m; opened != 0 {
		t.sigPending = true
		t.dropIgnored(opened)
	}
	t.seenMask = m
	t.sigPending = t.sigPending && t.deliverable(m)
	return t.sigPending
}

// dropIgnored takes the signals of set that are ignored off the queues: while they were
// blocked they were kept, now t would take them and do nothing.
func (t *Thread) dropIgnored(set signal.Set) {
	set &= t.PendingSignals()
	for s := 1; set != 0; s++ {
		if set.Has(s) && t.Proc.Ignores(s) {
			for _, q := range []*[]signal.Info{&t.Pending, &t.Proc.Pending} {
				*q = signal.Drop(*q, signal.SetOf(s))
			}
		}
		set &^= signal.SetOf(s)
	}
}

// deliverable reports whether a signal outside mask is pending for t that is
// not ignored.
func (t *Thread) deliverable(mask signal.Set) bool {
	set := (signal.Pending(t.Pending) | signal.Pending(t.Proc.Pending)) &^ (mask &^ signal.Unblockable)
	for s := 1; set != 0; s++ {
		if set.Has(s) && !t.Proc.Ignores(s) {
			return true
		}
		set &^= signal.SetOf(s)
	}
	return false
}

// NextSignal takes the next signal that t is to act on off its queues: one with
// a handler, or one whose default is to terminate or to stop the process. The
// ignored ones are dropped on the way. SIGKILL is first, then the thread's own
// before the process's, synchronous ones before others, low numbers before high.
func (t *Thread) NextSignal() (signal.Info, bool) {
	if t.Proc.fatal.Signo != 0 {
		return t.Proc.fatal, true
	}
	for {
		mask := t.M.SigMask() &^ signal.Unblockable
		info, ok := t.TakeSignal(signal.SetOf(int(unix.SIGKILL)))
		if !ok {
			info, ok = t.TakeSignal(^mask)
		}
		t.sigPending = ok && t.deliverable(mask)
		if !ok || !t.Proc.Ignores(info.Signo) && !t.Proc.ignoresStop(info.Signo) {
			return info, ok
		}
	}
}

// ignoresStop reports whether s would stop the process, but nobody is there
// who could continue it: its process group is orphaned.
func (p *Process) ignoresStop(s int) bool {
	return signal.Stops.Has(s) && s != int(unix.SIGSTOP) &&
		p.Actions[s].Handler == signal.Dfl && p.Node.Orphaned(p.PGID, nil)
}

// TakeSignal takes a signal of set off the queues of t and its process, without
// regard to masks (sigtimedwait, signalfd).
func (t *Thread) TakeSignal(set signal.Set) (signal.Info, bool) {
	info, ok := takeSignal(&t.Pending, set)
	if !ok {
		info, ok = takeSignal(&t.Proc.Pending, set)
	}
	if ok && t.Proc.isStale(&info) {
		return t.TakeSignal(set)
	}
	if ok {
		for i := range hooks {
			if h := hooks[i].SignalTaken; h != nil {
				h(t.Proc, &info)
			}
		}
	}
	return info, ok
}

// isStale reports whether a package drops a signal that was taken.
func (p *Process) isStale(info *signal.Info) bool {
	for i := range hooks {
		if h := hooks[i].SignalStale; h != nil && h(p, info) {
			return true
		}
	}
	return false
}

// takeSignal removes the first queued of the signal of set that comes first.
func takeSignal(q *[]signal.Info, set signal.Set) (signal.Info, bool) {
	here := signal.Pending(*q) & set
	if here == 0 {
		return signal.Info{}, false
	}
	if here&signal.Synchronous != 0 {
		here &= signal.Synchronous
	}
	for i, info := range *q {
		if here&-here == signal.SetOf(info.Signo) {
			*q = append((*q)[:i:i], (*q)[i+1:]...)
			return info, true
		}
	}
	return signal.Info{}, false
}

// PendingSignals returns the signals that wait for t or its process
// (rt_sigpending, signalfd's readiness).
func (t *Thread) PendingSignals() signal.Set {
	return signal.Pending(t.Pending) | signal.Pending(t.Proc.Pending)
}

// SetMask changes the signals that t blocks. Another thread is asked to take the signals that t no
// longer takes.
func (t *Thread) SetMask(m signal.Set) {
	m &^= signal.Unblockable
	old := t.M.SigMask()
	if m == old {
		return
	}
	t.M.SetSigMask(m)
	t.askOthers(m &^ old)
}

// askOthers asks the other threads to take the process's pending signals of set.
func (t *Thread) askOthers(set signal.Set) {
	set &= signal.Pending(t.Proc.Pending)
	for _, x := range t.Proc.Threads {
		if x == t || x.sigPending || set == 0 {
			continue
		}
		if free := set &^ x.M.SigMask(); free != 0 && !t.Proc.Stopped {
			x.endWaitForSignal()
			set &^= free
		}
	}
}

// SwapMask gives t the mask m until the call that it is in ends (rt_sigsuspend, ppoll, pselect6,
// epoll_pwait). The code that ends the call restores Wait.SavedMask, or stores it in the handler's
// frame when a signal is delivered.
func (t *Thread) SwapMask(m signal.Set) {
	if t.Wait.SavedMask != nil {
		return
	}
	old := t.M.SigMask()
	t.Wait.SavedMask = &old
	t.SetMask(m)
}

// Stop stops the process by signal s and tells its parent.
func (p *Process) Stop(s int) {
	p.Stopped, p.StopReport, p.ContReport = true, s, 0
	p.tellParent(signal.CLDStopped, s)
}

// Continue lets a stopped process go on and tells its parent.
func (p *Process) Continue() {
	if !p.Stopped {
		return
	}
	p.Stopped, p.StopReport, p.ContReport = false, 0, int(unix.SIGCONT)
	p.resumeThreads()
	p.tellParent(signal.CLDContinued, int(unix.SIGCONT))
}

// resumeThreads puts the threads that could run back into the run queue, which passed
// over them, and hands out the signals that came meanwhile.
func (p *Process) resumeThreads() {
	for _, t := range p.Threads {
		if t.State == Runnable && !p.Node.isReady(t) {
			p.Node.MakeReady(t)
		}
	}
	for _, i := range p.Pending {
		p.wakeTaker(p.Threads[0], i.Signo, false)
	}
	for _, t := range p.Threads {
		for _, i := range t.Pending {
			p.wakeTaker(t, i.Signo, true)
		}
	}
}

// tellParent reports a stop or a continuation with SIGCHLD.
func (p *Process) tellParent(code, status int) {
	q := p.Parent
	if q == nil {
		return
	}
	chld := int(unix.SIGCHLD)
	if q.Actions[chld].Flags&signal.SANoCldStop == 0 {
		p.Node.Kill(q, signal.Info{Signo: chld, Code: code, PID: p.PID, UID: p.Leader.Cred.UID.Real, Status: status})
	}
	q.ChildChanged.Notify(In)
}
