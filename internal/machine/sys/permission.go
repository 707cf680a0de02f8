package sys

import (
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// To Linux all processes of a node are the node's own user, whatever they have become
// since. So what a process may do to files as somebody else, or without a capability, is
// decided here, by the modes and owners that the node is shown: mayFollow follows the
// paths of a call before its handler runs, and permits, mayCreate, mayDelete are what
// Linux's functions of like names are (fs/namei.c). A process that is still the node's user
// is left to Linux.

// isNodeUser reports whether Linux decides on t's access to files as it should.
func isNodeUser(t *kernel.Thread) bool {
	c, files := &t.Cred, &t.Node().Files
	if files.User == 0 {
		return c.EffectiveCaps&kernel.FileCaps == kernel.FileCaps && c.UID.Real == 0
	}
	return c.IsUser(files.User, files.Group) && !files.Owned()
}

// asker is who asks for a right.
type asker struct {
	t    *kernel.Thread
	cred kernel.Cred
}

func askerOf(t *kernel.Thread) *asker { return &asker{t, t.Cred} }

// permits checks rights over a file. Where the node's user is not root, rights beyond that user's
// cannot be given: the call is refused, and counted.
func (a *asker) permits(st *unix.Stat_t, rights uint32) kernel.Errno {
	files := &a.t.Node().Files
	uid, gid := owner(files, keyOf(st), st, false)
	if !a.cred.MayUse(st.Mode, int(uid), int(gid), rights) {
		return unix.EACCES
	}
	if files.User != 0 {
		var real kernel.Cred
		real.UID.FS, real.GID.FS = files.User, files.Group
		uid, gid = realOwner(files, st, false)
		if !real.MayUse(st.Mode, int(uid), int(gid), rights) {
			a.t.Node().Refuse(a.t, "access of a user other than the node's", formatArgs(a.t.Call.NR, a.t.Call.Args),
				false)
			return unix.EACCES
		}
	}
	return 0
}

// owns reports whether the file is the asker's own in the eyes of chmod and the like.
func (a *asker) owns(st *unix.Stat_t) bool {
	uid, _ := owner(&a.t.Node().Files, keyOf(st), st, false)
	return a.cred.Owns(int(uid))
}

// route is a path to be followed.
type route struct {
	root, dir string // a root directory in the supervisor's view; where in it the path begins
	name      string
	free      bool // no directory on the way has to be searched
}

// place is where a path leads.
type place struct {
	parent, st unix.Stat_t
	found      bool   // st is what is there
	last       string // its name in parent; "" after "/", "." and ".."
	path       string // without links
	slash      bool   // the path says that it is a directory
	lost       bool   // it leads nowhere, and how the call itself finds
}

// routeOf is the way of a path argument.
func routeOf(t *kernel.Thread, dirfd uint64, name string) (w route, e kernel.Errno) {
	v, ok := virtualPath(t, dirfd, name)
	if !ok {
		root, dir := beginning(t, dirfd, name)
		return route{root: root, dir: dir, name: name}, 0
	}
	o, e := lookupVirtual(t, v)
	if e != 0 {
		return w, e
	}
	if o.kind == throughLink {
		return route{root: threadPath(t, "root"), dir: o.base, name: o.path[len(o.base)+1:]}, 0
	}
	return route{root: threadPath(t, "root"), dir: "/", name: behind(t, v), free: true}, 0
}

// follow follows a path as far as the asker may. links: it goes on where a link is last.
func (a *asker) follow(w route, links bool) (p place, e kernel.Errno) {
	lost := place{lost: true}
	if !path.IsAbs(w.dir) || w.name == "" {
		return lost, 0
	}
	root, err := unix.Open(w.root, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return lost, 0
	}
	defer unix.Close(root)
	look := func(at string, st *unix.Stat_t) bool {
		return unix.Fstatat(root, "."+at, st, unix.AT_SYMLINK_NOFOLLOW) == nil
	}
	at, name := path.Clean(w.dir), w.name
	if path.IsAbs(name) {
		at = "/"
	}
	if p.found = look(at, &p.st); !p.found {
		return lost, 0
	}
	for passed := 0; ; {
		if name = strings.TrimLeft(name, "/"); name == "" {
			return p, 0
		}
		if p.st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return lost, 0
		}
		if !w.free {
			if e := a.permits(&p.st, kernel.MayExec); e != 0 {
				return p, e
			}
		}
		part, rest, more := strings.Cut(name, "/")
		switch name = rest; part {
		case ".", "..":
			if p.last = ""; part == ".." {
				at = path.Dir(at)
			}
			if !look(at, &p.st) {
				return lost, 0
			}
			continue
		}
		next := path.Join(at, part)
		var st unix.Stat_t
		if !look(next, &st) {
			if strings.Trim(rest, "/") != "" {
				return lost, 0
			}
			return place{parent: p.st, last: part, path: next, slash: more}, 0
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK && (more || links) {
			var b [unix.PathMax]byte
			n, err := unix.Readlinkat(root, "."+next, b[:])
			if passed++; err != nil || passed > 40 {
				return lost, 0
			}
			target := string(b[:n])
			if path.IsAbs(target) {
				at = "/"
				if !look(at, &p.st) {
					return lost, 0
				}
			}
			if name = target; more {
				name += "/" + rest
			}
			continue
		}
		if more && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return lost, 0
		}
		p, at = place{parent: p.st, st: st, found: true, last: part, path: next, slash: more}, next
	}
}

