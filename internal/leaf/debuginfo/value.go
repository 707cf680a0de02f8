package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-delve/delve/pkg/dwarf/op"
)

// value is an expression of parameters, or of a variable: one, and a way from it through fields,
// pointers and elements.
type value struct {
	param param
	at    location
	typ   dwarf.Type // of the parameter
	way   []step

	keep bool // it is the parameter's bytes that are wanted

	// Where a function returns:
	place *place // of a result; nil: it is something that was kept when the function was called
	kept  int    // its place among what was kept
	old   bool   // what was kept is a text
}

// value is what of a value at a function's end is to be kept when it is called.
func (v *value) value() value {
	w := value{param: v.param, typ: v.typ, way: v.way, keep: !v.old}
	if w.keep {
		w.way = nil
	}
	return w
}

// step is one from a value to a part of it, if it is a pointer to what it points to.
type step struct {
	field *dwarf.StructField
	index string // nil field: of an element, or the text of a key
}

// newValue understands an expression.
func newValue(expr string, params []param, data *dwarf.Data) (v value, err error) {
	name, rest := expr, ""
	if i := strings.IndexAny(expr, ".["); i >= 0 {
		name, rest = expr[:i], expr[i:]
	}
	var known []string
	for _, q := range params {
		if q.name == name {
			v.param = q
		}
		known = append(known, q.name)
	}
	if v.param.entry == nil {
		if known == nil {
			return v, fmt.Errorf("%s: it has no parameters", expr)
		}
		return v, fmt.Errorf("%s: its parameters are %s", expr, strings.Join(known, ", "))
	}
	if v.typ, err = data.Type(v.param.typ); err == nil {
		v.way, err = wayFrom(v.typ, rest)
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", expr, err)
	}
	return v, nil
}

// wayFrom understands the part of an expression behind its first name, as in ".state.peers[2].id",
// and says whether what it leads to can be read.
func wayFrom(t dwarf.Type, rest string) (way []step, err error) {
	for rest != "" {
		var s step
		if rest[0] == '[' {
			end := strings.IndexByte(rest, ']')
			if end < 2 {
				return nil, errors.New("an element is as in [2]")
			}
			s.index, rest = rest[1:end], rest[end+1:]
			if t, err = elementType(t); err != nil {
				return nil, err
			}
			way = append(way, s)
			continue
		}
		end := strings.IndexAny(rest[1:], ".[") + 1
		if end == 0 {
			end = len(rest)
		}
		name := rest[1:end]
		if rest[0] != '.' || name == "" {
			return nil, fmt.Errorf("%q is no field", rest)
		}
		rest, t = rest[end:], plain(t)
		if p, ok := t.(*dwarf.PtrType); ok {
			t = plain(p.Type)
		}
		of, ok := t.(*dwarf.StructType)
		if !ok {
			return nil, fmt.Errorf("there is no field %s in %s", name, t)
		}
		var known []string
		for _, f := range of.Field {
			if f.Name == name {
				s.field = f
			}
			known = append(known, f.Name)
		}
		if s.field == nil || s.field.BitSize != 0 {
			return nil,
				fmt.Errorf("the fields of %s are %s, and bit fields are not read", of.StructName,
					strings.Join(known, ", "))
		}
		way, t = append(way, s), s.field.Type
	}
	if why := unreadable(plain(t), 0); why != "" {
		return nil, errors.New(why)
	}
	return way, nil
}

// elementType is the type of the elements of what has some, or of what that points to.
func elementType(t dwarf.Type) (dwarf.Type, error) {
	t = plain(t)
	if g, err := goMapOf(t); g != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return g.elem, nil
	}
	p, pointer := t.(*dwarf.PtrType)
	if pointer {
		t = plain(p.Type)
	}
	switch of := t.(type) {
	case *dwarf.ArrayType:
		return of.Type, nil
	case *dwarf.StructType:
		if strings.HasPrefix(of.StructName, "[]") {
			return elementOf(of), nil
		}
	}
	if pointer && sizeOf(t) > 0 {
		return t, nil
	}
	return nil, fmt.Errorf("a %s has no elements", t)
}

