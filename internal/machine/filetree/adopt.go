//go:build linux

package filetree

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Another tree of the same node, on another tmpfs, has files of its own with other inode numbers.
// Its states become states of this tree by way of a moment at which both trees were the same: files
// from before have their counterparts, and what was made since is made here.

// ErrForeign is the cause of an error of Translate where a state cannot be one of this tree.
var ErrForeign = errors.New("it cannot be a state of this tree")

// A Foreign is another tree of the same node at a moment at which this one was the same.
type Foreign struct {
	Device uint64 // of the other tree's files
	// Theirs and Ours are the states of both trees at that moment.
	Theirs, Ours *State
	// Known are the numbers here of files that had others there. Translate adds to them.
	Known map[uint64]uint64
}

// foreignFile is a file of another tree.
type foreignFile struct{ device, ino uint64 }

// Pair enters in Known the files that have names. It fails if the trees are not the same.
func (f *Foreign) Pair() error {
	theirs, ours := f.Theirs.names, f.Ours.names
	if len(theirs.entries) != len(ours.entries) || len(f.Theirs.files) != len(f.Ours.files) {
		return fmt.Errorf("%w: the trees have other files", ErrForeign)
	}
	for name, their := range theirs.entries {
		our, ok := ours.entries[name]
		if known, paired := f.Known[their.ino]; !ok || our.kind() != their.kind() || our.target != their.target ||
			paired && known != our.ino {
			return fmt.Errorf("%w: %s is another file", ErrForeign, name)
		}
		f.Known[their.ino] = our.ino
	}
	return nil
}

// Translate returns the state of this tree that is a later state of the other one. A file that has
// no name, and that had none when the trees were the same, is left out.
func (t *Tree) Translate(s *State, f *Foreign) (*State, error) {
	to := &State{names: f.Ours.names, files: make(map[uint64]*Content, len(s.files))}
	if s.names != f.Theirs.names {
		entries := make(map[string]entry, len(s.names.entries))
		for name, e := range s.names.entries {
			ino, err := t.counterpart(e, f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			e.ino = ino
			entries[name] = e
		}
		to.names = &names{entries, s.names.sorted}
	}
	for ino, c := range s.files {
		if our, ok := f.Known[ino]; ok {
			to.files[our] = c.as(f.Theirs.files[ino], f.Ours.files[our])
		}
	}
	return to, nil
}

// as is a content, with the pages of ours in the place of those of theirs, which are equal. It may
// belong to another goroutine: what it has not changed since it was made is read alone.
func (c *Content) as(theirs, ours *Content) *Content {
	if c == theirs && ours != nil {
		return ours
	}
	to := &Content{Size: c.Size, pages: make(map[int64]*page, len(c.pages))}
	for n, p := range c.pages {
		if theirs != nil && ours != nil && theirs.pages[n] == p && ours.pages[n] != nil {
			p = ours.pages[n]
		}
		to.pages[n] = p
	}
	return to
}

// Foreign returns a content of another goroutine's as one of the caller's.
func (c *Content) Foreign() *Content {
	if c == nil {
		return nil
	}
	return c.as(nil, nil)
}

// counterpart is the number here of a file of the other tree. One that is not known is made: it has
// a hidden name, and Restore gives it its others.
func (t *Tree) counterpart(e entry, f *Foreign) (uint64, error) {
	if ino, ok := f.Known[e.ino]; ok {
		return ino, nil
	}
	key := foreignFile{f.Device, e.ino}
	made, ok := t.made[key]
	if !ok || made.kind() != e.kind() || made.target != e.target || f.knows(made.ino) {
		ino, err := t.make(e)
		if err != nil {
			return 0, err
		}
		made = entry{ino: ino, mode: e.mode, target: e.target}
		if t.made == nil {
			t.made = map[foreignFile]entry{}
		}
		t.made[key] = made
	}
	f.Known[e.ino] = made.ino
	return made.ino, nil
}

// knows reports whether a file of this tree has a counterpart.
func (f *Foreign) knows(ino uint64) bool {
	for _, our := range f.Known {
		if our == ino {
			return true
		}
	}
	return false
}

// make makes a file of the kind of e that has no name but the hidden one.
func (t *Tree) make(e entry) (ino uint64, err error) {
	name := path.Join(t.store, "made")
	switch e.kind() {
	case unix.S_IFREG:
		var f *os.File
		if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = f.Close()
		}
	case unix.S_IFDIR:
		err = os.Mkdir(name, 0o700)
	case unix.S_IFLNK:
		err = os.Symlink(e.target, name)
	default:
		return 0, fmt.Errorf("%w: it is a file of mode %o", ErrForeign, e.mode)
	}
	if err != nil {
		return 0, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return 0, &os.PathError{Op: "lstat", Path: name, Err: err}
	}
	t.linked[st.Ino] = e.kind() != unix.S_IFDIR
	return st.Ino, os.Rename(name, t.hidden(st.Ino))
}
