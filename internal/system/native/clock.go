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
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

// Now is the time of this process's CLOCK_MONOTONIC, in ns. In the machine's own time namespace it
// begins when the machine was switched on.
func Now() ariadne.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // it is there on every Linux
	}
	return ariadne.Time(t.Nano())
}

// Since is how long ago a time of Now was.
func Since(t ariadne.Time) time.Duration { return time.Duration(Now() - t) }

// FromKernel is a time of a kernel probe as Now would have told it. Probes see the clock of the
// machine, and a process that of its time namespace (time_namespaces(7)).
func FromKernel(t ariadne.Time) ariadne.Time { return t + namespaceOffset() }

// namespaceOffset is what the time namespace of this process adds to the machine's clock.
var namespaceOffset = sync.OnceValue(func() ariadne.Time {
	text, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil {
		return 0 // this kernel has no time namespaces
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "monotonic" {
			seconds, _ := strconv.ParseInt(f[1], 10, 64)
			nanos, _ := strconv.ParseInt(f[2], 10, 64)
			return ariadne.Time(seconds*1e9 + nanos)
		}
	}
	return 0
})

// ClockName names the clock of Now: where the name is the same, the times are.
func ClockName() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + " " + strconv.FormatInt(int64(namespaceOffset()), 10), nil
}

// ordinaryTick is the length of a tick of the clock that nobody adjusts, in µs (adjtimex(2)).
const ordinaryTick = 10000

// ClockRate is by how much the clock of Now may run too fast or too slowly, in ppm: what hardware
// and NTP's changes of the frequency do (500), and the change of the tick.
func ClockRate() int {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return 500
	}
	away := int(t.Tick) - ordinaryTick
	return 500 + max(away, -away)*1e6/ordinaryTick
}
