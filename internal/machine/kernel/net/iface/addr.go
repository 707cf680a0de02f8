package iface

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Sizes of the socket addresses that Linux takes and gives.
const (
	SizeofInet4 = 16
	sizeofInet6 = 28
	MinInet6    = 24 // RFC 2133, without the scope
)

// InetAddr reads a sockaddr_in or sockaddr_in6 by its own family. IPv4-mapped
// addresses come out as IPv4: inside the kernel an address has one form.
func InetAddr(b []byte) (netip.AddrPort, kernel.Errno) {
	switch {
	case len(b) < 2:
		return netip.AddrPort{}, unix.EINVAL
	case SockaddrFamily(b) == unix.AF_INET:
		if len(b) < SizeofInet4 {
			return netip.AddrPort{}, unix.EINVAL
		}
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:])), 0
	case SockaddrFamily(b) == unix.AF_INET6:
		if len(b) < MinInet6 {
			return netip.AddrPort{}, unix.EINVAL
		}
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])).Unmap(), binary.BigEndian.Uint16(b[2:])), 0
	}
	return netip.AddrPort{}, unix.EAFNOSUPPORT
}

// SockaddrFamily is the family of a sockaddr, AF_UNSPEC when it is too short.
func SockaddrFamily(b []byte) int {
	if len(b) < 2 {
		return unix.AF_UNSPEC
	}
	return int(binary.LittleEndian.Uint16(b))
}

// NeedsScope reports whether an address means something on one interface only.
func NeedsScope(a netip.Addr) bool {
	return a.Is6() && (a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsInterfaceLocalMulticast())
}

// ScopeOf is the interface that a sockaddr_in6 names, or 0.
func ScopeOf(b []byte) int {
	if SockaddrFamily(b) != unix.AF_INET6 || len(b) < sizeofInet6 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b[MinInet6:]))
}

// InetSockaddr is a as a socket of the given family shows it.
func InetSockaddr(family int, a netip.AddrPort) []byte {
	if family == unix.AF_INET {
		b := make([]byte, SizeofInet4)
		binary.LittleEndian.PutUint16(b, unix.AF_INET)
		binary.BigEndian.PutUint16(b[2:], a.Port())
		if a.Addr().Is4() {
			ip := a.Addr().As4()
			copy(b[4:], ip[:])
		}
		return b
	}
	b := make([]byte, sizeofInet6)
	binary.LittleEndian.PutUint16(b, unix.AF_INET6)
	binary.BigEndian.PutUint16(b[2:], a.Port())
	if a.Addr().IsValid() {
		ip := a.Addr().As16() // an IPv4 address comes out mapped
		copy(b[8:], ip[:])
		if NeedsScope(a.Addr()) {
			binary.LittleEndian.PutUint32(b[MinInet6:], Eth0)
		}
	}
	return b
}

// Unspecified is the wildcard address of a family.
func Unspecified(family int) netip.Addr {
	if family == unix.AF_INET {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// Addresses of loopback and of a host file's usual limited broadcast.
var (
	Loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	Broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

	broadcastLo = netip.AddrFrom4([4]byte{127, 255, 255, 255})
)

// LinkLocal is the address of IPv6 that a node's eth0 makes of its hardware address (RFC 4291).
func LinkLocal(id ariadne.NodeID) netip.Addr {
	m := kernel.EthernetAddr(id)
	return netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xff, 12: 0xfe, 13: m[3],
		14: m[4], 15: m[5]})
}

// SameLink reports whether a node is on a network of n's.
func SameLink(n *kernel.Node, host kernel.Host) bool {
	for _, a := range n.Addrs {
		bits := 64
		if a.Is4() {
			bits = 24
		}
		if network, _ := a.Prefix(bits); slices.ContainsFunc(host.Addrs, network.Contains) {
			return true
		}
	}
	return false
}

// IsOwn reports whether a packet to a stays inside the node.
func IsOwn(n *kernel.Node, a netip.Addr) bool {
	if a.IsLoopback() || a == LinkLocal(n.ID) {
		return true
	}
	for _, x := range n.Addrs {
		if x == a {
			return true
		}
	}
	return false
}

// Owner returns the node that has address a; false when none has.
func Owner(n *kernel.Node, a netip.Addr) (int, bool) {
	for i, h := range n.Hosts {
		if a.IsLinkLocalUnicast() && a == LinkLocal(ariadne.NodeID(i)) && SameLink(n, h) {
			return i, true
		}
		for _, x := range h.Addrs {
			if x == a {
				return i, true
			}
		}
	}
	return 0, false
}

// SourceFor returns the address from which the node sends to dst.
func SourceFor(n *kernel.Node, dst netip.Addr) netip.Addr {
	switch {
	case dst.Is4() && dst.IsLoopback():
		return Loopback4
	case IsOwn(n, dst):
		return dst
	case dst.Is6() && dst.IsLinkLocalUnicast():
		return LinkLocal(n.ID)
	}
	for _, a := range n.Addrs {
		if a.Is4() == dst.Is4() {
			return a
		}
	}
	return netip.Addr{}
}

// IsBroadcast reports whether a reaches everybody. All nodes' networks are /24.
func IsBroadcast(n *kernel.Node, a netip.Addr) bool {
	if a == Broadcast || a == broadcastLo {
		return true
	}
	if !a.Is4() || a.As4()[3] != 255 {
		return false
	}
	for _, x := range n.Addrs {
		if x.Is4() && [3]byte(x.AsSlice()) == [3]byte(a.AsSlice()) {
			return true
		}
	}
	return false
}
