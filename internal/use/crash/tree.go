//go:build linux

package crash

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// home is where a node has its files.
const home = "/node"

// tree is the files of a node in memory: those that its directory held, and what operations have
// made of them. It costs as much to get a tree of an image as the image is different, for trees
// share what is the same in them.
type tree struct {
	root *file
	// Of one that operations are applied to, all files by their own numbers, as they are now, and
	// these by the numbers of operations.
	files map[uint64]*file
	known map[uint64]uint64
}

// file is an inode, as it is at some time: it does not change. Of a changed one there is another
// version, and so is of all directories above it.
type file struct {
	id     uint64 // the same in all versions, 0 the root's
	attr   disk.Attr
	before int64    // its time of modification at first
	names  *names   // of a directory
	data   *content // of a regular file
	target string   // of a symbolic link
	// xattrs are its extended attributes; the map is not changed. Nodes are given copies of files
	// without any.
	xattrs map[string]string
	links  []link // its names, also in directories that have none
	summed bool   // alone is known
	alone  sum    // over what is in it and below, but not of which files have several names
}

// link is a name in a directory.
type link struct {
	dir  uint64
	name string
}

// draft is a file that is to be put into a tree, with what is below it. One that is there twice has
// two names.
type draft struct {
	file
	names map[string]*draft
}

func draftDirectory() *draft {
	return &draft{file: file{attr: directory}, names: map[string]*draft{}}
}

// directory are the attributes of one that the node had from elsewhere.
var directory = disk.Attr{Mode: unix.S_IFDIR | 0o755, Access: inode.Epoch, Modify: inode.Epoch}

// newTree returns the files of a draft of the root.
func newTree(root *draft) *tree {
	t := &tree{files: map[uint64]*file{}, known: map[uint64]uint64{}}
	t.files[0] = &file{attr: root.attr}
	t.root = t.files[0]
	e := t.edit()
	seen := map[*draft]uint64{}
	e.fill(0, root, seen)
	e.apply()
	return t
}

// fill puts what is in a draft of a directory into the one of a number.
func (e *edit) fill(dir uint64, d *draft, seen map[*draft]uint64) {
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		child := d.names[name]
		id, ok := seen[child]
		if !ok {
			id = e.add(child.file)
			seen[child] = id
		}
		e.link(dir, name, id)
		if !ok {
			e.fill(id, child, seen)
		}
	}
}

// setXattr gives it an extended attribute, or takes it away.
func (f *file) setXattr(name string, value []byte, gone bool) {
	x := maps.Clone(f.xattrs)
	if x == nil {
		x = map[string]string{}
	}
	if x[name] = string(value); gone {
		delete(x, name)
	}
	f.xattrs = x
}

// attributes are all that is known of an inode besides what it holds.
func (f *file) attributes() string {
	text := fmt.Sprintf("%o %d %d %d %q ", f.attr.Mode, f.attr.UID, f.attr.GID, f.attr.Rdev, f.target)
	for _, name := range slices.Sorted(maps.Keys(f.xattrs)) {
		text += fmt.Sprintf("%q=%q ", name, f.xattrs[name])
	}
	return text
}

func (f *file) directory() bool { return f.attr.Mode&unix.S_IFMT == unix.S_IFDIR }

func (f *file) regular() bool { return f.attr.Mode&unix.S_IFMT == unix.S_IFREG }

// leads reports whether it is a symbolic link, or one is below it.
func (f *file) leads() bool {
	if f == nil {
		return false
	}
	for _, g := range f.names.each() {
		if g.leads() {
			return true
		}
	}
	return f.attr.Mode&unix.S_IFMT == unix.S_IFLNK
}

// load reads a directory, which a node finds as its home. The files have the times that the node
// sees.
func load(dir string) (*tree, error) {
	root := draftDirectory()
	home := home[1:]
	if dir == "" {
		root.names[home] = draftDirectory()
		return newTree(root), nil
	}
	links := map[uint64]*draft{}
	var read func(name string) (*draft, error)
	read = func(name string) (*draft, error) {
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
		if f := links[st.Ino]; f != nil && st.Nlink > 1 && !f.directory() {
			return f, nil
		}
		f := &draft{file: file{attr: disk.Attr{Mode: st.Mode, UID: st.Uid, GID: st.Gid, Rdev: st.Rdev,
			Access: inode.Epoch, Modify: inode.Epoch}}}
		links[st.Ino] = f
		var err error
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			var b []byte
			b, err = os.ReadFile(name)
			f.data = newContent(b)
		case unix.S_IFLNK:
			f.target, err = os.Readlink(name)
		case unix.S_IFDIR:
			f.names = map[string]*draft{}
			list, e := os.ReadDir(name)
			err = e
			for _, d := range list {
				if f.names[d.Name()], e = read(path.Join(name, d.Name())); e != nil {
					return nil, e
				}
			}
		}
		return f, err
	}
	f, err := read(dir)
	if err != nil {
		return nil, err
	}
	root.names[home] = f
	return newTree(root), nil
}

