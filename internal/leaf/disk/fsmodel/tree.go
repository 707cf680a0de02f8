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

// find is the inode of a path.
func (t *Tree) find(path string) (Inode, bool) {
	at := root
	if path == "" {
		return at, true
	}
	for _, name := range strings.Split(path, "/") {
		next, ok := t.files[at].entries[name]
		if !ok {
			return 0, false
		}
		at = next
	}
	return at, true
}

// split is the inode of a path's directory, and the name there.
func (t *Tree) split(path string) (dir Inode, name string, ok bool) {
	above := ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		above, path = path[:i], path[i+1:]
	}
	dir, ok = t.find(above)
	return dir, path, ok && path != "" && t.files[dir].dir
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
	in, there := t.find(c.Path)
	dir, name, hasDir := t.split(c.Path)
	n := t.clone()
	switch c.Kind {
	case Creat, Mkdir:
		if there || !hasDir {
			return t, false
		}
		n.files[n.next] = &file{dir: c.Kind == Mkdir, parent: dir}
		n.enter(dir, name, n.next)
		n.next++
	case Unlink, Rmdir:
		if !there || in == root || t.files[in].dir != (c.Kind == Rmdir) || len(t.files[in].entries) > 0 {
			return t, false
		}
		n.leave(dir, name)
	case Link:
		to, toName, toOK := t.split(c.To)
		if _, exists := t.find(c.To); !there || exists || !toOK || t.files[in].dir {
			return t, false
		}
		n.enter(to, toName, in)
	case Rename:
		return t.rename(c, n)
	case Write, SyncWrite:
		if !there || t.files[in].dir {
			return t, false
		}
		n.files[in] = &file{data: written(t.files[in].data, c)}
	case Truncate:
		if !there || t.files[in].dir {
			return t, false
		}
		data := make([]byte, c.Length)
		copy(data, t.files[in].data)
		n.files[in] = &file{data: data}
	case Sync:
		return t, true
	default:
		return t, there
	}
	return n, true
}

func written(old []byte, c Call) []byte {
	data := make([]byte, max(int64(len(old)), c.Offset+c.Length))
	copy(data, old)
	for i := range c.Length {
		data[c.Offset+i] = c.Byte
	}
	return data
}

// rename does Rename; n is a clone of t.
func (t *Tree) rename(c Call, n *Tree) (*Tree, bool) {
	in, there := t.find(c.Path)
	dir, name, _ := t.split(c.Path)
	to, toName, toOK := t.split(c.To)
	if !there || !toOK || in == root {
		return t, false
	}
	if old, exists := t.find(c.To); exists {
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
	n.leave(dir, name)
	n.enter(to, toName, in)
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
			Entry{Path: p, Dir: f.dir, Ino: uint64(paths[p]), Size: int64(len(f.data)), Data: trimmed(f.data)})
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
