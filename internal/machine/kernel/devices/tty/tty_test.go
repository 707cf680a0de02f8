package tty

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// terminal is one that was just opened, both ends, and a thread that has nothing to do with it.
func terminal(t *testing.T) (*Master, *Slave, *kernel.Thread) {
	t.Helper()
	n := kernel.NewNode(0, "n0", 1)
	p, th := n.NewProcess(nil)
	m := Open(n, 1000)
	if _, e := m.OpenSlave(p, "", false); e != unix.EIO {
		t.Errorf("locked: %v", e)
	}
	m.Locked = false
	s, e := m.OpenSlave(p, "", false)
	if e != 0 {
		t.Fatal(e)
	}
	return m, s, th
}

type reader interface {
	Read(t *kernel.Thread, b []byte) (int, kernel.Errno)
}

// read reads at most 64 bytes; "EAGAIN" and the like when that fails.
func read(th *kernel.Thread, r reader) string {
	b := make([]byte, 64)
	n, e := r.Read(th, b)
	if e != 0 {
		return unix.ErrnoName(e)
	}
	return string(b[:n])
}

// TestLines: what is typed is edited in its line, echoed, and read line by line.
func TestLines(t *testing.T) {
	for _, c := range []struct{ name, typed, read, shown string }{
		{"a line", "ab\r", "ab\n", "ab\r\n"},
		{"half a line", "ab", "EAGAIN", "ab"},
		{"a character is erased", "ab\x7fc\r", "ac\n", "ab\b \bc\r\n"},
		{"a control character is two wide", "\x01\x7f\r", "\n", "^A\b \b\b \b\r\n"},
		{"a word is erased", "one two \x17x\r", "one x\n", "one two \b \b\b \b\b \b\b \bx\r\n"},
		{"the line is erased", "ab\x15c\r", "c\n", "ab\b \b\b \bc\r\n"},
		{"nothing is left to erase", "\x7f\x15\x17\r", "\n", "\r\n"},
		{"the next one has no meaning", "\x16\x03\r", "\x03\n", "^\b^C\r\n"},
		{"end of file in an empty line", "\x04", "", "EAGAIN"},
		{"end of file behind some", "ab\x04", "ab", "ab"},
		{"an interrupt drops the line", "ab\x03c\r", "c\n", "^Cc\r\n"},
	} {
		m, s, th := terminal(t)
		if n, e := m.Write(th, []byte(c.typed)); n != len(c.typed) || e != 0 {
			t.Errorf("%s: typed %d, %v", c.name, n, e)
		}
		if got := read(th, s); got != c.read {
			t.Errorf("%s: read %q, want %q", c.name, got, c.read)
		}
		if got := read(th, m); got != c.shown {
			t.Errorf("%s: shown %q, want %q", c.name, got, c.shown)
		}
	}
}

// TestRaw: without ICANON, ECHO and ISIG all characters come as they are, as soon as there are
// VMIN.
func TestRaw(t *testing.T) {
	m, s, th := terminal(t)
	m.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
	m.Iflag &^= unix.ICRNL | unix.IXON
	m.CC[unix.VMIN] = 3
	m.Write(th, []byte("\x03\x7f"))
	if got := read(th, s); got != "EAGAIN" || s.Ready()&kernel.In != 0 {
		t.Errorf("two of three: %q, ready %v", got, s.Ready())
	}
	m.Write(th, []byte("\r"))
	if got := read(th, s); got != "\x03\x7f\r" {
		t.Errorf("read %q", got)
	}
	if got := read(th, m); got != "EAGAIN" {
		t.Errorf("shown %q", got)
	}
}

// TestOutput: what a program writes is changed as the settings say, and held back between ^S and
// ^Q.
func TestOutput(t *testing.T) {
	m, s, th := terminal(t)
	m.Oflag |= unix.XTABS
	s.Write(th, []byte("a\tb\n"))
	if got := read(th, m); got != "a       b\r\n" {
		t.Errorf("%q", got)
	}
	m.Write(th, []byte("\x13"))
	if n, e := s.Write(th, []byte("x")); n != 0 || e != unix.EAGAIN || s.Ready()&kernel.Out != 0 {
		t.Errorf("stopped: wrote %d, %v", n, e)
	}
	m.Write(th, []byte("\x11"))
	if n, _ := s.Write(th, []byte("x")); n != 1 || read(th, m) != "x" {
		t.Errorf("started again: wrote %d", n)
	}
}

// TestHangUp: when one end is closed the other one hears of it.
func TestHangUp(t *testing.T) {
	m, s, th := terminal(t)
	s.Write(th, []byte("bye"))
	s.Release(th.Node())
	if got := read(th, m); got != "bye" {
		t.Errorf("what was written: %q", got)
	}
	if got := read(th, m); got != "EIO" || m.Ready()&kernel.Hup == 0 {
		t.Errorf("all slaves are closed: %q, ready %v", got, m.Ready())
	}
	m, s, th = terminal(t)
	m.Release(th.Node())
	if n, e := s.Write(th, []byte("x")); n != 0 || e != unix.EIO || read(th, s) != "" || s.Ready()&kernel.Hup == 0 {
		t.Errorf("the master is closed: wrote %d, %v; ready %v", n, e, s.Ready())
	}
	if Any(th.Node()) {
		t.Error("the terminal is still there")
	}
}
