package native

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tailing is a log file that a test writes, and its lines.
type tailing struct {
	*testing.T
	path string
	file *File
}

func newTailing(t *testing.T, fromEnd bool) *tailing {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return &tailing{t, path, tail(t, path, fromEnd)}
}

// tail follows a file until the test ends.
func tail(t *testing.T, path string, fromEnd bool) *File {
	t.Helper()
	f, err := Tail(path, fromEnd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// open opens the file as its program does.
func (t *tailing) open(flags int) *os.File {
	t.Helper()
	w, err := os.OpenFile(t.path, os.O_CREATE|os.O_WRONLY|flags, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func (t *tailing) write(w *os.File, text string) {
	t.Helper()
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// rotate moves the file away and makes a new one, as logrotate does.
func (t *tailing) rotate(to string) {
	t.Helper()
	if err := os.Rename(t.path, t.path+to); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(t.path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// read reads everything that has come.
func (t *tailing) read(losing bool, want ...string) {
	t.Helper()
	got, lost, err := t.file.Read()
	if err != nil || !slices.Equal(got, want) || (lost != "") != losing {
		t.Errorf("%.200q %q %v, want %.200q, lost %v", got, lost, err, want, losing)
	}
}

// isOpen is how many descriptors of this process are of files whose path begins like the log's.
func (t *tailing) isOpen() (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, t.path) {
			n++
		}
	}
	return n
}

// TestTailRotated: a program writes on to a file that was moved away, until it opens the new one.
// All lines come, in order, also when it was not looked for some time.
func TestTailRotated(t *testing.T) {
	f := newTailing(t, false)
	w := f.open(os.O_APPEND)
	f.write(w, "1\n")
	f.read(false, "1")
	f.write(w, "2\n")
	f.rotate(".1")
	f.read(false, "2")
	f.write(w, "3\nfou")
	f.read(false, "3")
	f.write(w, "r\n")
	next := f.open(os.O_APPEND)
	f.write(next, "5\n")
	f.read(false, "four", "5")
	f.write(w, "6\n")
	f.read(false, "6")
	f.write(next, "7 with no end")
	f.read(false)
	f.rotate(".2")
	f.read(false)
	f.write(f.open(os.O_APPEND), "8\n")
	f.read(false, "8")
	if torn := f.file.Torn(); !slices.Equal(torn, []string{"7 with no end"}) {
		t.Errorf("torn: %q", torn)
	}
}

// TestTorn: what comes behind a line without an end may belong to it or not, where another process
// may have written it. So neither is a line.
func TestTorn(t *testing.T) {
	f := newTailing(t, false)
	w := f.open(os.O_APPEND)
	read := func(how string, lines, torn []string) {
		t.Helper()
		got, lost, err := f.file.Read()
		if more := f.file.Torn(); err != nil || lost != "" || !slices.Equal(got, lines) || !slices.Equal(more, torn) {
			t.Errorf("%s: lines %q, torn %q, %q, %v", how, got, more, lost, err)
		}
	}
	f.write(w, "one\n7")
	read("no end yet", []string{"one"}, nil)
	f.file.Tear()
	f.file.Tear()
	read("torn", nil, []string{"7"})
	f.write(w, "1\ntwo\n")
	read("the rest", []string{"two"}, []string{"1", "71"})
	f.file.Tear()
	f.write(w, "three\n8")
	read("nothing to tear", []string{"three"}, nil)

	// Another program writes the new file while this one is in the midst of a line.
	f.rotate(".1")
	f.write(f.open(os.O_APPEND), "four\n")
	read("moved away", []string{"four"}, []string{"8"})
	f.write(w, "2\n")
	read("the rest in the old file", nil, []string{"2", "82"})
}

// TestTailClosed: a file that was moved away is closed when nobody writes it any more, and read
// before. It stays open as long as somebody writes it, also a program that is idle for long.
func TestTailClosed(t *testing.T) {
	f := newTailing(t, false)
	w := f.open(os.O_APPEND)
	f.write(w, "1\n")
	f.read(false, "1")
	f.rotate(".1")
	f.read(false)
	later := func() {
		for _, old := range f.file.files {
			old.came, old.asked = old.came.Add(-2*keepFor), old.asked.Add(-2*keepFor)
		}
	}
	later()
	f.read(false)
	if n := f.isOpen(); n != 3 { // one is the program's
		t.Errorf("%d files are open, want 3", n)
	}
	f.write(w, "2\nend")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	later()
	f.read(false, "2", "end")
	if n := f.isOpen(); n != 1 {
		t.Errorf("%d files are open, want 1", n)
	}
	for i := range 50 {
		w := f.open(os.O_APPEND)
		f.write(w, fmt.Sprintln("line", i))
		f.rotate(".1")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		later()
		f.read(false, fmt.Sprint("line ", i))
	}
	later()
	f.read(false)
	if n := f.isOpen(); n != 1 {
		t.Errorf("after 50 rotations %d files are open, want 1", n)
	}
}

// TestTailMany: however many files are moved away and still written, only some are read on, and it
// is said.
func TestTailMany(t *testing.T) {
	f := newTailing(t, false)
	for i := range keepMost + 3 {
		f.write(f.open(os.O_APPEND), fmt.Sprintln("line", i))
		f.read(i > keepMost, fmt.Sprint("line ", i))
		f.rotate(fmt.Sprint(".", i))
	}
	if n := len(f.file.files); n != keepMost+1 {
		t.Errorf("%d files are read, want %d", n, keepMost+1)
	}
}

// TestTailCutOff: it is seen that a file was cut off in place, also when it is at once as long as
// before, or longer. Its lines from the beginning come then.
func TestTailCutOff(t *testing.T) {
	long := strings.Repeat("a line that was there before\n", 10_000)
	for _, c := range []struct{ before, after string }{
		{"v 1\n", "v 666\nv 2\n"},
		{"v 1\n", "v 2\n"}, // at the same length
		{"v 1\nwith no end", "v 2\n" + long},
		{long, "v 666\n" + long},
		{long + "last\n", "v 1\n"},
	} {
		for _, fromEnd := range []bool{false, true} {
			f := newTailing(t, false)
			w := f.open(os.O_APPEND)
			f.write(w, c.before)
			if fromEnd {
				f.file = tail(t, f.path, true)
			} else if _, lost, err := f.file.Read(); lost != "" || err != nil {
				t.Fatal(lost, err)
			}
			if err := os.Truncate(f.path, 0); err != nil {
				t.Fatal(err)
			}
			f.write(w, c.after)
			f.read(true, strings.Split(strings.TrimSuffix(c.after, "\n"), "\n")...)
			f.write(w, "more\n")
			f.read(false, "more")
		}
	}
}

// TestTailSparse: a program without O_APPEND writes on at its old place when its file was cut off.
// The zeros before that are no part of a line.
func TestTailSparse(t *testing.T) {
	for _, size := range []int{100, 5000, 1 << 17} {
		for _, unread := range []string{"", "not read\n"} {
			f := newTailing(t, false)
			w := f.open(0)
			f.write(w, strings.Repeat("x", size)+"\n")
			f.read(false, divided(strings.Repeat("x", size))...)
			f.write(w, unread)
			if err := os.Truncate(f.path, 0); err != nil {
				t.Fatal(err)
			}
			f.write(w, "v 666\nv 2\n")
			f.read(true, "v 666", "v 2")
			f.write(w, "v 3\n")
			f.read(false, "v 3")
			f.file = tail(t, f.path, false)
			f.read(true, "v 666", "v 2", "v 3") // what came before is missing, too
		}
	}
}

// divided are the lines that a long line gives.
func divided(line string) (all []string) {
	for ; len(line) >= MaxLine; line = line[MaxLine:] {
		all = append(all, line[:MaxLine])
	}
	return append(all, line)
}

// TestTailUnchanged: a file that nobody changes is not compared again.
func TestTailUnchanged(t *testing.T) {
	f := newTailing(t, false)
	f.write(f.open(os.O_APPEND), "1\n")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(f.path, past, past); err != nil {
		t.Fatal(err)
	}
	f.read(false, "1")
	f.file.files[0].before = bytes.Repeat([]byte("?"), 2)
	f.read(false)
}

// TestTailAgain: a file that gets its name again is read on where it was.
func TestTailAgain(t *testing.T) {
	f := newTailing(t, false)
	w := f.open(os.O_APPEND)
	f.write(w, "1\n")
	f.read(false, "1")
	f.rotate(".1")
	f.read(false)
	f.write(w, "2\n")
	if err := unix.Rename(f.path+".1", f.path); err != nil {
		t.Fatal(err)
	}
	f.read(false, "2")
	if n := len(f.file.files); n != 2 {
		t.Errorf("%d files are read, want 2", n)
	}
}
