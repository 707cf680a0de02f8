package signal

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestInfoRoundTrip(t *testing.T) {
	for _, i := range []Info{
		{Signo: 10, Code: SIUser, PID: 5, UID: 1000},
		{Signo: 40, Code: SIQueue, PID: 5, UID: 1000, Value: 1<<63 + 7},
		{Signo: 40, Code: SITimer, TimerID: 3, Overrun: 9, Value: 8},
		{Signo: int(unix.SIGCHLD), Code: CLDKilled, PID: 6, UID: 7, Status: 9},
		{Signo: int(unix.SIGCHLD), Code: SIUser, PID: 6, UID: 7, Value: 4},
		{Signo: int(unix.SIGSEGV), Code: 1, Addr: 0xdeadbeef000},
		{Signo: int(unix.SIGIO), Code: 1, Band: unix.POLLIN, FD: 11},
		{Signo: 14, Code: SIKernel},
	} {
		b := i.Encode()
		if len(b) != InfoSize {
			t.Fatalf("%d bytes", len(b))
		}
		if got := DecodeInfo(b); got != i {
			t.Errorf("got %+v, want %+v", got, i)
		}
	}
}
