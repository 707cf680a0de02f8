// Package branch finds where two executions of the same code decide differently: at which
// instruction, and which values are compared there. It looks at the instructions that were
// executed, one by one, and at their bytes.
//
// It finds decisions by the flags of the processor, and by where an instruction leads. It
// does not compare the results of two executions.
//
// Read next: internal/use/session/branch.go.
package branch

import "slices"

// Instruction is one that a thread has executed, with what held before it.
type Instruction struct {
	Thread int32
	Flags  uint32
	IP, SP uint64
}

// same reports whether two are the same instruction of the same thread.
func (i *Instruction) same(o *Instruction) bool { return i.Thread == o.Thread && i.IP == o.IP }

// Code has the bytes of instructions, by their addresses.
type Code map[uint64][]byte

// MaxLength is how long an instruction is at most.
const MaxLength = 15

// Parting is an instruction that two executions have in common and that decides differently.
type Parting struct {
	// A and B are its places in the two.
	A, B int
	// ByFlags: it decides by the processor's flags. Otherwise it leads to different places.
	ByFlags bool
}

// resync is how many instructions are looked through for a place at which two executions that have
// parted are again at the same one.
const resync = 1 << 14

// Partings are the decisions by which two executions differ, in order, at most so many. Executions
// that part and do not come together again have none after that.
func Partings(a, b []Instruction, code Code, most int) (all []Parting) {
	for i, j := 0, 0; i < len(a) && j < len(b) && a[i].same(&b[j]) && len(all) < most; {
		c, conditional := conditionOf(code[a[i].IP])
		byFlags := conditional && c.holds(a[i].Flags) != c.holds(b[j].Flags)
		if byFlags {
			all = append(all, Parting{i, j, true})
		}
		if i+1 == len(a) || j+1 == len(b) {
			break
		}
		if a[i+1].same(&b[j+1]) {
			i, j = i+1, j+1
			continue
		}
		if !byFlags {
			all = append(all, Parting{i, j, false})
		}
		p, q, ok := meet(a[i+1:], b[j+1:])
		if !ok {
			break
		}
		i, j = i+1+p, j+1+q
	}
	return all
}

// meet finds where two executions are first at the same instruction with the same stack.
func meet(a, b []Instruction) (p, q int, ok bool) {
	type place struct {
		thread int32
		ip, sp uint64
	}
	first := map[place]int{}
	for j := range b[:min(len(b), resync)] {
		at := place{b[j].Thread, b[j].IP, b[j].SP}
		if _, known := first[at]; !known {
			first[at] = j
		}
	}
	for i := range a[:min(len(a), resync)] {
		if ok && i >= p+q {
			break
		}
		if j, meets := first[place{a[i].Thread, a[i].IP, a[i].SP}]; meets && (!ok || i+j < p+q) {
			p, q, ok = i, j, true
		}
	}
	return p, q, ok
}

// comparedWithin is how many instructions before one that decides the flags are set at most.
const comparedWithin = 8

// Comparison is the instruction that has set the flags by which another one decides.
func Comparison(all []Instruction, decides int, code Code) (at int, c Compared, ok bool) {
	for at = decides - 1; at >= max(0, decides-comparedWithin); at-- {
		if all[at].Thread != all[decides].Thread {
			return 0, c, false
		}
		c, ok = decode(code[all[at].IP], all[at].IP)
		if !ok || c.setsFlags {
			return at, c, ok
		}
	}
	return 0, c, false
}

// The processor's flags by which instructions decide.
const (
	carry    = 1 << 0
	parity   = 1 << 2
	zero     = 1 << 6
	sign     = 1 << 7
	overflow = 1 << 11

	// Flags are all that arithmetic sets.
	Flags = carry | parity | 1<<4 | zero | sign | overflow
)

// condition is one by which an instruction decides, as the processor's manual numbers them: those
// that are odd are the opposites of the ones before.
type condition byte

// holds reports whether it is true of some flags.
func (c condition) holds(flags uint32) (is bool) {
	has := func(f uint32) bool { return flags&f != 0 }
	less := has(sign) != has(overflow)
	switch c >> 1 {
	case 0:
		is = has(overflow)
	case 1:
		is = has(carry)
	case 2:
		is = has(zero)
	case 3:
		is = has(carry | zero)
	case 4:
		is = has(sign)
	case 5:
		is = has(parity)
	case 6:
		is = less
	case 7:
		is = less || has(zero)
	}
	return is != (c&1 == 1)
}

// prefixes may stand before an instruction. Those from 0x40 to 0x4f may, too.
var prefixes = []byte{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}

// conditionOf is the condition by which an instruction jumps, sets a byte or moves a value.
func conditionOf(b []byte) (c condition, ok bool) {
	for len(b) > 0 && (b[0]>>4 == 4 || slices.Contains(prefixes, b[0])) {
		b = b[1:]
	}
	switch {
	case len(b) < 2:
	case b[0]>>4 == 7:
		return condition(b[0] & 0xf), true
	case b[0] == 0x0f && (b[1]>>4 == 4 || b[1]>>4 == 8 || b[1]>>4 == 9):
		return condition(b[1] & 0xf), true
	}
	return 0, false
}
