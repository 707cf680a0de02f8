//go:build linux

package crash

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/system/checker"

	"golang.org/x/sys/unix"
)

// slot is a directory in which one image after the other lies. It costs as much to put the next one
// there as it is different from the one before, and as there are files that were opened since,
// besides a look at each directory, link and device.
//
// Changes of a checker to an image never get into the next image. A file stays only if nobody can
// have changed it: stat shows what it showed (but that it was read), and its inode was not opened
// to be written (inotify, which tells of opening by whatever name), nor is it now (a lease can be
// taken). Every other one is removed and written anew, and so are files that have several names.
// Where any of this cannot be found out all are. A file that nobody has opened or changed since it
// was looked at is not looked at again.
type slot struct {
	dir     string
	notify  int // an inotify instance, or -1
	root    *placed
	log     *placed           // what the checker was told last, beside the directory; or nil
	logged  *logged           // likewise
	watched map[int32]*placed // the files of which inotify tells
	lost    bool              // it has not told all
	looks   int               // at files, since there is a slot
}

// placed is a file as it was put there.
type placed struct {
	of    *file
	sum   statSum
	names map[string]*placed // of a directory
	in    *placed            // the directory that it was put into, or nil
	name  string             // there
	// Of a directory: names that are looked at though they stand for the same in the next image.
	suspects map[string]bool
	watch    int32 // or 0
	opened   bool  // it may have been since it was put there
	changed  bool  // likewise: its data, its attributes or, of a directory, its names
}

// steady reports whether it stays as it is as long as inotify tells nothing of it.
func (f *placed) steady() bool { return f.watch != 0 && f.of.regular() && len(f.of.links) <= 1 }

// suspect has it looked at when the next image comes.
func (f *placed) suspect() {
	if f.in != nil {
		f.in.suspects[f.name] = true
	}
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
	p.watched, p.lost, p.log = map[int32]*placed{}, false, nil
}

// close lets go of what tells of files. Images may be put there all the same.
func (p *slot) close() {
	if p.notify >= 0 {
		unix.Close(p.notify)
	}
	p.notify, p.root, p.log = -1, nil, nil
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
	p.root = newDirectory()
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
	u.forget()
	return nil
}

// newDirectory is one that was made and has nothing in it yet.
func newDirectory() *placed {
	return &placed{of: &file{attr: directory}, names: map[string]*placed{}, suspects: map[string]bool{}}
}

// ofFiles are the events at which somebody opens a file or changes it.
const ofFiles = unix.IN_OPEN | unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_ATTRIB

// ofNames are the events at which the names in a directory change.
const ofNames = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE

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
			// With a name it is told of a file in the directory, which has a watch of its own.
			itself := e.Len == 0 || e.Mask&ofNames != 0
			if e.Mask&unix.IN_IGNORED != 0 { // it was removed
				delete(p.watched, e.Wd)
			} else if f := p.watched[e.Wd]; f != nil && itself {
				f.opened = f.opened || e.Mask&unix.IN_OPEN != 0
				f.changed = f.changed || e.Mask&^(unix.IN_OPEN|unix.IN_ISDIR) != 0
				f.suspect()
			}
		}
	}
}

// update puts an image in the place of the one before.
type update struct {
	*slot
	written map[uint64]string // files that have several names, by one of them
	touched []*placed         // what it has opened or changed
}

// forget lets go of what was heard of the update itself. The files that it has touched are looked
// at once more, for somebody else may have opened them meanwhile.
func (u *update) forget() {
	if u.notify < 0 {
		return
	}
	u.hear()
	for _, f := range u.touched {
		f.opened, f.changed = false, false
	}
}

// kept reports whether a file is as it was put there: nobody has changed it, or can still do so.
// read: somebody may have read it.
func (p *slot) kept(name string, was *placed) (kept, read bool) {
	if was == nil || was.changed {
		return false, false
	}
	p.looks++
	now, err := statOfFile(name)
	if err != nil {
		return false, false
	}
	if read = now.read != was.sum.read; read {
		now.read = was.sum.read
	}
	if was.of.directory() { // what is in it is looked at besides
		return now.ino == was.sum.ino && now.mode == was.sum.mode && now.uid == was.sum.uid && now.gid == was.sum.gid,
			true
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
		return &placed{of: f}, os.Link(first, name) // never steady
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
		now = newDirectory()
		return now, u.directory(name, now, f)
	case unix.S_IFLNK:
		err = os.Symlink(f.target, name)
	case unix.S_IFREG:
		err = f.data.write(name, 0o600)
		watched = ofFiles
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
	u.looks++
	there, err := statOfFile(name)
	if err != nil {
		return err
	}
	if there.mode&0o700 != 0o700 {
		if err := os.Chmod(name, 0o700); err != nil {
			return err
		}
	}
	if was.changed || !maps.Equal(was.of.xattrs, f.xattrs) {
		if err := removeXattrs(name); err != nil {
			return err
		}
		if err := f.writeXattrs(name); err != nil {
			return err
		}
	}
	// who makes or removes a name changes both times, also of a directory of which inotify does not
	// tell
	same := !was.changed && there.modify == was.sum.modify && there.change == was.sum.change
	names, err := u.names(name, was, f, same)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := u.entry(name, n, was, f.names.get(n)); err != nil {
			return err
		}
	}
	if now, err := statOfFile(name); err != nil {
		return err
	} else if was.of != f || was.changed || now != was.sum {
		if err := u.settle(name, was, f); err != nil {
			return err
		}
	}
	if was.watch == 0 {
		u.watch(name, was, unix.IN_ATTRIB|ofNames|unix.IN_ONLYDIR)
	}
	return nil
}

// names are those in a directory that are to be looked at. If it has the same ones as it was left
// with, these are such as do not stand for the same in the next image, and suspects.
func (u *update) names(name string, was *placed, f *file, same bool) (names []string, err error) {
	look := maps.Clone(was.suspects)
	if same {
		differing(was.of.names, f.names, func(n string, _, _ *file) { look[n] = true })
		return slices.Sorted(maps.Keys(look)), nil
	}
	there, err := namesIn(name)
	if err != nil {
		return nil, err
	}
	for _, n := range there {
		look[n] = true
	}
	for n := range f.names.each() {
		look[n] = true
	}
	return slices.Sorted(maps.Keys(look)), nil
}

// entry makes what a name in a directory stands for a file of the image, or removes it.
func (u *update) entry(dir, name string, in *placed, f *file) (err error) {
	at, was, touched := filepath.Join(dir, name), in.names[name], len(u.touched)
	if f == nil || was == nil {
		checker.Remove(at)
	}
	if f == nil {
		delete(in.names, name)
		delete(in.suspects, name)
		return nil
	}
	now, err := u.file(at, was, f)
	if err != nil {
		return err
	}
	now.in, now.name = in, name
	in.names[name] = now
	if now.steady() && len(u.touched) == touched {
		delete(in.suspects, name)
	} else {
		now.suspect()
	}
	// what is heard of this does not count, but would come to be too much
	if u.notify >= 0 && len(u.touched)/512 != touched/512 {
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
	u.touched = append(u.touched, now)
	return err
}

// watch has it told what happens to a file. A file of which nobody can tell is written anew each
// time.
func (p *slot) watch(name string, f *placed, what uint32) {
	if p.notify < 0 {
		return
	}
	if wd, err := unix.InotifyAddWatch(p.notify, name, what|unix.IN_DONT_FOLLOW); err == nil {
		f.watch = int32(wd)
		p.watched[f.watch] = f
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
