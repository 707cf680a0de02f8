//go:build linux

package crash

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system/checker"

	"golang.org/x/sys/unix"
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

// oplog is a log as a checker reads it.
type oplog struct {
	entries []entry
	text    []byte  // their lines, where nothing is lost
	ends    []int64 // where each of them ends
	sum     sum     // of text
}

func newOplog(ops []*disk.Op) *oplog {
	l := &oplog{}
	for n, op := range ops {
		e := entry{N: n + 1, Op: op.Kind.String(), Text: short(op.String()), Path: short(op.Path), To: short(op.ToPath),
			Call: op.Call}
		switch op.Kind {
		case disk.Write, disk.Zero, disk.Shift:
			e.Offset, e.Length, e.Size = op.Offset, op.Length, op.Size
		case disk.Truncate, disk.Allocate:
			e.Size = op.Size
		}
		l.entries, l.text = append(l.entries, e), append(l.text, encode(e)...)
		l.ends = append(l.ends, int64(len(l.text)))
	}
	l.sum = sha256.Sum256(l.text)
	return l
}

// end is where the line of an operation ends, or 0 before the first.
func (l *oplog) end(n int) int64 {
	if n < 0 {
		return 0
	}
	return l.ends[n]
}

// logged is what a checker may read of an image: the operations up to one, and what of them is
// lost, in order.
type logged struct {
	*oplog
	at   int // the last operation, from 0; -1 before the first
	lost []disk.Loss
}

// lines are those of the operations from one on.
func (l *logged) lines(from int) (text []byte) {
	for _, loss := range l.lost {
		if loss.Op >= from {
			text = append(text, l.text[l.end(from-1):l.end(loss.Op-1)]...)
			text = append(text, l.line(loss)...)
			from = loss.Op + 1
		}
	}
	return append(text, l.text[l.end(from-1):l.end(l.at)]...)
}

// line is that of an operation of which something is lost.
func (l *logged) line(loss disk.Loss) []byte {
	e := l.entries[loss.Op]
	e.Lost, e.Bytes = "part", loss.Bytes
	if loss.All {
		e.Lost, e.Bytes = "all", nil
	}
	return encode(e)
}

// offset is where the line of an operation begins.
func (l *logged) offset(n int) int64 {
	at := l.end(n - 1)
	for _, loss := range l.lost {
		if loss.Op >= n {
			break
		}
		at += int64(len(l.line(loss))) - (l.end(loss.Op) - l.end(loss.Op-1))
	}
	return at
}

// shared is how many lines it begins with that another one has, too.
func (l *logged) shared(o *logged) int {
	if l.oplog != o.oplog {
		return 0
	}
	same, k := min(l.at, o.at)+1, 0
	for k < min(len(l.lost), len(o.lost)) && l.lost[k].Equal(o.lost[k]) {
		k++
	}
	for _, m := range []*logged{l, o} {
		if k < len(m.lost) {
			same = min(same, m.lost[k].Op)
		}
	}
	return same
}

// append appends what tells it from all others.
func (l *logged) append(b []byte) []byte {
	b = binary.AppendVarint(append(b, l.sum[:]...), int64(l.at))
	for _, loss := range l.lost {
		b = fmt.Appendf(b, "%d %t %v ", loss.Op, loss.All, loss.Bytes)
	}
	return b
}

// putLog makes what lies in a file, which somebody may have opened or changed, the lines of a log.
// It costs as much to put the next one there as it is long behind the first operation of which
// something else is lost.
func (p *slot) putLog(name string, l *logged) error {
	from := 0
	if p.log != nil && !p.lost {
		if kept, _ := p.kept(name, p.log); kept {
			from = l.shared(p.logged)
		}
	}
	flags := os.O_WRONLY
	if from == 0 {
		checker.Remove(name)
		p.log, flags = nil, flags|os.O_CREATE|os.O_EXCL
	}
	if err := writeFrom(name, flags, l.offset(from), l.lines(from)); err != nil {
		return err
	}
	return p.watchLog(name, l)
}

// writeFrom has a file end with some bytes at an offset.
func writeFrom(name string, flags int, at int64, b []byte) error {
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	if err == nil {
		err = f.Truncate(at + int64(len(b)))
	}
	return cmp.Or(err, f.Close())
}

// watchLog notes how a log was put there.
func (p *slot) watchLog(name string, l *logged) (err error) {
	if p.notify < 0 {
		return nil
	}
	if p.log == nil {
		p.log = &placed{of: &file{attr: disk.Attr{Mode: unix.S_IFREG}}}
		p.watch(name, p.log, ofFiles)
	}
	p.logged = l
	p.hear()
	p.log.opened, p.log.changed = false, false
	p.log.sum, err = statOfFile(name)
	return err
}

func encode(e entry) []byte {
	b, _ := json.Marshal(e) // strings and numbers
	return append(b, '\n')
}

// epochsAfter says what programs had said of their work behind each operation of a log. e is what
// they had said before it.
func epochsAfter(e disk.Epoch, log []*disk.Op) []disk.Epoch {
	all := make([]disk.Epoch, len(log))
	for k, op := range log {
		e.Add(op)
		all[k] = e
	}
	return all
}

// pointed reports whether the program says itself where images are wanted.
func pointed(log []*disk.Op) bool { return slices.ContainsFunc(log, isCrashNow) }

func isCrashNow(op *disk.Op) bool { return op.Kind == disk.Mark && op.Target == crashNow }
