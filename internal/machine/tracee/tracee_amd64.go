//go:build linux

package tracee

import (
	"bytes"
	"encoding/binary"
	"fmt"

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

// Is64 reports whether the call was made the 64-bit way.
func (t *Thread) Is64() bool { return t.entry.Cs == codeSegment }

// Executed64 reports whether the program that t has just executed is a 64-bit one. Linux shows
// another kind by the segment of its code, or by the number of the call that has executed it (x32).
func (t *Thread) Executed64() bool {
	const x32 = 0x40000000
	nr := int64(t.regs.Orig_rax)
	return t.regs.Cs == codeSegment && (nr < 0 || nr&x32 == 0)
}

// IP and SP are the program's instruction and stack pointers.
func (t *Thread) IP() uint64 { return t.regs.Rip }
func (t *Thread) SP() uint64 { return t.regs.Rsp }

// Flags are the program's flags, and SetFlags changes them.
func (t *Thread) Flags() uint64 { return t.regs.Eflags }

func (t *Thread) SetFlags(flags uint64) error {
	t.regs.Eflags = flags
	return t.storeRegs()
}

// Registers are the general ones, in the order of DWARF.
func (t *Thread) Registers() [16]uint64 {
	r := &t.regs
	return [16]uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13,
		r.R14, r.R15}
}

// xmmAt is where the extended state has the vector registers: that of FXSAVE (Intel's manual,
// volume 1, 10.5.1).
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
// in place of that one, or when that is consumed, of one more. Wherever the program stands, the
// call is made at Ariadne's own instruction (SetCode) and with Ariadne's registers: the program
// can change the bytes by which it entered its own, and nothing of it decides what the call does.
func (t *Thread) SetCall(nr int, args ...uint64) error {
	if t.code == 0 {
		return fmt.Errorf("tracee %d: call %d where Ariadne has no code", t.TID, nr)
	}
	t.regs = t.ownRegs(args)
	if t.pos != atEntry {
		return t.reenter(nr)
	}
	t.regs.Orig_rax = uint64(nr)
	return t.storeRegs()
}

// Segments and flags of a 64-bit program in which nothing is set: no single steps, no checks of
// alignment.
const (
	codeSegment  = 0x33
	stackSegment = 0x2b
	plainFlags   = 0x202
)

// ownRegs are the registers at the entry of one of Ariadne's calls. The stack pointer and the bases
// of segments stay the program's: clone hands them on, and nothing else looks at them.
func (t *Thread) ownRegs(args []uint64) unix.PtraceRegs {
	e := &t.entry
	r := unix.PtraceRegs{
		Rip: t.code + syscallLen, Rax: negENOSYS, Cs: codeSegment, Ss: stackSegment, Eflags: plainFlags,
		Rsp: e.Rsp, Fs_base: e.Fs_base, Gs_base: e.Gs_base, Ds: e.Ds, Es: e.Es, Fs: e.Fs, Gs: e.Gs,
	}
	for i, p := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		if i < len(args) {
			*p = args[i]
		}
	}
	return r
}

const negENOSYS = ^uint64(unix.ENOSYS) + 1

// Gate is a call at which the filter always stops. Injected calls enter Linux as this
// one: Linux looks at the filter once more after such a stop, and lets a call pass that
// it would stop at, whatever the tracer has made of it (seccomp(2)). So nothing in the
// registers of a call opens the filter, and there is nothing that a program could forge.
const Gate = unix.SYS_GETPID

