//go:build linux

package crash

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/system/checker"

	"golang.org/x/sys/unix"
)

// slot is a directory in which one image after the other lies. It costs as much to put the next one
// there as it is different from the one before, besides a look at each file.
//
// What a checker has done to an image never gets into the next one. A file stays only if nobody can
// have changed it: stat shows what it showed (but that it was read), and its inode was not opened
// to be written (inotify, which tells of opening by whatever name), nor is it now (a lease can be
// taken). Every other one is removed and written anew, and so are files that have several names.
// Where any of this cannot be found out all are.
type slot struct {
	dir    string
	notify int // an inotify instance, or -1
	root   *placed
	// Of what is watched: the files, and those that may have been opened or changed since they were
	// put there.
	watched map[int32]*placed
	lost    bool // not all is known of that
}

// placed is a file as it was put there.
type placed struct {
	of      *file
	sum     statSum
	names   map[string]*placed // of a directory
	watch   int32              // or 0
	opened  bool
	changed bool
}

// statSum is what stat shows of a file that nobody has changed, and when it was read last.
type statSum struct {
	ino, size, links uint64
	mode, uid, gid   uint32
	modify, change   unix.Timespec
	read             unix.Timespec
}

func statOfFile(name string) (s statSum, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return s, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return statSum{st.Ino, uint64(st.Size), uint64(st.Nlink), st.Mode, st.Uid, st.Gid, st.Mtim, st.Ctim, st.Atim}, nil
}

func newSlot(dir string) *slot { return &slot{dir: dir, notify: -1} }

// listen begins to hear of what happens to files.
func (p *slot) listen() {
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
		p.notify = fd
	}
	p.watched, p.lost = map[int32]*placed{}, false
}

// close lets go of what tells of files. Images may be put there all the same.
func (p *slot) close() {
	if p.notify >= 0 {
		unix.Close(p.notify)
	}
	p.notify, p.root = -1, nil
}

// put makes what lies in the directory an image.
func (p *slot) put(t *tree) error {
	if p.goesOn() && p.update(t.find(home)) == nil {
		return nil
	}
	if err := clearDir(p.dir); err != nil {
		return err
	}
	p.close()
	p.listen() // anew: what is heard of removed files does not count
	return p.fill(t)
}

// fill puts an image into the directory, which is empty.
func (p *slot) fill(t *tree) error {
	p.root = &placed{of: &file{attr: directory}}
	return p.update(t.find(home))
}

// goesOn reports whether it is known of all that lies in the directory whether it was changed.
func (p *slot) goesOn() bool {
	if p.root == nil || p.notify < 0 {
		return false
	}
	p.hear()
	now, err := statOfFile(p.dir)
	return err == nil && now.ino == p.root.sum.ino && !p.lost
}

// update makes what lies in the directory what is in another one.
func (p *slot) update(root *file) error {
	u := &update{slot: p, written: map[uint64]string{}}
	if err := u.directory(p.dir, p.root, root); err != nil {
		p.root = nil
		return err
	}
	p.forget()
	return nil
}

// hear notes which files may have been opened or changed.
func (p *slot) hear() {
	b := make([]byte, 1<<16)
	for {
		n, err := unix.Read(p.notify, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			p.lost = p.lost || err != unix.EAGAIN
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&b[at]))
			at += unix.SizeofInotifyEvent + int(e.Len)
			p.lost = p.lost || e.Mask&unix.IN_Q_OVERFLOW != 0
			if e.Mask&unix.IN_IGNORED != 0 { // it was removed
				delete(p.watched, e.Wd)
			} else if f := p.watched[e.Wd]; f != nil {
				f.opened = f.opened || e.Mask&unix.IN_OPEN != 0
				f.changed = f.changed || e.Mask&^(unix.IN_OPEN|unix.IN_ISDIR) != 0
			}
		}
	}
}

// forget lets go of what was heard of who puts files there.
func (p *slot) forget() {
	if p.notify < 0 {
		return
	}
	p.hear()
	var all func(f *placed)
	all = func(f *placed) {
		f.opened, f.changed = false, false
		for _, g := range f.names {
			all(g)
		}
	}
	all(p.root)
}

// update puts an image in the place of the one before.
type update struct {
	*slot
	written map[uint64]string // files that have several names, by one of them
	done    int               // directories
}

// kept reports whether a file is as it was put there: nobody has changed it, or can still do so.
// read: somebody may have read it.
func (p *slot) kept(name string, was *placed) (kept, read bool) {
	if was == nil || was.changed {
		return false, false
	}
	now, err := statOfFile(name)
	if err != nil {
		return false, false
	}
	if read = now.read != was.sum.read; read {
		now.read = was.sum.read
	}
	if was.of.directory() { // what is in it is looked at besides
		return now.ino == was.sum.ino && now.mode == was.sum.mode && now.uid == was.sum.uid && now.gid == was.sum.gid, true
	}
	if now != was.sum || len(was.of.links) > 1 {
		return false, false
	}
	if !was.of.regular() {
		return true, read
	}
	if was.watch == 0 {
		return false, false
	}
	return !was.opened || unwritten(name), read || was.opened
}

