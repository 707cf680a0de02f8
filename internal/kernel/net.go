package kernel

import (
	"net/netip"
	"slices"

	"ariadne"

	"golang.org/x/sys/unix"
)

// connKey finds a connection's end on this node.
type connKey struct{ local, remote netip.AddrPort }

// flowKey finds what this node sends from one address to another.
type flowKey struct {
	proto ariadne.Protocol
	connKey
}

// flow counts what this node sent on one Flow.
type flow struct{ epoch, seq int }

// flows are what a node has sent so far.
var flows = NewSlot[*Node, map[flowKey]*flow]()

// emit hands a message for another node to the node layer.
func emit(n *Node, f *flow, m ariadne.Message) {
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
func flowFor(n *Node, k flowKey, epoch int) *flow {
	f := (*flows.Of(n))[k]
	if f == nil || f.epoch < epoch {
		f = newFlow(n, k, epoch)
	}
	return f
}

// nextFlow begins a new epoch of the flow k.
func nextFlow(n *Node, k flowKey) *flow {
	epoch := 0
	if old := (*flows.Of(n))[k]; old != nil {
		epoch = old.epoch + 1
	}
	return newFlow(n, k, epoch)
}

func newFlow(n *Node, k flowKey, epoch int) *flow {
	all := flows.Of(n)
	if *all == nil {
		*all = map[flowKey]*flow{}
	}
	f := &flow{epoch: epoch}
	(*all)[k] = f
	return f
}

// tcpState has Linux's numbers. States that last only while a segment is
// unacknowledged (FIN_WAIT1, CLOSING, LAST_ACK) do not occur: between nodes the
// network keeps what is sent, so a sent FIN counts as received.
type tcpState uint8

const (
	tcpEstablished tcpState = 1
	tcpSynSent     tcpState = 2
	tcpSynRcvd     tcpState = 3
	tcpFinWait1             = 4 // only shown, until a peer's delayed acknowledgement
	tcpFinWait     tcpState = 5 // FIN_WAIT2: we have sent FIN, the peer has not
	tcpTimeWait    tcpState = 6
	tcpClosed      tcpState = 7
	tcpCloseWait   tcpState = 8 // the peer has sent FIN, we have not
	tcpListening   tcpState = 10
)

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
type inetSocket interface {
	inetPart() *inet
	// entry is what lists of sockets show.
	entry() SocketEntry
}

// newPorts returns a table in which no port is used.
func newPorts(n *Node) *portTable {
	// Different from node to node, so that a port tells whose it is.
	return &portTable{used: map[uint16][]inetSocket{}, next: firstEphemeral + uint16(1000*(int(n.ID)%28))}
}

// on are the sockets that use a port, in order of binding.
func (p *portTable) on(port uint16) []inetSocket { return p.used[port] }

// free reports whether no socket uses a port.
func (p *portTable) free(port uint16) bool { return len(p.used[port]) == 0 }

func (p *portTable) add(port uint16, s inetSocket) {
	p.used[port] = append(p.used[port], s)
}

func (p *portTable) addFirst(port uint16, s inetSocket) {
	p.used[port] = slices.Insert(p.used[port], 0, s)
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

// locked reports whether bind(2) gave the port to a socket, or a listener
// holds it: then no connecting socket gets it by itself.
func (p *portTable) locked(port uint16) bool {
	for _, s := range p.used[port] {
		if i := s.inetPart(); i.bound.Port() == port {
			return true
		}
	}
	return false
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

// score says how closely a bound socket fits the destination; 0 not at all.
func (i *inet) score(dst netip.Addr) int {
	a := i.local.Addr()
	switch {
	case a == dst:
		return 3
	case !i.catches(a, dst):
		return 0
	case a.Is4() == dst.Is4():
		return 2
	}
	return 1
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
		i.SetOpt(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
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
