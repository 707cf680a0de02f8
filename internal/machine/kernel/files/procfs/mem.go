package procfs

import (
	"hash/fnv"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Mem is /proc/PID/mem: the memory that a process had when it was opened.
type Mem struct {
	Path string
	MM   int    // that memory (Process.MM)
	At   uint64 // where the next read or write begins
}

var _ = kernel.DeclareKind[*Mem]()

func (*Mem) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*Mem) Changed() *kernel.Queue { return nil }
func (*Mem) Release(*kernel.Node)   {}
func (*Mem) StatMode() uint32       { return unix.S_IFREG | 0o600 }
func (m *Mem) Describe() string     { return m.Path }
func (m *Mem) AlwaysReady()         {}

// Key implements Keyed.
func (m *Mem) Key() inode.Key {
	h := fnv.New64a()
	h.Write([]byte(m.Path))
	return kernel.EmulatedKey(inode.DevProc, h.Sum64())
}

// Thread is one that has the memory, or nil when nobody has it any more.
func (m *Mem) Thread(n *kernel.Node) *kernel.Thread {
	for _, pid := range n.PIDs() {
		if p := n.Procs[pid]; p.MM == m.MM && !p.Dead && len(p.Threads) > 0 {
			return p.Threads[0]
		}
	}
	return nil
}