// unwritten reports whether nobody has a file open to write it, or mapped.
func unwritten(name string) bool {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// file makes what has a name a file of the image. was is what was put there, or nil.
func (u *update) file(name string, was *placed, f *file) (now *placed, err error) {
	several := !f.directory() && len(f.links) > 1
	if kept, read := u.kept(name, was); kept && !several {
		switch {
		case f.directory() && was.of.directory():
			return was, u.directory(name, was, f)
		case was.of == f && !read:
			return was, nil
		case was.of == f:
			return was, u.settle(name, was, f)
		case f.regular() && was.of.regular() && maps.Equal(f.xattrs, was.of.xattrs):
			if err := f.data.rewrite(name, was.of.data); err != nil {
				return nil, err
			}
			return was, u.settle(name, was, f)
		}
	}
	if was != nil {
		checker.Remove(name)
	}
	if first, ok := u.written[f.id]; ok {
		return &placed{of: f}, os.Link(first, name)
	}
	if several {
		u.written[f.id] = name
	}
	now = &placed{of: f}
	watched := uint32(0)
	switch f.attr.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if err := os.Mkdir(name, 0o700); err != nil {
			return nil, err
		}
		now.of = &file{attr: directory}
		return now, u.directory(name, now, f)
	case unix.S_IFLNK:
		err = os.Symlink(f.target, name)
	case unix.S_IFREG:
		err = f.data.write(name, 0o600)
		watched = unix.IN_OPEN | unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_ATTRIB
	default:
		err = unix.Mknod(name, f.attr.Mode, int(f.attr.Rdev))
	}
	if err == nil {
		err = f.writeXattrs(name)
	}
	if err == nil {
		err = u.settle(name, now, f)
	}
	if err == nil && watched != 0 {
		u.watch(name, now, watched)
	}
	return now, err
}

// directory makes a directory, which is there, one of the image, with all that is in it.
func (u *update) directory(name string, was *placed, f *file) error {
	if err := os.Chmod(name, 0o700); err != nil {
		return err
	}
	if was.changed || !maps.Equal(was.of.xattrs, f.xattrs) {
		if err := removeXattrs(name); err != nil {
			return err
		}
		if err := f.writeXattrs(name); err != nil {
			return err
		}
	}
	there, err := namesIn(name)
	if err != nil {
		return err
	}
	for _, n := range there {
		if f.names.get(n) == nil || was.names[n] == nil {
			checker.Remove(filepath.Join(name, n))
		}
	}
	names := make(map[string]*placed, f.names.len())
	for n, child := range f.names.each() {
		if names[n], err = u.file(filepath.Join(name, n), was.names[n], child); err != nil {
			return err
		}
	}
	was.names = names
	if err := u.settle(name, was, f); err != nil {
		return err
	}
	if was.watch == 0 {
		u.watch(name, was, unix.IN_ATTRIB|unix.IN_ONLYDIR)
	}
	// what is heard of this does not count, but would come to be too much
	if u.done++; u.done%64 == 0 && u.notify >= 0 {
		u.hear()
	}
	return nil
}

// namesIn lists a directory.
func namesIn(name string) ([]string, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// settle gives a file that is there its mode and its times, last of all, and notes how it was put
// there.
func (u *update) settle(name string, now *placed, f *file) (err error) {
	if f.attr.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Chmod(name, f.attr.Mode&0o7777); err != nil {
			return &fs.PathError{Op: "chmod", Path: name, Err: err}
		}
	}
	if err := f.writeTimes(name); err != nil {
		return err
	}
	now.of = f
	now.sum, err = statOfFile(name)
	return err
}

// watch has it told what happens to a file. A file of which nobody can tell is written anew each
// time.
func (u *update) watch(name string, f *placed, what uint32) {
	if u.notify < 0 {
		return
	}
	if wd, err := unix.InotifyAddWatch(u.notify, name, what|unix.IN_DONT_FOLLOW); err == nil {
		f.watch = int32(wd)
		u.watched[f.watch] = f
	}
}

// removeXattrs takes away all extended attributes that anybody may give.
func removeXattrs(name string) error {
	b := make([]byte, 1<<16) // as much as Linux has at most
	n, err := unix.Llistxattr(name, b)
	if err != nil && err != unix.ENOTSUP {
		return &fs.PathError{Op: "listxattr", Path: name, Err: err}
	}
	for x := range strings.SplitSeq(strings.TrimSuffix(string(b[:max(n, 0)]), "\x00"), "\x00") {
		if strings.HasPrefix(x, "user.") {
			unix.Lremovexattr(name, x)
		}
	}
	return nil
}

// clearDir removes all that is in a directory of images, which is there afterwards.
func clearDir(dir string) error {
	if _, err := os.Lstat(dir); os.IsNotExist(err) { // the checker has moved it or removed it
		return os.Mkdir(dir, 0o700)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if err := removeXattrs(dir); err != nil {
		return err
	}
	return checker.Empty(dir)
}
