package procfs

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Setting is an open file of /proc/sys that can be written.
type Setting struct {
	Name string
	Text
}

var _ = kernel.DeclareKind[*Setting]()

func (*Setting) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*Setting) Changed() *kernel.Queue { return nil }
func (*Setting) Release(*kernel.Node)   {}
func (*Setting) StatMode() uint32       { return unix.S_IFREG | 0o644 }
func (f *Setting) Describe() string     { return "/proc/sys/" + f.Name }

// ReadAt implements Texter.
func (f *Setting) ReadAt(n *kernel.Node, b []byte, at int64) int {
	return f.readAt(b, at, func() string { return kernel.SettingText(n, f.Name) })
}

// Read implements Reader.
func (f *Setting) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	n := f.ReadAt(t.Node(), b, f.At)
	f.At += int64(n)
	return n, 0
}

// Write implements Writer: each write is a value.
func (f *Setting) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if e := kernel.WriteSetting(t.Node(), f.Name, string(b)); e != 0 {
		return 0, e
	}
	f.At += int64(len(b))
	return len(b), 0
}
