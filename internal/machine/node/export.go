//go:build linux

package node

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Export copies the node's own files into a directory, which it makes: those in /node, /tmp, /run,
// /dev/shm and whatever else it may write, below there by their paths. The node is between two
// steps, and stays as it is. Sockets, pipes, devices and links to what lies beside the spec are
// left out, and when files were written is not told: their times are real.
func (n *Node) Export(dir string) (err error) {
	defer recoverTool(n, &err)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if n.home.treeFD == nil {
		return nil // it was never switched on
	}
	n.showFiles()
	base, own := n.ownFiles()
	for _, d := range own {
		if d == ".ariadne" || strings.HasPrefix(d, ".ariadne/") {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, path.Dir(d)), 0o700); err != nil {
			return err
		}
		if err := copyTree(path.Join(base, d), filepath.Join(dir, d)); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a directory.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		switch {
		case e.IsDir():
			return os.Mkdir(at, 0o700)
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			if err != nil || target == "/spec" || strings.HasPrefix(target, "/spec/") {
				return err
			}
			return os.Symlink(target, at)
		case e.Type().IsRegular():
			return copyFile(name, at)
		}
		return nil
	})
}

func copyFile(from, to string) (err error) {
	fd, err := unix.Open(from, unix.O_RDONLY|unix.O_NOATIME|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.EPERM {
		fd, err = unix.Open(from, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: from, Err: err}
	}
	in := os.NewFile(uintptr(fd), from)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chtimes(to, time.Unix(0, 0), time.Unix(0, 0))
}
