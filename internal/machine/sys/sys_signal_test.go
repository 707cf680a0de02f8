package sys

import (
	"fmt"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

const handlerAt = 0x5000

// setHandler gives t's process a handler for signals.
func setHandler(t *kernel.Thread, signals ...unix.Signal) {
	for _, s := range signals {
		t.Proc.SetAction(int(s), signal.Action{Handler: handlerAt})
	}
}

func info(s unix.Signal) signal.Info { return signal.Info{Signo: int(s)} }

// next takes the signal that t is to act on, or 0.
func next(t *kernel.Thread) int64 {
	if !t.HasSignal() {
		return 0
	}
	i, _ := t.NextSignal()
	return int64(i.Signo)
}

// sigactions lets a machine's rt_sigaction succeed, as Linux's would.
func sigactions(m *kerneltest.Tracee) {
	m.Answer[unix.SYS_RT_SIGACTION] = func(a []uint64) int64 {
		if a[0] == 0 || a[0] > signal.Max || a[3] != 8 {
			return errno(unix.EINVAL)
		}
		return 0
	}
}

func TestSigaction(t *testing.T) {
	d, a, m := newProcess(t)
	sigactions(m)
	m.Poke(bufAt,
		le.AppendUint64(le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, handlerAt), signal.SARestart), 0x77),
			0xffff))
	want(t, "sigaction", d.Must(a, unix.SYS_RT_SIGACTION, uint64(unix.SIGUSR1), bufAt, 0, 8), 0)
	got := a.Proc.Actions[unix.SIGUSR1]
	if got != (signal.Action{Handler: handlerAt, Flags: signal.SARestart, Restorer: 0x77,
		Mask: 0xffff &^ signal.SetOf(9)}) {
		t.Errorf("disposition %+v", got)
	}
	want(t, "refused by Linux", d.Must(a, unix.SYS_RT_SIGACTION, 65, bufAt, 0, 8), errno(unix.EINVAL))
	want(t, "fault", d.Must(a, unix.SYS_RT_SIGACTION, 10, bad, 0, 8), errno(unix.EFAULT))
}

func TestStandardSignalsDoNotQueueRealTimeOnesDo(t *testing.T) {
	d, a, m := newProcess(t)
	m.Mask = signal.SetOf(10, 34)
	setHandler(a, unix.SIGUSR1, 34)
	for range 3 {
		d.Node.Kill(a.Proc, info(unix.SIGUSR1))
		d.Node.Kill(a.Proc, info(34))
	}
	if a.HasSignal() {
		t.Error("a blocked signal is to be delivered")
	}
	m.Mask = 0
	for _, s := range []int64{10, 34, 34, 34, 0} {
		want(t, "signal", next(a), s)
	}
}

func TestSignalOrder(t *testing.T) {
	d, a, m := newProcess(t)
	m.Mask = ^signal.Set(0)
	setHandler(a, 1, 2, 11, 12, 15, 40)
	for _, s := range []unix.Signal{40, 15, 1} {
		d.Node.Kill(a.Proc, info(s))
	}
	for _, s := range []unix.Signal{12, 2, 11} {
		a.Send(info(s))
	}
	m.Mask = 0
	for _, s := range []int64{11, 2, 12, 1, 15, 40, 0} {
		want(t, "signal", next(a), s)
	}
}

func TestIgnoredSignalsAreDropped(t *testing.T) {
	d, a, m := newProcess(t)
	d.Node.Kill(a.Proc, info(unix.SIGCHLD)) // ignored by default
	want(t, "pending", int64(a.PendingSignals()), 0)
	m.Mask = signal.SetOf(17)
	d.Node.Kill(a.Proc, info(unix.SIGCHLD)) // its disposition may change while it is blocked
	want(t, "pending", int64(a.PendingSignals()), int64(signal.SetOf(17)))
	m.Mask = 0
	if a.HasSignal() {
		t.Error("an ignored signal is to be delivered")
	}
	m.Mask = signal.SetOf(10)
	setHandler(a, unix.SIGUSR1)
	d.Node.Kill(a.Proc, info(unix.SIGUSR1))
	a.Proc.SetAction(10, signal.Action{Handler: signal.Ign})
	want(t, "pending once ignored", int64(a.PendingSignals()&signal.SetOf(10)), 0)
}

