//go:build linux

// Package tracee controls Linux threads with ptrace: stops, registers, memory,
// injected calls. It is the only user of ptrace and knows nothing of sockets,
// nodes or search. Everything here runs on one OS thread, the executor's, which
// called Pin; a Thread belongs to the executor that started it.
//
// A thread is always in one of three positions: running, stopped at the entry of a system call
// (Linux has not run it), or stopped elsewhere with registers that may be changed freely. Code that
// injects a call leaves the registers of the original call intact: Entry is what the program had,
// and Return, Restart and Native start from it.
//
// Nothing of the program's is run for a call that is injected. A call that waits or is over
// is not read again from memory, whose bytes others may have changed: the thread goes on
// behind it. Only Restart has the program's own instruction run again, with its own registers.
//
// Read next: tracee_amd64.go (what depends on the processor), then internal/machine/node.
package tracee

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kind is why a thread stopped.
type Kind uint8

const (
	Call       Kind = iota + 1 // at the entry of a system call, by the seccomp filter
	CallExit                   // at the exit of a call run with NativeToExit, or injected
	Signal                     // about to receive Stop.Signal
	CloneEvent                 // made a child: Stop.Child
	ExecEvent                  // runs a new image
	Stepped                    // after Step
	Exited                     // gone: Stop.Status or Stop.Signal
)

func (k Kind) String() string {
	return [...]string{"?", "call", "call exit", "signal", "clone", "exec", "step", "exited"}[k]
}

// Stop is what Wait reports.
type Stop struct {
	Kind   Kind
	TID    int
	Signal unix.Signal
	Status int // exit status, or -1 when killed by Signal
	Child  int // real tid of a new child
}

// position is where a stopped thread stands.
type position uint8

const (
	elsewhere position = iota
	atEntry
	atExit // of a call that is over, or of an injected one
)

// Thread is one traced thread.
type Thread struct {
	TID  int // real thread id
	PID  int // real thread group id
	regs unix.PtraceRegs
	// entry is the program's registers as it entered the call it stands in.
	entry unix.PtraceRegs
	pos   position
	mem   *Memory
	proc  *Process
	// mask is the signals that the program blocks. Linux takes one out of its own when an
	// instruction that it traps raises it.
	mask uint64
	gone bool // it has ended and was waited for
	// filtered: the seccomp filter is in force. Only a new process is without.
	filtered bool
	code     uint64 // SetCode; 0 in a program that was just executed
	// halted was last saved from the thread or loaded into it. It is nil if the thread has run
	// since. loaded: Load has set the general registers and the mask, and nobody else since.
	halted *Context
	loaded bool
}

// Memory is an address space, shared by the threads of a process.
type Memory struct{ file *os.File }

// Close releases the supervisor's handle.
func (m *Memory) Close() {
	if m != nil && m.file != nil {
		m.file.Close()
		m.file = nil
	}
}

// Pin makes the calling goroutine an executor: locked to its OS thread, which it
// pins to one processor together with all it starts. A stop that crosses
// processors costs five times as much.
func Pin(cpu int) error {
	runtime.LockOSThread()
	defaultSIGCHLD()
	trapOwnCPUID()
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}

// defaultSIGCHLD undoes the Go runtime's handler: every stop sends one, and
// catching it costs a quarter of a stop.
func defaultSIGCHLD() {
	var sa struct{ handler, flags, restorer, mask uint64 }
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&sa)), 0, 8, 0, 0)
}

// options of every traced thread.
const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK

// Attach takes a child of this thread that asked to be traced and stands at the
// SIGTRAP of its exec, before its program's first instruction.
func Attach(pid int) (*Thread, error) {
	t := &Thread{TID: pid, PID: pid, mem: &Memory{}, proc: newProcess(pid)}
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return nil, fmt.Errorf("ptrace %d: set options: %w", pid, err)
	}
	if err := t.LoadSigMask(); err != nil {
		return nil, err
	}
	return t, t.loadRegs()
}

// Filter puts the seccomp filter in force, for the thread's process and all that it
// will ever make. prog is at addr in its memory: a struct sock_fprog (seccomp(2)). The
// thread has borrowed code.
func (t *Thread) Filter(addr uint64) error {
	r, err := t.Inject(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, addr)
	if err == nil && r != 0 {
		err = fmt.Errorf("tracee %d: seccomp: %w", t.TID, unix.Errno(-r))
	}
	t.filtered = err == nil
	return err
}

// Filtered reports whether the filter is in force.
func (t *Thread) Filtered() bool { return t.filtered }

// AfterExec runs from the exec event to the end of execve, where registers are
// those of the new program.
func (t *Thread) AfterExec() error {
	t.mem.Close()
	t.mem, t.code = &Memory{}, 0
	if err := t.resume(unix.PTRACE_SYSCALL, 0); err != nil {
		return err
	}
	s, err := t.Wait()
	if err != nil {
		return err
	}
	if s.Kind != CallExit {
		return fmt.Errorf("tracee %d: %v stop after exec", t.TID, s.Kind)
	}
	return t.loadRegs()
}

