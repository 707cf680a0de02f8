//go:build linux

package tracee

import (
	"golang.org/x/sys/unix"
)

// IsFunction reports whether the instruction at which t stands does the same again from the same
// registers and the same memory. Calls, breakpoints and reads of the processor's clock, of its
// random numbers and of its identity are none, nor are transactions.
func (t *Thread) IsFunction() bool {
	code, _ := t.opcode()
	if len(code) < 3 {
		return false
	}
	switch code[0] {
	case 0xcc, 0xcd, 0xce, 0xf1: // traps
		return false
	case 0xc6, 0xc7: // xabort, xbegin
		return code[1] != 0xf8
	case 0x0f:
		switch code[1] {
		case 0x01, 0x05, 0x0b, 0x31, 0x33, 0x34, 0xa2:
			return false
		case 0xc7: // of memory: cmpxchg8b and the like; of a register: rdrand, rdseed, rdpid
			return code[2] < 0xc0
		}
	}
	return true
}

// StandsAs reports whether the general registers are the same as others.
func StandsAs(r, o *unix.PtraceRegs) bool {
	const ofDebugger = 1<<8 | 1<<16 // TF and RF, which steps leave
	a, b := *r, *o
	a.Eflags, b.Eflags = a.Eflags&^ofDebugger, b.Eflags&^ofDebugger
	return a == b
}

// Stand is where t stands: its general registers.
func (t *Thread) Stand() (unix.PtraceRegs, error) {
	err := t.loadRegs()
	return t.regs, err
}
