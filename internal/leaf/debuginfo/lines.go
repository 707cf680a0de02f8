package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
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
		var e dwarf.LineEntry
		if r.SeekPC(addr, &e) == nil && e.File != nil {
			file, line = e.File.Name, e.Line
		}
	})
	return file, line
}
