package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/frame"
	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/dwarf/regnum"
)

// Machine is a program that has stopped at a site.
type Machine interface {
	// Register is one of the general registers, as DWARF counts them: rax, rdx, rcx, rbx, rsi, rdi,
	// rbp, rsp, r8 to r15.
	Register(n int) uint64
	// Vectors are xmm0 to xmm15.
	Vectors() ([16][16]byte, error)
	// Read reads memory.
	Read(b []byte, addr uint64) error
}

// Unknown stands for what cannot be read.
const Unknown = "?"

// registers are those of a program at a site. bias is what the program's addresses are more than
// those of its file.
func (s *Site) registers(m Machine, bias uint64) (*op.DwarfRegisters, op.ReadMemoryFunc) {
	regs := op.NewDwarfRegisters(bias, nil, binary.LittleEndian, regnum.AMD64_Rip, regnum.AMD64_Rsp, regnum.AMD64_Rbp,
		0)
	for i := range 16 {
		regs.AddReg(uint64(i), op.DwarfRegisterFromUint64(m.Register(i)))
	}
	regs.AddReg(regnum.AMD64_Rip, op.DwarfRegisterFromUint64(s.Addr+bias))
	regs.SetLoadMoreCallback(func() {
		if all, err := m.Vectors(); err == nil {
			for i, b := range all {
				regs.AddReg(uint64(regnum.AMD64_XMM0+i), op.DwarfRegisterFromBytes(b[:]))
			}
		}
	})
	if s.cfa.Rule == frame.RuleCFA {
		regs.CFA = int64(regs.Uint64Val(s.cfa.Reg)) + s.cfa.Offset
	}
	read := func(b []byte, addr uint64) (int, error) {
		if err := m.Read(b, addr); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	if s.base != nil {
		undamaged(func() { regs.FrameBase, _, _ = op.ExecuteStackProgram(*regs, s.base, 8, read) })
	}
	return regs, read
}

// undamaged reads a value, and reports whether its description could be followed. The libraries
// that read debug information panic where it is damaged.
func undamaged(read func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	read()
	return true
}

// text is what is read, or Unknown.
func text(read func() string) (text string) {
	if !undamaged(func() { text = read() }) {
		return Unknown
	}
	return text
}

// Read is what is wanted there of the parameters, in texts: Unknown where a compiler has left
// nothing of it. bias is what the program's addresses are more than those of its file.
func (s *Site) Read(m Machine, bias uint64) []string {
	regs, read := s.registers(m, bias)
	var texts []string
	for i := range s.values {
		texts = append(texts, text(func() string { return s.values[i].read(m, regs, read) }))
	}
	return texts
}

// Frame tells the calls of functions that have not ended apart: by where their frames are. Those of
// goroutines move with their stacks.
type Frame struct {
	Stack uint64 // the goroutine's, or 0
	Depth uint64 // the frame's address; in Go how far it is from the end of the stack
}

// FrameAt is the frame of a function at one of its sites.
func (s *Site) FrameAt(m Machine) (Frame, error) {
	if s.Kind == Begins {
		if s.cfa.Rule != frame.RuleCFA || s.cfa.Reg >= 16 {
			return Frame{}, errors.New("it has no frame")
		}
		return s.frame(m, m.Register(int(s.cfa.Reg))+uint64(s.cfa.Offset))
	}
	return s.frame(m, m.Register(int(regnum.AMD64_Rsp))+8)
}

// FrameBehind is the frame of a function that has returned just now.
func (s *Site) FrameBehind(m Machine) (Frame, error) {
	return s.frame(m, m.Register(int(regnum.AMD64_Rsp)))
}

func (s *Site) frame(m Machine, cfa uint64) (Frame, error) {
	if !s.golang {
		return Frame{Depth: cfa}, nil
	}
	g, _, end, err := stackOf(m)
	return Frame{g, end - cfa}, err
}

// stackOf is where a goroutine is, and its stack.
func stackOf(m Machine) (g, begin, end uint64, err error) {
	g = m.Register(14)
	var b [16]byte
	if err := m.Read(b[:], g); err != nil {
		return 0, 0, 0, err
	}
	begin, end = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	if sp := m.Register(int(regnum.AMD64_Rsp)); sp < begin || sp > end {
		return 0, 0, 0, errors.New("there is no goroutine")
	}
	return g, begin, end, nil
}

// How what was kept of a call begins.
const (
	keptNothing byte = iota
	keptText
	keptBytes
)

// mostKept is how many bytes of a parameter are kept.
const mostKept = 1024

// Keep is what must be kept of a call until it returns, of which the function stands at its
// beginning.
func (s *Site) Keep(m Machine, bias uint64) (all [][]byte) {
	regs, read := s.registers(m, bias)
	for i := range s.values {
		v := &s.values[i]
		if !v.keep {
			all = append(all, append([]byte{keptText}, text(func() string { return v.read(m, regs, read) })...))
			continue
		}
		b := []byte{keptNothing}
		undamaged(func() {
			if bytes := s.keepBytes(m, v, regs, read); bytes != nil {
				b = append([]byte{keptBytes}, bytes...)
			}
		})
		all = append(all, b)
	}
	return all
}

// keepBytes is the memory of a parameter as it is kept, or nil.
func (s *Site) keepBytes(m Machine, v *value, regs *op.DwarfRegisters, read op.ReadMemoryFunc) []byte {
	c, ok := v.content(regs, read)
	if !ok || sizeOf(v.typ) > mostKept {
		return nil
	}
	bytes, err := c.get(m, 0, sizeOf(v.typ))
	if err != nil {
		return nil
	}
	bytes = append([]byte{}, bytes...)
	if s.golang && move(m, v.typ, bytes, true) != nil {
		return nil
	}
	return bytes
}

// fromEnd marks a pointer into a goroutine's stack, which is kept as its distance from the stack's
// end: no address is like that.
const fromEnd = 1 << 63

// move makes pointers into a goroutine's stack independent of where that is, and the other way
// round: it may have been moved when the call returns.
func move(m Machine, t dwarf.Type, b []byte, keep bool) error {
	_, begin, end, err := stackOf(m)
	if err != nil {
		return err
	}
	for _, off := range pointersIn(t, 0, nil) {
		p := binary.LittleEndian.Uint64(b[off:])
		switch {
		case keep && begin <= p && p < end:
			p = fromEnd | end - p
		case !keep && p&fromEnd != 0:
			p = end - p&^fromEnd
		}
		binary.LittleEndian.PutUint64(b[off:], p)
	}
	return nil
}

// pointersIn are the offsets of pointers in a value.
func pointersIn(t dwarf.Type, off int64, all []int64) []int64 {
	switch t := plain(t).(type) {
	case *dwarf.PtrType:
		return append(all, off)
	case *dwarf.StructType:
		for _, f := range t.Field {
			all = pointersIn(f.Type, off+f.ByteOffset, all)
		}
	case *dwarf.ArrayType:
		for i := range t.Count {
			all = pointersIn(t.Type, off+i*sizeOf(t.Type), all)
		}
	}
	return all
}

// Return is what is wanted where the function returns, or has just returned, with what was kept of
// the call; nil: nothing was.
func (s *Site) Return(m Machine, kept [][]byte) (texts []string) {
	for i := range s.values {
		texts = append(texts, text(func() string { return s.values[i].returned(m, s, kept) }))
	}
	return texts
}

func (v *value) returned(m Machine, s *Site, kept [][]byte) string {
	var c content
	switch {
	case v.place == nil && v.kept >= len(kept):
		return Unknown
	case v.place == nil:
		b := kept[v.kept]
		switch b[0] {
		case keptNothing:
			return Unknown
		case keptText:
			return string(b[1:])
		}
		c.bytes = append([]byte{}, b[1:]...)
		if s.golang && move(m, v.typ, c.bytes, false) != nil {
			return Unknown
		}
	case v.place.unknown:
		return Unknown
	case v.place.pointed:
		c.addr = m.Register(0)
	case v.place.parts == nil:
		// The frame's address is behind the return address, on which the stack stands.
		c.addr = m.Register(int(regnum.AMD64_Rsp)) + 8 + uint64(v.place.off)
	default:
		c.bytes = make([]byte, max(sizeOf(v.typ), 8))
		for _, p := range v.place.parts {
			var from []byte
			if p.vector {
				vectors, err := m.Vectors()
				if err != nil {
					return Unknown
				}
				from = vectors[p.register][:]
			} else {
				from = binary.LittleEndian.AppendUint64(nil, m.Register(p.register))
			}
			copy(c.bytes[p.off:p.off+p.size], from)
		}
	}
	return v.along(m, c)
}

// ending understands what is wanted where a function returns.
func (p *program) ending(u *unit, e *dwarf.Entry, q *Query, params []param) (all []value, err error) {
	var given, results []param
	for _, a := range params {
		if a.result {
			results = append(results, a)
		} else {
			given = append(given, a)
		}
	}
	if !u.golang {
		typ, has, err := p.returns(e)
		if err != nil {
			return nil, err
		}
		if has {
			results = []param{{name: "result", typ: typ}}
		}
	}
	var places []place
	for _, expr := range q.Values {
		if inner, ok := strings.CutPrefix(expr, "old("); ok {
			if inner, ok = strings.CutSuffix(inner, ")"); !ok {
				return nil, fmt.Errorf("%s: ) is missing", expr)
			}
			v, err := newValue(inner, given, p.data)
			if err != nil {
				return nil, err
			}
			v.old = true
			all = append(all, v)
			continue
		}
		name := expr
		if i := strings.IndexAny(expr, ".["); i >= 0 {
			name = expr[:i]
		}
		i := resultNamed(name, given, results)
		if i < 0 {
			v, err := newValue(expr, given, p.data)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
			continue
		}
		if i >= len(results) {
			return nil,
				fmt.Errorf("%s: the function returns %s", expr,
					[]string{"nothing", "one value", fmt.Sprintf("%d values", len(results))}[min(len(results), 2)])
		}
		if places == nil {
			if places, err = p.places(u, given, results); err != nil {
				return nil, err
			}
		}
		r := results[i]
		r.name, r.entry = name, e
		v, err := newValue(expr, []param{r}, p.data)
		if err != nil {
			return nil, err
		}
		v.place = &places[i]
		if p.changed(e) {
			v.place = &place{unknown: true}
		}
		all = append(all, v)
	}
	return all, nil
}

// resultNamed is the place of a result by its name, or by "result" and its number; -1: it is none.
func resultNamed(name string, given, results []param) int {
	for _, q := range given {
		if q.name == name {
			return -1
		}
	}
	for i, r := range results {
		if r.name == name {
			return i
		}
	}
	number, ok := strings.CutPrefix(name, "result")
	if !ok {
		return -1
	}
	if number == "" {
		return 0
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return -1
	}
	return n - 1
}

// returns is the type of what a function of C or C++ returns.
func (p *program) returns(e *dwarf.Entry) (typ dwarf.Offset, has bool, err error) {
	for {
		if typ, has = e.Val(dwarf.AttrType).(dwarf.Offset); has {
			return typ, true, nil
		}
		of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if of, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return 0, false, nil
			}
		}
		r := p.data.Reader()
		r.Seek(of)
		if e, err = r.Next(); err != nil || e == nil {
			return 0, false, err
		}
	}
}

