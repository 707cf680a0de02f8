package sys

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"

	"golang.org/x/sys/unix"
)

// A call that moves bytes of a connection to another node may find it reset, where it would have
// found no data, or room; one that connects may find no way to the other node. The first is what
// the network's own resets do (world.Reset), at this call: both ends hear of it.

// resets: the call reads from or writes to an established connection.
func resets(reads bool) could {
	return func(t *kernel.Thread, a Args) (on string, ok bool) {
		c, ok := connectionOf(t, a)
		if !ok || !c.MayBeReset(reads) {
			return "", false
		}
		return peerName(t, c.Remote)
	}
}

// connectionOf is the TCP socket to another node that a call is made on.
func connectionOf(t *kernel.Thread, a Args) (c *tcp.Socket, ok bool) {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return nil, false
	}
	c, ok = of.File.(*tcp.Socket)
	return c, ok && c.Apart()
}

// Reset has the network reset the connection on which the call is made that t stands in.
func Reset(t *kernel.Thread) {
	if c, ok := connectionOf(t, t.Call.Args); ok {
		c.ResetFromOutside()
	}
}

// connects: a connection to another node is to be set up, and the way to it is looked for.
func connects(t *kernel.Thread, a Args) (on string, ok bool) {
	dst, ok := target(t, a)
	if !ok {
		return "", false
	}
	return peerName(t, dst)
}

// target is where a socket is to connect to that is not connected yet.
func target(t *kernel.Thread, a Args) (dst netip.AddrPort, ok bool) {
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return dst, false
	}
	c, ok := of.File.(*tcp.Socket)
	if !ok {
		return dst, false
	}
	addr, e := readSockaddr(t, a[1], a[2])
	if e != 0 {
		return dst, false
	}
	dst, ok = c.Connects(addr)
	return dst, ok && !iface.IsOwn(t.Node(), dst.Addr())
}

// Peer is the address of the other node whose answer or data a call is about, if it is about one.
func Peer(t *kernel.Thread) (at netip.Addr, ok bool) {
	a := t.Call.Args
	switch t.Call.NR {
	case unix.SYS_CONNECT:
		if dst, ok := target(t, a); ok {
			return dst.Addr().Unmap(), true
		}
	case unix.SYS_READ, unix.SYS_READV, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG,
		unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG:
	default:
		return at, false
	}
	of := t.FDs().Get(fdOf(a[0]))
	if of == nil {
		return at, false
	}
	s, ok := of.File.(interface{ Inet() *inet.Endpoint })
	if !ok {
		return at, false
	}
	at = s.Inet().Remote.Addr().Unmap()
	return at, at.IsValid() && !at.IsUnspecified()
}

// peerName is a node's name, with a port: n2:9000. Not ok: there is no such node.
func peerName(t *kernel.Thread, at netip.AddrPort) (name string, ok bool) {
	for _, h := range t.Node().Hosts {
		if slices.Contains(h.Addrs, at.Addr().Unmap()) {
			return h.Name + ":" + strconv.Itoa(int(at.Port())), true
		}
	}
	return "", false
}
