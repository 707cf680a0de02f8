// Package udp is UDP (udp(7)).
package udp

import (
	"encoding/binary"
	"math"
	"net/netip"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

const (
	max4 = 65507 // bytes in one datagram
	max6 = 65527
	// skbOverhead is what a queued datagram costs beside its bytes.
	skbOverhead = 768
)

const pageSize = 4096

// memory is net.ipv4.udp_mem: pages that the queues of all sockets together may take. The last
// number is the limit, six parts in 32 of the machine's memory.
var memory = kernel.NewMemorySetting("net/ipv4/udp_mem", 0, math.MaxInt64, func(memory int64) []int64 {
	pages := max(memory/pageSize/8, 128)
	return []int64{pages / 4 * 3, pages, pages / 4 * 3 * 2}
})

// Socket is a UDP socket.
type Socket struct {
	inet.Endpoint
	shut  uint8
	queue []datagram
	size  int // what queue takes of SO_RCVBUF
	// held is a datagram that grows, by MSG_MORE or UDP_CORK, until it is sent.
	held *datagram

	joined []membership
	// via and source are what IP_MULTICAST_IF asks for: 0 and zero leave it to the node.
	via    int
	source netip.Addr
}

var _ = kernel.DeclareKind[*Socket]()

// datagram is one that waits to be received.
type datagram struct {
	from, to netip.AddrPort
	link     int // the interface by which one to a group leaves or has come
	data     []byte
}

// stack is what a node has of UDP.
type stack struct {
	ports  *inet.Ports
	joined map[membership]int // how many sockets are members
	held   int                // what the queues of all sockets take
}

var stacks = kernel.NewSlot[*kernel.Node, stack]()

func stackOf(n *kernel.Node) *stack {
	s := stacks.Of(n)
	if s.ports == nil {
		s.ports, s.joined = inet.NewPorts(n), map[membership]int{}
	}
	return s
}

// Deliver takes in a datagram that another node sent.
func Deliver(n *kernel.Node, m *ariadne.Message) { stackOf(n).datagram(n, m) }

// New returns a fresh socket.
func New(n *kernel.Node, domain int) *Socket {
	return &Socket{Endpoint: inet.Endpoint{Sock: socket.New(n, domain, unix.SOCK_DGRAM, unix.IPPROTO_UDP)}}
}

// Ready implements File, as datagram_poll does.
func (u *Socket) Ready() kernel.Events {
	ev := kernel.Out | kernel.WrNorm | kernel.WrBand
	if u.Err != 0 {
		ev |= kernel.Err
	}
	if u.shut&socket.ShutRead != 0 {
		ev |= kernel.RdHup | kernel.In | kernel.RdNorm
	}
	if u.shut == socket.ShutRead|socket.ShutWrite {
		ev |= kernel.Hup
	}
	if len(u.queue) > 0 {
		ev |= kernel.In | kernel.RdNorm
	}
	return ev
}

// Bind implements Socket.
func (u *Socket) Bind(t *kernel.Thread, addr []byte) kernel.Errno {
	a, e := u.BindAddr(t, addr)
	if e != 0 {
		return e
	}
	return u.takePort(a, a.Port() != 0)
}

// takePort binds the socket to a, with any free port when it has none. locked:
// bind(2) asked for this port.
func (u *Socket) takePort(a netip.AddrPort, locked bool) kernel.Errno {
	ports := stackOf(u.Node).ports
	if a.Port() == 0 {
		port := ports.Ephemeral(ports.Free)
		if port == 0 {
			return unix.EADDRINUSE
		}
		a = netip.AddrPortFrom(a.Addr(), port)
	} else if u.conflicts(a) {
		return unix.EADDRINUSE
	}
	u.Bound, u.Local, u.HasPort, u.PortLocked = a, a, true, locked
	u.NowBound()
	// As Linux has it (sk_add_node_rcu), for who decides below and who receives.
	if u.Domain == unix.AF_INET6 && u.Opt(unix.SOL_SOCKET, unix.SO_REUSEPORT) != 0 {
		ports.AddFirst(a.Port(), u)
	} else {
		ports.Add(a.Port(), u)
	}
	return 0
}

// autobind gives the socket a port if it has none.
func (u *Socket) autobind() kernel.Errno {
	if u.HasPort {
		return 0
	}
	a := u.Bound.Addr()
	if !a.IsValid() {
		a = iface.Unspecified(u.Domain)
	}
	return u.takePort(netip.AddrPortFrom(a, 0), false)
}

// conflicts reports whether another socket's claim on a excludes u's. Like Linux
// (udp_lib_lport_inuse) it lets the last bound socket that shares by
// SO_REUSEPORT decide.
func (u *Socket) conflicts(a netip.AddrPort) bool {
	for _, s := range slices.Backward(stackOf(u.Node).ports.On(a.Port())) {
		x := s.Inet()
		both := func(opt int) bool {
			return u.Opt(unix.SOL_SOCKET, opt) != 0 && x.Opt(unix.SOL_SOCKET, opt) != 0
		}
		if u.Overlaps(a.Addr(), x) && !both(unix.SO_REUSEADDR) {
			return !both(unix.SO_REUSEPORT)
		}
	}
	return false
}

// Listen and Accept implement Socket.
func (u *Socket) Listen(*kernel.Thread, int) kernel.Errno { return unix.EOPNOTSUPP }

func (u *Socket) Accept(*kernel.Thread, bool) (socket.Socket, []byte, kernel.Errno) {
	return nil, nil, unix.EOPNOTSUPP
}

// Connect implements Socket: it only names the peer.
func (u *Socket) Connect(t *kernel.Thread, addr []byte) kernel.Errno {
	if len(addr) < 2 {
		return unix.EINVAL
	}
	if iface.SockaddrFamily(addr) == unix.AF_UNSPEC {
		u.disconnect()
		return 0
	}
	if e := u.autobind(); e != 0 {
		return unix.EAGAIN
	}
	if u.V6Only() && iface.SockaddrFamily(addr) == unix.AF_INET {
		return unix.EAFNOSUPPORT
	}
	if a, e := iface.InetAddr(addr); e == 0 && u.LacksScope(a.Addr(), addr) {
		return unix.EINVAL
	}
	dst, src, e := u.route(t, addr)
	if e != 0 {
		return e
	}
	u.Remote = dst
	if u.held != nil && dst.Addr().Is4() && u.held.to.Addr().Is4() {
		// Linux has one place for both
		u.held.from, u.held.to = netip.AddrPortFrom(src, u.Local.Port()), dst
	}
	if u.Local.Addr().IsUnspecified() {
		u.Local = netip.AddrPortFrom(src, u.Local.Port())
	}
	return 0
}

func (u *Socket) disconnect() {
	u.Remote, u.Local = netip.AddrPort{}, u.Bound
	if !u.PortLocked {
		u.freePort()
		u.Bound = netip.AddrPortFrom(u.Bound.Addr(), 0)
		u.Local = u.Bound
	}
}

func (u *Socket) freePort() {
	if u.HasPort {
		stackOf(u.Node).ports.Remove(u.Local.Port(), u)
		u.HasPort = false
	}
}

// route finds the destination that a sockaddr names and the source to use.
func (u *Socket) route(t *kernel.Thread, addr []byte) (dst netip.AddrPort, src netip.Addr, e kernel.Errno) {
	if f := iface.SockaddrFamily(addr); u.Domain == unix.AF_INET && f != unix.AF_INET {
		if len(addr) < iface.SizeofInet4 {
			return dst, src, unix.EINVAL
		}
		return dst, src, unix.EAFNOSUPPORT
	}
	if dst, e = u.Target(addr); e != 0 {
		return dst, src, e
	}
	switch {
	case iface.IsBroadcast(u.Node, dst.Addr()):
		if u.Opt(unix.SOL_SOCKET, unix.SO_BROADCAST) == 0 {
			return dst, src, unix.EACCES
		}
		return dst, u.groupSource(dst.Addr(), u.groupLink(dst.Addr(), 0)), 0
	case dst.Addr().IsMulticast():
		src = u.groupSource(dst.Addr(), u.groupLink(dst.Addr(), iface.ScopeOf(addr)))
		if !src.IsValid() {
			return dst, src, unix.ENETUNREACH
		}
		return dst, src, 0
	}
	src = u.own() // also of an earlier connect(2)
	if u.Domain == unix.AF_INET6 && src.Is6() && dst.Addr().Is4() {
		src = netip.Addr{} // that was to IPv6: it sends, but hears no answer
	}
	src, e = u.Reachable(t, src, dst.Addr())
	return dst, src, e
}

// Send implements Socket.
func (u *Socket) Send(t *kernel.Thread, m *socket.OutMsg) (int, kernel.Errno) {
	if e := u.autobind(); e != 0 { // first of all, whatever becomes of the datagram
		return 0, unix.EAGAIN
	}
	if u.Domain == unix.AF_INET && len(m.Data) > math.MaxUint16 {
		return 0, unix.EMSGSIZE // whatever else is wrong with it
	}
	if m.Flags&unix.MSG_OOB != 0 {
		return 0, unix.EOPNOTSUPP
	}
	d := u.held
	if d != nil && d.to.Addr().Is6() && iface.SockaddrFamily(m.To) != unix.AF_UNSPEC {
		if to, e := u.Target(m.To); e == 0 && to.Addr().Is4() {
			return 0, unix.EINVAL // what is held back is for IPv6
		}
	}
	if d == nil {
		var e kernel.Errno
		if d, e = u.address(t, m); e != 0 {
			return 0, e
		}
	}
	if len(d.data)+len(m.Data) > maxData(d.to.Addr()) {
		return 0, unix.EMSGSIZE
	}
	d.data = append(d.data, m.Data...)
	u.held = d
	if m.Flags&unix.MSG_MORE == 0 && u.Opt(unix.IPPROTO_UDP, socket.UDPCork) == 0 {
		u.push()
	}
	return len(m.Data), 0
}

// maxData is how many bytes a datagram to an address has at most.
func maxData(to netip.Addr) int {
	if to.Is4() {
		return max4
	}
	return max6
}

// push sends the datagram that was held back.
func (u *Socket) push() {
	if d := u.held; d != nil {
		u.held = nil
		if isGroup(u.Node, d.to.Addr()) {
			u.sendToGroup(d)
		} else {
			u.transmit(d.from, d.to, d.data)
		}
	}
}

// address makes the datagram that a message begins, without its data.
func (u *Socket) address(t *kernel.Thread, m *socket.OutMsg) (*datagram, kernel.Errno) {
	dst, src := u.Remote, u.own()
	to := m.To
	if len(to) >= 2 && iface.SockaddrFamily(to) == unix.AF_UNSPEC {
		if u.Domain == unix.AF_INET6 {
			if u.Remote.IsValid() && u.Local.Addr().Is4() {
				return nil, unix.ENETUNREACH // Linux looks for a route to the mapped address
			}
			to = nil // as if there were no address
		} else {
			to = append(binary.LittleEndian.AppendUint16(nil, unix.AF_INET), to[2:]...)
		}
	}
	if to != nil {
		var e kernel.Errno
		connected4 := u.Domain == unix.AF_INET6 && u.Remote.IsValid() && u.Local.Addr().Is4()
		if connected4 && iface.SockaddrFamily(to) == unix.AF_INET6 {
			if a, e := u.Target(to); e == 0 && a.Addr().Is6() {
				if a.Port() == 0 {
					return nil, unix.EINVAL
				}
				return nil, unix.EAFNOSUPPORT
			}
		}
		if dst, src, e = u.route(t, to); e != 0 {
			return nil, e
		}
		if dst.Port() == 0 {
			return nil, unix.EINVAL
		}
	}
	if !dst.IsValid() {
		return nil, unix.EDESTADDRREQ
	}
	if src.Is4() != dst.Addr().Is4() {
		src = iface.SourceFor(u.Node, dst.Addr())
	}
	link := u.groupLink(dst.Addr(), iface.ScopeOf(to))
	if e := u.sourceControl(t, m.Controls, &src, &link); e != 0 {
		return nil, e
	}
	if len(m.Data) > maxData(dst.Addr()) {
		return nil, unix.EMSGSIZE
	}
	if e := u.TakeError(); e != 0 {
		return nil, e
	}
	if u.shut&socket.ShutWrite != 0 {
		return nil, unix.EPIPE
	}
	return &datagram{from: netip.AddrPortFrom(src, u.Local.Port()), to: dst, link: link}, 0
}

// sourceControl takes the source address and the interface from IP_PKTINFO.
func (u *Socket) sourceControl(t *kernel.Thread, controls []socket.Control, src *netip.Addr, link *int) kernel.Errno {
	for _, c := range controls {
		var a netip.Addr
		var index uint32
		switch {
		case c.Level == unix.IPPROTO_IP && c.Type == unix.IP_PKTINFO && len(c.Data) >= 12:
			index, a = binary.LittleEndian.Uint32(c.Data), netip.AddrFrom4([4]byte(c.Data[4:]))
		case c.Level == unix.IPPROTO_IPV6 && c.Type == unix.IPV6_PKTINFO && len(c.Data) >= 20:
			index, a = binary.LittleEndian.Uint32(c.Data[16:]), netip.AddrFrom16([16]byte(c.Data)).Unmap()
		case c.Level == unix.IPPROTO_IP && (c.Type == unix.IP_TOS || c.Type == unix.IP_TTL),
			c.Level == unix.IPPROTO_IPV6 && (c.Type == unix.IPV6_TCLASS || c.Type == unix.IPV6_HOPLIMIT):
			continue
		default:
			u.Node.Refuse(t, "sendmsg control of UDP", "", true)
			return unix.EINVAL
		}
		if index != 0 {
			*link = int(index)
		}
		if a.IsUnspecified() {
			continue
		}
		if !iface.IsOwn(u.Node, a) {
			return unix.EINVAL
		}
		*src = a
	}
	return 0
}

// transmit sends a datagram to another node or to this one.
func (u *Socket) transmit(src, dst netip.AddrPort, data []byte) {
	n := u.Node
	data = append([]byte(nil), data...)
	m := ariadne.Message{Flow: ariadne.Flow{Proto: ariadne.UDP, Src: src, Dst: dst}, Data: data}
	if iface.IsOwn(n, dst.Addr()) {
		stackOf(n).datagram(n, &m)
		return
	}
	emit(n, m)
}

// emit hands a datagram for another node to the node layer. Those from before the node was switched
// on are of another flow: they may still be under way, and have the numbers that begin again.
func emit(n *kernel.Node, m ariadne.Message) {
	m.Flow.Epoch = inet.FirstEpoch(n)
	key := inet.FlowKey{Proto: ariadne.UDP, Pair: inet.Pair{Local: m.Flow.Src, Remote: m.Flow.Dst}}
	inet.Emit(n, inet.FlowFor(n, key, m.Flow.Epoch, true), m)
}

// datagram takes in a datagram, or (RST) the news that nobody is at its port.
func (s *stack) datagram(n *kernel.Node, m *ariadne.Message) {
	if m.Group.IsValid() {
		s.toGroup(m, iface.Eth0)
		return
	}
	u := s.udpFor(m.Flow.Dst, m.Flow.Src)
	switch {
	case m.Flags&ariadne.RST != 0:
		if u != nil && u.acceptsFrom(m.Flow.Src) && u.Remote.IsValid() {
			u.Err = unix.ECONNREFUSED
			u.Waiters.Notify(kernel.Err)
		}
	case u != nil:
		u.receive(&datagram{from: m.Flow.Src, to: m.Flow.Dst, data: m.Data})
	default:
		r := ariadne.Message{Flow: ariadne.Flow{Proto: ariadne.UDP, Src: m.Flow.Dst, Dst: m.Flow.Src},
			Flags: ariadne.RST}
		if iface.IsOwn(n, r.Flow.Dst.Addr()) {
			s.datagram(n, &r)
			return
		}
		emit(n, r)
	}
}

// udpFor finds the socket for a datagram: the most closely bound, the last bound
// among equals, or with SO_REUSEPORT one that depends on the sender.
func (s *stack) udpFor(dst, src netip.AddrPort) *Socket {
	var best []*Socket
	bestScore := 0
	for _, x := range s.ports.On(dst.Port()) {
		u := x.(*Socket)
		score := u.Score(dst.Addr())
		if score == 0 || !u.acceptsFrom(src) {
			continue
		}
		if u.Remote.IsValid() {
			score += 8
		}
		if score > bestScore {
			best, bestScore = nil, score
		}
		if score == bestScore {
			best = append(best, u)
		}
	}
	if best == nil {
		return nil
	}
	last := best[len(best)-1]
	if last.Opt(unix.SOL_SOCKET, unix.SO_REUSEPORT) != 0 {
		return best[int(src.Port())%len(best)]
	}
	return last
}

// acceptsFrom reports whether a socket takes datagrams from src: a connected one only those of
// its peer, whose port may be 0, which is any.
func (u *Socket) acceptsFrom(src netip.AddrPort) bool {
	return !u.Remote.IsValid() || u.Remote == src || u.Remote.Port() == 0 && u.Remote.Addr() == src.Addr()
}

// receive queues a datagram; without room it is lost, as on Linux.
func (u *Socket) receive(d *datagram) {
	cost := len(d.data) + skbOverhead
	if u.size+cost > u.Opt(unix.SOL_SOCKET, unix.SO_RCVBUF) && len(u.queue) > 0 {
		return
	}
	s, most := stackOf(u.Node), memory.All(u.Node)
	if int64(s.held+cost) > most[len(most)-1]*pageSize {
		return
	}
	s.held += cost
	u.size += cost
	u.queue = append(u.queue, *d)
	u.Waiters.Notify(kernel.In | kernel.RdNorm)
}

// Recv implements Socket.
func (u *Socket) Recv(_ *kernel.Thread, m *socket.InMsg) kernel.Errno {
	if m.Flags&unix.MSG_ERRQUEUE != 0 {
		return unix.EAGAIN
	}
	if e := u.TakeError(); e != 0 {
		return e
	}
	if len(u.queue) == 0 {
		if u.shut&socket.ShutRead != 0 && !m.NoWait {
			return 0
		}
		return unix.EAGAIN
	}
	d := u.queue[0]
	m.Len = len(d.data)
	m.Data = d.data[:min(m.Max, len(d.data))]
	if len(m.Data) < len(d.data) {
		m.OutFlags |= unix.MSG_TRUNC
	}
	m.From = iface.InetSockaddr(u.Domain, d.from)
	m.Controls = u.received(d)
	if m.Flags&unix.MSG_PEEK == 0 {
		u.size -= len(d.data) + skbOverhead
		stackOf(u.Node).held -= len(d.data) + skbOverhead
		u.queue = kernel.WithoutFirst(u.queue)
	}
	return 0
}

// received is what the socket asked to be told of a datagram.
func (u *Socket) received(d datagram) []socket.Control {
	var out []socket.Control
	one := func(level, option, typ int, data []byte) {
		if u.Opt(level, option) != 0 {
			out = append(out, socket.Control{Level: level, Type: typ, Data: data})
		}
	}
	index, own, hops := iface.CInt(iface.IndexOf(u.Node, d.to.Addr())), d.to.Addr(), 64
	if d.link != 0 { // to a group
		index, own, hops = iface.CInt(d.link), sourceOn(u.Node, d.to.Addr(), d.link), 1
	}
	if d.to.Addr().Is4() {
		a, mine := d.to.Addr().As4(), own.As4()
		one(unix.IPPROTO_IP, unix.IP_PKTINFO, unix.IP_PKTINFO, slices.Concat(index, mine[:], a[:]))
		one(unix.IPPROTO_IP, unix.IP_RECVTTL, unix.IP_TTL, iface.CInt(hops))
		one(unix.IPPROTO_IP, unix.IP_RECVTOS, unix.IP_TOS, []byte{0})
	}
	if u.Domain == unix.AF_INET6 {
		a := d.to.Addr().As16()
		one(unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, unix.IPV6_PKTINFO, append(a[:], index...))
		one(unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, unix.IPV6_HOPLIMIT, iface.CInt(hops))
		one(unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, unix.IPV6_TCLASS, iface.CInt(0))
	}
	return out
}

// Buffered implements Sized.
func (u *Socket) Buffered() int {
	if len(u.queue) == 0 {
		return 0
	}
	return len(u.queue[0].data)
}

// Read implements Reader.
func (u *Socket) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	m := socket.InMsg{Max: len(b)}
	e := u.Recv(t, &m)
	return copy(b, m.Data), e
}

