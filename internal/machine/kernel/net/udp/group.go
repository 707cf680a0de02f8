package udp

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// membership is a multicast group that a socket has joined on an interface.
type membership struct {
	group netip.Addr
	link  int
}

// maxMemberships is net.ipv4.igmp_max_memberships.
const maxMemberships = 20

// Sizes of the structures by which programs name groups.
const (
	sizeofMreq     = 8
	sizeofMreqn    = 12
	sizeofMreq6    = 20
	sizeofGroupReq = 136
)

// isGroup reports whether a is a multicast or broadcast address.
func isGroup(n *kernel.Node, a netip.Addr) bool {
	return a.IsMulticast() || iface.IsBroadcast(n, a)
}

// own is the address that the socket sends from, if it is bound to one: a group is none.
func (u *Socket) own() netip.Addr {
	if a := u.Local.Addr(); !a.IsValid() || !isGroup(u.Node, a) {
		return a
	}
	return netip.Addr{}
}

// groupLink is the interface by which a datagram to a group leaves: the one that is asked for, or
// as with a default route. It is 0 for any other destination.
func (u *Socket) groupLink(dst netip.Addr, scope int) int {
	switch {
	case !isGroup(u.Node, dst):
		return 0
	case scope != 0 && iface.NeedsScope(dst):
		return scope
	case dst.Is4() && dst.IsMulticast() && u.via != 0:
		return u.via
	case dst.Is6() && u.Opt(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF) != 0:
		return u.Opt(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF)
	case u.own().IsLoopback(), dst.IsLoopback():
		return iface.Lo
	}
	return iface.Eth0
}

// groupSource is the address from which the socket sends to a group by an interface; it is
// invalid when there is none.
func (u *Socket) groupSource(dst netip.Addr, link int) netip.Addr {
	if a := u.own(); a.IsValid() && !a.IsUnspecified() && a.Is4() == dst.Is4() {
		return a
	}
	if dst.Is4() && dst.IsMulticast() && u.source.IsValid() {
		return u.source
	}
	return sourceOn(u.Node, dst, link)
}

// sourceOn is a node's own address on an interface, of dst's family.
func sourceOn(n *kernel.Node, dst netip.Addr, link int) netip.Addr {
	for _, l := range iface.Links(n) {
		if l.Index != link {
			continue
		}
		for _, p := range l.Addrs {
			if p.Addr().Is4() == dst.Is4() {
				return p.Addr()
			}
		}
	}
	return netip.Addr{}
}

// sendToGroup sends a datagram to all that may hear it: each node on the same network, and this
// one.
func (u *Socket) sendToGroup(d *datagram) {
	n, group := u.Node, d.to.Addr()
	m := ariadne.Message{Flow: ariadne.Flow{Proto: ariadne.UDP, Src: d.from, Dst: d.to}, Group: group,
		Data: slices.Clone(d.data)}
	if d.link == iface.Lo || !group.IsMulticast() ||
		u.multicastOption(group, unix.IP_MULTICAST_LOOP, unix.IPV6_MULTICAST_LOOP) != 0 {
		stackOf(n).toGroup(&m, d.link)
	}
	if d.link != iface.Eth0 || group.IsMulticast() && (group.IsInterfaceLocalMulticast() ||
		u.multicastOption(group, unix.IP_MULTICAST_TTL, unix.IPV6_MULTICAST_HOPS) == 0) {
		return
	}
	bits, from := 64, d.from.Addr()
	if from.Is4() {
		bits = 24
	}
	network, _ := from.Prefix(bits)
	for i, h := range n.Hosts {
		id, at := ariadne.NodeID(i), slices.IndexFunc(h.Addrs, network.Contains)
		switch {
		case id == n.ID:
			continue
		case at >= 0:
			m.Flow.Dst = netip.AddrPortFrom(h.Addrs[at], d.to.Port())
		case from == iface.LinkLocal(n.ID) && iface.SameLink(n, h):
			m.Flow.Dst = netip.AddrPortFrom(iface.LinkLocal(id), d.to.Port())
		default:
			continue
		}
		emit(n, m)
	}
}

func (u *Socket) multicastOption(group netip.Addr, ip4, ip6 int) int {
	if group.Is4() {
		return u.Opt(unix.IPPROTO_IP, ip4)
	}
	return u.Opt(unix.IPPROTO_IPV6, ip6)
}

// toGroup gives a datagram that has come by an interface to every socket that hears it. Nobody
// learns when there is none.
func (s *stack) toGroup(m *ariadne.Message, link int) {
	d := &datagram{from: m.Flow.Src, to: netip.AddrPortFrom(m.Group, m.Flow.Dst.Port()), link: link, data: m.Data}
	where := membership{m.Group, link}
	if m.Group.IsMulticast() && s.joined[where] == 0 && !allHosts(m.Group) {
		return
	}
	for _, x := range slices.Clone(s.ports.On(d.to.Port())) {
		u := x.(*Socket)
		if u.Score(m.Group) == 0 || !u.acceptsFrom(d.from) {
			continue
		}
		if !m.Group.IsMulticast() || slices.Contains(u.joined, where) || u.hearsAll(m.Group) {
			u.receive(d)
		}
	}
}

// hearsAll reports whether the socket takes what others on the node have joined.
func (u *Socket) hearsAll(group netip.Addr) bool {
	if group.Is4() {
		return u.Opt(unix.IPPROTO_IP, unix.IP_MULTICAST_ALL) != 0
	}
	return u.Opt(unix.IPPROTO_IPV6, socket.IPv6MulticastAll) != 0
}

