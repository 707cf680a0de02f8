package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
)

// Measure returns the room that a private copy of the host's file or directory name takes
// on a node's disk, without what is hidden in it. It looks until a moment of real time; all
// says whether it has seen everything then.
func Measure(name string, hidden []string, until time.Time) (bytes int64, all bool, err error) {
	all = true
	err = filepath.WalkDir(original(name), func(p string, e fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err): // a directory that the node gets empty
			return nil
		case err != nil:
			return err
		case slices.Contains(hidden, p) && e.IsDir():
			return fs.SkipDir
		case slices.Contains(hidden, p):
			return nil
		case time.Now().After(until):
			all = false
			return fs.SkipAll
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err == nil {
			bytes += inode.Room(info.Size())
		}
		return err
	})
	return bytes, all, err
}

// original is where the host has what is copied: name may be a symbolic link.
func original(name string) string {
	if st, err := os.Lstat(name); err == nil && st.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return real
		}
	}
	return name
}
