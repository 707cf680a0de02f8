package sandbox

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stage is where the new root is put together: in the new mount namespace the
// host's /proc is needed no more, and nothing that a node is shown lies there.
const stage = "/proc"

// treePath is the root of the tmpfs on which all that is the node's own lies, until
// the node's first process has opened it.
const treePath = "/.ariadne/tree"

// TreeFD is the descriptor of that root in the process that Start returns. Ariadne takes
// a copy of it and closes it before the program runs: with it names can be moved from
// anywhere to anywhere in the node's files, and nothing in the node leads there.
const TreeFD = 3

// ids are those of a user and a group.
type ids struct{ user, group int }

// build adds the calls that make the layout the root directory. Private files
// belong to owner.
func (l *layout) build(p *program, owner ids) {
	p.add("umask", 0, unix.SYS_UMASK, 0)
	p.mount("make mounts private", "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	p.mount("mount the root tmpfs", "ariadne", stage, "tmpfs", unix.MS_NOSUID, "mode=0755")
	for i := range l.over {
		l.root.kids[ownDir[1:]].kids[fmt.Sprint(i)] = l.over[i].entry
	}
	for _, name := range sortedNames(l.root.kids) {
		p.create(stage+"/"+name, l.root.kids[name])
	}
	p.mountAttr("make the root read-only", stage, unix.AT_RECURSIVE,
		unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
	for i, o := range l.over {
		src := fmt.Sprintf("%s/.ariadne/%d", stage, i)
		p.mount("mount over "+o.path, src, stage+o.path, "", unix.MS_BIND, "")
		if o.writable {
			p.openUp(stage+o.path, o.entry, owner)
		}
	}
	for _, w := range l.writable {
		p.mount("mount "+w, stage+w, stage+w, "", unix.MS_BIND, "")
		p.openUp(stage+w, l.find(w), owner)
	}
	// The one tmpfs again, without what is mounted over it: names can be moved from
	// anywhere to anywhere in it.
	p.mount("mount "+treePath, stage, stage+treePath, "", unix.MS_BIND, "")
	p.mountAttr("make "+treePath+" writable", stage+treePath, 0, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	for _, d := range devices {
		p.mount("mount "+d, d, stage+d, "", unix.MS_BIND, "")
		// It can be written all the same, but its mode, owner and times are the host's.
		p.mountAttr("make "+d+" read-only", stage+d, 0,
			unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC})
	}
	p.add("enter the new root", 0, unix.SYS_CHDIR, p.str(stage))
	dot := p.str(".")
	p.add("pivot_root", 0, unix.SYS_PIVOT_ROOT, dot, dot)
	p.add("detach the host's root", 0, unix.SYS_UMOUNT2, dot, unix.MNT_DETACH)
	p.add("chdir /", 0, unix.SYS_CHDIR, p.str("/"))
}

// hideTree leaves of Ariadne's own directory an open descriptor, TreeFD.
func (p *program) hideTree() {
	// The last argument is what must come of it, and nothing to Linux.
	p.add("open "+treePath, whole, unix.SYS_OPEN, p.str(treePath), unix.O_PATH|unix.O_DIRECTORY, TreeFD)
	p.add("detach "+treePath, 0, unix.SYS_UMOUNT2, p.str(treePath), unix.MNT_DETACH)
	p.mount("hide "+ownDir, treePath, ownDir, "", unix.MS_BIND, "")
}

// find returns the entry of the tmpfs at a path without links.
func (l *layout) find(name string) *entry {
	e := l.root
	for _, part := range strings.Split(name[1:], "/") {
		e = e.kids[part]
	}
	return e
}

func (p *program) mount(name, src, dst, fstype string, flags uintptr, data string) {
	p.add(name, 0, unix.SYS_MOUNT, p.str(src), p.str(dst), p.str(fstype), flags, p.str(data))
}

func (p *program) mountAttr(name, dst string, flags uintptr, a unix.MountAttr) {
	at := unix.AT_FDCWD
	p.add(name, 0, unix.SYS_MOUNT_SETATTR, uintptr(at), p.str(dst), flags, hold(p, &a), unsafe.Sizeof(a))
}

// openUp makes the mount at dst writable and gives what is in it to owner.
func (p *program) openUp(dst string, e *entry, owner ids) {
	p.mountAttr("make "+dst[len(stage):]+" writable", dst, 0, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	if owner.user != 0 {
		p.giveTo(dst, e, owner)
	} else if os.Geteuid() == 0 {
		p.giveBack(dst, e)
	}
}

func (p *program) giveTo(name string, e *entry, owner ids) {
	p.chown(name, 0, owner.user, owner.group)
	for _, k := range sortedNames(e.kids) {
		p.giveTo(name+"/"+k, e.kids[k], owner)
	}
}

// giveBack makes the owners of the originals those of the copies.
func (p *program) giveBack(name string, e *entry) {
	owned := e.uid != 0 || e.gid != 0
	if owned {
		// it may be an id that Ariadne's namespace does not have
		p.chown(name, mayFail, e.uid, e.gid)
	}
	// Both a change of owner and a write have taken set-id bits away.
	if e.mode&0o7000 != 0 && e.kind != linkEntry && (owned || e.kind == fileEntry) {
		p.add("chmod "+name[len(stage):], 0, unix.SYS_CHMOD, p.str(name), uintptr(e.mode))
	}
	for _, k := range sortedNames(e.kids) {
		p.giveBack(name+"/"+k, e.kids[k])
	}
}

func (p *program) chown(name string, flags uintptr, uid, gid int) {
	p.add("chown "+name[len(stage):], flags, unix.SYS_LCHOWN, p.str(name), uintptr(uid), uintptr(gid))
}

// create adds the calls that make e at the path name.
func (p *program) create(name string, e *entry) {
	what := "create " + name[len(stage):]
	at := p.str(name)
	switch e.kind {
	case dirEntry:
		p.add(what, 0, unix.SYS_MKDIR, at, 0o700)
		for _, k := range sortedNames(e.kids) {
			p.create(name+"/"+k, e.kids[k])
		}
		p.add(what, 0, unix.SYS_CHMOD, at, uintptr(e.mode))
	case linkEntry:
		p.add(what, 0, unix.SYS_SYMLINK, p.str(e.data), at)
	case fifoEntry:
		p.add(what, 0, unix.SYS_MKNOD, at, uintptr(unix.S_IFIFO|e.mode), 0)
	case fileEntry:
		p.createFile(what, at, e)
	case bindEntry:
		if e.isDir {
			p.add(what, 0, unix.SYS_MKDIR, at, 0o755)
		} else {
			p.add(what, 0, unix.SYS_MKNOD, at, unix.S_IFREG|0o644, 0)
		}
		p.mount("bind "+e.data, e.data, name, "", unix.MS_BIND|unix.MS_REC, "")
	}
}

func (p *program) createFile(what string, at uintptr, e *entry) {
	if e.data == "" {
		p.add(what, 0, unix.SYS_MKNOD, at, uintptr(unix.S_IFREG|e.mode), 0)
		return
	}
	const chunk = 1 << 30 // write(2) moves less than 2 GiB
	p.add(what, keep, unix.SYS_OPEN, at, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, uintptr(e.mode))
	for data := e.data; len(data) > 0; {
		n := min(len(data), chunk)
		p.add(what, onKept|whole, unix.SYS_WRITE, 0, p.content(data[:n]), uintptr(n))
		data = data[n:]
	}
	p.add(what, onKept, unix.SYS_CLOSE)
}
