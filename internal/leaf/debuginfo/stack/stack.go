// Package stack follows the frames of a thread's stack: in which function of which file it is, at
// which line, and who called that. It needs the program files and the thread's registers and
// memory, and executes nothing.
//
// Frames are found by call frame information (.eh_frame, .debug_frame). Where a file has none, as a
// Go program without debug information, they are found by frame pointers.
//
// Read next: internal/use/session/stacks.go.
package stack

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"

	"github.com/go-delve/delve/pkg/dwarf/frame"
	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/dwarf/regnum"
	"github.com/ianlancetaylor/demangle"
)

// Frame is a function that has not returned yet.
type Frame struct {
	PC       uint64 `json:"pc,string"`          // where it goes on, as a text in JSON
	Module   string `json:"module,omitempty"`   // the program file, or ""
	Function string `json:"function,omitempty"` // or ""
	File     string `json:"file,omitempty"`     // of the source, or ""
	Line     int    `json:"line,omitempty"`     // or 0
	// Inlined: its code stands within that of the next frame's function.
	Inlined bool `json:"inlined,omitempty"`
}

// String is the frame in a line, as in "main.(*server).vote (server.go:41)".
func (f *Frame) String() string {
	name := f.Function
	if name == "" {
		name = fmt.Sprintf("%#x", f.PC)
	}
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line)
	case f.Module != "":
		return fmt.Sprintf("%s (%s)", name, path.Base(f.Module))
	}
	return name
}

// Module is a program file, of which a part is mapped as code.
type Module struct {
	Code       *Code
	Start, End uint64 // of the mapped part, up to before End
	Offset     uint64 // of Start, in the file
}

// Addresses are those in memory of the functions that a name means (debuginfo.Matches), as far as
// they are in the mapped part.
func (m *Module) Addresses(name string) (all []uint64) {
	for _, addr := range m.Code.entries(name) {
		for _, p := range m.Code.progs {
			if addr-p.Vaddr >= p.Filesz {
				continue
			}
			if off := addr - p.Vaddr + p.Off; off-m.Offset < m.End-m.Start {
				all = append(all, m.Start+off-m.Offset)
			}
		}
	}
	return all
}

// Registers are the general ones as DWARF counts them: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8
// to r15, and where the thread goes on.
type Registers [17]uint64

// Names are those of Registers.
var Names = [17]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15", "rip"}

const (
	bp = int(regnum.AMD64_Rbp)
	sp = int(regnum.AMD64_Rsp)
	pc = int(regnum.AMD64_Rip)
)

// most is how many frames are looked for.
const most = 64

// Of follows the stack of a thread, innermost frame first. read reads its memory.
func Of(r Registers, modules []Module, read func(b []byte, addr uint64) error) (all []Frame) {
	for len(all) < most && r[pc] != 0 {
		m := moduleAt(modules, r[pc])
		f := Frame{PC: r[pc]}
		if m == nil {
			if len(all) == 0 { // code that the program has made itself
				all = append(all, f)
			}
			return all
		}
		// A call may be the last instruction of its function: what follows is another one's.
		at := r[pc]
		if len(all) > 0 {
			at--
		}
		addr, ok := m.Code.address(at - m.Start + m.Offset)
		if !ok {
			return append(all, f)
		}
		for _, at := range m.Code.frames(addr) {
			at.PC = f.PC
			all = append(all, at)
		}
		was := r[sp]
		outer := all[len(all)-1].Function
		if slices.Contains(outermost, outer) || !m.Code.caller(&r, addr, at-addr, modules, read) || r[sp] <= was {
			return all
		}
	}
	return all
}

// outermost are the functions that nobody has called.
var outermost = []string{"_start", "clone", "__clone", "clone3", "runtime.goexit", "runtime.mcall",
	"runtime.systemstack", "runtime.mstart", "runtime.clone", "runtime.rt0_go"}

func moduleAt(modules []Module, addr uint64) *Module {
	i := slices.IndexFunc(modules, func(m Module) bool { return m.Start <= addr && addr < m.End })
	if i < 0 {
		return nil
	}
	return &modules[i]
}

