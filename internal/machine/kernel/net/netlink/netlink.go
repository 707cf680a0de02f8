// Package netlink is sockets that ask the kernel: for interfaces, addresses and routes
// (rtnetlink(7)), and for sockets (sock_diag(7)). Nothing of that changes by itself, so there are
// no notifications.
//
// Read next: diag.go.
package netlink

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

const (
	sizeofNlHdr       = 16
	sizeofSockaddrNl  = 12
	maxDatagram       = 3584 // glibc and Go read into a page
	linkOperationalUp = 6    // IF_OPER_UP
)

// Socket is an AF_NETLINK socket. One of NETLINK_ROUTE answers the questions
// that programs ask about interfaces, addresses, routes and neighbours. Nothing
// of that ever changes, so there are no notifications. One of NETLINK_SOCK_DIAG
// lists sockets.
type Socket struct {
	socket.Sock
	port  uint32 // nl_pid; 0 until bound
	peer  uint32
	queue [][]byte
}

var _ = kernel.DeclareKind[*Socket]()

// byPort are a node's sockets by nl_pid.
var byPort = kernel.NewSlot[*kernel.Node, map[uint32]*Socket]()

// New returns a fresh socket of NETLINK_ROUTE or NETLINK_SOCK_DIAG.
func New(n *kernel.Node, typ, protocol int) *Socket {
	return &Socket{Sock: socket.New(n, unix.AF_NETLINK, typ, protocol)}
}

// Ready implements File.
func (s *Socket) Ready() kernel.Events {
	ev := kernel.Out | kernel.WrNorm | kernel.WrBand
	if len(s.queue) > 0 {
		ev |= kernel.In | kernel.RdNorm
	}
	if s.Err != 0 {
		ev |= kernel.Err
	}
	return ev
}

// Bind implements Socket.
func (s *Socket) Bind(t *kernel.Thread, addr []byte) kernel.Errno {
	switch {
	case len(addr) < sizeofSockaddrNl:
		return unix.EINVAL
	case iface.SockaddrFamily(addr) != unix.AF_NETLINK:
		return unix.EINVAL
	}
	port := binary.LittleEndian.Uint32(addr[4:])
	switch {
	case s.port != 0 && port != s.port:
		return unix.EINVAL
	case s.port != 0:
		return 0
	case port == 0:
		s.autobind(t)
		return 0
	}
	if (*byPort.Of(t.Node()))[port] != nil {
		return unix.EADDRINUSE
	}
	s.setPort(port)
	return 0
}

func (s *Socket) setPort(port uint32) {
	s.port = port
	if all := byPort.Of(s.Node); *all == nil {
		*all = map[uint32]*Socket{}
	}
	(*byPort.Of(s.Node))[port] = s
}

// autobind gives the socket the process's id as its port, or one from above
// when that is taken.
func (s *Socket) autobind(t *kernel.Thread) {
	port := uint32(t.Proc.PID)
	for next := ^uint32(4096); (*byPort.Of(s.Node))[port] != nil; next-- {
		port = next
	}
	s.setPort(port)
}

// Listen and Accept implement Socket.
func (s *Socket) Listen(*kernel.Thread, int) kernel.Errno { return unix.EOPNOTSUPP }

func (s *Socket) Accept(*kernel.Thread, bool) (socket.Socket, []byte, kernel.Errno) {
	return nil, nil, unix.EOPNOTSUPP
}

// Connect implements Socket.
func (s *Socket) Connect(t *kernel.Thread, addr []byte) kernel.Errno {
	if len(addr) < 2 {
		return unix.EINVAL
	}
	if iface.SockaddrFamily(addr) == unix.AF_UNSPEC {
		s.peer = 0
		return 0
	}
	if iface.SockaddrFamily(addr) != unix.AF_NETLINK || len(addr) < sizeofSockaddrNl {
		return unix.EINVAL
	}
	if s.port == 0 {
		s.autobind(t)
	}
	s.peer = binary.LittleEndian.Uint32(addr[4:])
	return 0
}

// Send implements Socket: requests are answered at once, into the queue.
func (s *Socket) Send(t *kernel.Thread, m *socket.OutMsg) (int, kernel.Errno) {
	to := s.peer
	if m.To != nil {
		if len(m.To) < sizeofSockaddrNl || iface.SockaddrFamily(m.To) != unix.AF_NETLINK {
			return 0, unix.EINVAL
		}
		to = binary.LittleEndian.Uint32(m.To[4:])
	}
	if to != 0 {
		return 0, unix.ECONNREFUSED // only the kernel listens
	}
	if s.port == 0 {
		s.autobind(t)
	}
	for b := m.Data; len(b) >= sizeofNlHdr; {
		n := int(binary.LittleEndian.Uint32(b))
		if n < sizeofNlHdr || n > len(b) {
			break
		}
		s.request(t, b[:n])
		b = b[min(len(b), align(n)):]
	}
	return len(m.Data), 0
}