func TestMainThreadIsPreferred(t *testing.T) {
	d, ts, _ := crew(t, 3)
	a, b, c := ts[0], ts[1], ts[2]
	setHandler(a, unix.SIGUSR1, unix.SIGUSR2)
	for _, x := range ts {
		d.Waits(x, unix.SYS_PAUSE)
	}
	d.Node.Kill(a.Proc, info(unix.SIGUSR1))
	d.Settle()
	want(t, "main thread", d.Done(a), errno(unix.EINTR))
	if _, done := d.Result(b); done {
		t.Error("another thread was interrupted too")
	}
	if b.HasSignal() || !a.HasSignal() {
		t.Error("the signal belongs to the main thread")
	}
	want(t, "taken", next(a), 10)

	a.M.SetSigMask(signal.SetOf(12))
	b.M.SetSigMask(signal.SetOf(12))
	d.Node.Kill(a.Proc, info(unix.SIGUSR2))
	d.Settle()
	want(t, "the thread that does not block it", d.Done(c), errno(unix.EINTR))
	want(t, "taken", next(c), 12)
}

func TestBlockingHandsSignalsOn(t *testing.T) {
	d, ts, m := crew(t, 2)
	a, b := ts[0], ts[1]
	setHandler(a, unix.SIGUSR1)
	d.Waits(b, unix.SYS_PAUSE)
	d.Node.Kill(a.Proc, info(unix.SIGUSR1)) // a is asked, but blocks it before it looks
	m.Poke(bufAt, le.AppendUint64(nil, uint64(signal.SetOf(10, 9))))
	want(t, "sigprocmask", d.Must(a, unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, bufAt, bufAt+8, 8), 0)
	want(t, "old mask", int64(le.Uint64(m.Peek(bufAt+8, 8))), 0)
	if m.Mask != signal.SetOf(10) {
		t.Errorf("mask %#x", m.Mask)
	}
	want(t, "the other thread", d.Done(b), errno(unix.EINTR))
	want(t, "taken", next(b), 10)
}

func TestUnblockingDelivers(t *testing.T) {
	d, a, m := newProcess(t)
	setHandler(a, unix.SIGUSR1)
	m.Mask = signal.SetOf(10)
	d.Node.Kill(a.Proc, info(unix.SIGUSR1))
	want(t, "sigpending", d.Must(a, unix.SYS_RT_SIGPENDING, bufAt, 8), 0)
	want(t, "set", int64(le.Uint64(m.Peek(bufAt, 8))), int64(signal.SetOf(10)))
	if a.HasSignal() {
		t.Fatal("blocked")
	}
	m.Mask = 0 // as a handler's return does, which nobody sees
	if !a.HasSignal() {
		t.Error("unblocked, but not delivered")
	}
}

func TestSigprocmaskHow(t *testing.T) {
	d, a, m := newProcess(t)
	set := func(how, set uint64) int64 {
		m.Poke(bufAt, le.AppendUint64(nil, set))
		return d.Must(a, unix.SYS_RT_SIGPROCMASK, how, bufAt, 0, 8)
	}
	for _, c := range []struct{ how, set, mask uint64 }{
		{unix.SIG_SETMASK, 0b110, 0b110}, {unix.SIG_BLOCK, 0b1001, 0b1111}, {unix.SIG_UNBLOCK, 0b10, 0b1101},
	} {
		want(t, "how", set(c.how, c.set), 0)
		want(t, "mask", int64(m.Mask), int64(c.mask))
	}
	want(t, "bad how", set(3, 0), errno(unix.EINVAL))
	want(t, "bad size", d.Must(a, unix.SYS_RT_SIGPROCMASK, 0, 0, 0, 4), errno(unix.EINVAL))
	want(t, "bad how without a set", d.Must(a, unix.SYS_RT_SIGPROCMASK, 3, 0, bufAt, 8), 0)
}

