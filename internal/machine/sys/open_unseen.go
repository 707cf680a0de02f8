package sys

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// Numbers of devices.
const (
	memDevices = 1
	devNull    = 3
	devZero    = 5
	devFull    = 7
	devRandom  = 8
	devUrandom = 9
)

// openUnseen opens what Linux must not: a named pipe of the host's would tell those at its
// other end, and a device may do anything. Other opens have no effect on anybody else.
func openUnseen(t *kernel.Thread, r *openRequest) (res kernel.Result, done bool) {
	if r.has(unix.O_PATH) || r.has(unix.O_DIRECTORY) || r.has(unix.O_CREAT|unix.O_EXCL) {
		return res, false
	}
	st, e := pathStat(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW))
	if e != 0 {
		return res, false
	}
	kind := st.Mode & unix.S_IFMT
	switch kind {
	case unix.S_IFIFO, unix.S_IFBLK:
	case unix.S_IFCHR:
		minors := []uint32{devNull, devZero, devFull, devRandom, devUrandom}
		if unix.Major(st.Rdev) == memDevices && slices.Contains(minors, unix.Minor(st.Rdev)) && isOwnDevice(t, &st) {
			return res, false
		}
	default:
		return res, false
	}
	if e := linuxMayOpen(t, r); e != 0 {
		return kernel.Fail(e), true
	}
	if kind == unix.S_IFIFO {
		return openFIFO(t, r, keyOf(&st)), true
	}
	t.Node().Refuse(t, "open "+r.name, "a device", false)
	return kernel.Fail(unix.ENXIO), true
}

// isOwnDevice reports whether a device is one of the node's /dev, and no other file for
// the same device.
func isOwnDevice(t *kernel.Thread, st *unix.Stat_t) bool {
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		var own unix.Stat_t
		if unix.Stat(threadPath(t, "root")+ToNodeRoot+"/dev/"+name, &own) == nil && own.Dev == st.Dev &&
			own.Ino == st.Ino {
			return true
		}
	}
	return false
}

// linuxMayOpen asks Linux whether the thread may open a file, without opening it.
func linuxMayOpen(t *kernel.Thread, r *openRequest) kernel.Errno {
	at := *r
	at.how.Flags = unix.O_PATH | r.how.Flags&unix.O_NOFOLLOW
	at.how.Mode = 0
	fd := openNative(t, &at)
	if fd < 0 {
		return kernel.Errno(-fd)
	}
	defer t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
	mode := [...]uint64{unix.R_OK, unix.W_OK, unix.R_OK | unix.W_OK, unix.R_OK | unix.W_OK}[r.how.Flags&unix.O_ACCMODE]
	if e := t.M.WriteMem(area.Scratch, []byte{0}); e != 0 {
		return e
	}
	if v := t.M.Syscall(unix.SYS_FACCESSAT2, uint64(fd), area.Scratch, mode, unix.AT_EMPTY_PATH); v < 0 {
		return kernel.Errno(-v)
	}
	return 0
}
