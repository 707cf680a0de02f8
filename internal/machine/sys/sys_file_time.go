package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

func sysUtime(t *kernel.Thread, a Args) kernel.Result {
	return setTimes(t, -1, 0, true, func() (v [2]unix.Timespec, e kernel.Errno) {
		if a[1] == 0 {
			return bothNow, 0
		}
		for i := range v {
			s, e := readU64(t, a[1]+uint64(8*i))
			if e != 0 {
				return v, e
			}
			v[i].Sec = int64(s)
		}
		return v, 0
	})
}

func sysUtimes(t *kernel.Thread, a Args) kernel.Result {
	return setTimes(t, -1, 0, true, func() ([2]unix.Timespec, kernel.Errno) { return readTimes(t, a[1], 1000) })
}

func sysFutimesat(t *kernel.Thread, a Args) kernel.Result {
	return setTimes(t, 0, 1, true, func() ([2]unix.Timespec, kernel.Errno) { return readTimes(t, a[2], 1000) })
}

func sysUtimensat(t *kernel.Thread, a Args) kernel.Result {
	follow := a[3]&unix.AT_SYMLINK_NOFOLLOW == 0
	if changesNoTime(t) {
		return kernel.Ret(0)
	}
	return setTimes(t, 0, 1, follow, func() ([2]unix.Timespec, kernel.Errno) { return readTimes(t, a[2], 1) })
}

// setTimes lets Linux check and do the call, then notes the times it set. dirAt
// and at are the arguments with directory (or -1) and path; no path means the descriptor
// in the place of the directory.
func setTimes(t *kernel.Thread, dirAt, at int, follow bool,
	times func() ([2]unix.Timespec, kernel.Errno)) kernel.Result {
	dirfd := atCwd
	if dirAt >= 0 {
		dirfd = t.Call.Args[dirAt]
	}
	if path := t.Call.Args[at]; follow && path != 0 {
		v, e := times()
		if e == 0 && toDescriptor(t, dirfd, path, unix.SYS_UTIMENSAT, 0, area.Scratch) {
			if e := t.M.WriteMem(area.Scratch, appendTimes(v)); e != 0 {
				return kernel.Fail(e)
			}
			dirAt, at, dirfd = 0, 1, t.Call.Args[0]
			times = func() ([2]unix.Timespec, kernel.Errno) { return v, 0 }
		} else if e := redirect(t, dirAt, at); e != 0 {
			return kernel.Fail(e)
		} else if dirAt >= 0 {
			dirfd = t.Call.Args[dirAt]
		}
	}
	if of := t.FDs().Get(fdOf(dirfd)); t.Call.Args[at] == 0 && of != nil && of.Flags&unix.O_PATH == 0 && !isHost(of) {
		return kernel.RetOr(0, mayTime(of.File))
	}
	st, e := timesTarget(t, dirfd, t.Call.Args[at], follow)
	if e != 0 {
		return kernel.Fail(e)
	}
	v, e := times()
	if e != 0 {
		return kernel.Fail(e)
	}
	if e := maySetTimes(t, &st, v[0].Nsec == unix.UTIME_NOW && v[1].Nsec == unix.UTIME_NOW); e != 0 {
		return kernel.Fail(e)
	}
	key := keyOf(&st)
	if r := run(t); r != 0 {
		return kernel.Ret(r)
	}
	n := t.Node()
	now := n.RealNow()
	ft := n.Files.Times(key)
	for i, field := range []*int64{&ft.Access, &ft.Modify} {
		switch v[i].Nsec {
		case unix.UTIME_NOW:
			*field = now
		case unix.UTIME_OMIT:
		default:
			*field = v[i].Nano()
		}
	}
	ft.Change = now
	n.Files.SetTimes(key, ft)
	notifyTimes(t, dirfd, t.Call.Args[at], follow, v)
	return kernel.Ret(0)
}

// mayTime says whether the times of what is no file can be set, which means nothing.
func mayTime(f kernel.File) kernel.Errno {
	if _, proc := f.(*procfs.Dir); proc {
		return unix.EPERM
	}
	if anonymous(f) {
		return unix.EOPNOTSUPP
	}
	return 0
}

func appendTimes(v [2]unix.Timespec) (b []byte) {
	for _, x := range v {
		b = le.AppendUint64(le.AppendUint64(b, uint64(x.Sec)), uint64(x.Nsec))
	}
	return b
}

// notifyTimes tells of times that were set: one alone passes for a read or a write.
func notifyTimes(t *kernel.Thread, dirfd, path uint64, follow bool, v [2]unix.Timespec) {
	if !inotify.Watched(t.Node()) {
		return
	}
	mask := uint32(unix.IN_ATTRIB)
	if v[0].Nsec == unix.UTIME_OMIT {
		mask = unix.IN_MODIFY
	} else if v[1].Nsec == unix.UTIME_OMIT {
		mask = unix.IN_ACCESS
	}
	name := ""
	if path != 0 {
		name, _ = readPath(t, path)
	}
	if name != "" {
		notifyPath(t, dirfd, name, follow, mask)
	} else if h, _, e := hostFile(t, dirfd); e == 0 && h != nil {
		notifyFile(t, h, mask)
	}
}

func timesTarget(t *kernel.Thread, dirfd, path uint64, follow bool) (st unix.Stat_t, e kernel.Errno) {
	if path == 0 {
		of := t.FDs().Get(fdOf(dirfd))
		if of == nil {
			return st, unix.EBADF
		}
		if _, ok := of.File.(*kernel.HostFile); !ok {
			return st, unix.EACCES
		}
		return fdStat(t, fdOf(dirfd))
	}
	name, e := readPath(t, path)
	if e != 0 {
		return st, e
	}
	if name == "" && t.Call.NR == unix.SYS_UTIMENSAT && t.Call.Args[3]&unix.AT_EMPTY_PATH != 0 && !isCwd(dirfd) {
		return timesTarget(t, dirfd, 0, follow)
	}
	return pathStat(t, dirfd, name, follow)
}