func TestSigsuspend(t *testing.T) {
	d, a, m := newProcess(t)
	setHandler(a, unix.SIGUSR1, unix.SIGUSR2)
	m.Mask = signal.SetOf(10)
	d.Node.Kill(a.Proc, info(unix.SIGUSR1))
	m.Poke(bufAt, le.AppendUint64(nil, uint64(signal.SetOf(12))))
	a.Call = kernel.Call{NR: unix.SYS_RT_SIGSUSPEND, Args: Args{bufAt, 8}, InCall: true}
	r := Handle(a)
	if r.Op != kernel.OpBlock || r.Restart != kernel.RestartNoHand {
		t.Fatalf("result %+v", r)
	}
	if a.Wait.SavedMask == nil || *a.Wait.SavedMask != signal.SetOf(10) || m.Mask != signal.SetOf(12) {
		t.Errorf("mask %#x, saved %v", m.Mask, a.Wait.SavedMask)
	}
	if !a.HasSignal() {
		t.Error("the signal that the new mask lets through is not delivered")
	}
}

func TestSigtimedwait(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Process(nil)
	m.Mask = signal.SetOf(10, 40)
	m.Poke(setAt, le.AppendUint64(nil, uint64(signal.SetOf(10, 40))))
	d.Waits(a, unix.SYS_RT_SIGTIMEDWAIT, setAt, bufAt, 0, 8)
	var b2 [signal.InfoSize]byte
	mb := b.M.(*kerneltest.Tracee)
	copy(b2[:], signal.Info{Code: signal.SIQueue, PID: b.Proc.PID, Value: 99}.Encode())
	mb.Poke(bufAt, b2[:])
	want(t, "sigqueue", d.Must(b, unix.SYS_RT_SIGQUEUEINFO, uint64(a.Proc.PID), 40, bufAt), 0)
	want(t, "signal", d.Done(a), 40)
	got := signal.DecodeInfo(m.Peek(bufAt, signal.InfoSize))
	if got.Signo != 40 || got.Code != signal.SIQueue || got.Value != 99 || got.PID != b.Proc.PID {
		t.Errorf("info %+v", got)
	}
	m.Poke(timeAt, le.AppendUint64(le.AppendUint64(nil, 1), 0))
	d.Waits(a, unix.SYS_RT_SIGTIMEDWAIT, setAt, 0, timeAt, 8)
	d.Fire()
	want(t, "timeout", d.Done(a), errno(unix.EAGAIN))
	m.Poke(timeAt, make([]byte, 16))
	want(t, "poll", d.Must(a, unix.SYS_RT_SIGTIMEDWAIT, setAt, 0, timeAt, 8), errno(unix.EAGAIN))

	setHandler(a, unix.SIGUSR2)
	d.Waits(a, unix.SYS_RT_SIGTIMEDWAIT, setAt, 0, 0, 8)
	d.Node.Kill(a.Proc, info(unix.SIGUSR2))
	d.Settle()
	want(t, "another signal", d.Done(a), errno(unix.EINTR))
}

