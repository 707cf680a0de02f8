package sys

import (
	"strconv"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/filelock"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"

	"golang.org/x/sys/unix"
)

// What follows a change of a file or of a name, whichever call makes it: times, the owner, set-id
// bits, the log, and who watches.

// fileModified is told before Linux changes the contents of a host file.
func fileModified(t *kernel.Thread, f *kernel.HostFile) { t.Node().FileModified(f.Key()) }

// namesChanged notes that the directory of a path got or lost a name, and returns what is
// known of that directory.
func namesChanged(t *kernel.Thread, dirfd uint64, name string) (dir unix.Stat_t) {
	dir, e := pathStat(t, dirfd, parentOf(name), true)
	if e == 0 {
		t.Node().FileModified(keyOf(&dir))
	}
	return dir
}

// inodeChanged notes a change of the owner, mode or names of what a path names.
func inodeChanged(t *kernel.Thread, dirfd uint64, name string, follow bool) {
	if st, e := pathStat(t, dirfd, name, follow); e == 0 {
		t.Node().FileChanged(keyOf(&st))
		t.Node().Files.NoteMode(keyOf(&st), st.Mode)
	}
}

// fileCreated gives a new file its times, and its owner when the process is
// another user than it really is. The group is that of the directory when it hands it on.
func fileCreated(t *kernel.Thread, st, dir *unix.Stat_t) {
	n, key := t.Node(), keyOf(st)
	n.FileCreated(key)
	uid, gid := owner(&n.Files, key, st, false)
	fsuid, fsgid := t.Cred.UID.FS, t.Cred.GID.FS
	if dir.Mode&unix.S_ISGID != 0 {
		_, g := owner(&n.Files, keyOf(dir), dir, false)
		fsgid = int(g)
	}
	if int(uid) != fsuid || int(gid) != fsgid {
		n.Files.SetOwner(key, fsuid, fsgid)
	}
}

// madeName notes that there is a new file.
func madeName(t *kernel.Thread, dirfd uint64, name string) {
	dir := namesChanged(t, dirfd, name)
	if st, e := pathStat(t, dirfd, name, false); e == 0 {
		fileCreated(t, &st, &dir)
		entered(t, placeOf(t, dirfd, name), &st)
		notifyCreated(t, dirfd, name, st.Mode)
	}
}

// writeHost lets Linux write to the host file of descriptor fd.
func writeHost(t *kernel.Thread, of *kernel.OpenFile, fd uint64) kernel.Result {
	h := of.File.(*kernel.HostFile)
	fileModified(t, h)
	src := copySource(t)
	if t.Node().Files.SetIDBits(h.Key()) == 0 && !inotify.WantsOpen(t.Node(), h, unix.IN_MODIFY) &&
		(src == nil || !inotify.WantsOpen(t.Node(), src, unix.IN_ACCESS)) {
		return kernel.Native
	}
	r := run(t)
	keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(fdOf(fd))))
	notifyWritten(t, h, r)
	return kernel.Ret(r)
}

// notifyWritten tells of what a call has written. Those that do not say how much answer 0.
func notifyWritten(t *kernel.Thread, h *kernel.HostFile, r int64) {
	if nr := t.Call.NR; r > 0 || r == 0 && (nr == unix.SYS_FTRUNCATE || nr == unix.SYS_FALLOCATE) {
		if src := copySource(t); src != nil {
			notifyFile(t, src, unix.IN_ACCESS)
		}
		notifyFile(t, h, unix.IN_MODIFY)
	}
}

// copySource is the host file that the call copies from, if it is one that copies.
func copySource(t *kernel.Thread) *kernel.HostFile {
	fd := t.Call.Args[0]
	switch t.Call.NR {
	case unix.SYS_SENDFILE:
		fd = t.Call.Args[1]
	case unix.SYS_COPY_FILE_RANGE:
	default:
		return nil
	}
	h, _, _ := hostFile(t, fd)
	return h
}

// keepSetID is called after a change of a file's content, by which Linux has taken
// the set-id bits away. The node's root has the privilege (CAP_FSETID) to keep them, but not
// on the machine: for him they are put back. name is the file's, to the supervisor.
func keepSetID(t *kernel.Thread, key inode.Key, name string) {
	files := &t.Node().Files
	bits := files.SetIDBits(key)
	var st unix.Stat_t
	if bits == 0 || unix.Stat(name, &st) != nil || keyOf(&st) != key {
		return
	}
	mode := st.Mode | bits
	if !t.Capable(unix.CAP_FSETID) {
		mode = withoutSetID(st.Mode)
	}
	if mode != st.Mode && unix.Chmod(name, mode&0o7777) == nil {
		st.Mode = mode
	}
	files.NoteMode(key, st.Mode)
}

// breakLeases makes the caller wait for the leases on the file that a path leads to, when it is
// about to open or truncate it; done says that the call goes no further.
func breakLeases(t *kernel.Thread, dirfd uint64, name string, follow, write, wait bool) (res kernel.Result, done bool) {
	n := t.Node()
	if !filelock.Of(n).HasLeases() {
		return res, false
	}
	st, e := pathStat(t, dirfd, name, follow)
	if e != 0 || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return res, false
	}
	q, deadline := filelock.Of(n).BreakLeases(n, keyOf(&st), write)
	switch {
	case q == nil:
		return res, false
	case !wait:
		return kernel.Fail(unix.EAGAIN), true
	}
	t.SetDeadline(deadline)
	return t.Block(kernel.RestartSA, q), true
}
