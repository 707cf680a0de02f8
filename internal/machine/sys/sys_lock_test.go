package sys

import (
	"os"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// tempFile returns a real descriptor of a new file with the given contents.
func tempFile(t *testing.T, contents string) int {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	f.WriteString(contents)
	f.Seek(0, 0)
	return int(f.Fd())
}

// putFlock stores a struct flock for fcntl.
func putFlock(a *kernel.Thread, typ, whence int, start, length int64) uint64 {
	b := make([]byte, flockSize)
	le.PutUint16(b, uint16(typ))
	le.PutUint16(b[2:], uint16(whence))
	le.PutUint64(b[8:], uint64(start))
	le.PutUint64(b[16:], uint64(length))
	a.M.WriteMem(setAt, b)
	return setAt
}

func TestPOSIXLocks(t *testing.T) {
	d, a, m := newProcess(t)
	real := tempFile(t, "0123456789")
	unix.Seek(real, 4, unix.SEEK_SET)
	fa := m.Open(a, real, unix.O_RDWR)
	b, mb := d.Process(nil)
	fb := mb.Open(b, real, unix.O_RDWR)
	lock := func(th *kernel.Thread, fd uint64, cmd, typ, whence int, start, length int64) (kernel.Result, bool) {
		return d.Call(th, unix.SYS_FCNTL, fd, uint64(cmd), putFlock(th, typ, whence, start, length))
	}
	expect := func(what string, r kernel.Result, done bool, v int64) {
		t.Helper()
		if !done || r.Value != v {
			t.Fatalf("%s: %d, done %v; want %d", what, r.Value, done, v)
		}
	}
	r, ok := lock(a, fa, unix.F_SETLK, unix.F_WRLCK, unix.SEEK_CUR, -2, 4) // 2 to 5
	expect("lock", r, ok, 0)
	r, ok = lock(b, fb, unix.F_SETLK, unix.F_RDLCK, unix.SEEK_END, -5, 1) // 5
	expect("lock of another's", r, ok, errno(unix.EAGAIN))
	r, ok = lock(b, fb, unix.F_GETLK, unix.F_RDLCK, unix.SEEK_SET, 0, 0)
	expect("who", r, ok, 0)
	got := mb.Peek(setAt, flockSize)
	if le.Uint16(got) != unix.F_WRLCK || le.Uint64(got[8:]) != 2 || le.Uint64(got[16:]) != 4 ||
		int(le.Uint32(got[24:])) != a.Proc.PID {
		t.Errorf("F_GETLK: %v", got)
	}
	r, ok = lock(b, fb, unix.F_SETLK, 77, unix.SEEK_SET, 0, 0)
	expect("bad type", r, ok, errno(unix.EINVAL))
	r, ok = lock(b, fb, unix.F_SETLK, unix.F_RDLCK, unix.SEEK_SET, 1, -2)
	expect("before the start", r, ok, errno(unix.EINVAL))

	r, ok = lock(b, fb, unix.F_SETLK, unix.F_WRLCK, unix.SEEK_SET, 8, 1)
	expect("elsewhere", r, ok, 0)
	if _, ok = lock(b, fb, unix.F_SETLKW, unix.F_WRLCK, unix.SEEK_SET, 2, 1); ok {
		t.Fatal("F_SETLKW did not wait")
	}
	r, ok = lock(a, fa, unix.F_SETLKW, unix.F_WRLCK, unix.SEEK_SET, 8, 1)
	expect("deadlock", r, ok, errno(unix.EDEADLK))
	r, ok = lock(a, fa, unix.F_SETLK, unix.F_UNLCK, unix.SEEK_SET, 2, 1)
	expect("unlock", r, ok, 0)
	want(t, "waiter", d.Done(b), 0)
	if _, ok = lock(a, fa, unix.F_SETLKW, unix.F_WRLCK, unix.SEEK_SET, 2, 1); ok {
		t.Fatal("F_SETLKW did not wait")
	}
	b.Proc.Exit(0, 0, false)
	d.Settle()
	want(t, "after the other's exit", d.Done(a), 0)
}

func TestOFDLocks(t *testing.T) {
	d, a, m := newProcess(t)
	real := tempFile(t, "")
	f, g := m.Open(a, real, unix.O_RDWR), m.Open(a, real, unix.O_RDONLY)
	put := func(typ int) uint64 { return putFlock(a, typ, unix.SEEK_SET, 0, 0) }
	want(t, "lock", d.Must(a, unix.SYS_FCNTL, f, unix.F_OFD_SETLK, put(unix.F_WRLCK)), 0)
	want(t, "same process, other file", d.Must(a, unix.SYS_FCNTL, g, unix.F_OFD_SETLK, put(unix.F_RDLCK)),
		errno(unix.EAGAIN))
	want(t, "wrong mode", d.Must(a, unix.SYS_FCNTL, g, unix.F_OFD_SETLK, put(unix.F_WRLCK)), errno(unix.EBADF))
	want(t, "POSIX beside it", d.Must(a, unix.SYS_FCNTL, g, unix.F_SETLK, put(unix.F_RDLCK)), errno(unix.EAGAIN))
	h := uint64(d.Must(a, unix.SYS_DUP, f))
	d.Must(a, unix.SYS_CLOSE, f)
	want(t, "still held", d.Must(a, unix.SYS_FCNTL, g, unix.F_OFD_SETLK, put(unix.F_RDLCK)), errno(unix.EAGAIN))
	d.Must(a, unix.SYS_CLOSE, h)
	want(t, "released", d.Must(a, unix.SYS_FCNTL, g, unix.F_OFD_SETLK, put(unix.F_RDLCK)), 0)
}

func TestLockOfEmulatedFile(t *testing.T) {
	d, a, m := newProcess(t)
	f := uint64(d.Must(a, unix.SYS_EVENTFD2, 0, 0))
	want(t, "ask", d.Must(a, unix.SYS_FCNTL, f, unix.F_OFD_GETLK, putFlock(a, unix.F_WRLCK, unix.SEEK_SET, 0, 0)), 0)
	if typ := le.Uint16(m.Peek(setAt, 2)); typ != unix.F_UNLCK {
		t.Errorf("the lock in the way has type %d, want none", typ)
	}
	if n := len(a.Node().Refusals); n != 0 {
		t.Errorf("%d refusals for a question", n)
	}
	want(t, "lock", d.Must(a, unix.SYS_FCNTL, f, unix.F_OFD_SETLK, putFlock(a, unix.F_WRLCK, unix.SEEK_SET, 0, 0)), 0)
	g := uint64(d.Must(a, unix.SYS_EVENTFD2, 0, 0))
	want(t, "the same inode",
		d.Must(a, unix.SYS_FCNTL, g, unix.F_OFD_SETLK, putFlock(a, unix.F_WRLCK, unix.SEEK_SET, 0, 0)),
		errno(unix.EAGAIN))
}

func TestFlockCall(t *testing.T) {
	d, a, m := newProcess(t)
	real := tempFile(t, "")
	f := m.Open(a, real, unix.O_RDWR)
	b, mb := d.Process(nil)
	g := mb.Open(b, real, unix.O_RDWR)
	want(t, "exclusive", d.Must(a, unix.SYS_FLOCK, f, unix.LOCK_EX), 0)
	want(t, "not now", d.Must(b, unix.SYS_FLOCK, g, unix.LOCK_SH|unix.LOCK_NB), errno(unix.EAGAIN))
	want(t, "nonsense", d.Must(b, unix.SYS_FLOCK, g, 15), errno(unix.EINVAL))
	d.Waits(b, unix.SYS_FLOCK, g, unix.LOCK_SH)
	d.Must(a, unix.SYS_FLOCK, f, unix.LOCK_UN)
	want(t, "shared", d.Done(b), 0)
}
