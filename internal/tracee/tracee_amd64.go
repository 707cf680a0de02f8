//go:build linux

package tracee

import (
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

// IsX8664 reports whether the call was made the 64-bit way.
func (t *Thread) Is64() bool { return t.entry.Cs == 0x33 }

// IP and SP are the program's instruction and stack pointers.
func (t *Thread) IP() uint64 { return t.regs.Rip }
func (t *Thread) SP() uint64 { return t.regs.Rsp }

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

// SetCall replaces the call that the thread stands at the entry of.
func (t *Thread) SetCall(nr int, args ...uint64) error {
	t.setCall(nr, args)
	return t.storeRegs()
}

func (t *Thread) setCall(nr int, args []uint64) {
	t.regs = t.entry
	r := &t.regs
	for i, p := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		switch {
		case i < len(args):
			*p = args[i]
		case i == 5:
			*p = InjectMagic
		default:
			*p = 0
		}
	}
	if t.pos == atEntry {
		r.Orig_rax = uint64(nr)
		r.Rax = negENOSYS
	} else {
		r.Rip -= syscallLen
		r.Rax = uint64(nr)
		r.Orig_rax = ^uint64(0)
	}
}

const negENOSYS = ^uint64(unix.ENOSYS) + 1

// SetCallAgain makes a thread whose call is consumed enter another call; it stops
// at that call's entry no more.
func (t *Thread) SetCallAgain(nr int, args ...uint64) error {
	t.setCall(nr, args)
	if len(args) < 6 {
		t.regs.R9 = InjectMagic
	}
	if err := t.storeRegs(); err != nil {
		return err
	}
	s, err := t.nextCallStop()
	if err == nil && s.Kind != CallExit {
		err = fmt.Errorf("tracee %d: %v stop entering call %d", t.TID, s.Kind, nr)
	}
	return err
}

// nextCallStop resumes up to the next entry or exit of a call. A SIGSTOP on the
// way is a watchdog's that came late: it means nothing any more.
func (t *Thread) nextCallStop() (Stop, error) {
	for {
		if err := t.resume(unix.PTRACE_SYSCALL, 0); err != nil {
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

// InjectMagic in the sixth argument lets a call pass the seccomp filter without
// a stop: an injected call should not stop twice.
const InjectMagic = 0x41726961646e6521 // "Ariadne!"

// Inject runs a real call in the thread and returns its result (-errno on
// failure). The thread stands in a call; Entry is not touched, so Return and
// Restart still speak of the original one.
func (t *Thread) Inject(nr int, args ...uint64) (int64, error) {
	t.setCall(nr, args)
	if err := t.storeRegs(); err != nil {
		return 0, err
	}
	wasEntry := t.pos == atEntry
	for {
		s, err := t.nextCallStop()
		if err != nil {
			return 0, err
		}
		switch s.Kind {
		case Call: // the filter stopped an injected call with six arguments
			t.pos = atExit
		case CallExit:
			// From an exit, the call stops at its entry first.
			if !wasEntry {
				wasEntry = true
				continue
			}
			if err := t.loadRegs(); err != nil {
				return 0, err
			}
			return int64(t.regs.Rax), nil
		default:
			return 0, fmt.Errorf("tracee %d: %v stop (%v) during injected call %d", t.TID, s.Kind, s.Signal, nr)
		}
	}
}

// BorrowCode lets calls be injected in a thread that stands at an arbitrary
// instruction: it writes a syscall instruction there and returns the function
// that puts everything back.
func (t *Thread) BorrowCode() (restore func() error, err error) {
	saved := t.regs
	var old [syscallLen]byte
	if e := t.fileIO(saved.Rip, old[:], false); e != 0 {
		return nil, fmt.Errorf("tracee %d: read code at %#x: %w", t.TID, saved.Rip, e)
	}
	if e := t.Poke(saved.Rip, []byte{0x0f, 0x05}); e != 0 {
		return nil, fmt.Errorf("tracee %d: write code at %#x: %w", t.TID, saved.Rip, e)
	}
	t.entry = saved
	t.entry.Rip += syscallLen
	t.pos = atExit
	return func() error {
		if e := t.Poke(saved.Rip, old[:]); e != 0 {
			return fmt.Errorf("tracee %d: restore code: %w", t.TID, e)
		}
		t.regs = saved
		t.regs.Orig_rax = ^uint64(0)
		t.pos = elsewhere
		return t.storeRegs()
	}, nil
}

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

// Trapped recognises an instruction that Linux was told to trap (rdtsc, rdtscp)
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

// signalFrameMask is the offset of uc_sigmask from the stack pointer at the first
// instruction of a signal handler: return address, then struct ucontext.
const signalFrameMask = 8 + 296

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
