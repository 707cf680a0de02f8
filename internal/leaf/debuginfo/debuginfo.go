// Package debuginfo finds functions of programs by their debug information (DWARF), what their
// parameters are where they begin, and what they return where they end: in which registers and
// where in memory, and of which types. Of Go's functions it also finds the copies that the compiler
// has put into others, by the table that Go's runtime has of them, which stripped programs keep.
//
// It reads files alone. The caller, which stops a program there, gives it registers and memory
// (Machine).
//
// Read next: internal/machine/node/probe.go.
package debuginfo

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	delve "github.com/go-delve/delve/pkg/dwarf"
	"github.com/go-delve/delve/pkg/dwarf/frame"
	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/leb128"
	"github.com/go-delve/delve/pkg/dwarf/loclist"
	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/dwarf/regnum"
)

// Query is a function, and what is wanted of its parameters: expressions like "r.state.term", which
// go through pointers. With Returns it is wanted where the function returns: parameters are then as
// they were when it was called, what they point to as it is then; "result", "result1" and so on, or
// their names, are what it returns; and "old(r.state.term)" is what it was when it was called.
//
// Or it is a variable, "main.server.peers", or a part of one, and what is wanted of that:
// expressions like "term", or all of it when there are none.
type Query struct {
	Function string
	Variable string
	Values   []string
	Returns  bool
	// Emulated: the site of the function's begin is to be at an instruction that Linux executes
	// itself at a probe, where there is one.
	Emulated bool
}

// Kind says what happens at a site.
type Kind uint8

// The kinds of sites.
const (
	Begins Kind = iota // a function begins, and its parameters can be read
	Returns
	Leaves // it may end by a jump to another function, which returns in its place
	Rests  // a variable is there
	Copied // a copy of the function begins that the compiler has put into another one, and whose end is not found
)

// Site is where a function begins, once its parameters are where they can be read, or where a copy
// of it does that the compiler has put into another function; or where it ends; or where a variable
// is.
type Site struct {
	Query  int    // its place in the list
	Addr   uint64 // in the file's own addresses
	Kind   Kind
	golang bool
	values []value
	cfa    frame.DWRule
	base   []byte // the frame's base, a location expression
}

// Sites are the places of each function in a program. A program without debug information, or
// without a function, has none; an expression that does not fit the function is an error. With an
// error that wraps ErrSeveral comes what was found of the others. separate opens a file of debug
// information by the program's build id; it may be nil.
func Sites(f *elf.File, queries []Query) (all []Site, err error) {
	defer func() {
		if p := recover(); p != nil {
			all, err = nil, fmt.Errorf("its debug information is damaged: %v", p)
		}
	}()
	code := f
	f, closed, err := described(f)
	if err != nil || f == nil {
		return nil, err
	}
	defer closed()
	data, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	p := &program{file: f, code: code, data: data, queries: queries, named: map[dwarf.Offset][]int{}}
	if err := p.sections(); err != nil {
		return nil, err
	}
	if err := p.names(); err != nil {
		return nil, err
	}
	if err := p.rests(); err != nil {
		return nil, err
	}
	if len(p.named) == 0 {
		return p.found, p.ambiguous
	}
	all, err = p.sites()
	return all, cmp.Or(err, p.ambiguous)
}

// described is the file that has a program's debug information: itself, or the one that
// distributions keep apart. nil: there is none.
func described(f *elf.File) (*elf.File, func(), error) {
	if f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil {
		return f, func() {}, nil
	}
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return nil, nil, nil
	}
	note, err := s.Data()
	if err != nil || len(note) < 18 {
		return nil, nil, err
	}
	id := fmt.Sprintf("%x", note[16:])
	other, err := elf.Open("/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	return other, func() { other.Close() }, nil
}

// program is the debug information of one.
type program struct {
	file     *elf.File
	code     *elf.File // has the code, which a file that is kept apart does not
	data     *dwarf.Data
	queries  []Query
	versions map[dwarf.Offset]uint8 // of compilation units
	lists    []byte                 // .debug_loclists
	list5    loclist.Reader
	list2    loclist.Reader
	addrs    *godwarf.DebugAddrSection
	frames   frame.FrameDescriptionEntries // nil: not read yet
	symbols  map[uint64][]string           // names of functions; nil: not read yet

	named     map[dwarf.Offset][]int // the queries of descriptions of functions
	variables []variable
	ambiguous error // wraps ErrSeveral
	found     []Site
}

func (p *program) section(name string) ([]byte, error) {
	b, err := godwarf.GetDebugSectionElf(p.file, name)
	if err != nil && p.file.Section(".debug_"+name) != nil {
		return nil, err
	}
	return b, nil
}

