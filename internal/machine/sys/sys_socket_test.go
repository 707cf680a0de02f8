package sys_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// le: where the tests put things in a process's memory.
var le = binary.LittleEndian

func intBytes(n int) []byte { return le.AppendUint32(nil, uint32(n)) }

const (
	addrAt  = kerneltest.Base
	sizeAt  = kerneltest.Base + 0x100
	valueAt = kerneltest.Base + 0x200
	msgAt   = kerneltest.Base + 0x400
	iovAt   = kerneltest.Base + 0x1400
	ctrlAt  = kerneltest.Base + 0x1800
	dataAt  = kerneltest.Base + 0x2000
	dataMax = kerneltest.Size - 0x2000
)

// network is some nodes and what travels between them.
type network struct {
	*testing.T
	nodes  []*kerneltest.Driver
	flight []ariadne.Message
	sent   []ariadne.Message // all so far
}

// newNetwork returns nodes with the addresses 10.0.0.1, fd00::1 and so on.
func newNetwork(t *testing.T, n int) *network {
	w := &network{T: t}
	var hosts []kernel.Host
	for i := range n {
		last := byte(i + 1)
		v6 := [16]byte{0: 0xfd, 15: last}
		hosts = append(hosts, kernel.Host{Addrs: []netip.Addr{
			netip.AddrFrom4([4]byte{10, 0, 0, last}), netip.AddrFrom16(v6)}})
	}
	for i := range n {
		d := kerneltest.NewDriver(t, sys.Handle)
		*d.Node = *kernel.NewNode(ariadne.NodeID(i), "n", 1)
		d.Node.Addrs, d.Node.Hosts = hosts[i].Addrs, hosts
		w.nodes = append(w.nodes, d)
	}
	return w
}

// user is a thread with what a test asks of it.
type user struct {
	*network
	d *kerneltest.Driver
	t *kernel.Thread
	m *kerneltest.Tracee
}

func (w *network) user(node int) *user {
	t, m := w.nodes[node].Process(nil)
	return &user{w, w.nodes[node], t, m}
}

// thread adds a thread to u's process.
func (u *user) thread() *user {
	t, m := u.d.Thread(u.t)
	return &user{u.network, u.d, t, m}
}

// collect ends the step: what the nodes sent is in flight.
func (w *network) collect() {
	for _, d := range w.nodes {
		net.Flush(d.Node)
		w.flight = append(w.flight, d.Node.Out...)
		w.sent = append(w.sent, d.Node.Out...)
		d.Node.Out = nil
	}
}

// deliver delivers the oldest message.
func (w *network) deliver() {
	m := w.flight[0]
	w.flight = w.flight[1:]
	d := w.nodes[m.To]
	net.Deliver(d.Node, &m)
	d.Settle()
	w.collect()
}

// settle delivers everything, in order.
func (w *network) settle() {
	w.collect()
	for len(w.flight) > 0 {
		w.deliver()
	}
}

// call makes a call, which must not wait, and checks its value.
func (u *user) call(want int64, nr int, args ...uint64) {
	u.Helper()
	if got := u.d.Must(u.t, nr, args...); got != want {
		u.Fatalf("call %d%v = %d, want %d", nr, args, got, want)
	}
}

// fails is call for one that fails.
func (u *user) fails(want kernel.Errno, nr int, args ...uint64) {
	u.Helper()
	if got := u.d.Must(u.t, nr, args...); got != -int64(want) {
		u.Fatalf("call %d%v = %d, want %v", nr, args, got, want)
	}
}

// fd makes a call that returns a descriptor.
func (u *user) fd(nr int, args ...uint64) uint64 {
	u.Helper()
	v := u.d.Must(u.t, nr, args...)
	if v < 0 {
		u.Fatalf("call %d%v: %v", nr, args, kernel.Errno(-v))
	}
	return uint64(v)
}

// done checks the value of a call that waited.
func (u *user) done(want int64) {
	u.Helper()
	if got := u.d.Done(u.t); got != want {
		u.Fatalf("call %d = %d, want %d", u.t.Call.NR, got, want)
	}
}

func (u *user) socket(domain, typ int) uint64 {
	u.Helper()
	return u.fd(unix.SYS_SOCKET, uint64(domain), uint64(typ), 0)
}

