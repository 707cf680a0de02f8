//go:build linux

package crash

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ariadne/internal/disk"

	"golang.org/x/sys/unix"
)

// home is where a node has its files.
const home = "/node"

// tree is the files of a node in memory: those that its directory held, and what operations have made
// of them.
type tree struct {
	root  *file
	known map[uint64]*file // by the numbers of operations
}

// file is an inode.
type file struct {
	attr   disk.Attr
	names  map[string]*file // of a directory
	data   *content         // of a regular file
	target string           // of a symbolic link
	// xattrs are its extended attributes; the map is not changed. Nodes are given copies of files without any.
	xattrs map[string]string
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

// links reports whether it is a symbolic link, or one is below it.
func (f *file) links() bool {
	if f == nil {
		return false
	}
	for _, g := range f.names {
		if g.links() {
			return true
		}
	}
	return f.attr.Mode&unix.S_IFMT == unix.S_IFLNK
}

func directory() *file {
	return &file{attr: disk.Attr{Mode: unix.S_IFDIR | 0o755}, names: map[string]*file{}}
}

// load reads a directory, which a node finds as its home.
func load(dir string) (*tree, error) {
	t := &tree{root: directory(), known: map[uint64]*file{}}
	if dir == "" {
		t.root.names[home[1:]] = directory()
		return t, nil
	}
	links := map[uint64]*file{}
	var read func(name string) (*file, error)
	read = func(name string) (*file, error) {
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
		if f := links[st.Ino]; f != nil && st.Nlink > 1 && !f.directory() {
			return f, nil
		}
		f := &file{attr: disk.Attr{Mode: st.Mode, UID: st.Uid, GID: st.Gid, Rdev: st.Rdev, Access: st.Atim.Nano(), Modify: st.Mtim.Nano()}}
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
			f.names = map[string]*file{}
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
	t.root.names[home[1:]] = f
	return t, err
}

// find looks a path up, links in its middle not followed.
func (t *tree) find(name string) *file {
	f := t.root
	for _, part := range strings.Split(strings.Trim(name, "/"), "/") {
		if part != "" && f != nil {
			f = f.names[part]
		}
	}
	return f
}

// within finds the directory of a path, which it makes when the node had it from elsewhere.
func (t *tree) within(name string) *file {
	f := t.root
	for _, part := range strings.Split(strings.Trim(path.Dir(name), "/"), "/") {
		if part == "" {
			continue
		}
		if f.names[part] == nil {
			f.names[part] = directory()
		}
		f = f.names[part]
	}
	return f
}

// bind finds out which file a number means: what has the path now.
func (t *tree) bind(number uint64, find func() *file) error {
	if number == 0 || t.known[number] != nil {
		return nil
	}
	f := find()
	if f == nil {
		return fmt.Errorf("no file for inode %d", number)
	}
	t.known[number] = f
	return nil
}

// apply changes the files as an operation has.
func (t *tree) apply(op *disk.Op) error {
	err := t.bindAll(op)
	if err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	f, dir, to := t.known[op.Ino], t.known[op.Dir], t.known[op.ToDir]
	switch op.Kind {
	case disk.Write, disk.Truncate, disk.Allocate, disk.Zero, disk.Shift:
		f.data = f.data.apply(op)
	case disk.Create:
		f = &file{attr: op.Attr, target: op.Target}
		if f.directory() {
			f.names = map[string]*file{}
		}
		t.known[op.Ino] = f
		if dir != nil {
			dir.names[op.Name] = f
		}
	case disk.Link:
		dir.names[op.Name] = f
	case disk.Unlink:
		delete(dir.names, op.Name)
	case disk.Rename:
		delete(dir.names, op.Name)
		to.names[op.ToName] = f
		switch {
		case op.Flags&disk.Exchange != 0:
			dir.names[op.Name] = t.known[op.Over]
		case op.Flags&disk.Whiteout != 0:
			t.known[op.Left] = &file{attr: disk.Attr{Mode: unix.S_IFCHR}}
			dir.names[op.Name] = t.known[op.Left]
		}
	case disk.SetAttr:
		f.attr = op.Attr
	case disk.SetXattr:
		f.setXattr(op.Xattr, op.New, op.Gone)
	}
	return nil
}

// bindAll finds the files that an operation is about, as they are before it.
func (t *tree) bindAll(op *disk.Op) error {
	if op.Dir != 0 {
		if err := t.bind(op.Dir, func() *file { return t.within(op.Path) }); err != nil {
			return err
		}
	}
	if op.ToDir != 0 {
		if err := t.bind(op.ToDir, func() *file { return t.within(op.ToPath) }); err != nil {
			return err
		}
		if err := t.bind(op.Over, func() *file { return t.known[op.ToDir].names[op.ToName] }); err != nil {
			return err
		}
	}
	switch op.Kind {
	case disk.Create, disk.Sync, disk.Close, disk.Fsync, disk.Fdatasync, disk.SyncRange, disk.Submit:
		return nil
	case disk.Link:
		return t.bind(op.Ino, func() *file { return t.find(op.ToPath) })
	case disk.Unlink, disk.Rename:
		return t.bind(op.Ino, func() *file { return t.known[op.Dir].names[op.Name] })
	}
	return t.bind(op.Ino, func() *file { return t.find(op.Path) })
}

// copier copies files; each once, so what has several names has them in the copy.
type copier map[*file]*file

func (c copier) copy(f *file) *file {
	if f == nil {
		return nil
	}
	if g := c[f]; g != nil {
		return g
	}
	g := *f
	c[f] = &g
	if f.names != nil {
		g.names = make(map[string]*file, len(f.names))
		for name, child := range f.names {
			g.names[name] = c.copy(child)
		}
	}
	return &g
}

// clone returns the same files. No operation may have been applied yet.
func (t *tree) clone() *tree {
	return &tree{root: copier{}.copy(t.root), known: map[uint64]*file{}}
}

// with returns the files as they are in an image; those outside, by their paths, are as they are now.
func (t *tree) with(i *disk.Image, outside []string) (*tree, error) {
	clone := copier{}.copy
	n := &tree{root: clone(t.root)}
	for _, x := range i.Names {
		dir := clone(t.known[x.Dir])
		if x.Ino == 0 {
			delete(dir.names, x.Name)
		} else if f := t.known[x.Ino]; f != nil {
			dir.names[x.Name] = clone(f)
		} else {
			return nil, fmt.Errorf("image: no file for inode %d", x.Ino)
		}
	}
	for _, x := range i.Files {
		if t.known[x.Ino] == nil {
			return nil, fmt.Errorf("image: no file for inode %d", x.Ino)
		}
		f := clone(t.known[x.Ino])
		if x.Attr != nil {
			f.attr = *x.Attr
		}
		for _, a := range x.Xattrs {
			f.setXattr(a.Name, a.Value, a.Gone)
		}
		if f.attr.Mode&unix.S_IFMT != unix.S_IFREG || x.Size < 0 && len(x.Data) == 0 {
			continue
		}
		size := x.Size
		if size < 0 {
			size = f.data.len()
		}
		f.data = f.data.resized(size)
		for _, e := range x.Data {
			f.data.put(e.Offset, e.Offset+int64(len(e.Bytes)), e.Bytes)
		}
	}
	for _, name := range outside {
		if f := t.find(name); f != nil {
			now := *f
			n.within(name).names[path.Base(name)] = &now
		} else {
			delete(n.within(name).names, path.Base(name))
		}
	}
	return n, nil
}

// sum is over all that a program can find in the node's home, but times and numbers.
func (t *tree) sum() sum { return t.find(home).sum() }

// sum is over a file with all that is below it, likewise.
func (f *file) sum() sum {
	var b []byte
	seen := map[*file]int{}
	var visit func(name string, f *file)
	visit = func(name string, f *file) {
		b = fmt.Appendf(b, "%q %s", name, f.attributes())
		if n, ok := seen[f]; ok { // one more name of it
			b = binary.AppendVarint(b, int64(n))
			return
		}
		seen[f] = len(seen)
		if f.data.len() > 0 {
			s := f.data.hash()
			b = append(b, s[:]...)
		}
		for _, child := range slices.Sorted(maps.Keys(f.names)) {
			visit(name+"/"+child, f.names[child])
		}
	}
	visit("", f)
	return sha256.Sum256(b)
}

// fill puts the node's home into a directory, which is empty.
func (t *tree) fill(dir string) error {
	written := map[*file]string{}
	var put func(name string, f *file) error
	put = func(name string, f *file) (err error) {
		if first, ok := written[f]; ok {
			return os.Link(first, name)
		}
		written[f] = name
		perm := fs.FileMode(f.attr.Mode & 0o777)
		if len(f.xattrs) > 0 {
			defer func() {
				if err == nil {
					err = f.writeXattrs(name)
				}
			}()
		}
		switch f.attr.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			if name != dir {
				if err := os.Mkdir(name, 0o700); err != nil {
					return err
				}
			}
			for child, g := range f.names {
				if err := put(filepath.Join(name, child), g); err != nil {
					return err
				}
			}
		case unix.S_IFLNK:
			return os.Symlink(f.target, name)
		case unix.S_IFREG:
			err = f.data.write(name, 0o600)
		default:
			err = unix.Mknod(name, f.attr.Mode, int(f.attr.Rdev))
		}
		if err == nil && perm != 0o600 {
			err = unix.Chmod(name, f.attr.Mode&0o7777)
		}
		return err
	}
	return put(dir, t.find(home))
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
