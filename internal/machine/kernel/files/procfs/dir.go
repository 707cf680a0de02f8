package procfs

import (
	"hash/fnv"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Dir is an open directory that exists only while it is read: those of
// the processes in /proc.
type Dir struct {
	Path string
	Dir  *kernel.DirStream
}

var _ = kernel.DeclareKind[*Dir]()

func (*Dir) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*Dir) Changed() *kernel.Queue { return nil }
func (*Dir) Release(*kernel.Node)   {}
func (*Dir) StatMode() uint32       { return unix.S_IFDIR | 0o555 }
func (d *Dir) Describe() string     { return d.Path }
func (d *Dir) AlwaysReady()         {}

// Key implements Keyed.
func (d *Dir) Key() inode.Key {
	h := fnv.New64a()
	h.Write([]byte(d.Path))
	return kernel.EmulatedKey(inode.DevProc, h.Sum64())
}
