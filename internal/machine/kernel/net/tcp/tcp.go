// Package tcp is TCP (tcp(7)). Between nodes the network keeps what is sent and its order, so there
// is nothing to send again but what opens a connection.
//
// Read next: segment.go.
package tcp

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

const (
	// maxWindow is how much may be sent and not yet read by the peer's program.
	maxWindow = 4 << 20
	// updateAfter is how much a program reads before its peer is told.
	updateAfter = 1 << 20

	synTimeout   = ariadne.Time(time.Second) // doubled with each retransmission
	delayedAck   = ariadne.Time(40 * time.Millisecond)
	timeWaitTime = ariadne.Time(60 * time.Second)
)

// stack is what a node has of TCP.
type stack struct {
	ports *inet.Ports
	conns map[inet.Pair]*Socket // connected, connecting and TIME_WAIT
	dirty []*Socket             // with something to send at the end of the step, oldest first
	// waiting are the entries in TIME_WAIT and the orphans in FIN_WAIT2, the
	// first to end first. They take no timer, lest the search see one: whoever
	// looks after the end finds the entry gone.
	waiting []*Socket
	limits  int // how many connections have told one (Socket.told)
	// held is how many bytes connections hold, starved are those that wait for others to hold less
	// (memory.go).
	held    int
	starved []*Socket
}

var stacks = kernel.NewSlot[*kernel.Node, stack]()

func stackOf(n *kernel.Node) *stack {
	s := stacks.Of(n)
	if s.conns == nil {
		s.ports, s.conns = inet.NewPorts(n), map[inet.Pair]*Socket{}
	}
	return s
}

// Deliver takes in a segment that another node sent.
func Deliver(n *kernel.Node, m *ariadne.Message) { stackOf(n).segment(n, m) }

// Flush sends what this step left to send. The node layer calls it when the
// node is quiescent.
func Flush(n *kernel.Node) {
	s := stackOf(n)
	for _, c := range s.dirty {
		s.flush(n, c)
	}
	s.dirty = nil
}

// Unflushed is what one connection is about to send at the end of the step.
type Unflushed struct {
	Flow  ariadne.Flow
	Bytes int
	Flags ariadne.Flags
}

// AllUnflushed returns what Flush would send now, oldest first.
func AllUnflushed(n *kernel.Node) (all []Unflushed) {
	for _, c := range stackOf(n).dirty {
		if c.dirty {
			all = append(all, Unflushed{c.flowOut(), len(c.out), c.outFlags})
		}
	}
	return all
}

// flush sends what one connection left to send.
func (s *stack) flush(n *kernel.Node, c *Socket) {
	if !c.dirty {
		return // it was flushed before, as it lost its addresses
	}
	c.dirty = false
	m := ariadne.Message{Flow: c.flowOut(), Flags: c.outFlags, Window: c.outWindow, Data: c.out}
	c.outFlags, c.outWindow, c.out = 0, 0, nil
	inet.Emit(n, c.flow, m)
}

// Socket is a TCP socket: a listener, or one end of a connection.
type Socket struct {
	inet.Endpoint
	state inet.State
	shut  uint8
	// connecting and connected are what connect(2) knows (Linux's SS_CONNECTING
	// and SS_CONNECTED); they lag behind state.
	connecting, connected bool
	accepted              bool // it was
	gotFIN                bool
	orphan                bool // no descriptor refers to it any more

	flow *inet.Flow // of what this end sends to another node; nil inside the node
	// epoch of the connection: flow's, and the peer's.
	epoch int

	// Sending.
	window    int  // bytes that may still be sent
	noSpace   bool // the program was told to wait for room
	dirty     bool // in stack.dirty, with the following to send
	out       []byte
	outFlags  ariadne.Flags
	outWindow int

	// Receiving.
	in       []byte
	consumed int // bytes read since the peer was last told

	told ariadne.Limit // what limit was when it was asked for last

	held int // of stack.held

	// A listener's.
	backlog int
	queue   []*Socket // established, to be accepted
	embryos int       // children that are not established
	// A child's, until it is accepted.
	listener *Socket

	timer *kernel.Timer // SYN retransmission, or TCP_DEFER_ACCEPT of a child
	tries int
	began ariadne.Time
	finAt ariadne.Time // when FIN was sent
	// until is when an entry of stack.waiting ends.
	until ariadne.Time
}

var _ = kernel.DeclareKind[*Socket]()

