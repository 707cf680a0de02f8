// Package inet is what TCP and UDP have in common: ports, the ends of connections, and the flows by
// which messages leave the node.
package inet

import (
	"net/netip"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// Pair finds a connection's end on this node.
type Pair struct{ Local, Remote netip.AddrPort }

// FlowKey finds what this node sends from one address to another.
type FlowKey struct {
	Proto ariadne.Protocol
	Pair
}

// FirstEpoch is the first epoch that a node counts since it was switched on last, so that none
// is used twice.
func FirstEpoch(n *kernel.Node) int { return n.Boots << 16 }

// Flow counts what this node sent on one Flow.
type Flow struct {
	Epoch, seq int
	before     *Flow // counts what it sent on connections from before it was switched on; or nil
}

// flows are what a node has sent so far.
var flows = kernel.NewSlot[*kernel.Node, map[FlowKey]*Flow]()

// Emit hands a message for another node to the node layer.
func Emit(n *kernel.Node, f *Flow, m ariadne.Message) {
	to, ok := iface.Owner(n, m.Flow.Dst.Addr())
	if !ok {
		return
	}
	f.seq++
	m.From, m.To, m.Seq, m.Sent = n.ID, ariadne.NodeID(to), f.seq, n.Now
	n.Out = append(n.Out, m)
}

// FlowFor returns the record of the flow k for an answer at the given epoch. first: what is
// answered is the first message of the epoch. A node that was switched off does not remember what
// it has sent before, and each node counts its epochs itself: so where it has no record, and may
// have had one, numbers go on from what it cannot have used.
func FlowFor(n *kernel.Node, k FlowKey, epoch int, first bool) *Flow {
	f := (*flows.Of(n))[k]
	if f == nil || f.Epoch < epoch {
		f = newFlow(n, k, epoch, epoch < FirstEpoch(n) || !first && n.Boots > 0)
	}
	return f
}

// NextFlow begins a new epoch of the flow k.
func NextFlow(n *kernel.Node, k FlowKey) *Flow {
	epoch := FirstEpoch(n)
	if old := (*flows.Of(n))[k]; old != nil {
		epoch = max(epoch, old.Epoch+1)
	}
	return newFlow(n, k, epoch, false)
}

// newFlow begins an epoch of a flow. forgotten: the node may have sent something in it before it
// was switched on.
func newFlow(n *kernel.Node, k FlowKey, epoch int, forgotten bool) *Flow {
	all := flows.Of(n)
	if *all == nil {
		*all = map[FlowKey]*Flow{}
	}
	f := &Flow{Epoch: epoch}
	if old := (*all)[k]; old != nil {
		if f.before = old.before; old.Epoch < FirstEpoch(n) {
			f.before = old
		}
	}
	if forgotten { // it goes on from the one before, and others go on from it
		f.seq = f.Before(n).seq
		f.before = f
	}
	(*all)[k] = f
	return f
}

// Before returns the record of an answer on a connection from before the node was switched on,
// on which it has sent nobody knows how much.
func (f *Flow) Before(n *kernel.Node) *Flow {
	if f.before == nil {
		f.before = &Flow{seq: n.Boots << 24}
	}
	return f.before
}

// State has Linux's numbers. States that last only while a segment is
// unacknowledged (FIN_WAIT1, CLOSING, LAST_ACK) do not occur: between nodes the
// network keeps what is sent, so a sent FIN counts as received.
type State uint8

const (
	Established State = 1
	SynSent     State = 2
	SynRcvd     State = 3
	FinWait1          = 4 // only shown, until a peer's delayed acknowledgement
	FinWait     State = 5 // FIN_WAIT2: we have sent FIN, the peer has not
	TimeWait    State = 6
	Closed      State = 7
	CloseWait   State = 8 // the peer has sent FIN, we have not
	Listening   State = 10
)

// Ephemeral ports, as net.ipv4.ip_local_port_range has them.
const (
	firstEphemeral = 32768
	lastEphemeral  = 60999
)

// Ports is which sockets of one protocol use which ports.
type Ports struct {
	used map[uint16][]Socket // in order of binding
	next uint16              // ephemeral port to try first
}

// Socket is a socket with ports: TCP or UDP.
type Socket interface {
	Inet() *Endpoint
	// entry is what lists of sockets show.
	Entry() Entry
}

// NewPorts returns a table in which no port is used.
func NewPorts(n *kernel.Node) *Ports {
	// Different from node to node, so that a port tells whose it is.
	return &Ports{used: map[uint16][]Socket{}, next: firstEphemeral + uint16(1000*(int(n.ID)%28))}
}

// On returns the sockets that use a port, in order of binding.
func (p *Ports) On(port uint16) []Socket { return p.used[port] }

// Free reports whether no socket uses a port.
func (p *Ports) Free(port uint16) bool { return len(p.used[port]) == 0 }

func (p *Ports) Add(port uint16, s Socket) {
	p.used[port] = append(p.used[port], s)
}

func (p *Ports) AddFirst(port uint16, s Socket) {
	p.used[port] = slices.Insert(p.used[port], 0, s)
}

func (p *Ports) Remove(port uint16, s Socket) {
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

// Ephemeral returns the next port that free accepts, or 0.
func (p *Ports) Ephemeral(free func(uint16) bool) uint16 {
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

// Locked reports whether bind(2) gave the port to a socket, or a listener
// holds it: then no connecting socket gets it by itself.
func (p *Ports) Locked(port uint16) bool {
	for _, s := range p.used[port] {
		if i := s.Inet(); i.Bound.Port() == port {
			return true
		}
	}
	return false
}

// Endpoint is what TCP and UDP sockets have in common.
type Endpoint struct {
	socket.Sock
	// bound is what bind(2) asked for; local is where the socket is now, remote
	// its peer. Zero when there is none.
	Bound, Local, Remote netip.AddrPort
	PortLocked           bool // bind(2) chose the port: it outlives a connection
}

func (i *Endpoint) Inet() *Endpoint { return i }

// V6Only reports whether a socket takes no IPv4.
func (i *Endpoint) V6Only() bool {
	return i.Domain == unix.AF_INET6 && i.Opt(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY) != 0
}

// Overlaps reports whether two bound addresses catch the same packets.
func (i *Endpoint) Overlaps(a netip.Addr, x *Endpoint) bool {
	return i.Catches(a, x.Local.Addr()) || x.Catches(x.Local.Addr(), a) || a == x.Local.Addr()
}

// Catches reports whether a packet for dst reaches socket i when bound to a.
func (i *Endpoint) Catches(a, dst netip.Addr) bool {
	switch {
	case a == dst:
		return true
	case a == netip.IPv4Unspecified():
		return dst.Is4()
	case a == netip.IPv6Unspecified():
		return dst.Is6() || !i.V6Only()
	}
	return false
}

// Score says how closely a bound socket fits the destination; 0 not at all.
func (i *Endpoint) Score(dst netip.Addr) int {
	a := i.Local.Addr()
	switch {
	case a == dst:
		return 3
	case !i.Catches(a, dst):
		return 0
	case a.Is4() == dst.Is4():
		return 2
	}
	return 1
}

// BindAddr checks the address of bind(2) and returns it.
func (i *Endpoint) BindAddr(t *kernel.Thread, b []byte) (netip.AddrPort, kernel.Errno) {
	minLen := iface.SizeofInet4
	if i.Domain == unix.AF_INET6 {
		minLen = iface.MinInet6
	}
	if len(b) < minLen {
		return netip.AddrPort{}, unix.EINVAL
	}
	if iface.SockaddrFamily(b) == unix.AF_UNSPEC && i.Domain == unix.AF_INET && [4]byte(b[4:8]) == [4]byte{} {
		b[0] = unix.AF_INET // long accepted for the wildcard (ip(7))
	}
	if iface.SockaddrFamily(b) != i.Domain {
		return netip.AddrPort{}, unix.EAFNOSUPPORT
	}
	a, e := iface.InetAddr(b)
	if e != 0 {
		return a, e
	}
	if i.V6Only() && a.Addr().Is4() {
		return a, unix.EINVAL
	}
	if a.Addr().Is6() && a.Addr().IsMulticast() && i.Type == unix.SOCK_STREAM {
		return a, unix.EINVAL // of IPv4 bind(2) takes such an address
	}
	foreign := !a.Addr().IsUnspecified() && !a.Addr().IsMulticast() && !iface.IsBroadcast(i.Node, a.Addr()) &&
		!iface.IsOwn(i.Node, a.Addr()) && i.Opt(unix.IPPROTO_IP, unix.IP_FREEBIND) == 0
	switch {
	case foreign && i.Domain == unix.AF_INET:
		return a, unix.EADDRNOTAVAIL
	case a.Port() != 0 && a.Port() < 1024 && !t.Capable(unix.CAP_NET_BIND_SERVICE):
		return a, unix.EACCES
	case i.HasPort:
		return a, unix.EINVAL
	case iface.NeedsScope(a.Addr()) && iface.ScopeOf(b) == 0:
		return a, unix.EINVAL
	case iface.NeedsScope(a.Addr()) && !iface.HasLink(i.Node, iface.ScopeOf(b)):
		return a, unix.ENODEV
	case foreign: // IPv6 asks this last
		return a, unix.EADDRNOTAVAIL
	}
	return a, 0
}

// NowBound closes a socket to IPv4 that was bound to an address of IPv6.
func (i *Endpoint) NowBound() {
	if a := i.Bound.Addr(); a.Is6() && !a.IsUnspecified() {
		i.SetOpt(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
}

// Target checks the destination of connect(2) or sendto(2). The wildcard means
// this host.
func (i *Endpoint) Target(b []byte) (netip.AddrPort, kernel.Errno) {
	a, e := iface.InetAddr(b)
	if e != 0 {
		return a, e
	}
	switch {
	case i.V6Only() && a.Addr().Is4():
		return a, unix.ENETUNREACH
	case a.Addr() == netip.IPv4Unspecified():
		a = netip.AddrPortFrom(iface.Loopback4, a.Port())
	case a.Addr() == netip.IPv6Unspecified() && i.Local.Addr().Is4():
		a = netip.AddrPortFrom(iface.Loopback4, a.Port())
	case a.Addr() == netip.IPv6Unspecified():
		a = netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	}
	return a, 0
}

// LacksScope reports whether the address of connect(2) means something on one interface only, and
// does not say on which.
func (i *Endpoint) LacksScope(a netip.Addr, b []byte) bool {
	if !iface.NeedsScope(a) || iface.ScopeOf(b) != 0 {
		return false
	}
	return !a.IsMulticast() || i.Opt(unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF) == 0
}

// Reachable says whether there is a way from the socket to dst, and the source
// address to use: src unless that is the wildcard.
func (i *Endpoint) Reachable(t *kernel.Thread, src, dst netip.Addr) (netip.Addr, kernel.Errno) {
	n := i.Node
	if !iface.IsOwn(n, dst) {
		if _, ok := iface.Owner(n, dst); !ok {
			n.Refuse(t, "connect to an unknown address", dst.String(), true)
			return netip.Addr{}, unix.ENETUNREACH
		}
	}
	if !src.IsValid() || src.IsUnspecified() {
		src = iface.SourceFor(n, dst)
	}
	if i.Domain == unix.AF_INET6 && src.IsValid() && src.Is4() && dst.Is6() {
		return src, unix.EAFNOSUPPORT
	}
	if !src.IsValid() || src.Is4() != dst.Is4() || src.IsLoopback() && !iface.IsOwn(n, dst) {
		return src, unix.EINVAL
	}
	return src, 0
}

// LocalAddr is getsockname(2).
func (i *Endpoint) LocalAddr() []byte {
	a := i.Local
	if !a.Addr().IsValid() {
		a = netip.AddrPortFrom(iface.Unspecified(i.Domain), a.Port())
	}
	return iface.InetSockaddr(i.Domain, a)
}

// GetOption and SetOption are for the options of IP that are not one integer.
func (i *Endpoint) GetOption(level, name int) ([]byte, kernel.Errno) { return nil, unix.ENOPROTOOPT }

func (i *Endpoint) SetOption(level, name int, v []byte) kernel.Errno {
	switch { // UDP has these, and looks at them itself
	case level == unix.IPPROTO_IP && name == unix.IP_MULTICAST_IF:
		return unix.EINVAL
	case level == unix.IPPROTO_IP && (name == unix.IP_ADD_MEMBERSHIP || name == unix.IP_DROP_MEMBERSHIP),
		level == unix.IPPROTO_IPV6 && (name == unix.IPV6_ADD_MEMBERSHIP || name == unix.IPV6_DROP_MEMBERSHIP):
		return unix.EPROTO
	}
	return unix.ENOPROTOOPT
}

// Options of both IP and IPv6 (RFC 3678) that package unix does not have.
const (
	JoinGroup  = 42
	LeaveGroup = 45
)