func (p *program) sections() error {
	info, err := p.section("info")
	if err != nil {
		return err
	}
	p.versions = delve.ReadUnitVersions(info)
	var loc, addr []byte
	for name, into := range map[string]*[]byte{"loclists": &p.lists, "loc": &loc, "addr": &addr} {
		if *into, err = p.section(name); err != nil {
			return err
		}
	}
	p.list5, p.list2, p.addrs = loclist.NewDwarf5Reader(p.lists), loclist.NewDwarf2Reader(loc, 8),
		godwarf.ParseAddr(addr)
	return nil
}

// names looks for descriptions of the functions that are wanted.
func (p *program) names() error {
	full := make([]map[string]bool, len(p.queries)) // names that match
	specified := map[dwarf.Offset]dwarf.Offset{}
	var within []string // names of what is around, from the unit on
	wanted := slices.ContainsFunc(p.queries, func(q Query) bool { return q.Variable != "" })
	r := p.data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if e.Tag == 0 {
			within = within[:len(within)-1]
			continue
		}
		switch e.Tag {
		case dwarf.TagVariable, dwarf.TagMember:
			if wanted {
				p.variable(e, within)
			}
			r.SkipChildren()
		case dwarf.TagSubprogram:
			if of, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
				specified[e.Offset] = of
			}
			for _, attr := range []dwarf.Attr{dwarf.AttrName, dwarf.AttrLinkageName} {
				name, _ := e.Val(attr).(string)
				for i, q := range p.queries {
					if q.Function != "" && Matches(name, q.Function) {
						if full[i] == nil {
							full[i] = map[string]bool{}
						}
						if !slices.Contains(p.named[e.Offset], i) {
							p.named[e.Offset] = append(p.named[e.Offset], i)
						}
						full[i][name] = true
					}
				}
			}
			r.SkipChildren()
		case dwarf.TagCompileUnit, dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagModule:
			if e.Children {
				name, _ := e.Val(dwarf.AttrName).(string)
				within = append(within, name)
			}
		default:
			r.SkipChildren()
		}
	}
	for def, of := range specified {
		if i, ok := p.named[of]; ok {
			p.named[def] = i
		}
	}
	for i, names := range full {
		if len(names) > 1 {
			all := make([]string, 0, len(names))
			for name := range names {
				all = append(all, name)
			}
			slices.Sort(all)
			return fmt.Errorf("function %s may be one of several: %s", p.queries[i].Function, strings.Join(all, ", "))
		}
	}
	return nil
}

// Matches reports whether a user may mean a function by a name: in Go that may be without what is
// before its package, or without its package.
func Matches(name, wanted string) bool {
	if name == wanted {
		return name != ""
	}
	before, ok := strings.CutSuffix(name, wanted)
	return ok &&
		(strings.HasSuffix(before, "/") || strings.HasSuffix(before, ".") && !strings.HasPrefix(wanted, "func"))
}

// unit is what counts of a compilation unit.
type unit struct {
	entry     *dwarf.Entry
	golang    bool
	base      uint64 // of its addresses in lists
	version   uint8
	addrs     *godwarf.DebugAddr
	listsBase int64
}

func (p *program) unit(e *dwarf.Entry) unit {
	u := unit{entry: e, version: p.versions[e.Offset]}
	if lang, ok := e.Val(dwarf.AttrLanguage).(int64); ok {
		u.golang = lang == 0x16
	}
	if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
		u.base = low
	}
	base, _ := e.Val(dwarf.AttrAddrBase).(int64)
	if p.addrs != nil {
		u.addrs = p.addrs.GetSubsection(uint64(base))
	}
	u.listsBase, _ = e.Val(dwarf.AttrLoclistsBase).(int64)
	return u
}

// sites looks for the code of the functions.
func (p *program) sites() ([]Site, error) {
	var u unit
	var within []*dwarf.Entry // entries that have children, from the unit on
	r := p.data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			return p.found, nil
		}
		if e.Tag == 0 {
			within = within[:len(within)-1]
			continue
		}
		if e.Tag == dwarf.TagCompileUnit {
			u = p.unit(e)
		}
		if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
			queries := p.named[e.Offset]
			if of, has := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); has && queries == nil {
				queries = p.named[of]
			}
			for _, i := range queries {
				if err := p.site(&u, e, within, i); err != nil {
					return nil, fmt.Errorf("function %s: %w", p.queries[i].Function, err)
				}
			}
		}
		if e.Children {
			within = append(within, e)
		}
	}
}