// New returns a fresh socket.
func New(n *kernel.Node, domain int) *Socket {
	c := &Socket{Endpoint: inet.Endpoint{Sock: socket.New(n, domain, unix.SOCK_STREAM, unix.IPPROTO_TCP)},
		state: inet.Closed}
	c.SetOpt(unix.SOL_SOCKET, unix.SO_SNDBUF, 16384)  // net.ipv4.tcp_wmem
	c.SetOpt(unix.SOL_SOCKET, unix.SO_RCVBUF, 131072) // net.ipv4.tcp_rmem
	return c
}

// net returns the stack that the socket belongs to.
func (c *Socket) net() *stack { return stackOf(c.Node) }

func (c *Socket) key() inet.Pair { return inet.Pair{Local: c.Local, Remote: c.Remote} }

// Ready implements File, as tcp_poll does.
func (c *Socket) Ready() kernel.Events {
	if c.state == inet.Listening {
		if len(c.queue) > 0 {
			return kernel.In | kernel.RdNorm
		}
		return 0
	}
	var ev kernel.Events
	if c.shut == socket.ShutRead|socket.ShutWrite || c.state == inet.Closed {
		ev |= kernel.Hup
	}
	if c.shut&socket.ShutRead != 0 {
		ev |= kernel.In | kernel.RdNorm | kernel.RdHup
	}
	if c.state != inet.SynSent && c.state != inet.SynRcvd {
		if len(c.in) >= max(1, c.Opt(unix.SOL_SOCKET, unix.SO_RCVLOWAT)) {
			ev |= kernel.In | kernel.RdNorm
		}
		if c.shut&socket.ShutWrite != 0 || c.writable() || c.state == inet.Closed {
			ev |= kernel.Out | kernel.WrNorm
		} else {
			c.noSpace = true
		}
	}
	if c.Err != 0 {
		ev |= kernel.Err
	}
	return ev
}

// writable is Linux's rule for POLLOUT: a third of the buffer is free.
func (c *Socket) writable() bool {
	if c.window < maxWindow/3 {
		return false
	}
	if c.room() == 0 {
		c.starve()
		return false
	}
	return true
}

// stateChanged wakes everybody, as sk_state_change does.
func (c *Socket) stateChanged() { c.Waiters.Notify(0) }

// Bind implements Socket.
func (c *Socket) Bind(t *kernel.Thread, addr []byte) kernel.Errno {
	a, e := c.BindAddr(t, addr)
	if e != 0 {
		return e
	}
	if c.state != inet.Closed {
		return unix.EINVAL
	}
	if a.Port() == 0 && c.Opt(unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT) != 0 {
		c.Bound, c.Local = a, a
		c.NowBound()
		return 0
	}
	return c.takePort(a)
}

// takePort binds the socket to a, with any free port when it has none.
func (c *Socket) takePort(a netip.AddrPort) kernel.Errno {
	ports := c.net().ports
	if a.Port() != 0 {
		if c.conflicts(a) {
			return unix.EADDRINUSE
		}
		c.PortLocked = true
	} else {
		port := ports.Ephemeral(ports.Free)
		if port == 0 {
			return unix.EADDRINUSE
		}
		a = netip.AddrPortFrom(a.Addr(), port)
	}
	c.Bound, c.Local, c.HasPort = a, a, true
	c.NowBound()
	ports.Add(a.Port(), c)
	return 0
}

// conflicts reports whether another socket's claim on a excludes c's
// (inet_csk_bind_conflict).
func (c *Socket) conflicts(a netip.AddrPort) bool {
	c.net().expire(c.Node)
	for _, s := range c.net().ports.On(a.Port()) {
		x := s.(*Socket)
		if x == c || !c.Overlaps(a.Addr(), &x.Endpoint) {
			continue
		}
		both := func(opt int) bool {
			return c.Opt(unix.SOL_SOCKET, opt) != 0 && x.Opt(unix.SOL_SOCKET, opt) != 0
		}
		if !(both(unix.SO_REUSEADDR) && x.state != inet.Listening) && !both(unix.SO_REUSEPORT) {
			return true
		}
	}
	return false
}

// Listen implements Socket.
func (c *Socket) Listen(_ *kernel.Thread, backlog int) kernel.Errno {
	if c.connecting || c.connected || c.state != inet.Closed && c.state != inet.Listening {
		return unix.EINVAL
	}
	if backlog < 0 || backlog > socket.MaxBacklog {
		backlog = socket.MaxBacklog
	}
	if c.state == inet.Listening {
		c.backlog = backlog
		return 0
	}
	if !c.HasPort {
		a := c.Bound.Addr()
		if !a.IsValid() {
			a = iface.Unspecified(c.Domain)
		}
		if e := c.takePort(netip.AddrPortFrom(a, 0)); e != 0 {
			return e
		}
	} else if c.conflicts(c.Local) {
		return unix.EADDRINUSE
	}
	c.backlog, c.state, c.shut = backlog, inet.Listening, 0
	return 0
}

