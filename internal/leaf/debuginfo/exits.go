package debuginfo

import (
	"debug/elf"
	"fmt"

	"golang.org/x/arch/x86/x86asm"
)

// exit is an instruction by which a function may end: it returns, or jumps out of the function's
// code. Where the frame is gone then, another function returns in its place.
type exit struct {
	addr  uint64
	jumps bool
}

// endbr64 begins what indirect jumps lead to. It does nothing.
const endbr64 = "\xf3\x0f\x1e\xfa"

// exitsOf looks through the code of a function, given as ranges of addresses.
func exitsOf(f *elf.File, ranges [][2]uint64) (all []exit, err error) {
	within := func(addr uint64) bool {
		for _, r := range ranges {
			if r[0] <= addr && addr < r[1] {
				return true
			}
		}
		return false
	}
	for _, r := range ranges {
		code, err := codeAt(f, r)
		if err != nil {
			return nil, err
		}
		for at := 0; at < len(code); {
			addr := r[0] + uint64(at)
			if len(code)-at >= len(endbr64) && string(code[at:at+len(endbr64)]) == endbr64 {
				at += len(endbr64)
				continue
			}
			in, err := x86asm.Decode(code[at:], 64)
			if err != nil || in.Len == 0 {
				return nil, fmt.Errorf("its ends are not found: there is an instruction at %#x that is not known (% x)", addr, code[at:min(at+8, len(code))])
			}
			at += in.Len
			rel, direct := in.Args[0].(x86asm.Rel)
			switch {
			case in.Op == x86asm.RET:
				all = append(all, exit{addr, false})
			case in.Op == x86asm.CALL || in.Op == x86asm.XBEGIN:
			case direct && !within(r[0]+uint64(at)+uint64(int64(rel))), in.Op == x86asm.JMP && !direct:
				all = append(all, exit{addr, true})
			}
		}
	}
	return all, nil
}

// codeAt is what a program file has for some addresses.
func codeAt(f *elf.File, r [2]uint64) ([]byte, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= r[0] && r[1] <= p.Vaddr+p.Filesz {
			b := make([]byte, r[1]-r[0])
			_, err := p.ReadAt(b, int64(r[0]-p.Vaddr))
			return b, err
		}
	}
	return nil, fmt.Errorf("there is no code at %#x", r[0])
}
