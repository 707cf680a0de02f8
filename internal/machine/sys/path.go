package sys

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// Linux resolves paths, in the calling thread. What it found is looked at from
// outside, which is cheaper than another call in the thread.

// threadPath is the supervisor's path of a file in the thread's /proc directory.
func threadPath(t *kernel.Thread, name string) string {
	return "/proc/" + strconv.Itoa(t.M.RealTID()) + "/" + name
}

// readLink is readlink(2) in the supervisor, "" when it fails.
func readLink(name string) string {
	var b [unix.PathMax]byte
	n, err := unix.Readlink(name, b[:])
	if err != nil {
		return ""
	}
	return string(b[:n])
}

// absolute makes the path of a call absolute, from the node's root directory.
func absolute(t *kernel.Thread, dirfd uint64, name string) string {
	if path.IsAbs(name) {
		if t.Proc.Root != "" {
			return t.Proc.Root + path.Clean(name)
		}
		return name
	}
	return dirPath(t, dirfd) + "/" + name
}

// ToNodeRoot leads from any root directory of a process to the node's.
var ToNodeRoot = strings.Repeat("/..", 64)

// beginning is a root directory, in the supervisor's view, and where from there the path
// of a call begins. That root is the process's own, unless chroot has left the beginning
// outside.
func beginning(t *kernel.Thread, dirfd uint64, name string) (root, dir string) {
	root = threadPath(t, "root")
	if path.IsAbs(name) {
		return root, "/"
	}
	dir = dirPath(t, dirfd)
	if t.Proc.Root == "" {
		return root, dir
	}
	if rest, inside := strings.CutPrefix(dir+"/", t.Proc.Root+"/"); inside {
		return root, "/" + rest
	}
	return root + ToNodeRoot, dir
}

// fromRoot is the same with the whole path.
func fromRoot(t *kernel.Thread, dirfd uint64, name string) (root, from string) {
	root, from = beginning(t, dirfd, name)
	return root, from + "/" + name
}

// dirPath is the path of the directory that a relative path begins at.
func dirPath(t *kernel.Thread, dirfd uint64) string {
	if isCwd(dirfd) {
		return readLink(threadPath(t, "cwd"))
	}
	if of := t.FDs().Get(fdOf(dirfd)); of != nil {
		if d, ok := of.File.(*procfs.Dir); ok {
			return d.Path
		}
	}
	return fdPath(t, fdOf(dirfd))
}

// shownPath hides the real inode number in the name of a file without one
// ("/tmp/#524 (deleted)", O_TMPFILE).
func shownPath(t *kernel.Thread, key inode.Key, name string) string {
	i := strings.LastIndex(name, "/#")
	if i < 0 || name[i+2:] != strconv.FormatUint(key.Ino, 10)+" (deleted)" {
		return name
	}
	return name[:i+2] + strconv.FormatUint(t.Node().Files.Inode(key), 10) + " (deleted)"
}

// fdPath is where the thread's descriptor of a host file leads now.
func fdPath(t *kernel.Thread, fd int) string {
	return readLink(threadPath(t, "fd/"+strconv.Itoa(fd)))
}

// fdName is fdPath of the file h as the node has it.
func fdName(t *kernel.Thread, h *kernel.HostFile, fd int) string {
	if h.First != nil {
		return h.Path
	}
	return nameAgain(t, h.Key(), fdPath(t, fd), h.Path)
}

// nameAgain is what Linux calls an open or mapped file, as the node has it. A name that was
// taken away for another copy of the node and has come back is not the one that was opened,
// to Linux. others are further names that the file may have.
func nameAgain(t *kernel.Thread, key inode.Key, name string, others ...string) string {
	was, gone := strings.CutSuffix(name, " (deleted)")
	if gone && key.Dev == t.Node().Files.Private && t.Proc.Root == "" {
		for _, back := range append([]string{was}, others...) {
			if st, e := pathStat(t, atCwd, back, false); e == 0 && keyOf(&st) == key {
				return back
			}
		}
	}
	return name
}

// fdStat is the real state of the thread's descriptor of a host file.
func fdStat(t *kernel.Thread, fd int) (st unix.Stat_t, e kernel.Errno) {
	err := unix.Stat(threadPath(t, "fd/"+strconv.Itoa(fd)), &st)
	return st, errnoOf(err)
}

