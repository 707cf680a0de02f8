package sys

import (
	"bytes"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"

	"golang.org/x/sys/unix"
)

// Where the spec lets machines lose power, all that changes a node's files on its disks is entered
// in a log (inode.Table.Log), and so is what has changes written. Linux makes the changes, so what
// a call is about to change is read before it, and what it has changed is read behind it: by
// how much it did, not by what it was asked. Calls that change names enter these themselves,
// since they look at both sides of the names in any case.

// logOperation appends an operation to the log.
func logOperation(t *kernel.Thread, op disk.Op) {
	op.Call, op.Thread = Name(t.Call.NR), t.TID
	if op.Time = t.Node().RealNow(); op.Kind == disk.SetAttr {
		op.Time = op.Attr.Modify
	}
	EnterStores(t.Node())
	t.Node().Files.Enter(op)
}

// PowerAsker is a Tracee that knows who decides whether a machine loses its power.
type PowerAsker interface {
	// LosesPower reports whether it does so when the call that the thread stands in has done
	// all but that a file is written to the disk, or with "" all of them.
	LosesPower(file string) bool
}

// enterSync appends that files are written to the disk: now, or from now on until the call ends.
// Before it the machine may lose its power. Then nothing comes of this sync, nor of others in the
// same call.
func enterSync(t *kernel.Thread, op disk.Op) {
	if t.Call.Cut {
		return
	}
	s := slowdisk.Of(t)
	if a, ok := t.M.(PowerAsker); ok && s == nil && op.Barrier() {
		EnterStores(t.Node())
		if t.Call.Cut = a.LosesPower(op.Path); t.Call.Cut {
			return
		}
	}
	if s == nil || s.Begun() {
		logOperation(t, op)
		return
	}
	op.Call, op.Thread = Name(t.Call.NR), t.TID
	EnterStores(t.Node())
	s.Submit(t.Node(), op)
}

// logOperation appends an operation on the file's content.
func (c *content) logOperation(op disk.Op) {
	op.Ino, op.OldSize, op.Path, op.Call, op.Thread = c.ino, c.size, c.path, Name(c.t.Call.NR), c.t.TID
	n := c.t.Node()
	op.Time = n.Files.Times(c.key).Modify
	n.Files.Enter(op)
	if _, mapped := n.Files.Stored[c.key]; mapped {
		lookAgain(n, c.key)
	}
}

func init() {
	kernel.Register("sys", kernel.Hooks{FileClosed: func(n *kernel.Node, of *kernel.OpenFile) {
		h, ok := of.File.(*kernel.HostFile)
		if ok && of.Writes() && h.Mode&unix.S_IFMT == unix.S_IFREG && logged(&n.Files, h.Key(), h.Path) {
			EnterStores(n)
			n.Files.Enter(disk.Op{Kind: disk.Close, Ino: n.Files.Inode(h.Key()), Path: h.Path})
		}
	}})
}

// recording is a call that may change files, as these stood before: it is told what came of the
// call.
type recording func(v int64)

// recorder looks at what the call that t stands in is about to change. nil: nothing that is
// entered.
type recorder func(t *kernel.Thread, a Args) recording

// record looks at what the call of the row that t stands in is about to change.
func (r *Row) record(t *kernel.Thread) recording {
	if r.records == nil || !t.Node().Files.Logs {
		return nil
	}
	return r.records(t, t.Call.Args)
}

// content is a regular file whose bytes a call may change, as it stood before.
type content struct {
	t    *kernel.Thread
	f    *os.File
	key  inode.Key
	ino  uint64
	path string
	size int64
	of   *kernel.OpenFile // by which it is changed, or nil
}

// contentOf is the file of a descriptor, or nil when what happens to it is not entered.
func contentOf(t *kernel.Thread, fd uint64) *content {
	h, of, e := hostFile(t, fd)
	if e != 0 || h == nil || !of.Writes() || h.Mode&unix.S_IFMT != unix.S_IFREG || !logs(t, h.Key(), h.Path) {
		return nil
	}
	return newContent(t, h.Key(), h.Path, threadPath(t, "fd/"+strconv.Itoa(fdOf(fd))), of)
}

// contentAt is the file of a path, likewise.
func contentAt(t *kernel.Thread, dirfd uint64, name string) *content {
	fd, e := openPath(t, dirfd, name, true)
	if e != 0 {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	shown := realPath(t, fd)
	if !logs(t, keyOf(&st), shown) {
		return nil
	}
	return newContent(t, keyOf(&st), shown, "/proc/self/fd/"+strconv.Itoa(fd), nil)
}

func newContent(t *kernel.Thread, key inode.Key, shown, name string, of *kernel.OpenFile) *content {
	f, err := filetree.Open(name)
	if err != nil {
		return nil // Linux will say what is wrong
	}
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		f.Close()
		return nil
	}
	EnterStores(t.Node())
	return &content{t: t, f: f, key: key, ino: t.Node().Files.Inode(key), path: shown, size: st.Size, of: of}
}

