package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"

	"golang.org/x/sys/unix"
)

func sysTimerfdCreate(t *kernel.Thread, a Args) kernel.Result {
	clock, flags := int(int32(a[0])), int(int32(a[1]))
	switch clock {
	case unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME,
		unix.CLOCK_REALTIME_ALARM, unix.CLOCK_BOOTTIME_ALARM:
	default:
		return kernel.Fail(unix.EINVAL)
	}
	if flags&^(unix.TFD_CLOEXEC|unix.TFD_NONBLOCK) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(t.NewFD(timerfd.New(t.Node(), clock), unix.O_RDWR|flags))
}

// timerFD returns the timer behind a descriptor.
func timerFD(t *kernel.Thread, fd uint64) (*timerfd.File, kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return nil, unix.EBADF
	}
	f, ok := of.File.(*timerfd.File)
	if !ok {
		return nil, unix.EINVAL
	}
	return f, 0
}

// tfdCancelOnSet is TFD_TIMER_CANCEL_ON_SET.
const tfdCancelOnSet = 2

func sysTimerfdSettime(t *kernel.Thread, a Args) kernel.Result {
	flags := int(int32(a[1]))
	if flags&^(unix.TFD_TIMER_ABSTIME|tfdCancelOnSet) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	interval, e := readTimespec(t, a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	value, e := readTimespec(t, a[2]+16)
	if e != 0 {
		return kernel.Fail(e)
	}
	f, e := timerFD(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	left, every := f.Get()
	when, absolute := ariadne.Never, flags&unix.TFD_TIMER_ABSTIME != 0
	switch {
	case value == 0, value == ariadne.Never:
	case absolute:
		when = nodeTime(t, f.Clock, value)
	default:
		when = later(t.Node().Now, value)
	}
	if absolute && isReal(f.Clock) {
		f.SetReal(when, interval, flags&tfdCancelOnSet != 0)
	} else {
		f.Set(when, interval)
	}
	if absolute && f.Waits() {
		t.Node().TellTime() // by whether it expires at once
	}
	if value != 0 && f.Cancelled() {
		return kernel.Fail(unix.ECANCELED)
	}
	if a[3] == 0 {
		return kernel.Ret(0)
	}
	return storeTimerSetting(t, a[3], left, every)
}

func sysTimerfdGettime(t *kernel.Thread, a Args) kernel.Result {
	f, e := timerFD(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	left, every := f.Get()
	return storeTimerSetting(t, a[1], left, every)
}

// storeTimerSetting tells a program a timer's setting, as a struct itimerspec.
func storeTimerSetting(t *kernel.Thread, addr uint64, left, every ariadne.Time) kernel.Result {
	if left > 0 {
		t.Node().TellTime()
	}
	return kernel.RetOr(0, t.M.WriteMem(addr, appendTimespec(appendTimespec(nil, every), left)))
}