// mayCreate checks that the place may get a name. That there is one already is for the call to say.
func (a *asker) mayCreate(p *place) kernel.Errno {
	if p.found || p.last == "" {
		return 0
	}
	return a.permits(&p.parent, kernel.MayWrite|kernel.MayExec)
}

// stripGroupID takes from the mode of a new file the set-group-id bit for a group that the
// directory hands on and the asker is not in.
func (a *asker) stripGroupID(dir *unix.Stat_t, mode *uint64) {
	const bits = unix.S_ISGID | unix.S_IXGRP
	if *mode&bits != bits || dir.Mode&unix.S_ISGID == 0 || a.t.Capable(unix.CAP_FSETID) {
		return
	}
	if _, gid := owner(&a.t.Node().Files, keyOf(dir), dir, false); !a.cred.FileGroup(int(gid)) {
		*mode &^= unix.S_ISGID
	}
}

// mayDelete checks that the place may lose its name.
func (a *asker) mayDelete(p *place) kernel.Errno {
	if !p.found || p.last == "" {
		return 0
	}
	if e := a.permits(&p.parent, kernel.MayWrite|kernel.MayExec); e != 0 {
		return e
	}
	if p.parent.Mode&unix.S_ISVTX != 0 && !a.owns(&p.st) && !a.owns(&p.parent) {
		return unix.EPERM
	}
	return 0
}

// mayFollow checks the paths of the call that t stands in: that it may search the
// directories on the way, and create, remove or use what it names as the call does.
func mayFollow(t *kernel.Thread) kernel.Errno {
	nr := t.Call.NR
	if !NamesFiles(nr) || isNodeUser(t) {
		return 0
	}
	switch nr {
	case unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_OPENAT, unix.SYS_OPENAT2:
		return 0 // mayOpen
	case unix.SYS_ACCESS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2:
		return 0 // for whom depends on its flags
	case unix.SYS_UTIMENSAT:
		if changesNoTime(t) {
			return 0
		}
	}
	a := askerOf(t)
	var places [2]place
	for i, arg := range Of(nr).paths {
		dirfd := atCwd
		if arg.dir >= 0 {
			dirfd = t.Call.Args[arg.dir]
		}
		name, e := readPath(t, t.Call.Args[arg.at])
		if e != 0 {
			return 0
		}
		if name == "" && nr == unix.SYS_EXECVEAT && t.Call.Args[4]&unix.AT_EMPTY_PATH != 0 {
			places[i].found = true
			if places[i].st, e = fdStat(t, fdOf(dirfd)); e != 0 {
				return 0
			}
			continue
		}
		w, e := routeOf(t, dirfd, name)
		if e != 0 {
			return 0
		}
		if places[i], e = a.follow(w, followsLast(t, i)); e != 0 {
			return e
		}
	}
	return a.mayUse(&places)
}

// followsLast reports whether a call goes on where its i-th path ends with a link.
func followsLast(t *kernel.Thread, i int) bool {
	flags := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_LSTAT, unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_LCHOWN, unix.SYS_UNLINK, unix.SYS_RMDIR,
		unix.SYS_UNLINKAT, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINK, unix.SYS_SYMLINK,
		unix.SYS_SYMLINKAT, unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_MKNOD, unix.SYS_MKNODAT, unix.SYS_LSETXATTR,
		unix.SYS_LGETXATTR, unix.SYS_LLISTXATTR, unix.SYS_LREMOVEXATTR:
		return false
	case unix.SYS_LINKAT:
		return i == 0 && flags[4]&unix.AT_SYMLINK_FOLLOW != 0
	case unix.SYS_STATX:
		return flags[2]&unix.AT_SYMLINK_NOFOLLOW == 0
	case unix.SYS_NEWFSTATAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT:
		return flags[3]&unix.AT_SYMLINK_NOFOLLOW == 0
	case unix.SYS_FCHOWNAT, unix.SYS_EXECVEAT:
		return flags[4]&unix.AT_SYMLINK_NOFOLLOW == 0
	case unix.SYS_INOTIFY_ADD_WATCH:
		return flags[2]&unix.IN_DONT_FOLLOW == 0
	}
	return true
}