// read returns bytes of the file, none beyond its end; zeros at the end of these are left out.
func (c *content) read(at, n int64) []byte {
	if at < 0 {
		return nil
	}
	size := c.size
	var st unix.Stat_t
	if unix.Fstat(int(c.f.Fd()), &st) == nil {
		size = st.Size
	}
	if n = min(n, size-at); n <= 0 {
		return nil
	}
	b := make([]byte, n)
	k, _ := c.f.ReadAt(b, at)
	return bytes.TrimRight(b[:k], "\x00")
}

// now is the file's size.
func (c *content) now() int64 {
	var st unix.Stat_t
	if unix.Fstat(int(c.f.Fd()), &st) != nil {
		return c.size
	}
	return st.Size
}

// synced enters that the call had what it wrote written to the disk, by how the file is open.
func (c *content) synced(flags int, at, n int64) {
	kind := disk.Kind(0)
	if c.of != nil && c.of.Flags&unix.O_SYNC == unix.O_SYNC || flags&unix.RWF_SYNC != 0 {
		kind = disk.Fsync
	} else if c.of != nil && c.of.Flags&unix.O_DSYNC != 0 || flags&unix.RWF_DSYNC != 0 {
		kind = disk.Fdatasync
	}
	if kind != 0 && n > 0 {
		enterSync(c.t, disk.Op{Kind: kind, Flags: disk.Ranged, Ino: c.ino, Offset: at, Length: n, Path: c.path})
	}
}

// here is the offset of what is written where the descriptor stands.
const here = -1

// recordWrite is of a call that writes at most so many bytes to descriptor fd, at an offset or
// here.
func recordWrite(t *kernel.Thread, fd uint64, at, most int64, flags int) recording {
	c := contentOf(t, fd)
	if c == nil {
		return nil
	}
	return c.written(fd, at, most, flags)
}

// noAppend is RWF_NOAPPEND.
const noAppend = 0x20

// written is of an operation that writes at most so many bytes.
func (c *content) written(fd uint64, at, most int64, flags int) recording {
	switch {
	case c.of.Flags&unix.O_APPEND != 0 && flags&noAppend == 0 || flags&unix.RWF_APPEND != 0:
		at = c.size
	case at < 0:
		_, at = fileEnd(c.t, fd)
	}
	old := c.read(at, most)
	return func(n int64) {
		defer c.f.Close()
		if n <= 0 {
			return
		}
		op := disk.Op{Kind: disk.Write, Offset: at, Length: n, New: c.read(at, n), Old: old[:min(int64(len(old)), n)],
			Size: max(c.size, at+n)}
		if c.of.Flags&unix.O_DIRECT != 0 {
			op.Flags |= disk.Direct
		}
		c.logOperation(op)
		c.synced(flags, at, n)
	}
}

// recordSize is of a call that gives a file a size.
func recordSize(c *content, size int64) recording {
	if c == nil {
		return nil
	}
	old := c.read(size, c.size-size)
	return func(v int64) {
		defer c.f.Close()
		if v < 0 || size < 0 {
			return
		}
		c.logOperation(disk.Op{Kind: disk.Truncate, Offset: size, Length: max(c.size-size, 0), Old: old, Size: size})
	}
}

// recordRange is of fallocate.
func recordRange(c *content, mode int, at, n int64) recording {
	if c == nil {
		return nil
	}
	op := disk.Op{Offset: at, Length: n}
	switch mode & rangeModes {
	case 0:
		op.Kind = disk.Allocate
	case unix.FALLOC_FL_PUNCH_HOLE, unix.FALLOC_FL_ZERO_RANGE:
		op.Kind, op.Old = disk.Zero, c.read(at, n)
	default:
		op.Kind, op.Old = disk.Shift, c.read(at, c.size-at)
	}
	return func(v int64) {
		defer c.f.Close()
		if v != 0 {
			return
		}
		if op.Size = c.now(); op.Kind == disk.Shift {
			op.New, op.Length = c.read(at, op.Size-at), max(op.Size, c.size)-at
		}
		c.logOperation(op)
		if c.of.Flags&unix.O_SYNC == unix.O_SYNC {
			c.synced(0, at, n)
		}
	}
}

// recordSync is of a call that has a file or a directory written, as op says.
func recordSync(t *kernel.Thread, fd uint64, op disk.Op) recording {
	h, _, e := hostFile(t, fd)
	if e != 0 || h == nil || !logs(t, h.Key(), h.Path) {
		return nil
	}
	return func(v int64) {
		if v == 0 {
			op.Ino, op.Path = t.Node().Files.Inode(h.Key()), h.Path
			enterSync(t, op)
		}
	}
}

