package sys

import (
	"os"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// A file of the host that is no longer what nodes were first shown is shown as it was
// (kernel.Instead), by the calls that can: those that look up, open and read it. Others are
// Linux's, which sees what is there now.

// Shows says what becomes of a call whose path is to be shown as something else than what is there.
type Shows uint8

const (
	ShowsFirst Shows = iota // the call is answered by what was there first
	ShowsSame               // the call sees nothing of the change: Linux answers it
	ShowsNow                // only Linux can answer the call
)

// Instead says which of these the call is that t stands in.
func Instead(t *kernel.Thread, x *kernel.Instead) Shows {
	nr, a := t.Call.NR, &t.Call.Args
	about := func(followsLink bool) Shows {
		switch {
		case !followsLink && x.Link && x.SameLink:
			return ShowsSame
		case !followsLink && x.Link:
			return ShowsNow
		case x.Stat.Mode == 0, x.SameFile, x.Content != nil && x.Stat.Mode&unix.S_IFMT == unix.S_IFREG:
			return ShowsFirst
		}
		return ShowsNow
	}
	opens := func(flags uint64) Shows {
		switch {
		case x.SameFile:
			return ShowsSame
		case flags&(unix.O_PATH|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0, flags&unix.O_CREAT != 0 && x.Stat.Mode == 0:
			return ShowsNow
		}
		return about(flags&unix.O_NOFOLLOW == 0)
	}
	switch nr {
	case unix.SYS_OPEN:
		return opens(a[1])
	case unix.SYS_OPENAT:
		return opens(a[2])
	case unix.SYS_STAT, unix.SYS_ACCESS, unix.SYS_FACCESSAT:
		return about(true)
	case unix.SYS_LSTAT, unix.SYS_READLINK, unix.SYS_READLINKAT:
		return about(false)
	case unix.SYS_NEWFSTATAT, unix.SYS_FACCESSAT2:
		return about(a[3]&unix.AT_SYMLINK_NOFOLLOW == 0)
	case unix.SYS_STATX:
		return about(a[2]&unix.AT_SYMLINK_NOFOLLOW == 0)
	case unix.SYS_CHDIR, unix.SYS_EXECVE, unix.SYS_STATFS:
		if x.Stat.Mode == 0 {
			return about(true)
		}
	}
	if x.SameFile {
		return ShowsSame
	}
	return ShowsNow
}

// openInstead opens a copy of what a file was.
func openInstead(t *kernel.Thread, r *openRequest, x *kernel.Instead) kernel.Result {
	switch {
	case x.Stat.Mode == 0:
		return kernel.Fail(unix.ENOENT)
	case r.has(unix.O_CREAT | unix.O_EXCL):
		return kernel.Fail(unix.EEXIST)
	case r.has(unix.O_DIRECTORY):
		return kernel.Fail(unix.ENOTDIR)
	}
	if e := askerOf(t).mayOpenFile(&x.Stat, int(r.how.Flags)); e != 0 {
		return kernel.Fail(e)
	}
	if r.how.Flags&(unix.O_ACCMODE|unix.O_TRUNC) != unix.O_RDONLY {
		return kernel.Fail(unix.EROFS)
	}
	host, err := copyOf(x.Content)
	if err != nil {
		return kernel.Fail(errnoOf(err))
	}
	defer unix.Close(host)
	var st unix.Stat_t
	if err := unix.Fstat(host, &st); err != nil {
		return kernel.Fail(errnoOf(err))
	}
	fd, e := t.M.Adopt(host, r.has(unix.O_CLOEXEC))
	if e != 0 {
		return kernel.Fail(e)
	}
	first := x.Stat
	h := &kernel.HostFile{Path: x.Path, Dev: first.Dev, Ino: first.Ino, Mode: first.Mode, First: &first}
	t.FDs().Set(fd, &kernel.OpenFile{File: h, Flags: statusFlags(int(r.how.Flags))}, r.has(unix.O_CLOEXEC))
	files := &t.Node().Files
	if files.Copies == nil {
		files.Copies = map[inode.Key]inode.Original{}
	}
	files.Copies[keyOf(&st)] = inode.Original{Path: x.Path, Key: h.Key()}
	files.NoteMode(h.Key(), first.Mode)
	t.Node().NoteUsed(kernel.UsedFile{Path: h.Path, Key: h.Key(), Use: ariadne.FileRead})
	notifyOpened(t, h, false)
	return kernel.Ret(int64(fd))
}

// copyOf opens a file in memory for reading that nobody can change.
func copyOf(content []byte) (int, error) {
	fd, err := unix.MemfdCreate("ariadne", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	for at := 0; at < len(content); {
		n, err := unix.Pwrite(fd, content[at:], int64(at))
		if err != nil {
			return -1, err
		}
		at += n
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return -1, err
	}
	return unix.Open("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_CLOEXEC, 0)
}

// accessInstead is access(2) of what a file was.
func accessInstead(t *kernel.Thread, x *kernel.Instead, mode uint32, flags uint64) kernel.Result {
	if mode&^7 != 0 {
		return unseen(unix.EINVAL)
	}
	if x.Stat.Mode == 0 {
		return unseen(unix.ENOENT)
	}
	if mode != 0 {
		if e := accessor(t, flags).permits(&x.Stat, mode); e != 0 {
			if !isNodeUser(t) { // who is looked at before Linux is
				return kernel.Fail(e)
			}
			return unseen(e)
		}
	}
	if mode&unix.W_OK != 0 {
		return unseen(unix.EROFS)
	}
	return unseen(0)
}

// readlinkInstead is readlink(2) of what was no link.
func readlinkInstead(x *kernel.Instead) kernel.Result {
	if x.Stat.Mode == 0 {
		return unseen(unix.ENOENT)
	}
	return unseen(unix.EINVAL)
}

// unseen is the result of a call that Linux makes else.
func unseen(e kernel.Errno) kernel.Result { return kernel.Result{Value: -int64(e), Unseen: true} }