// mayUse checks what a call does at the places that its paths lead to.
func (a *asker) mayUse(places *[2]place) kernel.Errno {
	p := &places[0]
	if p.lost || places[1].lost {
		return 0
	}
	kind := p.st.Mode & unix.S_IFMT
	switch a.t.Call.NR {
	case unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_MKNOD, unix.SYS_MKNODAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT:
		return a.mayCreate(p)
	case unix.SYS_LINK, unix.SYS_LINKAT:
		if e := a.mayLink(p); e != 0 && !places[1].found {
			return e
		}
		return a.mayCreate(&places[1])
	case unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_UNLINKAT:
		if nr := a.t.Call.NR; p.slash &&
			(nr == unix.SYS_UNLINK || nr == unix.SYS_UNLINKAT && a.t.Call.Args[2]&unix.AT_REMOVEDIR == 0) {
			return 0 // EISDIR
		}
		return a.mayDelete(p)
	case unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return a.mayRename(p, &places[1])
	case unix.SYS_CHDIR, unix.SYS_CHROOT:
		if p.found && kind == unix.S_IFDIR {
			return a.permits(&p.st, kernel.MayExec)
		}
	case unix.SYS_EXECVE, unix.SYS_EXECVEAT:
		if p.found && kind == unix.S_IFREG {
			return a.permits(&p.st, kernel.MayExec)
		}
	case unix.SYS_TRUNCATE:
		if p.found && kind == unix.S_IFREG {
			return a.permits(&p.st, kernel.MayWrite)
		}
	case unix.SYS_INOTIFY_ADD_WATCH:
		if p.found {
			return a.permits(&p.st, kernel.MayRead)
		}
	}
	return 0
}

// mayLink checks that a file of another owner's is harmless enough to get one more name, as
// where protected_hardlinks is set (proc_sys_fs(5)), which it is in most distributions.
func (a *asker) mayLink(p *place) kernel.Errno {
	mode := p.st.Mode
	switch {
	case !p.found, mode&unix.S_IFMT == unix.S_IFDIR, a.owns(&p.st):
		return 0
	case mode&unix.S_IFMT != unix.S_IFREG, withoutSetID(mode) != mode, a.permits(&p.st,
		kernel.MayRead|kernel.MayWrite) != 0:
		return unix.EPERM
	}
	return 0
}

func (a *asker) mayRename(from, to *place) kernel.Errno {
	var flags uint64
	if a.t.Call.NR == unix.SYS_RENAMEAT2 {
		flags = a.t.Call.Args[4]
	}
	exchange := flags&unix.RENAME_EXCHANGE != 0
	switch {
	case !from.found, from.last == "", to.last == "", from.parent.Dev != to.parent.Dev,
		to.slash && !exchange && from.st.Mode&unix.S_IFMT != unix.S_IFDIR,
		strings.HasPrefix(to.path, from.path+"/"), strings.HasPrefix(from.path, to.path+"/"),
		to.found && flags&unix.RENAME_NOREPLACE != 0, !to.found && exchange,
		to.found && keyOf(&from.st) == keyOf(&to.st):
		return 0
	}
	e := a.mayDelete(from)
	if e == 0 && to.found {
		e = a.mayDelete(to)
	} else if e == 0 {
		e = a.mayCreate(to)
	}
	if e != 0 || keyOf(&from.parent) == keyOf(&to.parent) {
		return e
	}
	// A directory that moves gets another "..".
	if from.st.Mode&unix.S_IFMT == unix.S_IFDIR {
		e = a.permits(&from.st, kernel.MayWrite)
	}
	if e == 0 && exchange && to.st.Mode&unix.S_IFMT == unix.S_IFDIR {
		e = a.permits(&to.st, kernel.MayWrite)
	}
	return e
}

// belongsToOthers reports whether a file in a directory with the sticky bit, to which others may
// write, belongs neither to the directory's owner nor to the asker. With O_CREAT it is not opened
// (may_create_in_sticky in Linux). Where that is a setting, for files and pipes, Linux decides.
func (a *asker) belongsToOthers(p *place) bool {
	kind := p.st.Mode & unix.S_IFMT
	if kind == unix.S_IFREG || kind == unix.S_IFIFO || kind == unix.S_IFDIR || p.parent.Mode&unix.S_ISVTX == 0 ||
		p.parent.Mode&unix.S_IWOTH == 0 {
		return false
	}
	files := &a.t.Node().Files
	uid, _ := owner(files, keyOf(&p.st), &p.st, false)
	dir, _ := owner(files, keyOf(&p.parent), &p.parent, false)
	return uid != dir && int(uid) != a.cred.UID.FS
}

