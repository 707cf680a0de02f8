package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

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
	h := &kernel.HostFile{Path: "/memfd:" + name + " (deleted)", Dev: st.Dev, Ino: st.Ino, Mode: st.Mode,
		Entry: &kernel.Entry{}}
	t.FDs().Set(int(fd), &kernel.OpenFile{File: h, Flags: unix.O_RDWR | largeFile}, a[1]&unix.MFD_CLOEXEC != 0)
	return kernel.Ret(fd)
}