// find looks a path up, links in its middle not followed.
func (t *tree) find(name string) *file {
	f := t.root
	for _, part := range strings.Split(strings.Trim(name, "/"), "/") {
		if part != "" && f != nil {
			f = f.names.get(part)
		}
	}
	return f
}

// is reports whether a number of an operation's means what has a path now.
func (t *tree) is(number uint64, name string) bool {
	id, known := t.known[number]
	f := t.find(name)
	return known && f != nil && f.id == id
}

// edit changes files of a tree, of which it makes new versions.
type edit struct {
	*tree
	changed map[uint64]*file             // versions that are being made
	entries map[uint64]map[string]uint64 // of directories, entries that change: numbers, or gone
	next    uint64                       // the number of the next file that is made
}

// gone is an entry that is taken away.
const gone = ^uint64(0)

func (t *tree) edit() *edit {
	return &edit{t, map[uint64]*file{}, map[uint64]map[string]uint64{}, uint64(len(t.files))}
}

// file is one as it is by now; it may be changed with change alone.
func (e *edit) file(id uint64) *file {
	if f := e.changed[id]; f != nil {
		return f
	}
	return e.files[id]
}

// change returns a version of a file that is to be changed.
func (e *edit) change(id uint64) *file {
	f := e.changed[id]
	if f == nil {
		version := *e.files[id]
		f = &version
		f.summed = false
		e.changed[id] = f
	}
	return f
}

// add makes another file, which has no name.
func (e *edit) add(f file) uint64 {
	id := e.next
	e.next++
	f.id, f.links, f.summed, f.before = id, nil, false, f.attr.Modify
	e.changed[id] = &f
	return id
}

// entry is the number of the file that a name stands for, or gone.
func (e *edit) entry(dir uint64, name string) uint64 {
	if id, changes := e.entries[dir][name]; changes {
		return id
	}
	if f := e.file(dir).names.get(name); f != nil {
		return f.id
	}
	return gone
}

func (e *edit) set(dir uint64, name string, id uint64) {
	if e.entries[dir] == nil {
		e.entries[dir] = map[string]uint64{}
	}
	e.entries[dir][name] = id
}

// link gives a file a name, which may stand for another one.
func (e *edit) link(dir uint64, name string, id uint64) {
	e.unlink(dir, name)
	e.set(dir, name, id)
	f := e.change(id)
	f.links = append(slices.Clip(f.links), link{dir, name})
}

// unlink takes a name away, if it is there.
func (e *edit) unlink(dir uint64, name string) {
	id := e.entry(dir, name)
	if id == gone {
		return
	}
	e.set(dir, name, gone)
	f := e.change(id)
	f.links = slices.DeleteFunc(slices.Clone(f.links), func(l link) bool { return l == link{dir, name} })
}

// within finds the directory of a path, which it makes when the node had it from elsewhere.
func (e *edit) within(name string) (dir uint64) {
	for _, part := range strings.Split(strings.Trim(path.Dir(name), "/"), "/") {
		if part == "" {
			continue
		}
		id := e.entry(dir, part)
		if id == gone {
			id = e.add(file{attr: directory})
			e.link(dir, part, id)
		}
		dir = id
	}
	return dir
}

