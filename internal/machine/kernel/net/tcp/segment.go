package tcp

import (
	"net/netip"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// flowOut names what this end sends.
func (c *Socket) flowOut() ariadne.Flow {
	return ariadne.Flow{Proto: ariadne.TCP, Src: c.Local, Dst: c.Remote, Epoch: c.epoch}
}

// send sends to the peer: to another node at the end of the step, with all else
// that this step sends; inside the node at once.
func (c *Socket) send(flags ariadne.Flags, window int, data []byte) {
	if c.flow == nil {
		c.net().segment(c.Node, &ariadne.Message{Flow: c.flowOut(), Flags: flags, Window: window, Data: data})
		return
	}
	c.outFlags |= flags
	c.outWindow += window
	c.out = append(c.out, data...)
	if !c.dirty {
		c.dirty = true
		c.net().dirty = append(c.net().dirty, c)
	}
}

// sendNow sends a segment that opens a connection: a message of its own.
func (c *Socket) sendNow(flags ariadne.Flags) {
	if c.flow == nil {
		c.send(flags, 0, nil)
		return
	}
	inet.Emit(c.Node, c.flow, ariadne.Message{Flow: c.flowOut(), Flags: flags})
}

// sendFIN ends what this end sends, if it has not yet.
func (c *Socket) sendFIN() {
	switch c.state {
	case inet.Established:
		c.state, c.finAt = inet.FinWait, c.Node.Now
		c.send(ariadne.FIN, 0, nil)
	case inet.CloseWait:
		c.leave()
		if !c.PortLocked {
			c.freePort()
		}
		c.send(ariadne.FIN, 0, nil)
	}
}

// sendRST aborts the connection; the caller closes this end. It closes before
// it sends: inside the node the peer acts at once.
func (c *Socket) sendRST() {
	c.leave()
	c.send(ariadne.RST, 0, nil)
}

// segment takes in a segment, from this node or another.
func (s *stack) segment(n *kernel.Node, m *ariadne.Message) {
	s.expire(n)
	c := s.conns[inet.Pair{Local: m.Flow.Dst, Remote: m.Flow.Src}]
	switch {
	case m.Flags&(ariadne.SYN|ariadne.MID) == ariadne.SYN|ariadne.MID:
		s.reject(n, m)
	case m.Flags&(ariadne.SYN|ariadne.ACK) == ariadne.SYN:
		s.syn(n, c, m)
	case c != nil && c.state != inet.TimeWait && (c.flow == nil || c.epoch == m.Flow.Epoch):
		c.segment(m)
	case (m.Flags&ariadne.RST == 0 || m.Flags&ariadne.MID != 0) && m.Flags != ariadne.WND &&
		(c == nil || c.state != inet.TimeWait):
		s.reject(n, m)
	}
}

// reject answers a segment of no connection with RST.
func (s *stack) reject(n *kernel.Node, m *ariadne.Message) {
	r := ariadne.Message{Flow: ariadne.Flow{Proto: ariadne.TCP, Src: m.Flow.Dst, Dst: m.Flow.Src,
		Epoch: m.Flow.Epoch}, Flags: ariadne.RST}
	if iface.IsOwn(n, m.Flow.Src.Addr()) {
		s.segment(n, &r)
		return
	}
	f := inet.FlowFor(n, inet.FlowKey{Proto: ariadne.TCP, Pair: inet.Pair{Local: r.Flow.Src, Remote: r.Flow.Dst}},
		r.Flow.Epoch, m.Seq == 1)
	switch {
	case f.Epoch <= m.Flow.Epoch:
	case m.Flags&ariadne.SYN == 0:
		return // both have long begun another connection
	case m.Flow.Epoch < inet.FirstEpoch(n):
		f = f.Before(n)
	}
	inet.Emit(n, f, r)
}

// syn takes in a request for a connection; c is what there is between the two
// addresses already.
func (s *stack) syn(n *kernel.Node, c *Socket, m *ariadne.Message) {
	switch {
	case c == nil:
	case c.state == inet.TimeWait:
		s.forget(c)
	case c.state == inet.SynSent:
		c.simultaneous(m)
		return
	case m.Flow.Epoch < c.epoch:
		return
	case m.Flow.Epoch == c.epoch && m.Seq != 1:
		// Sent again because our answer took long.
		if c.state == inet.SynRcvd {
			c.sendNow(ariadne.SYN | ariadne.ACK)
		}
		return
	default:
		// The peer has started anew and knows nothing of the old connection.
		c.fail(unix.ECONNRESET)
	}
	l := s.listenerFor(m.Flow.Dst, m.Flow.Src)
	if l == nil {
		s.reject(n, m)
		return
	}
	if len(l.queue)+l.embryos > l.backlog {
		return // dropped: the peer tries again
	}
	l.spawn(m)
}

// simultaneous is a SYN that crossed ours (RFC 9293, 3.5); a socket that
// connects to itself sees it too.
func (c *Socket) simultaneous(m *ariadne.Message) {
	if c.flow != nil {
		if m.Flow.Epoch < c.epoch {
			return
		}
		c.flow = inet.FlowFor(c.Node, inet.FlowKey{Proto: ariadne.TCP, Pair: c.key()}, m.Flow.Epoch, m.Seq == 1)
		c.epoch = m.Flow.Epoch
	}
	c.state = inet.SynRcvd
	c.sendNow(ariadne.SYN | ariadne.ACK)
}

// listenerFor finds who takes connections to dst: the most closely bound, and
// among equals (SO_REUSEPORT) one that depends on the peer.
func (s *stack) listenerFor(dst, src netip.AddrPort) *Socket {
	var best []*Socket
	bestScore := 0
	for _, x := range s.ports.On(dst.Port()) {
		l := x.(*Socket)
		if l.state != inet.Listening {
			continue
		}
		score := l.Score(dst.Addr())
		if score > bestScore {
			best, bestScore = nil, score
		}
		if score > 0 && score == bestScore {
			best = append(best, l)
		}
	}
	if best == nil {
		return nil
	}
	return best[int(src.Port())%len(best)]
}

// spawn makes the listener's end of a new connection and answers the SYN.
func (c *Socket) spawn(m *ariadne.Message) {
	child := New(c.Node, c.Domain)
	child.Inherit(&c.Sock)
	child.Local, child.Remote, child.epoch = m.Flow.Dst, m.Flow.Src, m.Flow.Epoch
	child.Bound, child.listener = c.Bound, c
	child.state, child.HasPort = inet.SynRcvd, true
	s := c.net()
	s.ports.Add(child.Local.Port(), child)
	s.conns[child.key()] = child
	if !iface.IsOwn(c.Node, child.Remote.Addr()) {
		child.flow = inet.FlowFor(c.Node, inet.FlowKey{Proto: ariadne.TCP, Pair: child.key()}, child.epoch,
			m.Seq == 1)
	}
	c.embryos++
	child.sendNow(ariadne.SYN | ariadne.ACK)
}

// segment takes in a segment of this connection.
func (c *Socket) segment(m *ariadne.Message) {
	if m.Flags&ariadne.RST != 0 && len(m.Data) == 0 {
		if m.Flags&ariadne.MID != 0 {
			c.sendNow(ariadne.RST)
		}
		c.wasReset()
		return
	}
	switch c.state {
	case inet.SynSent:
		if m.Flags&ariadne.SYN == 0 {
			return
		}
		c.establish()
		c.send(ariadne.ACK, 0, nil)
		c.stateChanged()
	case inet.SynRcvd:
		c.handshakeDone(m)
	}
	if c.state == inet.SynRcvd {
		return
	}
	if m.Flags&ariadne.WND != 0 {
		c.widen(m.Window)
	}
	if len(m.Data) > 0 && !c.receive(m.Data) {
		return
	}
	if m.Flags&ariadne.FIN != 0 {
		c.finArrived()
	}
	if m.Flags&ariadne.RST != 0 {
		c.wasReset()
	}
}

// establish opens the connection both ways.
func (c *Socket) establish() {
	if c.timer != nil {
		c.Node.StopTimer(c.timer)
		c.timer = nil
	}
	c.state, c.window = inet.Established, maxWindow
}

// handshakeDone is the peer's answer to our SYN|ACK.
func (c *Socket) handshakeDone(m *ariadne.Message) {
	l := c.listener
	if l == nil { // simultaneous open
		c.establish()
		c.stateChanged()
		return
	}
	wait := l.Opt(unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT)
	if wait > 0 && len(m.Data) == 0 && m.Flags&ariadne.FIN == 0 {
		if c.timer == nil {
			c.timer = c.Node.AddTimer(c.Node.Now+ariadne.Time(wait)*synTimeout, c)
		}
		return
	}
	c.establishChild()
}

// establishChild hands the connection to its listener.
func (c *Socket) establishChild() {
	c.establish()
	c.listener.embryos--
	c.listener.queue = append(c.listener.queue, c)
	c.listener.Waiters.Notify(kernel.In | kernel.RdNorm)
}

// widen is the peer's word that its program has read k bytes.
func (c *Socket) widen(k int) {
	c.window = min(c.window+k, maxWindow)
	c.account()
	if c.noSpace && c.writable() {
		c.noSpace = false
		c.Waiters.Notify(kernel.Out | kernel.WrNorm)
	}
}

// receive takes in data; false when it finds nobody to read it.
func (c *Socket) receive(b []byte) bool {
	switch {
	case c.gotFIN:
		return true
	case c.orphan || c.state == inet.FinWait && c.shut&socket.ShutRead != 0:
		c.sendRST()
		c.done(unix.ECONNRESET)
		return false
	}
	c.in = append(c.in, b...)
	c.account()
	if len(c.in) >= max(1, c.Opt(unix.SOL_SOCKET, unix.SO_RCVLOWAT)) {
		c.Waiters.Notify(kernel.In | kernel.RdNorm)
	}
	return true
}

// finArrived is the end of what the peer sends.
func (c *Socket) finArrived() {
	if c.gotFIN {
		return
	}
	c.gotFIN = true
	c.shut |= socket.ShutRead
	switch c.state {
	case inet.Established:
		c.state = inet.CloseWait
	case inet.FinWait:
		c.enterTimeWait()
	}
	c.stateChanged()
}

// wasReset is the peer's RST, as tcp_reset treats it.
func (c *Socket) wasReset() {
	switch c.state {
	case inet.SynSent:
		c.fail(unix.ECONNREFUSED)
	case inet.CloseWait:
		c.fail(unix.EPIPE)
	default:
		c.fail(unix.ECONNRESET)
	}
}

// fail ends the connection without a word to the peer.
func (c *Socket) fail(e kernel.Errno) {
	if c.listener != nil && c.state == inet.SynRcvd {
		c.listener.embryos--
	}
	c.leave()
	c.done(e)
}

// done ends a connection that has left, and tells the program why.
func (c *Socket) done(e kernel.Errno) {
	if c.orphan || !c.PortLocked {
		c.freePort()
	}
	c.shut = socket.ShutRead | socket.ShutWrite
	c.Err = e
	c.stateChanged()
}

// enterTimeWait closes the socket and leaves an entry in its place, so that its
// addresses are not used again for a while.
func (c *Socket) enterTimeWait() {
	s := c.net()
	c.leave()
	c.shut = socket.ShutRead | socket.ShutWrite
	husk := &Socket{Endpoint: c.Endpoint, state: inet.TimeWait, flow: c.flow, epoch: c.epoch, orphan: true,
		until: c.Node.Now + timeWaitTime}
	husk.Waiters = kernel.Queue{}
	husk.Inherit(&c.Sock)
	husk.HasPort = true
	s.ports.Add(husk.Local.Port(), husk)
	s.conns[husk.key()] = husk
	s.waiting = append(s.waiting, husk)
	if c.orphan || !c.PortLocked {
		c.freePort()
	}
}

// expire forgets the TIME_WAIT entries, and the orphans in FIN_WAIT2, whose time
// has passed.
func (s *stack) expire(n *kernel.Node) {
	for len(s.waiting) > 0 && s.waiting[0].until <= n.Now {
		s.forget(s.waiting[0])
		s.waiting = s.waiting[1:]
	}
}

// forget takes an entry of waiting out of the tables.
func (s *stack) forget(c *Socket) {
	if s.conns[c.key()] == c {
		delete(s.conns, c.key())
	}
	s.held -= c.held
	c.held = 0
	c.freePort()
}

// MayBeReset reports whether the next call that reads or writes would find the connection reset, if
// it were from here on: what has come is read before.
func (c *Socket) MayBeReset(reads bool) bool {
	if c.flow == nil || c.state != inet.Established || c.Err != 0 {
		return false
	}
	if reads {
		return len(c.in) == 0 && c.shut&socket.ShutRead == 0
	}
	return c.shut&socket.ShutWrite == 0
}

// ResetFromOutside is an RST in the place of the next segment, by something between the two ends
// that sends one to the other end as well. Data that was sent before comes before it.
func (c *Socket) ResetFromOutside() {
	c.net().flush(c.Node, c)
	c.segment(&ariadne.Message{Flags: ariadne.RST | ariadne.MID})
}
