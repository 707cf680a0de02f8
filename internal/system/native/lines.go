package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Source is where lines of a node come from.
type Source interface {
	// Read returns the lines that have come since the last call. It does not wait. lost, if not "",
	// says that lines are missing.
	Read() (lines []string, lost string, err error)
	// Tear tells that what comes next may not go on with the line that has no end yet.
	Tear()
	// Torn returns what may be lines of their own or not, since Read and Tear were called: a line
	// without an end, the rest of it that came after Tear, and both together. No call of Read
	// returns these.
	Torn() []string
	// Descriptor is one that can be read when there are lines; -1: a directory must be watched.
	Descriptor() int
	Close() error
}

// MaxLine is how long a line may be. Longer lines are divided.
const MaxLine = 1 << 16

// lines divides bytes into lines.
type lines struct {
	rest []byte
	tear int // how much of rest was there when Tear was called last
	torn []string
}

// Tear implements Source.
func (l *lines) Tear() {
	if l.tear < len(l.rest) {
		l.torn = append(l.torn, string(l.rest[l.tear:]))
		if l.tear > 0 {
			l.torn = append(l.torn, string(l.rest))
		}
		l.tear = len(l.rest)
	}
}

// Torn implements Source.
func (l *lines) Torn() []string {
	all := l.torn
	l.torn = nil
	return all
}

// finish adds the line of the first n bytes, unless it was torn.
func (l *lines) finish(all []string, n int) []string {
	line := bytes.TrimSuffix(l.rest[:n], []byte("\r"))
	if l.tear > 0 {
		l.torn = append(l.torn, string(line[min(l.tear, len(line)):]), string(line))
	} else {
		all = append(all, string(line))
	}
	l.rest, l.tear = append(l.rest[:0], l.rest[n:]...), 0
	return all
}

