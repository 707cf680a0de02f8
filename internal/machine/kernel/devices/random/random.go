// Package random is /dev/random and /dev/urandom, which give the node's random bytes.
package random

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// File is /dev/random and /dev/urandom.
type File struct{ Minor int }

var _ = kernel.DeclareKind[*File]()

func (*File) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*File) Changed() *kernel.Queue { return nil }
func (*File) Release(*kernel.Node)   {}
func (*File) StatMode() uint32       { return unix.S_IFCHR | 0o666 }
func (f *File) Key() inode.Key       { return kernel.EmulatedKey(inode.DevHost, uint64(f.Minor)) }
func (f *File) Describe() string {
	return map[int]string{8: "/dev/random", 9: "/dev/urandom"}[f.Minor]
}

// Ioctl implements Ioctler: how many random bits there are to have.
func (*File) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	const all = 256
	if cmd == unix.RNDGETENTCNT {
		return 0, t.StoreInt(arg, all)
	}
	return 0, unix.ENOTTY
}

// Read implements Reader.
func (*File) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	t.Node().Rand.Fill(b)
	return len(b), 0
}

// Write implements Writer: what is written is mixed in, which cannot be told
// from not mixing it in.
func (*File) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) { return len(b), 0 }
