package kernel

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// CPUClock is whose processor time a clock shows: a process's, or that of one thread of it.
type CPUClock struct {
	Proc   *Process
	Thread *Thread // or nil: of all threads
}

// Now is how much processor time has been used.
func (c CPUClock) Now() ariadne.Time {
	if c.Thread != nil {
		return c.Thread.CPUTime
	}
	return c.Proc.CPU()
}

// CPUTimer is a pending deadline of processor time. It expires while threads run, and never while
// all of them wait. So it is no timer of the node's.
type CPUTimer struct {
	CPUClock
	When ariadne.Time
	Exp  Expirer
}

// AddCPUTimer sets a timer for when so much processor time has been used.
func (c CPUClock) AddCPUTimer(when ariadne.Time, e Expirer) *CPUTimer {
	t := &CPUTimer{c, when, e}
	c.Proc.cpuTimers = append(c.Proc.cpuTimers, t)
	return t
}

// Stop cancels t; it may have expired already.
func (t *CPUTimer) Stop() {
	t.Proc.cpuTimers = slices.DeleteFunc(t.Proc.cpuTimers, func(u *CPUTimer) bool { return u == t })
}

// HasCPUTimers reports whether any timer of p's processor time is set.
func (p *Process) HasCPUTimers() bool { return len(p.cpuTimers) > 0 }

// CPULeft is how much processor time t may use until a timer expires; ariadne.Never: there is none.
func (t *Thread) CPULeft() ariadne.Time {
	left := ariadne.Never
	for _, u := range t.Proc.cpuTimers {
		if u.Thread == nil || u.Thread == t {
			left = min(left, max(u.When-u.Now(), 0))
		}
	}
	return left
}

// ExpireCPU expires the timers of t's processor time, and of its process's, that are due.
func (t *Thread) ExpireCPU() {
	for _, u := range slices.Clone(t.Proc.cpuTimers) {
		if u.Now() >= u.When {
			u.Stop()
			u.Exp.Expire(nil)
		}
	}
}
