package sys_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// files stands in for the node's file tree: the inode of each socket file.
type files map[string]uint64

// mount lets u's process make and find socket files.
func (f files) mount(u *user) {
	path := func(at uint64) string {
		s, _, _ := strings.Cut(string(u.m.Peek(at, 200)), "\x00")
		return s
	}
	u.m.Answer[unix.SYS_MKNODAT] = func(a []uint64) int64 {
		if f[path(a[1])] != 0 {
			return -int64(unix.EEXIST)
		}
		f[path(a[1])] = uint64(len(f) + 1)
		return 0
	}
	u.m.Answer[unix.SYS_NEWFSTATAT] = func(a []uint64) int64 {
		st := unix.Stat_t{Dev: 1, Ino: f[path(a[1])], Mode: unix.S_IFSOCK | 0o755}
		if st.Ino == 0 {
			return -int64(unix.ENOENT)
		}
		u.m.Poke(a[2], (*[unsafe.Sizeof(st)]byte)(unsafe.Pointer(&st))[:])
		return 0
	}
}

// unixAddr puts a Unix address into memory; a leading @ means an abstract name.
func (u *user) unixAddr(name string) (uint64, uint64) {
	b := append(le.AppendUint16(nil, unix.AF_UNIX), name...)
	if name != "" && name[0] == '@' {
		b[2] = 0
	}
	u.m.Poke(addrAt, b)
	return addrAt, uint64(len(b))
}

func (u *user) unixSocket(typ int, name string) uint64 {
	u.Helper()
	s := u.socket(unix.AF_UNIX, typ)
	at, n := u.unixAddr(name)
	u.call(0, unix.SYS_BIND, s, at, n)
	return s
}

func (u *user) socketpair(typ int) (uint64, uint64) {
	u.Helper()
	u.call(0, unix.SYS_SOCKETPAIR, unix.AF_UNIX, uint64(typ), 0, valueAt)
	b := u.m.Peek(valueAt, 8)
	return uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
}

// unixName is the path that getsockname or getpeername gives.
func (u *user) unixName(nr int, fd uint64) string {
	u.Helper()
	u.m.Poke(sizeAt, intBytes(128))
	u.call(0, nr, fd, addrAt, sizeAt)
	return string(u.m.Peek(addrAt+2, int(le.Uint32(u.m.Peek(sizeAt, 4)))-2))
}

func TestUnixStreamByPath(t *testing.T) {
	w := newNetwork(t, 1)
	a, b := w.user(0), w.user(0)
	f := files{}
	f.mount(a)
	f.mount(b)
	at, n := a.unixAddr("/run/x")
	c := a.socket(unix.AF_UNIX, unix.SOCK_STREAM)
	a.fails(unix.ENOENT, unix.SYS_CONNECT, c, at, n)
	l := b.unixSocket(unix.SOCK_STREAM, "/run/x")
	at, n = a.unixAddr("/run/x")
	a.fails(unix.ECONNREFUSED, unix.SYS_CONNECT, c, at, n)
	b.call(0, unix.SYS_LISTEN, l, 0)
	at, n = a.unixAddr("/run/x")
	a.call(0, unix.SYS_CONNECT, c, at, n)
	a.write(c, "before accept")
	b.wantReady(l, readable_)
	s := b.fd(unix.SYS_ACCEPT, l, 0, 0)
	b.wantRead(s, "before accept")
	if got := a.unixName(unix.SYS_GETPEERNAME, c); got != "/run/x\x00" {
		t.Errorf("peer %q", got)
	}
	if got := b.unixName(unix.SYS_GETPEERNAME, s); got != "" {
		t.Errorf("client is called %q", got)
	}
	u := b.socket(unix.AF_UNIX, unix.SOCK_STREAM)
	at, n = b.unixAddr("/run/x")
	b.fails(unix.EADDRINUSE, unix.SYS_BIND, u, at, n)
	b.m.Poke(sizeAt, intBytes(12))
	b.call(0, unix.SYS_GETSOCKOPT, s, unix.SOL_SOCKET, unix.SO_PEERCRED, valueAt, sizeAt)
	if pid := le.Uint32(b.m.Peek(valueAt, 4)); int(pid) != a.t.Proc.PID {
		t.Errorf("SO_PEERCRED says pid %d, is %d", pid, a.t.Proc.PID)
	}
}

