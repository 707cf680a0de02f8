//go:build linux

// Package filetree gives a node's own files versions. All copies of a node share
// one real tree on a tmpfs, which shows the state of one of them at a time:
// Capture takes a state, Restore brings one back. Both cost what has changed.
//
// Files keep their inodes over any number of changes, because open descriptors
// and mappings of frozen processes refer to them: each file has a second, hidden
// name, and a directory that a state does not have is moved aside, not removed. Only
// a directory that the program itself removed must be made anew; it goes on under
// the number of the old one (Recreated).
//
// It relies on what a tmpfs does: inode numbers are not used again.
//
// It knows nothing of processes; who says what has changed is the caller, who sees
// every call that changes a file.
package filetree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

type page [pageSize]byte

// pages are read at once.
type pages [32]page

func (p *pages) bytes() []byte { return unsafe.Slice(&p[0][0], len(p)*pageSize) }

// Content is the bytes of one file. Pages that were never written are absent. It
// does not change, and shares what did not change with earlier ones.
type Content struct {
	Size  int64
	pages map[int64]*page // by offset / pageSize
	// sum is its digest and sums those of pages, as far as anybody has asked.
	sum  *digest          `encode:"-"`
	sums map[*page]digest `encode:"-"`
}

// entry is one name in the tree.
type entry struct {
	ino      uint64 // of a directory that was made anew: of the first one
	mode     uint32
	uid, gid uint32
	target   string // of a symbolic link
}

func (e entry) kind() uint32 { return e.mode & unix.S_IFMT }

// State is the whole tree at one moment. It does not change.
type State struct {
	names *names // shared with the states before it when they are the same
	files map[uint64]*Content
}

// names are what is in the tree.
type names struct {
	entries map[string]entry // by path from the tree's root
	sorted  []string         // parents before children
}

func newNames(entries map[string]entry) *names {
	return &names{entries, slices.Sorted(maps.Keys(entries))}
}

// Tree is the real tree of one node.
type Tree struct {
	base  string // path of the tree's root
	dirs  []string
	store string // where hidden names are, below base
	cur   *State
	open  map[uint64]*os.File // files that have no name in the tree, by inode
	again map[uint64]uint64   // Recreated
	// linked are the files that have a hidden name, by inode; it is never taken away.
	linked map[uint64]bool
	lent   map[string]uint32     // true modes of directories to which in has access
	listed map[string]dirTime    // when the names of directories were looked at
	made   map[foreignFile]entry // counterparts of files that another tree has made
}

// dirTime says which directory it was, and since when its inode has been the same.
type dirTime struct {
	ino   uint64
	since unix.Timespec
}

// New returns the tree at base, of which only dirs (paths from base) can change;
// store is a directory of base, in none of them, for hidden names.
func New(base string, dirs []string, store string) (*Tree, error) {
	t := &Tree{base: base, dirs: dirs, store: path.Join(base, store), open: map[uint64]*os.File{},
		linked: map[uint64]bool{}, lent: map[string]uint32{}, listed: map[string]dirTime{},
		again: map[uint64]uint64{}, cur: &State{names: newNames(nil), files: map[uint64]*Content{}}}
	if err := os.MkdirAll(t.store, 0o700); err != nil {
		return nil, fmt.Errorf("file tree: %w", err)
	}
	return t, nil
}

// Close gives up what the tree holds; the files stay.
func (t *Tree) Close() {
	for _, f := range t.open {
		f.Close()
	}
	t.open = nil
}

// Adopt follows a file that is open but has no name in the tree. The tree takes f.
func (t *Tree) Adopt(ino uint64, f *os.File) {
	if t.open[ino] != nil {
		f.Close()
		return
	}
	t.open[ino] = f
}

// Adopted reports whether the tree follows a file by no name.
func (t *Tree) Adopted(ino uint64) bool { return t.open[ino] != nil }

// AdoptUnlinked follows a file on that has lost its last name, if the tree knew one.
func (t *Tree) AdoptUnlinked(ino uint64) error {
	var st unix.Stat_t
	if t.open[ino] != nil || !t.linked[ino] {
		return nil
	}
	if err := unix.Lstat(t.hidden(ino), &st); err != nil || st.Nlink > 1 {
		return err
	}
	f, err := Open(t.hidden(ino))
	if err == nil {
		t.open[ino] = f
	}
	return err
}

// Follows reports whether the file is known, by a name or because it was adopted.
func (t *Tree) Follows(ino uint64) bool { return t.cur.files[ino] != nil || t.open[ino] != nil }

// Recreated says which directories stand for one that the program removed and an
// earlier state has: the inode number of the first by that of the new one. It grows
// with Restore. nil: there is none.
func (t *Tree) Recreated() map[uint64]uint64 {
	if len(t.again) == 0 {
		return nil
	}
	return t.again
}

