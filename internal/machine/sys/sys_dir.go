package sys

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"sort"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

func sysGetdents(t *kernel.Thread, a Args) kernel.Result   { return getdents(t, a, appendDirent) }
func sysGetdents64(t *kernel.Thread, a Args) kernel.Result { return getdents(t, a, appendDirent64) }

// getdents lists a directory sorted by name. It is read as a whole when the
// listing begins.
func getdents(t *kernel.Thread, a Args, encode func(b []byte, d kernel.Dirent, off int) []byte) kernel.Result {
	h, of, e := hostFile(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	var s **kernel.DirStream
	switch v, virtual := of.File.(*procfs.Dir); {
	case virtual:
		s = &v.Dir
		if *s == nil {
			*s = &kernel.DirStream{Entries: virtualEntries(t, v.Path)}
		}
	case h == nil || h.Mode&unix.S_IFMT != unix.S_IFDIR:
		return kernel.Fail(unix.ENOTDIR)
	default:
		s = &h.Dir
		if *s == nil {
			list, e := readDir(t, fdOf(a[0]))
			if e != 0 {
				return kernel.Fail(e)
			}
			*s = &kernel.DirStream{Entries: list}
			t.Node().NoteUsed(kernel.UsedFile{Path: h.Path, Key: h.Key(), Use: ariadne.FileList})
		}
	}
	if h != nil {
		notifyFile(t, h, unix.IN_ACCESS)
	}
	return fillDirents(t, *s, a[1], int(int32(a[2])), encode)
}

// fillDirents stores the next entries in the caller's buffer.
func fillDirents(t *kernel.Thread, s *kernel.DirStream, buf uint64, size int,
	encode func([]byte, kernel.Dirent, int) []byte) kernel.Result {
	var out []byte
	pos := s.Pos
	for pos < len(s.Entries) {
		next := encode(out, s.Entries[pos], pos+1)
		if len(next) > size {
			break
		}
		out = next
		pos++
	}
	if len(out) == 0 && pos < len(s.Entries) {
		return kernel.Fail(unix.EINVAL)
	}
	if e := t.M.WriteMem(buf, out); e != 0 {
		return someDirents(t, s, buf, pos, encode, e)
	}
	s.Pos = pos
	return kernel.Ret(int64(len(out)))
}

// someDirents stores the next entries up to the first that the memory does not take, which
// fails when there is none before it.
func someDirents(t *kernel.Thread, s *kernel.DirStream, buf uint64, end int,
	encode func([]byte, kernel.Dirent, int) []byte, e kernel.Errno) kernel.Result {
	size := 0
	for s.Pos < end {
		b := encode(nil, s.Entries[s.Pos], s.Pos+1)
		if t.M.WriteMem(buf+uint64(size), b) != 0 {
			break
		}
		size += len(b)
		s.Pos++
	}
	if size == 0 {
		return kernel.Fail(e)
	}
	return kernel.Ret(int64(size))
}

// appendDirent64 appends a struct linux_dirent64; off is what lseek takes to
// come to the entry after it.
func appendDirent64(b []byte, d kernel.Dirent, off int) []byte {
	size := (19 + len(d.Name) + 1 + 7) &^ 7
	r := make([]byte, size)
	le.PutUint64(r, d.Ino)
	le.PutUint64(r[8:], uint64(off))
	le.PutUint16(r[16:], uint16(size))
	r[18] = d.Type
	copy(r[19:], d.Name)
	return append(b, r...)
}

// appendDirent appends a struct linux_dirent: the type is its last byte.
func appendDirent(b []byte, d kernel.Dirent, off int) []byte {
	size := (18 + len(d.Name) + 2 + 7) &^ 7
	r := make([]byte, size)
	le.PutUint64(r, d.Ino)
	le.PutUint64(r[8:], uint64(off))
	le.PutUint16(r[16:], uint16(size))
	copy(r[18:], d.Name)
	r[size-1] = d.Type
	return append(b, r...)
}

// seekDir moves in a listing: positions are counts of entries. At 0 it begins
// anew. end is where Linux has its end, which no entry has.
func seekDir(s **kernel.DirStream, a Args, end int64) kernel.Result {
	pos := 0
	if *s != nil {
		pos = (*s).Pos
	}
	to := int64(a[1])
	switch int(int32(a[2])) {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		to += int64(pos)
	case unix.SEEK_END:
		to += end
	case unix.SEEK_DATA, unix.SEEK_HOLE:
		if uint64(to) >= uint64(end) {
			return kernel.Fail(unix.ENXIO)
		}
		if uint32(a[2]) == unix.SEEK_HOLE {
			to = end
		}
	}
	switch {
	case to < 0:
		return kernel.Fail(unix.EINVAL)
	case to == 0:
		*s = nil
	case *s != nil:
		(*s).Pos = int(min(to, int64(len((*s).Entries))))
	}
	return kernel.Ret(to)
}

// ownDir is what the node's root has besides what the node sees.
const ownDir = ".ariadne"

// DirectoryAsker is a Tracee that knows what the node finds in its directories.
type DirectoryAsker interface {
	// Shows returns which names of a directory it finds in it. It is called before the directory is
	// read.
	Shows(dir string) func(name string) bool
	// Lists returns what a directory on a device held when a node was first shown it, of what it
	// holds now.
	Lists(dir string, dev uint64, now []kernel.Dirent) []kernel.Dirent
}

// readDir reads a directory that the thread has open.
func readDir(t *kernel.Thread, fd int) ([]kernel.Dirent, kernel.Errno) {
	where := fdPath(t, fd)
	shown := func(string) bool { return true }
	asker, asks := t.M.(DirectoryAsker)
	if asks {
		shown = asker.Shows(where)
	}
	dir, err := unix.Open(threadPath(t, "fd/"+strconv.Itoa(fd)), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return nil, errnoOf(err)
	}
	var list []kernel.Dirent
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(dir, buf)
		if err != nil {
			return nil, errnoOf(err)
		}
		if n == 0 {
			break
		}
		list = parseDirents(list, buf[:n])
	}
	list = slices.DeleteFunc(list, func(d kernel.Dirent) bool { return !shown(d.Name) })
	if asks {
		list = asker.Lists(where, st.Dev, list)
	}
	return shownEntries(t, where, st.Dev, list), 0
}