// Adopt takes a new child of a traced thread, reported by a CloneEvent: it waits
// for the child's first stop. shareMemory: it runs in parent's address space.
func Adopt(parent *Thread, tid int, thread, shareMemory bool) (*Thread, error) {
	t := &Thread{TID: tid, PID: tid, filtered: true, mask: parent.mask, code: parent.code}
	if thread {
		t.PID, t.proc = parent.PID, parent.proc
	} else {
		t.proc = newProcess(tid)
	}
	if shareMemory {
		t.mem = parent.mem
	}
	s, err := t.Wait()
	if err != nil {
		return nil, err
	}
	if s.Kind != Signal || s.Signal != unix.SIGSTOP {
		return nil, fmt.Errorf("tracee %d: first stop is %v %v", tid, s.Kind, s.Signal)
	}
	return t, t.loadRegs()
}

func wait4(tid int, ws *unix.WaitStatus) (int, error) {
	for {
		pid, _, e := unix.Syscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(ws)), unix.WALL, 0, 0, 0)
		if e == 0 {
			return int(pid), nil
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

func cont(req int, tid, sig int) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), 0, uintptr(sig), 0, 0); e != 0 {
		return e
	}
	return nil
}

func (t *Thread) resume(req int, sig int) error {
	t.halted, t.loaded = nil, false
	if err := cont(req, t.TID, sig); err != nil {
		return fmt.Errorf("ptrace %d: resume: %w", t.TID, err)
	}
	return nil
}

// Wait waits until t stops.
func (t *Thread) Wait() (Stop, error) {
	var ws unix.WaitStatus
	if _, err := wait4(t.TID, &ws); err != nil {
		return Stop{}, fmt.Errorf("wait for tracee %d: %w", t.TID, err)
	}
	return t.stopped(t.TID, ws)
}

// stopped says what a wait status of the thread means, which is then called tid.
func (t *Thread) stopped(tid int, ws unix.WaitStatus) (Stop, error) {
	s := Stop{TID: tid}
	switch {
	case ws.Exited():
		s.Kind, s.Status = Exited, ws.ExitStatus()
		t.ended()
	case ws.Signaled():
		s.Kind, s.Status, s.Signal = Exited, -1, ws.Signal()
		t.ended()
	case ws.StopSignal() == unix.SIGTRAP|0x80:
		s.Kind = CallExit
		t.pos = atExit
	case ws.StopSignal() == unix.SIGTRAP && ws.TrapCause() > 0:
		switch ws.TrapCause() {
		case unix.PTRACE_EVENT_SECCOMP:
			s.Kind = Call
			t.pos = atEntry
		case unix.PTRACE_EVENT_EXEC:
			s.Kind = ExecEvent
			t.pos = elsewhere
		case unix.PTRACE_EVENT_CLONE, unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK:
			s.Kind = CloneEvent
			msg, err := unix.PtraceGetEventMsg(tid)
			if err != nil {
				return s, fmt.Errorf("ptrace %d: event message: %w", tid, err)
			}
			s.Child = int(msg)
		default:
			return s, fmt.Errorf("tracee %d: unexpected ptrace event %d", tid, ws.TrapCause())
		}
	default:
		s.Kind, s.Signal = Signal, ws.StopSignal()
		t.pos = elsewhere
	}
	return s, nil
}

// LoadCall reads the registers at a Call stop; they become Entry.
func (t *Thread) LoadCall() error {
	if err := t.loadRegs(); err != nil {
		return err
	}
	t.entry = t.regs
	if t.inVsyscall() {
		return t.leaveVsyscall()
	}
	return nil
}

func (t *Thread) loadRegs() error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGS, uintptr(t.TID), 0,
		uintptr(unsafe.Pointer(&t.regs)), 0, 0); e != 0 {
		return fmt.Errorf("ptrace %d: read registers: %w", t.TID, e)
	}
	return nil
}

func (t *Thread) storeRegs() error {
	t.loaded = false
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SETREGS, uintptr(t.TID), 0,
		uintptr(unsafe.Pointer(&t.regs)), 0, 0); e != 0 {
		return fmt.Errorf("ptrace %d: write registers: %w", t.TID, e)
	}
	return nil
}

// Mark is what the filter has marked the stop with at which the thread stands.
func (t *Thread) Mark() (uint, error) {
	m, err := unix.PtraceGetEventMsg(t.TID)
	if err != nil {
		return 0, fmt.Errorf("ptrace %d: event message: %w", t.TID, err)
	}
	return m, nil
}

// Continue lets a thread run that has its registers as they should be. sig is
// delivered at a Signal stop.
func (t *Thread) Continue(sig unix.Signal) error { return t.resume(unix.PTRACE_CONT, int(sig)) }

// ToExit runs the call that the thread stands at the entry of, as the registers
// have it, up to its exit (or an event on the way).
func (t *Thread) ToExit() error { return t.resume(unix.PTRACE_SYSCALL, 0) }

// Step delivers sig and stops at the first instruction of its handler.
func (t *Thread) Step(sig unix.Signal) error { return t.resume(unix.PTRACE_SINGLESTEP, int(sig)) }

