// Package iface is a node's interfaces with their addresses: who is who in the network.
//
// Read next: addr.go.
package iface

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// Every node has two interfaces, lo and eth0, and all its own addresses on eth0, with one that
// counts on its own network alone.
const (
	Lo   = 1
	Eth0 = 2
)

// Link is a network interface.
type Link struct {
	Index int
	Name  string
	Kind  uint16 // ARPHRD_*
	Flags uint32 // IFF_*
	MTU   int
	MAC   [6]byte
	Addrs []netip.Prefix
}

// Links are the node's interfaces by ascending index.
func Links(n *kernel.Node) []Link {
	const up = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	lo := Link{Index: Lo, Name: "lo", Kind: unix.ARPHRD_LOOPBACK, Flags: up | unix.IFF_LOOPBACK, MTU: 65536,
		Addrs: []netip.Prefix{netip.PrefixFrom(Loopback4, 8), netip.PrefixFrom(netip.IPv6Loopback(), 128)}}
	eth := Link{Index: Eth0, Name: "eth0", Kind: unix.ARPHRD_ETHER, Flags: up | unix.IFF_BROADCAST | unix.IFF_MULTICAST,
		MTU: 1500, MAC: kernel.EthernetAddr(n.ID)}
	for _, a := range n.Addrs {
		bits := 64
		if a.Is4() {
			bits = 24
		}
		eth.Addrs = append(eth.Addrs, netip.PrefixFrom(a, bits))
	}
	eth.Addrs = append(eth.Addrs, netip.PrefixFrom(LinkLocal(n.ID), 64))
	return []Link{lo, eth}
}

// IndexOf is the index of the interface that has address a.
func IndexOf(n *kernel.Node, a netip.Addr) int {
	if a.IsLoopback() {
		return Lo
	}
	return Eth0
}

// HasLink reports whether the node has an interface of this index.
func HasLink(n *kernel.Node, index int) bool {
	return slices.ContainsFunc(Links(n), func(l Link) bool { return l.Index == index })
}

// BroadcastOf is the address of everybody in an IPv4 network.
func BroadcastOf(p netip.Prefix) netip.Addr {
	a := p.Addr().As4()
	host := uint32(1)<<(32-p.Bits()) - 1
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])|host)
	return netip.AddrFrom4(a)
}

// MaskOf is the network mask of an IPv4 prefix.
func MaskOf(p netip.Prefix) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, ^uint32(0)<<(32-p.Bits()))))
}

// CInt is a C int as memory has it.
func CInt(v int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }

const (
	sizeofIfreq = 40
	ifNameSize  = 16
)

// Ioctl answers the ioctls that every socket has: questions about interfaces
// (netdevice(7)).
func Ioctl(s *socket.Sock, t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	switch cmd {
	case unix.SIOCGIFCONF:
		return 0, interfaceList(s, t, arg)
	case unix.SIOCGIFNAME, unix.SIOCGIFFLAGS, unix.SIOCGIFADDR, unix.SIOCGIFDSTADDR, unix.SIOCGIFBRDADDR,
		unix.SIOCGIFNETMASK, unix.SIOCGIFMETRIC, unix.SIOCGIFMTU, unix.SIOCGIFHWADDR, unix.SIOCGIFINDEX,
		unix.SIOCGIFTXQLEN, unix.SIOCGIFMAP:
		return 0, interfaceQuestion(s, t, cmd, arg)
	case unix.SIOCSIFFLAGS, unix.SIOCSIFADDR, unix.SIOCSIFDSTADDR, unix.SIOCSIFBRDADDR, unix.SIOCSIFNETMASK, unix.SIOCSIFMETRIC,
		unix.SIOCSIFMTU, unix.SIOCSIFHWADDR, unix.SIOCSIFTXQLEN, unix.SIOCSIFNAME:
		if e := t.M.ReadMem(arg, make([]byte, sizeofIfreq)); e != 0 {
			return 0, e
		}
	}
	return 0, unix.ENOTTY
}