// sockaddr puts an address into memory and returns its place and size.
func (u *user) sockaddr(a string) (uint64, uint64) {
	ap := netip.MustParseAddrPort(a)
	var b []byte
	if ap.Addr().Is4() {
		b = binary.LittleEndian.AppendUint16(nil, unix.AF_INET)
		b = binary.BigEndian.AppendUint16(b, ap.Port())
		ip := ap.Addr().As4()
		b = append(append(b, ip[:]...), make([]byte, 8)...)
	} else {
		b = binary.LittleEndian.AppendUint16(nil, unix.AF_INET6)
		b = append(binary.BigEndian.AppendUint16(b, ap.Port()), 0, 0, 0, 0)
		ip := ap.Addr().As16()
		b = append(append(b, ip[:]...), 0, 0, 0, 0)
	}
	u.m.Poke(addrAt, b)
	return addrAt, uint64(len(b))
}

// named returns the address that getsockname or getpeername gives.
func (u *user) named(nr int, fd uint64) string {
	u.Helper()
	u.m.Poke(sizeAt, intBytes(128))
	u.call(0, nr, fd, addrAt, sizeAt)
	return u.address()
}

// address is the address that a call has stored.
func (u *user) address() string {
	b := u.m.Peek(addrAt, int(le.Uint32(u.m.Peek(sizeAt, 4))))
	port := binary.BigEndian.Uint16(b[2:])
	if le.Uint16(b) == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port).String()
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port).String()
}

func (u *user) bind(fd uint64, a string) {
	u.Helper()
	at, n := u.sockaddr(a)
	u.call(0, unix.SYS_BIND, fd, at, n)
}

// listen returns a listening socket.
func (u *user) listen(domain int, a string, backlog int) uint64 {
	u.Helper()
	fd := u.socket(domain, unix.SOCK_STREAM)
	u.bind(fd, a)
	u.call(0, unix.SYS_LISTEN, fd, uint64(backlog))
	return fd
}

func (u *user) write(fd uint64, s string) {
	u.Helper()
	u.m.Poke(dataAt, []byte(s))
	u.call(int64(len(s)), unix.SYS_SENDTO, fd, dataAt, uint64(len(s)), unix.MSG_NOSIGNAL, 0, 0)
}

// read receives what is there and returns it; it must not wait.
func (u *user) read(fd uint64, flags int) string {
	u.Helper()
	n := u.d.Must(u.t, unix.SYS_RECVFROM, fd, dataAt, 4096, uint64(flags), 0, 0)
	if n < 0 {
		return kernel.Errno(-n).Error()
	}
	return string(u.m.Peek(dataAt, int(n)))
}

func (u *user) wantRead(fd uint64, want string) {
	u.Helper()
	if got := u.read(fd, unix.MSG_DONTWAIT); got != want {
		u.Fatalf("read %q, want %q", got, want)
	}
}

// option returns an integer socket option.
func (u *user) option(fd uint64, level, name int) int {
	u.Helper()
	u.m.Poke(sizeAt, intBytes(4))
	u.call(0, unix.SYS_GETSOCKOPT, fd, uint64(level), uint64(name), valueAt, sizeAt)
	return int(le.Uint32(u.m.Peek(valueAt, 4)))
}

func (u *user) set(fd uint64, level, name, v int) {
	u.Helper()
	u.m.Poke(valueAt, intBytes(v))
	u.call(0, unix.SYS_SETSOCKOPT, fd, uint64(level), uint64(name), valueAt, 4)
}

func (u *user) socketError(fd uint64) kernel.Errno {
	u.Helper()
	return kernel.Errno(u.option(fd, unix.SOL_SOCKET, unix.SO_ERROR))
}

// ready returns the poll events of a socket.
func (u *user) ready(fd uint64) kernel.Events {
	return u.t.FDs().Get(int(fd)).File.Ready()
}

func (u *user) wantReady(fd uint64, want kernel.Events) {
	u.Helper()
	if got := u.ready(fd); got != want {
		u.Fatalf("events %#x, want %#x", got, want)
	}
}

// watcher counts what a queue announces.
type watcher struct{ events []kernel.Events }

