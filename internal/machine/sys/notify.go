package sys

import (
	"path"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"

	"golang.org/x/sys/unix"
)

// What watchers are told (inotify, F_NOTIFY).

// entryOf is the directory entry that a path, without links, names.
func entryOf(t *kernel.Thread, name string) *kernel.Entry {
	const deleted = " (deleted)"
	where, removed := strings.CutSuffix(name, deleted)
	if where == "/" || !path.IsAbs(where) {
		return &kernel.Entry{}
	}
	var st unix.Stat_t
	if unix.Stat(threadPath(t, "root")+ToNodeRoot+path.Dir(where), &st) != nil {
		return &kernel.Entry{}
	}
	return &kernel.Entry{Dir: keyOf(&st), Name: path.Base(where), Removed: removed}
}

// nameEntry is the entry that a path of a call names, which need not be there.
func nameEntry(t *kernel.Thread, dirfd uint64, name string) kernel.Entry {
	st, e := pathStat(t, dirfd, parentOf(name), true)
	if e != 0 {
		return kernel.Entry{}
	}
	return kernel.Entry{Dir: keyOf(&st), Name: path.Base(name)}
}

func dirBit(mode uint32) uint32 {
	if mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.IN_ISDIR
	}
	return 0
}

// notifyOpened tells of an open file. created: by this call.
func notifyOpened(t *kernel.Thread, h *kernel.HostFile, created bool) {
	n := t.Node()
	if !inotify.Watched(n) {
		return
	}
	h.Entry = entryOf(t, h.Path)
	if created {
		inotify.TellName(n, h.Entry.Dir, h.Entry.Name, unix.IN_CREATE, 0)
	}
	inotify.TellOpen(n, h, unix.IN_OPEN)
}

// refuseFIFONotify counts that somebody watches a named pipe that is opened.
func refuseFIFONotify(t *kernel.Thread, dirfd uint64, name string) {
	const events = unix.IN_OPEN | unix.IN_ACCESS | unix.IN_MODIFY | unix.IN_CLOSE
	n := t.Node()
	if !inotify.Watched(n) {
		return
	}
	if st, e := pathStat(t, dirfd, name, true); e == 0 &&
		inotify.Wants(n, nameEntry(t, dirfd, name), keyOf(&st), events) {
		n.Refuse(t, "inotify of a named pipe", name, false)
	}
}

// notifyCreated tells of a new name.
func notifyCreated(t *kernel.Thread, dirfd uint64, name string, mode uint32) {
	if inotify.Watched(t.Node()) {
		at := nameEntry(t, dirfd, name)
		inotify.TellName(t.Node(), at.Dir, at.Name, unix.IN_CREATE|dirBit(mode), 0)
	}
}

// notifyPath tells of a change of what a path leads to.
func notifyPath(t *kernel.Thread, dirfd uint64, name string, follow bool, mask uint32) {
	if !inotify.Watched(t.Node()) {
		return
	}
	fd, e := openPath(t, dirfd, name, follow)
	if e != 0 {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		at := entryOf(t, readLink("/proc/self/fd/"+strconv.Itoa(fd)))
		inotify.TellEntry(t.Node(), *at, keyOf(&st), mask|dirBit(st.Mode), false)
	}
}

// notifyFile tells of a change of an open file.
func notifyFile(t *kernel.Thread, h *kernel.HostFile, mask uint32) {
	if inotify.Watched(t.Node()) {
		inotify.TellOpen(t.Node(), h, mask)
	}
}

// notifyCopied tells of bytes that went from one open file to another. Those that are
// not host files have no watchers.
func notifyCopied(t *kernel.Thread, in, out kernel.File) {
	if h, ok := in.(*kernel.HostFile); ok {
		notifyFile(t, h, unix.IN_ACCESS)
	}
	if h, ok := out.(*kernel.HostFile); ok {
		notifyFile(t, h, unix.IN_MODIFY)
	}
}