func TestKillTargets(t *testing.T) {
	d, a, _ := newProcess(t)
	kill := func(from *kernel.Thread, pid, sig int) int64 {
		return d.Must(from, unix.SYS_KILL, uint64(pid), uint64(sig))
	}
	b, mb := d.Fork(a, kernel.CloneArgs{Flags: uint64(unix.SIGCHLD)})
	c, mc := d.Process(nil)
	for _, m := range []*kerneltest.Tracee{mb, mc} {
		m.Mask = signal.SetOf(10, 12, 15)
	}
	a.M.SetSigMask(signal.SetOf(10, 12, 15))
	has := func(what string, x *kernel.Thread, s int, yes bool) {
		t.Helper()
		if x.PendingSignals().Has(s) != yes {
			t.Errorf("%s: thread %d has %d: %v", what, x.TID, s, !yes)
		}
	}
	want(t, "nobody", kill(a, 4000, 0), errno(unix.ESRCH))
	want(t, "init", kill(a, 1, 15), errno(unix.EPERM))
	want(t, "bad signal", kill(a, b.TID, 65), errno(unix.EINVAL))
	want(t, "exists", kill(a, b.TID, 0), 0)
	want(t, "group", kill(a, 0, 10), 0)
	has("group", a, 10, true)
	has("group", b, 10, true)
	has("group", c, 10, false)
	want(t, "all", kill(a, -1, 12), 0)
	has("all", a, 12, false)
	has("all", b, 12, true)
	has("all", c, 12, true)
	want(t, "named group", kill(a, -c.Proc.PGID, 15), 0)
	has("named group", c, 15, true)
	has("named group", b, 15, false)
	want(t, "no group", kill(a, -4000, 15), errno(unix.ESRCH))

	b.Proc.SetUser(1000, 1000)
	want(t, "other user", kill(b, c.TID, 15), errno(unix.EPERM))
	want(t, "other user's thread", d.Must(b, unix.SYS_TGKILL, uint64(c.TID), uint64(c.TID), 15), errno(unix.EPERM))
	want(t, "continue in the session", kill(b, a.TID, int(unix.SIGCONT)), 0)
}

func TestTgkill(t *testing.T) {
	d, ts, _ := crew(t, 2)
	a, b := ts[0], ts[1]
	setHandler(a, unix.SIGURG)
	d.Waits(b, unix.SYS_PAUSE)
	pid, tid := uint64(a.Proc.PID), uint64(b.TID)
	want(t, "wrong group", d.Must(a, unix.SYS_TGKILL, tid, tid, 23), errno(unix.ESRCH))
	want(t, "bad id", d.Must(a, unix.SYS_TGKILL, pid, 0, 23), errno(unix.EINVAL))
	want(t, "tgkill", d.Must(a, unix.SYS_TGKILL, pid, tid, 23), 0)
	want(t, "interrupted", d.Done(b), errno(unix.EINTR))
	if i, ok := b.NextSignal(); !ok || i.Code != signal.SITkill || i.PID != a.Proc.PID {
		t.Errorf("info %+v", i)
	}
	d.Waits(b, unix.SYS_PAUSE)
	want(t, "tkill", d.Must(a, unix.SYS_TKILL, tid, 23), 0)
	want(t, "interrupted", d.Done(b), errno(unix.EINTR))
}

func TestSigqueueinfoMayNotImitate(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Process(nil)
	a.M.SetSigMask(signal.SetOf(34))
	m.Poke(bufAt, signal.Info{Code: signal.SIUser}.Encode())
	want(t, "to another", d.Must(a, unix.SYS_RT_SIGQUEUEINFO, uint64(b.TID), 34, bufAt), errno(unix.EPERM))
	want(t, "to itself", d.Must(a, unix.SYS_RT_SIGQUEUEINFO, uint64(a.TID), 34, bufAt), 0)
	want(t, "to its thread", d.Must(a, unix.SYS_RT_TGSIGQUEUEINFO, uint64(a.TID), uint64(a.TID), 34, bufAt), 0)
	a.Proc.Rlimits[unix.RLIMIT_SIGPENDING] = [2]uint64{2, 2}
	want(t, "one too many, which leaves nothing", d.Must(a, unix.SYS_RT_SIGQUEUEINFO, uint64(a.TID), 34, bufAt), 0)
	m.Poke(bufAt, signal.Info{Code: signal.SIQueue}.Encode())
	want(t, "too many", d.Must(a, unix.SYS_RT_SIGQUEUEINFO, uint64(a.TID), 34, bufAt), errno(unix.EAGAIN))
}

