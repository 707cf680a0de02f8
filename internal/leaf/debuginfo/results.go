package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
)

// Where what a function returns is when it does. Compilers do not say that in the debug
// information; the calling conventions do: ABIInternal of Go, and the System V ABI for C and C++.

// part is a part of a value in a register.
type part struct {
	register  int // a general one, as DWARF counts them, or a vector's
	vector    bool
	off, size int64 // in the value
}

// place is where a whole value is when a function returns: in registers, or in memory at an offset
// from the frame's address, or where rax says.
type place struct {
	parts   []part
	off     int64
	pointed bool
	unknown bool
}

// goRegisters are those of Go's results, as DWARF counts them: rax, rbx, rcx, rdi, rsi, r8 to r11.
var goRegisters = []int{0, 3, 2, 5, 4, 8, 9, 10, 11}

const goVectors = 15

// goAssignment is how values are given out to registers, and to the stack where there are none
// left.
type goAssignment struct {
	ints, floats int
	stack        int64
}

// give says where a value of a type goes; blank fields and what is not known give an error.
func (a *goAssignment) give(t dwarf.Type) (place, error) {
	size := sizeOf(t)
	ints, floats := a.ints, a.floats
	var parts []part
	ok, err := size > 0, error(nil)
	if ok {
		ok, err = a.registers(t, 0, &parts)
	}
	if err != nil || ok {
		return place{parts: parts}, err
	}
	a.ints, a.floats = ints, floats
	at := alignTo(a.stack, alignOf(t))
	a.stack = at + size
	return place{off: at}, nil
}

