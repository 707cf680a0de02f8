package kernel

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ProcAttr is an open file of /proc that can be written: the name of a thread,
// the score of a process for when memory runs out.
type ProcAttr struct {
	Name    string
	Proc    *Process
	Thread  *Thread
	Content string // not yet read
}

func (*ProcAttr) Ready() Events      { return In | Out | RdNorm | WrNorm }
func (*ProcAttr) Changed() *Queue    { return nil }
func (*ProcAttr) Release(*Node)      {}
func (*ProcAttr) StatMode() uint32   { return unix.S_IFREG | 0o644 }
func (a *ProcAttr) Describe() string { return "/proc/" + strconv.Itoa(a.Proc.PID) + "/" + a.Name }

// Read implements Reader.
func (a *ProcAttr) Read(_ *Thread, b []byte) (int, Errno) {
	n := copy(b, a.Content)
	a.Content = a.Content[n:]
	return n, 0
}

// Write implements Writer: each write is a value (proc(5)).
func (a *ProcAttr) Write(_ *Thread, b []byte) (int, Errno) {
	s := strings.TrimRight(string(b), "\n\x00 ")
	if a.Name == "comm" {
		if a.Thread == nil {
			return 0, unix.ESRCH
		}
		a.Thread.Name = CommName(s)
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
