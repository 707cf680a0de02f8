package sys_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

func (u *user) closeFD(fd uint64) {
	u.Helper()
	u.call(0, unix.SYS_CLOSE, fd)
}

func (u *user) wantError(fd uint64, want kernel.Errno) {
	u.Helper()
	if e := u.socketError(fd); e != want {
		u.Errorf("SO_ERROR is %v, want %v", e, want)
	}
}

func TestTCPHalfClose(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	a.call(0, unix.SYS_SHUTDOWN, c, unix.SHUT_WR)
	a.fails(unix.EPIPE, unix.SYS_SENDTO, c, dataAt, 1, unix.MSG_NOSIGNAL, 0, 0)
	w.settle()
	b.wantReady(s, readable_|writable_|kernel.RdHup)
	b.wantRead(s, "")
	b.write(s, "answer")
	b.closeFD(s)
	w.settle()
	a.wantReady(c, readable_|writable_|kernel.RdHup|kernel.Hup)
	a.wantRead(c, "answer")
	a.wantRead(c, "")
	a.wantError(c, 0)
}

func TestTCPCloseWithUnreadDataResets(t *testing.T) {
	for _, addr := range []string{"10.0.0.2:80", "10.0.0.1:80"} {
		w := newNetwork(t, 2)
		a := w.user(0)
		b := a
		if addr == "10.0.0.2:80" {
			b = w.user(1)
		}
		c, s, _ := pair(a, b, addr)
		b.write(s, "last words")
		a.write(c, "unread")
		w.settle()
		b.closeFD(s)
		w.settle()
		a.wantReady(c, readable_|writable_|kernel.RdHup|kernel.Hup|kernel.Err)
		a.wantRead(c, "last words")
		a.wantRead(c, unix.ECONNRESET.Error())
		a.wantRead(c, "")
		a.fails(unix.EPIPE, unix.SYS_SENDTO, c, dataAt, 1, unix.MSG_NOSIGNAL, 0, 0)
		a.fails(unix.ENOTCONN, unix.SYS_GETPEERNAME, c, addrAt, sizeAt)
	}
}

func TestTCPLingerZeroResets(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	a.m.Poke(valueAt, append(intBytes(1), intBytes(0)...))
	a.call(0, unix.SYS_SETSOCKOPT, c, unix.SOL_SOCKET, unix.SO_LINGER, valueAt, 8)
	a.write(c, "gone")
	a.closeFD(c)
	w.settle()
	if m := w.sent[len(w.sent)-1]; m.Flags != ariadne.RST || string(m.Data) != "gone" {
		t.Errorf("sent %v %q", m.Flags, m.Data)
	}
	b.wantRead(s, "gone")
	b.wantRead(s, unix.ECONNRESET.Error())
}

func TestTCPDataToClosedSocketResets(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	b.closeFD(s)
	w.settle()
	a.write(c, "anyone?")
	w.settle()
	a.wantError(c, unix.EPIPE)
	a.fails(unix.EPIPE, unix.SYS_SENDTO, c, dataAt, 1, 0, 0, 0)
	if len(a.t.Pending) != 1 || a.t.Pending[0].Signo != int(unix.SIGPIPE) {
		t.Errorf("pending %v", a.t.Pending)
	}
}

func TestTCPCrossingCloses(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	n := len(w.sent)
	a.write(c, "a")
	a.closeFD(c)
	b.write(s, "b") // to a socket that is closed: it resets
	b.closeFD(s)
	w.settle()
	for _, m := range w.sent[n+2:] {
		if m.Flags != ariadne.RST {
			t.Errorf("sent %v", m.Flags)
		}
	}
	if len(w.sent) > n+4 {
		t.Errorf("%d messages", len(w.sent)-n)
	}
}

func TestTCPBacklog(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	l := b.listen(unix.AF_INET, "10.0.0.2:80", 1)
	var fds []uint64
	for range 3 {
		c := a.socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK)
		at, n := a.sockaddr("10.0.0.2:80")
		a.fails(unix.EINPROGRESS, unix.SYS_CONNECT, c, at, n)
		w.settle()
		fds = append(fds, c)
	}
	a.wantReady(fds[1], writable_)
	a.wantReady(fds[2], 0)
	b.fd(unix.SYS_ACCEPT, l, 0, 0)
	a.d.Fire() // it asks again
	w.settle()
	a.wantReady(fds[2], writable_)
	b.fd(unix.SYS_ACCEPT, l, 0, 0)
	b.fd(unix.SYS_ACCEPT, l, 0, 0)
	b.closeFD(l)
}

