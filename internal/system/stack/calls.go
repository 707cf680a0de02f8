//go:build linux

package stack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"

	"golang.org/x/sys/unix"
)

// mostRead is how much of a file is read, in bytes.
const mostRead = 1 << 20

// doCall makes a call below a directory.
func doCall(c fsmodel.Call, root string) error {
	at, to := filepath.Join(root, c.Path), filepath.Join(root, c.To)
	switch c.Kind {
	case fsmodel.Creat:
		return withFile(at, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, func(int) error { return nil })
	case fsmodel.Mkdir:
		return unix.Mkdir(at, 0o777)
	case fsmodel.Link:
		return unix.Link(at, to)
	case fsmodel.Unlink:
		return unix.Unlink(at)
	case fsmodel.Rmdir:
		return unix.Rmdir(at)
	case fsmodel.Rename:
		return unix.Rename(at, to)
	case fsmodel.Write:
		return withFile(at, unix.O_WRONLY, func(fd int) error { return write(c, fd) })
	case fsmodel.SyncWrite:
		return withFile(at, unix.O_WRONLY|unix.O_SYNC, func(fd int) error { return write(c, fd) })
	case fsmodel.Truncate:
		return unix.Truncate(at, c.Length)
	case fsmodel.Symlink:
		return unix.Symlink(c.Text, at)
	case fsmodel.Fallocate:
		return withFile(at, unix.O_WRONLY, func(fd int) error { return unix.Fallocate(fd, 0, c.Offset, c.Length) })
	case fsmodel.PunchHole:
		const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
		return withFile(at, unix.O_WRONLY, func(fd int) error { return unix.Fallocate(fd, mode, c.Offset, c.Length) })
	case fsmodel.Setxattr:
		return unix.Setxattr(at, c.Text, []byte(c.Value()), 0)
	case fsmodel.Removexattr:
		return unix.Removexattr(at, c.Text)
	case fsmodel.WriteBack:
		const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		return withFile(at, unix.O_WRONLY, func(fd int) error { return unix.SyncFileRange(fd, 0, 0, all) })
	case fsmodel.Fsync:
		return withFile(at, unix.O_RDONLY, unix.Fsync)
	case fsmodel.Fdatasync:
		return withFile(at, unix.O_RDONLY, unix.Fdatasync)
	case fsmodel.Sync:
		return withFile(root, unix.O_RDONLY, unix.Syncfs)
	}
	return unix.ENOSYS
}

// write fills a range of a file.
func write(c fsmodel.Call, fd int) error {
	n, err := unix.Pwrite(fd, bytes.Repeat([]byte{c.Byte}, int(c.Length)), c.Offset)
	if err == nil && int64(n) < c.Length {
		err = unix.ENOSPC
	}
	return err
}

func withFile(name string, flags int, do func(fd int) error) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return err
	}
	err = do(fd)
	if e := unix.Close(fd); err == nil {
		err = e
	}
	return err
}

// errno is the number of a call's error, or 0.
func errno(err error) int {
	var e unix.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e)
	}
	return int(unix.EIO)
}

// look reads the file tree below a directory. It leaves out lost+found.
func look(root string) (tree []fsmodel.Entry, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, root), "/")
		switch {
		case rel == "" && err != nil:
			return err
		case rel == "lost+found":
			return filepath.SkipDir
		case rel == "" && d.IsDir():
			return nil
		}
		tree = append(tree, entryOf(name, rel, err))
		if err != nil && d != nil && d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	return tree, err
}

// entryOf is a file of a tree. failed is why its directory cannot be read.
func entryOf(name, rel string, failed error) fsmodel.Entry {
	e := fsmodel.Entry{Path: rel}
	var st unix.Stat_t
	if err := errors.Join(failed, unix.Lstat(name, &st)); err != nil {
		e.Odd = err.Error()
		return e
	}
	e.Ino, e.Size = st.Ino, st.Size
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		e.Dir, e.Size = true, 0
	case unix.S_IFREG:
		read(&e, name)
	case unix.S_IFLNK:
		target, err := os.Readlink(name)
		if e.Link, e.Size = target, 0; err != nil {
			e.Odd = err.Error()
		}
		return e
	default:
		e.Odd = "it is none of a directory, a symbolic link and a regular file"
	}
	if attrs, err := attributes(name); err != nil {
		e.Odd = "its attributes: " + err.Error()
	} else {
		e.Attrs = attrs
	}
	return e
}

// attributes are the extended attributes of a file that programs of users may set.
func attributes(name string) (attrs map[string]string, err error) {
	list, err := readAttr(func(b []byte) (int, error) { return unix.Listxattr(name, b) })
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		return nil, nil
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		if err != nil || !strings.HasPrefix(key, "user.") {
			continue
		}
		if attrs == nil {
			attrs = map[string]string{}
		}
		attrs[key], err = readAttr(func(b []byte) (int, error) { return unix.Getxattr(name, key, b) })
	}
	return attrs, err
}

// readAttr reads with a call that gives the length for no buffer. Nobody changes the files.
func readAttr(get func(b []byte) (int, error)) (string, error) {
	n, err := get(nil)
	if err != nil || n == 0 {
		return "", err
	}
	b := make([]byte, n)
	n, err = get(b)
	return string(b[:max(n, 0)]), err
}

func read(e *fsmodel.Entry, name string) {
	if e.Size > mostRead {
		e.Odd = fmt.Sprintf("it has %d bytes, and more than %d are not compared", e.Size, mostRead)
		return
	}
	b, err := os.ReadFile(name)
	switch {
	case err != nil:
		e.Odd = err.Error()
	case int64(len(b)) != e.Size:
		e.Odd = fmt.Sprintf("stat gives %d bytes, and read %d", e.Size, len(b))
	}
	e.Data = bytes.TrimRight(b, "\x00")
}
