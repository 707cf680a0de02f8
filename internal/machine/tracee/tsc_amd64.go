package tracee

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanTrapTSC reports whether reads of the time stamp counter (rdtsc) can be trapped here. Under
// some hypervisors prctl says that they are, and the processor reads on: so one is executed, once,
// by a process that does nothing else. err: that could not be tried. Tests replace it.
var CanTrapTSC = sync.OnceValues(func() (can bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // a tracee has one tracer, and is a child of this thread
		defer runtime.UnlockOSThread()
		can, err = tryTSC()
	}()
	<-done
	return can, err
})

// tryTSC has a process that stands at the beginning of a program execute code of ours.
func tryTSC() (trapped bool, err error) {
	c := exec.Command("/proc/self/exe")
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return false, err
	}
	defer func() {
		c.Process.Kill()
		c.Wait() // tells of the kill, which is no news
	}()
	pid := c.Process.Pid
	var regs unix.PtraceRegs
	var ws unix.WaitStatus
	wait := func(doing string, err error) error {
		if err == nil {
			_, err = wait4(pid, &ws)
		}
		if err == nil && !ws.Stopped() {
			err = fmt.Errorf("it has ended (%#x)", int(ws))
		}
		if err != nil {
			return fmt.Errorf("trap rdtsc in a process: %s: %w", doing, err)
		}
		return nil
	}
	if err := wait("start it", nil); err != nil {
		return false, err
	}
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return false, err
	}
	code := []byte{
		0x0f, 0x05, // syscall
		0x0f, 0x31, // rdtsc
		0xcc, // int3
	}
	if _, err := unix.PtracePokeText(pid, uintptr(regs.Rip), code); err != nil {
		return false, err
	}
	regs.Orig_rax = ^uint64(0)
	regs.Rax, regs.Rdi, regs.Rsi = unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV
	if err := unix.PtraceSetRegs(pid, &regs); err != nil {
		return false, err
	}
	if err := wait("run it", unix.PtraceCont(pid, 0)); err != nil {
		return false, err
	}
	return ws.StopSignal() == unix.SIGSEGV, nil
}
