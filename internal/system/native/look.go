package native

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FileID is the identity of a file with its content: a file may have the number of an earlier one.
type FileID struct {
	Device, Inode  uint64
	Size, Modified int64
}

// IdentifyPath returns the identity of the file at a path, behind symbolic links.
func IdentifyPath(path string) (FileID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return FileID{}, err
	}
	return identify(info)
}

// IdentifyFile returns the identity of an open file.
func IdentifyFile(f *os.File) (FileID, error) {
	info, err := f.Stat()
	if err != nil {
		return FileID{}, err
	}
	return identify(info)
}

func identify(info os.FileInfo) (FileID, error) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}, fmt.Errorf("%s: its identity is not known", info.Name())
	}
	return FileID{uint64(s.Dev), s.Ino, s.Size, s.Mtim.Nano()}, nil
}

// Memory is that of a process, which runs on while it is read. It implements debuginfo.Machine for
// what lies in memory alone.
type Memory struct {
	PID   int
	Err   error // of the first read that failed, or nil
	reads int
	split bool // some read was of more than a word
}

// IsWord reports whether all that was read is one word of memory: it is never half of an old value
// and half of a new one.
func (m *Memory) IsWord() bool { return m.reads == 1 && !m.split }

// ErrEnded says that a process has ended.
var ErrEnded = errors.New("the process has ended")

// errNoRegisters says that a process which runs has no registers to read.
var errNoRegisters = errors.New("the registers of a process that runs cannot be read")

// Register implements debuginfo.Machine.
func (*Memory) Register(int) uint64 { return 0 }

// Vectors implements debuginfo.Machine.
func (*Memory) Vectors() (all [16][16]byte, err error) { return all, errNoRegisters }

// Read implements debuginfo.Machine. It needs the right to trace the process (ptrace(2)).
func (m *Memory) Read(b []byte, addr uint64) error {
	if len(b) == 0 {
		return nil
	}
	m.reads++
	m.split = m.split || len(b) > 8 || addr%8+uint64(len(b)) > 8
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	n, err := unix.ProcessVMReadv(m.PID, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		err = ErrEnded
	case errors.Is(err, unix.EFAULT), err == nil && n < len(b):
		err = fmt.Errorf("there is no memory at %#x", addr)
	}
	m.Err = cmp.Or(m.Err, err)
	return err
}

// atEntry is the number of the entry of the auxiliary vector that has the address at which the
// program begins.
const atEntry = 9

// Bias returns by how much addresses in the memory of a process are greater than those in the file
// of its program, which begins at the address entry by the file. ok: the process has not ended. An
// error says that it may not be read.
func Bias(pid int, entry uint64) (bias uint64, ok bool, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if isGone(err) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == atEntry {
			return binary.LittleEndian.Uint64(b[8:]) - entry, true, nil
		}
	}
	return 0, false, nil // it has just ended
}

// isGone reports whether an error says that a process or a file is not there.
func isGone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOTDIR)
}

// ReadFile returns the first bytes of a regular file, at most so many, as a process sees it: a
// relative name from its working directory. ok: the process and the file are there. An error says
// that the file may not be read.
func ReadFile(pid int, name string, most int64) (text []byte, ok bool, err error) {
	if isProc(name) {
		return nil, false, errProc
	}
	from, how := "cwd", uint64(unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
	if filepath.IsAbs(name) {
		// A symbolic link to an absolute path leads to where the process would come by it.
		from, how = "root", unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS
		name = cmp.Or(strings.TrimLeft(name, "/"), ".")
	}
	tid, ok := Living(pid)
	if !ok {
		return nil, false, ErrEnded
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/%s", tid, from), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if isGone(err) {
		return nil, false, ErrEnded
	} else if err != nil {
		return nil, false, err
	}
	defer unix.Close(fd)
	return readFileAt(fd, name, how, most)
}

// ReadFileIn does so for a name in a directory.
func ReadFileIn(dir, name string, most int64) (text []byte, ok bool, err error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if isGone(err) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	defer unix.Close(fd)
	return readFileAt(fd, name, unix.RESOLVE_NO_MAGICLINKS, most)
}

func readFileAt(dir int, name string, how uint64, most int64) (text []byte, ok bool, err error) {
	// To open a pipe or a device would change something.
	found, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: how})
	switch {
	case isGone(err):
		return nil, false, nil
	case errors.Is(err, unix.EXDEV):
		return nil, false, errors.New("it leads out of the process's working directory: give an absolute path")
	case err != nil:
		return nil, false, err
	}
	defer unix.Close(found)
	var info unix.Stat_t
	var system unix.Statfs_t
	if err := errors.Join(unix.Fstat(found, &info), unix.Fstatfs(found, &system)); err != nil {
		return nil, false, err
	}
	switch {
	case info.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, false, errors.New("it is not a regular file")
	case system.Type == unix.PROC_SUPER_MAGIC:
		return nil, false, errProc
	}
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", found))
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, most))
	return text, err == nil, err
}

// errProc says why a file of /proc is not read.
var errProc = errors.New("files of /proc are those of the process that reads them")

// isProc reports whether a name is one of /proc, where links lead to who reads them.
func isProc(name string) bool { return strings.HasPrefix(filepath.Clean(name), "/proc/") }