func TestTCPListenerCloseResetsTheUnaccepted(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	l := b.listen(unix.AF_INET, "10.0.0.2:80", 5)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, n := a.sockaddr("10.0.0.2:80")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
	w.settle()
	b.closeFD(l)
	w.settle()
	a.wantRead(c, unix.ECONNRESET.Error())
}

func TestTCPLateHandshakeAfterClose(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	b.listen(unix.AF_INET, "10.0.0.2:80", 5)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK)
	at, n := a.sockaddr("10.0.0.2:80")
	a.fails(unix.EINPROGRESS, unix.SYS_CONNECT, c, at, n)
	w.collect()
	w.deliver() // SYN
	a.closeFD(c)
	w.settle()
	if got := w.sent[len(w.sent)-1].Flags; got != ariadne.RST {
		t.Errorf("the late SYN+ACK was answered with %v", got)
	}
}

func TestTCPFlowControl(t *testing.T) {
	for _, addr := range []string{"10.0.0.2:80", "10.0.0.1:80"} {
		w := newNetwork(t, 2)
		a := w.user(0)
		b := a
		if addr == "10.0.0.2:80" {
			b = w.user(1)
		}
		c, s, _ := pair(a, b, addr)
		const chunk = 0x20000
		sent := 0
		for {
			r := a.d.Must(a.t, unix.SYS_SENDTO, c, dataAt, chunk, unix.MSG_DONTWAIT, 0, 0)
			if r < 0 {
				break
			}
			sent += int(r)
		}
		if sent != 4<<20 {
			t.Errorf("took %d bytes", sent)
		}
		a.wantReady(c, 0)
		v := a.thread()
		v.d.Waits(v.t, unix.SYS_SENDTO, c, dataAt, chunk, 0, 0, 0)
		var edges watcher
		a.t.FDs().Get(int(c)).File.Changed().AddWatcher(&edges, false)
		w.settle()
		messages := len(w.sent)
		for range 7 {
			b.call(chunk, unix.SYS_RECVFROM, s, dataAt, chunk, 0, 0, 0)
			w.settle()
		}
		if len(w.sent) != messages || len(edges.events) != 0 {
			t.Error("the window moved early")
		}
		b.call(chunk, unix.SYS_RECVFROM, s, dataAt, chunk, 0, 0, 0)
		w.settle()
		if len(edges.events) != 0 {
			t.Error("writable though a third is not free")
		}
		for range 8 {
			b.call(chunk, unix.SYS_RECVFROM, s, dataAt, chunk, 0, 0, 0)
		}
		w.settle()
		if len(edges.events) == 0 {
			t.Error("no edge when writable again")
		}
		v.done(chunk)
	}
}

func TestTCPEveryArrivalIsAnEdge(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	var edges watcher
	b.t.FDs().Get(int(s)).File.Changed().AddWatcher(&edges, false)
	for range 3 {
		a.write(c, "x")
		w.settle()
	}
	a.closeFD(c)
	w.settle()
	if fmt.Sprint(edges.events) != fmt.Sprint([]kernel.Events{readable_, readable_, readable_, 0}) {
		t.Errorf("edges %v", edges.events)
	}
}

func TestTCPWaitAllAndPeek(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	b.d.Waits(b.t, unix.SYS_RECVFROM, s, dataAt, 6, unix.MSG_WAITALL, 0, 0)
	a.write(c, "one")
	w.settle()
	if _, ok := b.d.Result(b.t); ok {
		t.Fatal("MSG_WAITALL returned early")
	}
	a.write(c, "two!")
	w.settle()
	b.done(6)
	if got := b.m.Peek(dataAt, 6); string(got) != "onetwo" {
		t.Errorf("got %q", got)
	}
	if got := b.read(s, unix.MSG_PEEK); got != "!" {
		t.Errorf("peeked %q", got)
	}
	b.d.Waits(b.t, unix.SYS_RECVFROM, s, dataAt, 6, unix.MSG_WAITALL, 0, 0)
	a.closeFD(c)
	w.settle()
	b.done(1)
}

func TestTCPTruncDiscards(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	c, s, _ := pair(u, u, "127.0.0.1:80")
	u.write(c, "throw away")
	u.call(6, unix.SYS_RECVFROM, s, dataAt+100, 6, unix.MSG_TRUNC, 0, 0)
	u.wantRead(s, "away")
}