// take goes a step, from a value somewhere. nothing: there is none, as where a pointer leads
// nowhere.
func (s *step) take(m Machine, t dwarf.Type, c content) (_ dwarf.Type, _ content, nothing bool, err error) {
	t = plain(t)
	if s.field == nil {
		if g, err := goMapOf(t); g != nil || err != nil {
			if err != nil {
				return nil, c, false, err
			}
			at, found, err := g.find(m, c, s.index)
			return g.elem, at, !found, err
		}
	}
	p, pointer := t.(*dwarf.PtrType)
	if pointer {
		if c, err = c.pointer(m); err != nil || c.addr == 0 {
			return nil, c, err == nil, err
		}
		t = plain(p.Type)
	}
	if s.field != nil {
		return s.field.Type, c.at(s.field.ByteOffset), false, nil
	}
	i, err := strconv.ParseUint(s.index, 0, 32)
	if err != nil {
		return nil, c, false, err
	}
	n := int64(i)
	switch of := t.(type) {
	case *dwarf.ArrayType:
		return of.Type, c.at(n * sizeOf(of.Type)), of.Count > 0 && n >= of.Count, nil
	case *dwarf.StructType:
		if strings.HasPrefix(of.StructName, "[]") {
			b, err := c.get(m, 8, 8)
			if err != nil || uint64(n) >= binary.LittleEndian.Uint64(b) {
				return nil, c, err == nil, err
			}
			if c, err = c.pointer(m); err != nil {
				return nil, c, false, err
			}
			return elementOf(of), c.at(n * sizeOf(elementOf(of))), false, nil
		}
	}
	return t, c.at(n * sizeOf(t)), false, nil
}

// plain is a type without names and qualifiers.
func plain(t dwarf.Type) dwarf.Type {
	for {
		switch x := t.(type) {
		case *dwarf.TypedefType:
			// Go names its structures by typedefs; they have their names in the structure, too.
			t = x.Type
		case *dwarf.QualType:
			t = x.Type
		default:
			return t
		}
	}
}

// The most that is read of one value: bytes of a text, elements of a list, structures in each
// other.
const mostBytes, mostElements, mostDepth = 1024, 64, 3

// unreadable says what of a type is not read; "": all is.
func unreadable(t dwarf.Type, depth int) string {
	switch t := plain(t).(type) {
	case *dwarf.IntType, *dwarf.UintType, *dwarf.CharType, *dwarf.UcharType, *dwarf.BoolType, *dwarf.FloatType, *dwarf.EnumType:
		return ""
	case *dwarf.PtrType:
		g, err := goMapOf(t)
		switch {
		case err != nil:
			return err.Error()
		case g == nil:
			return ""
		case depth == mostDepth:
			return fmt.Sprintf("a %s is not read: name what of it matters", g.name)
		}
		if why := unreadable(g.key, depth+1); why != "" {
			return why
		}
		return unreadable(g.elem, depth+1)
	case *dwarf.ArrayType:
		return unreadable(t.Type, depth)
	case *dwarf.StructType:
		switch {
		case t.StructName == "string", isText(t):
			return ""
		case strings.HasPrefix(t.StructName, "[]"):
			return unreadable(elementOf(t), depth)
		case t.Kind == "union", strings.HasPrefix(t.StructName, "runtime."), depth == mostDepth:
			return fmt.Sprintf("a %s is not read: name what of it matters", t)
		}
		for _, f := range t.Field {
			if why := unreadable(f.Type, depth+1); why != "" {
				return why
			}
		}
		return ""
	}
	return fmt.Sprintf("a %s is not read", t)
}

// isText reports whether a type is std::string, as the GNU library has it.
func isText(t *dwarf.StructType) bool {
	return strings.HasPrefix(t.StructName, "basic_string<char,") && t.ByteSize == 32
}

