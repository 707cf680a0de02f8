//go:build linux

package filetree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The root of a node may read and write files whatever their mode. Ariadne may be an
// ordinary user, who owns them, and for whom modes count: it grants itself what is
// missing for a moment.

// Open opens a node's file for reading and writing, or, if it is being executed and so
// cannot change, for reading.
func Open(name string) (*os.File, error) {
	f, err := openFile(name)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	var st unix.Stat_t
	if unix.Stat(name, &st) != nil || unix.Chmod(name, st.Mode&0o7777|0o600) != nil {
		return nil, err
	}
	f, err = openFile(name)
	return f, errors.Join(err, unix.Chmod(name, st.Mode&0o7777))
}

func openFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, unix.ETXTBSY) {
		return os.OpenFile(name, os.O_RDONLY, 0)
	}
	return f, err
}

// in does something to names of the tree, if need be with access to the directories
// on the way and to those that are named.
func (t *Tree) in(do func() error, names ...string) error {
	err := do()
	if !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return err
	}
	for _, name := range names {
		rest, _ := strings.CutPrefix(name, t.base+"/")
		at := t.base
		for _, part := range strings.Split(rest, "/") {
			at = path.Join(at, part)
			var st unix.Stat_t
			if unix.Lstat(at, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Mode&0o700 == 0o700 {
				continue
			}
			if unix.Chmod(at, st.Mode&0o7777|0o700) == nil {
				t.lent[at] = st.Mode & 0o7777
			}
		}
	}
	return do()
}

// giveBack ends the access that in has granted.
func (t *Tree) giveBack() (err error) {
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(t.lent))) {
		if e := unix.Chmod(dir, t.lent[dir]); err == nil && e != nil && e != unix.ENOENT {
			err = &fs.PathError{Op: "chmod", Path: dir, Err: e}
		}
	}
	clear(t.lent)
	return err
}
