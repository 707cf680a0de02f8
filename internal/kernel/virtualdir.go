package kernel

import (
	"hash/fnv"

	"golang.org/x/sys/unix"
)

// VirtualDir is an open directory that exists only while it is read: those of
// the processes in /proc.
type VirtualDir struct {
	Path string
	Dir  *DirStream
}

func (*VirtualDir) Ready() Events      { return In | Out | RdNorm | WrNorm }
func (*VirtualDir) Changed() *Queue    { return nil }
func (*VirtualDir) Release(*Node)      {}
func (*VirtualDir) StatMode() uint32   { return unix.S_IFDIR | 0o555 }
func (d *VirtualDir) Describe() string { return d.Path }
func (d *VirtualDir) AlwaysReady()     {}

// Key implements Keyed.
func (d *VirtualDir) Key() FileKey {
	h := fnv.New64a()
	h.Write([]byte(d.Path))
	return EmulatedKey(DevProc, h.Sum64())
}