// elementOf is the type of the elements of a slice in Go.
func elementOf(t *dwarf.StructType) dwarf.Type {
	for _, f := range t.Field {
		if p, ok := plain(f.Type).(*dwarf.PtrType); ok && f.Name == "array" {
			return p.Type
		}
	}
	return &dwarf.VoidType{}
}

// content is what is in memory or, when bytes is not nil, in registers.
type content struct {
	addr  uint64
	bytes []byte
}

// get is its bytes from an offset on.
func (c content) get(m Machine, off, size int64) ([]byte, error) {
	if c.bytes != nil {
		if off+size > int64(len(c.bytes)) {
			return nil, fmt.Errorf("only %d bytes are there", len(c.bytes))
		}
		return c.bytes[off : off+size], nil
	}
	b := make([]byte, size)
	return b, m.Read(b, c.addr+uint64(off))
}

// at is what begins at an offset.
func (c content) at(off int64) content {
	if c.bytes != nil {
		return content{bytes: c.bytes[min(off, int64(len(c.bytes))):]}
	}
	return content{addr: c.addr + uint64(off)}
}

// pointer is what a pointer at its beginning points to.
func (c content) pointer(m Machine) (content, error) {
	b, err := c.get(m, 0, 8)
	if err != nil {
		return c, err
	}
	return content{addr: binary.LittleEndian.Uint64(b)}, nil
}

// read is the value in text.
func (v *value) read(m Machine, regs *op.DwarfRegisters, read op.ReadMemoryFunc) string {
	c, ok := v.content(regs, read)
	if !ok {
		return Unknown
	}
	return v.along(m, c)
}

// along follows the way from where the parameter is, and reads what is there.
func (v *value) along(m Machine, c content) string {
	t := v.typ
	for i := range v.way {
		var nothing bool
		var err error
		if t, c, nothing, err = v.way[i].take(m, t, c); err != nil {
			return Unknown
		}
		if nothing {
			return "nil"
		}
	}
	text, err := format(m, t, c)
	if err != nil {
		return Unknown
	}
	return text
}

// content is where the parameter is.
func (v *value) content(regs *op.DwarfRegisters, read op.ReadMemoryFunc) (content, bool) {
	switch {
	case !v.at.known:
		return content{}, false
	case v.at.fixed:
		return content{bytes: binary.LittleEndian.AppendUint64(nil, uint64(v.at.value))}, true
	}
	addr, pieces, err := op.ExecuteStackProgram(*regs, v.at.expr, 8, read)
	if err != nil {
		return content{}, false
	}
	if pieces == nil {
		return content{addr: uint64(addr)}, true
	}
	b := []byte{}
	for _, p := range pieces {
		size := p.Size
		if size == 0 {
			size = int(v.typ.Size())
		}
		from := make([]byte, max(size, 8))
		switch p.Kind {
		case op.RegPiece:
			bytes := regs.Bytes(p.Val)
			if len(bytes) < size {
				return content{}, false
			}
			copy(from, bytes)
		case op.AddrPiece:
			if p.Val == 0 {
				return content{}, false // the compiler has left nothing of it
			}
			if _, err := read(from[:size], p.Val); err != nil {
				return content{}, false
			}
		case op.ImmPiece:
			binary.LittleEndian.PutUint64(from, p.Val)
			copy(from, p.Bytes)
		}
		b = append(b, from[:size]...)
	}
	return content{bytes: b}, true
}

