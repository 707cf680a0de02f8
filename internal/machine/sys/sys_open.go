package sys

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/pipe"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/random"

	"golang.org/x/sys/unix"
)

func sysOpen(t *kernel.Thread, a Args) kernel.Result {
	return openNamed(t,
		openRequest{dirfd: atCwd, path: a[0], how: unix.OpenHow{Flags: uint64(uint32(a[1])), Mode: a[2]}})
}

func sysCreat(t *kernel.Thread, a Args) kernel.Result {
	return openNamed(t,
		openRequest{dirfd: atCwd, path: a[0],
			how: unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, Mode: a[1]}})
}

func sysOpenat(t *kernel.Thread, a Args) kernel.Result {
	return openNamed(t,
		openRequest{dirfd: a[0], path: a[1], how: unix.OpenHow{Flags: uint64(uint32(a[2])), Mode: a[3]}})
}

func sysOpenat2(t *kernel.Thread, a Args) kernel.Result {
	if a[3] < 24 {
		return kernel.Fail(unix.EINVAL)
	}
	if a[3] > 4096 {
		return kernel.Fail(unix.E2BIG)
	}
	b, e := readBytes(t, a[2], int(a[3]))
	if e != 0 {
		return kernel.Fail(e)
	}
	for _, x := range b[24:] {
		if x != 0 {
			return kernel.Fail(unix.E2BIG)
		}
	}
	how := unix.OpenHow{Flags: le.Uint64(b), Mode: le.Uint64(b[8:]), Resolve: le.Uint64(b[16:])}
	return openNamed(t, openRequest{dirfd: a[0], path: a[1], how: how, at2: true})
}

func openNamed(t *kernel.Thread, r openRequest) (res kernel.Result) {
	if t.Wait.Runs > 0 {
		if end, wait, ok := pipe.ResumeOpen(t.Node(), t); ok {
			return openedFIFO(t, &r, end, wait)
		}
	}
	name, e := readPath(t, r.path)
	if e != 0 {
		return kernel.Fail(e)
	}
	r.name = name
	if e := mayResolve(t, &r); e != 0 {
		return kernel.Fail(e)
	}
	if v, ok := virtualPath(t, r.dirfd, name); ok {
		res := openVirtual(t, &r, v)
		if r.again {
			r.again = false
			return openNamed(t, r)
		}
		return res
	}
	if x := t.Node().Instead; x != nil {
		return openInstead(t, &r, x)
	}
	if e := mayOpen(t, &r); e != 0 {
		return kernel.Fail(e)
	}
	if r.has(unix.O_TRUNC) {
		if st, e := pathStat(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW)); e == 0 {
			t.Node().Files.NoteMode(keyOf(&st), st.Mode)
		}
	}
	if res, done := openUnseen(t, &r); done {
		return res
	}
	if !r.has(unix.O_PATH) && !r.has(unix.O_CREAT|unix.O_EXCL) {
		write := r.how.Flags&(unix.O_ACCMODE|unix.O_TRUNC) != 0
		if res, done := breakLeases(t, r.dirfd, r.name, !r.has(unix.O_NOFOLLOW), write, !r.has(unix.O_NONBLOCK)); done {
			return res
		}
	}
	isNew := r.has(unix.O_CREAT) && !r.has(unix.O_PATH) && !exists(t, &r)
	if r.has(unix.O_TRUNC) && t.Node().Files.Logs {
		if done := recordSize(contentAt(t, r.dirfd, r.name), 0); done != nil {
			defer func() {
				if res.Op != kernel.OpReturn {
					res.Value = -1
				}
				done(res.Value)
			}()
		}
	}
	fd := openNative(t, &r)
	if fd == -int64(unix.EROFS) && !r.copied && copyLink(t, &r) {
		r.copied = true
		return openNamed(t, r)
	}
	if fd < 0 {
		return openFailed(t, &r, kernel.Errno(-fd))
	}
	st, e := fdStat(t, int(fd))
	if e != 0 {
		return kernel.Fail(e)
	}
	if res, special := openSpecial(t, &r, fd, &st); special {
		return res
	}
	h := newHostFile(t, int(fd), &st)
	t.FDs().Set(int(fd), &kernel.OpenFile{File: h, Flags: statusFlags(int(r.how.Flags))}, r.has(unix.O_CLOEXEC))
	if st.Mode&unix.S_IFMT == unix.S_IFREG && !r.has(unix.O_PATH) {
		t.Node().NoteUsed(kernel.UsedFile{Path: h.Path, Key: h.Key(), Use: ariadne.FileRead})
	}
	if !r.has(unix.O_PATH) {
		notifyOpened(t, h, isNew && !r.has(unix.O_TMPFILE))
	}
	switch {
	case r.has(unix.O_PATH):
	case r.has(unix.O_TMPFILE):
		dir, _ := pathStat(t, r.dirfd, r.name, true)
		fileCreated(t, &st, &dir)
		entered(t, namePlace{path: h.Path, ok: logs(t, h.Key(), h.Path)}, &st)
	case isNew:
		dir := namesChanged(t, r.dirfd, name)
		fileCreated(t, &st, &dir)
		entered(t, placeOf(t, atCwd, strings.TrimPrefix(h.Path, t.Proc.Root)), &st)
	case r.has(unix.O_TRUNC):
		t.Node().FileModified(keyOf(&st))
		keepSetID(t, h.Key(), threadPath(t, "fd/"+strconv.Itoa(int(fd))))
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			notifyFile(t, h, unix.IN_MODIFY)
		}
		return kernel.Ret(fd)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		t.Node().Files.NoteMode(h.Key(), st.Mode)
	}
	return kernel.Ret(fd)
}