func TestStopAndContinue(t *testing.T) {
	d, a, _ := newProcess(t)
	b, mb := d.Fork(a, kernel.CloneArgs{Flags: uint64(unix.SIGCHLD)})
	setHandler(a, unix.SIGCHLD)
	n := d.Node
	d.Waits(b, unix.SYS_PAUSE)

	mb.Mask = signal.SetOf(20)
	n.Kill(b.Proc, info(unix.SIGTSTP)) // blocked
	n.Kill(b.Proc, info(unix.SIGCONT))
	if b.PendingSignals().Has(20) {
		t.Error("SIGCONT left a stop signal pending")
	}
	n.Kill(b.Proc, info(unix.SIGSTOP))
	want(t, "stop", next(b), int64(unix.SIGSTOP))
	b.Proc.Stop(int(unix.SIGSTOP))
	want(t, "SIGCHLD", next(a), int64(unix.SIGCHLD))
	n.Kill(b.Proc, info(unix.SIGTERM)) // waits until it continues
	if d.Node.NextReady() != nil {
		t.Error("a stopped process is ready to run")
	}
	n.Kill(b.Proc, info(unix.SIGCONT))
	if b.Proc.Stopped || d.Node.NextReady() != b {
		t.Error("not continued for the signal that came meanwhile")
	}
	i, _ := a.NextSignal()
	if i.Code != signal.CLDContinued || i.PID != b.Proc.PID {
		t.Errorf("SIGCHLD %+v", i)
	}
	want(t, "waiting signal", next(b), int64(unix.SIGTERM))

	a.Proc.SetAction(int(unix.SIGCHLD), signal.Action{Handler: handlerAt, Flags: signal.SANoCldStop})
	b.Proc.Stop(int(unix.SIGSTOP))
	if a.HasSignal() {
		t.Error("SIGCHLD in spite of SA_NOCLDSTOP")
	}
	n.Kill(b.Proc, info(unix.SIGKILL))
	if b.Proc.Stopped {
		t.Error("SIGKILL does not reach a stopped process")
	}
	want(t, "kill", next(b), int64(unix.SIGKILL))
}

func TestOrphanedGroupIsNotStopped(t *testing.T) {
	d, a, _ := newProcess(t) // its parent is nobody of its session
	d.Node.Kill(a.Proc, info(unix.SIGTSTP))
	want(t, "from a terminal", next(a), 0)
	d.Node.Kill(a.Proc, info(unix.SIGSTOP))
	want(t, "SIGSTOP", next(a), int64(unix.SIGSTOP))
}

func TestUninterruptible(t *testing.T) {
	d, a, _ := newProcess(t)
	setHandler(a, unix.SIGUSR1)
	a.Wait.Uninterruptible = true
	a.Park()
	d.Node.Kill(a.Proc, info(unix.SIGUSR1))
	if a.State != kernel.Blocked {
		t.Error("woken by a signal with a handler")
	}
	d.Node.Kill(a.Proc, info(unix.SIGKILL))
	if a.State == kernel.Blocked {
		t.Error("not woken by a fatal signal")
	}
}

// TestSignalQueueAgainstReference: whatever is sent while blocked comes out once unblocked: the
// lowest number first, standard signals once, real-time ones each time and in order.
func TestSignalQueueAgainstReference(t *testing.T) {
	for seed := range uint64(100) {
		d, a, m := newProcess(t)
		m.Mask = ^signal.Set(0)
		r := kernel.NewRand(seed)
		sent := map[int][]uint64{}
		for i := range uint64(40) {
			s := int(1 + r.Uint64()%signal.Max)
			if s == 9 || signal.Default(s) == signal.ActStop || signal.Default(s) == signal.ActContinue {
				continue
			}
			setHandler(a, unix.Signal(s))
			d.Node.Kill(a.Proc, signal.Info{Signo: s, Value: i})
			if s >= signal.RTMin || len(sent[s]) == 0 {
				sent[s] = append(sent[s], i)
			}
		}
		m.Mask = 0
		sync := []int{4, 5, 7, 8, 11, 31} // before all others
		order := append([]int(nil), sync...)
		for s := 1; s <= signal.Max; s++ {
			order = append(order, s)
		}
		for _, s := range order {
			for _, v := range sent[s] {
				i, ok := a.NextSignal()
				if !ok || i.Signo != s || i.Value != v {
					t.Fatalf("seed %d: got %+v, want signal %d with %d", seed, i, s, v)
				}
			}
			delete(sent, s)
		}
		if a.HasSignal() {
			t.Fatalf("seed %d: signals are left", seed)
		}
	}
}