// ReadMem fills b from addr; EFAULT when any of it is not readable.
func (t *Thread) ReadMem(addr uint64, b []byte) unix.Errno {
	if len(b) == 0 {
		return 0
	}
	local := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	remote := [2]uint64{addr, uint64(len(b))}
	n, _, e := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(t.PID), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e == 0 && int(n) == len(b) {
		return 0
	}
	if e != 0 && e != unix.EFAULT {
		return t.fileIO(addr, b, false)
	}
	return unix.EFAULT
}

// WriteMem stores b at addr; EFAULT when any of it is not writable.
func (t *Thread) WriteMem(addr uint64, b []byte) unix.Errno {
	if len(b) == 0 {
		return 0
	}
	local := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	remote := [2]uint64{addr, uint64(len(b))}
	n, _, e := unix.RawSyscall6(unix.SYS_PROCESS_VM_WRITEV, uintptr(t.PID), uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e == 0 && int(n) == len(b) {
		return 0
	}
	if e != 0 && e != unix.EFAULT {
		return t.fileIO(addr, b, true)
	}
	return unix.EFAULT
}

// Peek fills b from addr even where the program may not read.
func (t *Thread) Peek(addr uint64, b []byte) unix.Errno { return t.fileIO(addr, b, false) }

// Poke writes b at addr even where the program may only read (its code).
func (t *Thread) Poke(addr uint64, b []byte) unix.Errno { return t.fileIO(addr, b, true) }

func (t *Thread) fileIO(addr uint64, b []byte, write bool) unix.Errno {
	if t.mem == nil {
		t.mem = &Memory{}
	}
	if t.mem.file == nil {
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", t.TID), os.O_RDWR, 0)
		if err != nil {
			return unix.EFAULT
		}
		t.mem.file = f
	}
	var err error
	if write {
		_, err = t.mem.file.WriteAt(b, int64(addr))
	} else {
		_, err = t.mem.file.ReadAt(b, int64(addr))
	}
	if err != nil {
		return unix.EFAULT
	}
	return 0
}

// Release closes what the supervisor holds of the thread's address space.
func (t *Thread) Release() { t.mem.Close() }

// SigMask are the blocked signals; bit s-1 is signal s.
func (t *Thread) SigMask() uint64 { return t.mask }

// LoadSigMask reads them where Linux has changed them: at the first instruction of a handler.
func (t *Thread) LoadSigMask() error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGMASK, uintptr(t.TID), 8,
		uintptr(unsafe.Pointer(&t.mask)), 0, 0); e != 0 {
		return fmt.Errorf("ptrace %d: signal mask: %w", t.TID, e)
	}
	return nil
}

// SetSigMask changes the blocked signals.
func (t *Thread) SetSigMask(m uint64) error {
	t.loaded = false
	t.mask = m &^ (1<<(unix.SIGKILL-1) | 1<<(unix.SIGSTOP-1)) // as Linux does
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SETSIGMASK, uintptr(t.TID), 8,
		uintptr(unsafe.Pointer(&m)), 0, 0); e != 0 {
		return fmt.Errorf("ptrace %d: set signal mask: %w", t.TID, e)
	}
	return nil
}

// SigInfo is siginfo_t as Linux has it on this processor.
type SigInfo [128]byte

// PutInt32, PutUint64 and Int32 access the fields at siginfo_t's offsets.
func (s *SigInfo) PutInt32(off int, v int32)   { binary.LittleEndian.PutUint32(s[off:], uint32(v)) }
func (s *SigInfo) PutUint64(off int, v uint64) { binary.LittleEndian.PutUint64(s[off:], v) }
func (s *SigInfo) Int32(off int) int32         { return int32(binary.LittleEndian.Uint32(s[off:])) }

// SetSigInfo replaces what a Signal stop is about to deliver; SigInfoOf reads it.
func (t *Thread) SetSigInfo(s *SigInfo) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SETSIGINFO, uintptr(t.TID), 0,
		uintptr(unsafe.Pointer(s)), 0, 0); e != 0 {
		return fmt.Errorf("ptrace %d: set signal: %w", t.TID, e)
	}
	return nil
}

func (t *Thread) SigInfoOf() (*SigInfo, error) {
	s := new(SigInfo)
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(t.TID), 0,
		uintptr(unsafe.Pointer(s)), 0, 0); e != 0 {
		return nil, fmt.Errorf("ptrace %d: signal: %w", t.TID, e)
	}
	return s, nil
}

// Queue sends sig to the thread itself; the thread stops with it when it runs. It was
// not waited for, so its number is nobody else's.
func (t *Thread) Queue(sig unix.Signal) error { return unix.Tgkill(t.PID, t.TID, sig) }

// Consumed reports whether the call that the thread entered can no longer be run
// by resuming it: another one was injected in its place.
func (t *Thread) Consumed() bool { return t.pos != atEntry }

// TakeOver makes t the one thread of its process after an exec: it now has the
// process's id.
func (t *Thread) TakeOver() { t.TID = t.PID }
