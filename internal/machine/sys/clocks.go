package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// What the clocks of a node show.

// clockBase returns what clock shows at the node's time 0; not ok for clocks
// that do not run with the node's time.
func clockBase(n *kernel.Node, clock int) (base ariadne.Time, ok bool) {
	switch clock {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_REALTIME_ALARM:
		return ariadne.Time(n.RealBase), true
	case unix.CLOCK_TAI:
		return ariadne.Time(n.RealBase + int64(n.NTP.TAI)*1e9), true
	case unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_MONOTONIC_COARSE, unix.CLOCK_BOOTTIME, unix.CLOCK_BOOTTIME_ALARM:
		return ariadne.Time(n.MonoBase), true
	}
	return 0, false
}

// isReal reports whether who sets CLOCK_REALTIME sets this clock.
func isReal(clock int) bool {
	switch clock {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_TAI:
		return true
	}
	return false
}

// readClock returns a clock's time; EINVAL when there is no such clock.
func readClock(t *kernel.Thread, clock int) (ariadne.Time, kernel.Errno) {
	if base, ok := clockBase(t.Node(), clock); ok {
		return base + t.Node().Now, 0
	}
	p, x, e := cpuClock(t, clock)
	switch {
	case e != 0:
		return 0, e
	case x != nil:
		return x.CPUTime, 0
	}
	return p.CPU(), 0
}

// tellClock returns a clock's time to a program, which learns by it what time it is. Processor time
// does not tell that: it is the same whenever the step happens.
func tellClock(t *kernel.Thread, clock int) (ariadne.Time, kernel.Errno) {
	now, e := readClock(t, clock)
	if _, ok := clockBase(t.Node(), clock); ok {
		t.Node().TellTime()
	}
	return now, e
}

// cpuClock returns whose processor time a clock shows: a process's or a
// thread's. Negative clocks name them by id (clock_getcpuclockid(3)).
func cpuClock(t *kernel.Thread, clock int) (*kernel.Process, *kernel.Thread, kernel.Errno) {
	switch {
	case clock == unix.CLOCK_PROCESS_CPUTIME_ID:
		return t.Proc, nil, 0
	case clock == unix.CLOCK_THREAD_CPUTIME_ID:
		return nil, t, 0
	case clock >= 0 || clock&3 == 3:
		return nil, nil, unix.EINVAL
	}
	id := ^(clock >> 3)
	if clock&4 != 0 {
		x, e := threadByID(t, uint64(id))
		if e != 0 || x.Proc != t.Proc {
			return nil, nil, unix.EINVAL
		}
		return nil, x, 0
	}
	if id == 0 {
		return t.Proc, nil, 0
	}
	if p := t.Node().Procs[id]; p != nil {
		return p, nil, 0
	}
	return nil, nil, unix.EINVAL
}

// nodeTime converts an absolute time of a clock to the node's time.
func nodeTime(t *kernel.Thread, clock int, at ariadne.Time) ariadne.Time {
	now, e := readClock(t, clock)
	if e != 0 {
		return at
	}
	return t.Node().Now + (at - now)
}

// setDeadlineOn gives the call the absolute deadline at, ns on a clock.
func setDeadlineOn(t *kernel.Thread, clock int, at ariadne.Time) {
	if at != ariadne.Never && !t.Wait.HasDeadline {
		t.SetDeadline(nodeTime(t, clock, at))
		t.Wait.Absolute = true
		t.Wait.Real = isReal(clock)
	}
}
