//go:build linux

package stack

import (
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelLog reads what the kernel says of a file system that cannot be mounted: mount itself gives
// a number only. The log is that of the machine, so others write to it at the same time.
type kernelLog struct {
	fd int // of /dev/kmsg, or 0 where it cannot be read
}

// open begins to read the log, if this process may.
func (l *kernelLog) open() {
	if fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
		l.fd = fd
	}
}

// skip leaves out what the log has now.
func (l *kernelLog) skip() {
	if l.fd > 0 {
		unix.Seek(l.fd, 0, unix.SEEK_END)
	}
}

// mostComplaints is how many lines of the log are shown.
const mostComplaints = 2

// warning is the least urgent level of lines that are shown (syslog(2)).
const warning = 4

// complaints are the first warnings and errors about a file system since skip: those that name its
// device, or the file system and no device.
func (l *kernelLog) complaints(kind, device string) string {
	if l.fd == 0 {
		return ""
	}
	device = filepath.Base(device)
	var lines []string
	record := make([]byte, 8<<10) // the kernel's own are shorter
	for len(lines) < mostComplaints {
		n, err := unix.Read(l.fd, record)
		if err == unix.EPIPE { // some were overwritten
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		// LEVEL,NUMBER,TIME,FLAGS;TEXT, and more lines
		head, text, _ := strings.Cut(string(record[:n]), ";")
		text, _, _ = strings.Cut(text, "\n")
		priority, err := strconv.Atoi(head[:max(strings.IndexByte(head, ','), 0)])
		if err == nil && priority&7 <= warning && concerns(text, kind, device) {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// concerns reports whether a line of the log is about a device, or about all file systems of a
// kind.
func concerns(text, kind, device string) bool {
	if _, rest, ok := strings.Cut(text, device); ok {
		return rest == "" || rest[0] < '0' || rest[0] > '9' // not of loop10 for loop1
	}
	return strings.HasPrefix(strings.ToLower(text), kind) && !strings.Contains(text, "loop")
}
