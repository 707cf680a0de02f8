package sys

import (
	"cmp"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/random"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"

	"golang.org/x/sys/unix"
)

// What stat shows of open files and of virtual paths.

// statFD returns the state of an open file as the node sees it.
func statFD(t *kernel.Thread, fd uint64) (st unix.Stat_t, birth int64, e kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil {
		return st, 0, unix.EBADF
	}
	h, ok := of.File.(*kernel.HostFile)
	if !ok {
		return statEmulated(t, of.File), inode.Epoch, 0
	}
	st, e = fdStat(t, fdOf(fd))
	if e != 0 {
		return st, 0, e
	}
	if h.First != nil {
		st = *h.First
	}
	if st.Dev != t.Node().Files.Private && st.Mode&unix.S_IFMT == unix.S_IFREG {
		t.Node().NoteUsed(kernel.UsedFile{Path: h.Path, Key: h.Key(), Use: ariadne.FileStat})
	}
	birth = show(t, &st, false)
	switch {
	case h.Synthetic:
		st.Dev, st.Mode, st.Size, st.Blocks, st.Nlink = inode.DevProc, h.Mode, 0, 0, 1
		st.Blksize = 1024
		st.Uid, st.Gid = uint32(t.Cred.UID.Effective), uint32(t.Cred.GID.Effective)
	case strings.HasPrefix(h.Path, "/memfd:"):
		st.Dev = inode.DevMem
		st.Uid, st.Gid = uint32(t.Cred.UID.Effective), uint32(t.Cred.GID.Effective)
	}
	return st, birth, 0
}

// statEmulated is fstat of a socket, a pipe, an epoll set ...
func statEmulated(t *kernel.Thread, f kernel.File) unix.Stat_t {
	st := unix.Stat_t{Dev: inode.DevAnon, Ino: 1, Nlink: 1, Mode: 0o600, Blksize: blockSize}
	if m, ok := f.(kernel.Moder); ok {
		st.Mode = m.StatMode()
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		st.Dev = inode.DevSock
	case unix.S_IFIFO:
		st.Dev = inode.DevPipe
	}
	switch x := f.(type) {
	case *random.File:
		st.Dev, st.Rdev = inode.DevHost, unix.Mkdev(1, uint32(x.Minor))
	case *dialog.File:
		st.Dev, st.Rdev, st.Ino = inode.DevHost, unix.Mkdev(10, dialog.Minor), virtualInode(t, dialog.Path)
	case *procfs.Dir:
		st.Dev, st.Nlink = inode.DevProc, 2
		st.Ino = virtualInode(t, x.Path)
	case *procfs.Mem:
		st.Dev, st.Ino = inode.DevProc, virtualInode(t, x.Path)
	case *tty.Master:
		statTerminal(t, &st, "/dev/ptmx", nil)
	case *tty.Slave:
		statTerminal(t, &st, x.Path(), x.Terminal)
		return st
	case kernel.Describer:
		if n := kernel.DescribedInode(x.Describe()); n != 0 {
			st.Ino = n
		}
	}
	st.Uid, st.Gid = uint32(t.Cred.UID.Effective), uint32(t.Cred.GID.Effective)
	ft := fileTime(inode.Epoch)
	st.Atim, st.Mtim, st.Ctim = ft, ft, ft
	return st
}

// statTerminal is what stat shows of a terminal: x for a slave, else of the file v.
func statTerminal(t *kernel.Thread, st *unix.Stat_t, v string, x *tty.Terminal) {
	st.Dev, st.Blksize, st.Ino = inode.DevHost, 1024, virtualInode(t, v)
	switch {
	case x != nil:
		st.Dev, st.Ino = inode.DevPts, uint64(x.N)+3
		st.Rdev, st.Uid, st.Gid = unix.Mkdev(136, uint32(x.N)), uint32(x.UID), uint32(x.GID)
	case v == "/dev/ptmx":
		st.Rdev, st.Gid = unix.Mkdev(5, 2), 5
	default:
		st.Rdev, st.Gid = unix.Mkdev(5, 0), 5
	}
}

// statVirtual is stat of a virtual path.
func statVirtual(t *kernel.Thread, v string, follow bool) (st unix.Stat_t, e kernel.Errno) {
	o, e := lookupVirtual(t, v)
	if e != 0 {
		return st, e
	}
	switch {
	case follow && o.kind == selfLink:
		return statVirtual(t, "/proc/"+selfTarget(t, v), true)
	case follow && o.kind == fdLink && o.proc == t.Proc:
		st, _, e = statFD(t, uint64(o.fd))
		return st, e
	case follow && o.kind == fdLink:
		return statOther(t, o)
	case follow && o.kind == pathLink:
		target, e := virtualLink(t, v)
		if e != 0 {
			return st, e
		}
		return statReal(t, target, true)
	case o.kind == throughLink:
		return statReal(t, o.path, follow)
	}
	ts := fileTime(inode.Epoch)
	st = unix.Stat_t{Dev: inode.DevProc, Ino: virtualInode(t, v), Nlink: 1, Mode: o.mode(), Blksize: 1024, Atim: ts,
		Mtim: ts, Ctim: ts}
	if o.kind == terminal {
		statTerminal(t, &st, v, o.tty)
	}
	if o.kind == dialogFile {
		st.Dev, st.Blksize, st.Rdev = inode.DevHost, blockSize, unix.Mkdev(10, dialog.Minor)
	}
	if p := o.proc; p != nil && (p.Dumpable == 1 || o.kind == plainDir && o.mode()&0o005 != 0) {
		c := &cmp.Or(o.thread, p.Leader).Cred
		st.Uid, st.Gid = uint32(c.UID.Effective), uint32(c.GID.Effective)
	}
	return st, 0
}

// statReal is stat of a path that a virtual one leads to.
func statReal(t *kernel.Thread, name string, follow bool) (st unix.Stat_t, e kernel.Errno) {
	if st, e = pathStat(t, atCwd, name, follow); e == 0 {
		show(t, &st, false)
	}
	return st, e
}

// statOther is stat of an open file of another process.
func statOther(t *kernel.Thread, o object) (st unix.Stat_t, e kernel.Errno) {
	f := o.proc.FDs.Get(o.fd).File
	if _, ok := f.(*kernel.HostFile); !ok {
		return statEmulated(t, f), 0
	}
	if st, e = fdStat(o.thread, o.fd); e == 0 {
		show(t, &st, false)
	}
	return st, e
}