// mayResolve checks what Linux, to which a node is one tree, cannot know of openat2: that a path
// leaves no file system, and follows no links of /proc.
func mayResolve(t *kernel.Thread, r *openRequest) kernel.Errno {
	if r.how.Resolve&unix.RESOLVE_NO_XDEV != 0 {
		start, end := shownMount(absolute(t, r.dirfd, ".")), shownMount(path.Clean(absolute(t, r.dirfd, r.name)))
		if start != end || path.IsAbs(r.name) && start != "/" {
			return unix.EXDEV
		}
	}
	if r.how.Resolve&(unix.RESOLVE_NO_MAGICLINKS|unix.RESOLVE_NO_SYMLINKS) != 0 {
		if v, ok := virtualPath(t, r.dirfd, r.name); ok {
			o, e := lookupVirtual(t, v)
			if e == 0 && (o.kind == pathLink || o.kind == fdLink || o.kind == throughLink) {
				return unix.ELOOP
			}
		}
	}
	return 0
}

// mayOpen checks an open by path.
func mayOpen(t *kernel.Thread, r *openRequest) kernel.Errno {
	if isNodeUser(t) {
		return 0
	}
	a := askerOf(t)
	w := r.route
	switch {
	case w.name != "":
	case r.at2 && r.how.Resolve&unix.RESOLVE_IN_ROOT != 0:
		w = route{root: threadPath(t, "cwd"), dir: "/", name: r.name}
		if !isCwd(r.dirfd) {
			w.root = threadPath(t, "fd/"+strconv.Itoa(fdOf(r.dirfd)))
		}
	default:
		root, dir := beginning(t, r.dirfd, r.name)
		w = route{root: root, dir: dir, name: r.name}
	}
	p, e := a.follow(w, !r.has(unix.O_NOFOLLOW) && !r.has(unix.O_CREAT|unix.O_EXCL))
	switch {
	case e != 0:
		return e
	case p.lost || r.has(unix.O_PATH):
		return 0
	case r.has(unix.O_CREAT) && p.slash:
		return unix.EISDIR // whatever is there
	case !p.found:
		if r.has(unix.O_CREAT) {
			a.stripGroupID(&p.parent, &r.how.Mode)
			return a.mayCreate(&p)
		}
		return 0
	case r.has(unix.O_DIRECTORY) && p.st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return 0
	case r.has(unix.O_TMPFILE):
		return a.permits(&p.st, kernel.MayWrite|kernel.MayExec)
	case r.has(unix.O_CREAT | unix.O_EXCL):
		return 0
	case r.has(unix.O_CREAT) && a.belongsToOthers(&p):
		return unix.EACCES
	}
	return a.mayOpenFile(&p.st, int(r.how.Flags))
}

