package debuginfo

import (
	"bytes"

	"github.com/go-delve/delve/pkg/dwarf/leb128"
	"github.com/go-delve/delve/pkg/dwarf/op"
	"golang.org/x/arch/x86/x86asm"
)

// Linux executes some instructions itself at which a probe is (arch/x86/kernel/uprobes.c). Any
// other one it copies elsewhere and executes step by step, which takes twenty times as long.

// mostBefore is how many instructions from a function's first one are looked at.
const mostBefore = 16

// emulated looks for an instruction near the begin of a function that Linux executes itself: one
// that pushes a register, or does nothing. It is executed once in each call, and the parameters are
// still in the registers in which they were given. ok: there is one.
func (p *program) emulated(u *unit, s *Site, code [2]uint64) (at uint64, ok bool) {
	used := map[uint64]bool{}
	for i := range s.values {
		l, err := p.located(u, s.values[i].param, code[0])
		if err != nil || !l.known || !l.fixed && !registersOf(l.expr, used) {
			return 0, false
		}
	}
	text, err := codeAt(p.code, code)
	if err != nil {
		return 0, false
	}
	branched := false
	for off, n := 0, 0; off < len(text) && n < mostBefore; n++ {
		if bytes.HasPrefix(text[off:], []byte(endbr64)) {
			off += len(endbr64)
			continue
		}
		in, err := x86asm.Decode(text[off:], 64)
		if err != nil || in.Len == 0 {
			return 0, false
		}
		_, ofRegister := in.Args[0].(x86asm.Reg)
		switch {
		case in.Op == x86asm.PUSH && ofRegister, in.Op == x86asm.NOP && (branched || !u.golang):
			return code[0] + uint64(off), true
		case in.Op == x86asm.CMP, in.Op == x86asm.TEST, in.Op == x86asm.NOP:
		case in.Op >= x86asm.JA && in.Op <= x86asm.JS && in.Op != x86asm.JMP:
			branched = true // in Go to where the stack grows, from where the function begins again
		case in.Op == x86asm.LEA && in.Args[0] == x86asm.R12 && !used[12]:
			// Go computes there how large the stack must be.
		default:
			return 0, false
		}
		off += in.Len
	}
	return 0, false
}

// registersOf adds the registers in which a location is. ok: it is in nothing else.
func registersOf(expr []byte, to map[uint64]bool) (ok bool) {
	r := bytes.NewReader(expr)
	for r.Len() > 0 {
		b, _ := r.ReadByte() // there is one
		switch o := op.Opcode(b); {
		case o >= op.DW_OP_reg0 && o <= op.DW_OP_reg31:
			to[uint64(o-op.DW_OP_reg0)] = true
		case o == op.DW_OP_piece:
			leb128.DecodeUnsigned(r)
		default:
			return false
		}
	}
	return len(expr) > 0
}