func (w *watcher) Notify(ev kernel.Events) { w.events = append(w.events, ev) }

const (
	readable_ = kernel.In | kernel.RdNorm
	writable_ = kernel.Out | kernel.WrNorm
)

// pair returns a connection from a to b: a's end, b's end and b's listener.
func pair(a, b *user, addr string) (uint64, uint64, uint64) {
	a.Helper()
	l := b.listen(unix.AF_INET, addr, 5)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, n := a.sockaddr(addr)
	if r, ok := a.d.Call(a.t, unix.SYS_CONNECT, c, at, n); ok && r.Value != 0 {
		a.Fatalf("connect: %d", r.Value)
	}
	a.settle()
	a.done(0)
	s := b.fd(unix.SYS_ACCEPT4, l, 0, 0, 0)
	return c, s, l
}

func TestTCPHandshake(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	l := b.listen(unix.AF_INET, "0.0.0.0:80", 5)
	b.d.Waits(b.t, unix.SYS_ACCEPT, l, addrAt, sizeAt)
	b.m.Poke(sizeAt, intBytes(16))
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	a.wantReady(c, kernel.Hup|writable_)
	at, n := a.sockaddr("10.0.0.2:80")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
	a.wantReady(c, 0)
	w.collect()
	w.deliver()
	b2 := b.thread()
	if _, ok := b.d.Result(b.t); ok {
		t.Fatal("accepted before the handshake was complete")
	}
	w.deliver()
	a.done(0)
	a.wantReady(c, writable_)
	w.deliver()
	s := uint64(b.d.Done(b.t))
	if got := b.address(); got != "10.0.0.1:32768" {
		t.Errorf("accept gave the peer %s", got)
	}
	if got := b2.named(unix.SYS_GETSOCKNAME, s); got != "10.0.0.2:80" {
		t.Errorf("accepted socket is at %s", got)
	}
	if got := a.named(unix.SYS_GETPEERNAME, c); got != "10.0.0.2:80" {
		t.Errorf("peer is at %s", got)
	}
	var flags []string
	for _, m := range w.sent {
		flags = append(flags, m.Flags.String())
		if m.Flow.Epoch != 0 {
			t.Errorf("epoch %d", m.Flow.Epoch)
		}
	}
	if got := len(flags); got != 3 || flags[0] != "SYN" || flags[1] != "SYN+ACK" || flags[2] != "ACK" {
		t.Errorf("sent %v", flags)
	}
}

func TestTCPOneMessageAStep(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	before := len(w.sent)
	a.write(c, "hello ")
	a.write(c, "world")
	a.call(0, unix.SYS_CLOSE, c)
	w.settle()
	if len(w.sent) != before+1 {
		t.Fatalf("sent %d messages, want 1", len(w.sent)-before)
	}
	m := w.sent[before]
	if string(m.Data) != "hello world" || m.Flags != ariadne.FIN || m.Seq != 3 {
		t.Errorf("sent %q %v seq %d", m.Data, m.Flags, m.Seq)
	}
	b.wantReady(s, readable_|writable_|kernel.RdHup)
	b.wantRead(s, "hello world")
	b.wantRead(s, "")
	b.write(s, "late")
	w.settle()
	b.wantReady(s, readable_|writable_|kernel.RdHup|kernel.Hup|kernel.Err)
	b.wantRead(s, "")
	if e := b.socketError(s); e != unix.EPIPE {
		t.Errorf("SO_ERROR %v, want EPIPE", e)
	}
}

func TestTCPLoopback(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:80", "10.0.0.1:80"} {
		w := newNetwork(t, 1)
		u := w.user(0)
		c, s, _ := pair(u, u, addr)
		u.write(c, "ping")
		u.wantRead(s, "ping")
		u.write(s, "pong")
		u.wantRead(c, "pong")
		u.call(0, unix.SYS_CLOSE, s)
		u.wantRead(c, "")
		u.call(0, unix.SYS_CLOSE, c)
		w.settle()
		if len(w.sent) > 0 {
			t.Errorf("%s: sent %v", addr, w.sent)
		}
	}
}

