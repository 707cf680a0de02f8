package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/eventfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/epoll"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signalfd"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"

	"golang.org/x/sys/unix"
)

func sysChmod(t *kernel.Thread, a Args) kernel.Result {
	if x := terminalNamed(t, atCwd, a[0]); x != nil {
		return chmodTerminal(t, x, a[1])
	}
	if toDescriptor(t, atCwd, a[0], unix.SYS_FCHMOD, a[1]) {
		return sysFchmod(t, t.Call.Args)
	}
	if e := redirect(t, -1, 0); e != 0 {
		return kernel.Fail(e)
	}
	return chmodPath(t, atCwd, t.Call.Args[0], true)
}

func sysFchmodat(t *kernel.Thread, a Args) kernel.Result {
	nofollow := t.Call.NR == unix.SYS_FCHMODAT2 && a[3]&unix.AT_SYMLINK_NOFOLLOW != 0
	if x := terminalNamed(t, a[0], a[1]); x != nil {
		return chmodTerminal(t, x, a[2])
	}
	if !nofollow && toDescriptor(t, a[0], a[1], unix.SYS_FCHMOD, a[2]) {
		return sysFchmod(t, t.Call.Args)
	}
	if e := redirect(t, 0, 1); e != 0 {
		return kernel.Fail(e)
	}
	return chmodPath(t, t.Call.Args[0], t.Call.Args[1], !nofollow)
}

// anonymous reports whether a file has an anonymous inode, of which nothing can be changed from
// Linux 6.16 on.
func anonymous(f kernel.File) bool {
	switch f.(type) {
	case *epoll.Set, *eventfd.File, *timerfd.File, *signalfd.File, *inotify.Instance:
		return true
	}
	return false
}

