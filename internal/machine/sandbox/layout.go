package sandbox

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// layout is a node's file tree as planned: a tree of entries on one private
// tmpfs, some of which are bind mounts of the host's files, and mounts over
// places inside these.
type layout struct {
	root     *entry
	over     []overmount
	writable []string // directories and files of the tmpfs that the node may write
	mapped   [][]byte // what large files that are copied hold; release unmaps it
}

type entryKind uint8

const (
	dirEntry  entryKind = iota
	fileEntry           // data is its content
	linkEntry           // data is its target
	bindEntry           // the host's file or directory data, read-only
	fifoEntry
)

type entry struct {
	kind  entryKind
	data  string
	mode  uint32 // permission bits, of a copy with the set-id and sticky ones
	uid   int    // of a copy: who the original's owner is
	gid   int
	isDir bool // of a bind
	kids  map[string]*entry
}

// overmount is an entry mounted over an existing place in a bind.
type overmount struct {
	path     string
	entry    *entry
	writable bool
}

func newDir(mode uint32) *entry { return &entry{mode: mode, isDir: true, kids: map[string]*entry{}} }
func newFile(data string) *entry {
	return &entry{kind: fileEntry, data: data, mode: 0o644}
}
func newLink(target string) *entry { return &entry{kind: linkEntry, data: target} }

// bindOf returns the entry that shows the host's file name, or nil for what has
// no place in a node (sockets, devices).
func bindOf(name string, mode os.FileMode) *entry {
	switch mode.Type() {
	case os.ModeDir:
		return &entry{kind: bindEntry, data: name, isDir: true}
	case 0, os.ModeNamedPipe:
		return &entry{kind: bindEntry, data: name}
	case os.ModeSymlink:
		if target, err := os.Readlink(name); err == nil {
			return newLink(target)
		}
	}
	return nil
}

// bindsIn returns a directory whose entries are binds of those of the host's
// directory name.
func bindsIn(name string) (*entry, error) {
	list, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	d := newDir(0o755)
	if st, err := os.Stat(name); err == nil {
		d.mode = uint32(st.Mode().Perm())
	}
	for _, x := range list {
		if e := bindOf(filepath.Join(name, x.Name()), x.Type()); e != nil {
			d.kids[x.Name()] = e
		}
	}
	return d, nil
}

// mapFrom is the size from which on a file is mapped to be copied: what it holds never
// lies in Ariadne's own memory.
const mapFrom = 64 << 10

// content returns what a file holds, which stays valid until release.
func (l *layout) content(name string, size int64) (string, error) {
	if size < mapFrom {
		b, err := os.ReadFile(name)
		return string(b), err
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	b, err := unix.Mmap(fd, 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return "", &os.PathError{Op: "map", Path: name, Err: err}
	}
	l.mapped = append(l.mapped, b)
	return unsafe.String(&b[0], len(b)), nil
}

// release gives up what was mapped to be copied.
func (l *layout) release() {
	for _, b := range l.mapped {
		unix.Munmap(b)
	}
	l.mapped = nil
}

// copyOf returns a private copy of the host's file or directory name, without what is
// hidden in it. Times are the node's own.
func (l *layout) copyOf(name string, shown func(dir string) func(name string) bool) (*entry, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	st := info.Sys().(*syscall.Stat_t)
	e := &entry{mode: st.Mode & 0o7777, uid: int(st.Uid), gid: int(st.Gid)}
	switch info.Mode().Type() {
	case os.ModeDir:
		here := func(string) bool { return true }
		if shown != nil {
			here = shown(name)
		}
		list, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		e.isDir, e.kids = true, map[string]*entry{}
		for _, x := range list {
			if !here(x.Name()) {
				continue
			}
			kid, err := l.copyOf(filepath.Join(name, x.Name()), shown)
			if err != nil {
				return nil, err
			}
			if kid != nil {
				e.kids[x.Name()] = kid
			}
		}
	case 0:
		e.kind = fileEntry
		e.data, err = l.content(name, st.Size)
	case os.ModeSymlink:
		e.kind = linkEntry
		e.data, err = os.Readlink(name)
	case os.ModeNamedPipe:
		e.kind = fifoEntry
	default:
		return nil, nil
	}
	return e, err
}

// disown makes the node's root the owner of a copy.
func (e *entry) disown() {
	e.uid, e.gid = 0, 0
	for _, k := range e.kids {
		k.disown()
	}
}

// put places e at the absolute path name, which may lead through symbolic links.
// Directories that are missing on the way come into being, also inside the
// host's: those are then shown entry by entry.
func (l *layout) put(name string, e *entry, writable bool) error {
	for range 40 {
		next, err := l.place(name, e, writable)
		if err != nil || next == "" {
			return err
		}
		name = next
	}
	return fmt.Errorf("%s: %w", name, unix.ELOOP)
}

// place is put up to the first symbolic link; it returns where that leads.
func (l *layout) place(name string, e *entry, writable bool) (string, error) {
	name = path.Clean("/" + name)
	parts := strings.Split(name[1:], "/")
	if parts[0] == "" {
		return "", fmt.Errorf("/: cannot be replaced")
	}
	cur := l.root
	for i, part := range parts {
		last := i == len(parts)-1
		here := "/" + strings.Join(parts[:i], "/")
		rest := strings.Join(parts[i+1:], "/")
		kid := cur.kids[part]
		switch {
		case kid != nil && kid.kind == linkEntry:
			return followLink(here, kid.data, rest), nil
		case last:
			cur.kids[part] = e
			if writable {
				l.writable = append(l.writable, name)
			}
			return "", nil
		case kid == nil:
			kid = newDir(0o755)
			cur.kids[part] = kid
		case !kid.isDir:
			return "", fmt.Errorf("%s: %w", path.Join(here, part), unix.ENOTDIR)
		case kid.kind == bindEntry:
			exists, link, err := onHost(kid.data, path.Join(here, part), parts[i+1:])
			if err != nil || link != "" {
				return link, err
			}
			if exists {
				l.over = append(l.over, overmount{name, e, writable})
				return "", nil
			}
			if kid, err = bindsIn(kid.data); err != nil {
				return "", err
			}
			cur.kids[part] = kid
		}
		cur = kid
	}
	return "", nil
}

// onHost looks for the path parts below the host's directory dir, which the node
// sees as here. It reports whether it exists, or where a symbolic link on the way
// leads.
func onHost(dir, here string, parts []string) (exists bool, link string, err error) {
	for i, part := range parts {
		dir = filepath.Join(dir, part)
		st, err := os.Lstat(dir)
		if os.IsNotExist(err) {
			return false, "", nil
		}
		if err != nil {
			return false, "", err
		}
		if st.Mode()&os.ModeSymlink != 0 {
			target, err := os.Readlink(dir)
			return false, followLink(here, target, strings.Join(parts[i+1:], "/")), err
		}
		here = path.Join(here, part)
	}
	return true, "", nil
}

// followLink returns the path that a link in directory dir leads to.
func followLink(dir, target, rest string) string {
	if !path.IsAbs(target) {
		target = path.Join(dir, target)
	}
	return path.Join(target, rest)
}

func sortedNames(kids map[string]*entry) []string {
	names := make([]string, 0, len(kids))
	for n := range kids {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