// Name returns a name of the file in s, by its inode number.
func (s *State) Name(ino uint64) (name string, ok bool) {
	for name, e := range s.names.entries {
		if e.ino == ino {
			return name, true
		}
	}
	return "", false
}

// Capture returns the tree's state. changed are the files and directories that may
// be other than in the last state captured or restored, by inode number; nil: all.
// fresh are the files that got a hidden name: their link count is one too high from
// now on.
func (t *Tree) Capture(changed map[uint64]bool) (s *State, fresh []uint64, err error) {
	s = &State{files: map[uint64]*Content{}}
	defer func() { err = errors.Join(err, t.giveBack()) }()
	if t.namesStay(changed) {
		err = t.review(s, changed)
	} else {
		fresh, err = t.explore(s, changed)
	}
	for ino, f := range t.open {
		if err == nil && s.files[ino] == nil {
			s.files[ino], err = t.content(ino, f, changed)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("file tree: %w", err)
	}
	t.cur = s
	return s, fresh, nil
}

// namesStay reports whether all names mean what they meant. A call that makes or takes a name
// changes a directory, and the new file is not known.
func (t *Tree) namesStay(changed map[uint64]bool) bool {
	if changed == nil {
		return false
	}
	for ino := range changed {
		if t.cur.files[ino] == nil && t.open[ino] == nil {
			return false
		}
	}
	return len(t.cur.names.entries) > 0
}

// review enters the files, of which the changed ones are looked at.
func (t *Tree) review(s *State, changed map[uint64]bool) error {
	s.names, s.files = t.cur.names, maps.Clone(t.cur.files)
	seen := map[uint64]bool{}
	for name, was := range t.cur.names.entries {
		if was.kind() != unix.S_IFREG || !changed[was.ino] {
			continue
		}
		e, err := t.look(name)
		if err != nil {
			return err
		}
		if e != was {
			if s.names == t.cur.names {
				s.names = &names{maps.Clone(t.cur.names.entries), t.cur.names.sorted}
			}
			s.names.entries[name] = e
		}
		if !seen[e.ino] {
			seen[e.ino] = true
			if s.files[e.ino], err = t.read(name, e.ino, changed); err != nil {
				return err
			}
		}
	}
	for ino := range t.open {
		if changed[ino] && !seen[ino] {
			delete(s.files, ino) // Capture reads it
		}
	}
	return nil
}

// explore enters what is found in the tree.
func (t *Tree) explore(s *State, changed map[uint64]bool) (fresh []uint64, err error) {
	x := exploration{s: s, changed: changed, entries: map[string]entry{}, known: map[string][]string{}}
	for _, name := range t.cur.names.sorted {
		dir := path.Dir(name)
		x.known[dir] = append(x.known[dir], name)
	}
	for _, d := range t.dirs {
		if err := t.capture(&x, d); err != nil {
			return nil, err
		}
		if err := t.walk(&x, d); err != nil {
			return nil, err
		}
	}
	s.names = newNames(x.entries)
	return x.fresh, nil
}

// exploration is what explore finds.
type exploration struct {
	s       *State
	changed map[uint64]bool // see Capture
	entries map[string]entry
	fresh   []uint64
	known   map[string][]string // by directory, the names that were in it last
}

func (t *Tree) walk(x *exploration, dir string) error {
	full := path.Join(t.base, dir)
	var st unix.Stat_t
	if err := t.in(func() error { return unix.Lstat(full, &st) }, path.Dir(full)); err != nil {
		return &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	// Linux changes this time when a directory gets another name, or loses one, but maybe not twice
	// in a tick of its clock: who makes the change says so, too. The time stays when the parent
	// gets another name.
	since := dirTime{st.Ino, st.Ctim}
	is, was := x.entries[dir], t.cur.names.entries[dir]
	if t.listed[dir] == since && x.changed != nil && !x.changed[is.ino] && is.same(was) {
		for _, name := range x.known[dir] {
			if err := t.keep(x, name); err != nil {
				return err
			}
		}
		return nil
	}
	var list []os.DirEntry
	err := t.in(func() (err error) { list, err = os.ReadDir(full); return err }, full)
	if err != nil {
		return err
	}
	t.listed[dir] = since
	for _, d := range list {
		name := path.Join(dir, d.Name())
		if err := t.capture(x, name); err != nil {
			return err
		}
		if d.IsDir() {
			if err := t.walk(x, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep enters a name that the tree has had, and that still stands for the same.
func (t *Tree) keep(x *exploration, name string) error {
	was := t.cur.names.entries[name]
	content := t.cur.files[was.ino]
	switch {
	case was.kind() == unix.S_IFDIR:
		if err := t.capture(x, name); err != nil {
			return err
		}
		return t.walk(x, name)
	case x.changed[was.ino] || was.kind() == unix.S_IFREG && content == nil:
		return t.capture(x, name)
	}
	x.entries[name] = was
	if content != nil {
		x.s.files[was.ino] = content
	}
	return nil
}

// capture enters one name.
func (t *Tree) capture(x *exploration, name string) error {
	e, err := t.look(name)
	if err != nil {
		return err
	}
	x.entries[name] = e
	if e.kind() != unix.S_IFDIR && !t.linked[e.ino] {
		full := path.Join(t.base, name)
		switch err := t.in(func() error { return os.Link(full, t.hidden(e.ino)) }, path.Dir(full)); {
		case err == nil:
			x.fresh = append(x.fresh, e.ino)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
		t.linked[e.ino] = true
	}
	if e.kind() == unix.S_IFREG && x.s.files[e.ino] == nil {
		x.s.files[e.ino], err = t.read(name, e.ino, x.changed)
	}
	return err
}

// look returns what a name stands for.
func (t *Tree) look(name string) (entry, error) {
	full := path.Join(t.base, name)
	var st unix.Stat_t
	if err := t.in(func() error { return unix.Lstat(full, &st) }, path.Dir(full)); err != nil {
		return entry{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	e := entry{ino: st.Ino, mode: st.Mode, uid: st.Uid, gid: st.Gid}
	switch e.kind() {
	case unix.S_IFLNK:
		target, err := os.Readlink(full)
		if err != nil {
			return entry{}, err
		}
		e.target = target
	case unix.S_IFDIR:
		if ino, ok := t.again[e.ino]; ok {
			e.ino = ino
		}
	}
	return e, nil
}

// read returns the content of the file of a name.
func (t *Tree) read(name string, ino uint64, changed map[uint64]bool) (*Content, error) {
	if old := t.cur.files[ino]; old != nil && changed != nil && !changed[ino] {
		return old, nil
	}
	full := path.Join(t.base, name)
	var f *os.File
	err := t.in(func() (err error) { f, err = Open(full); return err }, path.Dir(full))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return t.content(ino, f, changed)
}

func (t *Tree) hidden(ino uint64) string {
	return path.Join(t.store, strconv.FormatUint(ino, 10))
}

// content reads what is in f, sharing pages with the content known before. It gives reserved space
// back that was never written: programs reserve space by the 64 MB, and a file that only some
// states have keeps its space.
func (t *Tree) content(ino uint64, f *os.File, changed map[uint64]bool) (*Content, error) {
	old := t.cur.files[ino]
	if old != nil && changed != nil && !changed[ino] {
		return old, nil
	}
	if old == nil {
		old = &Content{}
	}
	return readContent(f, old)
}

// readContent is what f holds; pages that are as in old are shared with it.
func readContent(f *os.File, old *Content) (*Content, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c := &Content{Size: info.Size(), pages: make(map[int64]*page, len(old.pages))}
	same := c.Size == old.Size
	fd := int(f.Fd())
	var holes [][2]int64
	var buf pages
	for at := int64(0); at < c.Size; {
		from, err := unix.Seek(fd, at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			holes = append(holes, [2]int64{at, c.Size})
			break
		}
		if err != nil {
			return nil, err
		}
		if from > at {
			holes = append(holes, [2]int64{at, from})
		}
		to, err := unix.Seek(fd, from, unix.SEEK_HOLE)
		if err != nil {
			return nil, err
		}
		for n := from / pageSize; n*pageSize < to; n += int64(len(buf)) {
			read, err := unix.Pread(fd, buf.bytes(), n*pageSize)
			if err != nil {
				return nil, err
			}
			clear(buf.bytes()[read:])
			for i := range min(int64(len(buf)), (to-n*pageSize+pageSize-1)/pageSize) {
				now, p := &buf[i], old.pages[n+i]
				if p == nil || *p != *now {
					same = same && p == nil && *now == page{}
					p = new(page)
					*p = *now
				}
				c.pages[n+i] = p
			}
		}
		at = to
	}
	if held := info.Sys().(*syscall.Stat_t).Blocks * 512; held > int64(len(c.pages))*pageSize {
		release(fd, holes)
	}
	if same && len(c.pages) >= len(old.pages) {
		return old, nil
	}
	c.inherit(old)
	return c, nil
}

// release gives back the memory of parts of a file in which nothing was written. That
// costs as much as there are mappings of the file, in all frozen copies together.
// When it cannot be, for want of the right to write, it is only not saved.
func release(fd int, holes [][2]int64) {
	for _, h := range holes {
		unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, h[0], h[1]-h[0])
	}
}

// Restore makes the tree what it was in s. Between the last Capture or Restore and
// this one nothing may have changed it.
func (t *Tree) Restore(s *State) (err error) {
	if s == t.cur {
		return nil
	}
	defer func() { err = errors.Join(err, t.giveBack()) }()
	if s.names != t.cur.names {
		stays := t.stays(s)
		if err := t.remove(stays); err != nil {
			return fmt.Errorf("file tree: %w", err)
		}
		if err := t.create(s, stays); err != nil {
			return fmt.Errorf("file tree: %w", err)
		}
	}
	if err := t.fill(s); err != nil {
		return fmt.Errorf("file tree: %w", err)
	}
	t.cur = s
	return nil
}

func (e entry) same(o entry) bool { return e.ino == o.ino && e.kind() == o.kind() }

// stays returns the names that mean the same in s as now: all directories on the way
// are the same ones too.
func (t *Tree) stays(s *State) map[string]bool {
	stays := map[string]bool{}
	for _, name := range s.names.sorted {
		parent := path.Dir(name)
		if _, inside := s.names.entries[parent]; inside && !stays[parent] {
			continue
		}
		if e, ok := t.cur.names.entries[name]; ok && e.same(s.names.entries[name]) {
			stays[name] = true
		}
	}
	return stays
}

// remove takes away the names that do not stay, children before parents.
func (t *Tree) remove(stays map[string]bool) error {
	for _, name := range slices.Backward(t.cur.names.sorted) {
		if stays[name] {
			continue
		}
		e := t.cur.names.entries[name]
		full := path.Join(t.base, name)
		var err error
		if e.kind() == unix.S_IFDIR {
			err = t.in(func() error { return os.Rename(full, t.hidden(e.ino)) }, full)
		} else {
			err = t.in(func() error { return os.Remove(full) }, path.Dir(full))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// create brings back the names that the tree does not have.
func (t *Tree) create(s *State, stays map[string]bool) error {
	for _, name := range s.names.sorted {
		e := s.names.entries[name]
		full := path.Join(t.base, name)
		if !stays[name] {
			if err := t.bring(full, e); err != nil {
				return err
			}
		} else if e == t.cur.names.entries[name] {
			continue
		}
		if err := t.in(func() error { return unix.Lchown(full, int(e.uid), int(e.gid)) }, path.Dir(full)); err != nil {
			return &fs.PathError{Op: "chown", Path: name, Err: err}
		}
		if e.kind() == unix.S_IFLNK {
			continue
		}
		if err := t.in(func() error { return unix.Chmod(full, e.mode&0o7777) }, path.Dir(full)); err != nil {
			return &fs.PathError{Op: "chmod", Path: name, Err: err}
		}
		delete(t.lent, full)
	}
	return nil
}

// bring gives the object of e its name again.
func (t *Tree) bring(full string, e entry) error {
	if e.kind() != unix.S_IFDIR {
		return t.in(func() error { return os.Link(t.hidden(e.ino), full) }, path.Dir(full))
	}
	err := t.in(func() error { return os.Rename(t.hidden(e.ino), full) }, t.hidden(e.ino), path.Dir(full))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The program itself removed it: nobody can tell the new one from it, unless it
	// is somebody's working directory.
	if err := t.in(func() error { return os.Mkdir(full, 0o700) }, path.Dir(full)); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(full, &st); err != nil {
		return &fs.PathError{Op: "lstat", Path: full, Err: err}
	}
	t.again[st.Ino] = e.ino
	return nil
}

// fill gives the files their content.
func (t *Tree) fill(s *State) error {
	for ino, c := range s.files {
		old := t.cur.files[ino]
		if old == c {
			continue
		}
		f, err := t.file(ino)
		if err != nil {
			return err
		}
		if old == nil {
			// What it holds is not known. To empty it first would take from frozen processes
			// what they have changed in private mappings of it.
			old, err = readContent(f, c)
		}
		if err == nil {
			err = rewrite(f, old, c)
		}
		if t.open[ino] != f {
			f.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) file(ino uint64) (*os.File, error) {
	f := t.open[ino]
	if f == nil {
		return Open(t.hidden(ino))
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDWR {
		return f, err
	}
	// It was being executed when it was opened, and may be no more.
	again, err := Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err == nil {
		f.Close()
		t.open[ino] = again
	}
	return again, err
}

// rewrite changes a file from content old to c.
func rewrite(f *os.File, old, c *Content) error {
	if old.Size != c.Size {
		if err := f.Truncate(c.Size); err != nil {
			return err
		}
	}
	for n := range old.pages {
		if c.pages[n] == nil && n*pageSize < c.Size {
			err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, n*pageSize, pageSize)
			if err != nil {
				return err
			}
		}
	}
	for n, p := range c.pages {
		was := old.pages[n]
		if was == p {
			continue
		}
		// Of the last page only what is inside the file.
		if _, err := f.WriteAt(p[:min(pageSize, c.Size-n*pageSize)], n*pageSize); err != nil {
			return err
		}
	}
	return nil
}