func chmodPath(t *kernel.Thread, dirfd, addr uint64, follow bool) kernel.Result {
	name, e := readPath(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	if !isNodeUser(t) {
		mode := &t.Call.Args[1]
		if t.Call.NR != unix.SYS_CHMOD {
			mode = &t.Call.Args[2]
		}
		if st, e := pathStat(t, dirfd, name, follow); e == 0 && st.Mode&unix.S_IFMT != unix.S_IFLNK {
			if e := mayChmod(t, &st, mode); e != 0 {
				return kernel.Fail(e)
			}
		}
	}
	r := run(t)
	if r == 0 {
		inodeChanged(t, dirfd, name, follow)
		notifyPath(t, dirfd, name, follow, unix.IN_ATTRIB)
	}
	return kernel.Ret(r)
}

func sysFchmod(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	if e == 0 {
		if s, ok := of.File.(*tty.Slave); ok {
			return chmodTerminal(t, s.Terminal, a[1])
		}
	}
	switch {
	case e != 0:
		return kernel.Fail(e)
	case h == nil:
		if anonymous(of.File) {
			return kernel.Fail(unix.EOPNOTSUPP)
		}
		return kernel.Ret(0) // a socket's mode means nothing
	}
	if !isNodeUser(t) {
		st, e := fdStat(t, fdOf(a[0]))
		if e == 0 {
			e = mayChmod(t, &st, &t.Call.Args[1])
		}
		if e != 0 {
			return kernel.Fail(e)
		}
	}
	r := run(t)
	if r == 0 {
		t.Node().FileChanged(h.Key())
		if st, e := fdStat(t, fdOf(a[0])); e == 0 {
			t.Node().Files.NoteMode(h.Key(), st.Mode)
		}
		notifyFile(t, h, unix.IN_ATTRIB)
	}
	return kernel.Ret(r)
}

func sysChown(t *kernel.Thread, a Args) kernel.Result {
	if x := terminalNamed(t, atCwd, a[0]); x != nil {
		return chownTerminal(t, x, a[1], a[2])
	}
	if toDescriptor(t, atCwd, a[0], unix.SYS_FCHOWN, a[1], a[2]) {
		return sysFchown(t, t.Call.Args)
	}
	if e := redirect(t, -1, 0); e != 0 {
		return kernel.Fail(e)
	}
	return chownPath(t, atCwd, t.Call.Args[0], a[1], a[2], true)
}

func sysLchown(t *kernel.Thread, a Args) kernel.Result {
	return chownPath(t, atCwd, a[0], a[1], a[2], false)
}

func sysFchownat(t *kernel.Thread, a Args) kernel.Result {
	if uint32(a[4])&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if empty, e := emptyPath(t, a[1], a[4]); e != 0 {
		return kernel.Fail(e)
	} else if empty && !isCwd(a[0]) {
		if of := t.FDs().Get(fdOf(a[0])); of != nil && of.Flags&unix.O_PATH != 0 {
			return chownPlace(t, of, a)
		}
		return sysFchown(t, Args{a[0], a[2], a[3]})
	}
	if x := terminalNamed(t, a[0], a[1]); x != nil {
		return chownTerminal(t, x, a[2], a[3])
	}
	follow := a[4]&unix.AT_SYMLINK_NOFOLLOW == 0
	if follow {
		if toDescriptor(t, a[0], a[1], unix.SYS_FCHOWN, a[2], a[3]) {
			return sysFchown(t, t.Call.Args)
		}
		if e := redirect(t, 0, 1); e != 0 {
			return kernel.Fail(e)
		}
	}
	return chownPath(t, t.Call.Args[0], t.Call.Args[1], a[2], a[3], follow)
}

// chownPlace is fchownat of what a descriptor of O_PATH stands for.
func chownPlace(t *kernel.Thread, of *kernel.OpenFile, a Args) kernel.Result {
	h, ok := of.File.(*kernel.HostFile)
	if !ok {
		return kernel.Fail(unix.EPERM) // of /proc or the like
	}
	st, e := fdStat(t, fdOf(a[0]))
	if e != 0 {
		return kernel.Fail(e)
	}
	r := chown(t, &st, a[2], a[3])
	if r.Value == 0 && (int32(a[2]) != -1 || int32(a[3]) != -1) {
		notifyFile(t, h, unix.IN_ATTRIB)
	}
	return r
}

func chownPath(t *kernel.Thread, dirfd, addr, uid, gid uint64, follow bool) kernel.Result {
	name, e := readPath(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	st, e := pathStat(t, dirfd, name, follow)
	if e != 0 {
		return kernel.Ret(run(t))
	}
	r := chown(t, &st, uid, gid)
	if r.Value == 0 && (int32(uid) != -1 || int32(gid) != -1) {
		notifyPath(t, dirfd, name, follow, unix.IN_ATTRIB)
	}
	return r
}

func sysFchown(t *kernel.Thread, a Args) kernel.Result {
	h, of, e := hostFile(t, a[0])
	switch {
	case e != 0:
		return kernel.Fail(e)
	case h == nil && anonymous(of.File):
		return kernel.Fail(unix.EOPNOTSUPP)
	case h == nil:
		return kernel.RetOr(0, mayChownObject(t, a[1], a[2]))
	}
	st, e := fdStat(t, fdOf(a[0]))
	if e != 0 {
		return kernel.Fail(e)
	}
	r := chown(t, &st, a[1], a[2])
	if r.Value == 0 && (int32(a[1]) != -1 || int32(a[2]) != -1) {
		notifyFile(t, h, unix.IN_ATTRIB)
	}
	return r
}

// ownerArg is which argument of a call is the new owner; the group comes after it.
func ownerArg(nr int) int {
	if nr == unix.SYS_FCHOWNAT {
		return 2
	}
	return 1
}

// chown lets Linux change the owner. An id that is not mapped into the node's
// user namespace (EINVAL), or that only the virtual root may give (EPERM), is remembered.
func chown(t *kernel.Thread, st *unix.Stat_t, uid, gid uint64) kernel.Result {
	if e := mayChown(t, st, uid, gid); e != 0 {
		return kernel.Fail(e)
	}
	r := run(t)
	n := t.Node()
	key := keyOf(st)
	virtual := r == -int64(unix.EINVAL) || r == -int64(unix.EPERM)
	if r != 0 && !(virtual && (t.Capable(unix.CAP_CHOWN) || !isNodeUser(t))) {
		return kernel.Ret(r)
	}
	if virtual {
		// As it is, but for the set-id bits, which a new owner takes away.
		call := t.Call.Args
		for i := ownerArg(t.Call.NR); i <= ownerArg(t.Call.NR)+1; i++ {
			call[i] = ^uint64(0)
		}
		if r := t.M.Syscall(t.Call.NR, call[:]...); r != 0 {
			return kernel.Ret(r)
		}
	}
	_, _, known := n.Files.Owner(key)
	if virtual || known {
		u, g := owner(&n.Files, key, st, false)
		if int32(uid) >= 0 {
			u = uint32(uid)
		}
		if int32(gid) >= 0 {
			g = uint32(gid)
		}
		n.Files.SetOwner(key, int(u), int(g))
	}
	n.FileChanged(key)
	delete(n.Files.SetID, key) // Linux has taken the bits away, even for root
	return kernel.Ret(0)
}