func TestUnixBacklogBlocksConnect(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	l := u.unixSocket(unix.SOCK_STREAM, "@l")
	u.call(0, unix.SYS_LISTEN, l, 0)
	at, n := u.unixAddr("@l")
	u.call(0, unix.SYS_CONNECT, u.socket(unix.AF_UNIX, unix.SOCK_STREAM), at, n)
	u.fails(unix.EAGAIN, unix.SYS_CONNECT, u.socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK), at, n)
	v := u.thread()
	v.d.Waits(v.t, unix.SYS_CONNECT, u.socket(unix.AF_UNIX, unix.SOCK_STREAM), at, n)
	u.fd(unix.SYS_ACCEPT, l, 0, 0)
	v.done(0)
	u.call(0, unix.SYS_CLOSE, l)
	u.fails(unix.ECONNREFUSED, unix.SYS_CONNECT, u.socket(unix.AF_UNIX, unix.SOCK_STREAM), at, n)
}

func TestUnixStreamEnds(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	x, y := u.socketpair(unix.SOCK_STREAM)
	u.write(x, "left")
	u.call(0, unix.SYS_SHUTDOWN, x, unix.SHUT_WR)
	u.wantReady(y, readable_|writable_|kernel.WrBand|kernel.RdHup)
	u.wantRead(y, "left")
	u.wantRead(y, "")
	u.write(y, "unread")
	u.call(0, unix.SYS_CLOSE, x)
	u.wantReady(y, readable_|writable_|kernel.WrBand|kernel.RdHup|kernel.Hup|kernel.Err)
	u.wantRead(y, unix.ECONNRESET.Error())
	u.wantRead(y, "")
	u.fails(unix.EPIPE, unix.SYS_SENDTO, y, dataAt, 1, unix.MSG_NOSIGNAL, 0, 0)
	if len(u.t.Pending) != 0 {
		t.Error("MSG_NOSIGNAL raised a signal")
	}
	u.fails(unix.EPIPE, unix.SYS_SENDTO, y, dataAt, 1, 0, 0, 0)
	if len(u.t.Pending) != 1 {
		t.Error("no SIGPIPE")
	}
}

func TestUnixStreamFills(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	x, y := u.socketpair(unix.SOCK_STREAM)
	sent := 0
	for ; sent < 10000; sent++ {
		if r := u.d.Must(u.t, unix.SYS_SENDTO, x, dataAt, 1, unix.MSG_DONTWAIT, 0, 0); r < 0 {
			break
		}
	}
	if sent != 278 { // as on Linux: 212992 / 768
		t.Errorf("took %d bytes", sent)
	}
	var n watcher
	f := u.t.FDs().Get(int(x)).File
	f.Changed().AddWatcher(&n, false)
	u.d.Must(u.t, unix.SYS_RECVFROM, y, dataAt, 200, 0, 0, 0)
	if len(n.events) != 0 {
		t.Error("writable again though three quarters are not free")
	}
	u.d.Must(u.t, unix.SYS_RECVFROM, y, dataAt, 200, 0, 0, 0)
	if len(n.events) == 0 || f.Ready()&kernel.Out == 0 {
		t.Error("not writable")
	}
}

func TestUnixDatagrams(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	s := u.unixSocket(unix.SOCK_DGRAM, "@server")
	c := u.unixSocket(unix.SOCK_DGRAM, "@client")
	at, n := u.unixAddr("@server")
	for i := range 11 {
		u.m.Poke(dataAt, fmt.Appendf(nil, "%02d", i))
		u.call(2, unix.SYS_SENDTO, c, dataAt, 2, 0, at, n)
	}
	u.fails(unix.EAGAIN, unix.SYS_SENDTO, c, dataAt, 2, unix.MSG_DONTWAIT, at, n)
	v := u.thread()
	u.m.Poke(dataAt, []byte("11"))
	v.d.Waits(v.t, unix.SYS_SENDTO, c, dataAt, 2, 0, at, n)
	u.m.Poke(sizeAt, intBytes(128))
	got := u.d.Must(u.t, unix.SYS_RECVFROM, s, dataAt+100, 100, 0, valueAt, sizeAt)
	if got != 2 || string(u.m.Peek(valueAt+2, 7)) != "\x00client" {
		t.Errorf("received %d bytes from %q", got, u.m.Peek(valueAt, 9))
	}
	v.done(2)
	for i := 1; i < 12; i++ {
		u.wantRead(s, fmt.Sprintf("%02d", i))
	}
	at, n = u.unixAddr("@server")
	u.call(0, unix.SYS_CONNECT, c, at, n)
	u.call(0, unix.SYS_CLOSE, s)
	u.fails(unix.ECONNREFUSED, unix.SYS_SENDTO, c, dataAt, 1, 0, 0, 0)
	u.fails(unix.ENOTCONN, unix.SYS_SENDTO, c, dataAt, 1, 0, 0, 0)
}

