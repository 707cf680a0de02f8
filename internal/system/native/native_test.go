package native

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStreams: what the kernel tells everybody bounds how far a connection is, closely.
func TestStreams(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := a.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(b, make([]byte, 300)); err != nil {
		t.Fatal(err)
	}
	waitForAcknowledgement(t, a)
	all, err := Streams()
	if err != nil {
		t.Fatal(err)
	}
	own := SocketsOf([]int{os.Getpid()})
	found := 0
	for inode, s := range all {
		switch {
		case !own[inode]:
		case s.Local.String() == a.LocalAddr().String() && s.Remote.String() == a.RemoteAddr().String():
			if found++; s.Written < 1000 || s.Written > 1002 {
				t.Errorf("%d bytes were written, want 1000 to 1002", s.Written)
			}
		case s.Local.String() == b.LocalAddr().String() && s.Remote.String() == b.RemoteAddr().String():
			if found++; s.Read > 300 || s.Read < 298 {
				t.Errorf("%d bytes were read, want 298 to 300", s.Read)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d ends were found among %d", found, len(all))
	}
}

// TestTail: lines of a file come also when it is not there yet, when it is moved away, and when it
// is cut off, which is said.
func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := Tail(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { f.Close() }()
	write := func(text string) {
		t.Helper()
		w, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func(losing bool, want ...string) {
		t.Helper()
		got, lost, err := f.Read()
		if err != nil || !slices.Equal(got, want) || (lost != "") != losing {
			t.Errorf("%q %q %v, want %q", got, lost, err, want)
		}
	}
	read(false)
	write("first\nsec")
	read(false, "first")
	write("ond\r\n")
	read(false, "second")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	read(false)
	write("third\n")
	read(false, "third")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	read(true)
	write("fourth\n")
	read(false, "fourth")
	old, err := Tail(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { old.Close() }()
	write("fifth\n")
	if got, _, err := old.Read(); err != nil || !slices.Equal(got, []string{"fifth"}) {
		t.Errorf("%q %v", got, err)
	}
}

// TestPipe: lines come, also a last one without an end, and then the end.
func TestPipe(t *testing.T) {
	p, to, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, _, err := p.Read(); err != nil || got != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := to.WriteString("one\ntwo"); err != nil {
		t.Fatal(err)
	}
	if got, _, err := p.Read(); err != nil || !slices.Equal(got, []string{"one"}) {
		t.Errorf("%q %v", got, err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _, err := p.Read(); err != nil || !slices.Equal(got, []string{"two"}) {
		t.Errorf("%q %v", got, err)
	}
	if _, _, err := p.Read(); err != io.EOF {
		t.Error(err)
	}
}

// waitForAcknowledgement waits until the peer has acknowledged all that a connection has sent. The
// kernel has no event for that.
func waitForAcknowledgement(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for unacknowledged, patience := 1, time.Now().Add(10*time.Second); unacknowledged > 0; {
		if time.Now().After(patience) {
			t.Fatalf("%d bytes are not acknowledged", unacknowledged)
		}
		failed := raw.Control(func(fd uintptr) { unacknowledged, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		if failed != nil || err != nil {
			t.Fatal(failed, err)
		}
	}
}
