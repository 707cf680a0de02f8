package kernel

import (
	"net/netip"

	"ariadne"

	"golang.org/x/sys/unix"
)

// Net is the node's network stack. What leaves the node is a Message; what
// stays inside (loopback, own addresses) arrives at once and is never one.
//
// Invariants: the bytes that one step wrote to one connection leave in one
// message, at the end of the step (Flush); Seq counts the messages of a Flow
// from 1, upwards.
type Net struct {
	tcp       portTable
	udp       portTable
	conns     map[connKey]*TCP // connected, connecting and TIME_WAIT
	flows     map[flowKey]*flow
	netlink   map[uint32]*Netlink // by nl_pid
	unix      map[unixKey]*Unix   // bound
	unixNames int                 // last name given by autobind
	dirty     []*TCP              // with something to send at the end of the step, oldest first
	// waiting are the entries in TIME_WAIT and the orphans in FIN_WAIT2, the
	// first to end first. They take no timer, lest the search see one: whoever
	// looks after the end finds the entry gone.
	waiting []*TCP
}

// connKey finds a connection's end on this node.
type connKey struct{ local, remote netip.AddrPort }

// flowKey finds what this node sends from one address to another.
type flowKey struct {
	proto ariadne.Protocol
	connKey
}

// flow counts what this node sent on one Flow.
type flow struct{ epoch, seq int }

var nets = NewSlot[*Node, Net]()

// NetOf returns the node's network stack.
func NetOf(n *Node) *Net {
	s := nets.Of(n)
	if s.conns == nil {
		s.init(n)
	}
	return s
}

func (s *Net) init(n *Node) {
	s.conns = map[connKey]*TCP{}
	s.flows = map[flowKey]*flow{}
	s.unix = map[unixKey]*Unix{}
	s.netlink = map[uint32]*Netlink{}
	s.tcp.init(n)
	s.udp.init(n)
}

// Deliver takes in a message that another node sent.
func (s *Net) Deliver(n *Node, m *ariadne.Message) {
	switch m.Flow.Proto {
	case ariadne.TCP:
		s.segment(n, m)
	case ariadne.UDP:
		s.datagram(n, m)
	}
}

// Flush sends what this step left to send. The node layer calls it when the
// node is quiescent.
func (s *Net) Flush(n *Node) {
	for _, c := range s.dirty {
		s.flush(n, c)
	}
	s.dirty = nil
}

// flush sends what one connection left to send.
func (s *Net) flush(n *Node, c *TCP) {
	if !c.dirty {
		return // it was flushed before, as it lost its addresses
	}
	c.dirty = false
	m := ariadne.Message{Flow: c.flowOut(), Flags: c.outFlags, Window: c.outWindow, Data: c.out}
	c.outFlags, c.outWindow, c.out = 0, 0, nil
	s.emit(n, c.flow, m)
}

// emit hands a message for another node to the node layer.
func (s *Net) emit(n *Node, f *flow, m ariadne.Message) {
	to, ok := n.owner(m.Flow.Dst.Addr())
	if !ok {
		return
	}
	f.seq++
	m.From, m.To, m.Seq, m.Sent = n.ID, ariadne.NodeID(to), f.seq, n.Now
	n.Out = append(n.Out, m)
}

// flowFor returns the record of the flow k for an answer at the given epoch. A
// peer that was switched off counts its epochs anew: then numbers go on from
// what it does not remember, so that none is used twice.
func (s *Net) flowFor(k flowKey, epoch int) *flow {
	f := s.flows[k]
	if f == nil || f.epoch < epoch {
		f = &flow{epoch: epoch}
		s.flows[k] = f
	}
	return f
}

// nextFlow begins a new epoch of the flow k.
func (s *Net) nextFlow(k flowKey) *flow {
	f := &flow{}
	if old := s.flows[k]; old != nil {
		f.epoch = old.epoch + 1
	}
	s.flows[k] = f
	return f
}

// Ephemeral ports, as net.ipv4.ip_local_port_range has them.
const (
	firstEphemeral = 32768
	lastEphemeral  = 60999
)

// portTable is which sockets of one protocol use which ports.
type portTable struct {
	used map[uint16][]inetSocket // in order of binding
	next uint16                  // ephemeral port to try first
}

// inetSocket is a socket with ports: TCP or UDP.
type inetSocket interface{ inetPart() *inet }

func (p *portTable) init(n *Node) {
	p.used = map[uint16][]inetSocket{}
	// Different from node to node, so that a port tells whose it is.
	p.next = firstEphemeral + uint16(1000*(int(n.ID)%28))
}

func (p *portTable) add(port uint16, s inetSocket) {
	p.used[port] = append(p.used[port], s)
}