// site adds where a function, or a copy of it in another function, begins, if it has code.
func (p *program) site(u *unit, e *dwarf.Entry, within []*dwarf.Entry, query int) error {
	ranges, err := p.data.Ranges(e)
	if err != nil || len(ranges) == 0 || ranges[0][0] == 0 {
		return err
	}
	q := &p.queries[query]
	s := Site{Query: query, Addr: ranges[0][0], golang: u.golang}
	if at, ok := e.Val(dwarf.AttrEntrypc).(uint64); ok {
		s.Addr = at
	} else if off, ok := e.Val(dwarf.AttrEntrypc).(int64); ok {
		s.Addr += uint64(off)
	}
	function := e
	if e.Tag == dwarf.TagInlinedSubroutine {
		for _, w := range slices.Backward(within) {
			if w.Tag == dwarf.TagSubprogram {
				function = w
				break
			}
		}
	}
	s.base, _ = function.Val(dwarf.AttrFrameBase).([]byte)
	params, err := p.params(e)
	if err != nil {
		return err
	}
	var ending []value
	if q.Returns {
		if ending, err = p.ending(u, e, q, params); err != nil {
			return err
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			s.Kind = Copied
			p.found = append(p.found, s)
			return nil
		}
		for i := range ending {
			if v := &ending[i]; v.place == nil {
				v.kept = len(s.values)
				s.values = append(s.values, v.value())
			}
		}
	} else {
		wanted := slices.DeleteFunc(slices.Clone(params), func(q param) bool { return q.result })
		for _, expr := range q.Values {
			v, err := newValue(expr, wanted, p.data)
			if err != nil {
				return err
			}
			s.values = append(s.values, v)
		}
	}
	located := s.Addr
	if e.Tag == dwarf.TagSubprogram {
		s.Addr, err = p.begin(u, &s, ranges[0])
		if err != nil {
			return err
		}
		located = s.Addr
		if at, ok := p.emulated(u, &s, ranges[0]); ok && q.Emulated && !q.Returns {
			s.Addr, located = at, ranges[0][0]
		}
	}
	for i := range s.values {
		if s.values[i].at, err = p.located(u, s.values[i].param, located); err != nil {
			return err
		}
	}
	if s.cfa, err = p.cfa(s.Addr); err != nil {
		return err
	}
	if !q.Returns || len(s.values) > 0 {
		p.found = append(p.found, s)
	}
	if !q.Returns {
		return nil
	}
	exits, err := exitsOf(p.code, ranges)
	if err != nil {
		return err
	}
	for _, x := range exits {
		s := Site{Query: query, Addr: x.addr, Kind: Returns, golang: u.golang, values: ending}
		if x.jumps {
			s.Kind = Leaves
		}
		if s.cfa, err = p.cfa(s.Addr); err != nil {
			return err
		}
		// Only where its frame is gone does another function return in its place.
		if !x.jumps || s.cfa.Rule == frame.RuleCFA && s.cfa.Reg == regnum.AMD64_Rsp && s.cfa.Offset == 8 {
			p.found = append(p.found, s)
		}
	}
	return nil
}

// param is a parameter of a function.
type param struct {
	name   string
	typ    dwarf.Offset
	entry  *dwarf.Entry // says where it is; without an attribute for that it is nowhere
	result bool         // of a function in Go
}

// params are the parameters of a function, as it was written, which are where this code of it says.
func (p *program) params(e *dwarf.Entry) ([]param, error) {
	own, err := p.paramsAt(e)
	origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if err != nil || !ok {
		return own, err
	}
	r := p.data.Reader()
	r.Seek(origin)
	o, err := r.Next()
	if err != nil || o == nil {
		return nil, err
	}
	all, err := p.paramsAt(o)
	for i := range all {
		for _, q := range own {
			if of, _ := q.entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); of == all[i].entry.Offset {
				all[i].entry = q.entry
				break
			}
		}
	}
	return all, err
}

func (p *program) paramsAt(e *dwarf.Entry) ([]param, error) {
	var all []param
	r := p.data.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil || !e.Children {
		return nil, err
	}
	for {
		c, err := r.Next()
		if err != nil || c == nil || c.Tag == 0 {
			return all, err
		}
		if c.Tag == dwarf.TagFormalParameter {
			q := param{entry: c}
			q.result, _ = c.Val(dwarf.AttrVarParam).(bool)
			q.name, _ = c.Val(dwarf.AttrName).(string)
			q.typ, _ = c.Val(dwarf.AttrType).(dwarf.Offset)
			all = append(all, q)
		}
		r.SkipChildren()
	}
}

