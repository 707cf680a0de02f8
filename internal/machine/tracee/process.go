//go:build linux

package tracee

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Process is what the threads of a traced process share. The numbers of processes go
// round within seconds, so one that was waited for may be somebody else's: a process is
// signalled by a descriptor, which is opened before.
type Process struct {
	pid   int
	pidfd int // or -1
	gone  bool
}

func newProcess(pid int) *Process { return &Process{pid: pid, pidfd: -1} }

// Process is the thread's.
func (t *Thread) Process() *Process { return t.proc }

// PID is the real process id: the process's own as long as it is not Gone.
func (p *Process) PID() int { return p.pid }

// Open opens the descriptor, which stays open until Kill.
func (p *Process) Open() (int, error) {
	if p.gone {
		return -1, unix.ESRCH
	}
	if p.pidfd < 0 {
		fd, err := unix.PidfdOpen(p.pid, 0)
		if err != nil {
			return -1, fmt.Errorf("pidfd_open %d: %w", p.pid, err)
		}
		p.pidfd = fd
	}
	return p.pidfd, nil
}

// Signal sends sig to the process, which is open. It may be called by other threads
// than the executor as long as the process is not killed.
func (p *Process) Signal(sig unix.Signal) error { return unix.PidfdSendSignal(p.pidfd, sig, nil, 0) }

// HostFD returns a duplicate, for the supervisor to use and close, of the process's
// descriptor fd.
func (t *Thread) HostFD(fd int) (int, error) {
	pidfd, err := t.proc.Open()
	if err != nil {
		return -1, err
	}
	return unix.PidfdGetfd(pidfd, fd, 0)
}

// Kill ends the process whose threads these are, and waits until they are gone.
func Kill(threads []*Thread) error {
	if len(threads) == 0 {
		return nil
	}
	p := threads[0].proc
	if !p.gone {
		if _, err := p.Open(); err != nil {
			return err
		}
		if err := p.Signal(unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("kill %d: %w", p.pid, err)
		}
		for _, t := range threads {
			if t.TID != p.pid {
				t.Reap()
			}
		}
		waitEnd(p.pid) // the leader is reported last
		p.gone = true
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
	return nil
}

// Reap waits for the end of a thread that is about to end.
func (t *Thread) Reap() {
	if !t.gone {
		waitEnd(t.TID)
		t.gone = true
	}
}

func waitEnd(tid int) {
	for {
		var ws unix.WaitStatus
		if _, err := wait4(tid, &ws); err != nil || ws.Exited() || ws.Signaled() {
			return // an error is ECHILD: its process is gone
		}
	}
}

// ended notes that a stop is the end of t.
func (t *Thread) ended() {
	t.gone = true
	if t.TID == t.PID {
		t.proc.gone = true
	}
}

// Gone reports whether the thread has ended. One that was just killed may still be
// about to.
func (t *Thread) Gone() bool {
	for range 10 {
		if t.gone || t.proc.gone {
			return true
		}
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, t.TID, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
		if err == nil && info.Signo != 0 || errors.Is(err, unix.ECHILD) {
			return true
		}
		if !t.dying() {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// dying reports whether the thread does not stand where it was stopped.
func (t *Thread) dying() bool {
	var regs unix.PtraceRegs
	return unix.PtraceGetRegs(t.TID, &regs) != nil
}

// WaitExec waits for what comes of an exec of t, whose process has other threads too:
// they end on the way. It is the executor's only wait for several threads at once.
func (t *Thread) WaitExec(others []*Thread) (Stop, error) {
	const noThread = 0x20000000 // __WNOTHREAD: other executors wait for theirs
	for {
		for _, o := range append([]*Thread{t}, others...) {
			if o.gone {
				continue
			}
			s, ok, err := o.poll(o.TID)
			if err != nil {
				return s, err
			}
			if ok && o == t {
				return s, nil
			}
		}
		if t.TID != t.PID { // it takes the number of its process
			s, ok, err := t.poll(t.PID)
			if err != nil || ok && (s.Kind == ExecEvent || s.Kind == Exited) {
				return s, err
			}
		}
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|noThread, nil)
		if err != nil && err != unix.EINTR {
			return Stop{}, fmt.Errorf("wait for an exec of %d: %w", t.TID, err)
		}
		// What there is may be the end of a process that was killed from outside: its own
		// time to be waited for will come.
		time.Sleep(50 * time.Microsecond)
	}
}

// poll is wait for a stop that there is already.
func (t *Thread) poll(tid int) (s Stop, ok bool, err error) {
	var ws unix.WaitStatus
	pid, err := unix.Wait4(tid, &ws, unix.WALL|unix.WNOHANG, nil)
	switch {
	case err == unix.ECHILD || err == unix.EINTR || err == nil && pid == 0:
		return s, false, nil
	case err != nil:
		return s, false, fmt.Errorf("wait for tracee %d: %w", tid, err)
	}
	s, err = t.stopped(tid, ws)
	return s, true, err
}
