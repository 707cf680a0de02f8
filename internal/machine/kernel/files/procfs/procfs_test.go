package procfs

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// TestWrite: each file takes the values that proc(5) names, and shows what was written.
func TestWrite(t *testing.T) {
	for _, x := range []struct {
		name, written string
		want          kernel.Errno
		shown         string
	}{
		{"comm", "another name", 0, "another name\n"},
		{"comm", "a name of more than fifteen bytes", 0, "a name of more \n"},
		{"oom_score_adj", "-1000\n", 0, "-1000\n"},
		{"oom_score_adj", "1001", unix.EINVAL, "0\n"},
		{"oom_score_adj", "many", unix.EINVAL, "0\n"},
		{"coredump_filter", "0x1ff", 0, "000001ff\n"},
		{"coredump_filter", "0xfff", 0, "000001ff\n"},
		{"timerslack_ns", "70000", 0, "70000\n"},
	} {
		th := kerneltest.Caller(kernel.NewNode(0, "n0", 1))
		f := &Attr{Name: x.name, Proc: th.Proc, Thread: th}
		n, e := f.Write(th, []byte(x.written))
		if e != x.want || e == 0 && n != len(x.written) {
			t.Errorf("%s: write of %q: %d %v", x.name, x.written, n, e)
		}
		if got := AttrText(x.name, th.Proc, th); got != x.shown {
			t.Errorf("%s after %q: %q", x.name, x.written, got)
		}
	}
	th := kerneltest.Caller(kernel.NewNode(0, "n0", 1))
	if _, e := (&Attr{Name: "comm", Proc: th.Proc}).Write(th, []byte("x")); e != unix.ESRCH {
		t.Errorf("the name of a thread that has ended: %v", e)
	}
}

// TestRead: a file's text is the one of when reading began, until it is read from its beginning
// again.
func TestRead(t *testing.T) {
	th := kerneltest.Caller(kernel.NewNode(0, "n0", 1))
	th.Name = "before"
	f := &Attr{Name: "comm", Proc: th.Proc, Thread: th}
	read := func(size int) string {
		b := make([]byte, size)
		n, e := f.Read(th, b)
		if e != 0 {
			t.Fatal(e)
		}
		return string(b[:n])
	}
	first := read(3)
	th.Name = "after"
	if rest := read(100); first+rest != "before\n" {
		t.Errorf("read %q and %q", first, rest)
	}
	if end := read(100); end != "" {
		t.Errorf("read %q behind the end", end)
	}
	if at, e := Seek(f, 0, unix.SEEK_SET); at != 0 || e != 0 {
		t.Errorf("seek: %d %v", at, e)
	}
	if again := read(100); again != "after\n" {
		t.Errorf("read %q from the beginning", again)
	}
	if at, e := Seek(f, -2, unix.SEEK_CUR); at != 4 || e != 0 {
		t.Errorf("seek by -2: %d %v", at, e)
	}
	if rest := read(100); rest != "r\n" {
		t.Errorf("read %q", rest)
	}
	for _, bad := range []struct {
		offset int64
		whence int
	}{{-1, unix.SEEK_SET}, {-100, unix.SEEK_CUR}, {0, unix.SEEK_END}} {
		if _, e := Seek(f, bad.offset, bad.whence); e != unix.EINVAL {
			t.Errorf("seek %v: %v", bad, e)
		}
	}
}