// notifyRemoved tells that a name is gone. st is what it was the name of.
func notifyRemoved(t *kernel.Thread, at kernel.Entry, st *unix.Stat_t) {
	n := t.Node()
	if !inotify.Watched(n) {
		return
	}
	key, isDir := keyOf(st), dirBit(st.Mode)
	if isDir == 0 {
		inotify.TellInode(n, key, unix.IN_ATTRIB)
	}
	inotify.Moved(n, key, at, nil)
	lostName(t, at, key, isDir != 0 || n.Files.Links(key, st.Nlink) == 1)
	inotify.TellName(n, at.Dir, at.Name, unix.IN_DELETE|isDir, 0)
}

// lostName is called when a file has lost a name, perhaps its last.
func lostName(t *kernel.Thread, at kernel.Entry, key inode.Key, last bool) {
	n := t.Node()
	if !last {
		return
	}
	if inotify.WatchesInode(n, key) {
		for _, p := range n.Procs {
			var st unix.Stat_t
			if len(p.Threads) > 0 && unix.Stat(threadPath(p.Threads[0], "cwd"), &st) == nil && keyOf(&st) == key {
				n.Refuse(t, "inotify of a directory that is removed while a process works there", "", false)
			}
		}
	}
	inotify.Unlinked(n, at, key)
}

// moved is a name that a call of rename is about to move.
type moved struct {
	at    kernel.Entry
	st    unix.Stat_t
	found bool
}

func nameToMove(t *kernel.Thread, dirfd uint64, name string) (m moved) {
	if inotify.Watched(t.Node()) {
		m.at = nameEntry(t, dirfd, name)
		var e kernel.Errno
		m.st, e = pathStat(t, dirfd, name, false)
		m.found = e == 0
	}
	return m
}

// notifyRenamed tells of a rename that has been done.
func notifyRenamed(t *kernel.Thread, from, to moved, flags uint64) {
	n := t.Node()
	if !inotify.Watched(n) || !from.found || to.found && keyOf(&from.st) == keyOf(&to.st) {
		return
	}
	exchange := flags&unix.RENAME_EXCHANGE != 0
	if exchange {
		a, b := from.at, to.at
		inotify.Moved(n, keyOf(&to.st), b, &a)
	} else if to.found {
		inotify.Moved(n, keyOf(&to.st), to.at, nil)
	}
	at := to.at
	inotify.Moved(n, keyOf(&from.st), from.at, &at)
	tell := func(from, to moved) {
		cookie, isDir := inotify.Cookie(n), dirBit(from.st.Mode)
		if from.at.Dir == to.at.Dir {
			inotify.TellRenamed(n, from.at.Dir)
		}
		inotify.TellName(n, from.at.Dir, from.at.Name, unix.IN_MOVED_FROM|isDir, cookie)
		inotify.TellName(n, to.at.Dir, to.at.Name, unix.IN_MOVED_TO|isDir, cookie)
		if to.found && !exchange {
			inotify.TellInode(n, keyOf(&to.st), unix.IN_ATTRIB|dirBit(to.st.Mode))
		}
		inotify.TellInode(n, keyOf(&from.st), unix.IN_MOVE_SELF)
	}
	tell(from, to)
	switch {
	case exchange:
		tell(to, from)
	case to.found:
		key := keyOf(&to.st)
		lostName(t, to.at, key, dirBit(to.st.Mode) != 0 || n.Files.Links(key, to.st.Nlink) == 1)
	}
}

// refuseExecNotify counts that somebody watches a program which Linux opens and reads by
// itself.
func refuseExecNotify(t *kernel.Thread) {
	n := t.Node()
	if !inotify.Watched(n) {
		return
	}
	Paths(t, func(name string, _ bool) {
		var st unix.Stat_t
		where := threadPath(t, "root") + ToNodeRoot + name
		if unix.Stat(where, &st) == nil &&
			inotify.Wants(n, *entryOf(t, name), keyOf(&st), unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CLOSE_NOWRITE) {
			n.Refuse(t, "inotify of a program that is executed", name, false)
		}
	})
}
