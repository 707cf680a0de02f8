package debuginfo

import (
	"bytes"
	"cmp"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"slices"
	"strings"
)

// Beginning is where a function of Go begins, or a copy of it that the compiler has put into
// another function.
type Beginning struct {
	Function string
	Addr     uint64 // in the file's own addresses
}

// Beginnings are those of functions of Go in a program, in the order of their addresses. A program
// without Go has none. Go's own table of functions says where they are, which stays in programs
// that are stripped. Copies within another one of the functions do not count.
func Beginnings(f *elf.File, functions []string) (all []Beginning) {
	undamaged(func() {
		t := goTableOf(f)
		if t == nil || !t.findText(f) {
			return
		}
		wanted := map[uint32]string{}
		for _, name := range functions {
			if at := bytes.Index(t.names, []byte("\x00"+name+"\x00")); at >= 0 {
				wanted[uint32(at+1)] = name
			}
		}
		inlines := t.findTrees(f)
		for i := range t.functions {
			g := &t.functions[i]
			if name := wanted[g.name]; name != "" {
				all = append(all, Beginning{name, t.text + uint64(g.entry)})
			} else if inlines {
				all = t.copies(g, wanted, all)
			}
		}
	})
	slices.SortFunc(all, func(a, b Beginning) int { return cmp.Compare(a.Addr, b.Addr) })
	return all
}

// GoTable has the functions and lines of Go in a program; nil: there are none.
func GoTable(f *elf.File) (table *gosym.Table) {
	s, text := goSection(f), f.Section(".text")
	if s == nil || text == nil {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	addr := text.Addr
	undamaged(func() {
		if t := goTableOf(f); t != nil && t.findText(f) {
			addr = t.text
		}
	})
	undamaged(func() { table, _ = gosym.NewTable(nil, gosym.NewLineTable(b, addr)) })
	return table
}

// goSection is where the table of a program's functions of Go is; nil: there is none.
func goSection(f *elf.File) *elf.Section {
	i := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return strings.HasSuffix(s.Name, ".gopclntab") })
	if i < 0 {
		return nil
	}
	return f.Sections[i]
}

// goTable is what Go's linker tells the runtime of a program's functions (runtime/symtab.go).
type goTable struct {
	format    goFormat
	names     []byte // each ends with a zero
	values    []byte // what counts from which instruction on
	functions []goFunction
	text      uint64 // the address that entries count from
	trees     []byte // what trees count from
}

// goFormat is what differs between versions of the table.
type goFormat struct {
	magic    uint32
	counted  int // offset in a function's description of the number of its tables of data
	call     int // size of an inlined call
	callee   int // offset in it of its name
	parentPC int
}

var goFormats = []goFormat{
	{0xfffffff0, 39, 20, 12, 16}, // Go 1.18
	{0xfffffff1, 43, 16, 4, 8},   // Go 1.20
}

// goFunction is a function with its own code.
type goFunction struct {
	entry, size uint32
	name        uint32
	// offset of the numbers of inlined calls, by instruction; 0: none was inlined
	calls uint32
	tree  uint32 // offset of the inlined calls
}

// goTableOf reads the table of a program; nil: there is none in a known format.
func goTableOf(f *elf.File) *goTable {
	s := goSection(f)
	if s == nil {
		return nil
	}
	b, err := s.Data()
	if err != nil || len(b) < 72 {
		return nil
	}
	magic := binary.LittleEndian.Uint32(b)
	k := slices.IndexFunc(goFormats, func(x goFormat) bool { return x.magic == magic })
	if k < 0 || b[6] != 1 || b[7] != 8 { // neither of this processor
		return nil
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	t := &goTable{format: goFormats[k], names: b[word(4):word(5)], values: b[word(7):]}
	described := b[word(8):]
	u32 := func(at uint32) uint32 { return binary.LittleEndian.Uint32(described[at:]) }
	for i := range uint32(word(1)) {
		entry, at := u32(8*i), u32(8*i+4)
		g := goFunction{entry: entry, size: u32(8*i+8) - entry, name: u32(at + 4)}
		counted := uint32(t.format.counted)
		data := at + counted + 1 + 4*u32(at+28)
		const treeIndex, tree = 2, 3 // of the runtime's PCDATA and FUNCDATA
		if u32(at+28) > treeIndex && described[at+counted] > tree && u32(data+4*tree) != ^uint32(0) {
			g.calls, g.tree = u32(at+counted+1+4*treeIndex), u32(data+4*tree)
		}
		t.functions = append(t.functions, g)
	}
	return t
}

// run is a piece of a function's code that belongs to an inlined call, or with -1 to itself.
type run struct {
	from, to uint32
	call     int32
}

// runs are those of a function.
func (t *goTable) runs(g *goFunction) (all []run) {
	b := t.values[g.calls:]
	next := func() uint32 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return uint32(v)
	}
	call, at := int32(-1), uint32(0)
	for first := true; ; first = false {
		delta := next()
		if delta == 0 && !first {
			return all
		}
		call += int32(delta>>1) ^ -int32(delta&1)
		all = append(all, run{at, at + next(), call})
		at = all[len(all)-1].to
	}
}