// attrOf is what a file's attributes are to the node.
func attrOf(t *kernel.Thread, st *unix.Stat_t) disk.Attr {
	files, key := &t.Node().Files, keyOf(st)
	uid, gid := owner(files, key, st, false)
	times := files.Times(key)
	return disk.Attr{Mode: st.Mode, UID: uid, GID: gid, Rdev: st.Rdev, Access: times.Access, Modify: times.Modify}
}

// recordAttrOf is of a call that changes attributes of the file of a descriptor.
func recordAttrOf(t *kernel.Thread, fd uint64) recording {
	h, _, e := hostFile(t, fd)
	if e != 0 || h == nil {
		return nil
	}
	st, e := fdStat(t, fdOf(fd))
	if e != 0 {
		return nil
	}
	return recordAttr(t, &st, h.Path, func() (unix.Stat_t, kernel.Errno) { return fdStat(t, fdOf(fd)) })
}

// recordAttrAt is of one that names the file by the path at addr. Without a path it means the
// descriptor.
func recordAttrAt(t *kernel.Thread, dirfd, addr uint64, follow bool) recording {
	name := ""
	if addr != 0 {
		var e kernel.Errno
		if name, e = readPath(t, addr); e != 0 {
			return nil
		}
	}
	if name == "" {
		return recordAttrOf(t, dirfd)
	}
	fd, e := openPath(t, dirfd, name, follow)
	if e != 0 {
		return nil
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		unix.Close(fd)
		return nil
	}
	done := recordAttr(t, &st, realPath(t, fd), func() (st unix.Stat_t, e kernel.Errno) {
		return st, errnoOf(unix.Fstat(fd, &st))
	})
	if done == nil {
		unix.Close(fd)
		return nil
	}
	return func(v int64) {
		done(v)
		unix.Close(fd)
	}
}

func recordAttr(t *kernel.Thread, st *unix.Stat_t, shown string, again func() (unix.Stat_t, kernel.Errno)) recording {
	if !logs(t, keyOf(st), shown) {
		return nil
	}
	old := attrOf(t, st)
	return func(v int64) {
		st, e := again()
		if now := attrOf(t, &st); v == 0 && e == 0 && now != old {
			logOperation(t,
				disk.Op{Kind: disk.SetAttr, Ino: t.Node().Files.Inode(keyOf(&st)), OldAttr: old, Attr: now,
					Path: shown})
		}
	}
}

// realPath is where in the node a place lies that the supervisor has open.
func realPath(t *kernel.Thread, fd int) string {
	name := readLink("/proc/self/fd/" + strconv.Itoa(fd))
	return shownPath(t, inode.Key{}, name)
}

// namePlace is a name in a directory, before a call changes what it stands for.
type namePlace struct {
	dirfd uint64
	given string // the path, from dirfd
	dir   uint64 // inode
	name  string // in it
	path  string // as the node sees it
	ok    bool   // it is entered
}

// placeOf finds the directory of a path's last component, which is not followed.
func placeOf(t *kernel.Thread, dirfd uint64, name string) (p namePlace) {
	if !t.Node().Files.Logs {
		return p
	}
	fd, e := openPath(t, dirfd, parentOf(name), true)
	if e != 0 {
		return p
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return p
	}
	p.dirfd, p.given = dirfd, strings.TrimRight(name, "/")
	p.name = path.Base(strings.TrimRight(name, "/"))
	p.path = path.Join(realPath(t, fd), p.name)
	if p.ok = logs(t, keyOf(&st), p.path); p.ok {
		p.dir = t.Node().Files.Inode(keyOf(&st))
	}
	return p
}

// stat looks at what the name stands for.
func (p *namePlace) stat(t *kernel.Thread) (st unix.Stat_t, e kernel.Errno) {
	fd, e := p.openPlace(t)
	if e != 0 {
		return st, e
	}
	defer unix.Close(fd)
	return st, errnoOf(unix.Fstat(fd, &st))
}

// openPlace opens the file of the name for look-ups alone (O_PATH), without following a link.
func (p *namePlace) openPlace(t *kernel.Thread) (int, kernel.Errno) {
	if !p.ok {
		return -1, unix.ENOENT
	}
	return openPath(t, p.dirfd, p.given, false)
}

// links is how many names a file has.
func links(t *kernel.Thread, st *unix.Stat_t) int {
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return 1
	}
	return int(t.Node().Files.Links(keyOf(st), st.Nlink))
}

