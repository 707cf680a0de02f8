package sys

import (
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Calls that change names fail for want of room, or because the disk does not work, when what
// they are to change has been found and may be changed.

type could = func(t *kernel.Thread, a Args) (on string, ok bool)

// argument is the i-th argument, or AT_FDCWD where a call has none.
func argument(a Args, i int) uint64 {
	if i < 0 {
		return atCwd
	}
	return a[i]
}

// nameOf is the place of a name that a call is to change, if it lies where the node may change
// names on a disk. links: it goes on where a link is last.
func nameOf(t *kernel.Thread, dirfd, at uint64, links bool) (w *asker, p place, ok bool) {
	name, e := readPath(t, at)
	if e != 0 || name == "" {
		return nil, p, false
	}
	way, e := routeOf(t, dirfd, name)
	if e != 0 || way.free {
		return nil, p, false
	}
	w = askerOf(t)
	p, e = w.follow(way, links)
	if e != 0 || p.lost || p.last == "" || len(p.last) > unix.NAME_MAX || !isOwn(t, &p.parent) {
		return nil, p, false
	}
	p.path = t.Proc.Root + p.path
	return w, p, onDisk(p.path)
}

// isOwn reports whether a directory is among the node's own files.
func isOwn(t *kernel.Thread, dir *unix.Stat_t) bool {
	var st unix.Stat_t
	return unix.Fstat(t.Node().Files.Tree, &st) == nil && st.Dev == dir.Dev
}

// freeName is a name that a call may make.
func freeName(t *kernel.Thread, dirfd, at uint64, links bool) (p place, ok bool) {
	w, p, ok := nameOf(t, dirfd, at, links)
	return p, ok && !p.found && w.mayCreate(&p) == 0
}

func makesName(dirfd, at int) could {
	return func(t *kernel.Thread, a Args) (on string, ok bool) {
		p, ok := freeName(t, argument(a, dirfd), a[at], false)
		switch t.Call.NR {
		case unix.SYS_MKDIR, unix.SYS_MKDIRAT:
		case unix.SYS_MKNOD, unix.SYS_MKNODAT:
			mode := a[at+1] & unix.S_IFMT
			ok = ok && !p.slash && (mode == 0 || mode == unix.S_IFREG || mode == unix.S_IFIFO || mode == unix.S_IFSOCK)
		default:
			target, e := readPath(t, a[0])
			ok = ok && !p.slash && e == 0 && target != ""
		}
		return p.path, ok
	}
}

// linksName: a file gets another name.
func linksName(fromDir, from, toDir, to, flags int) could {
	return func(t *kernel.Thread, a Args) (on string, ok bool) {
		if flags >= 0 && uint32(a[flags])&^unix.AT_SYMLINK_FOLLOW != 0 {
			return "", false
		}
		_, old, ok := nameOf(t, argument(a, fromDir), a[from], flags >= 0 && a[flags]&unix.AT_SYMLINK_FOLLOW != 0)
		if !ok || !old.found || old.st.Mode&unix.S_IFMT == unix.S_IFDIR || old.st.Dev != old.parent.Dev ||
			!onSame(t, old.path, a, toDir, to) {
			return "", false
		}
		p, ok := freeName(t, argument(a, toDir), a[to], false)
		return p.path, ok && !p.slash
	}
}

// onSame: the second name lies on the same file system as the first.
func onSame(t *kernel.Thread, first string, a Args, dirfd, at int) bool {
	_, p, ok := nameOf(t, argument(a, dirfd), a[at], false)
	return ok && shownMount(first) == shownMount(p.path)
}

// renamesName: a file moves to where nothing is, or takes the place of one of its kind.
func renamesName(fromDir, from, toDir, to, flags int) could {
	return func(t *kernel.Thread, a Args) (on string, ok bool) {
		w, old, ok := nameOf(t, argument(a, fromDir), a[from], false)
		if !ok || !old.found || w.mayDelete(&old) != 0 || !onSame(t, old.path, a, toDir, to) {
			return "", false
		}
		_, p, ok := nameOf(t, argument(a, toDir), a[to], false)
		dir := old.st.Mode&unix.S_IFMT == unix.S_IFDIR
		switch {
		case !ok, flags >= 0 && uint32(a[flags])&^unix.RENAME_NOREPLACE != 0:
			return "", false
		case !dir && (old.slash || p.slash), dir && strings.HasPrefix(p.path, old.path+"/"):
			return "", false
		case p.found:
			there := p.st.Mode&unix.S_IFMT == unix.S_IFDIR
			ok = !dir && !there && p.st.Ino != old.st.Ino && w.mayDelete(&p) == 0 && (flags < 0 || a[flags] == 0)
		default:
			ok = w.mayCreate(&p) == 0
		}
		return old.path, ok
	}
}

// removesName: what is there loses its name.
func removesName(dirfd, at, flags int) could {
	return func(t *kernel.Thread, a Args) (on string, ok bool) {
		w, p, ok := nameOf(t, argument(a, dirfd), a[at], false)
		dir := t.Call.NR == unix.SYS_RMDIR
		if flags >= 0 {
			dir = a[flags] == unix.AT_REMOVEDIR
			ok = ok && (dir || a[flags] == 0)
		}
		is := p.st.Mode&unix.S_IFMT == unix.S_IFDIR
		return p.path, ok && p.found && is == dir && (dir || !p.slash) && w.mayDelete(&p) == 0
	}
}

// makesFile: an open makes a file.
func makesFile(t *kernel.Thread, dirfd, at, how uint64) (on string, ok bool) {
	if how&unix.O_CREAT == 0 || how&(unix.O_PATH|unix.O_DIRECTORY) != 0 {
		return "", false
	}
	p, ok := freeName(t, dirfd, at, how&(unix.O_NOFOLLOW|unix.O_EXCL) == 0)
	return p.path, ok && !p.slash
}

func makesFileCwd(t *kernel.Thread, a Args) (on string, ok bool) {
	return makesFile(t, atCwd, a[0], a[1])
}
func makesFileCreat(t *kernel.Thread, a Args) (on string, ok bool) {
	return makesFile(t, atCwd, a[0], unix.O_CREAT)
}
func makesFileAt(t *kernel.Thread, a Args) (on string, ok bool) {
	return makesFile(t, a[0], a[1], a[2])
}

// howOf reads openat2's flags. Those that are restricted in how they resolve are left alone.
func howOf(t *kernel.Thread, a Args) (flags uint64, ok bool) {
	b, e := readBytes(t, a[2], 24)
	return le.Uint64(b), e == 0 && a[3] == 24 && le.Uint64(b[16:]) == 0
}

func makesFileAt2(t *kernel.Thread, a Args) (on string, ok bool) {
	how, ok := howOf(t, a)
	if !ok {
		return "", false
	}
	return makesFile(t, a[0], a[1], how)
}

func openedAt2(t *kernel.Thread, a Args) (on string, ok bool) {
	how, ok := howOf(t, a)
	const known = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_NOCTTY | unix.O_TRUNC | unix.O_APPEND | unix.O_NONBLOCK |
		unix.O_SYNC | unix.O_DIRECT | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NOATIME | unix.O_CLOEXEC
	if !ok || how&^uint64(known) != 0 {
		return "", false
	}
	on, ok = openedPath(t, a[0], a[1], how)
	return path.Clean(on), ok
}
