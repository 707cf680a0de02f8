package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/op"
)

// ErrSeveral is wrapped in the error about a variable's name that several have.
var ErrSeveral = errors.New("may be one of several")

// variable is one whose name is the beginning of a query's.
type variable struct {
	query    int
	entry    *dwarf.Entry
	declared dwarf.Offset // what it is defined for elsewhere, or its own
	name     string       // with the unit when it is its own
	exact    bool         // the query names it as it is
	rest     string       // of the query
}

// variable adds a description of a variable, or of the member of all of a class, to those that are
// wanted. within are the names of what is around it.
func (p *program) variable(e *dwarf.Entry, within []string) {
	if of, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
		for _, v := range slices.Clone(p.variables) {
			if v.entry.Offset == of {
				v.entry, v.declared = e, of
				p.variables = append(p.variables, v)
			}
		}
		return
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	if name == "" || e.Tag == dwarf.TagMember && e.Val(dwarf.AttrExternal) == nil {
		return
	}
	full := strings.Join(append(slices.Clone(within[1:]), name), "::")
	for i, q := range p.queries {
		if q.Variable == "" {
			continue
		}
		for end := 0; end <= len(q.Variable); end++ {
			if end < len(q.Variable) && q.Variable[end] != '.' && q.Variable[end] != '[' {
				continue
			}
			head := q.Variable[:end]
			if head != "" && (Matches(full, head) || strings.HasSuffix(full, "::"+head)) {
				v := variable{query: i, entry: e, declared: e.Offset, name: full, exact: full == head,
					rest: q.Variable[end:]}
				if external, _ := e.Val(dwarf.AttrExternal).(bool); !external && len(within) == 1 {
					v.name = full + " of " + within[0]
				}
				p.variables = append(p.variables, v)
			}
		}
	}
}

// rests adds where the variables are that are wanted.
func (p *program) rests() error {
	for i, q := range p.queries {
		if q.Variable == "" {
			continue
		}
		// Of several the one whose whole name was given, or as much of it as possible.
		var all []variable
		for _, v := range p.variables {
			if v.query != i || v.entry.Val(dwarf.AttrLocation) == nil && v.entry.Val(dwarf.AttrConstValue) == nil {
				continue
			}
			if len(all) > 0 {
				a := all[0]
				if a.exact && !v.exact || a.exact == v.exact && len(a.rest) < len(v.rest) {
					continue
				}
				if a.exact != v.exact || len(a.rest) > len(v.rest) {
					all = nil
				}
			}
			if !slices.ContainsFunc(all, func(a variable) bool { return a.name == v.name }) {
				all = append(all, v)
			}
		}
		switch {
		case len(all) == 0:
			continue
		case len(all) > 1:
			var names []string
			for _, v := range all {
				names = append(names, v.name)
			}
			slices.Sort(names)
			p.ambiguous = fmt.Errorf("variable %s %w: %s", q.Variable, ErrSeveral, strings.Join(names, ", "))
			continue
		}
		if err := p.rest(i, &all[0]); err != nil {
			return fmt.Errorf("variable %s: %w", q.Variable, err)
		}
	}
	return nil
}

// rest adds a variable.
func (p *program) rest(query int, v *variable) error {
	addr, err := p.address(v.entry)
	if err != nil {
		return err
	}
	typ, ok := v.entry.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		r := p.data.Reader()
		r.Seek(v.declared)
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		if typ, ok = e.Val(dwarf.AttrType).(dwarf.Offset); !ok {
			return errors.New("it has no type")
		}
	}
	t, err := p.data.Type(typ)
	if err != nil {
		return err
	}
	s := Site{Query: query, Kind: Rests, Addr: addr}
	exprs := []string{""}
	if fields := p.queries[query].Values; len(fields) > 0 {
		exprs = slices.Clone(fields)
	}
	for _, expr := range exprs {
		rest := v.rest
		if expr != "" && expr[0] != '[' {
			rest += "."
		}
		way, err := wayFrom(t, rest+expr)
		if err != nil {
			if expr != "" {
				err = fmt.Errorf("%s: %w", expr, err)
			}
			return err
		}
		s.values = append(s.values, value{typ: t, way: way})
	}
	p.found = append(p.found, s)
	return nil
}

// address is where a variable is, which must be the same in all threads.
func (p *program) address(e *dwarf.Entry) (uint64, error) {
	expr, _ := e.Val(dwarf.AttrLocation).([]byte)
	switch {
	case len(expr) == 9 && op.Opcode(expr[0]) == op.DW_OP_addr:
		return binary.LittleEndian.Uint64(expr[1:]), nil
	case len(expr) > 1 && op.Opcode(expr[0]) == opAddrx:
		index, n := binary.Uvarint(expr[1:])
		if n+1 == len(expr) && p.addrs != nil {
			return p.addrs.GetSubsection(p.addrBase(e)).Get(index)
		}
	case len(expr) > 0 && op.Opcode(expr[len(expr)-1]) == op.DW_OP_form_tls_address, len(expr) > 0 &&
		expr[len(expr)-1] == opGNUPushTLS:
		return 0, errors.New("each thread has one of its own, and which is not known")
	}
	return 0, errors.New("the compiler has left none of it in memory")
}

const (
	opAddrx      = op.Opcode(0xa1)
	opGNUPushTLS = 0xe0
)

// addrBase is where the addresses of an entry's unit begin.
func (p *program) addrBase(e *dwarf.Entry) uint64 {
	var base int64
	r := p.data.Reader()
	for {
		u, err := r.Next()
		if err != nil || u == nil || u.Offset > e.Offset {
			return uint64(base)
		}
		base, _ = u.Val(dwarf.AttrAddrBase).(int64)
		r.SkipChildren()
	}
}

// Rest is what is wanted of a variable now. bias is what the program's addresses are more than
// those of its file.
func (s *Site) Rest(m Machine, bias uint64) (texts []string) {
	for i := range s.values {
		texts = append(texts, text(func() string { return s.values[i].along(m, content{addr: s.Addr + bias}) }))
	}
	return texts
}
