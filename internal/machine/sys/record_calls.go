package sys

import (
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// What rows of the table say of calls that change files, or have them written (records).

func recordsBuffer(t *kernel.Thread, a Args) recording {
	if mark(t, a) != "" { // it stands in the log behind what was stored before
		EnterStores(t.Node())
		return nil
	}
	return recordWrite(t, a[0], here, int64(min(a[2], maxIO)), 0)
}

func recordsBufferAt(t *kernel.Thread, a Args) recording {
	return recordWrite(t, a[0], int64(a[3]), int64(min(a[2], maxIO)), 0)
}

func recordsVector(t *kernel.Thread, a Args) recording {
	return recordWrite(t, a[0], here, vectorLength(t, a), 0)
}

func recordsVectorAt(t *kernel.Thread, a Args) recording {
	return recordWrite(t, a[0], int64(a[3]), vectorLength(t, a), 0)
}

func recordsVector2(t *kernel.Thread, a Args) recording {
	return recordWrite(t, a[0], int64(a[3]), vectorLength(t, a), int(a[5]))
}

// vectorLength is how many bytes a list of buffers has.
func vectorLength(t *kernel.Thread, a Args) int64 {
	v, e := readIovecs(t, a[1], a[2])
	if e != 0 {
		return 0
	}
	return int64(iovLen(v))
}

func recordsSendfile(t *kernel.Thread, a Args) recording {
	return recordWrite(t, a[0], here, int64(min(a[3], maxIO)), 0)
}

func recordsCopy(t *kernel.Thread, a Args) recording { return recordTransfer(t, a, maxIO) }

func recordsSplice(t *kernel.Thread, a Args) recording { return recordTransfer(t, a, maxChunk) }

// recordTransfer is of a call that takes a descriptor to write to and the address of a position in
// it.
func recordTransfer(t *kernel.Thread, a Args, most uint64) recording {
	at := int64(here)
	if a[3] != 0 {
		v, e := readU64(t, a[3])
		if e != 0 {
			return nil
		}
		at = int64(v)
	}
	return recordWrite(t, a[2], at, int64(min(a[4], most)), 0)
}

func recordsFtruncate(t *kernel.Thread, a Args) recording {
	return recordSize(contentOf(t, a[0]), int64(a[1]))
}

func recordsTruncate(t *kernel.Thread, a Args) recording {
	name, e := readPath(t, a[0])
	if e != 0 {
		return nil
	}
	return recordSize(contentAt(t, atCwd, name), int64(a[1]))
}

func recordsFallocate(t *kernel.Thread, a Args) recording {
	return recordRange(contentOf(t, a[0]), int(int32(a[1])), int64(a[2]), int64(a[3]))
}

func recordsFsync(t *kernel.Thread, a Args) recording {
	return recordSync(t, a[0], disk.Op{Kind: disk.Fsync})
}

func recordsFdatasync(t *kernel.Thread, a Args) recording {
	return recordSync(t, a[0], disk.Op{Kind: disk.Fdatasync})
}

func recordsSyncRange(t *kernel.Thread, a Args) recording {
	return recordSync(t, a[0],
		disk.Op{Kind: disk.SyncRange, Flags: disk.Ranged, Offset: int64(a[1]), Length: int64(a[2])})
}

func recordsSync(t *kernel.Thread, _ Args) recording {
	return func(v int64) {
		if v == 0 {
			enterSync(t, disk.Op{Kind: disk.Sync})
		}
	}
}

// recordsSyncfs: what lies in memory is another file system.
func recordsSyncfs(t *kernel.Thread, a Args) recording {
	h, _, e := hostFile(t, a[0])
	if e != 0 || h == nil || !logs(t, h.Key(), h.Path) {
		return nil
	}
	return recordsSync(t, a)
}

// How a call treats a last link: it follows the link, it does not, or bit AT_SYMLINK_NOFOLLOW of
// this argument decides.
const (
	followed   = -1
	unfollowed = -2
)

// recordsAttr is of a call that changes attributes of a file, by a path and perhaps a directory.
func recordsAttr(dir, path, flags int) recorder {
	return func(t *kernel.Thread, a Args) recording {
		dirfd := uint64(atCwd)
		if dir >= 0 {
			dirfd = a[dir]
		}
		return recordAttrAt(t, dirfd, a[path], flags == followed || flags >= 0 &&
			a[flags]&unix.AT_SYMLINK_NOFOLLOW == 0)
	}
}

func recordsAttrOf(t *kernel.Thread, a Args) recording { return recordAttrOf(t, a[0]) }

// recordMsync is of msync: with MS_SYNC it has the files that are mapped there written, up to where
// it fails.
func recordMsync(t *kernel.Thread, a Args) recording {
	EnterStores(t.Node())
	if a[2]&unix.MS_SYNC == 0 {
		return nil
	}
	until := a[0] + a[1]
	first, busy := invalidatesLocked(t, a)
	if busy {
		until = first
	}
	return func(v int64) {
		if v != 0 && !busy {
			return
		}
		for m := range procmaps.All((&view{caller: t, thread: t, proc: t.Proc}).real("maps")) {
			start, end := max(m.Start, a[0]), min(m.End, until)
			key := inode.Key{Dev: m.Dev, Ino: m.Inode}
			if file, known := t.Node().Files.Stored[key]; known && m.Shared() && start < end {
				enterSync(t,
					disk.Op{Kind: disk.Fdatasync, Flags: disk.Ranged, Ino: t.Node().Files.Inode(key),
						Offset: int64(m.Offset + start - m.Start), Length: int64(end - start), Path: file.Path})
			}
		}
	}
}