// mayOpenFile checks what open does with the flags to a file that is there.
func (a *asker) mayOpenFile(st *unix.Stat_t, flags int) kernel.Errno {
	rights := [...]uint32{kernel.MayRead, kernel.MayWrite, kernel.MayRead | kernel.MayWrite,
		kernel.MayRead | kernel.MayWrite}[flags&unix.O_ACCMODE]
	if flags&unix.O_TRUNC != 0 {
		rights |= kernel.MayWrite
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK, kind == unix.S_IFDIR && (rights&kernel.MayWrite != 0 || flags&unix.O_CREAT != 0):
		return 0 // ELOOP, EISDIR
	}
	if e := a.permits(st, rights); e != 0 {
		return e
	}
	if flags&unix.O_NOATIME != 0 && !a.owns(st) {
		return unix.EPERM
	}
	return 0
}

// accessor is for whom faccessat2 with these flags asks.
func accessor(t *kernel.Thread, flags uint64) *asker {
	a := askerOf(t)
	if flags&unix.AT_EACCESS == 0 {
		a.cred = t.Cred.AsReal()
	}
	return a
}

// mayAccess is access(2) and its kin.
func mayAccess(t *kernel.Thread, dirfd uint64, name string, mode uint32, flags uint64) kernel.Errno {
	if isNodeUser(t) {
		return 0
	}
	a := accessor(t, flags)
	w, e := routeOf(t, dirfd, name)
	if e != 0 {
		return 0
	}
	p, e := a.follow(w, flags&unix.AT_SYMLINK_NOFOLLOW == 0)
	if e != 0 || !p.found || mode&7 == 0 {
		return e
	}
	return a.permits(&p.st, mode&7)
}

// mayChown is chown_ok and chgrp_ok of Linux's fs/attr.c.
func mayChown(t *kernel.Thread, st *unix.Stat_t, uid, gid uint64) kernel.Errno {
	if isNodeUser(t) || t.Capable(unix.CAP_CHOWN) {
		return 0
	}
	c := &t.Cred
	u, g := owner(&t.Node().Files, keyOf(st), st, false)
	mine := int(u) == c.UID.FS
	if int32(uid) != -1 && !(mine && uint32(uid) == u) {
		return unix.EPERM
	}
	if int32(gid) != -1 && !(mine && (uint32(gid) == g || c.FileGroup(int(uint32(gid))))) {
		return unix.EPERM
	}
	return 0
}

// mayChownObject is mayChown for a socket or a pipe, which is taken to be the asker's own.
func mayChownObject(t *kernel.Thread, uid, gid uint64) kernel.Errno {
	c := &t.Cred
	if isNodeUser(t) || t.Capable(unix.CAP_CHOWN) {
		return 0
	}
	if int32(uid) != -1 && int(uint32(uid)) != c.UID.FS || int32(gid) != -1 && !c.FileGroup(int(uint32(gid))) {
		return unix.EPERM
	}
	return 0
}

// mayChmod checks chmod, and takes from mode what only members of the file's group may give it.
func mayChmod(t *kernel.Thread, st *unix.Stat_t, mode *uint64) kernel.Errno {
	if isNodeUser(t) {
		return 0
	}
	a := askerOf(t)
	if !a.owns(st) {
		return unix.EPERM
	}
	if _, gid := owner(&t.Node().Files, keyOf(st), st, false); !a.cred.FileGroup(int(gid)) &&
		!t.Capable(unix.CAP_FSETID) {
		*mode &^= unix.S_ISGID
	}
	return 0
}

// maySetTimes checks utimensat and its kin: now takes less than a time of one's choice.
func maySetTimes(t *kernel.Thread, st *unix.Stat_t, now bool) kernel.Errno {
	if isNodeUser(t) {
		return 0
	}
	a := askerOf(t)
	switch {
	case a.owns(st):
		return 0
	case now:
		return a.permits(st, kernel.MayWrite)
	}
	return unix.EPERM
}

// mayReachSocket checks that t may make a socket file, or write to one.
func mayReachSocket(t *kernel.Thread, name string, make bool) kernel.Errno {
	if name == "" || isNodeUser(t) {
		return 0
	}
	a := askerOf(t)
	w, e := routeOf(t, atCwd, name)
	if e != 0 {
		return 0
	}
	p, e := a.follow(w, !make)
	switch {
	case e != 0:
		return e
	case make:
		return a.mayCreate(&p)
	case p.found:
		return a.permits(&p.st, kernel.MayWrite)
	}
	return 0
}

// ExecCred gives the process of t the credentials that come of the program that it has
// just executed, and reports whether that must not trust who executes it. Set-id bits
// count on the program itself, not on a script.
func ExecCred(t *kernel.Thread) (secure bool) {
	var st unix.Stat_t
	if unix.Stat(threadPath(t, "exe"), &st) != nil {
		st = unix.Stat_t{}
	}
	uid, gid := owner(&t.Node().Files, keyOf(&st), &st, false)
	return t.ExecCred(st.Mode, int(uid), int(gid))
}