// Served reports whether it is a connection that was accepted, and that its peer has not ended.
func (c *Socket) Served() bool { return c.accepted && c.state == inet.Established && !c.gotFIN }

// Listening implements Listener.
func (c *Socket) Listening() bool { return c.state == inet.Listening }

// Accept implements Socket.
func (c *Socket) Accept(*kernel.Thread, bool) (socket.Socket, []byte, kernel.Errno) {
	if c.state != inet.Listening {
		return nil, nil, unix.EINVAL
	}
	if len(c.queue) == 0 {
		return nil, nil, unix.EAGAIN
	}
	child := c.queue[0]
	c.queue = c.queue[1:]
	child.listener, child.connected, child.accepted = nil, true, true
	return child, iface.InetSockaddr(child.Domain, child.Remote), 0
}

// Connect implements Socket.
func (c *Socket) Connect(t *kernel.Thread, addr []byte) kernel.Errno {
	if len(addr) < 2 {
		return unix.EINVAL
	}
	if iface.SockaddrFamily(addr) == unix.AF_UNSPEC {
		c.disconnect()
		c.stateChanged()
		return 0
	}
	switch {
	case c.connected:
		return unix.EISCONN
	case c.connecting:
		return c.connectGoesOn()
	case c.state != inet.Closed:
		return unix.EISCONN
	case c.Domain == unix.AF_INET && len(addr) < iface.SizeofInet4, c.Domain == unix.AF_INET6 &&
		len(addr) < iface.MinInet6:
		return unix.EINVAL
	case iface.SockaddrFamily(addr) != c.Domain:
		return unix.EAFNOSUPPORT
	}
	dst, e := c.Target(addr)
	switch a := dst.Addr(); {
	case e != 0:
	case a.IsMulticast(), iface.IsBroadcast(c.Node, a):
		e = unix.ENETUNREACH
	case c.LacksScope(a, addr):
		e = unix.EINVAL
	}
	if e != 0 {
		return e
	}
	from := c.Bound.Addr()
	if from.IsMulticast() || from.IsValid() && iface.IsBroadcast(c.Node, from) {
		from = netip.Addr{} // bind(2) takes it, and nobody sends from it
	}
	src, e := c.Reachable(t, from, dst.Addr())
	if e != 0 {
		return e
	}
	if e := c.enterConnection(src, dst); e != 0 {
		return e
	}
	c.connecting, c.Err, c.shut = true, 0, 0
	c.state, c.tries, c.began = inet.SynSent, 0, c.Node.Now
	c.sendSYN()
	return unix.EINPROGRESS
}

// Connects returns where connect(2) with an address would look for a way to; not ok: it would not
// come to that.
func (c *Socket) Connects(addr []byte) (dst netip.AddrPort, ok bool) {
	short := c.Domain == unix.AF_INET && len(addr) < iface.SizeofInet4 || c.Domain == unix.AF_INET6 &&
		len(addr) < iface.MinInet6
	if c.connected || c.connecting || c.state != inet.Closed || short || iface.SockaddrFamily(addr) != c.Domain {
		return dst, false
	}
	dst, e := c.Target(addr)
	return dst, e == 0
}

// enterConnection gives the socket its two addresses, with a port of its own if
// it has none, and enters it among the connections.
func (c *Socket) enterConnection(src netip.Addr, dst netip.AddrPort) kernel.Errno {
	s := c.net()
	s.expire(c.Node)
	free := func(port uint16) bool {
		return s.conns[inet.Pair{Local: netip.AddrPortFrom(src, port), Remote: dst}] == nil
	}
	if c.HasPort {
		if !free(c.Local.Port()) {
			return unix.EADDRNOTAVAIL
		}
		c.Local = netip.AddrPortFrom(src, c.Local.Port())
	} else {
		port := s.ports.Ephemeral(func(p uint16) bool { return free(p) && !s.ports.Locked(p) })
		if port == 0 {
			return unix.EADDRNOTAVAIL
		}
		c.Local, c.HasPort = netip.AddrPortFrom(src, port), true
		s.ports.Add(port, c)
	}
	c.Remote = dst
	s.conns[c.key()] = c
	c.flow, c.epoch = nil, 0
	if !iface.IsOwn(c.Node, dst.Addr()) {
		c.flow = inet.NextFlow(c.Node, inet.FlowKey{Proto: ariadne.TCP, Pair: c.key()})
		c.epoch = c.flow.Epoch
	}
	return 0
}

