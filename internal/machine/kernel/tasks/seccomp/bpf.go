package seccomp

// Parts of an instruction's code (linux/bpf_common.h).
const (
	class    = 0x07
	classLD  = 0x00
	classLDX = 0x01
	classST  = 0x02
	classSTX = 0x03
	classALU = 0x04
	classJMP = 0x05
	classRET = 0x06

	fromX = 0x08 // the operand is X, not K

	opAdd = 0x00
	opSub = 0x10
	opMul = 0x20
	opDiv = 0x30
	opOr  = 0x40
	opAnd = 0x50
	opLsh = 0x60
	opRsh = 0x70
	opNeg = 0x80
	opXor = 0xa0

	jumpAlways = 0x00
	jumpEQ     = 0x10
	jumpGT     = 0x20
	jumpGE     = 0x30
	jumpSet    = 0x40

	ldAbs, ldLen, ldImm, ldMem = 0x20, 0x80, 0x00, 0x60 // of 32 bits

	retK, retA = 0x06, 0x16
	tax, txa   = 0x07, 0x87

	cells = 16 // of scratch memory
)

// Valid reports whether Linux takes the program (bpf_check_classic, seccomp_check_filter).
func Valid(p []Instruction) bool {
	if len(p) == 0 || len(p) > MaxProgram {
		return false
	}
	for at, i := range p {
		if !i.known() || !i.sane(len(p)-at-1) {
			return false
		}
	}
	last := p[len(p)-1].Code
	return (last == retK || last == retA) && loadsWhatWasStored(p)
}

// known reports whether a filter may have instructions of this code.
func (i Instruction) known() bool {
	switch i.Code & class {
	case classLD:
		return i.Code == classLD|ldAbs || i.Code == classLD|ldLen || i.Code == classLD|ldImm || i.Code == classLD|ldMem
	case classLDX:
		return i.Code == classLDX|ldLen || i.Code == classLDX|ldImm || i.Code == classLDX|ldMem
	case classST, classSTX:
		return i.Code == classST || i.Code == classSTX
	case classALU:
		switch i.Code &^ (class | fromX) {
		case opAdd, opSub, opMul, opDiv, opOr, opAnd, opLsh, opRsh, opXor:
			return true
		}
		return i.Code == classALU|opNeg
	case classJMP:
		switch i.Code &^ (class | fromX) {
		case jumpEQ, jumpGT, jumpGE, jumpSet:
			return true
		}
		return i.Code == classJMP|jumpAlways
	case classRET:
		return i.Code == retK || i.Code == retA
	}
	return i.Code == tax || i.Code == txa
}

// sane looks at the operands; rest is how many instructions follow.
func (i Instruction) sane(rest int) bool {
	switch i.Code {
	case classLD | ldAbs:
		return i.K < callSize && i.K&3 == 0
	case classLD | ldMem, classLDX | ldMem, classST, classSTX:
		return i.K < cells
	case classALU | opDiv:
		return i.K != 0
	case classALU | opLsh, classALU | opRsh:
		return i.K < 32
	case classJMP | jumpAlways:
		return uint64(i.K) < uint64(rest)
	}
	return i.Code&class != classJMP || int(i.JT) < rest && int(i.JF) < rest
}

// loadsWhatWasStored follows the program once, as jumps lead forward only.
func loadsWhatWasStored(p []Instruction) bool {
	const all = 1<<cells - 1
	stored := make([]uint32, len(p)) // on all ways to an instruction
	for at := range stored {
		stored[at] = all
	}
	var now uint32
	for at, i := range p {
		now &= stored[at]
		switch {
		case i.Code&class == classST || i.Code&class == classSTX:
			now |= 1 << i.K
		case i.Code == classLD|ldMem || i.Code == classLDX|ldMem:
			if now>>i.K&1 == 0 {
				return false
			}
		case i.Code == classJMP|jumpAlways:
			stored[at+1+int(i.K)] &= now
			now = all
		case i.Code&class == classJMP:
			stored[at+1+int(i.JT)] &= now
			stored[at+1+int(i.JF)] &= now
			now = all
		}
	}
	return true
}

// run is what the filter answers.
func (f *Filter) run(call *[callSize / 4]uint32) uint32 {
	var a, x uint32
	var memory [cells]uint32
	for at := 0; ; at++ {
		i := &f.Program[at]
		operand := i.K
		if i.Code&fromX != 0 {
			operand = x
		}
		switch i.Code & class {
		case classLD:
			a = i.load(call, &memory)
		case classLDX:
			x = i.load(call, &memory)
		case classST:
			memory[i.K] = a
		case classSTX:
			memory[i.K] = x
		case classALU:
			if i.Code == classALU|opDiv|fromX && x == 0 {
				return 0
			}
			a = calculate(i.Code&^(class|fromX), a, operand)
		case classJMP:
			switch {
			case i.Code == classJMP|jumpAlways:
				at += int(i.K)
			case holds(i.Code&^(class|fromX), a, operand):
				at += int(i.JT)
			default:
				at += int(i.JF)
			}
		case classRET:
			if i.Code == retA {
				return a
			}
			return i.K
		default:
			if i.Code == tax {
				x = a
			} else {
				a = x
			}
		}
	}
}

func (i *Instruction) load(call *[callSize / 4]uint32, memory *[cells]uint32) uint32 {
	switch i.Code &^ class {
	case ldAbs:
		return call[i.K/4]
	case ldLen:
		return callSize
	case ldMem:
		return memory[i.K]
	}
	return i.K
}

func calculate(op uint16, a, b uint32) uint32 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		return a / b
	case opOr:
		return a | b
	case opAnd:
		return a & b
	case opLsh:
		return a << (b & 31)
	case opRsh:
		return a >> (b & 31)
	case opXor:
		return a ^ b
	}
	return -a
}

func holds(op uint16, a, b uint32) bool {
	switch op {
	case jumpEQ:
		return a == b
	case jumpGT:
		return a > b
	case jumpGE:
		return a >= b
	}
	return a&b != 0
}
