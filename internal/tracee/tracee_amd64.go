//go:build linux

package tracee

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syscallLen is the length of the syscall instruction (0f 05).
const syscallLen = 2

// Number and Args are the call that the thread entered.
func (t *Thread) Number() int { return int(int64(t.entry.Orig_rax)) }

func (t *Thread) Args() [6]uint64 {
	r := &t.entry
	return [6]uint64{r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9}
}

// IsX8664 reports whether the call was made the 64-bit way.
func (t *Thread) Is64() bool { return t.entry.Cs == 0x33 }

// IP and SP are the program's instruction and stack pointers.
func (t *Thread) IP() uint64 { return t.regs.Rip }
func (t *Thread) SP() uint64 { return t.regs.Rsp }

// Registers are the general ones, in the order of DWARF.
func (t *Thread) Registers() [16]uint64 {
	r := &t.regs
	return [16]uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
}

// xmmAt is where the extended state has the vector registers: that of FXSAVE (Intel's manual, volume 1, 10.5.1).
const xmmAt = 160

// VectorRegisters are the lower 16 bytes of the first 16.
func (t *Thread) VectorRegisters() (all [16][16]byte, err error) {
	state := make([]byte, xstateMax)
	n, err := t.regset(unix.PTRACE_GETREGSET, state)
	if err == nil && n < xmmAt+len(all)*len(all[0]) {
		err = fmt.Errorf("ptrace %d: %d bytes of extended state", t.TID, n)
	}
	for i := range all {
		copy(all[i][:], state[xmmAt+16*i:])
	}
	return all, err
}

// Refresh reads the registers anew; for stops that are not calls.
func (t *Thread) Refresh() error { return t.loadRegs() }

// Return gives the call the thread stands in its result. The thread is not
// resumed. Linux does not run the call and does not restart it.
func (t *Thread) Return(v int64) error {
	t.regs = t.entry
	t.regs.Rax = uint64(v)
	t.regs.Orig_rax = ^uint64(0)
	return t.storeRegs()
}

// Restart makes the thread enter the same call again when resumed.
func (t *Thread) Restart() error {
	t.regs = t.entry
	t.regs.Rip -= syscallLen
	t.regs.Rax = t.entry.Orig_rax
	t.regs.Orig_rax = ^uint64(0)
	return t.storeRegs()
}

// SetCall makes the thread stand at the entry of another call than its program made:
// in place of that one, or when that is consumed, of one more.
func (t *Thread) SetCall(nr int, args ...uint64) error {
	t.regs = t.entry
	r := &t.regs
	for i, p := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		*p = 0
		if i < len(args) {
			*p = args[i]
		}
	}
	if t.pos != atEntry {
		return t.reenter(nr)
	}
	r.Orig_rax = uint64(nr)
	r.Rax = negENOSYS
	return t.storeRegs()
}

const negENOSYS = ^uint64(unix.ENOSYS) + 1

// Gate is a call at which the filter always stops. Injected calls enter Linux as this
// one: Linux looks at the filter once more after such a stop, and lets a call pass that
// it would stop at, whatever the tracer has made of it (seccomp(2)). So nothing in the
// registers of a call opens the filter, and there is nothing that a program could forge.
const Gate = unix.SYS_GETPID

// origRax is the offset of Orig_rax in struct user (ptrace(2)).
const origRax = unsafe.Offsetof(unix.PtraceRegs{}.Orig_rax)

// reenter brings a thread whose call is over to the entry of call nr with the
// arguments that its registers hold.
func (t *Thread) reenter(nr int) error {
	t.regs.Rip -= syscallLen
	t.regs.Rax = Gate
	t.regs.Orig_rax = ^uint64(0)
	if err := t.storeRegs(); err != nil {
		return err
	}
	how, want := unix.PTRACE_CONT, Call
	if !t.filtered {
		how, want = unix.PTRACE_SYSCALL, CallExit // every entry and exit is a stop
	}
	s, err := t.nextStop(how)
	if err == nil && s.Kind != want {
		err = fmt.Errorf("tracee %d: %v stop (%v) entering call %d", t.TID, s.Kind, s.Signal, nr)
	}
	if err != nil {
		return err
	}
	t.pos = atEntry
	t.regs.Rip += syscallLen
	t.regs.Rax, t.regs.Orig_rax = negENOSYS, uint64(nr)
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_POKEUSR, uintptr(t.TID), origRax, uintptr(nr), 0, 0); e != 0 {
		return fmt.Errorf("ptrace %d: number of the call: %w", t.TID, e)
	}
	return nil
}

// nextStop resumes up to the next stop. A SIGSTOP on the way is a watchdog's that came
// late: it means nothing any more.
func (t *Thread) nextStop(how int) (Stop, error) {
	for {
		if err := t.resume(how, 0); err != nil {
			return Stop{}, err
		}
		s, err := t.Wait()
		if err != nil || s.Kind != Signal || s.Signal != unix.SIGSTOP {
			return s, err
		}
	}
}

// Result is what a call that ran to its exit returned; after Refresh.
func (t *Thread) Result() int64 { return int64(t.regs.Rax) }