// request answers one message.
func (s *Socket) request(t *kernel.Thread, b []byte) {
	typ, flags := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])
	diag, empty := s.Protocol == unix.NETLINK_SOCK_DIAG, len(b) == sizeofNlHdr
	switch {
	case flags&unix.NLM_F_REQUEST == 0, typ < unix.NLMSG_MIN_TYPE, empty && !diag:
		s.confirm(b) // there is nothing to do
		return
	case empty:
		s.acknowledge(b, unix.EINVAL)
		return
	case diag:
		s.diag(t, b)
		return
	}
	if flags&unix.NLM_F_DUMP != unix.NLM_F_DUMP {
		s.single(t, typ, b)
		return
	}
	family := int(b[sizeofNlHdr])
	var parts [][]byte
	switch typ {
	case unix.RTM_GETLINK:
		parts = linkMessages(s.Node, nil)
	case unix.RTM_GETADDR:
		parts = addrMessages(s.Node, family)
	case unix.RTM_GETROUTE:
		parts = routeMessages(s.Node, family)
	case unix.RTM_GETNEIGH:
	default:
		s.Node.Refuse(t, fmt.Sprintf("netlink route request %d", typ), "dump", false)
		s.acknowledge(b, unix.EOPNOTSUPP)
		return
	}
	s.dump(b, parts)
}

// single answers a request that is no dump.
func (s *Socket) single(t *kernel.Thread, typ uint16, b []byte) {
	if typ != unix.RTM_GETLINK {
		s.Node.Refuse(t, fmt.Sprintf("netlink route request %d", typ), "", false)
		s.acknowledge(b, unix.EOPNOTSUPP)
		return
	}
	want := linkNamed(b[sizeofNlHdr:])
	if want == nil {
		s.acknowledge(b, unix.EINVAL)
		return
	}
	parts := linkMessages(s.Node, want)
	if len(parts) == 0 {
		s.acknowledge(b, unix.ENODEV)
		return
	}
	s.Push(s.header(b, parts[0], 0))
	s.confirm(b)
}

// linkNamed returns which interface an RTM_GETLINK body asks for, by index or by name; nil: it
// does not say.
func linkNamed(body []byte) func(iface.Link) bool {
	if len(body) < unix.SizeofIfInfomsg {
		return nil
	}
	if i := int(int32(binary.LittleEndian.Uint32(body[4:]))); i > 0 {
		return func(l iface.Link) bool { return l.Index == i }
	}
	for b := body[unix.SizeofIfInfomsg:]; len(b) >= 4; {
		n := int(binary.LittleEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return nil
		}
		if typ := binary.LittleEndian.Uint16(b[2:]); typ == unix.IFLA_IFNAME || typ == unix.IFLA_ALT_IFNAME {
			name, _, _ := strings.Cut(string(b[4:n]), "\x00")
			return func(l iface.Link) bool { return l.Name == name }
		}
		b = b[min(len(b), align(n)):]
	}
	return nil
}

// dump queues the parts of an answer, as many in a datagram as a reader's usual
// buffer takes, and its end.
func (s *Socket) dump(req []byte, parts [][]byte) {
	var d []byte
	for _, p := range parts {
		p = s.header(req, p, unix.NLM_F_MULTI)
		if len(d) > 0 && len(d)+len(p) > maxDatagram {
			s.Push(d)
			d = nil
		}
		d = append(d, p...)
	}
	if len(d) > 0 {
		s.Push(d)
	}
	s.Push(s.header(req, message(unix.NLMSG_DONE, iface.CInt(0)), unix.NLM_F_MULTI))
}

// confirm acknowledges a request that has succeeded, if it asks for that.
func (s *Socket) confirm(req []byte) {
	if binary.LittleEndian.Uint16(req[6:])&unix.NLM_F_ACK != 0 {
		s.acknowledge(req, 0)
	}
}

// acknowledge queues NLMSG_ERROR, with the request or, on success, with its header alone.
func (s *Socket) acknowledge(req []byte, e kernel.Errno) {
	var flags uint16
	if e == 0 {
		req, flags = req[:sizeofNlHdr], unix.NLM_F_CAPPED
	}
	s.Push(s.header(req, message(unix.NLMSG_ERROR, append(iface.CInt(-int(e)), pad(slices.Clone(req))...)), flags))
}

// Push queues a datagram.
func (s *Socket) Push(d []byte) {
	s.queue = append(s.queue, d)
	s.Waiters.Notify(kernel.In | kernel.RdNorm)
}