// add returns the lines that end in more bytes.
func (l *lines) add(more []byte) (all []string) {
	for len(more) > 0 {
		i := bytes.IndexByte(more, '\n')
		if i < 0 {
			l.rest = append(l.rest, more...)
			for len(l.rest) >= MaxLine {
				all = l.finish(all, MaxLine)
			}
			return all
		}
		l.rest = append(l.rest, more[:i]...)
		all, more = l.finish(all, len(l.rest)), more[i+1:]
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
	if l.tear == len(l.rest) {
		l.forget()
		return nil
	}
	return l.finish(nil, len(l.rest))
}

// forget forgets a line without an end.
func (l *lines) forget() { l.rest, l.tear = nil, 0 }

// File follows a file that another program writes. It goes on when that program rotates the file,
// or truncates it.
type File struct {
	path  string
	found bool // it was there
	// the one that has the name last, and before it those that had it, the oldest first
	files  []*followed
	torn   []string
	buffer []byte
}

// followed is a file as far as it was read.
type followed struct {
	file   *os.File
	offset int64
	lines
	before []byte    // the last bytes before offset, compareMost at most
	zeros  bool      // it begins with zeros, and nothing else was read yet
	stamp  time.Time // when it was changed, as it was last compared
	quiet  bool      // it was not changed shortly before that
	came   time.Time // when something came last, or when it lost its name
	asked  time.Time // when it was last asked who writes it
	begun  bool      // it has had something, and so the file before it was torn
}

const (
	// compareMost is how many bytes before a place show that the file is still the same up to
	// there.
	compareMost = 4096
	// stampFor is for how long the time of a change may stay the same while a file is written.
	stampFor = 100 * time.Millisecond
	// askAfter is how long after a change of name, and how often, it is asked who writes a file.
	askAfter = time.Second
	// keepFor is for how long a file without its name is read on after its last line, if nobody can
	// say who writes it.
	keepFor = time.Minute
	// keepMost is how many such files are read on.
	keepMost = 16
)

// Tail returns a Source of the lines of a file, which need not be there yet. fromEnd: those that it
// has now do not count.
func Tail(path string, fromEnd bool) (*File, error) {
	f := &File{path: path, buffer: make([]byte, 1<<16)}
	if err := f.openNew(); err != nil {
		return nil, err
	}
	if fromEnd && f.found {
		if err := f.files[0].toEnd(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// openNew opens the file that has the name, to be read from its beginning, unless it is open.
func (f *File) openNew() error {
	now, err := os.Stat(f.path)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	}
	if len(f.files) > 0 {
		last := f.files[len(f.files)-1]
		if info, err := last.file.Stat(); err != nil || os.SameFile(now, info) {
			return err
		}
		last.came = time.Now()
	}
	file, err := os.Open(f.path)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	}
	if now, err = file.Stat(); err != nil {
		return errors.Join(err, file.Close())
	}
	for i, old := range f.files { // one may have its name again
		if info, err := old.file.Stat(); err != nil {
			return errors.Join(err, file.Close())
		} else if os.SameFile(now, info) {
			f.files = append(slices.Delete(f.files, i, i+1), old)
			return file.Close()
		}
	}
	f.files, f.found = append(f.files, &followed{file: file}), true
	return nil
}

// toEnd goes to the end of a file of which nothing was read.
func (f *followed) toEnd() error {
	end, err := f.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	f.before = make([]byte, min(end, compareMost))
	n, err := f.file.ReadAt(f.before, end-int64(len(f.before)))
	if err != nil && err != io.EOF {
		return err
	}
	f.offset, f.before = end, f.before[:n] // less of it if it is being cut off, which is seen later
	return nil
}

// Tear implements Source.
func (f *File) Tear() {
	for _, old := range f.files {
		old.Tear()
		f.torn = append(f.torn, old.Torn()...)
	}
}

// Torn implements Source.
func (f *File) Torn() []string {
	all := f.torn
	f.torn = nil
	return all
}

// Descriptor implements Source.
func (f *File) Descriptor() int { return -1 }

// Path is that of the file.
func (f *File) Path() string { return f.path }

// Found reports whether the file was there at some time.
func (f *File) Found() bool { return f.found }

// Close implements Source.
func (f *File) Close() error {
	var all error
	for _, old := range f.files {
		all = errors.Join(all, old.file.Close())
	}
	f.files = nil
	return all
}

// Read implements Source. A program writes on to a file that was moved away until it opens the new
// one. So lines of files that had the name come first. Each file is read before the older ones:
// what these have later comes with a later call. lost is from before all lines of the call.
func (f *File) Read() (all []string, lost string, err error) {
	if err := f.openNew(); err != nil {
		return nil, "", err
	}
	over, skipped := f.over()
	parts := make([][]string, len(f.files))
	first := 0 // lines of files before it are from before a loss
	for i, old := range slices.Backward(f.files) {
		cut := false
		if parts[i], cut, err = old.read(f.buffer); err != nil {
			return nil, "", err
		}
		if cut && lost == "" {
			lost, first = f.path+" was cut off, and lines may be missing", i
		}
	}
	if skipped {
		lost = f.path + " was moved away too often, and lines may be missing"
	}
	for i, old := range f.files {
		if over[i] {
			parts[i] = append(parts[i], old.Last()...)
		} else if i+1 < len(f.files) && f.files[i+1].offset > 0 && !f.files[i+1].begun {
			f.files[i+1].begun = true
			old.Tear() // its program, or one of them, has gone on in the next one
		}
		if i >= first {
			all = append(all, parts[i]...)
		}
		f.torn = append(f.torn, old.Torn()...)
		if over[i] {
			err = errors.Join(err, old.file.Close())
		}
	}
	i := -1
	f.files = slices.DeleteFunc(f.files, func(*followed) bool { i++; return over[i] })
	return all, lost, err
}

// over reports to which files without their name nobody writes any more. skipped: one of them may
// still be written, but they are too many.
func (f *File) over() (over []bool, skipped bool) {
	over = make([]bool, len(f.files))
	now := time.Now()
	for i := range len(f.files) - 1 {
		old := f.files[i]
		idle := now.Sub(old.came) >= keepFor
		if now.Sub(old.came) >= askAfter && now.Sub(old.asked) >= askAfter {
			old.asked = now
			written, known := isWritten(old.file)
			over[i] = known && !written || !known && idle
		}
		if len(f.files)-i > keepMost+1 && !over[i] {
			over[i], skipped = true, skipped || !idle
		}
	}
	return over, skipped
}

// isWritten reports whether a process has a file open to write to it. known: the kernel says so,
// which it does to root and to the file's owner.
func isWritten(file *os.File) (written, known bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return false, false
	}
	wrong := raw.Control(func(fd uintptr) {
		// The kernel gives a lease to readers only while nobody writes.
		if _, err = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err == nil {
			_, err = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	written = errors.Is(err, unix.EAGAIN)
	return written, wrong == nil && (err == nil || written)
}

// read returns the lines that have come. cut: the file was cut off, and these are lines from its
// beginning.
func (f *followed) read(buffer []byte) (all []string, cut bool, err error) {
	for {
		n, err := f.file.ReadAt(buffer, f.offset)
		if err != nil && err != io.EOF {
			return nil, cut, err
		}
		// After it was read: so it was the same all the time.
		same, wrong := f.isSame(n)
		if wrong != nil {
			return nil, cut, wrong
		}
		if !same {
			f.forget()
			f.offset, f.before, f.zeros = 0, f.before[:0], false
			all, cut = nil, true // what came before is from before the loss
			continue
		}
		if f.offset == 0 && n > 0 && buffer[0] == 0 {
			// It was cut off, and its program went on at its old place, without O_APPEND.
			all, cut, f.zeros = nil, true, true
			if data, err := f.file.Seek(0, unix.SEEK_DATA); err == nil && data > 0 {
				f.offset = data
				continue
			}
		}
		f.take(buffer[:n])
		if f.zeros {
			rest := bytes.TrimLeft(buffer[:n], "\x00")
			f.zeros = len(rest) == 0
			all = append(all, f.add(rest)...)
		} else {
			all = append(all, f.add(buffer[:n])...)
		}
		if n > 0 {
			f.came = time.Now()
		}
		if err == io.EOF {
			return all, cut, nil
		}
	}
}

// take notes that some bytes were read.
func (f *followed) take(more []byte) {
	f.offset += int64(len(more))
	f.before = append(f.before, more[max(0, len(more)-compareMost):]...)
	if over := len(f.before) - compareMost; over > 0 {
		f.before = slices.Delete(f.before, 0, over)
	}
}

// isSame reports whether the file, of which n further bytes were read, has the same bytes as before
// up to there. It compares the last ones, and only if something has changed.
func (f *followed) isSame(n int) (bool, error) {
	info, err := f.file.Stat()
	if err != nil || info.Size() < f.offset+int64(n) {
		return false, err
	}
	stamp := info.ModTime()
	if n == 0 && f.quiet && stamp.Equal(f.stamp) {
		return true, nil
	}
	f.stamp, f.quiet = stamp, time.Since(stamp) > stampFor
	var block [compareMost]byte
	now := block[:len(f.before)]
	got, err := f.file.ReadAt(now, f.offset-int64(len(now)))
	if err != nil && err != io.EOF {
		return false, err
	}
	return bytes.Equal(now[:got], f.before), nil
}