// openBeneath is openat2(2), made again for as long as Linux says EAGAIN: it does so
// when any name or mount of the whole machine changed while it followed "..", which
// no node may notice.
func openBeneath(dirfd int, name string, how *unix.OpenHow) (int, error) {
	for {
		fd, err := unix.Openat2(dirfd, name, how)
		if err != unix.EAGAIN && err != unix.EINTR {
			return fd, err
		}
	}
}

// pathStat is the real state of what a path of the thread leads to, looked at
// with Ariadne's rights.
func pathStat(t *kernel.Thread, dirfd uint64, name string, follow bool) (st unix.Stat_t, e kernel.Errno) {
	fd, e := openPath(t, dirfd, name, follow)
	if e != 0 {
		return st, e
	}
	defer unix.Close(fd)
	err := unix.Fstat(fd, &st)
	return st, errnoOf(err)
}

// openPath opens what a path of the thread leads to as a place (O_PATH), in the supervisor.
func openPath(t *kernel.Thread, dirfd uint64, name string, follow bool) (int, kernel.Errno) {
	if name == "" {
		return -1, unix.ENOENT
	}
	if !path.IsAbs(name) && !isCwd(dirfd) && t.FDs().Get(fdOf(dirfd)) == nil {
		return -1, unix.EBADF
	}
	dir, from := fromRoot(t, dirfd, name)
	root, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, errnoOf(err)
	}
	defer unix.Close(root)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	if !follow {
		how.Flags |= unix.O_NOFOLLOW
	}
	fd, err := openBeneath(root, from, &how)
	return fd, errnoOf(err)
}

// lookUp is what the thread's own stat of a path finds, before show. A look from
// outside finds the same unless Ariadne has more rights than the node.
func lookUp(t *kernel.Thread, dirfd uint64, name string, follow bool) (st unix.Stat_t, inside bool, e kernel.Errno) {
	if name == "" {
		return st, false, unix.ENOENT
	}
	if !path.IsAbs(name) && !isCwd(dirfd) {
		of := t.FDs().Get(fdOf(dirfd))
		if of == nil {
			return st, false, unix.EBADF
		}
		if h, ok := of.File.(*kernel.HostFile); !ok || h.Mode&unix.S_IFMT != unix.S_IFDIR {
			return st, false, unix.ENOTDIR
		}
	}
	if !asRoot || t.Node().Files.User == 0 {
		st, e = pathStat(t, dirfd, name, follow)
		return st, false, e
	}
	const buf = area.Scratch + unix.PathMax
	if e := putScratch(t, name); e != 0 {
		return st, true, e
	}
	flags := uint64(0)
	if !follow {
		flags = unix.AT_SYMLINK_NOFOLLOW
	}
	if r := t.M.Syscall(unix.SYS_NEWFSTATAT, dirfd, area.Scratch, buf, flags); r != 0 {
		return st, true, kernel.Errno(-r)
	}
	b, e := readBytes(t, buf, statSize)
	if e == 0 {
		st = parseStat(b)
	}
	return st, true, e
}

// parentOf is the part of a path that names the directory of its last component.
func parentOf(name string) string {
	name = strings.TrimRight(name, "/")
	switch i := strings.LastIndexByte(name, '/'); {
	case i > 0:
		return name[:i]
	case i == 0:
		return "/"
	}
	return "."
}

// isSystemPath reports whether a path lies in /proc or /sys.
func isSystemPath(name string) bool {
	name = path.Clean(name)
	return strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/")
}

// shownMounts are the directories on which nodes see other file systems.
var shownMounts = []string{"/proc", "/sys", "/dev/shm", "/dev", "/node", "/tmp", "/run"}

func shownMount(name string) string {
	for _, m := range shownMounts {
		if name == m || strings.HasPrefix(name, m+"/") {
			return m
		}
	}
	return "/"
}

// fileEnd is the size of an open file and the position of its descriptor; both are past
// all ends when they cannot be known.
func fileEnd(t *kernel.Thread, fd uint64) (size, pos int64) {
	const far = math.MaxInt64 / 4
	host, e := t.M.HostFD(fdOf(fd))
	if e != 0 {
		return far, far
	}
	defer unix.Close(host)
	var st unix.Stat_t
	if unix.Fstat(host, &st) != nil {
		return far, far
	}
	pos, err := unix.Seek(host, 0, unix.SEEK_CUR)
	if err != nil {
		pos = far
	}
	return st.Size, pos
}