func (p *portTable) remove(port uint16, s inetSocket) {
	list := p.used[port]
	for i, x := range list {
		if x == s {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if p.used[port] = list; len(list) == 0 {
		delete(p.used, port)
	}
}

// ephemeral returns the next port that free accepts, or 0.
func (p *portTable) ephemeral(free func(uint16) bool) uint16 {
	for range lastEphemeral - firstEphemeral + 1 {
		port := p.next
		if p.next++; p.next > lastEphemeral {
			p.next = firstEphemeral
		}
		if free(port) {
			return port
		}
	}
	return 0
}

// inet is what TCP and UDP sockets have in common.
type inet struct {
	Sock
	// bound is what bind(2) asked for; local is where the socket is now, remote
	// its peer. Zero when there is none.
	bound, local, remote netip.AddrPort
	portLocked           bool // bind(2) chose the port: it outlives a connection
}

func (i *inet) inetPart() *inet { return i }

// v6only reports whether a socket takes no IPv4.
func (i *inet) v6only() bool {
	return i.Domain == unix.AF_INET6 && i.Opt(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY) != 0
}

// overlaps reports whether two bound addresses catch the same packets.
func (i *inet) overlaps(a netip.Addr, x *inet) bool {
	return i.catches(a, x.local.Addr()) || x.catches(x.local.Addr(), a) || a == x.local.Addr()
}

// catches reports whether a packet for dst reaches socket i when bound to a.
func (i *inet) catches(a, dst netip.Addr) bool {
	switch {
	case a == dst:
		return true
	case a == netip.IPv4Unspecified():
		return dst.Is4()
	case a == netip.IPv6Unspecified():
		return dst.Is6() || !i.v6only()
	}
	return false
}

// bindAddr checks the address of bind(2) and returns it.
func (i *inet) bindAddr(t *Thread, b []byte) (netip.AddrPort, Errno) {
	minLen := sizeofInet4
	if i.Domain == unix.AF_INET6 {
		minLen = minInet6
	}
	if len(b) < minLen {
		return netip.AddrPort{}, unix.EINVAL
	}
	if sockaddrFamily(b) == unix.AF_UNSPEC && i.Domain == unix.AF_INET && [4]byte(b[4:8]) == [4]byte{} {
		b[0] = unix.AF_INET // long accepted for the wildcard (ip(7))
	}
	if sockaddrFamily(b) != i.Domain {
		return netip.AddrPort{}, unix.EAFNOSUPPORT
	}
	a, e := inetAddr(b)
	if e != 0 {
		return a, e
	}
	if i.v6only() && a.Addr().Is4() {
		return a, unix.EINVAL
	}
	foreign := !a.Addr().IsUnspecified() && !a.Addr().IsMulticast() && a.Addr() != broadcast &&
		!i.Node.isOwn(a.Addr()) && i.Opt(unix.IPPROTO_IP, unix.IP_FREEBIND) == 0
	switch {
	case foreign && i.Domain == unix.AF_INET:
		return a, unix.EADDRNOTAVAIL
	case a.Port() != 0 && a.Port() < 1024 && !t.Proc.Capable(unix.CAP_NET_BIND_SERVICE):
		return a, unix.EACCES
	case i.hasPort:
		return a, unix.EINVAL
	case foreign: // IPv6 asks this last
		return a, unix.EADDRNOTAVAIL
	}
	return a, 0
}

// nowBound closes a socket to IPv4 that was bound to an address of IPv6.
func (i *inet) nowBound() {
	if a := i.bound.Addr(); a.Is6() && !a.IsUnspecified() {
		i.opts[optKey{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}] = 1
	}
}

// target checks the destination of connect(2) or sendto(2). The wildcard means
// this host.
func (i *inet) target(b []byte) (netip.AddrPort, Errno) {
	a, e := inetAddr(b)
	if e != 0 {
		return a, e
	}
	switch {
	case i.v6only() && a.Addr().Is4():
		return a, unix.ENETUNREACH
	case a.Addr() == netip.IPv4Unspecified():
		a = netip.AddrPortFrom(loopback4, a.Port())
	case a.Addr() == netip.IPv6Unspecified():
		a = netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	}
	return a, 0
}

// reachable says whether there is a way from the socket to dst, and the source
// address to use: src unless that is the wildcard.
func (i *inet) reachable(t *Thread, src, dst netip.Addr) (netip.Addr, Errno) {
	n := i.Node
	if !n.isOwn(dst) {
		if _, ok := n.owner(dst); !ok {
			n.Refuse(t, "connect to an unknown address", dst.String(), true)
			return netip.Addr{}, unix.ENETUNREACH
		}
	}
	if !src.IsValid() || src.IsUnspecified() {
		src = n.sourceFor(dst)
	}
	if i.Domain == unix.AF_INET6 && src.IsValid() && src.Is4() && dst.Is6() {
		return src, unix.EAFNOSUPPORT
	}
	if !src.IsValid() || src.Is4() != dst.Is4() || src.IsLoopback() && !n.isOwn(dst) {
		return src, unix.EINVAL
	}
	return src, 0
}

// LocalAddr is getsockname(2).
func (i *inet) LocalAddr() []byte {
	a := i.local
	if !a.Addr().IsValid() {
		a = netip.AddrPortFrom(unspecified(i.Domain), a.Port())
	}
	return inetSockaddr(i.Domain, a)
}

// GetOption and SetOption are for the options of IP that are not one integer.
func (i *inet) GetOption(level, name int) ([]byte, Errno) { return nil, unix.ENOPROTOOPT }

func (i *inet) SetOption(level, name int, v []byte) Errno {
	switch {
	case level == unix.IPPROTO_IP && (name == unix.IP_ADD_MEMBERSHIP || name == unix.IP_DROP_MEMBERSHIP ||
		name == unix.IP_MULTICAST_IF),
		level == unix.IPPROTO_IPV6 && (name == unix.IPV6_ADD_MEMBERSHIP || name == unix.IPV6_DROP_MEMBERSHIP),
		name == mcastJoinGroup || name == mcastLeaveGroup:
		return 0 // joined, but no multicast is ever delivered: sending it is refused
	}
	return unix.ENOPROTOOPT
}

const (
	mcastJoinGroup  = 42
	mcastLeaveGroup = 45
)
