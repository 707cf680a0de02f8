//go:build linux

package node

import (
	"os"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/vdso"

	"golang.org/x/sys/unix"
)

// home is what all copies of a node share: the namespaces with the file tree, and
// Ariadne's pages in every process.
type home struct {
	area   []byte // kernel.AreaSize bytes
	areaFD *os.File
	clock  vdso.Clock
	used   bool // the scratch memory, by Ariadne, since it was last cleared
	users  int  // live nodes and checkpoints

	told map[ariadne.File]bool // what some step has told of the host's files
	view *hostView             // nil until a process has built the file tree

	spaces *sandbox.Spaces // of a node that may go down; else nil
	treeFD *os.File
	tree   *filetree.Tree    // nil until a node is copied
	fixed  map[string]uint64 // see fixedFiles; nil: not looked for yet
	device uint64            // of the files of the node's own; 0: not looked at yet
	disk   map[string]*held  // what its disks have held once; not to be changed
	shows  *Node             // whose files the tree shows; nil: those of one that is gone
	sharer *Node             // whose shared memory was read or written last

	// holds is what shared memory holds, if that is known and nobody runs; else nil.
	holds *heldMemory

	following map[int]*following // of the pages of processes, by virtual id
	contents  contents           // of pages of checkpoints
	// growsDown: a process has mapped memory that gets larger without a call.
	growsDown bool
}

// clearArea takes out of Ariadne's pages what other copies have left there: programs can
// read and write them.
func (h *home) clearArea() {
	if h.area != nil {
		clear(h.area[:area.VDSO-area.Base])
		h.clearScratch()
	}
}

// clearScratch takes out of the scratch memory what the host has answered Ariadne.
func (h *home) clearScratch() {
	clear(h.area[area.Scratch-area.Base:])
	h.used = false
}

// leave gives up one use of the home; the last one unmaps the pages.
func (h *home) leave() error {
	h.users--
	if h.users > 0 {
		return nil
	}
	if h.view != nil {
		h.view.close()
		h.view = nil
	}
	if h.tree != nil {
		h.tree.Close()
	}
	if h.spaces != nil {
		h.spaces.Close()
		h.spaces = nil
	}
	for _, f := range []*os.File{h.treeFD, h.areaFD} {
		if f != nil {
			f.Close()
		}
	}
	area := h.area
	if h.area = nil; area == nil {
		return nil
	}
	return unix.Munmap(area)
}

func (v *hostView) close() { unix.Close(v.root) }
