package sys

import (
	"bytes"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// Places in a fake process's memory.
const (
	fdsAt  = kerneltest.Base
	timeAt = kerneltest.Base + 0x100
	setAt  = kerneltest.Base + 0x200
	iovAt  = kerneltest.Base + 0x400
	bufAt  = kerneltest.Base + 0x1000
	bad    = 0x10
)

func newProcess(t *testing.T) (*kerneltest.Driver, *kernel.Thread, *kerneltest.Tracee) {
	d := kerneltest.NewDriver(t, Handle)
	th, m := d.Process(nil)
	return d, th, m
}

// pipeOf makes a pipe and returns its descriptors.
func pipeOf(d *kerneltest.Driver, t *kernel.Thread, flags uint64) (r, w uint64) {
	d.T.Helper()
	want(d.T, "pipe2", d.Must(t, unix.SYS_PIPE2, fdsAt, flags), 0)
	b := t.M.(*kerneltest.Tracee).Peek(fdsAt, 8)
	return uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
}

func want(t testing.TB, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %d, want %d", what, got, want)
	}
}

func errno(e kernel.Errno) int64 { return -int64(e) }

func TestReadBlocksUntilWrite(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	d.Waits(a, unix.SYS_READ, r, bufAt, 10)
	m.Poke(bufAt+100, []byte("hello"))
	want(t, "write", d.Must(b, unix.SYS_WRITE, w, bufAt+100, 5), 5)
	want(t, "read", d.Done(a), 5)
	if got := m.Peek(bufAt, 5); string(got) != "hello" {
		t.Errorf("read %q", got)
	}
	d.Waits(a, unix.SYS_READ, r, bufAt, 10)
	want(t, "close", d.Must(b, unix.SYS_CLOSE, w), 0)
	want(t, "read at end of file", d.Done(a), 0)
}

func TestReadWriteErrors(t *testing.T) {
	d, a, _ := newProcess(t)
	r, w := pipeOf(d, a, unix.O_NONBLOCK)
	for _, c := range []struct {
		what string
		nr   int
		args []uint64
		want kernel.Errno
	}{
		{"read of a closed descriptor", unix.SYS_READ, []uint64{99, bufAt, 1}, unix.EBADF},
		{"read of the write end", unix.SYS_READ, []uint64{w, bufAt, 1}, unix.EBADF},
		{"write of the read end", unix.SYS_WRITE, []uint64{r, bufAt, 1}, unix.EBADF},
		{"empty pipe", unix.SYS_READ, []uint64{r, bufAt, 1}, unix.EAGAIN},
		{"write of bad memory", unix.SYS_WRITE, []uint64{w, bad, 1}, unix.EFAULT},
		{"pread of a pipe", unix.SYS_PREAD64, []uint64{r, bufAt, 1, 0}, unix.ESPIPE},
		{"pread at a negative offset", unix.SYS_PREAD64, []uint64{r, bufAt, 1, 1 << 63}, unix.EINVAL},
		{"pwrite of a pipe", unix.SYS_PWRITE64, []uint64{w, bufAt, 1, 0}, unix.ESPIPE},
		{"preadv2 with an offset", unix.SYS_PREADV2, []uint64{r, iovAt, 1, 5, 0, 0}, unix.ESPIPE},
		{"preadv2 with an unknown flag", unix.SYS_PREADV2, []uint64{r, iovAt, 1, ^uint64(0), 0, 1 << 20},
			unix.EOPNOTSUPP},
		{"readv of too many", unix.SYS_READV, []uint64{r, iovAt, 1025}, unix.EINVAL},
		{"close of a closed descriptor", unix.SYS_CLOSE, []uint64{99}, unix.EBADF},
		{"dup3 onto itself", unix.SYS_DUP3, []uint64{r, r, 0}, unix.EINVAL},
		{"pipe2 with an unknown flag", unix.SYS_PIPE2, []uint64{fdsAt, 1}, unix.EINVAL},
	} {
		want(t, c.what, d.Must(a, c.nr, c.args...), errno(c.want))
	}
}

func TestBigWriteIsPartialAndResumes(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	data := bytes.Repeat([]byte("0123456789abcdef"), 0x1800) // 96 KiB
	m.Poke(bufAt, data)
	d.Waits(a, unix.SYS_WRITE, w, bufAt, uint64(len(data)))
	var got []byte
	for len(got) < len(data) {
		n := d.Must(b, unix.SYS_READ, r, bufAt+0x20000, 5000)
		got = append(got, m.Peek(bufAt+0x20000, int(n))...)
	}
	want(t, "write", d.Done(a), int64(len(data)))
	if !bytes.Equal(got, data) {
		t.Error("bytes changed on the way")
	}
	// Not blocking: what fits.
	d.Must(a, unix.SYS_FCNTL, w, unix.F_SETFL, unix.O_NONBLOCK)
	want(t, "write", d.Must(a, unix.SYS_WRITE, w, bufAt, uint64(len(data))), 65536)
	want(t, "write", d.Must(a, unix.SYS_WRITE, w, bufAt, 1), errno(unix.EAGAIN))
}