// begin is where the parameters of a function can be read first.
func (p *program) begin(u *unit, s *Site, code [2]uint64) (uint64, error) {
	ends, err := p.prologueEnd(u, code)
	if err != nil {
		return 0, err
	}
	fixed, all := false, true
	for i := range s.values {
		e := s.values[i].param.entry
		expr, _ := e.Val(dwarf.AttrLocation).([]byte)
		fixed = fixed || stored(expr, s.base)
		at, err := p.located(u, s.values[i].param, ends)
		if err != nil {
			return 0, err
		}
		all = all && at.known
	}
	// Who does not optimize stores parameters first, where they then are all the time. In Go the
	// prologue may be executed twice, where the stack grows.
	if u.golang && all || fixed {
		return ends, nil
	}
	return code[0], nil
}

// stored reports whether a function stores a parameter before it is where an expression says: in
// the function's frame. A value that stays in a register, or was given on the stack behind the
// frame's address, is there from the beginning on. base is the function's, an expression as well.
func stored(expr, base []byte) bool {
	if len(expr) == 0 || op.Opcode(expr[0]) >= op.DW_OP_reg0 && op.Opcode(expr[0]) <= op.DW_OP_reg31 {
		return false
	}
	if op.Opcode(expr[0]) == op.DW_OP_fbreg && len(base) == 1 && op.Opcode(base[0]) == op.DW_OP_call_frame_cfa {
		offset, _ := leb128.DecodeSigned(bytes.NewReader(expr[1:]))
		return offset < 0
	}
	return true
}

// prologueEnd is where the first line of a function begins, behind what makes its frame.
func (p *program) prologueEnd(u *unit, code [2]uint64) (uint64, error) {
	lines, err := p.data.LineReader(u.entry)
	if err != nil || lines == nil {
		return code[0], err
	}
	var l dwarf.LineEntry
	if err := lines.SeekPC(code[0], &l); err != nil {
		return code[0], nil // there are none of it
	}
	second := code[0]
	for l.Address < code[1] && !l.EndSequence {
		if l.PrologueEnd && l.Address >= code[0] {
			return l.Address, nil
		}
		if l.Address > code[0] && l.IsStmt && second == code[0] {
			second = l.Address
		}
		if lines.Next(&l) != nil {
			break
		}
	}
	return second, nil
}

// location is where a parameter is.
type location struct {
	known bool
	expr  []byte
	value int64 // when fixed
	fixed bool
}

// located says where a parameter is when the program is at an address.
func (p *program) located(u *unit, q param, at uint64) (location, error) {
	if v, ok := q.entry.Val(dwarf.AttrConstValue).(int64); ok {
		return location{known: true, fixed: true, value: v}, nil
	}
	f := q.entry.AttrField(dwarf.AttrLocation)
	if f == nil {
		return location{}, nil
	}
	if expr, ok := f.Val.([]byte); ok {
		return location{known: len(expr) > 0, expr: expr}, nil
	}
	off, ok := f.Val.(int64)
	if !ok {
		return location{}, fmt.Errorf("the location of %s is a %T", q.name, f.Val)
	}
	lists := p.list2
	if u.version >= 5 {
		if f.Class == dwarf.ClassLocList { // a number in a table
			at := u.listsBase + 4*off
			if at < 0 || at+4 > int64(len(p.lists)) {
				return location{}, fmt.Errorf("the location of %s is not in its section", q.name)
			}
			off = u.listsBase + int64(binary.LittleEndian.Uint32(p.lists[at:]))
		}
		lists = p.list5
	}
	if lists.Empty() {
		return location{}, nil
	}
	found, err := lists.Find(int(off), 0, u.base, at, u.addrs)
	if err != nil || found == nil {
		return location{}, err
	}
	return location{known: len(found.Instr) > 0, expr: found.Instr}, nil
}

// cfa says how the frame's address follows from registers, at an address.
func (p *program) cfa(at uint64) (frame.DWRule, error) {
	if p.frames == nil {
		for _, name := range []string{"frame", "eh_frame"} {
			var b []byte
			var addr uint64
			var err error
			if name == "frame" {
				b, err = p.section(name)
			} else if s := p.file.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
				addr = s.Addr
				b, err = s.Data()
			}
			if err != nil {
				return frame.DWRule{}, err
			}
			if len(b) == 0 {
				continue
			}
			all, err := frame.Parse(b, binary.LittleEndian, 0, 8, addr)
			if err != nil {
				return frame.DWRule{}, err
			}
			p.frames = p.frames.Append(all)
		}
	}
	fde, err := p.frames.FDEForPC(at)
	if err != nil {
		return frame.DWRule{}, nil // it has no frame: nothing is found by it
	}
	c, err := fde.EstablishFrame(at)
	if err != nil {
		return frame.DWRule{}, err
	}
	return c.CFA, nil
}