// reenter brings a thread whose call is over to the entry of call nr with the registers that
// ownRegs has set. It runs one instruction, of Ariadne's code.
func (t *Thread) reenter(nr int) error {
	own := t.regs
	t.regs.Rip, t.regs.Rax, t.regs.Orig_rax = t.code, Gate, ^uint64(0)
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
	if err == nil {
		err = t.loadRegs()
	}
	if err == nil && (t.regs.Rip != own.Rip || t.regs.Orig_rax != Gate) {
		err = fmt.Errorf("tracee %d: at %#x in call %d, and not in Ariadne's own at %#x", t.TID, t.regs.Rip, int64(t.regs.Orig_rax), own.Rip)
	}
	if err != nil {
		return err
	}
	t.pos = atEntry
	t.regs = own
	t.regs.Orig_rax = uint64(nr)
	return t.storeRegs()
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

// SetCode says where in the thread's memory a syscall instruction lies at which calls are
// injected, and which its program cannot change. Children have it at the same place.
func (t *Thread) SetCode(addr uint64) { t.code = addr }

// Borrow lets calls be injected in a thread that stands at an arbitrary instruction. The
// function that it returns brings it back.
func (t *Thread) Borrow() (restore func() error) {
	saved := t.regs
	t.entry, t.pos = saved, atExit
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

// vsyscall is a page at which programs call Linux without an instruction of their own: it
// emulates the call when the page is entered (arch/x86/entry/vsyscall).
const vsyscall = 0xffffffffff600000

func (t *Thread) inVsyscall() bool { return t.entry.Rip >= vsyscall && t.entry.Rip < vsyscall+4096 }

// leaveVsyscall has Linux leave such a call, which it ends with SIGSYS when another one is set in
// its place. The thread then stands behind it, at the address to which the page returns.
func (t *Thread) leaveVsyscall() error {
	nr, at := t.entry.Orig_rax, t.regs
	t.regs.Orig_rax = ^uint64(0)
	err := t.storeRegs()
	if err == nil {
		err = t.Queue(unix.SIGSTOP)
	}
	if err == nil {
		err = t.resume(unix.PTRACE_CONT, 0)
	}
	if err != nil {
		return err
	}
	s, err := t.Wait()
	if err == nil && (s.Kind != Signal || s.Signal != unix.SIGSTOP) {
		err = fmt.Errorf("tracee %d: %v stop (%v) behind a vsyscall", t.TID, s.Kind, s.Signal)
	}
	if err == nil {
		err = t.loadRegs()
	}
	t.entry, t.regs, t.pos = t.regs, at, atExit
	t.entry.Orig_rax = nr
	return err
}

// opcode returns the bytes of the instruction at which t stands behind its prefixes, and how many
// those are: some do nothing here, and compilers and assemblers put them in to fill a place. An
// instruction has 15 bytes at most.
func (t *Thread) opcode() (code []byte, prefixes int) {
	if t.loadRegs() != nil {
		return nil, 0
	}
	b := make([]byte, 15)
	if t.ReadMem(t.regs.Rip, b) != 0 {
		// Up to the end of the page, which the program may execute and not read.
		const page = 4096
		if b = b[:min(uint64(len(b)), page-t.regs.Rip%page)]; t.Peek(t.regs.Rip, b) != 0 {
			return nil, 0
		}
	}
	for prefixes < len(b) && isPrefix(b[prefixes]) {
		prefixes++
	}
	return b[prefixes:], prefixes
}

// isPrefix reports whether a byte is a prefix that is not an error before every instruction, as
// lock is.
func isPrefix(b byte) bool {
	switch b {
	case 0x66, 0x67, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
		return true
	}
	return b>>4 == 4 // REX
}

// TrappedTSC recognises an instruction that Linux was told to trap (rdtsc, rdtscp)
// at a SIGSEGV stop; skip it with SkipTSC.
func (t *Thread) TrappedTSC() (length int, withAux bool) {
	code, prefixes := t.opcode()
	switch {
	case bytes.HasPrefix(code, []byte{0x0f, 0x31}):
		return prefixes + 2, false
	case bytes.HasPrefix(code, []byte{0x0f, 0x01, 0xf9}):
		return prefixes + 3, true
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

// ProcessorRead is an instruction that takes a value from the processor into a register.
type ProcessorRead struct {
	Length   int  // of the instruction in bytes
	Random   bool // rdrand or rdseed; else rdpid
	register int  // by its number in instructions
	bits     int  // of the register that it takes: 16, 32 or 64
}

// ProcessorRead recognises rdrand, rdseed or rdpid where the thread stands. SkipRead executes it.
func (t *Thread) ProcessorRead() (r ProcessorRead, ok bool) {
	code, prefixes := t.opcode()
	if len(code) < 3 || code[0] != 0x0f || code[1] != 0xc7 || code[2] < 0xf0 {
		return r, false
	}
	r = ProcessorRead{Length: prefixes + 3, register: int(code[2] & 7), bits: 32}
	all := make([]byte, prefixes)
	if t.Peek(t.regs.Rip, all) != 0 {
		return r, false
	}
	repeat := bytes.IndexByte(all, 0xf3) >= 0
	r.Random = !repeat
	if bytes.IndexByte(all, 0x66) >= 0 {
		r.bits = 16
	}
	if prefixes > 0 && all[prefixes-1]>>4 == 4 { // REX stands right before the opcode
		if all[prefixes-1]&8 != 0 {
			r.bits = 64
		}
		r.register |= int(all[prefixes-1]&1) << 3
	}
	if !r.Random {
		r.bits = 64
	}
	return r, !repeat || code[2] >= 0xf8 // with the prefix, /6 is senduipi
}

// Flags that rdrand and rdseed set: there was a number, and the others are 0.
const (
	carryFlag = 1 << 0
	mathFlags = 1<<0 | 1<<2 | 1<<4 | 1<<6 | 1<<7 | 1<<11
)

// SkipRead gives the instruction its result.
func (t *Thread) SkipRead(r ProcessorRead, v uint64) error {
	registers := [...]*uint64{&t.regs.Rax, &t.regs.Rcx, &t.regs.Rdx, &t.regs.Rbx, &t.regs.Rsp, &t.regs.Rbp, &t.regs.Rsi,
		&t.regs.Rdi, &t.regs.R8, &t.regs.R9, &t.regs.R10, &t.regs.R11, &t.regs.R12, &t.regs.R13, &t.regs.R14,
		&t.regs.R15}
	switch to := registers[r.register]; r.bits {
	case 16:
		*to = *to&^0xffff | v&0xffff
	case 32:
		*to = v & 0xffffffff
	default:
		*to = v
	}
	if r.Random {
		t.regs.Eflags = t.regs.Eflags&^mathFlags | carryFlag
	}
	t.regs.Rip += uint64(r.Length)
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
