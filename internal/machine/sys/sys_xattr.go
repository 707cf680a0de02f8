package sys

import (
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Extended attributes are the node's own, kept beside the times of its files: what files of the
// host have is not shown. The order of checks is that of Linux's fs/xattr.c.

// ofPath, ofLink and ofFile make a handler for the call that follows a last link, the one that
// does not, and the one for a descriptor.
func ofPath(h xattrHandler) Handler {
	return func(t *kernel.Thread, a Args) kernel.Result { return h(t, &xattrFile{t: t, follow: true}, a) }
}
func ofLink(h xattrHandler) Handler {
	return func(t *kernel.Thread, a Args) kernel.Result { return h(t, &xattrFile{t: t}, a) }
}
func ofFile(h xattrHandler) Handler {
	return func(t *kernel.Thread, a Args) kernel.Result { return h(t, &xattrFile{t: t, open: true}, a) }
}

type xattrHandler func(t *kernel.Thread, f *xattrFile, a Args) kernel.Result

// xattrFile is the file whose attributes are meant, by a path or a descriptor.
type xattrFile struct {
	t            *kernel.Thread
	open, follow bool

	st    unix.Stat_t
	key   inode.Key
	has   bool // the file system keeps attributes
	own   bool // it can be written
	route string
}

// findOpen looks up what a descriptor stands for.
func (f *xattrFile) findOpen(of *kernel.OpenFile, fd int) (e kernel.Errno) {
	h, ok := of.File.(*kernel.HostFile)
	if !ok {
		f.st, f.own = statEmulated(f.t, of.File), true
		return 0
	}
	f.st, e = fdStat(f.t, fd)
	f.has = !h.Synthetic && !strings.HasPrefix(h.Path, "/memfd:")
	f.own = !f.has
	return e
}

// find looks the file up.
func (f *xattrFile) find(arg uint64) (e kernel.Errno) {
	t := f.t
	if f.open {
		_, of, e := hostFile(t, arg)
		if e == 0 {
			e = f.findOpen(of, fdOf(arg))
		}
		if e != 0 || !f.has {
			return e
		}
	} else {
		name, e := readPath(t, arg)
		if e != 0 {
			return e
		}
		f.route = name
		if fd, ok := descriptorPath(t, atCwd, name); ok && f.follow {
			if e := f.findOpen(t.FDs().Get(fd), fd); e != 0 || !f.has {
				return e
			}
		} else if v, ok := virtualPath(t, atCwd, name); ok {
			f.st, e = statVirtual(t, v, f.follow)
			f.own = true
			return e
		} else if f.st, e = pathStat(t, atCwd, name, f.follow); e != 0 {
			return e
		} else {
			f.has = true
		}
	}
	f.key = keyOf(&f.st)
	seen := f.st
	show(t, &seen, false) // the first look finds out which device is the node's own
	f.own = f.own || f.key.Dev == t.Node().Files.Private
	return 0
}

// changed notes that the attributes are others now.
func (f *xattrFile) changed(arg uint64) {
	f.t.Node().FileChanged(f.key)
	if !f.open {
		notifyPath(f.t, atCwd, f.route, f.follow, unix.IN_ATTRIB)
	} else if h, _, e := hostFile(f.t, arg); e == 0 && h != nil {
		notifyFile(f.t, h, unix.IN_ATTRIB)
	}
}

// record enters that an attribute was set or removed.
func (f *xattrFile) record(op disk.Op, arg uint64) {
	op.Kind, op.Ino, op.Path = disk.SetXattr, f.t.Node().Files.Inode(f.key), f.route
	if h, _, e := hostFile(f.t, arg); f.open && e == 0 && h != nil {
		op.Path = h.Path
	}
	op.Path = path.Clean(absolute(f.t, atCwd, op.Path))
	if logs(f.t, f.key, op.Path) {
		logOperation(f.t, op)
	}
}

// Prefixes of names.
const (
	xattrUser     = "user."
	xattrTrusted  = "trusted."
	xattrSecurity = "security."
	xattrSystem   = "system."
)

// may is xattr_permission, and what capabilities ask for.
func (f *xattrFile) may(name string, write bool) kernel.Errno {
	denied := kernel.Errno(unix.ENODATA)
	rights := uint32(kernel.MayRead)
	if write {
		denied, rights = unix.EPERM, kernel.MayWrite
	}
	admin := f.t.Capable(unix.CAP_SYS_ADMIN)
	switch {
	case strings.HasPrefix(name, xattrSecurity):
		if write && !admin {
			return unix.EPERM
		}
		return 0
	case strings.HasPrefix(name, xattrSystem):
		return 0
	case strings.HasPrefix(name, xattrTrusted):
		if !admin {
			return denied
		}
		return 0
	case strings.HasPrefix(name, xattrUser):
		kind := f.st.Mode & unix.S_IFMT
		if kind != unix.S_IFREG && kind != unix.S_IFDIR {
			return denied
		}
		if kind == unix.S_IFDIR && f.st.Mode&unix.S_ISVTX != 0 && write && !askerOf(f.t).owns(&f.st) {
			return unix.EPERM
		}
	}
	if !f.has {
		return 0
	}
	return askerOf(f.t).permits(&f.st, rights)
}

// keeps checks that the file system has attributes of that name.
func (f *xattrFile) keeps(name string) kernel.Errno {
	for _, prefix := range []string{xattrUser, xattrTrusted, xattrSecurity} {
		switch {
		case !f.has || !strings.HasPrefix(name, prefix):
		case name == prefix:
			return unix.EINVAL
		default:
			return 0
		}
	}
	return unix.EOPNOTSUPP
}

// xattrName reads a name.
func xattrName(t *kernel.Thread, addr uint64) (string, kernel.Errno) {
	const most = 255
	name, e := readString(t, addr, most+1)
	if e == unix.ENAMETOOLONG || e == 0 && name == "" {
		e = unix.ERANGE
	}
	return name, e
}

// xattrSizeMax bounds values and lists.
const xattrSizeMax = 65536

func setXattr(t *kernel.Thread, f *xattrFile, a Args) kernel.Result {
	if a[4]&^(unix.XATTR_CREATE|unix.XATTR_REPLACE) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	name, e := xattrName(t, a[1])
	if e != 0 {
		return kernel.Fail(e)
	}
	if a[3] > xattrSizeMax {
		return kernel.Fail(unix.E2BIG)
	}
	value, e := readBytes(t, a[2], int(a[3]))
	if e == 0 {
		e = f.find(a[0])
	}
	if e == 0 && !f.own {
		e = unix.EROFS
	}
	if e == 0 && name == "security.capability" {
		t.Node().Refuse(t, "setxattr "+name, f.route, false)
		e = unix.EPERM
	}
	if e == 0 {
		e = f.may(name, true)
	}
	if e == 0 {
		e = f.keeps(name)
	}
	old, had := t.Node().Files.Xattr(f.key, name)
	if e == 0 {
		e = t.Node().Files.SetXattr(f.key, name, string(value), a[4]&unix.XATTR_CREATE != 0,
			a[4]&unix.XATTR_REPLACE != 0)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	f.changed(a[0])
	f.record(disk.Op{Xattr: name, Old: []byte(old), Absent: !had, New: value}, a[0])
	return kernel.Ret(0)
}

func getXattr(t *kernel.Thread, f *xattrFile, a Args) kernel.Result {
	name, e := xattrName(t, a[1])
	if e == 0 {
		e = f.find(a[0])
	}
	if e == 0 {
		e = f.may(name, false)
	}
	if e == 0 {
		e = f.keeps(name)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	value, ok := t.Node().Files.Xattr(f.key, name)
	if !ok {
		return kernel.Fail(unix.ENODATA)
	}
	return storeXattr(t, value, a[2], a[3])
}

// storeXattr hands a value or list over, or its size when there is room for nothing.
func storeXattr(t *kernel.Thread, s string, addr, size uint64) kernel.Result {
	switch {
	case size == 0:
		return kernel.Ret(int64(len(s)))
	case uint64(len(s)) > size:
		return kernel.Fail(unix.ERANGE)
	}
	return kernel.RetOr(len(s), t.M.WriteMem(addr, []byte(s)))
}

func listXattr(t *kernel.Thread, f *xattrFile, a Args) kernel.Result {
	if e := f.find(a[0]); e != 0 {
		return kernel.Fail(e)
	}
	var names strings.Builder
	for _, x := range t.Node().Files.Xattrs(f.key) {
		if f.has && (!strings.HasPrefix(x.Name, xattrTrusted) || t.Capable(unix.CAP_SYS_ADMIN)) {
			names.WriteString(x.Name + "\x00")
		}
	}
	return storeXattr(t, names.String(), a[1], a[2])
}

func removeXattr(t *kernel.Thread, f *xattrFile, a Args) kernel.Result {
	name, e := xattrName(t, a[1])
	if e == 0 {
		e = f.find(a[0])
	}
	if e == 0 && !f.own {
		e = unix.EROFS
	}
	if e == 0 {
		e = f.may(name, true)
	}
	if e == 0 {
		e = f.keeps(name)
	}
	old, _ := t.Node().Files.Xattr(f.key, name)
	if e == 0 {
		e = t.Node().Files.RemoveXattr(f.key, name)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	f.changed(a[0])
	f.record(disk.Op{Xattr: name, Old: []byte(old), Gone: true}, a[0])
	return kernel.Ret(0)
}
