package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Calls that wait: until when, with which signals, and whether they still do.

// later is now+d, saturating.
func later(now, d ariadne.Time) ariadne.Time {
	if s := now + d; s >= now {
		return s
	}
	return ariadne.Never
}

// setTimeout gives the call d from now, at its first run.
func setTimeout(t *kernel.Thread, d ariadne.Time) {
	if at := later(t.Node().Now, d); at != ariadne.Never {
		t.SetDeadline(at)
	}
}

// timedOut reports whether the call has a deadline that has come.
func timedOut(t *kernel.Thread) bool {
	return t.Wait.TimedOut || t.Wait.HasDeadline && t.Wait.Deadline <= t.Node().Now
}

// timeoutArg sets the deadline from the duration at addr, if any.
func timeoutArg(t *kernel.Thread, addr uint64,
	read func(*kernel.Thread, uint64) (ariadne.Time, kernel.Errno)) kernel.Errno {
	if addr == 0 || t.Wait.Runs > 0 {
		return 0
	}
	d, e := read(t, addr)
	if e == 0 {
		setTimeout(t, d)
	}
	return e
}

// swapMask gives the thread the signal mask at addr, if any, for the time of
// the call; the node layer puts the old one back.
func swapMask(t *kernel.Thread, addr, size uint64) kernel.Errno {
	if addr == 0 || t.Wait.Runs > 0 {
		return 0
	}
	if size != 8 {
		return unix.EINVAL
	}
	m, e := readU64(t, addr)
	if e != 0 {
		return e
	}
	t.SwapMask(signal.Set(m))
	return 0
}

// interrupted reports whether a signal will end the call if it waits.
func interrupted(t *kernel.Thread) bool { return t.Wait.Interrupted || t.HasSignal() }

// timeouts returns a file's SO_RCVTIMEO and SO_SNDTIMEO, 0 for none.
func timeouts(of *kernel.OpenFile) (rcv, snd ariadne.Time) {
	if x, ok := of.File.(kernel.Timeouter); ok {
		return x.Timeouts()
	}
	return 0, 0
}

// waitIO blocks until of changes. With a timeout, a signal always gives EINTR
// (signal(7)).
func waitIO(t *kernel.Thread, of *kernel.OpenFile, timeout ariadne.Time) kernel.Result {
	restart := kernel.RestartSA
	if timeout > 0 {
		restart = kernel.RestartNever
		t.SetDeadline(t.Node().Now + timeout)
	}
	return t.Block(restart, of.File.Changed())
}
