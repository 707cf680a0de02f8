//go:build linux

package node

import (
	"testing"

	"ariadne/internal/kernel"
	"ariadne/internal/kernel/net/tcp"
	"ariadne/internal/kernel/timerfd"
)

// TestTimerNames: names of timers are part of outputs, and so of digests in traces.
func TestTimerNames(t *testing.T) {
	for want, e := range map[string]kernel.Expirer{"TCP": &tcp.Socket{}, "TimerFD": &timerfd.File{}} {
		if got := timerName(&kernel.Timer{Exp: e}); got != want {
			t.Errorf("%T is %q, want %q", e, got, want)
		}
	}
}
