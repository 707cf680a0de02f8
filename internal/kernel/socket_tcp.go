package kernel

import (
	"net/netip"
	"slices"
	"time"

	"ariadne"

	"golang.org/x/sys/unix"
)

const (
	// tcpWindow is how much may be sent and not yet read by the peer's program.
	tcpWindow = 4 << 20
	// tcpUpdate is how much a program reads before its peer is told.
	tcpUpdate = 1 << 20

	synTimeout   = ariadne.Time(time.Second) // doubled with each retransmission
	delayedAck   = ariadne.Time(40 * time.Millisecond)
	timeWaitTime = ariadne.Time(60 * time.Second)
)

// tcpStack is TCP on a node.
type tcpStack struct {
	ports *Ports
	conns map[Pair]*TCP // connected, connecting and TIME_WAIT
	dirty []*TCP        // with something to send at the end of the step, oldest first
	// waiting are the entries in TIME_WAIT and the orphans in FIN_WAIT2, the
	// first to end first. They take no timer, lest the search see one: whoever
	// looks after the end finds the entry gone.
	waiting []*TCP
}

var tcpStacks = NewSlot[*Node, tcpStack]()

func tcpOf(n *Node) *tcpStack {
	s := tcpStacks.Of(n)
	if s.conns == nil {
		s.ports, s.conns = NewPorts(n), map[Pair]*TCP{}
	}
	return s
}

// DeliverTCP takes in a segment that another node sent.
func DeliverTCP(n *Node, m *ariadne.Message) { tcpOf(n).segment(n, m) }

// FlushTCP sends what this step left to send. The node layer calls it when the
// node is quiescent.
func FlushTCP(n *Node) {
	s := tcpOf(n)
	for _, c := range s.dirty {
		s.flush(n, c)
	}
	s.dirty = nil
}

// flush sends what one connection left to send.
func (s *tcpStack) flush(n *Node, c *TCP) {
	if !c.dirty {
		return // it was flushed before, as it lost its addresses
	}
	c.dirty = false
	m := ariadne.Message{Flow: c.flowOut(), Flags: c.outFlags, Window: c.outWindow, Data: c.out}
	c.outFlags, c.outWindow, c.out = 0, 0, nil
	Emit(n, c.flow, m)
}

// TCP is a TCP socket: a listener, or one end of a connection.
type TCP struct {
	Endpoint
	state State
	shut  uint8
	// connecting and connected are what connect(2) knows (Linux's SS_CONNECTING
	// and SS_CONNECTED); they lag behind state.
	connecting, connected bool
	gotFIN                bool
	orphan                bool // no descriptor refers to it any more

	flow *Flow // of what this end sends to another node; nil inside the node
	// epoch of the connection: flow's, and the peer's.
	epoch int

	// Sending.
	window    int  // bytes that may still be sent
	noSpace   bool // the program was told to wait for room
	dirty     bool // in Net.dirty, with the following to send
	out       []byte
	outFlags  ariadne.Flags
	outWindow int

	// Receiving.
	in       []byte
	consumed int // bytes read since the peer was last told

	// A listener's.
	backlog int
	queue   []*TCP // established, to be accepted
	embryos int    // children that are not established
	// A child's, until it is accepted.
	listener *TCP

	timer *Timer // SYN retransmission, or TCP_DEFER_ACCEPT of a child
	tries int
	began ariadne.Time
	finAt ariadne.Time // when FIN was sent
	// until is when an entry of Net.waiting ends.
	until ariadne.Time
}

// NewTCP returns a fresh TCP socket.
func (n *Node) NewTCP(domain int) *TCP {
	c := &TCP{Endpoint: Endpoint{Sock: NewSock(n, domain, unix.SOCK_STREAM, unix.IPPROTO_TCP)}, state: Closed}
	c.SetOpt(unix.SOL_SOCKET, unix.SO_SNDBUF, 16384)  // net.ipv4.tcp_wmem
	c.SetOpt(unix.SOL_SOCKET, unix.SO_RCVBUF, 131072) // net.ipv4.tcp_rmem
	return c
}

// net returns the stack that the socket belongs to.
func (c *TCP) net() *tcpStack { return tcpOf(c.Node) }

func (c *TCP) key() Pair { return Pair{c.Local, c.Remote} }