// shownEntries are the entries of the directory at where, on device dev, as the
// node sees them: sorted, with its inode numbers, /proc with the processes.
func shownEntries(t *kernel.Thread, where string, dev uint64, list []kernel.Dirent) []kernel.Dirent {
	var shown []kernel.Dirent
	for _, d := range list {
		if where == "/" && d.Name == ownDir || where == "/proc" && d.Name == "self" {
			continue
		}
		shown = append(shown, d)
	}
	if where == "/proc" {
		shown = append(shown, processEntries(t)...)
	}
	sort.Slice(shown, func(i, j int) bool { return shown[i].Name < shown[j].Name })
	for i, d := range shown {
		if d.Ino == 0 { // of a virtual one
			shown[i].Ino = virtualInode(t, path.Join(where, d.Name))
		} else {
			shown[i].Ino = t.Node().Files.Inode(inode.Key{Dev: dev, Ino: d.Ino})
		}
	}
	return shown
}

// parseDirents appends what getdents64 stored in b.
func parseDirents(list []kernel.Dirent, b []byte) []kernel.Dirent {
	for len(b) > 0 {
		size := le.Uint16(b[16:])
		name, _, _ := bytes.Cut(b[19:size], []byte{0})
		list = append(list, kernel.Dirent{Ino: le.Uint64(b), Type: b[18], Name: string(name)})
		b = b[size:]
	}
	return list
}

func sysChdir(t *kernel.Thread, a Args) kernel.Result {
	name, e := readPath(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	v, ok := virtualPath(t, atCwd, name)
	o, e := lookupVirtual(t, v)
	switch {
	case ok && e == 0 && (o.kind == fdLink || o.kind == pathLink || o.kind == throughLink) && o.shownTo(t):
		if st, e := statVirtual(t, v, true); e != 0 || st.Dev == inode.DevProc || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return changeToVirtual(t, v)
		}
		if e := redirect(t, -1, 0); e != 0 {
			return kernel.Fail(e)
		}
	case ok:
		return changeToVirtual(t, v)
	}
	if t.Node().Instead != nil {
		return kernel.Fail(unix.ENOENT)
	}
	return changedDir(t, run(t))
}

func sysFchdir(t *kernel.Thread, a Args) kernel.Result {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil {
		return kernel.Fail(unix.EBADF)
	}
	if d, ok := of.File.(*procfs.Dir); ok {
		return changeToVirtual(t, d.Path)
	}
	h, ok := of.File.(*kernel.HostFile)
	if !ok {
		return kernel.Fail(unix.ENOTDIR)
	}
	if !isNodeUser(t) && h.Mode&unix.S_IFMT == unix.S_IFDIR {
		st, e := fdStat(t, fdOf(a[0]))
		if e == 0 {
			e = askerOf(t).permits(&st, kernel.MayExec)
		}
		if e != 0 {
			return kernel.Fail(e)
		}
	}
	return changedDir(t, run(t))
}