// format is what is somewhere, by its type.
func format(m Machine, t dwarf.Type, c content) (string, error) {
	t = plain(t)
	size := t.Size()
	switch t := t.(type) {
	case *dwarf.StructType:
		return formatStruct(m, t, c)
	case *dwarf.ArrayType:
		if isChar(t.Type) {
			b, err := c.get(m, 0, min(size, mostBytes))
			return untilNUL(b), err
		}
		return formatList(m, t.Type, c, t.Count)
	case *dwarf.PtrType:
		if g, err := goMapOf(t); g != nil || err != nil {
			if err != nil {
				return "", err
			}
			return g.format(m, c)
		}
		p, err := c.pointer(m)
		switch {
		case err != nil:
			return "", err
		case p.addr == 0:
			return "nil", nil
		case isChar(t.Type):
			return textAt(m, p.addr)
		}
		return fmt.Sprintf("%#x", p.addr), nil
	}
	b, err := c.get(m, 0, size)
	if err != nil {
		return "", err
	}
	n := make([]byte, 8)
	copy(n, b)
	u := binary.LittleEndian.Uint64(n)
	signed := int64(u<<(64-8*size)) >> (64 - 8*size)
	switch t := t.(type) {
	case *dwarf.BoolType:
		return strconv.FormatBool(u&0xff != 0), nil
	case *dwarf.FloatType:
		if size == 4 {
			return strconv.FormatFloat(float64(math.Float32frombits(uint32(u))), 'g', -1, 32), nil
		}
		return strconv.FormatFloat(math.Float64frombits(u), 'g', -1, 64), nil
	case *dwarf.EnumType:
		for _, e := range t.Val {
			if e.Val == signed || uint64(e.Val) == u {
				return e.Name, nil
			}
		}
		return strconv.FormatInt(signed, 10), nil
	case *dwarf.UintType, *dwarf.UcharType:
		return strconv.FormatUint(u, 10), nil
	}
	return strconv.FormatInt(signed, 10), nil
}

func isChar(t dwarf.Type) bool {
	switch plain(t).(type) {
	case *dwarf.CharType, *dwarf.UcharType:
		return true
	}
	return false
}

func untilNUL(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// textAt is a text in C.
func textAt(m Machine, addr uint64) (string, error) {
	var b []byte
	for len(b) < mostBytes {
		// Up to the end of a page, behind which there may be nothing.
		more := make([]byte, min(64-addr%64, uint64(mostBytes-len(b))))
		if err := m.Read(more, addr); err != nil {
			return "", err
		}
		b, addr = append(b, more...), addr+uint64(len(more))
		if strings.ContainsRune(string(more), 0) {
			break
		}
	}
	return untilNUL(b), nil
}

// quoted is a text in a list, in quotes where it would not be clear where it ends.
func quoted(t dwarf.Type, text string) string {
	if s, ok := plain(t).(*dwarf.StructType); ok && s.StructName == "string" &&
		(text == "" || strings.ContainsAny(text, " \"")) {
		return strconv.Quote(text)
	}
	return text
}

func formatList(m Machine, t dwarf.Type, c content, count int64) (string, error) {
	var texts []string
	for i := range min(count, mostElements) {
		text, err := format(m, t, c.at(i*t.Size()))
		if err != nil {
			return "", err
		}
		texts = append(texts, quoted(t, text))
	}
	if count > mostElements {
		texts = append(texts, fmt.Sprintf("and %d more", count-mostElements))
	}
	return "[" + strings.Join(texts, " ") + "]", nil
}

func formatStruct(m Machine, t *dwarf.StructType, c content) (string, error) {
	list := strings.HasPrefix(t.StructName, "[]")
	if t.StructName == "string" || list || isText(t) { // where it is, and how long
		b, err := c.get(m, 8, 8)
		if err != nil {
			return "", err
		}
		n := int64(binary.LittleEndian.Uint64(b))
		p, err := c.pointer(m)
		if err != nil || n < 0 {
			return "", fmt.Errorf("no text or list")
		}
		if list && elementOf(t).Size() != 1 {
			return formatList(m, elementOf(t), p, n)
		}
		if n == 0 {
			return "", nil
		}
		text, err := p.get(m, 0, min(n, mostBytes))
		if err == nil && !utf8.Valid(text) {
			return fmt.Sprintf("%x", text), nil
		}
		return string(text), err
	}
	var texts []string
	for _, f := range t.Field {
		text, err := format(m, f.Type, c.at(f.ByteOffset))
		if err != nil {
			return "", err
		}
		texts = append(texts, f.Name+":"+text)
	}
	return "{" + strings.Join(texts, " ") + "}", nil
}