// interfaceQuestion answers one of the calls about the interface that a struct
// ifreq names.
func interfaceQuestion(s *socket.Sock, t *kernel.Thread, cmd, arg uint64) kernel.Errno {
	req := make([]byte, sizeofIfreq)
	if e := t.M.ReadMem(arg, req); e != 0 {
		return e
	}
	l, ok := findLink(Links(s.Node), cmd, req)
	if !ok {
		return unix.ENODEV
	}
	out := req[ifNameSize:]
	clear(out)
	switch cmd {
	case unix.SIOCGIFNAME:
		clear(req[:ifNameSize])
		copy(req, l.Name)
		binary.LittleEndian.PutUint32(out, uint32(l.Index))
	case unix.SIOCGIFFLAGS:
		binary.LittleEndian.PutUint16(out, uint16(l.Flags))
	case unix.SIOCGIFINDEX:
		binary.LittleEndian.PutUint32(out, uint32(l.Index))
	case unix.SIOCGIFMTU:
		binary.LittleEndian.PutUint32(out, uint32(l.MTU))
	case unix.SIOCGIFTXQLEN:
		binary.LittleEndian.PutUint32(out, 1000)
	case unix.SIOCGIFHWADDR:
		binary.LittleEndian.PutUint16(out, l.Kind)
		copy(out[2:], l.MAC[:])
	case unix.SIOCGIFADDR, unix.SIOCGIFDSTADDR, unix.SIOCGIFBRDADDR, unix.SIOCGIFNETMASK:
		a, ok := l.addressFor(cmd)
		if !ok {
			return unix.EADDRNOTAVAIL
		}
		copy(out, InetSockaddr(unix.AF_INET, netip.AddrPortFrom(a, 0)))
	}
	return t.M.WriteMem(arg, req)
}

// findLink finds the interface that the request means, by index or by name.
func findLink(links []Link, cmd uint64, req []byte) (Link, bool) {
	name := string(req[:ifNameSize])
	for _, l := range links {
		if cmd == unix.SIOCGIFNAME {
			if int(binary.LittleEndian.Uint32(req[ifNameSize:])) == l.Index {
				return l, true
			}
		} else if len(name) > len(l.Name) && name[:len(l.Name)] == l.Name && name[len(l.Name)] == 0 {
			return l, true
		}
	}
	return Link{}, false
}

// addressFor is the IPv4 address that an ioctl asks for.
func (l Link) addressFor(cmd uint64) (netip.Addr, bool) {
	for _, p := range l.Addrs {
		switch {
		case !p.Addr().Is4():
		case cmd == unix.SIOCGIFNETMASK:
			return MaskOf(p), true
		case cmd == unix.SIOCGIFBRDADDR && l.Flags&unix.IFF_LOOPBACK != 0:
			return netip.IPv4Unspecified(), true
		case cmd == unix.SIOCGIFBRDADDR:
			return BroadcastOf(p), true
		default:
			return p.Addr(), true
		}
	}
	return netip.Addr{}, false
}

// interfaceList answers SIOCGIFCONF: an array of struct ifreq with the IPv4
// addresses.
func interfaceList(s *socket.Sock, t *kernel.Thread, arg uint64) kernel.Errno {
	conf := make([]byte, 16) // struct ifconf: length, buffer
	if e := t.M.ReadMem(arg, conf); e != 0 {
		return e
	}
	var list []byte
	for _, l := range Links(s.Node) {
		for _, p := range l.Addrs {
			if p.Addr().Is4() {
				req := make([]byte, sizeofIfreq)
				copy(req, l.Name)
				copy(req[ifNameSize:], InetSockaddr(unix.AF_INET, netip.AddrPortFrom(p.Addr(), 0)))
				list = append(list, req...)
			}
		}
	}
	if buf := binary.LittleEndian.Uint64(conf[8:]); buf != 0 {
		room := int(int32(binary.LittleEndian.Uint32(conf)))
		list = list[:min(len(list), max(0, room)/sizeofIfreq*sizeofIfreq)]
		if e := t.M.WriteMem(buf, list); e != 0 {
			return e
		}
	}
	return t.StoreInt(arg, len(list))
}
