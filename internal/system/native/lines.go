package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Source is where lines of a node come from.
type Source interface {
	// Read returns the lines that have come since the last call. It does not wait. lost, if not "",
	// says that lines are missing.
	Read() (lines []string, lost string, err error)
	// Descriptor is one that can be read when there are lines; -1: a directory must be watched.
	Descriptor() int
	Close() error
}

// MaxLine is how long a line may be. Longer lines are divided.
const MaxLine = 1 << 16

// lines divides bytes into lines.
type lines struct{ rest []byte }

// add returns the lines that end in more bytes.
func (l *lines) add(more []byte) (all []string) {
	for len(more) > 0 {
		i := bytes.IndexByte(more, '\n')
		if i < 0 {
			l.rest = append(l.rest, more...)
			for len(l.rest) >= MaxLine {
				all, l.rest = append(all, string(l.rest[:MaxLine])), bytes.Clone(l.rest[MaxLine:])
			}
			return all
		}
		l.rest = append(l.rest, bytes.TrimSuffix(more[:i], []byte("\r"))...)
		all = append(all, string(l.rest))
		l.rest, more = l.rest[:0], more[i+1:]
	}
	return all
}

// Pipe is the output of a program that was started here.
type Pipe struct {
	file *os.File
	fd   int
	lines
	buffer []byte
	ended  bool
}

// NewPipe returns a Source of lines, and the end to which a program writes.
func NewPipe() (p *Pipe, to *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, err
	}
	// A program that writes much at once need not wait until it is read. Without the right to a
	// larger pipe it has the usual one.
	_, _ = unix.FcntlInt(uintptr(fds[0]), unix.F_SETPIPE_SZ, 1<<20)
	return &Pipe{file: os.NewFile(uintptr(fds[0]), "output"), fd: fds[0], buffer: make([]byte, 1<<16)},
		os.NewFile(uintptr(fds[1]), "output"), nil
}

// Descriptor implements Source.
func (p *Pipe) Descriptor() int { return p.fd }

// Close implements Source.
func (p *Pipe) Close() error { return p.file.Close() }

// Read implements Source. After the last writer has closed the pipe it returns io.EOF.
func (p *Pipe) Read() (all []string, lost string, err error) {
	for !p.ended {
		n, err := unix.Read(p.fd, p.buffer)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			return all, "", nil
		case err != nil:
			return all, "", fmt.Errorf("read output: %w", err)
		case n == 0:
			p.ended = true
			return append(all, p.Last()...), "", nil
		}
		all = append(all, p.add(p.buffer[:n])...)
		if n < len(p.buffer) {
			return all, "", nil
		}
	}
	return all, "", io.EOF
}

// Last returns a line without an end, when nothing more comes.
func (l *lines) Last() []string {
	if len(l.rest) == 0 {
		return nil
	}
	line := string(l.rest)
	l.rest = nil
	return []string{line}
}

// File follows a file that another program writes. It goes on when that program rotates the file,
// or truncates it.
type File struct {
	path   string
	file   *os.File
	found  bool // it was there
	offset int64
	lines
	buffer []byte
}

// Tail returns a Source of the lines of a file, which need not be there yet. fromEnd: those that it
// has now do not count.
func Tail(path string, fromEnd bool) (*File, error) {
	f := &File{path: path, buffer: make([]byte, 1<<16)}
	if err := f.openFromStart(); err != nil {
		return nil, err
	}
	if fromEnd && f.file != nil {
		end, err := f.file.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, err
		}
		f.offset = end
	}
	return f, nil
}

// openFromStart opens the file, if it is there, to be read from its beginning.
func (f *File) openFromStart() error {
	file, err := os.Open(f.path)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	}
	f.file, f.offset, f.found = file, 0, true
	return nil
}

// Descriptor implements Source.
func (f *File) Descriptor() int { return -1 }

// Path is that of the file.
func (f *File) Path() string { return f.path }

// Found reports whether the file was there at some time.
func (f *File) Found() bool { return f.found }

// Close implements Source.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Read implements Source.
func (f *File) Read() (all []string, lost string, err error) {
	if f.file == nil {
		if err := f.openFromStart(); err != nil || f.file == nil {
			return nil, "", err
		}
	}
	for {
		n, err := f.file.ReadAt(f.buffer, f.offset)
		f.offset += int64(n)
		all = append(all, f.add(f.buffer[:n])...)
		if err == io.EOF {
			break
		} else if err != nil {
			return all, lost, err
		}
	}
	info, err := f.file.Stat()
	if err != nil {
		return all, lost, err
	}
	if info.Size() < f.offset {
		lost = f.path + " was cut off, and lines may be missing"
		f.offset, f.rest = 0, nil
		return all, lost, nil
	}
	now, err := os.Stat(f.path)
	if err == nil && os.SameFile(now, info) || os.IsNotExist(err) {
		return all, lost, nil
	} else if err != nil {
		return all, lost, err
	}
	all = append(all, f.Last()...)
	if err := f.file.Close(); err != nil {
		return all, lost, err
	}
	f.file = nil
	more, lost, err := f.Read() // the file that has its name now
	return append(all, more...), lost, err
}