// changeToVirtual answers for directories that do not exist in the tree.
func changeToVirtual(t *kernel.Thread, v string) kernel.Result {
	st, e := statVirtual(t, v, true)
	switch {
	case e != 0:
		return kernel.Fail(e)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return kernel.Fail(unix.ENOTDIR)
	}
	t.Node().Refuse(t, "chdir to "+v, "", false)
	return kernel.Fail(unix.EACCES)
}

func changedDir(t *kernel.Thread, r int64) kernel.Result {
	if r == 0 {
		t.Proc.Cwd = readLink(threadPath(t, "cwd"))
	}
	return kernel.Ret(r)
}

func sysMkdir(t *kernel.Thread, a Args) kernel.Result     { return mkdir(t, atCwd, a[0]) }
func sysMkdirat(t *kernel.Thread, a Args) kernel.Result   { return mkdir(t, a[0], a[1]) }
func sysSymlink(t *kernel.Thread, a Args) kernel.Result   { return create(t, atCwd, a[1]) }
func sysSymlinkat(t *kernel.Thread, a Args) kernel.Result { return create(t, a[1], a[2]) }

// mkdir makes a directory. A link in /node that leads beside the spec (spec.Node.Links) is not in
// its way: the program has not made it, and means a directory of its own.
func mkdir(t *kernel.Thread, dirfd, addr uint64) kernel.Result {
	if name, e := readPath(t, addr); e == 0 {
		if _, ok := linkBeside(t, dirfd, name); ok && t.M.Syscall(unix.SYS_UNLINKAT, dirfd, addr, 0) == 0 {
			if dir, e := pathStat(t, dirfd, parentOf(name), true); e == 0 {
				t.Node().Files.Dirty[keyOf(&dir)] = true
			}
		}
	}
	return create(t, dirfd, addr)
}

// create makes a new name by the call as it stands, and gives it times.
func create(t *kernel.Thread, dirfd, addr uint64) kernel.Result {
	r := run(t)
	if r != 0 {
		return kernel.Ret(r)
	}
	if name, e := readPath(t, addr); e == 0 {
		madeName(t, dirfd, name)
	}
	return kernel.Ret(0)
}

func sysMknod(t *kernel.Thread, a Args) kernel.Result { return mknod(t, atCwd, a[0], a[1]) }

func sysMknodat(t *kernel.Thread, a Args) kernel.Result { return mknod(t, a[0], a[1], a[2]) }

func mknod(t *kernel.Thread, dirfd, path, mode uint64) kernel.Result {
	switch mode & unix.S_IFMT {
	case unix.S_IFCHR, unix.S_IFBLK:
		t.Node().Refuse(t, "mknod of a device", formatArgs(t.Call.NR, t.Call.Args), false)
		return kernel.Fail(unix.EPERM)
	}
	return create(t, dirfd, path)
}

func sysUnlink(t *kernel.Thread, a Args) kernel.Result   { return unlink(t, atCwd, a[0]) }
func sysUnlinkat(t *kernel.Thread, a Args) kernel.Result { return unlink(t, a[0], a[1]) }