// connectGoesOn is connect(2) on a socket that is or was connecting.
func (c *Socket) connectGoesOn() kernel.Errno {
	switch c.state {
	case inet.SynSent, inet.SynRcvd:
		return unix.EALREADY
	case inet.Closed:
		e := c.TakeError()
		if e == 0 {
			e = unix.ECONNABORTED
		}
		c.disconnect()
		return e
	}
	c.connecting, c.connected = false, true
	return 0
}

// sendSYN asks the peer for the connection and sets the time of the next try.
func (c *Socket) sendSYN() {
	c.sendNow(ariadne.SYN)
	if c.state != inet.SynSent {
		return
	}
	next := c.Node.Now + synTimeout<<c.tries
	if limit := c.userTimeout(); limit > 0 {
		next = min(next, max(c.began+limit, c.Node.Now))
	}
	c.timer = c.Node.AddTimer(next, c)
}

func (c *Socket) userTimeout() ariadne.Time {
	return ariadne.Time(c.Opt(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)) * ariadne.Time(time.Millisecond)
}

// Expire implements Expirer.
func (c *Socket) Expire(*kernel.Timer) {
	c.timer = nil
	switch {
	case c.state == inet.SynRcvd:
		c.establishChild()
	case c.state != inet.SynSent:
	case c.tries >= c.Opt(unix.IPPROTO_TCP, unix.TCP_SYNCNT),
		c.userTimeout() > 0 && c.Node.Now >= c.began+c.userTimeout():
		c.fail(unix.ETIMEDOUT)
	default:
		c.tries++
		c.sendSYN()
	}
}

// Send implements Socket.
func (c *Socket) Send(t *kernel.Thread, m *socket.OutMsg) (int, kernel.Errno) {
	if m.Flags&unix.MSG_OOB != 0 {
		c.Node.Refuse(t, "send with MSG_OOB on TCP", "", false)
		return 0, unix.EOPNOTSUPP
	}
	switch {
	case c.state == inet.SynSent || c.state == inet.SynRcvd:
		return 0, unix.EAGAIN
	case c.Err != 0:
		return 0, c.TakeError()
	case c.state != inet.Established && c.state != inet.CloseWait, c.shut&socket.ShutWrite != 0:
		return 0, unix.EPIPE
	}
	n := min(len(m.Data), c.window, c.room())
	if n < len(m.Data) {
		if c.noSpace = true; n < c.window {
			c.starve()
		}
		if n == 0 {
			return 0, unix.EAGAIN
		}
	}
	if n > 0 {
		c.window -= n
		c.send(0, 0, m.Data[:n])
		c.account()
	}
	return n, 0
}

// Recv implements Socket.
func (c *Socket) Recv(t *kernel.Thread, m *socket.InMsg) kernel.Errno {
	switch {
	case m.Flags&unix.MSG_ERRQUEUE != 0:
		return unix.EAGAIN
	case c.state == inet.Listening:
		return unix.ENOTCONN
	case m.Flags&unix.MSG_OOB != 0:
		return unix.EINVAL // no urgent data
	}
	ended := c.gotFIN || c.Err != 0 || c.shut&socket.ShutRead != 0 || c.state == inet.Closed
	switch {
	case len(c.in) >= max(1, m.Least) || len(c.in) > 0 && ended:
		c.take(m)
		return 0
	case !ended:
		return unix.EAGAIN
	case m.Got > 0 || c.gotFIN:
		return 0
	case c.Err != 0:
		return c.TakeError()
	case c.shut&socket.ShutRead != 0:
		return 0
	}
	return unix.ENOTCONN
}

// take hands received bytes over.
func (c *Socket) take(m *socket.InMsg) {
	n := min(len(c.in), m.Max)
	m.Len = n
	if m.Flags&unix.MSG_TRUNC == 0 {
		m.Data = append([]byte(nil), c.in[:n]...)
	}
	if m.Flags&unix.MSG_PEEK != 0 {
		return
	}
	c.in = kernel.WithoutPrefix(c.in, n)
	c.consumed += n
	c.account()
	if c.consumed >= updateAfter && !c.gotFIN {
		k := c.consumed
		c.consumed = 0
		c.send(ariadne.WND, k, nil)
	}
}