func TestTCPReceiveTimeout(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	_, s, _ := pair(u, u, "127.0.0.1:80")
	u.m.Poke(valueAt, le.AppendUint64(le.AppendUint64(nil, 2), 500000))
	u.call(0, unix.SYS_SETSOCKOPT, s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, valueAt, 16)
	u.d.Waits(u.t, unix.SYS_RECVFROM, s, dataAt, 6, 0, 0, 0)
	u.d.Fire()
	u.done(-int64(unix.EAGAIN))
	if now := u.d.Node.Now; now != 2.5e9 {
		t.Errorf("woke at %v", now)
	}
}

func TestTCPDualStack(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	l := b.listen(unix.AF_INET6, "[::]:80", 5)
	for _, x := range []struct {
		family     int
		to, server string
		peer       string
	}{
		{unix.AF_INET, "10.0.0.2:80", "[::ffff:10.0.0.2]:80", "10.0.0.2:80"},
		{unix.AF_INET6, "[::ffff:10.0.0.2]:80", "[::ffff:10.0.0.2]:80", "[::ffff:10.0.0.2]:80"},
		{unix.AF_INET6, "[fd00::2]:80", "[fd00::2]:80", "[fd00::2]:80"},
	} {
		c := a.socket(x.family, unix.SOCK_STREAM)
		at, n := a.sockaddr(x.to)
		a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
		w.settle()
		a.done(0)
		s := b.fd(unix.SYS_ACCEPT, l, 0, 0)
		if got := b.named(unix.SYS_GETSOCKNAME, s); got != x.server {
			t.Errorf("%s: server is at %s", x.to, got)
		}
		if got := a.named(unix.SYS_GETPEERNAME, c); got != x.peer {
			t.Errorf("%s: peer is %s", x.to, got)
		}
	}
	at, n := b.sockaddr("10.0.0.2:80")
	b.fails(unix.EADDRINUSE, unix.SYS_BIND, b.socket(unix.AF_INET, unix.SOCK_STREAM), at, n)
	only := b.socket(unix.AF_INET6, unix.SOCK_STREAM)
	b.set(only, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	at, n = b.sockaddr("[::ffff:10.0.0.2]:81")
	b.fails(unix.EINVAL, unix.SYS_BIND, only, at, n)
	b.bind(only, "[::]:81")
	b.bind(b.socket(unix.AF_INET, unix.SOCK_STREAM), "0.0.0.0:81")
}

func TestTCPBindAndReuse(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, l := pair(a, b, "10.0.0.2:80")
	b.closeFD(l)
	b.closeFD(s) // the server closes first: TIME_WAIT stays with it
	w.settle()
	a.closeFD(c)
	w.settle()
	x := b.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, n := b.sockaddr("10.0.0.2:80")
	b.fails(unix.EADDRINUSE, unix.SYS_BIND, x, at, n)
	b.set(x, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	b.fails(unix.EADDRINUSE, unix.SYS_BIND, x, at, n) // the old one had not set it
	b.d.Node.Now += 61e9
	b.call(0, unix.SYS_BIND, x, at, n)
	y := b.socket(unix.AF_INET, unix.SOCK_STREAM)
	b.set(y, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	b.call(0, unix.SYS_BIND, y, at, n)
	b.call(0, unix.SYS_LISTEN, x, 1)
	b.fails(unix.EADDRINUSE, unix.SYS_LISTEN, y, 1)
	at, n = b.sockaddr("10.0.0.1:80")
	b.fails(unix.EADDRNOTAVAIL, unix.SYS_BIND, b.socket(unix.AF_INET, unix.SOCK_STREAM), at, n)
	b.fails(unix.EINVAL, unix.SYS_BIND, x, at, 8)
}

func TestTCPServerRestartsWithReuse(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	for epoch := range 3 {
		l := b.socket(unix.AF_INET, unix.SOCK_STREAM)
		b.set(l, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		b.bind(l, "0.0.0.0:80")
		b.call(0, unix.SYS_LISTEN, l, 5)
		c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
		a.set(c, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		a.bind(c, "10.0.0.1:5000")
		at, n := a.sockaddr("10.0.0.2:80")
		a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
		w.settle()
		a.done(0)
		s := b.fd(unix.SYS_ACCEPT, l, 0, 0)
		a.write(c, "x")
		w.settle()
		b.wantRead(s, "x")
		b.closeFD(s)
		b.closeFD(l)
		w.settle()
		a.closeFD(c)
		w.settle()
		if m := w.sent[len(w.sent)-1]; m.Flow.Epoch != epoch || m.Flags != ariadne.FIN {
			t.Errorf("epoch %d, flags %v", m.Flow.Epoch, m.Flags)
		}
	}
}

func TestTCPReusePort(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	var ls []uint64
	for range 2 {
		l := b.socket(unix.AF_INET, unix.SOCK_STREAM)
		b.set(l, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		b.bind(l, "0.0.0.0:80")
		b.call(0, unix.SYS_LISTEN, l, 5)
		ls = append(ls, l)
	}
	for range 4 {
		c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
		at, n := a.sockaddr("10.0.0.2:80")
		a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
		w.settle()
		a.done(0)
	}
	for _, l := range ls {
		b.fd(unix.SYS_ACCEPT, l, 0, 0)
		b.fd(unix.SYS_ACCEPT, l, 0, 0)
	}
}

func TestTCPDeferAccept(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	l := b.listen(unix.AF_INET, "10.0.0.2:80", 5)
	b.set(l, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 3)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, n := a.sockaddr("10.0.0.2:80")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
	w.settle()
	a.done(0)
	b.wantReady(l, 0)
	a.write(c, "now")
	w.settle()
	b.wantReady(l, readable_)
	b.wantRead(b.fd(unix.SYS_ACCEPT, l, 0, 0), "now")
}

func TestTCPConnectsToItself(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	c := u.socket(unix.AF_INET, unix.SOCK_STREAM)
	u.bind(c, "127.0.0.1:5000")
	at, n := u.sockaddr("127.0.0.1:5000")
	u.call(0, unix.SYS_CONNECT, c, at, n)
	u.write(c, "echo")
	u.wantRead(c, "echo")
	u.closeFD(c)
}

func TestTCPSimultaneousOpen(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, d := a.socket(unix.AF_INET, unix.SOCK_STREAM), b.socket(unix.AF_INET, unix.SOCK_STREAM)
	a.bind(c, "10.0.0.1:5000")
	b.bind(d, "10.0.0.2:5000")
	at, n := a.sockaddr("10.0.0.2:5000")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
	at, n = b.sockaddr("10.0.0.1:5000")
	b.d.Waits(b.t, unix.SYS_CONNECT, d, at, n)
	w.settle()
	a.done(0)
	b.done(0)
	a.write(c, "hello")
	w.settle()
	b.wantRead(d, "hello")
}

func TestTCPPeerStartsAnew(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	_, s, l := pair(a, b, "10.0.0.2:80")
	// The client's machine is switched off and on: the same ports again.
	old := w.nodes[0].Node
	n := kernel.NewNode(0, "n", 1)
	n.Addrs, n.Hosts = old.Addrs, old.Hosts
	*w.nodes[0].Node = *n
	a = w.user(0)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, size := a.sockaddr("10.0.0.2:80")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, size)
	w.settle()
	a.done(0)
	b.wantRead(s, unix.ECONNRESET.Error())
	b.fd(unix.SYS_ACCEPT, l, 0, 0)
}

func TestTCPOptions(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	s := u.socket(unix.AF_INET, unix.SOCK_STREAM)
	for _, x := range []struct{ level, name, set, get int }{
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 7, 1},
		{unix.SOL_SOCKET, unix.SO_SNDBUF, 10000, 20000},
		{unix.SOL_SOCKET, unix.SO_RCVBUF, 1, 2304},
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 30, 30},
		{unix.IPPROTO_IP, unix.IP_TOS, 16, 16},
	} {
		u.set(s, x.level, x.name, x.set)
		if got := u.option(s, x.level, x.name); got != x.get {
			t.Errorf("option %d %d: set %d, got %d, want %d", x.level, x.name, x.set, got, x.get)
		}
	}
	for name, want := range map[int]int{unix.SO_TYPE: unix.SOCK_STREAM, unix.SO_DOMAIN: unix.AF_INET,
		unix.SO_PROTOCOL: unix.IPPROTO_TCP, unix.SO_ACCEPTCONN: 0, unix.SO_ERROR: 0} {
		if got := u.option(s, unix.SOL_SOCKET, name); got != want {
			t.Errorf("option %d: %d, want %d", name, got, want)
		}
	}
	u.set(s, unix.SOL_SOCKET, 9999, 5)
	if r := u.d.Refused("setsockopt SOL_SOCKET 9999"); r == nil || !r.Harmless {
		t.Errorf("refusals %v", u.d.Node.Refusals)
	}
	u.fails(unix.ENOTSOCK, unix.SYS_LISTEN, u.pipe(), 1)
	u.fails(unix.EPROTONOSUPPORT, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	u.fails(unix.EAFNOSUPPORT, unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	u.fails(unix.EPERM, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
}

func (u *user) pipe() uint64 {
	u.call(0, unix.SYS_PIPE2, valueAt, 0)
	return uint64(le.Uint32(u.m.Peek(valueAt, 4)))
}

func TestMmsg(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	s, c := u.socket(unix.AF_INET, unix.SOCK_DGRAM), u.socket(unix.AF_INET, unix.SOCK_DGRAM)
	u.bind(s, "127.0.0.1:9")
	at, n := u.sockaddr("127.0.0.1:9")
	u.call(0, unix.SYS_CONNECT, c, at, n)
	headers := func() {
		for i := range 3 {
			u.m.Poke(iovAt+uint64(16*i), le.AppendUint64(le.AppendUint64(nil, uint64(dataAt+10*i)), uint64(i+1)))
			var b []byte
			for _, v := range []uint64{0, 0, uint64(iovAt + 16*i), 1, 0, 0, 0, 0} {
				b = le.AppendUint64(b, v)
			}
			u.m.Poke(msgAt+uint64(64*i), b)
		}
	}
	headers()
	u.m.Poke(dataAt, bytes.Repeat([]byte("0123456789"), 3))
	u.call(3, unix.SYS_SENDMMSG, c, msgAt, 3, 0)
	if got := le.Uint32(u.m.Peek(msgAt+128+56, 4)); got != 3 {
		t.Errorf("third message: %d bytes", got)
	}
	headers()
	u.call(2, unix.SYS_RECVMMSG, s, msgAt, 2, 0, 0)
	u.call(1, unix.SYS_RECVMMSG, s, msgAt, 3, msgWaitForOne, 0)
	if got := le.Uint32(u.m.Peek(msgAt+56, 4)); got != 1 {
		t.Errorf("truncated message: %d bytes", got)
	}
	u.m.Poke(valueAt, le.AppendUint64(le.AppendUint64(nil, 1), 0))
	u.d.Waits(u.t, unix.SYS_RECVMMSG, s, msgAt, 3, 0, valueAt)
	v := u.thread()
	v.write(c, "a")
	v.d.Node.Now += 2e9
	v.write(c, "b") // the time-out is noticed with this one
	u.done(2)
}

const msgWaitForOne = 0x10000

// TestTCPDeliversWhatWasWritten runs random operations on a connection, with
// messages delivered at random times, and compares with a plain byte queue each
// way.
func TestTCPDeliversWhatWasWritten(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newNetwork(t, 2)
		a, b := w.user(0), w.user(1)
		c, s, _ := pair(a, b, "10.0.0.2:80")
		ends := []*end{{user: a, fd: c}, {user: b, fd: s}}
		ends[0].peer, ends[1].peer = ends[1], ends[0]
		for range 400 {
			e := ends[r.IntN(2)]
			switch r.IntN(5) {
			case 0, 1:
				e.send(r)
			case 2:
				e.receive(r)
			default:
				w.collect()
				if len(w.flight) > 0 {
					w.deliverAny(r)
				}
			}
		}
		for _, e := range ends {
			e.call(0, unix.SYS_SHUTDOWN, e.fd, unix.SHUT_WR)
		}
		for done := false; !done; {
			w.settle()
			done = !ends[0].receive(r) && !ends[1].receive(r) && len(w.flight) == 0
		}
		for i, e := range ends {
			if !e.eof || len(e.sent) != 0 {
				t.Fatalf("seed %d, end %d: end of file %v, %d bytes lost", seed, i, e.eof, len(e.sent))
			}
		}
	}
}

// end is one end of a connection and the bytes that its peer has not received.
type end struct {
	*user
	fd   uint64
	peer *end
	sent []byte
	eof  bool
	next byte
}

// send writes a random number of bytes, most often few.
func (e *end) send(r *rand.Rand) {
	b := make([]byte, 1+r.IntN(1<<r.IntN(18)))
	for i := range b {
		e.next = e.next*5 + 3
		b[i] = e.next
	}
	e.m.Poke(dataAt, b)
	n := e.d.Must(e.t, unix.SYS_SENDTO, e.fd, dataAt, uint64(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if n < 0 {
		if n != -int64(unix.EAGAIN) {
			e.Fatalf("send: %d", n)
		}
		n = 0
	}
	e.sent = append(e.sent, b[:n]...)
	if n < int64(len(b)) { // the sequence goes on from what was taken
		e.next = 0
	}
}

// receive reads some bytes and compares; false when there was nothing.
func (e *end) receive(r *rand.Rand) bool {
	n := e.d.Must(e.t, unix.SYS_RECVFROM, e.fd, dataAt, uint64(1+r.IntN(1<<r.IntN(18))), unix.MSG_DONTWAIT, 0, 0)
	switch {
	case n == 0:
		e.eof = true
		return false
	case n == -int64(unix.EAGAIN):
		return false
	case n < 0 || int(n) > len(e.peer.sent):
		e.Fatalf("receive: %d of %d", n, len(e.peer.sent))
	}
	if got := e.m.Peek(dataAt, int(n)); !bytes.Equal(got, e.peer.sent[:n]) {
		e.Fatal("received other bytes than were sent")
	}
	e.peer.sent = e.peer.sent[n:]
	return true
}

// deliverAny delivers the first message of one node or the other: each
// connection keeps its order.
func (w *network) deliverAny(r *rand.Rand) {
	to := w.flight[r.IntN(len(w.flight))].To
	for i, m := range w.flight {
		if m.To == to {
			w.flight = append(append([]ariadne.Message{m}, w.flight[:i]...), w.flight[i+1:]...)
			break
		}
	}
	w.deliver()
}

func TestRefusalNamesAreStable(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	u.fails(unix.EAFNOSUPPORT, unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_STREAM, 0)
	for _, r := range u.d.Node.Refusals {
		if strings.Contains(r.Name, "0x") {
			t.Errorf("refusal %q", r.Name)
		}
	}
}

func TestTCPRestartedClientIsRefused(t *testing.T) {
	w := newNetwork(t, 2)
	b := w.user(1)
	reset := func() *user {
		n := kernel.NewNode(0, "n", 1)
		n.Addrs, n.Hosts = w.nodes[0].Node.Addrs, w.nodes[0].Node.Hosts
		*w.nodes[0].Node = *n
		return w.user(0)
	}
	connect := func(a *user, want int64) {
		t.Helper()
		c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
		a.bind(c, "10.0.0.1:5000")
		at, n := a.sockaddr("10.0.0.2:80")
		a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
		w.settle()
		a.done(want)
		a.closeFD(c)
	}
	a := w.user(0)
	for range 3 { // epochs 0, 1, 2
		connect(a, -int64(unix.ECONNREFUSED))
	}
	a = reset()
	connect(a, -int64(unix.ECONNREFUSED)) // epoch 0 again
	b.listen(unix.AF_INET, "10.0.0.2:80", 5)
	connect(reset(), 0)
}

// TestTCPInfoTellsClock: a peer acknowledges the end of a connection after a while, which TCP_INFO
// shows. So it tells the time until then.
func TestTCPInfoTellsClock(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, _, _ := pair(a, b, "10.0.0.2:80")
	n := a.d.Node
	state := func() byte {
		n.Told = kernel.Told{}
		a.m.Poke(sizeAt, intBytes(104))
		a.call(0, unix.SYS_GETSOCKOPT, c, unix.IPPROTO_TCP, unix.TCP_INFO, dataAt, sizeAt)
		return a.m.Peek(dataAt, 1)[0]
	}
	const established, finWait1, finWait2 = 1, 4, 5
	if s := state(); s != established || n.ClockTold {
		t.Errorf("connected: state %d, tells the time: %v", s, n.ClockTold)
	}
	a.call(0, unix.SYS_SHUTDOWN, c, unix.SHUT_WR)
	w.settle()
	if s := state(); s != finWait1 || !n.ClockTold {
		t.Errorf("ended: state %d, tells the time: %v", s, n.ClockTold)
	}
	n.Now += 1e9
	if s := state(); s != finWait2 || n.ClockTold {
		t.Errorf("acknowledged: state %d, tells the time: %v", s, n.ClockTold)
	}
}
