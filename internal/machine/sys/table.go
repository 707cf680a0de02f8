// Package sys is the table of system calls: how Ariadne treats each call of Linux, and the
// handlers, a file sys_<family>.go for each family. A handler reads the caller's memory and calls
// kernel objects. Then it decides: return a value, fail with an errno, wait, or let Linux run the
// call. It keeps no state of its own.
//
// The other files have what several families use. The files stand in one order, and each uses
// those before it alone: TestFloors of the root has that order.
//
// Read next: table.go, calls.go and handle.go, then any sys_<family>.go.
package sys

import (
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
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

// Row is all that is true of one system call.
type Row struct {
	NR      int
	Name    string
	Level   Level
	Note    string // for Partial: what falls short; for Refused: why
	Handler Handler
	// Errno is what a refused call answers; 0 means ENOSYS.
	Errno kernel.Errno
	// Harmless: programs are known to handle the refusal (docs/internals/limits.md).
	Harmless bool

	// Runs says when the filter lets Linux run the call without a stop.
	Runs Runs
	// Asks is what a program that polls asks by it.
	Asks Question
	// ReadsClock: it reads a clock, also one of processor time, or what is left of a time. Its
	// handler says whether it tells the time. Transfers: it returns how much it has read or
	// written.
	ReadsClock, Transfers bool
	// AsksSize: it asks for more of the file that it names than whether and what there is.
	AsksSize bool

	// Alone: it acts on the caller alone or on the memory of its process, or reads ids, random
	// bytes or the clock. In which order it is made with other threads' calls is taken not to
	// matter.
	Alone bool

	paths []pathArg // arguments with paths
	// syncs reports whether it has something written to the disk before it returns, and which file,
	// or "": all.
	syncs func(t *kernel.Thread, a Args) (file string, ok bool)
	// what it changes of files, or has written of them; nil: nothing, or its handler enters it
	records recorder
	// Fails are the ways in which it may fail although nothing is wrong with it.
	Fails []Failure
}

// Runs says when a call runs without a stop (internal/machine/sandbox).
type Runs uint8

const (
	Stops Runs = iota
	Always
	Unseen             // not at all: it fails with ENOSYS and is not counted (rseq, once per thread)
	Elsewhere          // on memory that is surely none of Ariadne's
	MovedElsewhere     // mremap, when Linux chooses where to
	AdvisedElsewhere   // madvise, but for some advice (StopsAdvice)
	AnonymousElsewhere // mmap of private memory without a file, not too large
	OnSegment          // arch_prctl about the bases of segments
)

// Question is what a call asks that a program can poll with.
type Question uint8

const (
	NoQuestion Question = iota
	IsReady             // as such it changes nothing, whatever the answer is
	Take                // EAGAIN: there is nothing
	Give                // EAGAIN: there is no room
)

// Table is indexed by system call number (calls.go).
var Table [512]Row

// Of returns the row of a call, an empty one when there is none.
func Of(nr int) *Row {
	if nr < 0 || nr >= len(Table) {
		return &Row{}
	}
	return &Table[nr]
}

// full, partial, passed and refused are rows of one line.
func full(name string, h Handler, facts ...fact) Row {
	return Row{Name: name, Level: Full, Handler: h}.with(facts)
}
func partial(name string, h Handler, note string, facts ...fact) Row {
	return Row{Name: name, Level: Partial, Handler: h, Note: note}.with(facts)
}
func passed(name string, facts ...fact) Row {
	return Row{Name: name, Level: Passed, Runs: Always}.with(facts)
}
func refused(name string, errno kernel.Errno, harmless bool, why string, facts ...fact) Row {
	return Row{Name: name, Level: Refused, Errno: errno, Harmless: harmless, Note: why}.with(facts)
}

// fact is something else that is true of a call.
type fact func(*Row)

func (r Row) with(facts []fact) Row {
	for _, f := range facts {
		f(&r)
	}
	return r
}

func runs(when Runs) fact  { return func(r *Row) { r.Runs = when } }
func asks(q Question) fact { return func(r *Row) { r.Asks = q } }
func readsClock(r *Row)    { r.ReadsClock = true }
func transfers(r *Row)     { r.Transfers = true }
func asksSize(r *Row)      { r.AsksSize = true }
func alone(r *Row)         { r.Alone = true }
func names(at int) fact    { return namesAt(-1, at) }
func records(f recorder) fact {
	return func(r *Row) { r.records = f }
}
func syncs(f func(t *kernel.Thread, a Args) (file string, ok bool)) fact {
	return func(r *Row) { r.syncs = f }
}
func namesAt(dir, at int) fact {
	return func(r *Row) { r.paths = append(r.paths, pathArg{dir, at}) }
}
func mayFail(f func(t *kernel.Thread, a Args) (on string, ok bool), errors string) fact {
	return func(r *Row) { r.Fails = append(r.Fails, Failure{strings.Fields(errors), f}) }
}

// Name is the name of a system call.
func Name(nr int) string {
	if nr >= 0 && nr < len(Table) && Table[nr].Name != "" {
		return Table[nr].Name
	}
	return callName(nr)
}