// places are where a function returns its results.
func (p *program) places(u *unit, given, results []param) ([]place, error) {
	types := func(params []param) (all []dwarf.Type, err error) {
		for _, q := range params {
			t, err := p.data.Type(q.typ)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, nil
	}
	given2, err := types(given)
	if err != nil {
		return nil, err
	}
	results2, err := types(results)
	if err != nil {
		return nil, err
	}
	if u.golang {
		return goResults(given2, results2)
	}
	if sizeOf(results2[0]) <= 16 {
		if err := p.classes(results[0].typ, 0); err != nil {
			return nil, err
		}
	}
	at, err := sysvResult(results2[0])
	return []place{at}, err
}

// changed reports whether the compiler has made of a function one that may return something else: a
// part of it, or one without results that nobody uses.
func (p *program) changed(e *dwarf.Entry) bool {
	low, ok := e.Val(dwarf.AttrLowpc).(uint64)
	if !ok {
		if ranges, err := p.data.Ranges(e); err == nil && len(ranges) > 0 {
			low = ranges[0][0]
		}
	}
	if p.symbols == nil {
		p.symbols = map[uint64][]string{}
		for _, f := range []*elf.File{p.file, p.code} {
			all, _ := f.Symbols()
			for _, y := range all {
				if elf.ST_TYPE(y.Info) == elf.STT_FUNC {
					p.symbols[y.Value] = append(p.symbols[y.Value], y.Name)
				}
			}
		}
	}
	for _, name := range p.symbols[low] {
		if strings.Contains(name, ".isra.") || strings.Contains(name, ".part.") {
			return true
		}
	}
	return false
}
