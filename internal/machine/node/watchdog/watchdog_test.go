//go:build linux

package watchdog

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// spinner starts a shell that makes no call, under ptrace.
func spinner(t *testing.T) *tracee.Thread {
	t.Helper()
	runtime.LockOSThread()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "while :; do :; done"},
		&syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		t.Skipf("needs sh and ptrace: %v", err)
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
		t.Fatalf("%v, status %#x", err, ws)
	}
	th, err := tracee.Attach(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tracee.Kill([]*tracee.Thread{th}); err != nil {
			t.Error(err)
		}
		th.Release()
	})
	return th
}

// runUntilStopped lets a thread go on until the watchdog stops it.
func runUntilStopped(t *testing.T, w *Watchdog, th *tracee.Thread, others bool) {
	t.Helper()
	if err := w.Running(th.Process(), others); err != nil {
		t.Fatal(err)
	}
	if err := th.Continue(0); err != nil {
		t.Fatal(err)
	}
	s, err := th.Wait()
	if err != nil || s.Signal != unix.SIGSTOP {
		t.Fatalf("stop %+v, %v", s, err)
	}
	w.Stopped()
}

// TestLimit: a thread that makes no call is stopped when its step has used up the limit.
func TestLimit(t *testing.T) {
	th := spinner(t)
	w := Start(100*time.Millisecond, 1<<40, func() bool { return false })
	defer w.Stop()
	w.Begin()
	if w.Expired() {
		t.Error("a step that begins has used up its limit")
	}
	runUntilStopped(t, w, th, false)
	if !w.Expired() {
		t.Error("the thread was stopped, and the step has time left")
	}
	w.End()
	w.Begin()
	if w.Expired() {
		t.Error("the next step has no time left")
	}
	w.End()
}

// TestPreempt: a thread that spins while another could run is stopped before the limit of the step,
// and sooner after a first one was.
func TestPreempt(t *testing.T) {
	th := spinner(t)
	w := Start(time.Hour, 1<<40, func() bool { return false })
	defer w.Stop()
	w.Begin()
	if p := w.Patience(); p != spinLimit {
		t.Errorf("patience of %v at first", p)
	}
	w.Hurry()
	if p := w.Patience(); p >= spinLimit {
		t.Errorf("patience of %v after a thread has spun", p)
	}
	runUntilStopped(t, w, th, true)
	if w.Expired() {
		t.Error("the step has used up an hour")
	}
	w.End()
}

// TestInterrupted: a step that somebody ends is over.
func TestInterrupted(t *testing.T) {
	th := spinner(t)
	w := Start(time.Hour, 1<<40, func() bool { return true })
	defer w.Stop()
	w.Begin()
	runUntilStopped(t, w, th, false)
	if !w.Expired() {
		t.Error("the step goes on")
	}
	w.End()
}

// TestSwollen: a process that has more memory than its node is killed.
func TestSwollen(t *testing.T) {
	th := spinner(t)
	w := Start(time.Hour, 1<<10, func() bool { return false })
	defer w.Stop()
	w.Begin()
	if err := w.Running(th.Process(), false); err != nil {
		t.Fatal(err)
	}
	if err := th.Continue(0); err != nil {
		t.Fatal(err)
	}
	for { // the end may be reported as one stop or two
		s, err := th.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if th.Gone() {
			break
		}
		if err := th.Continue(s.Signal); err != nil {
			break
		}
	}
	if why := w.Swollen(); !strings.Contains(why, "memory: in the spec") {
		t.Errorf("why: %q", why)
	}
	w.End()
}

// TestGauge: objects are weighed when as much was allocated as they may still grow.
func TestGauge(t *testing.T) {
	var w Watchdog
	w.Weighed(1 << 40)
	w.held.shared = 1 << 62 // whatever else the host shares
	hold := make([]byte, 8<<20)
	if w.held.full(1 << 20) {
		t.Error("8 MiB fill a terabyte")
	}
	w.Weighed(1 << 20)
	w.held.shared = 1 << 62
	more := make([]byte, 8<<20)
	if !w.held.full(1 << 20) {
		t.Error("8 MiB do not fill one")
	}
	runtime.KeepAlive(hold)
	runtime.KeepAlive(more)
}

// TestOwnMemory: memory that a process touches counts, and files do not.
func TestOwnMemory(t *testing.T) {
	before := ownMemory(os.Getpid())
	b, err := unix.Mmap(-1, 0, 64<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if grown := ownMemory(os.Getpid()) - before; grown < 60<<20 || grown > 128<<20 {
		t.Errorf("64 MiB were touched, and %d MiB counted", grown>>20)
	}
	if n := ownMemory(1 << 30); n != 0 {
		t.Errorf("%d bytes of no process", n)
	}
}

// TestRunnable: a process that waits is not runnable, one that computes is.
func TestRunnable(t *testing.T) {
	if !runnable(os.Getpid()) {
		t.Error("this process does not run")
	}
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	defer c.Wait()
	defer in.Close()
	in.Write([]byte("x"))
	out.Read(make([]byte, 1)) // it has written, and goes to its next read
	for begin := time.Now(); runnable(c.Process.Pid); {
		if time.Since(begin) > time.Minute {
			t.Fatal("a process that reads from an empty pipe is runnable")
		}
		runtime.Gosched()
	}
}