// Inject runs a real call in the thread and returns its result (-errno on
// failure). The thread stands in a call; Entry is not touched, so Return and
// Restart still speak of the original one.
func (t *Thread) Inject(nr int, args ...uint64) (int64, error) {
	if err := t.SetCall(nr, args...); err != nil {
		return 0, err
	}
	s, err := t.nextStop(unix.PTRACE_SYSCALL)
	if err != nil {
		return 0, err
	}
	if s.Kind != CallExit {
		return 0, fmt.Errorf("tracee %d: %v stop (%v) during injected call %d", t.TID, s.Kind, s.Signal, nr)
	}
	if err := t.loadRegs(); err != nil {
		return 0, err
	}
	return int64(t.regs.Rax), nil
}

// InjectOffStack is Inject with no stack: there are calls that depend on which one the
// thread stands on (sigaltstack).
func (t *Thread) InjectOffStack(nr int, args ...uint64) (int64, error) {
	sp := t.entry.Rsp
	t.entry.Rsp = 0
	v, err := t.Inject(nr, args...)
	t.entry.Rsp, t.regs.Rsp = sp, sp
	return v, err
}

// BorrowCode lets calls be injected in a thread that stands at an arbitrary
// instruction: it goes to the syscall instruction at addr for them, and the function
// that it returns brings it back.
func (t *Thread) BorrowCode(addr uint64) (restore func() error) {
	saved := t.regs
	t.entry = saved
	t.entry.Rip = addr + syscallLen
	t.pos = atExit
	return func() error {
		t.regs = saved
		t.regs.Orig_rax = ^uint64(0)
		t.pos = elsewhere
		return t.storeRegs()
	}
}

// SyscallIn returns the offset of a syscall instruction in code, or -1.
func SyscallIn(code []byte) int { return bytes.Index(code, []byte{0x0f, 0x05}) }

// StandAtExit says that a new child stands at the exit of clone, so that calls can be
// injected before it starts.
func (t *Thread) StandAtExit() { t.entry, t.pos = t.regs, atExit }

// StartChild gives a new child the registers that its parent had, with result 0
// and the stack pointer that Linux gave it.
func (t *Thread) StartChild(parent *Thread) error {
	sp, fs := t.regs.Rsp, t.regs.Fs_base
	t.regs = parent.entry
	t.regs.Rsp = sp
	t.regs.Fs_base = fs
	t.regs.Rax = 0
	t.regs.Orig_rax = ^uint64(0)
	t.pos = elsewhere
	return t.storeRegs()
}

// TrappedTSC recognises an instruction that Linux was told to trap (rdtsc, rdtscp)
// at a SIGSEGV stop; skip it with SkipTSC.
func (t *Thread) TrappedTSC() (length int, withAux bool) {
	if t.loadRegs() != nil {
		return 0, false
	}
	var b [3]byte
	if t.ReadMem(t.regs.Rip, b[:2]) != 0 {
		return 0, false
	}
	if b[0] == 0x0f && b[1] == 0x31 {
		return 2, false
	}
	if t.ReadMem(t.regs.Rip, b[:]) == 0 && b == [3]byte{0x0f, 0x01, 0xf9} {
		return 3, true
	}
	return 0, false
}

// SkipTSC gives the trapped instruction its result.
func (t *Thread) SkipTSC(length int, withAux bool, v uint64) error {
	t.regs.Rip += uint64(length)
	t.regs.Rax = v & 0xffffffff
	t.regs.Rdx = v >> 32
	if withAux {
		t.regs.Rcx = 0
	}
	return t.storeRegs()
}

// LeaveFunction has a thread that stands behind the first byte of a function's first instruction
// return from it with v; false: there is no return address.
func (t *Thread) LeaveFunction(v int64) (bool, error) {
	var b [8]byte
	if t.ReadMem(t.regs.Rsp, b[:]) != 0 {
		return false, nil
	}
	t.regs.Rax = uint64(v)
	t.regs.Rip = binary.LittleEndian.Uint64(b[:])
	t.regs.Rsp += 8
	return true, t.storeRegs()
}

// Jump has a thread go on at an address.
func (t *Thread) Jump(addr uint64) error {
	t.regs.Rip = addr
	return t.storeRegs()
}

// contextMask is the offset of uc_sigmask in struct ucontext.
const contextMask = 296

// signalFrameMask is that from the stack pointer at the first instruction of a signal
// handler: return address, then the context.
const signalFrameMask = 8 + contextMask

// LeavesHandler notes the mask that the thread will have once the rt_sigreturn that it stands
// at the entry of has run.
func (t *Thread) LeavesHandler() {
	var b [8]byte
	if t.ReadMem(t.entry.Rsp+contextMask, b[:]) == 0 {
		t.mask = binary.LittleEndian.Uint64(b[:]) &^ (1<<(unix.SIGKILL-1) | 1<<(unix.SIGSTOP-1))
	}
}

// SetFrameMask changes the mask that the handler just entered will restore.
func (t *Thread) SetFrameMask(m uint64) error {
	if err := t.loadRegs(); err != nil {
		return err
	}
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(m >> (8 * i))
	}
	if e := t.WriteMem(t.regs.Rsp+signalFrameMask, b); e != 0 {
		return fmt.Errorf("tracee %d: signal frame: %w", t.TID, e)
	}
	return nil
}