func (a *goAssignment) registers(t dwarf.Type, off int64, parts *[]part) (bool, error) {
	next := func(vector bool, off, size int64) bool {
		p := part{vector: vector, off: off, size: size}
		if vector {
			p.register = a.floats
			a.floats++
		} else if a.ints++; a.ints <= len(goRegisters) {
			p.register = goRegisters[a.ints-1]
		}
		*parts = append(*parts, p)
		return a.ints <= len(goRegisters) && a.floats <= goVectors
	}
	switch t := plain(t).(type) {
	case *dwarf.IntType, *dwarf.UintType, *dwarf.CharType, *dwarf.UcharType, *dwarf.BoolType, *dwarf.PtrType, *dwarf.FuncType, *dwarf.AddrType, *dwarf.UnspecifiedType:
		return next(false, off, sizeOf(t)), nil
	case *dwarf.FloatType:
		return next(true, off, sizeOf(t)), nil
	case *dwarf.ComplexType:
		half := sizeOf(t) / 2
		first := next(true, off, half)
		return next(true, off+half, half) && first, nil
	case *dwarf.ArrayType:
		if t.Count == 1 {
			return a.registers(t.Type, off, parts)
		}
		return t.Count == 0, nil
	case *dwarf.StructType:
		for _, f := range t.Field {
			if f.Name == "_" {
				return false, fmt.Errorf("where a %s is returned is not known", t)
			}
			if ok, err := a.registers(f.Type, off+f.ByteOffset, parts); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	return false, fmt.Errorf("where a %s is returned is not known", t)
}

// goResults says where a function of Go returns its results, with the frame's address behind the
// return address.
func goResults(params, results []dwarf.Type) ([]place, error) {
	var a goAssignment
	for _, t := range params {
		if _, err := a.give(t); err != nil {
			return nil, err
		}
	}
	a = goAssignment{stack: alignTo(a.stack, 8)}
	var all []place
	for _, t := range results {
		p, err := a.give(t)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func alignTo(n, to int64) int64 { return (n + to - 1) / to * to }

// sizeOf is a type's size in bytes.
func sizeOf(t dwarf.Type) int64 {
	switch t := plain(t).(type) {
	case *dwarf.FuncType, *dwarf.PtrType:
		return 8
	case *dwarf.ArrayType:
		return max(t.Count, 0) * sizeOf(t.Type)
	default:
		return max(t.Size(), 0)
	}
}

// alignOf is what addresses of values of a type are multiples of.
func alignOf(t dwarf.Type) int64 {
	switch t := plain(t).(type) {
	case *dwarf.ArrayType:
		return alignOf(t.Type)
	case *dwarf.StructType:
		most := int64(1)
		for _, f := range t.Field {
			most = max(most, alignOf(f.Type))
		}
		return most
	case *dwarf.ComplexType:
		return max(sizeOf(t)/2, 1)
	default:
		return max(min(sizeOf(t), 8), 1)
	}
}

// errMemory: a value is returned in memory.
var errMemory = errors.New("in memory")

// sysvResult says where a function of C or C++ returns a value.
func sysvResult(t dwarf.Type) (place, error) {
	size := sizeOf(t)
	if _, vector := plain(t).(*dwarf.ArrayType); vector || size == 0 {
		return place{}, fmt.Errorf("a %s is not read", t)
	}
	if size > 16 {
		return place{pointed: true}, nil
	}
	classes := make([]byte, (size+7)/8) // of each eight bytes: 0, 's' (vector register) or 'i'
	err := classify(t, 0, classes)
	if err == errMemory {
		return place{pointed: true}, nil
	}
	if err != nil {
		return place{}, err
	}
	var p place
	ints, vectors := 0, 0
	for i, c := range classes {
		q := part{off: 8 * int64(i), size: min(8, size-8*int64(i))}
		if c == 's' {
			q.vector, q.register = true, vectors
			vectors++
		} else {
			q.register = ints // rax is 0, rdx is 1
			ints++
		}
		p.parts = append(p.parts, q)
	}
	return p, nil
}

func classify(t dwarf.Type, off int64, classes []byte) error {
	size := sizeOf(t)
	if size == 0 {
		return nil
	}
	switch t := plain(t).(type) {
	case *dwarf.FloatType, *dwarf.ComplexType:
		if _, complex := t.(*dwarf.ComplexType); size > 8 && !(complex && size == 16) {
			return fmt.Errorf("a %s is not read", t)
		}
		for at := off; at < off+size; at += 8 {
			if classes[at/8] == 0 {
				classes[at/8] = 's'
			}
		}
		return nil
	case *dwarf.StructType:
		for _, f := range t.Field {
			if f.ByteOffset%alignOf(f.Type) != 0 && f.BitSize == 0 {
				return errMemory // packed
			}
			if err := classify(f.Type, off+f.ByteOffset, classes); err != nil {
				return err
			}
		}
		return nil
	case *dwarf.ArrayType:
		for i := range t.Count {
			if err := classify(t.Type, off+i*sizeOf(t.Type), classes); err != nil {
				return err
			}
		}
		return nil
	case *dwarf.IntType, *dwarf.UintType, *dwarf.CharType, *dwarf.UcharType, *dwarf.BoolType, *dwarf.PtrType, *dwarf.EnumType:
		for at := off; at < off+size; at += 8 {
			classes[at/8] = 'i'
		}
		return nil
	}
	return fmt.Errorf("where a %s is returned is not known", t)
}

// classes complains of a type of C++, by its description, when it may be returned in memory
// although it is small: one whose copies are made or destroyed by functions, or with fields of such
// a class, or with bases, whose fields are not among its own.
func (p *program) classes(typ dwarf.Offset, depth int) error {
	r := p.data.Reader()
	r.Seek(typ)
	e, err := r.Next()
	if err != nil || e == nil || depth == 2*mostDepth {
		return err
	}
	of, has := e.Val(dwarf.AttrType).(dwarf.Offset)
	switch e.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagArrayType, dwarf.TagMember:
		if has {
			return p.classes(of, depth+1)
		}
		return nil
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
	default:
		return nil
	}
	class, _ := e.Val(dwarf.AttrName).(string)
	unknown := fmt.Errorf("where a %s is returned is not known, since it has bases or its copies are made by functions", class)
	for e.Children {
		c, err := r.Next()
		if err != nil || c == nil || c.Tag == 0 {
			return err
		}
		name, _ := c.Val(dwarf.AttrName).(string)
		switch {
		case c.Tag == dwarf.TagInheritance, c.Tag == dwarf.TagSubprogram &&
			name == "~"+class, strings.HasPrefix(name, "_vptr"):
			return unknown
		case c.Tag == dwarf.TagSubprogram && name == class:
			refers, err := p.refers(c)
			if err != nil || refers {
				return cmp.Or(err, unknown)
			}
		case c.Tag == dwarf.TagMember && c.Val(dwarf.AttrExternal) == nil:
			if of, has := c.Val(dwarf.AttrType).(dwarf.Offset); has {
				if err := p.classes(of, depth+1); err != nil {
					return err
				}
			}
		}
		r.SkipChildren()
	}
	return nil
}

// refers reports whether a function has a parameter that is a reference.
func (p *program) refers(e *dwarf.Entry) (bool, error) {
	params, err := p.paramsAt(e)
	if err != nil {
		return false, err
	}
	for _, q := range params {
		r := p.data.Reader()
		r.Seek(q.typ)
		t, err := r.Next()
		if err != nil || t != nil && (t.Tag == dwarf.TagReferenceType || t.Tag == dwarf.TagRvalueReferenceType) {
			return true, err
		}
	}
	return false, nil
}
