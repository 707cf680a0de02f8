package sys

import (
	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

func init() {
	register(
		full(unix.SYS_MEMFD_CREATE, "memfd_create", sysMemfdCreate),
		refused(unix.SYS_INOTIFY_INIT, "inotify_init", 0, true, "programs poll instead"),
		refused(unix.SYS_INOTIFY_INIT1, "inotify_init1", 0, true, "programs poll instead"),
		refused(unix.SYS_INOTIFY_ADD_WATCH, "inotify_add_watch", 0, true, "there is no descriptor to add to"),
		refused(unix.SYS_INOTIFY_RM_WATCH, "inotify_rm_watch", 0, true, "there is no descriptor to remove from"),
	)
}

// sysMemfdCreate makes a real anonymous file.
func sysMemfdCreate(t *kernel.Thread, a Args) kernel.Result {
	name, e := readString(t, a[0], 250)
	if e != 0 {
		if e == unix.ENAMETOOLONG {
			e = unix.EINVAL
		}
		return kernel.Fail(e)
	}
	fd := t.M.Syscall(unix.SYS_MEMFD_CREATE, a[0], a[1])
	if fd < 0 {
		return kernel.Ret(fd)
	}
	host, e := t.M.HostFD(int(fd))
	if e != 0 {
		return kernel.Fail(e)
	}
	defer unix.Close(host)
	var st unix.Stat_t
	if err := unix.Fstat(host, &st); err != nil {
		return kernel.Fail(errnoOf(err))
	}
	h := &kernel.HostFile{Path: "/memfd:" + name + " (deleted)", Dev: st.Dev, Ino: st.Ino, Mode: st.Mode}
	t.FDs().Set(int(fd), &kernel.OpenFile{File: h, Flags: unix.O_RDWR | largeFile}, a[1]&unix.MFD_CLOEXEC != 0)
	return kernel.Ret(fd)
}
