//go:build linux

package tracee

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// traced starts a program that stands before its first instruction.
func traced(t *testing.T, program string, args ...string) *Thread {
	t.Helper()
	runtime.LockOSThread() // the thread traces; it is not used for anything else
	pid, err := syscall.ForkExec(program, append([]string{program}, args...),
		&syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		t.Skipf("needs %s and ptrace: %v", program, err)
	}
	var ws unix.WaitStatus
	if _, err := wait4(pid, &ws); err != nil || !ws.Stopped() {
		t.Fatalf("%v, status %#x", err, ws)
	}
	th, err := Attach(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Kill([]*Thread{th}); err != nil {
			t.Error(err)
		}
		if !th.Gone() {
			t.Error("it is not gone")
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			t.Error("the process is there")
		}
		th.Release()
	})
	return th
}

// TestMemory: what is written to a program's memory can be read there, by both ways, up to what is
// mapped.
func TestMemory(t *testing.T) {
	th := traced(t, "/bin/true")
	want := []byte("some text that crosses nothing")
	at := th.SP() - 256
	if e := th.WriteMem(at, want); e != 0 {
		t.Fatal(e)
	}
	got := make([]byte, len(want))
	if e := th.ReadMem(at, got); e != 0 || !bytes.Equal(got, want) {
		t.Errorf("read %q, %v", got, e)
	}
	clear(got)
	if e := th.Peek(at, got); e != 0 || !bytes.Equal(got, want) {
		t.Errorf("peeked %q, %v", got, e)
	}
	if e := th.ReadMem(8, got); e != unix.EFAULT {
		t.Errorf("read at 8: %v", e)
	}
	// Code may not be written by the program, but by Ariadne.
	code := make([]byte, 4)
	if e := th.Peek(th.IP(), code); e != 0 {
		t.Fatal(e)
	}
	if e := th.WriteMem(th.IP(), code); e == 0 {
		t.Error("code was written as the program writes")
	}
	if e := th.Poke(th.IP(), code); e != 0 {
		t.Errorf("poke: %v", e)
	}
}

// TestInject: a call is made in the program, and leaves the registers as they were.
func TestInject(t *testing.T) {
	th := traced(t, "/bin/true")
	code := []byte{0x0f, 0x05} // syscall
	if e := th.Poke(th.IP(), code); e != 0 || SyscallIn(code) != 0 {
		t.Fatal(e)
	}
	th.SetCode(th.IP())
	before, at := th.Registers(), th.IP()
	restore := th.Borrow()
	for call, want := range map[int]int64{unix.SYS_GETPPID: int64(os.Getpid()), unix.SYS_GETPID: int64(th.PID),
		unix.SYS_CLOSE: -int64(unix.EBADF)} {
		if r, err := th.Inject(call, 1000); r != want || err != nil {
			t.Errorf("call %d: %d %v, want %d", call, r, err, want)
		}
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if err := th.Refresh(); err != nil {
		t.Fatal(err)
	}
	if after := th.Registers(); after != before || th.IP() != at {
		t.Errorf("registers\n%x at %#x, before\n%x at %#x", after, th.IP(), before, at)
	}
}

// TestStep: the program goes on by one instruction.
func TestStep(t *testing.T) {
	th := traced(t, "/bin/true")
	begin := th.IP()
	if err := th.Step(0); err != nil {
		t.Fatal(err)
	}
	if _, err := th.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := th.Refresh(); err != nil {
		t.Fatal(err)
	}
	if d := th.IP() - begin; d == 0 || d > 15 {
		t.Errorf("the first instruction went from %#x to %#x", begin, th.IP())
	}
}
