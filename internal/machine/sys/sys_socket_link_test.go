package sys_test

import (
	"net/netip"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"

	"golang.org/x/sys/unix"
)

// scoped puts a link-local address into memory, with its interface.
func (u *user) scoped(a netip.Addr, port uint16, link int) (at, size uint64) {
	b := iface.InetSockaddr(unix.AF_INET6, netip.AddrPortFrom(a, port))
	le.PutUint32(b[24:], uint32(link))
	u.m.Poke(addrAt, b)
	return addrAt, uint64(len(b))
}

// TestLinkLocal: the address that each eth0 has by itself needs its interface, and leads to the
// node.
func TestLinkLocal(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	own, other := iface.LinkLocal(0), iface.LinkLocal(1)
	if want := netip.MustParseAddr("fe80::ff:fe00:2"); other != want {
		t.Fatalf("the address is %v, want %v", other, want)
	}
	l := b.socket(unix.AF_INET6, unix.SOCK_STREAM)
	at, n := b.scoped(other, 80, 0)
	b.fails(unix.EINVAL, unix.SYS_BIND, l, at, n)
	at, n = b.scoped(own, 80, iface.Eth0)
	b.fails(unix.EADDRNOTAVAIL, unix.SYS_BIND, l, at, n)
	at, n = b.scoped(other, 80, iface.Eth0)
	b.call(0, unix.SYS_BIND, l, at, n)
	b.call(0, unix.SYS_LISTEN, l, 5)

	c := a.socket(unix.AF_INET6, unix.SOCK_STREAM)
	at, n = a.scoped(other, 80, 0)
	a.fails(unix.EINVAL, unix.SYS_CONNECT, c, at, n)
	at, n = a.scoped(other, 80, iface.Eth0)
	a.d.Call(a.t, unix.SYS_CONNECT, c, at, n)
	w.settle()
	a.done(0)
	s := b.fd(unix.SYS_ACCEPT4, l, 0, 0, 0)
	a.write(c, "near")
	w.settle()
	b.wantRead(s, "near")
	if got := b.named(unix.SYS_GETPEERNAME, s); got != netip.AddrPortFrom(own, 32768).String() {
		t.Errorf("the peer is %s", got)
	}
	if scope := le.Uint32(b.m.Peek(addrAt+24, 4)); scope != iface.Eth0 {
		t.Errorf("the peer is on interface %d", scope)
	}

	// A datagram to all nodes of the network comes from there, where there is no better address.
	u, r := a.socket(unix.AF_INET6, unix.SOCK_DGRAM), b.socket(unix.AF_INET6, unix.SOCK_DGRAM)
	at, n = a.scoped(own, 7, iface.Eth0)
	a.call(0, unix.SYS_BIND, u, at, n)
	b.bind(r, "[::]:53")
	at, n = a.scoped(netip.MustParseAddr("ff02::1"), 53, iface.Eth0)
	a.m.Poke(dataAt, []byte("all"))
	a.call(3, unix.SYS_SENDTO, u, dataAt, 3, 0, at, n)
	w.settle()
	b.wantRead(r, "all")
}
