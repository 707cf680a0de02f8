// Package ended waits for processes to end that are not children of the test. Only tests import it.
//
// A process that has ended may still be a zombie: whoever has adopted it may never wait for it.
package ended

import (
	"time"

	"golang.org/x/sys/unix"
)

// Within reports whether a process has ended, or ends before the time is up. It waits for the end
// itself: a descriptor of the process (pidfd_open(2)) becomes readable then.
func Within(pid int, limit time.Duration) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(fd)
	for end := time.Now().Add(limit); ; {
		left := max(time.Until(end), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left/time.Millisecond))
		if n > 0 {
			return true
		}
		if err != unix.EINTR && left < time.Millisecond {
			return false
		}
	}
}
