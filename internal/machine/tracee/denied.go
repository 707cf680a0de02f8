//go:build linux

package tracee

import "golang.org/x/sys/unix"

// DeniedCall recognises, at a SIGSYS stop, a call that the filter did not let through; deny
// it with Deny. arch is the one that its number is of (AUDIT_ARCH_*).
func (t *Thread) DeniedCall() (nr int, arch uint32, ok bool) {
	const seccomp = 1 // SYS_SECCOMP
	info, err := t.SigInfoOf()
	if err != nil || info.Int32(8) != seccomp || t.loadRegs() != nil {
		return 0, 0, false
	}
	return int(uint32(info.Int32(24))), uint32(info.Int32(28)), true
}

// Deny gives the denied call its result.
func (t *Thread) Deny(e unix.Errno) error {
	t.regs.Rax = -uint64(e)
	t.regs.Orig_rax = ^uint64(0)
	return t.storeRegs()
}

// StandAtDenied makes Return speak of the denied call, and returns its arguments.
func (t *Thread) StandAtDenied(arch uint32) [6]uint64 {
	t.entry = t.regs
	if r := &t.regs; arch == unix.AUDIT_ARCH_I386 {
		return [6]uint64{r.Rbx & low, r.Rcx & low, r.Rdx & low, r.Rsi & low, r.Rdi & low, r.Rbp & low}
	}
	return t.Args()
}

// low is the half of a register that 32-bit programs have.
const low = 1<<32 - 1
