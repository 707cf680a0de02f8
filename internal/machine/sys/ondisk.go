package sys

import (
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Which files lie on the disks of the node's machine.

// Volatile are the directories of the node's own that lie in its machine's memory.
var Volatile = []string{"tmp", "run", "dev/shm"}

// logs reports whether what happens to a file is entered: it is the node's own, and is not in
// memory.
func logs(t *kernel.Thread, key inode.Key, name string) bool {
	return logged(&t.Node().Files, key, name)
}

func logged(files *inode.Table, key inode.Key, name string) bool {
	return files.Logs && onDisks(files, key, name)
}

// onDisks reports whether a file is the node's own, and is not in its machine's memory.
func onDisks(files *inode.Table, key inode.Key, name string) bool {
	if key.Dev != files.Private {
		return false
	}
	for _, dir := range Volatile {
		if rest, ok := strings.CutPrefix(name, "/"+dir); ok && (rest == "" || rest[0] == '/') {
			return false
		}
	}
	return true
}

// onDisk: what is there is not in memory on machines either.
func onDisk(path string) bool {
	return !strings.HasPrefix(path, "/memfd:") && !strings.HasPrefix(path, "/dev/") &&
		!strings.HasPrefix(path, "/run/") && !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/sys/")
}

// changedFile: a regular file of the node's that is open for writing.
func changedFile(t *kernel.Thread, a Args) (on string, ok bool) {
	h, of, e := hostFile(t, a[0])
	if e != 0 || h == nil || !of.Writes() || h.Mode&unix.S_IFMT != unix.S_IFREG || h.Synthetic || !onDisk(h.Path) {
		return "", false
	}
	return h.Path, true
}

func synced(t *kernel.Thread, a Args) (on string, ok bool) {
	h, _, e := hostFile(t, a[0])
	if e != 0 || h == nil || h.Synthetic || !onDisk(h.Path) {
		return "", false
	}
	kind := h.Mode & unix.S_IFMT
	return h.Path, kind == unix.S_IFREG || kind == unix.S_IFDIR
}