func TestTCPRefused(t *testing.T) {
	w := newNetwork(t, 2)
	a := w.user(0)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, n := a.sockaddr("10.0.0.2:81")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
	w.settle()
	a.done(-int64(unix.ECONNREFUSED))
	at, n = a.sockaddr("127.0.0.1:81")
	a.fails(unix.ECONNREFUSED, unix.SYS_CONNECT, c, at, n)
	at, n = a.sockaddr("10.9.9.9:81")
	a.fails(unix.ENETUNREACH, unix.SYS_CONNECT, c, at, n)
	if r := a.d.Refused("connect to an unknown address"); r == nil || !r.Harmless {
		t.Errorf("refusal %v", r)
	}
}

func TestTCPNonBlockingConnect(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	b.listen(unix.AF_INET, "10.0.0.2:80", 5)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK)
	at, n := a.sockaddr("10.0.0.2:80")
	a.fails(unix.EINPROGRESS, unix.SYS_CONNECT, c, at, n)
	a.fails(unix.EALREADY, unix.SYS_CONNECT, c, at, n)
	a.fails(unix.ENOTCONN, unix.SYS_GETPEERNAME, c, addrAt+64, sizeAt)
	a.wantRead(c, unix.EAGAIN.Error())
	w.settle()
	at, n = a.sockaddr("10.0.0.2:80")
	a.call(0, unix.SYS_CONNECT, c, at, n)
	a.fails(unix.EISCONN, unix.SYS_CONNECT, c, at, n)
}

func TestTCPConnectTimesOut(t *testing.T) {
	w := newNetwork(t, 2)
	a := w.user(0)
	c := a.socket(unix.AF_INET, unix.SOCK_STREAM)
	at, n := a.sockaddr("10.0.0.2:80")
	a.d.Waits(a.t, unix.SYS_CONNECT, c, at, n)
	for {
		w.collect()
		w.flight = nil // lost
		if _, ok := a.d.Result(a.t); ok {
			break
		}
		a.d.Fire()
	}
	a.done(-int64(unix.ETIMEDOUT))
	if sec := int64(a.d.Node.Now) / 1e9; sec != 127 {
		t.Errorf("timed out after %d s", sec)
	}
	if len(w.sent) != 7 || w.sent[6].Seq != 7 {
		t.Errorf("sent %d SYNs", len(w.sent))
	}
}

func TestNetTables(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	pair(a, b, "10.0.0.2:80")
	b.bind(b.socket(unix.AF_INET, unix.SOCK_STREAM), "10.0.0.2:81") // bound only: not listed
	var got []string
	for _, e := range net.Sockets(b.d.Node, ariadne.TCP, unix.AF_INET) {
		got = append(got, fmt.Sprintf("%s %s %d", e.Local, e.Remote, e.State))
	}
	if fmt.Sprint(got) != "[10.0.0.2:80 invalid AddrPort 10 10.0.0.2:80 10.0.0.1:32768 1]" {
		t.Errorf("tcp: %q", got)
	}
	b.unixSocket(unix.SOCK_STREAM, "@abstract")
	if got := unixsock.ProcText(b.d.Node); !strings.HasSuffix(got, "00000000 0001 01     7 @abstract\n") {
		t.Errorf("unix: %q", got)
	}
	if got, want := iface.Inet6Table(b.d.Node), "fd000000000000000000000000000002 02 40 00 80     eth0\nfe80000000000000000000fffe000002 02 40 20 80     eth0\n"; !strings.HasSuffix(got, want) {
		t.Errorf("if_inet6: %q", got)
	}
}

func TestCopyHasItsOwnConnections(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	c, s, _ := pair(a, b, "10.0.0.2:80")
	a.write(c, "x")
	w.collect()
	m := w.flight[0]
	twin := b.d.Node.Image().Copy()
	net.Deliver(twin, &m)
	of := twin.Procs[b.t.Proc.PID].FDs.Get(int(s))
	if ev := of.File.Ready(); ev != readable_|writable_ {
		t.Errorf("the copy's socket has events %#x", ev)
	}
	b.wantReady(s, writable_)
	of.Drop(twin)
	net.Flush(twin)
	if len(twin.Out) != 1 || twin.Out[0].Flags != ariadne.RST || len(b.d.Node.Out) != 0 {
		t.Errorf("the copy sent %v, the original %v", twin.Out, b.d.Node.Out)
	}
}
