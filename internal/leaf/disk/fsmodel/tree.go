package fsmodel

import (
	"maps"
	"slices"
	"strings"
)

// Inode is a number of a file. It is not used again.
type Inode int

const root Inode = 0

// file is a file of a tree. It is not changed once it is in a tree.
type file struct {
	dir     bool
	entries map[string]Inode // of a directory
	parent  Inode            // of a directory
	data    []byte           // of a regular file; as long as the file
	link    string           // target of a symbolic link
	attrs   map[string]string
}

// Tree is a file tree. Do makes another one of it.
type Tree struct {
	files map[Inode]*file
	next  Inode
}

// NewTree is an empty tree.
func NewTree() *Tree {
	return &Tree{map[Inode]*file{root: {dir: true}}, root + 1}
}

// mostLinks is through how many symbolic links a path may lead (path_resolution(7)).
const mostLinks = 40

// place is where a path leads.
type place struct {
	dir    Inode // with the name
	name   string
	hasDir bool
	in     Inode
	there  bool
}

// place finds a path. follow: a symbolic link at its end leads on.
func (t *Tree) place(path string, follow bool) place {
	if path == "" {
		return place{in: root, there: true}
	}
	at, links := root, 0
	for rest := strings.Split(path, "/"); ; {
		name := rest[0]
		rest = rest[1:]
		d := t.files[at]
		if !d.dir {
			return place{}
		}
		in, there := d.entries[name]
		if name == ".." {
			in, there = d.parent, true
		}
		switch f := t.files[in]; {
		case there && f.link != "" && (follow || len(rest) > 0):
			if links++; links > mostLinks {
				return place{}
			}
			rest = append(strings.Split(f.link, "/"), rest...)
		case len(rest) == 0:
			return place{at, name, true, in, there}
		case !there:
			return place{}
		default:
			at = in
		}
	}
}

// find is the inode of a path. It is a symbolic link if the path ends in one.
func (t *Tree) find(path string) (Inode, bool) {
	p := t.place(path, false)
	return p.in, p.there
}

// clone is a tree that can be changed by set.
func (t *Tree) clone() *Tree { return &Tree{maps.Clone(t.files), t.next} }

// enter makes a name stand for an inode.
func (t *Tree) enter(dir Inode, name string, in Inode) {
	d := *t.files[dir]
	d.entries = maps.Clone(d.entries)
	if d.entries == nil {
		d.entries = map[string]Inode{}
	}
	d.entries[name] = in
	t.files[dir] = &d
}

// leave takes a name away.
func (t *Tree) leave(dir Inode, name string) {
	d := *t.files[dir]
	d.entries = maps.Clone(d.entries)
	delete(d.entries, name)
	t.files[dir] = &d
}

// Do returns the tree after a call, and whether the call succeeds. A call that fails leaves t.
func (t *Tree) Do(c Call) (after *Tree, ok bool) {
	p := t.place(c.Path, false)
	n := t.clone()
	switch c.Kind {
	case Creat, Mkdir, Symlink:
		if p.there || !p.hasDir {
			return t, false
		}
		n.files[n.next] = &file{dir: c.Kind == Mkdir, parent: p.dir, link: c.Text}
		n.enter(p.dir, p.name, n.next)
		n.next++
	case Unlink, Rmdir:
		if !p.there || p.in == root || t.files[p.in].dir != (c.Kind == Rmdir) || len(t.files[p.in].entries) > 0 {
			return t, false
		}
		n.leave(p.dir, p.name)
	case Link:
		to := t.place(c.To, false)
		if !p.there || to.there || !to.hasDir || t.files[p.in].dir {
			return t, false
		}
		n.enter(to.dir, to.name, p.in)
	case Rename:
		return t.rename(c, n)
	case Sync:
		return t, true
	default:
		return t.onFile(c, n)
	}
	return n, true
}

// onFile does a call on the file to which a path leads; n is a clone of t.
func (t *Tree) onFile(c Call, n *Tree) (after *Tree, ok bool) {
	p := t.place(c.Path, true)
	if !p.there {
		return t, false
	}
	f := *t.files[p.in]
	switch c.Kind {
	case Fsync, Fdatasync:
		return t, true
	case WriteBack:
		return t, !f.dir
	case Setxattr:
		f.attrs = maps.Clone(f.attrs)
		if f.attrs == nil {
			f.attrs = map[string]string{}
		}
		f.attrs[c.Text] = c.Value()
	case Removexattr:
		if _, there := f.attrs[c.Text]; !there {
			return t, false
		}
		f.attrs = maps.Clone(f.attrs)
		delete(f.attrs, c.Text)
	default:
		if f.dir {
			return t, false
		}
		data := changed(f.data, c)
		if c.Kind == Fallocate && len(data) == len(f.data) {
			return t, true // nothing that can be seen
		}
		f.data = data
	}
	n.files[p.in] = &f
	return n, true
}

// changed are the bytes of a file after a call that changes them.
func changed(old []byte, c Call) []byte {
	size, end := int64(len(old)), c.Offset+c.Length
	switch c.Kind {
	case Truncate:
		size = c.Length
	case Write, SyncWrite, Fallocate:
		size = max(size, end)
	}
	data := make([]byte, size)
	copy(data, old)
	switch c.Kind {
	case Write, SyncWrite:
		for i := c.Offset; i < end; i++ {
			data[i] = c.Byte
		}
	case PunchHole:
		clear(data[min(c.Offset, size):min(end, size)])
	}
	return data
}

// rename does Rename; n is a clone of t.
func (t *Tree) rename(c Call, n *Tree) (*Tree, bool) {
	from, target := t.place(c.Path, false), t.place(c.To, false)
	in, to := from.in, target.dir
	if !from.there || !target.hasDir || in == root {
		return t, false
	}
	if old := target.in; target.there {
		switch {
		case old == in:
			return t, true
		case t.files[old].dir != t.files[in].dir || len(t.files[old].entries) > 0:
			return t, false
		}
	}
	for at := to; t.files[in].dir; at = t.files[at].parent {
		if at == in { // below itself
			return t, false
		}
		if at == root {
			break
		}
	}
	n.leave(from.dir, from.name)
	n.enter(to, target.name, in)
	if t.files[in].dir {
		moved := *n.files[in]
		moved.parent = to
		n.files[in] = &moved
	}
	return n, true
}

// Paths are the names of all files, with what each stands for.
func (t *Tree) Paths() map[string]Inode {
	paths := map[string]Inode{}
	t.below(root, "", paths)
	return paths
}

func (t *Tree) below(dir Inode, above string, paths map[string]Inode) {
	for name, in := range t.files[dir].entries {
		paths[above+name] = in
		if t.files[in].dir {
			t.below(in, above+name+"/", paths)
		}
	}
}

// Entries are the files of the tree as a look would find them, in the order of their paths.
func (t *Tree) Entries() (list []Entry) {
	paths := t.Paths()
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		f := t.files[paths[p]]
		list = append(list,
			Entry{Path: p, Dir: f.dir, Ino: uint64(paths[p]), Size: int64(len(f.data)), Data: trimmed(f.data),
				Link: f.link, Attrs: f.attrs})
	}
	return list
}

// trimmed are bytes without the zeros at the end.
func trimmed(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}
