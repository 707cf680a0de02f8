// Package console is a node's standard input, output and error, and the log that comes of it.
package console

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

const (
	// maxLine is the longest line of a log; a longer one is cut there.
	maxLine = 1 << 16
	// maxLogs is how much of what a node writes is kept in one execution; lineCost is
	// what a line takes besides its text.
	maxLogs  = 32 << 20
	lineCost = 64
)

// logState is how much of a node's output was kept.
type logState struct {
	logged int  // by size
	cut    bool // more was written
}

var logs = kernel.NewSlot[*kernel.Node, logState]()

// File is a node's standard input, output or error. It looks like a pipe:
// not a terminal. Whole lines that are written become Node.Logs.
type File struct {
	Stream  int    // 1 standard output, 2 standard error
	input   []byte // not yet read
	open    bool   // the input does not end with these bytes
	line    []byte // written, without its end
	most    int    // how much of what is written is kept here, not to become lines; 0: none
	pid     int    // who began it
	changed kernel.Queue
}

var _ = kernel.DeclareKind[*File]()

// NewInput returns a standard input with the given bytes; then comes the end of
// file, or nothing ever when it stays open.
func NewInput(input string, open bool) *File {
	return &File{input: []byte(input), open: open}
}

// NewOutput returns a standard output (stream 1) or error (2).
func NewOutput(stream int) *File { return &File{Stream: stream} }

// NewCapture returns a standard output (stream 1) or error (2) that keeps so many bytes of what is
// written to it, which are no lines of the node's.
func NewCapture(stream, most int) *File { return &File{Stream: stream, most: most} }

// Captured is what was written to a capture.
func (c *File) Captured() string { return string(c.line) }

// Ready implements File.
func (c *File) Ready() kernel.Events {
	if c.Stream != 0 {
		return kernel.Out | kernel.WrNorm
	}
	var ev kernel.Events
	if len(c.input) > 0 {
		ev |= kernel.In | kernel.RdNorm
	}
	if !c.open {
		ev |= kernel.Hup
	}
	return ev
}

// Changed implements File.
func (c *File) Changed() *kernel.Queue { return &c.changed }

// Release implements File: what was written without an end of line is logged.
func (c *File) Release(n *kernel.Node) { c.Flush(n) }

// Read implements Reader.
func (c *File) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) > 0 && len(c.input) == 0 && c.open {
		return 0, unix.EAGAIN
	}
	n := copy(b, c.input)
	c.input = c.input[n:]
	return n, 0
}

// Write implements Writer.
func (c *File) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if c.most > 0 {
		c.line = append(c.line, b[:min(len(b), c.most-len(c.line))]...)
		return len(b), 0
	}
	for _, x := range b {
		if logs.Of(t.Node()).logged > maxLogs {
			c.line = nil
			break
		}
		if len(c.line) == 0 {
			c.pid = t.Proc.PID
		}
		if x != '\n' {
			c.line = append(c.line, x)
		}
		if x == '\n' || len(c.line) == maxLine {
			c.log(t.Node())
		}
	}
	return len(b), 0
}

// Flush logs a line without an end.
func (c *File) Flush(n *kernel.Node) {
	if len(c.line) > 0 && c.most == 0 {
		c.log(n)
	}
}

// Full reports whether what is written is no longer kept. The first write that finds
// it so is reported.
func (c *File) Full(t *kernel.Thread) bool {
	n := t.Node()
	l := logs.Of(n)
	if c.Stream == 0 || l.logged <= maxLogs {
		return false
	}
	if !l.cut {
		l.cut = true
		n.Refuse(t, "output beyond 32 MiB", "what the node writes from here on is not kept", true)
	}
	return true
}

func (c *File) log(n *kernel.Node) {
	logs.Of(n).logged += len(c.line) + lineCost
	n.Logs = append(n.Logs, ariadne.LogLine{At: n.Now, Stream: c.Stream, PID: c.pid, Text: string(c.line)})
	c.line = nil
}

// Ioctl implements Ioctler.
func (c *File) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	if cmd != unix.TIOCINQ {
		return 0, unix.ENOTTY
	}
	return 0, t.StoreInt(arg, len(c.input))
}

// Describe implements Describer.
func (c *File) Describe() string { return [...]string{"pipe:[1]", "pipe:[2]", "pipe:[3]"}[c.Stream] }

// StatMode is st_mode.
func (c *File) StatMode() uint32 { return unix.S_IFIFO | 0o600 }
