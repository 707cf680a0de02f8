package sys

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Times in the memory of a program.

// readTimespec reads a duration or time in ns; what exceeds the clock's range
// becomes ariadne.Never.
func readTimespec(t *kernel.Thread, addr uint64) (ariadne.Time, kernel.Errno) {
	b, e := readBytes(t, addr, 16)
	if e != 0 {
		return 0, e
	}
	return asTime(int64(le.Uint64(b)), int64(le.Uint64(b[8:])))
}

// readTimeval reads a struct timeval likewise.
func readTimeval(t *kernel.Thread, addr uint64) (ariadne.Time, kernel.Errno) {
	b, e := readBytes(t, addr, 16)
	if e != 0 {
		return 0, e
	}
	usec := int64(le.Uint64(b[8:]))
	if usec < 0 || usec >= 1e6 {
		return 0, unix.EINVAL
	}
	return asTime(int64(le.Uint64(b)), usec*1000)
}

func asTime(sec, nsec int64) (ariadne.Time, kernel.Errno) {
	switch {
	case sec < 0 || nsec < 0 || nsec >= 1e9:
		return 0, unix.EINVAL
	case sec > int64(ariadne.Never)/2/1e9:
		return ariadne.Never, 0
	}
	return ariadne.Time(sec*1e9 + nsec), 0
}

// appendTimespec and appendTimeval lay out a time.
func appendTimespec(b []byte, at ariadne.Time) []byte {
	return le.AppendUint64(le.AppendUint64(b, uint64(at/1e9)), uint64(at%1e9))
}

func appendTimeval(b []byte, at ariadne.Time) []byte {
	return le.AppendUint64(le.AppendUint64(b, uint64(at/1e9)), uint64(at%1e9/1e3))
}

// seconds tells a program when something was used last, as the ds structures have it: 0 for never.
func seconds(n *kernel.Node, ns int64) uint64 {
	n.TellStamp(ns)
	return uint64(ns / 1e9)
}

var bothNow = [2]unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}

// readTimes reads access and modification time; unit is that of the second
// field, in ns.
func readTimes(t *kernel.Thread, addr uint64, unit int64) (v [2]unix.Timespec, e kernel.Errno) {
	if addr == 0 {
		return bothNow, 0
	}
	b, e := readBytes(t, addr, 32)
	if e != 0 {
		return v, e
	}
	for i := range v {
		v[i] = unix.Timespec{Sec: int64(le.Uint64(b[16*i:])), Nsec: int64(le.Uint64(b[16*i+8:])) * unit}
	}
	return v, 0
}

// changesNoTime: utimensat is told to leave both times, and does not even look at the path.
func changesNoTime(t *kernel.Thread) bool {
	v, e := readTimes(t, t.Call.Args[2], 1)
	return e == 0 && v[0].Nsec == unix.UTIME_OMIT && v[1].Nsec == unix.UTIME_OMIT
}
