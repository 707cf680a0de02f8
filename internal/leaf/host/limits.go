//go:build linux

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Limited returns why err is a limit of the host's: which one, and what to do. Otherwise
// it returns "". The error must be one of Ariadne's own doings, which ask for nothing
// that a machine with room would not give.
func Limited(err error) string {
	var e unix.Errno
	if !errors.As(err, &e) {
		return ""
	}
	switch e {
	case unix.EMFILE:
		return fmt.Sprintf("Ariadne may have %s files open: raise ulimit -n", rlimit(unix.RLIMIT_NOFILE))
	case unix.ENFILE:
		return "all programs of the host together have too many files open: raise /proc/sys/fs/file-max"
	case unix.ENOSPC:
		return "there is no room for it on the host: " + room(err)
	case unix.EDQUOT:
		return "the disk quota is used up: " + room(err)
	case unix.EFBIG:
		return fmt.Sprintf("Ariadne may write files of %s bytes: raise ulimit -f", rlimit(unix.RLIMIT_FSIZE))
	case unix.EAGAIN:
		return "the host lets Ariadne start no more processes and threads: " + tasksLimit()
	case unix.ENOMEM:
		return "the host gives no more memory: close other programs, or let Ariadne have less (--memory, --workers)"
	}
	return ""
}

// room says where there is none.
func room(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return "make some in " + filepath.Dir(p.Path)
	}
	return "make some in its file systems, or raise /proc/sys/user/max_*_namespaces"
}

func rlimit(what int) string {
	var l unix.Rlimit
	if unix.Getrlimit(what, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return "so many"
	}
	return fmt.Sprint(l.Cur)
}

// Unlimited is more processes than any machine has.
const Unlimited = 1 << 30

// Tasks is how many more processes and threads Ariadne and what it starts may make, and
// the limit that says so, with what to do about it.
func Tasks() (left int, limit string) {
	left, limit = find("/", "pids").tasks()
	// Root has no such limit.
	var l unix.Rlimit
	if os.Getuid() != 0 && unix.Getrlimit(unix.RLIMIT_NPROC, &l) == nil && l.Cur < Unlimited {
		if rest := int(l.Cur) - tasksOf(os.Getuid()); rest < left {
			left, limit = rest, fmt.Sprintf("raise ulimit -u (%d)", l.Cur)
		}
	}
	return left, limit
}

func tasksLimit() string {
	if _, limit := Tasks(); limit != "" {
		return limit
	}
	return "raise /proc/sys/kernel/threads-max, pid_max, or pids.max of its control group"
}

func (f *finder) tasks() (left int, limit string) {
	left = Unlimited
	for _, g := range f.dirs {
		most := int(number(filepath.Join(g.dir, "pids.max"))) // "max" is 0
		if rest := most - int(number(filepath.Join(g.dir, "pids.current"))); most > 0 && rest < left {
			left, limit = rest, fmt.Sprintf("raise pids.max (%d) in %s", most, g.dir)
		}
	}
	return left, limit
}

// tasksOf counts the processes and threads of a user.
func tasksOf(uid int) (n int) {
	list, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range list {
		b, _ := os.ReadFile(name)
		if field(b, "Uid:") == int64(uid) {
			n += int(field(b, "Threads:"))
		}
	}
	return n
}
