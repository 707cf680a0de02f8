package sys

import (
	"strings"

	"ariadne/internal/kernel"
	"ariadne/internal/kernel/dialog"
	"ariadne/internal/kernel/net/tcp"
	"ariadne/internal/kernel/net/udp"

	"golang.org/x/sys/unix"
)

// Visible reports whether the call that t stands in does something that others can see of the
// machine, or that is left when its programs are gone: it changes a file or the name of one, or
// sends to other machines. on is what it is done to, if that has a stable name, or "".
func Visible(t *kernel.Thread) (on string, ok bool) {
	a := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDFILE:
		if sends(t, a[0]) {
			return "", true
		}
		if asksLoss(t, a) {
			return dialog.Path, true
		}
		return changedFile(t, a)
	case unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FCHMOD, unix.SYS_FCHOWN, unix.SYS_FSETXATTR, unix.SYS_FREMOVEXATTR:
		return changedFile(t, a)
	case unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE:
		return changedFile(t, Args{a[2]})
	case unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_CONNECT, unix.SYS_SHUTDOWN:
		return "", sends(t, a[0])
	case unix.SYS_IO_SUBMIT:
		return "", a[1] > 0
	case unix.SYS_OPEN:
		return emptied(t, atCwd, a[0], a[1])
	case unix.SYS_OPENAT:
		return emptied(t, a[0], a[1], a[2])
	case unix.SYS_OPENAT2:
		flags, ok := howOf(t, a)
		if !ok {
			return "", false
		}
		return emptied(t, a[0], a[1], flags)
	case unix.SYS_CREAT:
		return emptied(t, atCwd, a[0], unix.O_CREAT|unix.O_TRUNC)
	case unix.SYS_TRUNCATE, unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_MKDIR, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_MKNOD,
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR:
		return changedName(t, a[0])
	case unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_MKNODAT, unix.SYS_SYMLINK,
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_FUTIMESAT:
		return changedName(t, a[1])
	case unix.SYS_UTIMENSAT:
		if a[1] == 0 {
			return changedFile(t, a)
		}
		return changedName(t, a[1])
	case unix.SYS_SYMLINKAT:
		return changedName(t, a[2])
	}
	return "", false
}

// changedName: the name of a file is changed, or what has it.
func changedName(t *kernel.Thread, path uint64) (on string, ok bool) {
	on, e := readPath(t, path)
	return on, e == 0
}

// emptied: a file is made or emptied by opening it. What else may have the name is left as it is: a device, a pipe.
func emptied(t *kernel.Thread, dirfd, path, flags uint64) (on string, ok bool) {
	if flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return "", false
	}
	if on, ok = changedName(t, path); !ok {
		return "", false
	}
	if t.Proc.Root == "" {
		if _, virtual := virtualPath(t, dirfd, on); virtual {
			return "", false
		}
	}
	st, e := pathStat(t, dirfd, on, true)
	return on, e != 0 || st.Mode&unix.S_IFMT == unix.S_IFREG
}

// asksLoss: a program asks what a loss would leave.
func asksLoss(t *kernel.Thread, a Args) bool {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil || t.Call.NR != unix.SYS_WRITE {
		return false
	}
	if _, ok := of.File.(*dialog.File); !ok {
		return false
	}
	b, e := readBytes(t, a[1], int(min(a[2], 32)))
	return e == 0 && strings.HasPrefix(strings.TrimSpace(string(b)), "crash now")
}

// sends: a socket by which other machines are reached.
func sends(t *kernel.Thread, fd uint64) bool {
	of := t.FDs().Get(fdOf(fd))
	if of == nil {
		return false
	}
	switch of.File.(type) {
	case *tcp.Socket, *udp.Socket:
		return true
	}
	return false
}