// Code is what is known of a program file's code.
type Code struct {
	name      string
	progs     []elf.ProgHeader
	functions []elf.Symbol // by address
	unwinding frame.FrameDescriptionEntries
	lines     *debuginfo.Lines
	table     *gosym.Table // of a Go program
	// known are the frames by address: threads stand in few places, and to find one reads the whole
	// line table of a unit.
	known map[uint64][]Frame
}

// New reads a program file, which has this name.
func New(name string, f *elf.File) *Code {
	c := &Code{name: name, lines: debuginfo.LinesOf(f), known: map[uint64][]Frame{}}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			c.progs = append(c.progs, p.ProgHeader)
		}
	}
	symbols, _ := f.Symbols() // without them there are others
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(symbols, dynamic...) {
		if t := elf.ST_TYPE(s.Info); t == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			c.functions = append(c.functions, s)
		}
	}
	slices.SortStableFunc(c.functions, func(a, b elf.Symbol) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	for _, name := range []string{".eh_frame", ".debug_frame", ".zdebug_frame"} {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		b, err := s.Data()
		if err != nil || len(b) == 0 {
			continue
		}
		addr := uint64(0)
		if name == ".eh_frame" {
			addr = s.Addr
		}
		undamaged(func() {
			if all, err := frame.Parse(b, binary.LittleEndian, 0, 8, addr); err == nil {
				c.unwinding = c.unwinding.Append(all)
			}
		})
	}
	c.table = debuginfo.GoTable(f)
	return c
}

// undamaged follows a description. The libraries that read them panic where one is damaged.
func undamaged(read func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	read()
	return true
}

