package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// blockSize is what files are shown to be stored in.
const blockSize = 4096

// show turns a file's real state into what the node sees, and returns its time of
// birth. inside: the owner is as seen in the node's user namespace.
func show(t *kernel.Thread, st *unix.Stat_t, inside bool) (birth int64) {
	files, key := &t.Node().Files, keyOf(st)
	if files.Private == 0 {
		var root unix.Stat_t
		if unix.Stat(threadPath(t, "root/"), &root) == nil {
			files.Private = root.Dev
		}
	}
	st.Uid, st.Gid = owner(files, key, st, inside)
	st.Dev, st.Ino, st.Blksize = inode.DevHost, files.Inode(key), blockSize
	own := key.Dev == files.Private
	if own {
		st.Dev = inode.DevNode
	}
	st.Nlink = files.Links(key, st.Nlink)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		st.Size, st.Blocks = blockSize, blockSize/512
		if !own {
			st.Nlink = 1 // not every file system counts subdirectories
		}
	case unix.S_IFREG:
		// What is really allocated differs from copy to copy of a node.
		st.Blocks = (st.Size + blockSize - 1) / blockSize * (blockSize / 512)
	default:
		st.Blocks = 0
	}
	ft := files.Times(key)
	if !own && !files.Written(key) && fromArchive(st) {
		ft.Modify = st.Mtim.Nano()
	}
	st.Atim, st.Mtim, st.Ctim = fileTime(ft.Access), fileTime(ft.Modify), fileTime(ft.Change)
	return ft.Birth
}

// fromArchive reports whether a file of the host came out of a package, which keeps
// whole seconds: its time of modification is then the same on every machine that
// has the package, and may be shown. Python and the JVM compare such times to learn
// whether what they compiled beforehand is still good.
func fromArchive(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mtim.Nsec == 0
}