func TestInterruptedWriteReturnsProgress(t *testing.T) {
	d, a, _ := newProcess(t)
	_, w := pipeOf(d, a, 0)
	d.Waits(a, unix.SYS_WRITE, w, bufAt, 100000)
	a.Wait.Interrupted = true
	a.Unpark()
	d.Settle()
	want(t, "interrupted write", d.Done(a), 65536)
}

func TestBrokenPipe(t *testing.T) {
	d, a, _ := newProcess(t)
	r, w := pipeOf(d, a, 0)
	d.Must(a, unix.SYS_CLOSE, r)
	want(t, "write", d.Must(a, unix.SYS_WRITE, w, bufAt, 1), errno(unix.EPIPE))
	if len(a.Pending) != 1 || a.Pending[0].Signo != int(unix.SIGPIPE) {
		t.Errorf("pending: %v", a.Pending)
	}
}

func TestVectors(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	var v []byte
	for _, x := range []uint64{bufAt, 3, bufAt + 10, 0, bufAt + 20, 4} {
		v = le.AppendUint64(v, x)
	}
	m.Poke(iovAt, v)
	m.Poke(bufAt, []byte("abc"))
	m.Poke(bufAt+20, []byte("defg"))
	want(t, "writev", d.Must(a, unix.SYS_WRITEV, w, iovAt, 3), 7)
	m.Poke(bufAt, make([]byte, 30))
	want(t, "readv", d.Must(a, unix.SYS_READV, r, iovAt, 3), 7)
	if s := string(m.Peek(bufAt, 3)) + string(m.Peek(bufAt+20, 4)); s != "abcdefg" {
		t.Errorf("read %q", s)
	}
}

// TestCloseUnderReader: a thread that waits in read keeps its file, whatever others do to the
// number.
func TestCloseUnderReader(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	d.Waits(a, unix.SYS_READ, r, bufAt, 10)
	d.Must(b, unix.SYS_CLOSE, r)
	r2, _ := pipeOf(d, b, 0)
	want(t, "number of the new pipe", int64(r2), int64(r))
	m.Poke(bufAt+100, []byte("x"))
	want(t, "write", d.Must(b, unix.SYS_WRITE, w, bufAt+100, 1), 1)
	want(t, "read", d.Done(a), 1)
	want(t, "write after the last reader", d.Must(b, unix.SYS_WRITE, w, bufAt+100, 1), errno(unix.EPIPE))
}

func TestDup(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	m.Poke(bufAt, []byte("xyz"))
	w2 := uint64(d.Must(a, unix.SYS_DUP, w))
	want(t, "dup2", d.Must(a, unix.SYS_DUP2, r, 50), 50)
	want(t, "dup2 onto itself", d.Must(a, unix.SYS_DUP2, r, r), int64(r))
	want(t, "F_DUPFD_CLOEXEC", d.Must(a, unix.SYS_FCNTL, r, unix.F_DUPFD_CLOEXEC, 60), 60)
	want(t, "F_GETFD", d.Must(a, unix.SYS_FCNTL, 60, unix.F_GETFD), unix.FD_CLOEXEC)
	want(t, "F_GETFD", d.Must(a, unix.SYS_FCNTL, 50, unix.F_GETFD), 0)
	d.Must(a, unix.SYS_CLOSE, w)
	want(t, "write", d.Must(a, unix.SYS_WRITE, w2, bufAt, 3), 3)
	want(t, "dup2 over the last write end", d.Must(a, unix.SYS_DUP2, r, w2), int64(w2))
	want(t, "read", d.Must(a, unix.SYS_READ, 50, bufAt, 10), 3)
	want(t, "read at end of file", d.Must(a, unix.SYS_READ, w2, bufAt, 10), 0)
	d.Must(a, unix.SYS_CLOSE_RANGE, 0, 55, 0)
	if got := a.FDs().Numbers(); len(got) != 1 || got[0] != 60 {
		t.Errorf("left open: %v", got)
	}
}

func TestEventFD(t *testing.T) {
	d, a, m := newProcess(t)
	fd := uint64(d.Must(a, unix.SYS_EVENTFD2, 0, unix.EFD_SEMAPHORE))
	b, _ := d.Thread(a)
	want(t, "short read", d.Must(a, unix.SYS_READ, fd, bufAt, 4), errno(unix.EINVAL))
	d.Waits(a, unix.SYS_READ, fd, bufAt, 8)
	m.Poke(bufAt+8, le.AppendUint64(nil, 2))
	want(t, "write", d.Must(b, unix.SYS_WRITE, fd, bufAt+8, 8), 8)
	want(t, "read", d.Done(a), 8)
	want(t, "value", int64(le.Uint64(m.Peek(bufAt, 8))), 1)
	d.Must(a, unix.SYS_READ, fd, bufAt, 8)
	d.Waits(a, unix.SYS_READ, fd, bufAt, 8)
}