// Ready implements File, as tcp_poll does.
func (c *TCP) Ready() Events {
	if c.state == Listening {
		if len(c.queue) > 0 {
			return In | RdNorm
		}
		return 0
	}
	var ev Events
	if c.shut == ShutRead|ShutWrite || c.state == Closed {
		ev |= Hup
	}
	if c.shut&ShutRead != 0 {
		ev |= In | RdNorm | RdHup
	}
	if c.state != SynSent && c.state != SynRcvd {
		if len(c.in) >= max(1, c.Opt(unix.SOL_SOCKET, unix.SO_RCVLOWAT)) {
			ev |= In | RdNorm
		}
		if c.shut&ShutWrite != 0 || c.writable() || c.state == Closed {
			ev |= Out | WrNorm
		} else {
			c.noSpace = true
		}
	}
	if c.Err != 0 {
		ev |= Err
	}
	return ev
}

// writable is Linux's rule for POLLOUT: a third of the buffer is free.
func (c *TCP) writable() bool { return c.window >= tcpWindow/3 }

// stateChanged wakes everybody, as sk_state_change does.
func (c *TCP) stateChanged() { c.Waiters.Notify(0) }

// Bind implements Socket.
func (c *TCP) Bind(t *Thread, addr []byte) Errno {
	a, e := c.BindAddr(t, addr)
	if e != 0 {
		return e
	}
	if c.state != Closed {
		return unix.EINVAL
	}
	if a.Addr().IsMulticast() || a.Addr() == Broadcast {
		return unix.EADDRNOTAVAIL
	}
	if a.Port() == 0 && c.Opt(unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT) != 0 {
		c.Bound, c.Local = a, a
		c.NowBound()
		return 0
	}
	return c.takePort(a)
}

