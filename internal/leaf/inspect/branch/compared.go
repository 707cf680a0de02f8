package branch

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// Compared is an instruction that sets flags, and what it compares.
type Compared struct {
	Text      string // of the instruction, as Intel writes it
	operands  []x86asm.Arg
	size      int // of the operands in memory, in bytes
	next      uint64
	float     bool
	setsFlags bool
}

// comparing are the operations that set flags. Of others that do, the values say nothing.
var (
	comparing = []x86asm.Op{x86asm.CMP, x86asm.TEST, x86asm.SUB, x86asm.SBB, x86asm.ADD, x86asm.ADC, x86asm.AND,
		x86asm.OR, x86asm.XOR, x86asm.NEG, x86asm.INC, x86asm.DEC, x86asm.BT, x86asm.SHL, x86asm.SHR, x86asm.SAR,
		x86asm.CMPXCHG}
	floating = []x86asm.Op{x86asm.UCOMISD, x86asm.COMISD, x86asm.UCOMISS, x86asm.COMISS}
)

// decode is the instruction with some bytes at an address.
func decode(b []byte, at uint64) (c Compared, ok bool) {
	i, err := x86asm.Decode(b, 64)
	if err != nil {
		return c, false
	}
	c = Compared{Text: strings.ToLower(x86asm.IntelSyntax(i, at, nil)), size: i.MemBytes, next: at + uint64(i.Len),
		float: slices.Contains(floating, i.Op)}
	c.setsFlags = c.float || slices.Contains(comparing, i.Op)
	for _, a := range i.Args {
		if a != nil && !slices.Contains(c.operands, a) {
			c.operands = append(c.operands, a)
		}
	}
	return c, true
}

// Machine has what an instruction may compare.
type Machine struct {
	Register func(name string) (uint64, bool) // in small letters, as in "rax"
	Vector   func(n int) (b [16]byte, ok bool)
	Read     func(b []byte, address uint64) error
}

// Values are those of what the instruction compares, before it is executed, as texts. "": a value
// is not known. A value that the instruction itself has is none of them.
func (c *Compared) Values(m Machine) (all []string) {
	for _, a := range c.operands {
		text := ""
		switch a := a.(type) {
		case x86asm.Imm:
			text = strconv.FormatInt(int64(a), 10)
		case x86asm.Reg:
			text = c.ofRegister(a, m)
		case x86asm.Mem:
			text = c.inMemory(a, m)
		}
		all = append(all, text)
	}
	return all
}

// ofRegister is the value of a register.
func (c *Compared) ofRegister(r x86asm.Reg, m Machine) string {
	if x86asm.X0 <= r && r <= x86asm.X15 {
		b, ok := m.Vector(int(r - x86asm.X0))
		if !ok {
			return ""
		}
		return c.number(b[:c.width()])
	}
	name, shift, size := whole(r)
	v, ok := m.Register(name)
	if !ok {
		return ""
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v>>shift)
	return c.number(b[:size])
}

// width is how many bytes of a vector are compared.
func (c *Compared) width() int {
	if operation, _, _ := strings.Cut(c.Text, " "); strings.HasSuffix(operation, "ss") {
		return 4
	}
	return 8
}

// whole is the register of 64 bits of which a register is a part, and which.
func whole(r x86asm.Reg) (name string, shift, size int) {
	type row struct {
		first, last x86asm.Reg
		size        int
	}
	for _, x := range []row{{x86asm.RAX, x86asm.R15, 8}, {x86asm.EAX, x86asm.R15L, 4}, {x86asm.AX, x86asm.R15W, 2}} {
		if x.first <= r && r <= x.last {
			return strings.ToLower((x86asm.RAX + (r - x.first)).String()), 0, x.size
		}
	}
	switch {
	case x86asm.AH <= r && r <= x86asm.BH:
		return strings.ToLower((x86asm.RAX + (r - x86asm.AH)).String()), 8, 1
	case x86asm.AL <= r && r <= x86asm.BL:
		return strings.ToLower((x86asm.RAX + (r - x86asm.AL)).String()), 0, 1
	case x86asm.SPB <= r && r <= x86asm.R15B:
		return strings.ToLower((x86asm.RSP + (r - x86asm.SPB)).String()), 0, 1
	case r == x86asm.RIP:
		return "rip", 0, 8
	case r == x86asm.FS || r == x86asm.GS:
		return strings.ToLower(r.String()) + "_base", 0, 8
	}
	return "", 0, 0
}

// inMemory is the value of an operand in memory.
func (c *Compared) inMemory(a x86asm.Mem, m Machine) string {
	at := uint64(a.Disp)
	add := func(r x86asm.Reg, times uint64) bool {
		if r == x86asm.RIP {
			at += c.next
			return true
		}
		name, _, _ := whole(r)
		v, ok := m.Register(name)
		at += v * times
		return ok
	}
	ok := a.Base == 0 || add(a.Base, 1)
	ok = ok && (a.Index == 0 || add(a.Index, uint64(a.Scale)))
	if a.Segment == x86asm.FS || a.Segment == x86asm.GS {
		ok = ok && add(a.Segment, 1)
	}
	var b [8]byte
	if !ok || c.size == 0 || c.size > len(b) || m.Read(b[:c.size], at) != nil {
		return ""
	}
	return c.number(b[:c.size])
}

// number is the text of a number of 1, 2, 4 or 8 bytes.
func (c *Compared) number(b []byte) string {
	switch {
	case c.float && len(b) == 8:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	case c.float && len(b) == 4:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	}
	var all [8]byte
	copy(all[:], b)
	unused := 64 - 8*len(b)
	return strconv.FormatInt(int64(binary.LittleEndian.Uint64(all[:])<<unused)>>unused, 10)
}
