// Package sys is the system-call table: for each call that Linux has, how
// Ariadne treats it, and the handlers, one file per family. A handler reads the
// caller's memory, calls kernel objects, and decides: a value, an errno, wait,
// or let Linux run the call. It keeps no state of its own.
//
// Read next: table.go, then any sys_<family>.go.
package sys

import (
	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// Args are the six arguments of a call.
type Args = [6]uint64

// Handler decides what becomes of one call.
type Handler func(t *kernel.Thread, a Args) kernel.Result

// Level says how well a call is emulated.
type Level uint8

const (
	Refused Level = iota // fails with ENOSYS (or Row.Errno) and is counted
	Partial              // some of it; Row.Note says what is missing
	Full
	Passed // Linux runs it without a stop: pure and local to the caller
)

// Row is one system call.
type Row struct {
	NR      int
	Name    string
	Level   Level
	Note    string // for Partial: what falls short; for Refused: why
	Handler Handler
	// Errno is what a refused call answers; 0 means ENOSYS.
	Errno kernel.Errno
	// Harmless: programs are known to handle the refusal (docs/limits.md).
	Harmless bool
}

// Table is indexed by system call number. Families add to it in their init.
var Table [512]Row

// register enters rows; it is called from each family's init.
func register(rows ...Row) {
	for _, r := range rows {
		if Table[r.NR].Name != "" {
			panic("sys: call registered twice: " + r.Name)
		}
		Table[r.NR] = r
	}
}

// full, partial, passed and refused are rows of one line.
func full(nr int, name string, h Handler) Row {
	return Row{NR: nr, Name: name, Level: Full, Handler: h}
}
func partial(nr int, name string, h Handler, note string) Row {
	return Row{NR: nr, Name: name, Level: Partial, Handler: h, Note: note}
}
func passed(nr int, name string) Row { return Row{NR: nr, Name: name, Level: Passed} }
func refused(nr int, name string, errno kernel.Errno, harmless bool, why string) Row {
	return Row{NR: nr, Name: name, Level: Refused, Errno: errno, Harmless: harmless, Note: why}
}

// Handle runs the handler of the call that t stands in.
func Handle(t *kernel.Thread) kernel.Result {
	nr := t.Call.NR
	if nr < 0 || nr >= len(Table) || Table[nr].Name == "" {
		t.Node().Refuse(t, callName(nr), formatArgs(t.Call.Args), false)
		return kernel.Fail(unix.ENOSYS)
	}
	r := &Table[nr]
	if r.Level == Refused {
		t.Node().Refuse(t, r.Name, formatArgs(t.Call.Args), r.Harmless)
		if r.Errno != 0 {
			return kernel.Fail(r.Errno)
		}
		return kernel.Fail(unix.ENOSYS)
	}
	if e := mayFollow(t); e != 0 {
		return kernel.Fail(e)
	}
	if r.Handler == nil {
		return kernel.Native
	}
	return r.Handler(t, t.Call.Args)
}

// Name is the name of a system call.
func Name(nr int) string {
	if nr >= 0 && nr < len(Table) && Table[nr].Name != "" {
		return Table[nr].Name
	}
	return callName(nr)
}
