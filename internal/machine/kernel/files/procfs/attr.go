// Package procfs is what programs open of /proc that is not a text: directories, and files that can
// be written. The texts are made by internal/machine/sys.
package procfs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Attr is an open file of /proc that can be written: the name of a thread,
// the score of a process for when memory runs out.
type Attr struct {
	Name   string
	Proc   *kernel.Process
	Thread *kernel.Thread
	Text
}

var _ = kernel.DeclareKind[*Attr]()

func (*Attr) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*Attr) Changed() *kernel.Queue { return nil }
func (*Attr) Release(*kernel.Node)   {}
func (*Attr) StatMode() uint32       { return unix.S_IFREG | 0o644 }
func (a *Attr) Describe() string     { return "/proc/" + strconv.Itoa(a.Proc.PID) + "/" + a.Name }

// Attrs are the names of such files.
var Attrs = []string{"comm", "coredump_filter", "oom_score_adj", "timerslack_ns"}

// Comm is the name of a process's thread, nil when it has none any more.
func Comm(p *kernel.Process, t *kernel.Thread) string {
	if t != nil {
		return t.Name
	}
	return kernel.CommName(p.Exe[strings.LastIndexByte(p.Exe, '/')+1:])
}

// AttrText is what one of Attrs shows.
func AttrText(name string, p *kernel.Process, t *kernel.Thread) string {
	switch name {
	case "comm":
		return Comm(p, t) + "\n"
	case "coredump_filter":
		return fmt.Sprintf("%08x\n", p.CoreFilter)
	case "oom_score_adj":
		return fmt.Sprintln(p.OOMScoreAdj)
	}
	return fmt.Sprintln(p.TimerSlack) // timerslack_ns
}

// ReadAt implements Texter.
func (a *Attr) ReadAt(_ *kernel.Node, b []byte, at int64) int {
	return a.readAt(b, at, func() string { return AttrText(a.Name, a.Proc, a.Thread) })
}

// Read implements Reader.
func (a *Attr) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	n := a.ReadAt(t.Node(), b, a.At)
	a.At += int64(n)
	return n, 0
}

// Write implements Writer: each write is a value (proc(5)).
func (a *Attr) Write(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	s := strings.TrimRight(string(b), "\n\x00 ")
	if a.Name == "comm" {
		if a.Thread == nil {
			return 0, unix.ESRCH
		}
		a.Thread.Name = kernel.CommName(s)
		return len(b), 0
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		return 0, unix.EINVAL
	}
	switch a.Name {
	case "oom_score_adj":
		if v < -1000 || v > 1000 {
			return 0, unix.EINVAL
		}
		a.Proc.OOMScoreAdj = int(v)
	case "coredump_filter":
		a.Proc.CoreFilter = int(v) & 0x1ff
	case "timerslack_ns":
		a.Proc.TimerSlack = uint64(v)
	default:
		return 0, unix.EACCES
	}
	return len(b), 0
}