// entered enters a new file, without a name when p has none.
func entered(t *kernel.Thread, p namePlace, st *unix.Stat_t) {
	if !p.ok {
		return
	}
	op := disk.Op{Kind: disk.Create, Ino: t.Node().Files.Inode(keyOf(st)), Dir: p.dir, Name: p.name,
		Links: links(t, st), Attr: attrOf(t, st), Path: p.path}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		op.Target = targetOf(t, p)
	}
	logOperation(t, op)
}

// targetOf is what the symbolic link at p says.
func targetOf(t *kernel.Thread, p namePlace) string {
	fd, e := p.openPlace(t)
	if e != 0 {
		return ""
	}
	defer unix.Close(fd)
	var b [unix.PathMax]byte
	n, _ := unix.Readlinkat(fd, "", b[:])
	return string(b[:max(n, 0)])
}

// dying is a file that loses a name, perhaps its last.
type dying struct {
	st     unix.Stat_t
	ino    uint64
	links  int // that are left
	attr   disk.Attr
	size   int64
	data   []byte
	target string
}

// dies looks at the file that is about to lose the name at p. When that is the last one, what the
// file holds is kept: a loss of power may bring it back.
func dies(t *kernel.Thread, p namePlace, st *unix.Stat_t) *dying {
	if !p.ok {
		return nil
	}
	d := &dying{st: *st, ino: t.Node().Files.Inode(keyOf(st)), links: links(t, st) - 1, attr: attrOf(t, st)}
	if d.links > 0 {
		return d
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		d.target = targetOf(t, p)
	case unix.S_IFREG:
		fd, e := p.openPlace(t)
		if e != 0 {
			return d
		}
		defer unix.Close(fd)
		f, err := filetree.Open("/proc/self/fd/" + strconv.Itoa(fd))
		if err != nil {
			return d
		}
		defer f.Close()
		d.size = st.Size
		b, _ := io.ReadAll(f)
		d.data = bytes.TrimRight(b, "\x00")
	}
	return d
}

// unlinked enters that a name is gone.
func unlinked(t *kernel.Thread, p namePlace, d *dying) {
	if d == nil {
		return
	}
	op := disk.Op{Kind: disk.Unlink, Ino: d.ino, Dir: p.dir, Name: p.name, Links: d.links, OldAttr: d.attr,
		Attr: d.attr, Path: p.path}
	if d.links == 0 {
		op.Old, op.OldSize, op.Target = d.data, d.size, d.target
	}
	logOperation(t, op)
}

// linked enters one more name of a file.
func linked(t *kernel.Thread, from, p namePlace) {
	if st, e := p.stat(t); e == 0 {
		logOperation(t,
			disk.Op{Kind: disk.Link, Ino: t.Node().Files.Inode(keyOf(&st)), Dir: p.dir, Name: p.name,
				Links: links(t, &st), Attr: attrOf(t, &st), Path: p.path, ToPath: from.path})
	}
}

// renamed enters that a file has got another name. over is what had that name before, or nil.
func renamed(t *kernel.Thread, from, to namePlace, over *dying, flags uint64) {
	st, e := to.stat(t)
	if e != 0 || !from.ok {
		return
	}
	op := disk.Op{Kind: disk.Rename, Ino: t.Node().Files.Inode(keyOf(&st)), Dir: from.dir, Name: from.name,
		ToDir: to.dir, ToName: to.name,
		Links: links(t, &st), Attr: attrOf(t, &st), Path: from.path, ToPath: to.path}
	if over != nil {
		if op.Over = over.ino; op.Over == op.Ino {
			return // both are names of one file: nothing happens
		}
		op.OverLinks, op.OldAttr = over.links, over.attr
		switch {
		case flags&unix.RENAME_EXCHANGE != 0:
			op.Flags, op.OverLinks = disk.Exchange, over.links+1
		case over.links == 0:
			op.Old, op.OldSize, op.Target = over.data, over.size, over.target
		}
	}
	if flags&unix.RENAME_WHITEOUT != 0 {
		if left, e := from.stat(t); e == 0 {
			op.Flags, op.Left = disk.Whiteout, t.Node().Files.Inode(keyOf(&left))
		}
	}
	logOperation(t, op)
}

// recordAIO is of an operation that io_submit runs.
func recordAIO(t *kernel.Thread, c iocb, most int64) recording {
	if !t.Node().Files.Logs {
		return nil
	}
	switch c.op {
	case iocbFsync:
		return recordSync(t, uint64(c.fd), disk.Op{Kind: disk.Fsync})
	case iocbFdsync:
		return recordSync(t, uint64(c.fd), disk.Op{Kind: disk.Fdatasync})
	case iocbPwrite, iocbPwritev:
		if file := contentOf(t, uint64(c.fd)); file != nil {
			return file.written(uint64(c.fd), c.offset, most, int(c.rwFlags))
		}
	}
	return nil
}