// address is that of an offset in the file.
func (c *Code) address(offset uint64) (addr uint64, ok bool) {
	for _, p := range c.progs {
		if p.Off <= offset && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// entries are the addresses at which the functions that a name means begin.
func (c *Code) entries(name string) (all []uint64) {
	if c.table != nil {
		for i := range c.table.Funcs {
			if f := &c.table.Funcs[i]; debuginfo.Matches(f.Name, name) {
				all = append(all, f.Entry)
			}
		}
	}
	for i := range c.functions {
		if c.table != nil {
			break
		}
		full := plainName(c.functions[i].Name)
		if debuginfo.Matches(full, name) || strings.HasSuffix(full, "::"+name) {
			all = append(all, c.functions[i].Value)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// plainName is a symbol's name without its version, as C++ and Rust write it, without parameters.
func plainName(symbol string) string {
	name, _, _ := strings.Cut(symbol, "@")
	return demangle.Filter(name, demangle.NoParams, demangle.NoTemplateParams)
}

// at is the function and the line of an address.
func (c *Code) at(addr uint64) (function, file string, line int) {
	if c.table != nil {
		var f *gosym.Func
		if undamaged(func() { file, line, f = c.table.PCToLine(addr) }) && f != nil {
			return f.Name, file, line
		}
	}
	i := sort.Search(len(c.functions), func(i int) bool { return c.functions[i].Value > addr }) - 1
	if i >= 0 {
		if s := &c.functions[i]; s.Size == 0 || addr < s.Value+s.Size {
			function = plainName(s.Name)
		}
	}
	if c.lines != nil {
		file, line = c.lines.At(addr)
	}
	return function, file, line
}

// frames are those of an address, without where they go on: several where functions are inlined,
// innermost first.
func (c *Code) frames(addr uint64) (all []Frame) {
	if all, ok := c.known[addr]; ok {
		return all
	}
	defer func() { c.known[addr] = all }()
	f := Frame{Module: c.name}
	f.Function, f.File, f.Line = c.at(addr)
	if c.lines == nil {
		return []Frame{f}
	}
	for _, i := range c.lines.Inlined(addr) {
		inner := f
		inner.Function, inner.Inlined = i.Function, true
		f.File, f.Line = i.File, i.Line
		all = append(all, inner)
	}
	return append(all, f)
}

// caller makes r the registers of who called the function that is at addr. bias is what addresses
// in memory are more than those of the file. not ok: that is not known.
func (c *Code) caller(r *Registers, addr, bias uint64, modules []Module,
	read func(b []byte, addr uint64) error) (ok bool) {
	var context *frame.FrameContext
	undamaged(func() {
		if e, err := c.unwinding.FDEForPC(addr); err == nil {
			context, _ = e.EstablishFrame(addr)
		}
	})
	if context == nil {
		return byPointers(r, modules, read)
	}
	whole := true
	if !undamaged(func() { whole = unwind(r, context, bias, read) }) {
		return false
	}
	return whole
}

// unwind follows call frame information.
func unwind(r *Registers, context *frame.FrameContext, bias uint64, read func(b []byte, addr uint64) error) (ok bool) {
	was := *r
	evaluate := func(expression []byte, start ...int64) (uint64, bool) {
		regs := op.NewDwarfRegisters(bias, nil, binary.LittleEndian, regnum.AMD64_Rip, regnum.AMD64_Rsp,
			regnum.AMD64_Rbp, 0)
		for i, v := range was {
			regs.AddReg(uint64(i), op.DwarfRegisterFromUint64(v))
		}
		if len(start) > 0 {
			regs.CFA = start[0]
		}
		v, _, err := op.ExecuteStackProgram(*regs, expression, 8, func(b []byte, addr uint64) (int, error) {
			return len(b), read(b, addr)
		})
		return uint64(v), err == nil
	}
	var cfa uint64
	switch rule := context.CFA; rule.Rule {
	case frame.RuleCFA:
		if rule.Reg >= uint64(len(was)) {
			return false
		}
		cfa = was[rule.Reg] + uint64(rule.Offset)
	case frame.RuleExpression:
		if cfa, ok = evaluate(rule.Expression); !ok {
			return false
		}
	default:
		return false
	}
	word := func(addr uint64) (v uint64, ok bool) {
		var b [8]byte
		err := read(b[:], addr)
		return binary.LittleEndian.Uint64(b[:]), err == nil
	}
	r[sp], r[pc] = cfa, 0
	for n, rule := range context.Regs {
		if n >= uint64(len(r)) {
			continue
		}
		ok := true
		switch rule.Rule {
		case frame.RuleOffset:
			r[n], ok = word(cfa + uint64(rule.Offset))
		case frame.RuleValOffset:
			r[n] = cfa + uint64(rule.Offset)
		case frame.RuleRegister:
			if ok = rule.Reg < uint64(len(was)); ok {
				r[n] = was[rule.Reg]
			}
		case frame.RuleExpression:
			var at uint64
			if at, ok = evaluate(rule.Expression, int64(cfa)); ok {
				r[n], ok = word(at)
			}
		case frame.RuleValExpression:
			r[n], ok = evaluate(rule.Expression, int64(cfa))
		case frame.RuleUndefined:
			ok = n != uint64(pc) // the outermost frame
		}
		if !ok {
			return false
		}
	}
	if r[pc] == 0 { // Go says of nothing where it is: the return address is below the frame
		r[pc], ok = word(cfa - 8)
		// nor where the caller's frame pointer is, which is below that
		if v, is := word(cfa - 16); is && v > cfa {
			r[bp] = v
		}
		return ok && r[pc] != 0
	}
	return true
}

// byPointers follows a frame pointer. A function that has no frame, as those that make a call of
// the kernel, has its return address at the top of the stack.
func byPointers(r *Registers, modules []Module, read func(b []byte, addr uint64) error) (ok bool) {
	var b [16]byte
	if read(b[:8], r[sp]) == nil {
		if to := binary.LittleEndian.Uint64(b[:8]); isReturn(to, modules, read) {
			r[pc], r[sp] = to, r[sp]+8
			return true
		}
	}
	if r[bp] < r[sp] || read(b[:], r[bp]) != nil {
		return false
	}
	r[sp], r[bp], r[pc] = r[bp]+16, binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])
	return moduleAt(modules, r[pc]) != nil
}

// isReturn reports whether a call instruction stands before an address of code.
func isReturn(addr uint64, modules []Module, read func(b []byte, addr uint64) error) bool {
	var b [5]byte
	return moduleAt(modules, addr) != nil && read(b[:], addr-5) == nil &&
		(b[0] == 0xe8 || b[3] == 0xff && b[4]>>3 == 0x1a)
}
