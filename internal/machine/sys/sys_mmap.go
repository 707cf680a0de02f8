package sys

import (
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// MapDroppable is MAP_DROPPABLE of Linux 6.11, whose pages are wiped in children and
// may vanish: earlier kernels do not know it.
const MapDroppable = 0x8

// LargeMapping is the largest anonymous mapping at which the filter does not stop.
const LargeMapping = 64 << 20

// overcommits reports whether a mapping is refused as Linux's heuristic refuses it: alone
// it is more than all the memory there is (proc_sys_vm(5), overcommit_memory 0).
func overcommits(t *kernel.Thread, size uint64) bool { return size > uint64(t.Node().MemTotal()) }

// sysMmap sees the mappings of files and of shared memory, and those that are to be locked; the
// filter lets the others pass.
func sysMmap(t *kernel.Thread, a Args) kernel.Result {
	r := mayMap(t, a)
	if r.Op == kernel.OpNative && (a[3]&unix.MAP_LOCKED != 0 || t.Proc.LocksMemory()) {
		return mapLocked(t, a)
	}
	return r
}

// mayMap fails as Linux does with what it cannot see is wrong; the rest is Native.
func mayMap(t *kernel.Thread, a Args) kernel.Result {
	if a[3]&MapDroppable != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if a[3]&unix.MAP_FIXED != 0 && hitsArea(a[0], a[1]) {
		return refuseArea(t)
	}
	private := a[3]&unix.MAP_TYPE == unix.MAP_PRIVATE
	counts := private && a[2]&unix.PROT_WRITE != 0 || !private && a[3]&unix.MAP_ANONYMOUS != 0
	if counts && a[3]&unix.MAP_NORESERVE == 0 && overcommits(t, a[1]) {
		return kernel.Fail(unix.ENOMEM)
	}
	if a[3]&unix.MAP_ANONYMOUS != 0 {
		t.Node().SharesMemory = t.Node().SharesMemory || a[3]&unix.MAP_SHARED != 0
		return kernel.Native
	}
	h, of, e := hostFile(t, a[4])
	shared := a[3]&unix.MAP_TYPE != unix.MAP_PRIVATE
	switch {
	case a[5]%4096 != 0:
		return kernel.Fail(unix.EINVAL)
	case e != 0:
		return kernel.Fail(e)
	case a[1] == 0 || a[3]&unix.MAP_TYPE == 0 || a[3]&unix.MAP_TYPE > unix.MAP_SHARED_VALIDATE:
		return kernel.Fail(unix.EINVAL)
	case !of.Reads(), shared && a[2]&unix.PROT_WRITE != 0 && of.Flags&unix.O_ACCMODE != unix.O_RDWR:
		return kernel.Fail(unix.EACCES)
	case h == nil || h.Mode&unix.S_IFMT == unix.S_IFDIR:
		return kernel.Fail(unix.ENODEV)
	}
	h.Mapped = true
	if h.First == nil {
		t.Node().NoteUsed(kernel.UsedFile{Path: h.Path, Key: h.Key(), Held: true})
	}
	// A file that memfd_create has made is the node's own, and has no path.
	if a[2]&unix.PROT_EXEC != 0 && !strings.HasPrefix(h.Path, "/memfd:") {
		t.Node().NoteUsed(kernel.UsedFile{Path: h.Path, Key: h.Key(), Use: ariadne.FileCode})
	}
	// A writable shared mapping changes the file at times nobody sees; mprotect may
	// make it writable later.
	if a[3]&unix.MAP_TYPE != unix.MAP_PRIVATE && of.Flags&unix.O_ACCMODE == unix.O_RDWR {
		t.Node().Files.Mapped[h.Key()] = true
		keepMapped(t, h)
	}
	if a[2]&unix.PROT_WRITE != 0 && a[3]&unix.MAP_TYPE != unix.MAP_PRIVATE && of.Flags&unix.O_ACCMODE == unix.O_RDWR {
		t.Node().Files.Writable[h.Key()] = true
		fileModified(t, h)
	}
	return kernel.Native
}