// allHosts reports whether every interface is a member of the group by itself.
func allHosts(group netip.Addr) bool {
	return group == netip.AddrFrom4([4]byte{224, 0, 0, 1}) || group == netip.IPv6LinkLocalAllNodes()
}

// setGroupOption sets the options that join groups, leave them, and say by which interface to send.
func (u *Socket) setGroupOption(level, name int, v []byte) kernel.Errno {
	switch {
	case level == unix.IPPROTO_IP && name == unix.IP_MULTICAST_IF:
		return u.setGroupInterface(v)
	case level == unix.IPPROTO_IP && (name == unix.IP_ADD_MEMBERSHIP || name == unix.IP_DROP_MEMBERSHIP):
		if len(v) < sizeofMreq {
			return unix.EINVAL
		}
		link, e := u.findLink(v[4:])
		return u.change(netip.AddrFrom4([4]byte(v)), link, e, name == unix.IP_ADD_MEMBERSHIP)
	case level == unix.IPPROTO_IPV6 && (name == unix.IPV6_ADD_MEMBERSHIP || name == unix.IPV6_DROP_MEMBERSHIP):
		if len(v) < sizeofMreq6 {
			return unix.EINVAL
		}
		link, e := u.linkAt(int(binary.LittleEndian.Uint32(v[16:])))
		return u.change(netip.AddrFrom16([16]byte(v)), link, e, name == unix.IPV6_ADD_MEMBERSHIP)
	case (level == unix.IPPROTO_IP || level == unix.IPPROTO_IPV6) &&
		(name == inet.JoinGroup || name == inet.LeaveGroup):
		if len(v) < sizeofGroupReq {
			return unix.EINVAL
		}
		a, e := iface.InetAddr(v[8:])
		if e != 0 || a.Addr().Is4() != (level == unix.IPPROTO_IP) {
			return unix.EADDRNOTAVAIL
		}
		link, e := u.linkAt(int(binary.LittleEndian.Uint32(v)))
		return u.change(a.Addr(), link, e, name == inet.JoinGroup)
	}
	return unix.ENOPROTOOPT
}

// findLink is the interface that the end of a struct ip_mreq or ip_mreqn names, by its address or
// by its number.
func (u *Socket) findLink(v []byte) (int, kernel.Errno) {
	if len(v) >= sizeofMreqn-4 && binary.LittleEndian.Uint32(v[4:]) != 0 {
		return u.linkAt(int(binary.LittleEndian.Uint32(v[4:])))
	}
	a := netip.AddrFrom4([4]byte(v))
	if a.IsUnspecified() {
		return iface.Eth0, 0
	}
	for _, l := range iface.Links(u.Node) {
		if slices.ContainsFunc(l.Addrs, func(p netip.Prefix) bool { return p.Addr() == a }) {
			return l.Index, 0
		}
	}
	return 0, unix.ENODEV
}

func (u *Socket) linkAt(index int) (int, kernel.Errno) {
	if index == 0 {
		return iface.Eth0, 0
	}
	if !slices.ContainsFunc(iface.Links(u.Node), func(l iface.Link) bool { return l.Index == index }) {
		return 0, unix.ENODEV
	}
	return index, 0
}

// change joins a group or leaves it. e says that there is no such interface.
func (u *Socket) change(group netip.Addr, link int, e kernel.Errno, join bool) kernel.Errno {
	m, all := membership{group, link}, stackOf(u.Node).joined
	at := slices.Index(u.joined, m)
	switch {
	case !group.IsMulticast():
		return unix.EINVAL
	case e != 0:
		return e
	case join && at >= 0:
		return unix.EADDRINUSE
	case join && len(u.joined) >= maxMemberships && group.Is4():
		return unix.ENOBUFS
	case join:
		u.joined = append(u.joined, m)
		all[m]++
	case at < 0:
		return unix.EADDRNOTAVAIL
	default:
		u.joined = slices.Delete(u.joined, at, at+1)
		forget(all, m)
	}
	return 0
}

func forget(all map[membership]int, m membership) {
	if all[m]--; all[m] == 0 {
		delete(all, m)
	}
}

func (u *Socket) leaveAll() {
	for _, m := range u.joined {
		forget(stackOf(u.Node).joined, m)
	}
	u.joined = nil
}

// setGroupInterface is IP_MULTICAST_IF, which takes an address, a struct ip_mreq or an ip_mreqn.
func (u *Socket) setGroupInterface(v []byte) kernel.Errno {
	if len(v) < 4 {
		return unix.EINVAL
	}
	if len(v) >= sizeofMreq {
		v = v[4:]
	}
	a := netip.AddrFrom4([4]byte(v))
	if a.IsUnspecified() && (len(v) < sizeofMreqn-4 || binary.LittleEndian.Uint32(v[4:]) == 0) {
		u.via, u.source = 0, netip.Addr{}
		return 0
	}
	link, e := u.findLink(v)
	if e != 0 {
		return unix.EADDRNOTAVAIL
	}
	u.via, u.source = link, netip.Addr{}
	if !a.IsUnspecified() {
		u.source = a
	}
	return 0
}

// groupInterface is the address that IP_MULTICAST_IF was given.
func (u *Socket) groupInterface() []byte {
	if !u.source.IsValid() {
		return make([]byte, 4)
	}
	return u.source.AsSlice()
}
