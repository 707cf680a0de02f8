package sys

import (
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// terminalAt is the terminal whose slave has the name v, or nil.
func terminalAt(t *kernel.Thread, v string) *tty.Terminal {
	n, err := strconv.Atoi(strings.TrimPrefix(v, "/dev/pts/"))
	if err != nil {
		return nil
	}
	return tty.Numbered(t.Node(), n)
}

// terminalNamed is the terminal whose slave a path of a call names, or nil.
func terminalNamed(t *kernel.Thread, dirfd, addr uint64) *tty.Terminal {
	if !tty.Any(t.Node()) {
		return nil
	}
	name, e := readPath(t, addr)
	if e != 0 {
		return nil
	}
	v, ok := virtualPath(t, dirfd, name)
	if !ok || !strings.HasPrefix(v, "/dev/pts/") {
		return nil
	}
	return terminalAt(t, v)
}

func chmodTerminal(t *kernel.Thread, x *tty.Terminal, mode uint64) kernel.Result {
	if t.Cred.UID.FS != x.UID && !t.Capable(unix.CAP_FOWNER) {
		return kernel.Fail(unix.EPERM)
	}
	x.Mode = uint32(mode & 0o7777)
	return kernel.Ret(0)
}

func chownTerminal(t *kernel.Thread, x *tty.Terminal, uid, gid uint64) kernel.Result {
	if !t.Capable(unix.CAP_CHOWN) && (int32(uid) != -1 && int(uid) != x.UID || int32(gid) != -1 && int(gid) != x.GID) {
		return kernel.Fail(unix.EPERM)
	}
	if int32(uid) != -1 {
		x.UID = int(uint32(uid))
	}
	if int32(gid) != -1 {
		x.GID = int(uint32(gid))
	}
	return kernel.Ret(0)
}

// openTerminal opens /dev/ptmx, /dev/tty or a slave.
func openTerminal(t *kernel.Thread, flags int, v string) kernel.Result {
	status := statusFlags(flags) | flags&unix.O_CLOEXEC
	if v == "/dev/ptmx" {
		fd, e := t.NewFD(tty.Open(t.Node(), t.Cred.UID.FS), status)
		return kernel.RetOr(fd, e)
	}
	path, x := "", terminalAt(t, v)
	if v == "/dev/tty" {
		path, x = v, tty.ControllingOf(t.Proc)
	}
	switch {
	case x == nil && v == "/dev/tty":
		return kernel.Fail(unix.ENXIO)
	case x == nil:
		return kernel.Fail(unix.ENOENT)
	case !mayOpenTerminal(t, x, flags) && v != "/dev/tty":
		return kernel.Fail(unix.EACCES)
	}
	s, e := x.OpenSlave(t.Proc, path, flags&unix.O_NOCTTY == 0 && v != "/dev/tty")
	if e != 0 {
		return kernel.Fail(e)
	}
	fd, e := t.NewFD(s, status)
	if e != 0 {
		s.Release(t.Node())
	}
	return kernel.RetOr(fd, e)
}

// mayOpenTerminal looks at the slave's mode.
func mayOpenTerminal(t *kernel.Thread, x *tty.Terminal, flags int) bool {
	cred := &t.Cred
	if t.Capable(unix.CAP_DAC_OVERRIDE) {
		return true
	}
	want := [...]uint32{unix.O_RDONLY: 4, unix.O_WRONLY: 2, unix.O_RDWR: 6}[min(flags&unix.O_ACCMODE, unix.O_RDWR)]
	mode := x.Mode
	switch {
	case cred.UID.FS == x.UID:
		mode >>= 6
	case cred.GID.FS == x.GID:
		mode >>= 3
	}
	return mode&want == want
}

// statTerminal is what stat shows of a terminal: x for a slave, else of the file v.
func statTerminal(t *kernel.Thread, st *unix.Stat_t, v string, x *tty.Terminal) {
	st.Dev, st.Blksize, st.Ino = inode.DevHost, 1024, virtualInode(t, v)
	switch {
	case x != nil:
		st.Dev, st.Ino = inode.DevPts, uint64(x.N)+3
		st.Rdev, st.Uid, st.Gid = unix.Mkdev(136, uint32(x.N)), uint32(x.UID), uint32(x.GID)
	case v == "/dev/ptmx":
		st.Rdev, st.Gid = unix.Mkdev(5, 2), 5
	default:
		st.Rdev, st.Gid = unix.Mkdev(5, 0), 5
	}
}
