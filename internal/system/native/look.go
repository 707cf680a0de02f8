package native

import (
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

// FileID is the identity of a file.
type FileID struct{ Device, Inode uint64 }

// IdentifyFile returns the identity of a file, behind symbolic links.
func IdentifyFile(path string) (FileID, error) {
	info, err := os.Stat(path)
	if err != nil {
		return FileID{}, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}, fmt.Errorf("%s: its identity is not known", path)
	}
	return FileID{uint64(s.Dev), s.Ino}, nil
}

// Memory is that of a process, which runs on while it is read. It implements debuginfo.Machine for
// what lies in memory alone.
type Memory struct {
	PID int
	// Err says why the process could not be read at all: ErrEnded, or that it may not be read.
	Err   error
	reads int
	split bool // some read was of more than a word
}

// IsWord reports whether all that was read is one word of memory: no write was in the midst of it.
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
	case errors.Is(err, unix.EPERM):
		m.Err = err
	case errors.Is(err, unix.ESRCH):
		m.Err = ErrEnded
	case err == nil && n < len(b):
		err = io.ErrUnexpectedEOF
	}
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
	from, how := "cwd", uint64(unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
	if filepath.IsAbs(name) {
		// A symbolic link to an absolute path leads to where the process would come by it.
		from, how, name = "root", unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS, strings.TrimLeft(name, "/")
	}
	return readFileBelow(fmt.Sprintf("/proc/%d/%s", pid, from), name, how, most)
}

// ReadFileIn does so for a name in a directory.
func ReadFileIn(dir, name string, most int64) (text []byte, ok bool, err error) {
	return readFileBelow(dir, name, unix.RESOLVE_NO_MAGICLINKS, most)
}

func readFileBelow(dir, name string, how uint64, most int64) (text []byte, ok bool, err error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if isGone(err) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	defer unix.Close(fd)
	return readFileAt(fd, name, how, most)
}

func readFileAt(dir int, name string, how uint64, most int64) (text []byte, ok bool, err error) {
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: how})
	switch {
	case isGone(err):
		return nil, false, nil
	case errors.Is(err, unix.EXDEV):
		return nil, false, errors.New("it leads out of the process's working directory: give an absolute path")
	case err != nil:
		return nil, false, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false, err
	}
	text, err = io.ReadAll(io.LimitReader(f, most))
	return text, err == nil, err
}