func TestPidfd(t *testing.T) {
	d, a, _ := newProcess(t)
	b, mb := d.Fork(a, kernel.CloneArgs{Flags: uint64(unix.SIGCHLD)})
	mb.Mask = signal.SetOf(10, 12, 14, 15)
	fd := d.Must(a, unix.SYS_PIDFD_OPEN, uint64(b.TID), 0)
	want(t, "no such process", d.Must(a, unix.SYS_PIDFD_OPEN, 4000, 0), errno(unix.ESRCH))
	want(t, "bad flags", d.Must(a, unix.SYS_PIDFD_OPEN, uint64(b.TID), 1), errno(unix.EINVAL))
	want(t, "send", d.Must(a, unix.SYS_PIDFD_SEND_SIGNAL, uint64(fd), 10, 0, 0), 0)
	if !b.PendingSignals().Has(10) {
		t.Error("not sent")
	}
	scoped := func(sig, scope int) int64 {
		return d.Must(a, unix.SYS_PIDFD_SEND_SIGNAL, uint64(fd), uint64(sig), 0, uint64(scope))
	}
	want(t, "to the thread", scoped(12, pidfdThread), 0)
	want(t, "to the process", scoped(14, pidfdThreadGroup), 0)
	if own, all := signal.Pending(b.Pending), b.PendingSignals(); !own.Has(12) || own.Has(14) || !all.Has(14) {
		t.Errorf("the thread has %v, with its process %v", own, all)
	}
	want(t, "it leads no group", scoped(0, pidfdProcessGroup), errno(unix.ESRCH))
	want(t, "two scopes", scoped(0, pidfdThread|pidfdThreadGroup), errno(unix.EINVAL))
	want(t, "no scope", scoped(0, 8), errno(unix.EINVAL))
	d.Must(b, unix.SYS_SETPGID, 0, 0)
	want(t, "to the group", scoped(15, pidfdProcessGroup), 0)
	dir := func(path string) uint64 {
		fd, _ := a.NewFD(&procfs.Dir{Path: path}, 0)
		return uint64(fd)
	}
	own := fmt.Sprintf("/proc/%d", b.TID)
	want(t, "by its directory", d.Must(a, unix.SYS_PIDFD_SEND_SIGNAL, dir(own), 0, 0, 0), 0)
	want(t, "another directory", d.Must(a, unix.SYS_PIDFD_SEND_SIGNAL, dir(own+"/fd"), 0, 0, 0), errno(unix.EBADF))
	want(t, "not a pidfd", d.Must(a, unix.SYS_PIDFD_SEND_SIGNAL, 77, 10, 0, 0), errno(unix.EBADF))
	putPoll(a, uint64(fd), unix.POLLIN)
	d.Waits(a, unix.SYS_POLL, setAt, 1, ^uint64(0))
	b.Proc.Exit(0, 0, false)
	d.Settle()
	want(t, "poll", d.Done(a), 1)
	want(t, "waitid", d.Must(a, unix.SYS_WAITID, unix.P_PIDFD, uint64(fd), bufAt, unix.WEXITED, 0), 0)
	want(t, "gone", d.Must(a, unix.SYS_PIDFD_SEND_SIGNAL, uint64(fd), 0, 0, 0), errno(unix.ESRCH))
}
