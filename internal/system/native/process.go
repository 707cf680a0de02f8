package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

// Process is one that runs on this machine.
type Process struct {
	PID int
	fd  int // of the process itself, so that another one with its id is not taken for it
}

// Attach returns a process that runs, by its id.
func Attach(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("there is no process %d", pid)
	} else if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return &Process{PID: pid, fd: fd}, nil
}

// Descriptor can be read when the process has ended.
func (p *Process) Descriptor() int { return p.fd }

// Began is a time of Now before which the process was not begun, some 10 ms too early, or more
// where the machine was suspended; 0: it has ended.
func (p *Process) Began() ariadne.Time {
	ticks, ok := started(p.PID)
	if !ok {
		return 0
	}
	// The kernel counts the time for which the machine was suspended, too. Now is asked first: what
	// comes between makes the result earlier.
	now := Now()
	var boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return 0
	}
	const tick = time.Second / 100 // whatever the kernel's own tick is (proc_pid_stat(5), time(7))
	return ariadne.Time(ticks)*ariadne.Time(tick) - (ariadne.Time(boot.Nano()) - now)
}

// IsThere reports whether a process has an id and has not ended.
func IsThere(pid int) bool { return isLiving(fmt.Sprintf("/proc/%d/stat", pid)) }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}

// Kill sends SIGKILL to the process.
func (p *Process) Kill() error { return unix.PidfdSendSignal(p.fd, unix.SIGKILL, nil, 0) }

// Close forgets the process, and leaves it as it is.
func (p *Process) Close() error { return unix.Close(p.fd) }

// Program returns a path by which the process's program can be read, whatever file tree it sees.
func (p *Process) Program() string { return fmt.Sprintf("/proc/%d/exe", p.PID) }

// Descendants are the ids of a process and of those that it or they have started.
func Descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all) && len(all) < 1000; i++ {
		// the pattern is right
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil {
				continue // it has ended
			}
			for _, word := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(word); err == nil && !slices.Contains(all, child) {
					all = append(all, child)
				}
			}
		}
	}
	return all
}

// Living returns a thread of a process that has not ended, by which its program and memory are
// found: the first thread may have ended before the others. ok: there is one.
func Living(pid int) (tid int, ok bool) {
	if isLiving(fmt.Sprintf("/proc/%d/stat", pid)) {
		return pid, true
	}
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // it may have ended
	for _, e := range entries {
		if isLiving(fmt.Sprintf("/proc/%d/task/%s/stat", pid, e.Name())) {
			tid, err := strconv.Atoi(e.Name())
			return tid, err == nil
		}
	}
	return 0, false
}

// isLiving reports whether a thread has not ended. path is that of its state (proc_pid_stat(5)).
func isLiving(path string) bool {
	b, _ := os.ReadFile(path) // it may have ended
	i := bytes.LastIndexByte(b, ')')
	return i >= 0 && i+2 < len(b) && b[i+2] != 'Z' && b[i+2] != 'X'
}

// Programs are the ids of a process and of those that it or they have started, but for those that
// only start programs (IsStarter).
func Programs(pid int) []int {
	return slices.DeleteFunc(Descendants(pid), func(pid int) bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		first, _, _ := bytes.Cut(b, []byte{0})
		return string(first) == machineName || string(first) == keeperName
	})
}

// ReadPIDFile returns the id that a file has; 0: there is no such file, or it is empty.
func ReadPIDFile(path string) (int, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) || err == nil && len(bytes.TrimSpace(text)) == 0 {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("%s: %q is not the id of a process", path, first)
	}
	return pid, nil
}

// FindCommand returns the id of the process whose arguments, with spaces between them, match; 0:
// none does. Ariadne itself is not among them. It is an error if several match, unless one has
// started the others.
func FindCommand(x *regexp.Regexp) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(text) == 0 {
			continue // it has ended, or is a thread of the kernel
		}
		if line := strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " "); x.MatchString(line) {
			found = append(found, pid)
		}
	}
	for _, pid := range found {
		if below := Descendants(pid); !slices.ContainsFunc(found, func(o int) bool {
			return !slices.Contains(below, o)
		}) {
			return pid, nil
		}
	}
	if len(found) == 0 {
		return 0, nil
	}
	return 0, fmt.Errorf("processes %v all match %q: write a pattern that one of them matches", found, x)
}

// FindUnit returns the id of the main process of a service of systemd; 0: it does not run.
func FindUnit(ctx context.Context, unit string) (int, error) {
	out, err := exec.CommandContext(ctx, "systemctl", "show", "--property=MainPID", "--value", "--", unit).Output()
	if err != nil {
		return 0, fmt.Errorf("unit %s: systemctl: %w", unit, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return 0, fmt.Errorf("unit %s: systemctl names no process, but %q", unit, strings.TrimSpace(string(out)))
	}
	return pid, nil
}
