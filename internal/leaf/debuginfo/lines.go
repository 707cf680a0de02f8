package debuginfo

import (
	"debug/dwarf"
	"debug/elf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/reader"
)

// Lines say to which line of its source the code of a program belongs.
type Lines struct{ data *dwarf.Data }

// LinesOf are those of a program; nil: it has no debug information that can be read.
func LinesOf(f *elf.File) *Lines {
	f, closed, err := described(f)
	if err != nil || f == nil {
		return nil
	}
	defer closed()
	data, err := f.DWARF()
	if err != nil {
		return nil
	}
	return &Lines{data}
}

// At is the line of an address, which is one of the file's own; line 0: it is not known.
func (l *Lines) At(addr uint64) (file string, line int) {
	undamaged(func() {
		unit, err := l.data.Reader().SeekPC(addr)
		if err != nil {
			return
		}
		r, err := l.data.LineReader(unit)
		if err != nil || r == nil {
			return
		}
		// SeekPC of the library gives up where the unit's sequences are not in the order of their
		// addresses, as those of a C program whose main stands apart (.text.startup).
		var last, e dwarf.LineEntry
		for last.EndSequence = true; r.Next(&e) == nil; last = e {
			if !last.EndSequence && last.File != nil && last.Address <= addr && addr < e.Address {
				file, line = last.File.Name, last.Line
				return
			}
		}
	})
	return file, line
}

// Inlined is a function whose code stands within that of its caller, and where it is called there.
type Inlined struct {
	Function string
	File     string
	Line     int
}

// Inlined returns the functions that were inlined at an address, innermost first.
func (l *Lines) Inlined(addr uint64) (all []Inlined) {
	undamaged(func() {
		unit, err := l.data.Reader().SeekPC(addr)
		if err != nil {
			return
		}
		offset, ok := l.subprogram(unit, addr)
		if !ok {
			return
		}
		tree, err := godwarf.LoadTree(offset, l.data, 0)
		if err != nil {
			return
		}
		var files []*dwarf.LineFile
		if r, err := l.data.LineReader(unit); err == nil && r != nil {
			files = r.Files()
		}
		for _, n := range reader.InlineStack(tree, addr) {
			var i Inlined
			i.Function, _ = n.Val(dwarf.AttrName).(string)
			line, _ := n.Val(dwarf.AttrCallLine).(int64)
			i.Line = int(line)
			if k, _ := n.Val(dwarf.AttrCallFile).(int64); k >= 0 && k < int64(len(files)) && files[k] != nil {
				i.File = files[k].Name
			}
			all = append(all, i)
		}
	})
	return all
}

// subprogram finds the function of a unit that has an address.
func (l *Lines) subprogram(unit *dwarf.Entry, addr uint64) (offset dwarf.Offset, ok bool) {
	r := l.data.Reader()
	r.Seek(unit.Offset)
	if e, err := r.Next(); err != nil || e == nil {
		return 0, false
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		switch {
		case err != nil || e == nil:
			return 0, false
		case e.Tag == 0:
			depth--
			continue
		case e.Tag == dwarf.TagSubprogram:
			ranges, _ := l.data.Ranges(e)
			for _, x := range ranges {
				if x[0] <= addr && addr < x[1] {
					return e.Offset, true
				}
			}
		case e.Tag == dwarf.TagNamespace && e.Children: // of C++ and Rust
			depth++
			continue
		}
		r.SkipChildren()
	}
	return 0, false
}
