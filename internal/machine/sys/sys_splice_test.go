package sys

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

func TestSendfile(t *testing.T) {
	d, a, m := newProcess(t)
	text := strings.Repeat("0123456789", 10000)
	real := tempFile(t, text)
	f := m.Open(a, real, unix.O_RDONLY)
	r, w := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	want(t, "into a reading end", d.Must(a, unix.SYS_SENDFILE, r, f, 0, 1), errno(unix.EBADF))
	want(t, "from a pipe", d.Must(a, unix.SYS_SENDFILE, w, r, 0, 1), errno(unix.EINVAL))

	want(t, "sendfile", d.Must(a, unix.SYS_SENDFILE, w, f, 0, 5), 5)
	m.Poke(timeAt, le.AppendUint64(nil, 7))
	want(t, "with an offset", d.Must(a, unix.SYS_SENDFILE, w, f, timeAt, 3), 3)
	want(t, "offset", int64(le.Uint64(m.Peek(timeAt, 8))), 10)
	want(t, "read", d.Must(a, unix.SYS_READ, r, bufAt, 100), 8)
	if s := string(m.Peek(bufAt, 8)); s != "01234789" {
		t.Errorf("read %q", s)
	}

	// More than the pipe holds: what there is room for, by pages of the file.
	const held = 16*4096 - 5
	want(t, "sendfile", d.Must(a, unix.SYS_SENDFILE, w, f, 0, 1<<20), held)
	d.Waits(a, unix.SYS_SENDFILE, w, f, 0, 1<<20)
	var got []byte
	for len(got) < len(text)-5 {
		n := d.Must(b, unix.SYS_READ, r, bufAt, 50000)
		got = append(got, m.Peek(bufAt, int(n))...)
	}
	want(t, "sendfile", d.Done(a), int64(len(text)-5-held))
	if string(got) != text[5:] {
		t.Error("bytes changed on the way")
	}
	pos, _ := unix.Seek(real, 0, unix.SEEK_CUR)
	want(t, "position", pos, int64(len(text)))
	want(t, "at the end", d.Must(a, unix.SYS_SENDFILE, w, f, 0, 10), 0)
}

func TestSplice(t *testing.T) {
	d, a, m := newProcess(t)
	in, out := tempFile(t, "hello, world"), tempFile(t, "")
	fi, fo := m.Open(a, in, unix.O_RDONLY), m.Open(a, out, unix.O_WRONLY)
	r, w := pipeOf(d, a, 0)
	r2, w2 := pipeOf(d, a, 0)
	b, _ := d.Thread(a)
	splice := func(from, offIn, to, offOut, n, flags uint64) int64 {
		t.Helper()
		return d.Must(b, unix.SYS_SPLICE, from, offIn, to, offOut, n, flags)
	}
	want(t, "file to file", splice(fi, 0, fo, 0, 5, 0), errno(unix.EINVAL))
	want(t, "pipe to itself", splice(r, 0, w, 0, 5, 0), errno(unix.EINVAL))
	want(t, "offset of a pipe", splice(r, timeAt, fo, 0, 5, 0), errno(unix.ESPIPE))
	want(t, "empty", splice(r, 0, fo, 0, 5, unix.SPLICE_F_NONBLOCK), errno(unix.EAGAIN))
	d.Waits(a, unix.SYS_SPLICE, r, 0, w2, 0, 100, 0)
	want(t, "file to pipe", splice(fi, 0, w, 0, 100, 0), 12)
	want(t, "pipe to pipe", d.Done(a), 12)
	want(t, "tee", d.Must(a, unix.SYS_TEE, r2, w, 5, 0), 5)
	m.Poke(timeAt, le.AppendUint64(nil, 3))
	want(t, "pipe to file", splice(r, 0, fo, timeAt, 100, 0), 5)
	want(t, "offset", int64(le.Uint64(m.Peek(timeAt, 8))), 8)
	want(t, "pipe to file", splice(r2, 0, fo, 0, 2, 0), 2)
	var buf [16]byte
	n, _ := unix.Pread(out, buf[:], 0)
	if got := string(buf[:n]); got != "he\x00hello" {
		t.Errorf("file %q", got)
	}
	d.Must(a, unix.SYS_CLOSE, r)
	want(t, "no reader", splice(r2, 0, w, 0, 2, 0), errno(unix.EPIPE))
	if b.PendingSignals() != signal.SetOf(int(unix.SIGPIPE)) {
		t.Errorf("pending %#x", b.PendingSignals())
	}
}

func TestVmsplice(t *testing.T) {
	d, a, m := newProcess(t)
	r, w := pipeOf(d, a, 0)
	m.Poke(iovAt, le.AppendUint64(le.AppendUint64(nil, bufAt), 100000))
	want(t, "in", d.Must(a, unix.SYS_VMSPLICE, w, iovAt, 1, 0), 65536)
	want(t, "full", d.Must(a, unix.SYS_VMSPLICE, w, iovAt, 1, unix.SPLICE_F_NONBLOCK), errno(unix.EAGAIN))
	want(t, "out", d.Must(a, unix.SYS_VMSPLICE, r, iovAt, 1, 0), 65536)
}

func TestCopyFileRange(t *testing.T) {
	d, a, m := newProcess(t)
	f, g := m.Open(a, tempFile(t, "abc"), unix.O_RDONLY), m.Open(a, tempFile(t, ""), unix.O_RDWR)
	r, _ := pipeOf(d, a, 0)
	m.Answer[unix.SYS_COPY_FILE_RANGE] = func(args []uint64) int64 { return int64(args[4]) }
	want(t, "files", d.Must(a, unix.SYS_COPY_FILE_RANGE, f, 0, g, 0, 3, 0), 3)
	want(t, "from a pipe", d.Must(a, unix.SYS_COPY_FILE_RANGE, r, 0, g, 0, 3, 0), errno(unix.EINVAL))
	want(t, "read-only", d.Must(a, unix.SYS_COPY_FILE_RANGE, g, 0, f, 0, 3, 0), errno(unix.EBADF))
}