// Buffered implements Sized.
func (c *Socket) Buffered() int { return len(c.in) }

// Unsent is how many bytes wait to be sent.
func (c *Socket) Unsent() int { return len(c.out) }

// Apart reports whether the other end is on another node.
func (c *Socket) Apart() bool { return c.flow != nil }

// Unread implements Unreader.
func (c *Socket) Unread(b []byte) {
	c.in = append(slices.Clone(b), c.in...)
	c.consumed -= len(b)
	c.account()
}

// Read implements Reader.
func (c *Socket) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	m := socket.InMsg{Max: len(b)}
	e := c.Recv(t, &m)
	return copy(b, m.Data), e
}

// Write implements Writer.
func (c *Socket) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	return c.Send(t, &socket.OutMsg{Data: b})
}

// Shutdown implements Socket, as inet_shutdown does.
func (c *Socket) Shutdown(how int) kernel.Errno {
	if how < 0 || how > 2 {
		return unix.EINVAL
	}
	bits := uint8(how + 1)
	var e kernel.Errno
	switch {
	case c.state == inet.Listening && bits&socket.ShutRead == 0:
	case c.state == inet.Listening || c.state == inet.SynSent:
		c.disconnect()
	default:
		if c.state == inet.Closed {
			e = unix.ENOTCONN
		}
		fin := bits&socket.ShutWrite != 0 && c.shut&socket.ShutWrite == 0
		c.shut |= bits
		if fin {
			c.sendFIN()
		}
	}
	c.stateChanged()
	return e
}

// Release implements File: close(2), as __tcp_close does.
func (c *Socket) Release(*kernel.Node) {
	unread := len(c.in) > 0
	defer c.account()
	c.orphan, c.in, c.shut = true, nil, socket.ShutRead|socket.ShutWrite
	switch c.state {
	case inet.Listening:
		c.stopListening()
	case inet.Established, inet.CloseWait, inet.FinWait:
		if unread || c.LingerOn && c.Linger == 0 {
			c.sendRST()
			break
		}
		c.sendFIN()
		if c.state == inet.FinWait {
			c.until = c.Node.Now + timeWaitTime
			c.net().waiting = append(c.net().waiting, c)
			return
		}
	}
	c.leave()
	c.freePort()
}

// disconnect makes the socket a fresh one again, as tcp_disconnect does.
func (c *Socket) disconnect() {
	switch c.state {
	case inet.Listening:
		c.stopListening()
	case inet.Established, inet.CloseWait, inet.FinWait, inet.SynRcvd:
		c.sendRST()
		c.Err = unix.ECONNRESET
	case inet.SynSent:
		c.Err = unix.ECONNRESET
	}
	c.leave()
	c.net().flush(c.Node, c)
	c.connecting, c.connected, c.gotFIN, c.in, c.shut = false, false, false, nil, 0
	c.account()
	if !c.PortLocked {
		c.freePort()
		c.Bound = netip.AddrPortFrom(c.Bound.Addr(), 0)
	}
	// The number of a port that is no longer its own is still shown.
	c.Local, c.Remote = netip.AddrPortFrom(c.Bound.Addr(), c.Local.Port()), netip.AddrPort{}
}

// leave takes the socket out of the connections; the socket is closed.
func (c *Socket) leave() {
	if c.timer != nil {
		c.Node.StopTimer(c.timer)
		c.timer = nil
	}
	if s := c.net(); c.state != inet.Listening && s.conns[c.key()] == c {
		delete(s.conns, c.key())
	}
	c.state = inet.Closed
	c.account()
}

// freePort gives the port back.
func (c *Socket) freePort() {
	if c.HasPort {
		c.net().ports.Remove(c.Local.Port(), c)
		c.HasPort = false
	}
}

// stopListening drops the connections that nobody accepted.
func (c *Socket) stopListening() {
	for _, x := range c.net().conns {
		if x.listener == c && x.state == inet.SynRcvd {
			x.leave()
			x.freePort()
		}
	}
	c.embryos = 0
	for _, x := range c.queue {
		x.LingerOn, x.Linger = true, 0
		x.Release(c.Node)
	}
	c.queue = nil
	c.state = inet.Closed
}

// RemoteAddr is getpeername(2).
func (c *Socket) RemoteAddr() ([]byte, kernel.Errno) {
	if !c.Remote.IsValid() || c.state == inet.Closed || c.state == inet.SynSent {
		return nil, unix.ENOTCONN
	}
	return iface.InetSockaddr(c.Domain, c.Remote), 0
}
