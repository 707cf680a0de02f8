//go:build linux

package node

import (
	"fmt"
	"os"

	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// A program may map a file shared and writable, close it, and take its name away: then
// the mapping alone leads to it, and Linux lets only the privileged go that way. All copies of
// the node have the same file there. So a descriptor is taken when the file is mapped, and
// kept until the file tree follows the file, or no process has it mapped.

// heldMost is how many files are held before those that are mapped no more are let go.
const heldMost = 64

// mappedFiles are those that were mapped since the file tree was last captured.
type mappedFiles struct {
	files map[inode.Key]*os.File
	most  int // how many there may be before those that are mapped no more are let go
}

// holdMapped takes a descriptor of the file that th is about to map, if the mapping may
// change it.
func (n *Node) holdMapped(th *thread) {
	a := th.k.Call.Args
	if th.k.Call.NR != unix.SYS_MMAP || a[3]&unix.MAP_ANONYMOUS != 0 {
		return
	}
	of := th.k.Proc.FDs.Get(int(int32(a[4])))
	h, ok := of.File.(*kernel.HostFile)
	if a[3]&unix.MAP_TYPE == unix.MAP_PRIVATE {
		if ok {
			n.noteOwnFile(th, h)
		}
		return
	}
	if !ok || !n.k.Files.Mapped[h.Key()] || n.held.files[h.Key()] != nil || n.home.tree != nil &&
		n.home.tree.Adopted(n.treeID(h.Key())) {
		return
	}
	if len(n.held.files) >= max(heldMost, n.held.most) {
		n.closeHeld(n.mappedShared())
		n.held.most = 2 * len(n.held.files)
	}
	fd, e := th.HostFD(int(int32(a[4])))
	if e != 0 {
		must(fmt.Errorf("descriptor %d: %w", int32(a[4]), e))
	}
	f, err := openAgain(fd)
	unix.Close(fd)
	must(err)
	if n.held.files == nil {
		n.held.files = map[inode.Key]*os.File{}
	}
	n.held.files[h.Key()] = f
}

// openAgain opens the file of one of our descriptors: the program's own may be read-only,
// and has an offset that is the program's.
func openAgain(fd int) (*os.File, error) {
	return filetree.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// closeHeld closes the files that are held, but for those that are mapped.
func (n *Node) closeHeld(mapped map[segment]bool) {
	for key, f := range n.held.files {
		if !mapped[segment{key.Dev, key.Ino}] {
			f.Close()
			delete(n.held.files, key)
		}
	}
}

// holdsMapped reports whether files are held that were mapped since the file tree was captured.
func (n *Node) holdsMapped() bool { return len(n.held.files) > 0 }

// storable are the files that processes may have changed without a call. Without Config.Pages
// Ariadne sees no mprotect, so these are all files that are mapped.
func (n *Node) storable() map[inode.Key]bool {
	if n.cfg.Pages {
		return n.k.Files.Writable
	}
	return n.k.Files.Mapped
}

// adoptMapped lets the tree follow the files that are mapped and have no name in it.
func (n *Node) adoptMapped() {
	if len(n.k.Files.Mapped) == 0 {
		return
	}
	mapped := n.mappedShared()
	n.closeHeld(mapped)
	for key, f := range n.held.files {
		delete(n.held.files, key)
		var st unix.Stat_t
		must(unix.Fstat(int(f.Fd()), &st))
		if key.Dev == n.k.Files.Private && st.Nlink > 0 { // Capture will find its name
			f.Close()
			continue
		}
		n.home.tree.Adopt(n.treeID(key), f)
	}
	for key := range n.k.Files.Mapped {
		if key.Dev == n.k.Files.Private && mapped[segment{key.Dev, key.Ino}] {
			must(n.home.tree.AdoptUnlinked(key.Ino))
		}
	}
}

// mappedShared says what the node's processes have mapped shared.
func (n *Node) mappedShared() map[segment]bool {
	mapped := map[segment]bool{}
	for _, p := range n.processes() {
		for _, m := range n.sharedMappings(p) {
			mapped[segment{m.Dev, m.Inode}] = true
		}
	}
	return mapped
}