// openFailed is the way out when Linux could not open the file.
func openFailed(t *kernel.Thread, r *openRequest, e kernel.Errno) kernel.Result {
	switch e {
	case unix.EROFS:
		if isSystemPath(absolute(t, r.dirfd, r.name)) {
			return kernel.Fail(unix.EACCES)
		}
	}
	return kernel.Fail(e)
}

// openSpecial takes over what was opened and is no file or directory.
func openSpecial(t *kernel.Thread, r *openRequest, fd int64, st *unix.Stat_t) (res kernel.Result, special bool) {
	if r.has(unix.O_PATH) {
		return res, false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFCHR: // /dev/null, zero and full are Linux's own
		if minor := unix.Minor(st.Rdev); unix.Major(st.Rdev) == memDevices &&
			(minor == devRandom || minor == devUrandom) {
			t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
			n, e := t.NewFD(&random.File{Minor: int(minor)},
				statusFlags(int(r.how.Flags))|int(r.how.Flags)&unix.O_CLOEXEC)
			return kernel.RetOr(n, e), true
		}
	}
	return res, false
}

// copyLink puts a copy in the place of a link in /node that leads beside the spec
// (spec.Node.Links), for a program that opens it to write: a database that its command names, say.
// It is as if the copy had always been there, with what it holds: nothing of that is entered in the
// log of files, and no time is set.
func copyLink(t *kernel.Thread, r *openRequest) bool {
	target, ok := linkBeside(t, r.dirfd, r.name)
	if !ok {
		return false
	}
	from, err := os.Open(threadPath(t, "root") + ToNodeRoot + target)
	if err != nil {
		return false
	}
	defer from.Close()
	var host, own unix.Stat_t
	files := &t.Node().Files
	if unix.Fstat(int(from.Fd()), &host) != nil || host.Mode&unix.S_IFMT != unix.S_IFREG ||
		!files.Disk.Fits(host.Size) || t.M.Syscall(unix.SYS_UNLINKAT, r.dirfd, r.path, 0) != 0 {
		return false
	}
	fd := t.M.Syscall(unix.SYS_OPENAT, r.dirfd, r.path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
	if fd < 0 {
		return false
	}
	defer t.M.Syscall(unix.SYS_CLOSE, uint64(fd))
	to, err := os.OpenFile(threadPath(t, "fd/"+strconv.FormatInt(fd, 10)), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil || unix.Fchmod(int(to.Fd()), host.Mode&0o777) != nil ||
		unix.Fstat(int(to.Fd()), &own) != nil {
		return false
	}
	files.Dirty[keyOf(&own)] = true
	files.Disk.Keep(keyOf(&own), host.Size, false)
	if dir, e := pathStat(t, r.dirfd, parentOf(r.name), true); e == 0 {
		files.Dirty[keyOf(&dir)] = true
	}
	t.Node().NoteUsed(kernel.UsedFile{Path: target, Key: keyOf(&host), Use: ariadne.FileRead})
	return true
}

// linkBeside reports whether a path is that of a link in /node that leads beside the spec
// (spec.Node.Links), and where it leads.
func linkBeside(t *kernel.Thread, dirfd uint64, name string) (target string, ok bool) {
	at := path.Clean(absolute(t, dirfd, name))
	rel, inNode := strings.CutPrefix(at, "/node/")
	if !inNode {
		return "", false
	}
	st, e := pathStat(t, dirfd, strings.TrimRight(name, "/"), false)
	if e != 0 || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", false
	}
	target = "/spec/" + rel
	return target, readLink(threadPath(t, "root")+ToNodeRoot+at) == target
}
