//go:build linux

package node

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// Where programs read the clock. They read it from a page, without a stop. A node that notes such
// reads has each of them make a call, at which the thread's stack can be looked at. The call takes
// as long as the read, so that the node does what it does otherwise.

// readFrames is how many functions say where a clock is read, the innermost first.
const readFrames = 3

// clockReads are the reads of the clock that a node notes.
type clockReads struct {
	came bool         // the input has come: reads before it are none of the step
	jump int          // at this read, from 1, the clock goes on
	by   ariadne.Time // by so much
	then func(*thread)
	all  [][]ariadne.CodeLine
}

// NoteClockReads has the node note from now on where its programs read the clock. At read number
// jump, from 1, the clock goes on by a time; 0: at none.
func (n *Node) NoteClockReads(jump int, by ariadne.Time) {
	n.reads = &clockReads{jump: jump, by: by}
}

// atJump lets f see the thread whose read makes the clock go on.
func (n *Node) atJump(f func(*thread)) { n.reads.then = f }

// ClockReads are the reads that it has noted, in order: of each the functions that led to it.
func (n *Node) ClockReads() [][]ariadne.CodeLine { return n.reads.all }

// callCost is what the call takes at whose entry a thread stands.
func (n *Node) callCost() ariadne.Time {
	if n.stopsAtReads() && n.home.clock.Asked() {
		return kernel.ClockCost
	}
	return kernel.CallCost
}

// readTSC executes a read of the time stamp counter at which th stands: an instruction of length
// bytes, which also tells the processor's number (withAux).
func (n *Node) readTSC(th *thread, length int, withAux bool) {
	n.passTrapped(th)
	n.step.looksAtClock()
	if !th.inLoader() {
		n.k.TellTime()
	}
	n.noteRead(th)
	must(th.tr.SkipTSC(length, withAux, uint64(n.k.MonoBase)+uint64(n.k.Now)))
}

// beginReads has the node note reads from now on, if it does at all. The input has come.
func (n *Node) beginReads() {
	if n.reads != nil {
		n.reads.came = true
	}
}

// noteRead notes that th is about to read the clock.
func (n *Node) noteRead(th *thread) {
	r := n.reads
	if r == nil || !r.came {
		return
	}
	r.all = append(r.all, n.linesOf(th))
	if len(r.all) != r.jump {
		return
	}
	n.passTime(th, r.by)
	if r.then != nil {
		r.then(th)
	}
}

// readers are functions of which everybody makes use to read a clock. Those of Go switch stacks.
var readers = []string{"clock_gettime", "__clock_gettime", "gettimeofday", "time"}

// linesOf are the functions that have led th to where it stands, the innermost first.
func (n *Node) linesOf(th *thread) []ariadne.CodeLine {
	code := codeOf(th)
	lines, switched := code.lines(th, th.tr.SP())
	if switched {
		const r12 = 12 // where Go keeps the stack pointer meanwhile
		lines, _ = code.lines(th, th.tr.Registers()[r12])
	}
	return lines
}

// lines are the functions to which the words of a stack lead back. switched: the first is one of
// Go's that has switched to another stack.
func (m codeMap) lines(th *thread, sp uint64) (all []ariadne.CodeLine, switched bool) {
	first := true
	for at := sp &^ 7; at < sp+siteDepth; at += 512 {
		var b [512]byte
		if th.tr.ReadMem(at, b[:]) != 0 {
			break
		}
		for i := 0; i < len(b); i += 8 {
			addr := binary.LittleEndian.Uint64(b[i:])
			r, function, _, ok := m.caller(th, addr)
			if !ok {
				continue
			}
			if first && (strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "time.")) {
				switched = true
			}
			first = false
			if forOthers(function) || strings.HasPrefix(function, "time.") || slices.Contains(readers, function) {
				continue
			}
			l := ariadne.CodeLine{Program: path.Base(r.file), Function: function}
			l.File, l.Line = sources.of(th, r.file).at(addr - 1 - r.start + r.offset)
			if all = append(all, l); len(all) == readFrames {
				return all, switched
			}
		}
	}
	return all, switched
}

// source says to which lines of its source the code of a program file belongs.
type source struct {
	loaded []elf.ProgHeader
	lines  *debuginfo.Lines
	golang *gosym.Table
}

var sources = programs[source]{find: func(f *elf.File) (s source) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			s.loaded = append(s.loaded, p.ProgHeader)
		}
	}
	if s.golang = debuginfo.GoTable(f); s.golang == nil {
		s.lines = debuginfo.LinesOf(f)
	}
	return s
}}

// at is the line of what is at an offset in the file; line 0: it is not known.
func (s source) at(offset uint64) (file string, line int) {
	i := slices.IndexFunc(s.loaded, func(p elf.ProgHeader) bool { return p.Off <= offset && offset-p.Off < p.Filesz })
	if i < 0 {
		return "", 0
	}
	addr := offset - s.loaded[i].Off + s.loaded[i].Vaddr
	switch {
	case s.golang != nil:
		file, line, _ = s.golang.PCToLine(addr)
	case s.lines != nil:
		file, line = s.lines.At(addr)
	}
	return file, line
}
