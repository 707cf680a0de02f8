package sys

import (
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"

	"golang.org/x/sys/unix"
)

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