func TestUnixSeqpacketKeepsRecords(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	x, y := u.socketpair(unix.SOCK_SEQPACKET)
	u.write(x, "one")
	u.write(x, "two")
	u.wantRead(y, "one")
	u.wantRead(y, "two")
	u.call(0, unix.SYS_CLOSE, x)
	u.wantRead(y, "")
}

// message puts a struct msghdr for one buffer at dataAt into memory, with room
// for control messages.
func (u *user) message(size int, control []byte, room int) uint64 {
	u.m.Poke(iovAt, le.AppendUint64(le.AppendUint64(nil, dataAt), uint64(size)))
	u.m.Poke(ctrlAt, control)
	var b []byte
	for _, v := range []uint64{0, 0, iovAt, 1, ctrlAt, uint64(room), 0} {
		b = le.AppendUint64(b, v)
	}
	u.m.Poke(msgAt, b)
	return msgAt
}

func rights(fds ...uint64) []byte {
	b := le.AppendUint64(nil, uint64(16+4*len(fds)))
	b = append(append(b, intBytes(unix.SOL_SOCKET)...), intBytes(unix.SCM_RIGHTS)...)
	for _, fd := range fds {
		b = append(b, intBytes(int(fd))...)
	}
	return b
}

func TestUnixRights(t *testing.T) {
	w := newNetwork(t, 1)
	a, b := w.user(0), w.user(0)
	l := b.unixSocket(unix.SOCK_STREAM, "@r")
	b.call(0, unix.SYS_LISTEN, l, 1)
	c := a.socket(unix.AF_UNIX, unix.SOCK_STREAM)
	at, n := a.unixAddr("@r")
	a.call(0, unix.SYS_CONNECT, c, at, n)
	s := b.fd(unix.SYS_ACCEPT, l, 0, 0)
	x, y := a.socketpair(unix.SOCK_STREAM)
	a.m.Poke(dataAt, []byte("!"))
	control := rights(x, y)
	a.call(1, unix.SYS_SENDMSG, c, a.message(1, control, len(control)), 0)
	a.call(0, unix.SYS_CLOSE, x)
	a.call(0, unix.SYS_CLOSE, y)
	b.call(1, unix.SYS_RECVMSG, s, b.message(10, nil, 20), unix.MSG_CMSG_CLOEXEC)
	got := b.m.Peek(ctrlAt, 20)
	if le.Uint64(got) != 20 || le.Uint64(b.m.Peek(msgAt+40, 8)) != 20 {
		t.Fatalf("control % x", got)
	}
	if flags := le.Uint32(b.m.Peek(msgAt+48, 4)); flags&unix.MSG_CTRUNC == 0 {
		t.Error("the second descriptor had no room, but MSG_CTRUNC is not set")
	}
	fd := uint64(le.Uint32(got[16:]))
	if !b.t.FDs().CloseOnExec(int(fd)) {
		t.Error("MSG_CMSG_CLOEXEC is ignored")
	}
	b.wantRead(fd, "") // the other end was dropped
}

func TestUnixCredentials(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	x, y := u.socketpair(unix.SOCK_DGRAM)
	u.set(y, unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	u.write(x, "hi")
	u.call(2, unix.SYS_RECVMSG, y, u.message(10, nil, 100), 0)
	if got := u.m.Peek(ctrlAt, 28); int(le.Uint32(got[12:])) != unix.SCM_CREDENTIALS ||
		int(le.Uint32(got[16:])) != u.t.Proc.PID {
		t.Errorf("control % x", got)
	}
}

func TestUnixAutobind(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	s := u.socket(unix.AF_UNIX, unix.SOCK_DGRAM)
	if got := u.unixName(unix.SYS_GETSOCKNAME, s); got != "" {
		t.Errorf("named %q", got)
	}
	at, _ := u.unixAddr("")
	u.call(0, unix.SYS_BIND, s, at, 2)
	if got := u.unixName(unix.SYS_GETSOCKNAME, s); got != "\x0000001" {
		t.Errorf("named %q", got)
	}
}
