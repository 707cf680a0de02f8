// Package native has programs that run on this machine itself, outside the emulated kernel: it
// finds them or starts them, reads the lines that they write, and sees them end. It changes nothing
// of what they do.
//
// Nodes of a spec can be started natively, each in namespaces of its own, with the addresses and
// names that the spec gives them. Nothing of that is left when they have ended.
//
// Read next: lines.go, process.go, start.go; internal/system/native/probe reads values inside of
// programs; internal/use/watch uses both.
package native

import (
	"time"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

// Now is the time of the clock that kernel probes use, too (CLOCK_MONOTONIC), in ns since the
// machine was switched on.
func Now() ariadne.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // it is there on every Linux
	}
	return ariadne.Time(t.Nano())
}

// Since is how long ago a time of Now was.
func Since(t ariadne.Time) time.Duration { return time.Duration(Now() - t) }