// Write implements Writer.
func (u *Socket) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	return u.Send(t, &socket.OutMsg{Data: b})
}

// Shutdown implements Socket.
func (u *Socket) Shutdown(how int) kernel.Errno {
	if how < 0 || how > 2 {
		return unix.EINVAL
	}
	u.shut |= uint8(how + 1)
	u.Waiters.Notify(0)
	if !u.Remote.IsValid() {
		return unix.ENOTCONN
	}
	return 0
}

// Release implements File.
func (u *Socket) Release(*kernel.Node) {
	u.freePort()
	u.leaveAll()
	stackOf(u.Node).held -= u.size
	u.size, u.queue, u.held = 0, nil, nil
}

// RemoteAddr is getpeername(2).
func (u *Socket) RemoteAddr() ([]byte, kernel.Errno) {
	if u.Remote.Port() == 0 {
		return nil, unix.ENOTCONN
	}
	return iface.InetSockaddr(u.Domain, u.Remote), 0
}

// Ioctl implements Ioctler.
func (u *Socket) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	switch cmd {
	case unix.SIOCINQ:
		return 0, t.StoreInt(arg, u.Buffered())
	case unix.SIOCOUTQ:
		return 0, t.StoreInt(arg, 0)
	}
	return iface.Ioctl(&u.Sock, t, cmd, arg)
}

// GetOption and SetOption implement Socket.
func (u *Socket) GetOption(_ *kernel.Thread, level, name int) ([]byte, kernel.Errno) {
	if level == unix.IPPROTO_IP && name == unix.IP_MULTICAST_IF {
		return u.groupInterface(), 0
	}
	return u.Endpoint.GetOption(level, name)
}

func (u *Socket) SetOption(_ *kernel.Thread, level, name int, v []byte) kernel.Errno {
	if level == unix.IPPROTO_UDP && name == socket.UDPCork && len(v) >= 4 && [4]byte(v) == [4]byte{} {
		u.push()
	}
	if e := u.setGroupOption(level, name, v); e != unix.ENOPROTOOPT {
		return e
	}
	return u.Endpoint.SetOption(level, name, v)
}

// List lists the sockets of a family that have a port.
func List(n *kernel.Node, family int) []inet.Entry { return stackOf(n).ports.Entries(family) }

// Entry implements inet.Socket.
func (u *Socket) Entry() inet.Entry {
	e := u.NewEntry(inet.Closed)
	e.Shut = u.shut
	if u.Remote.IsValid() {
		e.State = uint8(inet.Established)
	}
	for _, d := range u.queue {
		e.Receiving += len(d.data)
	}
	return e
}
