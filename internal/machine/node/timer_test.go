//go:build linux

package node

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"
)

// TestTimerNames: names of timers are part of outputs, and so of digests in traces.
func TestTimerNames(t *testing.T) {
	for want, e := range map[string]kernel.Expirer{"TCP": &tcp.Socket{}, "TimerFD": &timerfd.File{}} {
		if got := timerName(&kernel.Timer{Exp: e}); got != want {
			t.Errorf("%T is %q, want %q", e, got, want)
		}
	}
}
