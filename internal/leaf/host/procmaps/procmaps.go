// Package procmaps reads /proc/PID/maps (proc_pid_maps(5)). Programs read it, too, some of them ten
// times a second, so it copies nothing.
package procmaps

import (
	"iter"
	"strings"

	"golang.org/x/sys/unix"
)

// Mapping is one line of /proc/PID/maps.
type Mapping struct {
	Start, End uint64 // addresses
	Offset     uint64 // in the file
	Dev, Inode uint64 // of the file, as stat(2) shows them; 0, 0 without one
	Perms      string // as in "r-xp"
	Name       string // the file's path, which may end in " (deleted)", or a name as [heap], or ""
}

// Shared reports whether other processes may see what is written to the mapping.
func (m Mapping) Shared() bool { return m.Perms[3] == 's' }

// Readable reports whether the process may read the mapping.
func (m Mapping) Readable() bool { return m.Perms[0] == 'r' }

// Writable reports whether the process may write to the mapping.
func (m Mapping) Writable() bool { return m.Perms[1] == 'w' }

// Executable reports whether the process may run code of the mapping.
func (m Mapping) Executable() bool { return m.Perms[2] == 'x' }

// Parse reads a line, with or without its end. It is not ok when the line describes no mapping, as
// most lines of /proc/PID/smaps.
func Parse(line string) (m Mapping, ok bool) {
	l := scanner{line: strings.TrimSuffix(line, "\n"), ok: true}
	m.Start = l.number(16, '-')
	m.End = l.number(16, ' ')
	m.Perms = l.word()
	m.Offset = l.number(16, ' ')
	major := l.number(16, ':')
	minor := l.number(16, ' ')
	m.Inode = l.number(10, ' ')
	m.Name = strings.TrimLeft(l.line, " ")
	m.Dev = unix.Mkdev(uint32(major), uint32(minor))
	return m, l.ok && len(m.Perms) == 4
}

// All are the mappings in the text of /proc/PID/maps or smaps, in its order.
func All(text string) iter.Seq[Mapping] {
	return func(yield func(Mapping) bool) {
		for line := range strings.Lines(text) {
			if m, ok := Parse(line); ok && !yield(m) {
				return
			}
		}
	}
}

// scanner takes one field after the other from a line.
type scanner struct {
	line string // what is left
	ok   bool
}

// number takes a number that end follows, or that the line ends with.
func (s *scanner) number(base uint64, end byte) (n uint64) {
	i := 0
	for ; i < len(s.line) && s.line[i] != end; i++ {
		c, digit := s.line[i], base
		switch {
		case '0' <= c && c <= '9':
			digit = uint64(c - '0')
		case 'a' <= c && c <= 'f':
			digit = uint64(c-'a') + 10
		}
		s.ok = s.ok && digit < base
		n = n*base + digit
	}
	s.ok = s.ok && 0 < i && i <= 20
	s.line = s.line[min(i+1, len(s.line)):]
	return n
}

// word takes what comes before the next space.
func (s *scanner) word() (w string) {
	w, s.line, _ = strings.Cut(s.line, " ")
	return w
}
