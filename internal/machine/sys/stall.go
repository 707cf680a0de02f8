package sys

import (
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"

	"golang.org/x/sys/unix"
)

// Where the spec lets syncs take time, calls that have files written to the disk are asked for
// whether they do. One that does has all its effect when it begins, but that nothing is durable by
// it, and returns when the sync has ended (package slowdisk). What fails takes no time.

// stalls is the sync of the call that t stands in, which is about to be made, if it takes time.
func (r *Row) stalls(t *kernel.Thread) *slowdisk.Sync {
	file, ok := r.syncs(t, t.Call.Args)
	if !ok {
		return nil
	}
	return slowdisk.Ask(t, r.Name, file)
}

// stalled is what becomes of a call that was made, and takes time.
func stalled(t *kernel.Thread, s *slowdisk.Sync, r kernel.Result) kernel.Result {
	if r.Op != kernel.OpReturn || r.Value < 0 {
		slowdisk.Drop(t)
		return r
	}
	s.Begin(t, r.Value, nil)
	return s.Wait(t)
}

func syncsAll(*kernel.Thread, Args) (file string, ok bool) { return "", true }

func syncsFile(t *kernel.Thread, a Args) (file string, ok bool) {
	if file, ok = synced(t, a); !ok {
		return "", false
	}
	h, _, _ := hostFile(t, a[0])
	return file, onDisks(&t.Node().Files, h.Key(), h.Path)
}

func syncsFileSystem(t *kernel.Thread, a Args) (file string, ok bool) {
	h, _, e := hostFile(t, a[0])
	return "", e == 0 && h != nil && onDisks(&t.Node().Files, h.Key(), h.Path)
}

// syncsWrite is of a call that writes to the file whose descriptor is an argument. Another has its
// flags; -1: it takes none.
func syncsWrite(fd, flags int) func(t *kernel.Thread, a Args) (file string, ok bool) {
	return func(t *kernel.Thread, a Args) (file string, ok bool) {
		how := uint64(0)
		if flags >= 0 {
			how = a[flags]
		}
		of := t.FDs().Get(fdOf(a[fd]))
		if of == nil || of.Flags&unix.O_DSYNC == 0 && how&(unix.RWF_SYNC|unix.RWF_DSYNC) == 0 {
			return "", false
		}
		return writesDisk(t, a[fd])
	}
}

// writesDisk: the descriptor is one by which a regular file on the node's disks is written.
func writesDisk(t *kernel.Thread, fd uint64) (file string, ok bool) {
	if file, ok = changedFile(t, Args{fd}); !ok {
		return "", false
	}
	h, _, _ := hostFile(t, fd)
	return file, onDisks(&t.Node().Files, h.Key(), h.Path)
}

// syncsMapped is of msync: the first file on the node's disks that is mapped there and shared.
func syncsMapped(t *kernel.Thread, a Args) (file string, ok bool) {
	if a[2]&unix.MS_SYNC == 0 {
		return "", false
	}
	for m := range procmaps.All((&view{caller: t, thread: t, proc: t.Proc}).real("maps")) {
		if !m.Shared() || max(m.Start, a[0]) >= min(m.End, a[0]+a[1]) {
			continue
		}
		key := inode.Key{Dev: m.Dev, Ino: m.Inode}
		if name := nameAgain(t, key, shownPath(t, key, m.Name)); onDisks(&t.Node().Files, key, name) {
			return name, true
		}
	}
	return "", false
}