// message is a message with a header that lacks flags, sequence and port.
func message(typ uint16, body []byte) []byte {
	b := make([]byte, sizeofNlHdr, align(sizeofNlHdr+len(body)))
	binary.LittleEndian.PutUint32(b, uint32(sizeofNlHdr+len(body)))
	binary.LittleEndian.PutUint16(b[4:], typ)
	return pad(append(b, body...))
}

// header completes the header of an answer to req.
func (s *Socket) header(req, b []byte, flags uint16) []byte {
	binary.LittleEndian.PutUint16(b[6:], flags)
	copy(b[8:12], req[8:12])
	binary.LittleEndian.PutUint32(b[12:], s.port)
	return b
}

func align(n int) int { return (n + 3) &^ 3 }

func pad(b []byte) []byte { return append(b, make([]byte, align(len(b))-len(b))...) }

// attr appends a routing attribute (rtnetlink(7)).
func attr(b []byte, typ uint16, value []byte) []byte {
	b = pad(b)
	b = binary.LittleEndian.AppendUint16(b, uint16(4+len(value)))
	b = binary.LittleEndian.AppendUint16(b, typ)
	return pad(append(b, value...))
}

// linkMessages are RTM_NEWLINK messages for the interfaces that want picks.
func linkMessages(n *kernel.Node, want func(iface.Link) bool) [][]byte {
	var out [][]byte
	for _, l := range iface.Links(n) {
		if want != nil && !want(l) {
			continue
		}
		b := make([]byte, unix.SizeofIfInfomsg)
		binary.LittleEndian.PutUint16(b[2:], l.Kind)
		binary.LittleEndian.PutUint32(b[4:], uint32(l.Index))
		binary.LittleEndian.PutUint32(b[8:], l.Flags)
		all := [6]byte{255, 255, 255, 255, 255, 255}
		qdisc, state := "fq_codel\x00", byte(linkOperationalUp)
		if l.Flags&unix.IFF_LOOPBACK != 0 {
			all, qdisc, state = [6]byte{}, "noqueue\x00", 0
		}
		b = attr(b, unix.IFLA_IFNAME, []byte(l.Name+"\x00"))
		b = attr(b, unix.IFLA_TXQLEN, iface.CInt(1000))
		b = attr(b, unix.IFLA_OPERSTATE, []byte{state})
		b = attr(b, unix.IFLA_LINKMODE, []byte{0})
		b = attr(b, unix.IFLA_MTU, iface.CInt(l.MTU))
		b = attr(b, unix.IFLA_QDISC, []byte(qdisc))
		b = attr(b, unix.IFLA_ADDRESS, l.MAC[:])
		b = attr(b, unix.IFLA_BROADCAST, all[:])
		out = append(out, message(unix.RTM_NEWLINK, b))
	}
	return out
}