// callee is the name of an inlined call of a function.
func (t *goTable) callee(g *goFunction, call int32) uint32 {
	return binary.LittleEndian.Uint32(t.trees[int(g.tree)+int(call)*t.format.call+t.format.callee:])
}

// parent is the inlined call within which another one is, or -1. It is before the other one in the
// tree. not ok: the other one is outside of the function.
func (t *goTable) parent(g *goFunction, runs []run, call int32) (parent int32, ok bool) {
	at := binary.LittleEndian.Uint32(t.trees[int(g.tree)+int(call)*t.format.call+t.format.parentPC:])
	i, ok := slices.BinarySearchFunc(runs, at, func(r run, at uint32) int {
		if r.to <= at {
			return -1
		}
		return int(max(r.from, at) - at)
	})
	if !ok {
		return -1, false
	}
	return runs[i].call, true
}

// copies appends where copies of wanted functions begin in the code of a function. Such a copy may
// be in several pieces, of which the one with the lowest address is the first.
func (t *goTable) copies(g *goFunction, wanted map[uint32]string, all []Beginning) []Beginning {
	if g.calls == 0 {
		return all
	}
	runs := t.runs(g)
	if !t.isTree(g, runs) {
		return all
	}
	var known []int32
	for _, r := range runs {
		found := int32(-1) // the outermost one
		for call := r.call; call >= 0; call, _ = t.parent(g, runs, call) {
			if wanted[t.callee(g, call)] != "" {
				found = call
			}
		}
		if found >= 0 && !slices.Contains(known, found) {
			known = append(known, found)
			all = append(all, Beginning{wanted[t.callee(g, found)], t.text + uint64(g.entry) + uint64(r.from)})
		}
	}
	return all
}

// stackCheck begins functions of Go that may need more stack: cmp 0x10(%r14), %rsp.
var stackCheck = []byte{0x49, 0x3b, 0x66, 0x10}

// findText finds the address from which entries count. It is that of the section, unless there is
// code of another language before it.
func (t *goTable) findText(f *elf.File) bool {
	s := f.Section(".text")
	if s == nil {
		return false
	}
	b, err := s.Data()
	if err != nil {
		return false
	}
	const samples, alignment = 64, 16
	every := max(1, len(t.functions)/samples)
	for base := 0; base < len(b); base += alignment {
		same := 0
		for i := 0; i < len(t.functions); i += every {
			if at := base + int(t.functions[i].entry); at < len(b) && bytes.HasPrefix(b[at:], stackCheck) {
				same++
			}
		}
		if same*every*4 >= len(t.functions) {
			t.text = s.Addr + uint64(base)
			return true
		}
	}
	return false
}

// findTrees finds from where the trees of inlined calls count. Only a variable of the runtime has
// that address, at a place that differs from version to version. But there is only one address from
// which all trees are such: names of functions, each of which is called within another one.
func (t *goTable) findTrees(f *elf.File) bool {
	const samples = 256
	var inlining []*goFunction
	for i := range t.functions {
		if g := &t.functions[i]; g.calls > 0 {
			inlining = append(inlining, g)
		}
	}
	if len(inlining) == 0 {
		return false
	}
	var all []*goFunction
	var runs [][]run
	every := (len(inlining) + samples - 1) / samples
	for i := 0; i < len(inlining); i += every {
		all, runs = append(all, inlining[i]), append(runs, t.runs(inlining[i]))
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_ALLOC == 0 || s.Flags&elf.SHF_EXECINSTR != 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			continue
		}
		for at := 0; at < len(b); at += 4 {
			t.trees = b[at:]
			fits := true
			for i := 0; i < len(all) && fits; i++ {
				fits = t.isTree(all[i], runs[i])
			}
			if fits {
				return true
			}
		}
	}
	return false
}

// isTree reports whether there is a tree where a function has its own.
func (t *goTable) isTree(g *goFunction, runs []run) bool {
	for _, r := range runs {
		at := int(g.tree) + int(r.call)*t.format.call
		if r.call < 0 {
			continue
		}
		if at+t.format.call > len(t.trees) {
			return false
		}
		if name := t.callee(g, r.call); name == 0 || int(name) >= len(t.names) || t.names[name-1] != 0 ||
			t.names[name] == 0 {
			return false
		}
		if parent, ok := t.parent(g, runs, r.call); !ok || parent >= r.call {
			return false
		}
	}
	return true
}
