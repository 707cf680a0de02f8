package itimer

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// masked is a thread's machine that knows its signal mask.
type masked struct {
	kernel.Tracee
	mask signal.Set
}

func (m *masked) SigMask() signal.Set     { return m.mask }
func (m *masked) SetSigMask(s signal.Set) { m.mask = s }

// process is one whose only thread blocks all signals, so that they stay pending.
func process() (*kernel.Node, *kernel.Process, *kernel.Thread) {
	n := kernel.NewNode(0, "n0", 1)
	p, t := n.NewProcess(nil)
	t.M = &masked{mask: ^signal.Set(0)}
	return n, p, t
}

// at moves the node's clock and fires what is due on the way.
func at(n *kernel.Node, when ariadne.Time) {
	for tm := n.NextTimer(true); tm != nil && tm.When <= when; tm = n.NextTimer(true) {
		n.Now = tm.When
		n.FireTimer(tm)
	}
	n.Now = when
}

// take takes a signal off the queues.
func take(th *kernel.Thread, signo unix.Signal) (signal.Info, bool) {
	return th.TakeSignal(signal.SetOf(int(signo)))
}

// TestOneShot: a timer without an interval sends its signal once, and is disarmed then.
func TestOneShot(t *testing.T) {
	n, p, th := process()
	it := Interval(p, Real)
	if it.Left() != 0 {
		t.Errorf("%v left before it is set", it.Left())
	}
	it.Set(100, true, 0)
	at(n, 99)
	if _, ok := take(th, unix.SIGALRM); ok || it.Left() != 1 {
		t.Errorf("a signal before its time (%v), or %v left of 1", ok, it.Left())
	}
	at(n, 100)
	if info, ok := take(th, unix.SIGALRM); !ok || info.Code != signal.SIKernel || it.Left() != 0 {
		t.Errorf("%+v, %v, left %v", info, ok, it.Left())
	}
	at(n, 1000)
	if _, ok := take(th, unix.SIGALRM); ok || n.NextTimer(true) != nil {
		t.Error("it goes on")
	}
	it.Set(1100, true, 0)
	it.Set(0, false, 0)
	at(n, 2000)
	if _, ok := take(th, unix.SIGALRM); ok || it.Left() != 0 {
		t.Error("it was disarmed, and sends")
	}
}

// TestPeriodic: a timer with an interval is set for its next expiration when its signal is taken,
// and counts those that it missed, as timer_getoverrun(2) has it.
func TestPeriodic(t *testing.T) {
	n, p, th := process()
	it := New(p, unix.CLOCK_MONOTONIC, int(unix.SIGUSR1), nil, 42)
	it.Set(100, true, 10)
	at(n, 135)
	if next := n.NextTimer(true); next != nil {
		t.Errorf("it is set for %v while its signal is out", next.When)
	}
	if it.Left() != 5 {
		t.Errorf("%v left of 5", it.Left())
	}
	info, ok := take(th, unix.SIGUSR1)
	if !ok || info.Code != signal.SITimer || info.Value != 42 || info.Overrun != 3 || it.Overrun != 3 {
		t.Errorf("%+v, %v, overrun %d", info, ok, it.Overrun)
	}
	if next := n.NextTimer(true); next == nil || next.When != 140 {
		t.Errorf("next %+v, want 140", next)
	}
	at(n, 140)
	if info, ok := take(th, unix.SIGUSR1); !ok || info.Overrun != 0 {
		t.Errorf("in time: %+v, %v", info, ok)
	}
}

// TestStaleSignals: a signal of a timer that was set again or deleted since is not delivered.
func TestStaleSignals(t *testing.T) {
	n, p, th := process()
	it := New(p, unix.CLOCK_MONOTONIC, int(unix.SIGUSR1), nil, 0)
	it.Set(100, true, 0)
	at(n, 100)
	it.Set(300, true, 0)
	if info, ok := take(th, unix.SIGUSR1); ok {
		t.Errorf("set again: %+v", info)
	}
	at(n, 300)
	if _, ok := take(th, unix.SIGUSR1); !ok {
		t.Error("no signal of what it was set for")
	}
	it.Set(400, true, 0)
	at(n, 400)
	Drop(p, it)
	if info, ok := take(th, unix.SIGUSR1); ok || Posix(p, it.ID) != nil {
		t.Errorf("deleted: %+v", info)
	}
	if again := New(p, unix.CLOCK_MONOTONIC, int(unix.SIGUSR1), nil, 0); again.ID != it.ID+1 {
		t.Errorf("id %d is used again", again.ID)
	}
}

// TestTarget: with SIGEV_THREAD_ID the thread gets the signal and not the process; with SIGEV_NONE
// nobody does, and the time left is told all the same.
func TestTarget(t *testing.T) {
	n, p, th := process()
	New(p, unix.CLOCK_MONOTONIC, int(unix.SIGUSR1), th, 0).Set(10, true, 0)
	at(n, 10)
	if len(th.Pending) != 1 || len(p.Pending) != 0 {
		t.Errorf("pending: thread %v, process %v", th.Pending, p.Pending)
	}
	none := New(p, unix.CLOCK_MONOTONIC, 0, nil, 0)
	none.Set(100, true, 30)
	if n.NextTimer(true) != nil {
		t.Error("a timer that tells nobody wakes the node")
	}
	n.Now = 145
	if none.Left() != 15 {
		t.Errorf("%v left of 15", none.Left())
	}
}

// TestProcessorTime: a timer of processor time expires when so much was used, by whichever thread
// it counts, and is none of the node's.
func TestProcessorTime(t *testing.T) {
	n, p, th := process()
	other := p.NewThread()
	other.M = th.M
	prof, own := Interval(p, Prof), New(p, unix.CLOCK_THREAD_CPUTIME_ID, int(unix.SIGUSR1), nil, 0)
	own.Of = kernel.CPUClock{Proc: p, Thread: th}
	prof.Set(100, true, 10)
	own.Set(100, true, 0)
	at(n, 1000)
	if _, ok := take(th, unix.SIGPROF); ok || n.NextTimer(true) != nil || prof.Left() != 100 {
		t.Errorf("it expires while nobody works (%v), or %v left of 100", ok, prof.Left())
	}
	if left := th.CPULeft(); left != 100 {
		t.Errorf("the thread may use %v until one expires, want 100", left)
	}
	other.CPUTime = 125
	other.ExpireCPU()
	if _, ok := take(th, unix.SIGPROF); !ok || prof.Left() != 5 {
		t.Errorf("no signal (%v), or %v left of 5", ok, prof.Left())
	}
	if _, ok := take(th, unix.SIGUSR1); ok || own.Left() != 100 {
		t.Errorf("another thread's time counts (%v), or %v left of 100", ok, own.Left())
	}
	prof.Set(0, false, 0)
	th.CPUTime = 100
	th.ExpireCPU()
	if _, ok := take(th, unix.SIGUSR1); !ok || own.Left() != 0 || th.CPULeft() != ariadne.Never {
		t.Errorf("no signal (%v), %v left, %v until the next", ok, own.Left(), th.CPULeft())
	}
}
