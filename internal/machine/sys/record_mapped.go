package sys

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// What programs store through shared mappings of files nobody sees. So what such a file holds is
// kept, and looked at again before anything else is entered: what differs was stored in between, in
// whatever order.

// keepMapped begins to watch the file of a descriptor that is mapped shared and writable.
func keepMapped(t *kernel.Thread, h *kernel.HostFile) {
	files := &t.Node().Files
	if _, known := files.Stored[h.Key()]; known || !logs(t, h.Key(), h.Path) {
		return
	}
	m := inode.Mapped{Path: h.Path}
	if files.Stored == nil {
		files.Stored = map[inode.Key]inode.Mapped{}
	}
	files.Stored[h.Key()] = m
	lookAgain(t.Node(), h.Key())
}

// EnterStores enters what was stored through mappings since somebody last looked.
func EnterStores(n *kernel.Node) {
	if len(n.Files.Stored) == 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(n.Files.Stored), func(a, b inode.Key) int {
		return int(int64(n.Files.Inode(a)) - int64(n.Files.Inode(b)))
	})
	for _, key := range keys {
		was := n.Files.Stored[key]
		now := lookAgain(n, key)
		if was.Content == nil || now == nil || was.Content == now {
			continue
		}
		for _, c := range now.Changes(was.Content) {
			n.Files.Enter(disk.Op{Kind: disk.Write, Flags: disk.Mapped, Ino: n.Files.Inode(key), Offset: c.Offset,
				Length: int64(len(c.New)),
				New:    c.New, Old: c.Old, OldSize: now.Size, Size: now.Size, Time: n.Files.Times(key).Modify,
				Path: was.Path, Call: "mmap"})
		}
	}
}

// lookAgain reads what a file that is mapped holds now; nil: it is gone, and nobody will find what
// was stored.
func lookAgain(n *kernel.Node, key inode.Key) *filetree.Content {
	m := n.Files.Stored[key]
	f := openMapped(n, key, m.Path)
	if f == nil {
		delete(n.Files.Stored, key)
		return nil
	}
	defer f.Close()
	c, err := filetree.Read(f, m.Content)
	if err != nil {
		delete(n.Files.Stored, key)
		return nil
	}
	m.Content = c
	n.Files.Stored[key] = m
	return c
}

// openMapped opens a file of the node's own that has a name, a hidden one or is open.
func openMapped(n *kernel.Node, key inode.Key, name string) *os.File {
	try := func(at string) *os.File {
		var st unix.Stat_t
		if unix.Stat(at, &st) != nil || keyOf(&st) != key {
			return nil
		}
		f, err := filetree.Open(at)
		if err != nil {
			return nil
		}
		return f
	}
	f := try(fmt.Sprintf("/proc/self/fd/%d/%s/%d", n.Files.Tree, hiddenNames, key.Ino))
	n.OpenHostFiles(func(p *kernel.Process, fd int, h *kernel.HostFile) {
		if f == nil && h.Key() == key && len(p.Threads) > 0 {
			f = try(threadPath(p.Threads[0], "fd/"+strconv.Itoa(fd)))
		}
	})
	for _, pid := range n.PIDs() {
		if p := n.Procs[pid]; f == nil && len(p.Threads) > 0 && !p.Dead {
			f = try(threadPath(p.Threads[0], "root") + name)
		}
	}
	return f
}