func unlink(t *kernel.Thread, dirfd, addr uint64) kernel.Result {
	name, e := readPath(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	st, found := pathStat(t, dirfd, name, false)
	at := nameToMove(t, dirfd, name).at
	p := placeOf(t, dirfd, name)
	var gone *dying
	if found == 0 {
		gone = dies(t, p, &st)
	}
	r := run(t)
	if r == 0 {
		unlinked(t, p, gone)
		if found == 0 {
			t.Node().FileChanged(keyOf(&st)) // it may have other names, or be open
			notifyRemoved(t, at, &st)
		}
		namesChanged(t, dirfd, name)
	}
	return kernel.Ret(r)
}

func sysRename(t *kernel.Thread, a Args) kernel.Result {
	return rename(t, atCwd, a[0], atCwd, a[1])
}
func sysRenameat(t *kernel.Thread, a Args) kernel.Result { return rename(t, a[0], a[1], a[2], a[3]) }

func rename(t *kernel.Thread, fromDir, from, toDir, to uint64) kernel.Result {
	old, e := readPath(t, from)
	if e != 0 {
		return kernel.Fail(e)
	}
	name, e := readPath(t, to)
	if e != 0 {
		return kernel.Fail(e)
	}
	replaced, found := pathStat(t, toDir, name, false)
	if source, e := pathStat(t, fromDir, old, false); e == 0 && found == 0 && keyOf(&source) == keyOf(&replaced) {
		return kernel.Ret(run(t)) // Linux does nothing when both are one file
	}
	a, b := nameToMove(t, fromDir, old), nameToMove(t, toDir, name)
	p, q := placeOf(t, fromDir, old), placeOf(t, toDir, name)
	var over *dying
	if found == 0 {
		over = dies(t, q, &replaced)
	}
	r := run(t)
	if r == 0 {
		if found == 0 {
			t.Node().FileChanged(keyOf(&replaced))
		}
		inodeChanged(t, toDir, name, false)
		namesChanged(t, fromDir, old)
		namesChanged(t, toDir, name)
		flags := uint64(0)
		if t.Call.NR == unix.SYS_RENAMEAT2 {
			flags = t.Call.Args[4]
		}
		renamed(t, p, q, over, flags)
		notifyRenamed(t, a, b, flags)
	}
	return kernel.Ret(r)
}

func sysLink(t *kernel.Thread, a Args) kernel.Result {
	return link(t, atCwd, a[0], atCwd, a[1], 0)
}

func sysLinkat(t *kernel.Thread, a Args) kernel.Result { return link(t, a[0], a[1], a[2], a[3], a[4]) }

func link(t *kernel.Thread, fromDir, from, toDir, to, flags uint64) kernel.Result {
	old, e := readPath(t, from)
	if e != 0 {
		return kernel.Fail(e)
	}
	name, e := readPath(t, to)
	if e != 0 {
		return kernel.Fail(e)
	}
	var r int64
	if fd, ok := descriptorPath(t, fromDir, old); ok && flags&unix.AT_SYMLINK_FOLLOW != 0 {
		// How O_TMPFILE files get a name.
		r = linkDescriptor(t, fd, toDir, to)
	} else if v, ok := virtualPath(t, fromDir, old); ok {
		_, e := lookupVirtual(t, v)
		return kernel.Fail(cmp.Or(e, unix.EXDEV))
	} else {
		r = run(t)
	}
	if r == 0 {
		inodeChanged(t, toDir, name, false)
		namesChanged(t, toDir, name)
		linked(t, placeOf(t, fromDir, old), placeOf(t, toDir, name))
		if inotify.Watched(t.Node()) {
			if st, e := pathStat(t, toDir, name, false); e == 0 {
				inotify.Relinked(t.Node(), keyOf(&st))
				inotify.TellInode(t.Node(), keyOf(&st), unix.IN_ATTRIB)
			}
			notifyCreated(t, toDir, name, 0)
		}
	}
	return kernel.Ret(r)
}

// linkDescriptor gives an open file a name.
func linkDescriptor(t *kernel.Thread, fd int, toDir, to uint64) int64 {
	if e := t.M.WriteMem(area.Scratch, []byte{0}); e != 0 {
		return -int64(e)
	}
	return t.M.Syscall(unix.SYS_LINKAT, uint64(fd), area.Scratch, toDir, to, unix.AT_EMPTY_PATH)
}

func sysReadlink(t *kernel.Thread, a Args) kernel.Result {
	return readlink(t, atCwd, a[0], a[1], int(int32(a[2])))
}

func sysReadlinkat(t *kernel.Thread, a Args) kernel.Result {
	return readlink(t, a[0], a[1], a[2], int(int32(a[3])))
}

func readlink(t *kernel.Thread, dirfd, addr, buf uint64, size int) kernel.Result {
	if size <= 0 {
		return kernel.Fail(unix.EINVAL)
	}
	name, e := readPath(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	v, ok := virtualPath(t, dirfd, name)
	if x := t.Node().Instead; !ok && x != nil {
		return readlinkInstead(x)
	}
	if !ok {
		return kernel.Native
	}
	target, e := virtualLink(t, v)
	if e != 0 {
		return kernel.Fail(e)
	}
	if o, _ := lookupVirtual(t, v); o.kind == throughLink {
		if e := putScratch(t, o.path); e != 0 {
			return kernel.Fail(e)
		}
		return kernel.Ret(t.M.Syscall(unix.SYS_READLINK, area.Scratch, buf, uint64(size)))
	}
	target = target[:min(len(target), size)]
	return kernel.RetOr(len(target), t.M.WriteMem(buf, []byte(target)))
}