// familyOf is the address family of a.
func familyOf(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// addrMessages are RTM_NEWADDR messages for the addresses of a family.
func addrMessages(n *kernel.Node, family int) [][]byte {
	var v4, v6 [][]byte
	for _, l := range iface.Links(n) {
		for _, p := range l.Addrs {
			m := message(unix.RTM_NEWADDR, addrBody(l, p))
			if p.Addr().Is4() {
				v4 = append(v4, m)
			} else {
				v6 = append(v6, m)
			}
		}
	}
	return ofFamily(family, v4, v6)
}

// ofFamily picks the messages of a family. Linux takes a family that has no messages of its own for
// AF_UNSPEC: libtorrent asks for the addresses of AF_PACKET, say.
func ofFamily(family int, v4, v6 [][]byte) [][]byte {
	switch family {
	case unix.AF_INET:
		return v4
	case unix.AF_INET6:
		return v6
	}
	return append(v4, v6...)
}

func addrBody(l iface.Link, p netip.Prefix) []byte {
	scope := byte(unix.RT_SCOPE_UNIVERSE)
	if l.Flags&unix.IFF_LOOPBACK != 0 {
		scope = unix.RT_SCOPE_HOST
	} else if p.Addr().IsLinkLocalUnicast() && p.Addr().Is6() {
		scope = unix.RT_SCOPE_LINK
	}
	b := []byte{byte(familyOf(p.Addr())), byte(p.Bits()), unix.IFA_F_PERMANENT, scope}
	b = append(b, iface.CInt(l.Index)...)
	ip := p.Addr().AsSlice()
	b = attr(b, unix.IFA_ADDRESS, ip)
	if p.Addr().Is4() {
		b = attr(b, unix.IFA_LOCAL, ip)
		if l.Flags&unix.IFF_BROADCAST != 0 {
			b = attr(b, unix.IFA_BROADCAST, iface.BroadcastOf(p).AsSlice())
		}
		b = attr(b, unix.IFA_LABEL, []byte(l.Name+"\x00"))
	}
	b = attr(b, unix.IFA_FLAGS, iface.CInt(unix.IFA_F_PERMANENT))
	always := append(append(iface.CInt(-1), iface.CInt(-1)...), make([]byte, 8)...)
	return attr(b, unix.IFA_CACHEINFO, always)
}

// routeMessages are RTM_NEWROUTE messages: each network on its interface. There
// is no default route, for there is nothing beyond the nodes.
func routeMessages(n *kernel.Node, family int) [][]byte {
	var v4, v6 [][]byte
	for _, l := range iface.Links(n) {
		for _, p := range l.Addrs {
			if l.Flags&unix.IFF_LOOPBACK != 0 && p.Addr().Is4() {
				continue
			}
			b := []byte{byte(familyOf(p.Addr())), byte(p.Bits()), 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_KERNEL,
				unix.RT_SCOPE_LINK, unix.RTN_UNICAST, 0, 0, 0, 0}
			b = attr(b, unix.RTA_TABLE, iface.CInt(unix.RT_TABLE_MAIN))
			b = attr(b, unix.RTA_DST, p.Masked().Addr().AsSlice())
			if p.Addr().Is4() {
				b = attr(b, unix.RTA_PREFSRC, p.Addr().AsSlice())
			}
			m := message(unix.RTM_NEWROUTE, attr(b, unix.RTA_OIF, iface.CInt(l.Index)))
			if p.Addr().Is4() {
				v4 = append(v4, m)
			} else {
				v6 = append(v6, m)
			}
		}
	}
	return ofFamily(family, v4, v6)
}

// Recv implements Socket.
func (s *Socket) Recv(_ *kernel.Thread, m *socket.InMsg) kernel.Errno {
	if e := s.TakeError(); e != 0 {
		return e
	}
	if len(s.queue) == 0 {
		return unix.EAGAIN
	}
	d := s.queue[0]
	m.Len, m.Data = len(d), d[:min(m.Max, len(d))]
	if len(m.Data) < len(d) {
		m.OutFlags |= unix.MSG_TRUNC
	}
	m.From = sockaddrNl(0)
	if s.Opt(unix.SOL_SOCKET, unix.SO_PASSCRED) != 0 {
		m.Creds = &kernel.Creds{}
	}
	if m.Flags&unix.MSG_PEEK == 0 {
		s.queue = s.queue[1:]
	}
	return 0
}

func sockaddrNl(port uint32) []byte {
	b := make([]byte, sizeofSockaddrNl)
	binary.LittleEndian.PutUint16(b, unix.AF_NETLINK)
	binary.LittleEndian.PutUint32(b[4:], port)
	return b
}

// Buffered implements Sized.
func (s *Socket) Buffered() int {
	if len(s.queue) == 0 {
		return 0
	}
	return len(s.queue[0])
}

// Read implements Reader.
func (s *Socket) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	m := socket.InMsg{Max: len(b)}
	e := s.Recv(t, &m)
	return copy(b, m.Data), e
}

// Write implements Writer.
func (s *Socket) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	return s.Send(t, &socket.OutMsg{Data: b})
}

// Ioctl implements Ioctler.
func (s *Socket) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	return iface.Ioctl(&s.Sock, t, cmd, arg)
}

// Shutdown implements Socket.
func (s *Socket) Shutdown(int) kernel.Errno { return unix.EOPNOTSUPP }

// Release implements File.
func (s *Socket) Release(*kernel.Node) {
	if s.port != 0 {
		delete(*byPort.Of(s.Node), s.port)
	}
}

// LocalAddr and RemoteAddr implement Socket.
func (s *Socket) LocalAddr() []byte { return sockaddrNl(s.port) }

func (s *Socket) RemoteAddr() ([]byte, kernel.Errno) { return sockaddrNl(s.peer), 0 }

// GetOption and SetOption implement Socket.
func (s *Socket) GetOption(_ *kernel.Thread, level, name int) ([]byte, kernel.Errno) {
	if v, ok := s.KeptOption(level, name); ok && level == unix.SOL_NETLINK {
		return v, 0
	}
	return nil, unix.ENOPROTOOPT
}

// SetOption accepts what only shapes notifications and errors.
func (s *Socket) SetOption(_ *kernel.Thread, level, name int, v []byte) kernel.Errno {
	if level != unix.SOL_NETLINK {
		return unix.ENOPROTOOPT
	}
	switch name {
	case unix.NETLINK_ADD_MEMBERSHIP, unix.NETLINK_DROP_MEMBERSHIP, unix.NETLINK_EXT_ACK, unix.NETLINK_CAP_ACK,
		unix.NETLINK_GET_STRICT_CHK, unix.NETLINK_NO_ENOBUFS, unix.NETLINK_BROADCAST_ERROR:
		s.KeepOption(level, name, v)
		return 0
	}
	return unix.ENOPROTOOPT
}