// done makes the new versions of all files that change, and of the directories above them, and
// returns that of the root.
func (e *edit) done() *file {
	inside := map[uint64]map[string]uint64{} // by directory: names of what changes
	list := slices.AppendSeq(slices.Collect(maps.Keys(e.changed)), maps.Keys(e.entries))
	seen := map[uint64]bool{}
	for len(list) > 0 {
		id := list[len(list)-1]
		list = list[:len(list)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, l := range e.file(id).links {
			if inside[l.dir] == nil {
				inside[l.dir] = map[string]uint64{}
			}
			inside[l.dir][l.name] = id
			list = append(list, l.dir)
		}
	}
	made := map[uint64]bool{} // or being made
	var version func(id uint64) *file
	version = func(id uint64) *file {
		if made[id] || !seen[id] {
			return e.file(id)
		}
		made[id] = true
		f := e.change(id)
		for name, child := range e.entries[id] {
			if child == gone {
				f.names = f.names.remove(name)
			}
		}
		// also what got a name: its own list of names has changed
		for name, child := range inside[id] {
			f.names = f.names.set(name, version(child))
		}
		return f
	}
	for id := range seen {
		version(id)
	}
	return e.file(0)
}

// apply has the tree be as it is now.
func (e *edit) apply() {
	e.root = e.done()
	maps.Copy(e.files, e.changed)
}

// bind finds out which file a number means: what has the path now.
func (e *edit) bind(number uint64, find func() uint64) error {
	if _, known := e.known[number]; known || number == 0 {
		return nil
	}
	id := find()
	if id == gone {
		return fmt.Errorf("no file for inode %d", number)
	}
	e.known[number] = id
	return nil
}

// apply changes the files as an operation has.
func (t *tree) apply(op *disk.Op) error {
	e := t.edit()
	if err := e.bindAll(op); err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	id, dir, to := t.known[op.Ino], t.known[op.Dir], t.known[op.ToDir]
	switch op.Kind {
	case disk.Write, disk.Truncate, disk.Allocate, disk.Zero, disk.Shift:
		f := e.change(id)
		f.data, f.attr.Modify = f.data.apply(op), op.Time
	case disk.Create:
		id = e.add(file{attr: op.Attr, target: op.Target})
		t.known[op.Ino] = id
		if op.Dir != 0 {
			e.link(dir, op.Name, id)
		}
	case disk.Link:
		e.link(dir, op.Name, id)
	case disk.Unlink:
		e.unlink(dir, op.Name)
	case disk.Rename:
		e.unlink(dir, op.Name)
		e.link(to, op.ToName, id)
		switch {
		case op.Flags&disk.Exchange != 0:
			e.link(dir, op.Name, t.known[op.Over])
		case op.Flags&disk.Whiteout != 0:
			left := e.add(file{attr: disk.Attr{Mode: unix.S_IFCHR, Access: op.Time, Modify: op.Time}})
			t.known[op.Left] = left
			e.link(dir, op.Name, left)
		}
	case disk.SetAttr:
		e.change(id).attr = op.Attr
	case disk.SetXattr:
		e.change(id).setXattr(op.Xattr, op.New, op.Gone)
	}
	if op.Dir != 0 {
		e.change(dir).attr.Modify = op.Time
	}
	if op.ToDir != 0 {
		e.change(to).attr.Modify = op.Time
	}
	e.apply()
	return nil
}

// at is the number of the file that has a path, or gone.
func (e *edit) at(name string) uint64 {
	if f := e.find(name); f != nil {
		return f.id
	}
	return gone
}

// bindAll finds the files that an operation is about, as they are before it.
func (e *edit) bindAll(op *disk.Op) error {
	if op.Dir != 0 {
		if err := e.bind(op.Dir, func() uint64 { return e.within(op.Path) }); err != nil {
			return err
		}
	}
	if op.ToDir != 0 {
		if err := e.bind(op.ToDir, func() uint64 { return e.within(op.ToPath) }); err != nil {
			return err
		}
		if err := e.bind(op.Over, func() uint64 { return e.entry(e.known[op.ToDir], op.ToName) }); err != nil {
			return err
		}
	}
	switch op.Kind {
	case disk.Create, disk.Sync, disk.Close, disk.Fsync, disk.Fdatasync, disk.SyncRange, disk.Submit:
		return nil
	case disk.Link:
		return e.bind(op.Ino, func() uint64 { return e.at(op.ToPath) })
	case disk.Unlink, disk.Rename:
		return e.bind(op.Ino, func() uint64 { return e.entry(e.known[op.Dir], op.Name) })
	}
	return e.bind(op.Ino, func() uint64 { return e.at(op.Path) })
}

// clone returns the same files. No operation may have been applied yet.
func (t *tree) clone() *tree {
	return &tree{t.root, maps.Clone(t.files), map[uint64]uint64{}}
}

// with returns the files as they are in an image; those outside, by their paths, are as they are
// now. Nothing can be applied to them.
func (t *tree) with(i *disk.Image, outside []string) (*tree, error) {
	e := t.edit()
	if err := i.Apply(imaged{e}); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	for _, name := range outside {
		dir := e.within(name)
		e.unlink(dir, path.Base(name))
		if f := t.find(name); f != nil {
			e.link(dir, path.Base(name), e.add(*f))
		}
	}
	return &tree{root: e.done()}, nil
}

// imaged is the files of an edit to which an image is applied. All inodes of the log are there,
// also those without a name.
type imaged struct{ *edit }

// inode is the version that changes of an inode of the log.
func (m imaged) inode(ino uint64) (*file, error) {
	id, ok := m.known[ino]
	if !ok {
		return nil, fmt.Errorf("no file for inode %d", ino)
	}
	return m.change(id), nil
}

func (m imaged) Unname(dir uint64, name string) error {
	m.unlink(m.known[dir], name)
	return nil
}

func (m imaged) Name(dir uint64, name string, ino uint64) error {
	f, err := m.inode(ino)
	if err == nil {
		m.link(m.known[dir], name, f.id)
	}
	return err
}

func (m imaged) SetContent(ino uint64, size int64, data []disk.Extent) error {
	f, err := m.inode(ino)
	if err != nil {
		return err
	}
	if size < 0 {
		size = f.data.len()
	}
	f.data = f.data.resized(size)
	for _, e := range data {
		f.data.put(e.Offset, e.Offset+int64(len(e.Bytes)), e.Bytes)
	}
	return nil
}

func (m imaged) SetAttr(ino uint64, a disk.Attr) error {
	f, err := m.inode(ino)
	if err == nil {
		a.Modify = f.attr.Modify
		f.attr = a
	}
	return err
}

func (m imaged) SetXattr(ino uint64, x disk.Xattr) error {
	f, err := m.inode(ino)
	if err == nil {
		f.setXattr(x.Name, x.Value, x.Gone)
	}
	return err
}

func (m imaged) SetModified(ino uint64, by *disk.Op) error {
	f, err := m.inode(ino)
	if err != nil {
		return err
	}
	if f.attr.Modify = f.before; by != nil {
		f.attr.Modify = by.Time
	}
	return nil
}

// sum is over all that a program can find in the node's home, but times and numbers.
func (t *tree) sum() sum { return t.find(home).sum() }

// sum is over a file with all that is below it, likewise.
func (f *file) sum() sum {
	alone := f.sumAlone()
	if f.names.count() == 0 {
		return alone
	}
	var linked tally
	for _, paths := range f.linked() {
		linked = linked.plus(tallyOf(fmt.Appendf(nil, "%q", paths)))
	}
	return sha256.Sum256(linked.append(alone[:]))
}

// linked are the names, from below a file, of those that have several there.
func (f *file) linked() map[uint64][]string {
	all := map[uint64][]string{}
	var visit func(at string, n *names)
	visit = func(at string, n *names) {
		if n.count() == 0 {
			return
		}
		visit(at, n.left)
		switch g := n.file; {
		case g.directory():
			visit(at+"/"+n.name, g.names)
		case len(g.links) > 1:
			all[g.id] = append(all[g.id], at+"/"+n.name)
		}
		visit(at, n.right)
	}
	visit("", f.names)
	maps.DeleteFunc(all, func(_ uint64, paths []string) bool { return len(paths) == 1 })
	return all
}

// sumAlone is likewise, but does not say of which files there are several names. It is known once
// somebody has asked.
func (f *file) sumAlone() sum {
	if !f.summed {
		b := []byte(f.attributes())
		if f.data.len() > 0 {
			s := f.data.hash()
			b = append(b, s[:]...)
		}
		all, _ := f.names.sums()
		f.alone, f.summed = sha256.Sum256(all.append(b)), true
	}
	return f.alone
}

// writeTimes gives a file on the disk its times.
func (f *file) writeTimes(name string) error {
	times := []unix.Timespec{unix.NsecToTimespec(f.attr.Access), unix.NsecToTimespec(f.attr.Modify)}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, name, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "utimensat", Path: name, Err: err}
	}
	return nil
}

// writeXattrs gives a file on the disk its extended attributes.
func (f *file) writeXattrs(name string) error {
	for x, value := range f.xattrs {
		if err := unix.Lsetxattr(name, x, []byte(value), 0); err != nil {
			return fmt.Errorf("set extended attribute %s of %s: %w (TMPDIR may name a directory on a file system that has them)", x, filepath.Base(name), err)
		}
	}
	return nil
}