// takePort binds the socket to a, with any free port when it has none.
func (c *TCP) takePort(a netip.AddrPort) Errno {
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
func (c *TCP) conflicts(a netip.AddrPort) bool {
	c.net().expire(c.Node)
	for _, s := range c.net().ports.On(a.Port()) {
		x := s.(*TCP)
		if x == c || !c.Overlaps(a.Addr(), &x.Endpoint) {
			continue
		}
		both := func(opt int) bool {
			return c.Opt(unix.SOL_SOCKET, opt) != 0 && x.Opt(unix.SOL_SOCKET, opt) != 0
		}
		if !(both(unix.SO_REUSEADDR) && x.state != Listening) && !both(unix.SO_REUSEPORT) {
			return true
		}
	}
	return false
}

// Listen implements Socket.
func (c *TCP) Listen(_ *Thread, backlog int) Errno {
	if c.connecting || c.connected || c.state != Closed && c.state != Listening {
		return unix.EINVAL
	}
	if backlog < 0 || backlog > MaxBacklog {
		backlog = MaxBacklog
	}
	if c.state == Listening {
		c.backlog = backlog
		return 0
	}
	if !c.HasPort {
		a := c.Bound.Addr()
		if !a.IsValid() {
			a = Unspecified(c.Domain)
		}
		if e := c.takePort(netip.AddrPortFrom(a, 0)); e != 0 {
			return e
		}
	} else if c.conflicts(c.Local) {
		return unix.EADDRINUSE
	}
	c.backlog, c.state, c.shut = backlog, Listening, 0
	return 0
}

// Listening implements Listener.
func (c *TCP) Listening() bool { return c.state == Listening }

// Accept implements Socket.
func (c *TCP) Accept(*Thread, bool) (Socket, []byte, Errno) {
	if c.state != Listening {
		return nil, nil, unix.EINVAL
	}
	if len(c.queue) == 0 {
		return nil, nil, unix.EAGAIN
	}
	child := c.queue[0]
	c.queue = c.queue[1:]
	child.listener, child.connected = nil, true
	return child, InetSockaddr(child.Domain, child.Remote), 0
}

// Connect implements Socket.
func (c *TCP) Connect(t *Thread, addr []byte) Errno {
	if len(addr) < 2 {
		return unix.EINVAL
	}
	if SockaddrFamily(addr) == unix.AF_UNSPEC {
		c.disconnect()
		return 0
	}
	switch {
	case c.connected:
		return unix.EISCONN
	case c.connecting:
		return c.connectGoesOn()
	case c.state != Closed:
		return unix.EISCONN
	case c.Domain == unix.AF_INET && len(addr) < SizeofInet4, c.Domain == unix.AF_INET6 && len(addr) < MinInet6:
		return unix.EINVAL
	case SockaddrFamily(addr) != c.Domain:
		return unix.EAFNOSUPPORT
	}
	dst, e := c.Target(addr)
	if e == 0 && (dst.Addr().IsMulticast() || dst.Addr() == Broadcast) {
		e = unix.ENETUNREACH
	}
	if e != 0 {
		return e
	}
	src, e := c.Reachable(t, c.Bound.Addr(), dst.Addr())
	if e != 0 {
		return e
	}
	if e := c.enterConnection(src, dst); e != 0 {
		return e
	}
	c.connecting, c.Err, c.shut = true, 0, 0
	c.state, c.tries, c.began = SynSent, 0, c.Node.Now
	c.sendSYN()
	return unix.EINPROGRESS
}

// enterConnection gives the socket its two addresses, with a port of its own if
// it has none, and enters it among the connections.
func (c *TCP) enterConnection(src netip.Addr, dst netip.AddrPort) Errno {
	s := c.net()
	s.expire(c.Node)
	free := func(port uint16) bool {
		return s.conns[Pair{netip.AddrPortFrom(src, port), dst}] == nil
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
	if !c.Node.IsOwn(dst.Addr()) {
		c.flow = NextFlow(c.Node, FlowKey{ariadne.TCP, c.key()})
		c.epoch = c.flow.Epoch
	}
	return 0
}

// connectGoesOn is connect(2) on a socket that is or was connecting.
func (c *TCP) connectGoesOn() Errno {
	switch c.state {
	case SynSent, SynRcvd:
		return unix.EALREADY
	case Closed:
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
func (c *TCP) sendSYN() {
	c.sendNow(ariadne.SYN)
	if c.state != SynSent {
		return
	}
	next := c.Node.Now + synTimeout<<c.tries
	if limit := c.userTimeout(); limit > 0 {
		next = min(next, max(c.began+limit, c.Node.Now))
	}
	c.timer = c.Node.AddTimer(next, c)
}

func (c *TCP) userTimeout() ariadne.Time {
	return ariadne.Time(c.Opt(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)) * ariadne.Time(time.Millisecond)
}

// Expire implements Expirer.
func (c *TCP) Expire(*Timer) {
	c.timer = nil
	switch {
	case c.state == SynRcvd:
		c.establishChild()
	case c.state != SynSent:
	case c.tries >= c.Opt(unix.IPPROTO_TCP, unix.TCP_SYNCNT),
		c.userTimeout() > 0 && c.Node.Now >= c.began+c.userTimeout():
		c.fail(unix.ETIMEDOUT)
	default:
		c.tries++
		c.sendSYN()
	}
}

// Send implements Socket.
func (c *TCP) Send(t *Thread, m *OutMsg) (int, Errno) {
	if m.Flags&unix.MSG_OOB != 0 {
		c.Node.Refuse(t, "send with MSG_OOB on TCP", "", false)
		return 0, unix.EOPNOTSUPP
	}
	switch {
	case c.state == SynSent || c.state == SynRcvd:
		return 0, unix.EAGAIN
	case c.Err != 0:
		return 0, c.TakeError()
	case c.state != Established && c.state != CloseWait, c.shut&ShutWrite != 0:
		return 0, unix.EPIPE
	}
	n := min(len(m.Data), c.window)
	if n < len(m.Data) {
		c.noSpace = true
		if n == 0 {
			return 0, unix.EAGAIN
		}
	}
	if n > 0 {
		c.window -= n
		c.send(0, 0, m.Data[:n])
	}
	return n, 0
}

// Recv implements Socket.
func (c *TCP) Recv(t *Thread, m *InMsg) Errno {
	switch {
	case m.Flags&unix.MSG_ERRQUEUE != 0:
		return unix.EAGAIN
	case c.state == Listening:
		return unix.ENOTCONN
	case m.Flags&unix.MSG_OOB != 0:
		return unix.EINVAL // no urgent data
	}
	ended := c.gotFIN || c.Err != 0 || c.shut&ShutRead != 0 || c.state == Closed
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
	case c.shut&ShutRead != 0:
		return 0
	}
	return unix.ENOTCONN
}

// take hands received bytes over.
func (c *TCP) take(m *InMsg) {
	n := min(len(c.in), m.Max)
	m.Len = n
	if m.Flags&unix.MSG_TRUNC == 0 {
		m.Data = append([]byte(nil), c.in[:n]...)
	}
	if m.Flags&unix.MSG_PEEK != 0 {
		return
	}
	if c.in = c.in[n:]; len(c.in) == 0 {
		c.in = nil
	}
	c.consumed += n
	if c.consumed >= tcpUpdate && !c.gotFIN {
		k := c.consumed
		c.consumed = 0
		c.send(ariadne.WND, k, nil)
	}
}

// Buffered implements Sized.
func (c *TCP) Buffered() int { return len(c.in) }

// Unread implements Unreader.
func (c *TCP) Unread(b []byte) {
	c.in = append(slices.Clone(b), c.in...)
	c.consumed -= len(b)
}

// Read implements Reader.
func (c *TCP) Read(t *Thread, b []byte) (int, Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	m := InMsg{Max: len(b)}
	e := c.Recv(t, &m)
	return copy(b, m.Data), e
}

// Write implements Writer.
func (c *TCP) Write(t *Thread, b []byte) (int, Errno) { return c.Send(t, &OutMsg{Data: b}) }

// Shutdown implements Socket, as inet_shutdown does.
func (c *TCP) Shutdown(how int) Errno {
	if how < 0 || how > 2 {
		return unix.EINVAL
	}
	bits := uint8(how + 1)
	var e Errno
	switch {
	case c.state == Listening && bits&ShutRead == 0:
	case c.state == Listening || c.state == SynSent:
		c.disconnect()
	default:
		if c.state == Closed {
			e = unix.ENOTCONN
		}
		fin := bits&ShutWrite != 0 && c.shut&ShutWrite == 0
		c.shut |= bits
		if fin {
			c.sendFIN()
		}
	}
	c.stateChanged()
	return e
}

// Release implements File: close(2), as __tcp_close does.
func (c *TCP) Release(*Node) {
	unread := len(c.in) > 0
	c.orphan, c.in, c.shut = true, nil, ShutRead|ShutWrite
	switch c.state {
	case Listening:
		c.stopListening()
	case Established, CloseWait, FinWait:
		if unread || c.LingerOn && c.Linger == 0 {
			c.sendRST()
			break
		}
		c.sendFIN()
		if c.state == FinWait {
			c.until = c.Node.Now + timeWaitTime
			c.net().waiting = append(c.net().waiting, c)
			return
		}
	}
	c.leave()
	c.freePort()
}

// disconnect makes the socket a fresh one again, as tcp_disconnect does.
func (c *TCP) disconnect() {
	switch c.state {
	case Listening:
		c.stopListening()
	case Established, CloseWait, FinWait, SynRcvd:
		c.sendRST()
		c.Err = unix.ECONNRESET
	case SynSent:
		c.Err = unix.ECONNRESET
	}
	c.leave()
	c.net().flush(c.Node, c)
	c.connecting, c.connected, c.gotFIN, c.in, c.shut = false, false, false, nil, 0
	if !c.PortLocked {
		c.freePort()
		c.Bound = netip.AddrPortFrom(c.Bound.Addr(), 0)
	}
	// The number of a port that is no longer its own is still shown.
	c.Local, c.Remote = netip.AddrPortFrom(c.Bound.Addr(), c.Local.Port()), netip.AddrPort{}
}

// leave takes the socket out of the connections; the socket is closed.
func (c *TCP) leave() {
	if c.timer != nil {
		c.Node.StopTimer(c.timer)
		c.timer = nil
	}
	if s := c.net(); c.state != Listening && s.conns[c.key()] == c {
		delete(s.conns, c.key())
	}
	c.state = Closed
}

// freePort gives the port back.
func (c *TCP) freePort() {
	if c.HasPort {
		c.net().ports.Remove(c.Local.Port(), c)
		c.HasPort = false
	}
}

// stopListening drops the connections that nobody accepted.
func (c *TCP) stopListening() {
	for _, x := range c.net().conns {
		if x.listener == c && x.state == SynRcvd {
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
	c.state = Closed
}

// RemoteAddr is getpeername(2).
func (c *TCP) RemoteAddr() ([]byte, Errno) {
	if !c.Remote.IsValid() || c.state == Closed || c.state == SynSent {
		return nil, unix.ENOTCONN
	}
	return InetSockaddr(c.Domain, c.Remote), 0
}
