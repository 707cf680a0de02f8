//go:build linux

package crash

import (
	"encoding/json"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// crashNow is the line by which a program says where images are wanted.
const crashNow = "crash now"

// entry is an operation as a checker reads it, on a line of its own.
type entry struct {
	N      int        `json:"n"` // from 1
	Op     string     `json:"op"`
	Text   string     `json:"text"` // for people
	Path   string     `json:"path,omitempty"`
	To     string     `json:"to,omitempty"`
	Offset int64      `json:"offset,omitempty"`
	Length int64      `json:"length,omitempty"`
	Size   int64      `json:"size,omitempty"` // of the file, afterwards
	Call   string     `json:"call,omitempty"`
	Lost   string     `json:"lost,omitempty"`       // all, part
	Bytes  [][2]int64 `json:"lost_bytes,omitempty"` // of a part: from and to
}

// oplog is a log as a checker reads it: its operations, and the lines of those that were needed.
type oplog struct {
	ops     []*disk.Op
	entries []entry
	lines   [][]byte
}

// tell is what a checker may read of an image behind the operation at a place: all operations so
// far, and what of them is lost.
func (l *oplog) tell(at int, lost []disk.Loss) (text []byte) {
	for len(l.lines) <= at {
		n := len(l.lines)
		op := l.ops[n]
		e := entry{N: n + 1, Op: op.Kind.String(), Text: short(op.String()), Path: short(op.Path), To: short(op.ToPath), Call: op.Call}
		switch op.Kind {
		case disk.Write, disk.Zero, disk.Shift:
			e.Offset, e.Length, e.Size = op.Offset, op.Length, op.Size
		case disk.Truncate, disk.Allocate:
			e.Size = op.Size
		}
		l.entries, l.lines = append(l.entries, e), append(l.lines, encode(e))
	}
	for n := range at + 1 {
		if len(lost) == 0 || lost[0].Op != n {
			text = append(text, l.lines[n]...)
			continue
		}
		e := l.entries[n]
		e.Lost, e.Bytes = "part", lost[0].Bytes
		if lost[0].All {
			e.Lost, e.Bytes = "all", nil
		}
		text, lost = append(text, encode(e)...), lost[1:]
	}
	return text
}

func encode(e entry) []byte {
	b, _ := json.Marshal(e) // strings and numbers
	return append(b, '\n')
}

// epochs says what the program had said of its work behind each operation.
func epochs(log []*disk.Op) []disk.Epoch {
	all := make([]disk.Epoch, len(log))
	var e disk.Epoch
	for k, op := range log {
		e.Add(op)
		all[k] = e
	}
	return all
}

// pointed reports whether the program says itself where images are wanted.
func pointed(log []*disk.Op) bool { return slices.ContainsFunc(log, isCrashNow) }

func isCrashNow(op *disk.Op) bool { return op.Kind == disk.Mark && op.Target == crashNow }
