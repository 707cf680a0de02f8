package sys

import (
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// FileBlocks is how much memory the node's own files take, by what Linux has allocated for them:
// files with a name, and those that are open. texts are the contents of files of /proc that are
// open.
func FileBlocks(n *kernel.Node) (files, texts int64) {
	seen := map[inode.Key]bool{}
	walkFiles(n, func(st *syscall.Stat_t) {
		if key := (inode.Key{Dev: st.Dev, Ino: st.Ino}); !seen[key] {
			seen[key] = true
			files += st.Blocks * 512
		}
	})
	var tree unix.Stat_t
	if unix.Fstat(n.Files.Tree, &tree) != nil {
		return files, 0
	}
	n.OpenHostFiles(func(p *kernel.Process, fd int, h *kernel.HostFile) {
		if seen[h.Key()] || h.Mode&unix.S_IFMT != unix.S_IFREG || len(p.Threads) == 0 {
			return
		}
		memory := strings.HasPrefix(h.Path, "/memfd:")
		if !h.Synthetic && !memory && h.Dev != tree.Dev {
			return // the host's
		}
		seen[h.Key()] = true
		var st unix.Stat_t
		if unix.Stat(threadPath(p.Threads[0], "fd/"+strconv.Itoa(fd)), &st) != nil {
			return
		}
		if h.Synthetic {
			texts += st.Blocks * 512
		} else {
			files += st.Blocks * 512
		}
	})
	return files, texts
}

// walkFiles calls f with each regular file of the node's own that has a name.
func walkFiles(n *kernel.Node, f func(st *syscall.Stat_t)) {
	base := "/proc/self/fd/" + strconv.Itoa(n.Files.Tree) + "/"
	filepath.WalkDir(base, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // not ours to read: what is in it is found open or not at all
		case e.IsDir() && name == base+hiddenNames:
			return fs.SkipDir
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			f(info.Sys().(*syscall.Stat_t))
		}
		return nil
	})
}

// hiddenNames is where files have second names for the sake of checkpoints, which stay
// when the node's own are gone.
const hiddenNames = ".ariadne/hidden"
