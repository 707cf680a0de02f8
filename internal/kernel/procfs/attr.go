// Package procfs is what programs open of /proc that is not a text: directories, and files that can be
// written. The texts are made by internal/sys.
package procfs

import (
	"strconv"
	"strings"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// Attr is an open file of /proc that can be written: the name of a thread,
// the score of a process for when memory runs out.
type Attr struct {
	Name    string
	Proc    *kernel.Process
	Thread  *kernel.Thread
	Content string // not yet read
}

func (*Attr) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*Attr) Changed() *kernel.Queue { return nil }
func (*Attr) Release(*kernel.Node)   {}
func (*Attr) StatMode() uint32       { return unix.S_IFREG | 0o644 }
func (a *Attr) Describe() string     { return "/proc/" + strconv.Itoa(a.Proc.PID) + "/" + a.Name }

// Read implements Reader.
func (a *Attr) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	n := copy(b, a.Content)
	a.Content = a.Content[n:]
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
