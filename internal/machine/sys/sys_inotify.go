package sys

import (
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"

	"golang.org/x/sys/unix"
)

func inotifyInit(t *kernel.Thread, flags int) kernel.Result {
	if flags&^(unix.IN_CLOEXEC|unix.IN_NONBLOCK) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	f, e := inotify.New(t.Node())
	if e != 0 {
		return kernel.Fail(e)
	}
	fd, e := t.NewFD(f, unix.O_RDONLY|flags)
	if e != 0 {
		f.Release(t.Node())
	}
	return kernel.RetOr(fd, e)
}

// inotifyOf returns the instance behind a descriptor.
func inotifyOf(t *kernel.Thread, fd uint64) (*inotify.Instance, kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return nil, unix.EBADF
	}
	f, ok := of.File.(*inotify.Instance)
	if !ok {
		return nil, unix.EINVAL
	}
	return f, 0
}

// inotifyBits are all that inotify_add_watch understands.
const inotifyBits = unix.IN_ALL_EVENTS | unix.IN_UNMOUNT | unix.IN_Q_OVERFLOW | unix.IN_IGNORED | unix.IN_ONLYDIR |
	unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK | unix.IN_MASK_CREATE | unix.IN_MASK_ADD | unix.IN_ISDIR | unix.IN_ONESHOT

func sysInotifyAddWatch(t *kernel.Thread, a Args) kernel.Result {
	mask := uint32(a[2])
	if mask == 0 || mask&^inotifyBits != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	f, e := inotifyOf(t, a[0])
	switch both := uint32(unix.IN_MASK_ADD | unix.IN_MASK_CREATE); {
	case e == unix.EBADF:
		return kernel.Fail(e)
	case mask&both == both, e != 0:
		return kernel.Fail(unix.EINVAL)
	}
	name, e := readPath(t, a[1])
	if e != 0 {
		return kernel.Fail(e)
	}
	if v, ok := virtualPath(t, atCwd, name); ok {
		if _, e := statVirtual(t, v, true); e != 0 {
			return kernel.Fail(e)
		}
		if redirect(t, -1, 1) != 0 {
			t.Node().Refuse(t, "inotify_add_watch of "+v, formatArgs(t.Call.NR, a), false)
			return kernel.Fail(unix.EACCES)
		}
		if name, e = readPath(t, t.Call.Args[1]); e != 0 {
			return kernel.Fail(e)
		}
	}
	follow := mask&unix.IN_DONT_FOLLOW == 0
	st, e := pathStat(t, atCwd, name, follow)
	if e == 0 && mask&unix.IN_ONLYDIR != 0 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return kernel.Fail(unix.ENOTDIR)
	}
	flags := uint64(unix.AT_EACCESS)
	if !follow {
		flags |= unix.AT_SYMLINK_NOFOLLOW
	}
	if r := t.M.Syscall(unix.SYS_FACCESSAT2, atCwd, t.Call.Args[1], unix.R_OK, flags); r != 0 {
		return kernel.Ret(r)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	if isSystemPath(absolute(t, atCwd, name)) {
		t.Node().Refuse(t, "inotify_add_watch of "+name, formatArgs(t.Call.NR, a), false)
		return kernel.Fail(unix.EACCES)
	}
	findEntries(t)
	return kernel.RetOr(f.Add(keyOf(&st), mask))
}

// notifyDirectory is F_NOTIFY.
func notifyDirectory(t *kernel.Thread, of *kernel.OpenFile, fd int, arg uint32) kernel.Result {
	const multishot = 1 << 31
	h, host := of.File.(*kernel.HostFile)
	_, virtual := of.File.(*procfs.Dir)
	switch {
	case arg&^uint32(multishot) == 0:
		inotify.EndSignals(t.Node(), t.FDs(), of)
		return kernel.Ret(0)
	case virtual || host && isSystemPath(h.Path):
		t.Node().Refuse(t, "fcntl F_NOTIFY of a directory of the system", formatArgs(t.Call.NR, t.Call.Args), false)
		return kernel.Fail(unix.EINVAL)
	case !host || h.Mode&unix.S_IFMT != unix.S_IFDIR:
		return kernel.Fail(unix.ENOTDIR)
	}
	findEntries(t)
	inotify.SignalDirectory(t, of, h.Key(), fd, arg)
	return kernel.Ret(0)
}

func sysInotifyRmWatch(t *kernel.Thread, a Args) kernel.Result {
	f, e := inotifyOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, f.Remove(fdOf(a[1])))
}

// findEntries finds out where the files that are open have their names, which nobody has
// asked for while nothing was watched.
func findEntries(t *kernel.Thread) {
	t.Node().OpenHostFiles(func(p *kernel.Process, fd int, h *kernel.HostFile) {
		if inotify.Watched(t.Node()) && h.Entry != nil || len(p.Threads) == 0 {
			return
		}
		if h.Synthetic || strings.HasPrefix(h.Path, "/memfd:") {
			h.Entry = &kernel.Entry{}
			return
		}
		at := p.Threads[0]
		h.Entry = entryOf(at, shownPath(at, h.Key(), fdPath(at, fd)))
	})
}

// readHost lets Linux read a host file.
func readHost(t *kernel.Thread, of *kernel.OpenFile) kernel.Result {
	h := of.File.(*kernel.HostFile)
	if !inotify.WantsOpen(t.Node(), h, unix.IN_ACCESS) {
		return kernel.Native
	}
	r := run(t)
	if r > 0 {
		notifyFile(t, h, unix.IN_ACCESS)
	}
	return kernel.Ret(r)
}
