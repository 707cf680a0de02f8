package sys

import (
	"path"
	"strings"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// pathArg says which argument of a call is a path, and which the directory that it
// begins at: none when it is negative.
type pathArg struct{ dir, at int }

// pathArgs are the arguments with paths of all calls that take any.
var pathArgs = func() (calls [512][]pathArg) {
	for _, nr := range []int{unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK,
		unix.SYS_CHDIR, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_MKNOD, unix.SYS_TRUNCATE, unix.SYS_STATFS,
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_EXECVE,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR} {
		calls[nr] = []pathArg{{-1, 0}}
	}
	for _, nr := range []int{unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_FACCESSAT,
		unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT,
		unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_FUTIMESAT, unix.SYS_UTIMENSAT, unix.SYS_EXECVEAT} {
		calls[nr] = []pathArg{{0, 1}}
	}
	calls[unix.SYS_RENAME] = []pathArg{{-1, 0}, {-1, 1}}
	calls[unix.SYS_LINK] = calls[unix.SYS_RENAME]
	calls[unix.SYS_RENAMEAT] = []pathArg{{0, 1}, {2, 3}}
	calls[unix.SYS_RENAMEAT2] = calls[unix.SYS_RENAMEAT]
	calls[unix.SYS_LINKAT] = calls[unix.SYS_RENAMEAT]
	calls[unix.SYS_INOTIFY_ADD_WATCH] = []pathArg{{-1, 1}}
	calls[unix.SYS_SYMLINK] = []pathArg{{-1, 1}}
	calls[unix.SYS_SYMLINKAT] = []pathArg{{1, 2}}
	return calls
}()

// NamesFiles reports whether a call has paths among its arguments.
func NamesFiles(nr int) bool { return nr >= 0 && nr < len(pathArgs) && pathArgs[nr] != nil }

// Paths calls visit with the paths by which the call that t stands in names files, made
// absolute. stat: it asks for more than whether and what there is. Those that cannot be
// read, or are of a file of /proc, are left out.
func Paths(t *kernel.Thread, visit func(name string, stat bool)) {
	nr := t.Call.NR
	if !NamesFiles(nr) {
		return
	}
	stat := nr == unix.SYS_STAT || nr == unix.SYS_LSTAT || nr == unix.SYS_NEWFSTATAT || nr == unix.SYS_STATX
	for _, p := range pathArgs[nr] {
		dirfd := atCwd
		if p.dir >= 0 {
			dirfd = t.Call.Args[p.dir]
		}
		name, e := readPath(t, t.Call.Args[p.at])
		if e != 0 || name == "" {
			continue
		}
		if v, ok := virtualPath(t, dirfd, name); ok {
			name = behind(t, v)
		} else {
			name = absolute(t, dirfd, name)
		}
		if path.IsAbs(name) {
			visit(name, stat)
		}
	}
}

// behind is the real path to which a virtual one leads, or "".
func behind(t *kernel.Thread, v string) string {
	o, e := lookupVirtual(t, v)
	if e != 0 {
		return ""
	}
	switch o.kind {
	case throughLink:
		return o.path
	case fdLink, pathLink:
		if target, e := virtualLink(t, v); e == 0 {
			return strings.TrimSuffix(target, " (deleted)")
		}
	}
	return ""
}
