// Package unixsock is sockets between the processes of a node (unix(7)).
//
// Read next: name.go.
package unixsock

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// maxQueue is how many datagrams a socket holds (net.unix.max_dgram_qlen).
const maxQueue = 10

// overflowID is the user and group of a sender that gave no credentials.
const overflowID = 65534

// Socket is an AF_UNIX socket of any type, after Linux's net/unix/af_unix.c. Data that was sent and
// not yet received is charged to the sender.
type Socket struct {
	socket.Sock
	addr []byte // struct sockaddr_un without the family, or nil
	key  key    // where addr stands among the bound

	listening bool
	connected bool
	dead      bool // released
	shut      uint8
	peer      *Socket      // the other end, or a datagram socket's default receiver
	creds     kernel.Creds // of who made, or listens on, this socket
	peerCreds kernel.Creds // SO_PEERCRED

	queue   []message
	charged int // what others have in their queues from this socket

	backlog int
	pending []*Socket // a listener's: ends to be accepted
	// waiting are the sockets that wait for room in queue or pending.
	waiting []*Socket
}

var _ = kernel.DeclareKind[*Socket]()

// message is one send: a datagram, or some bytes of a stream.
type message struct {
	from   *Socket
	data   []byte
	charge int
	creds  kernel.Creds
	rights []socket.Right // each held
	user   int            // of whose descriptors in flight these are
}

// noPeer are SO_PEERCRED's values on an unconnected socket.
var noPeer = kernel.Creds{PID: 0, UID: -1, GID: -1}

// New returns a fresh AF_UNIX socket that t makes.
func New(n *kernel.Node, t *kernel.Thread, typ int) *Socket {
	return &Socket{Sock: socket.New(n, unix.AF_UNIX, typ, 0), creds: peerCreds(t), peerCreds: noPeer, backlog: maxQueue}
}

// Pair is socketpair(2).
func Pair(n *kernel.Node, t *kernel.Thread, typ int) (*Socket, *Socket) {
	a, b := New(n, t, typ), New(n, t, typ)
	a.join(b)
	return a, b
}

// join connects two sockets.
func (s *Socket) join(x *Socket) {
	s.peer, x.peer = x, s
	s.connected, x.connected = true, true
	s.peerCreds, x.peerCreds = x.creds, s.creds
}

func (s *Socket) isStream() bool { return s.Type == unix.SOCK_STREAM }

// isDgram: without connections.
func (s *Socket) isDgram() bool { return s.Type == unix.SOCK_DGRAM }

// peerCreds are t's credentials as SO_PEERCRED shows them to who connects:
// effective ids.
func peerCreds(t *kernel.Thread) kernel.Creds {
	return kernel.Creds{PID: t.Proc.PID, UID: t.Cred.UID.Effective, GID: t.Cred.GID.Effective}
}

// senderCreds are those that go with a message: real ids.
func senderCreds(t *kernel.Thread) kernel.Creds {
	return kernel.Creds{PID: t.Proc.PID, UID: t.Cred.UID.Real, GID: t.Cred.GID.Real}
}

// Ready implements File, as unix_poll and unix_dgram_poll do.
func (s *Socket) Ready() kernel.Events {
	var ev kernel.Events
	if s.Err != 0 {
		ev |= kernel.Err
	}
	if s.shut == socket.ShutRead|socket.ShutWrite || !s.isDgram() && !s.connected && !s.listening {
		ev |= kernel.Hup
	}
	if s.shut&socket.ShutRead != 0 {
		ev |= kernel.RdHup | kernel.In | kernel.RdNorm
	}
	if len(s.queue) > 0 || len(s.pending) > 0 {
		ev |= kernel.In | kernel.RdNorm
	}
	if s.writable() && !s.blockedBy(s.peer) {
		ev |= kernel.Out | kernel.WrNorm | kernel.WrBand
	}
	return ev
}

func (s *Socket) sendBuffer() int { return s.Opt(unix.SOL_SOCKET, unix.SO_SNDBUF) }

// writable is unix_writable: Linux counts one more, since it counts from one.
func (s *Socket) writable() bool { return !s.listening && (s.charged+1)*4 <= s.sendBuffer() }

// blockedBy reports whether a datagram socket cannot send to x because x's queue
// is full; if so s is told when there is room.
func (s *Socket) blockedBy(x *Socket) bool {
	if s.isStream() || x == nil || x.peer == s || x == s || len(x.queue) <= maxQueue {
		return false
	}
	x.waitFor(s)
	return true
}

// waitFor notes that s waits for room at x.
func (x *Socket) waitFor(s *Socket) {
	if !slices.Contains(x.waiting, s) {
		x.waiting = append(x.waiting, s)
	}
}

// roomMade tells those that wait for room.
func (x *Socket) roomMade() {
	waiting := x.waiting
	x.waiting = nil
	for _, s := range waiting {
		s.Waiters.Notify(kernel.Out | kernel.WrNorm | kernel.WrBand)
	}
}

// Listening implements Listener.
func (s *Socket) Listening() bool { return s.listening }

// Listen implements Socket.
func (s *Socket) Listen(t *kernel.Thread, backlog int) kernel.Errno {
	switch {
	case s.isDgram():
		return unix.EOPNOTSUPP
	case s.addr == nil, s.connected:
		return unix.EINVAL
	}
	if backlog < 0 || backlog > socket.MaxBacklog {
		backlog = socket.MaxBacklog
	}
	s.listening, s.backlog, s.creds = true, backlog, peerCreds(t)
	s.peerCreds = s.creds
	s.roomMade()
	return 0
}

// Accept implements Socket.
func (s *Socket) Accept(_ *kernel.Thread, nonblock bool) (socket.Socket, []byte, kernel.Errno) {
	switch {
	case s.isDgram():
		return nil, nil, unix.EOPNOTSUPP
	case !s.listening:
		return nil, nil, unix.EINVAL
	case len(s.pending) == 0 && s.shut&socket.ShutRead != 0 && !nonblock:
		return nil, nil, unix.EINVAL
	case len(s.pending) == 0:
		return nil, nil, unix.EAGAIN
	}
	x := s.pending[0]
	s.pending = s.pending[1:]
	s.roomMade()
	for _, name := range []int{unix.SO_PASSCRED, unix.SO_PASSSEC} {
		x.SetOpt(unix.SOL_SOCKET, name, s.Opt(unix.SOL_SOCKET, name))
	}
	var from []byte
	if x.peer != nil {
		from = x.peer.addr
	}
	return x, sockaddrUn(from), 0
}

// Connect implements Socket.
func (s *Socket) Connect(t *kernel.Thread, addr []byte) kernel.Errno {
	if len(addr) < 2 {
		return unix.EINVAL
	}
	if s.isDgram() && iface.SockaddrFamily(addr) == unix.AF_UNSPEC {
		s.setReceiver(nil)
		return 0
	}
	if e := checkAddr(addr); e != 0 {
		return e
	}
	if s.passesCreds() && s.addr == nil {
		s.autobind()
	}
	x, e := s.find(t, addr)
	if e != 0 {
		return e
	}
	if s.isDgram() {
		if x.peer != nil && x.peer != s {
			return unix.EPERM
		}
		s.setReceiver(x)
		return 0
	}
	switch {
	case !x.listening || x.shut&socket.ShutRead != 0:
		return unix.ECONNREFUSED
	case len(x.pending) > x.backlog:
		x.waitFor(s)
		return unix.EAGAIN
	case s.connected:
		return unix.EISCONN
	case s.listening:
		return unix.EINVAL
	}
	s.creds = peerCreds(t)
	end := New(s.Node, t, s.Type)
	end.creds, end.addr = x.creds, x.addr
	s.join(end)
	x.pending = append(x.pending, end)
	x.Waiters.Notify(kernel.In | kernel.RdNorm)
	return 0
}

// setReceiver makes x the receiver of what a datagram socket sends.
func (s *Socket) setReceiver(x *Socket) {
	old := s.peer
	s.peer, s.connected = x, x != nil
	if old == nil || old == x {
		return
	}
	lost := len(s.queue) > 0
	s.discard()
	if lost && old.peer == s {
		old.Err = unix.ECONNRESET
		old.Waiters.Notify(kernel.Err)
	}
}

// passesCreds reports SO_PASSCRED.
func (s *Socket) passesCreds() bool { return s.Opt(unix.SOL_SOCKET, unix.SO_PASSCRED) != 0 }

// Send implements Socket.
func (s *Socket) Send(t *kernel.Thread, m *socket.OutMsg) (int, kernel.Errno) {
	if len(m.Rights) > 0 && tooManyInFlight(t) {
		return 0, unix.ETOOMANYREFS
	}
	if m.Flags&unix.MSG_OOB != 0 {
		return 0, unix.EOPNOTSUPP
	}
	if s.isStream() {
		return s.sendStream(t, m)
	}
	return s.sendPacket(t, m)
}

// sendStream sends as many bytes as fit.
func (s *Socket) sendStream(t *kernel.Thread, m *socket.OutMsg) (int, kernel.Errno) {
	x := s.peer
	switch {
	case m.To != nil && s.connected:
		return 0, unix.EISCONN
	case m.To != nil:
		return 0, unix.EOPNOTSUPP
	case x == nil:
		return 0, unix.ENOTCONN
	case s.shut&socket.ShutWrite != 0 || x.dead || x.shut&socket.ShutRead != 0:
		return 0, unix.EPIPE
	}
	sent := 0
	for sent < len(m.Data) {
		if s.charged >= s.sendBuffer() {
			break
		}
		n := min(len(m.Data)-sent, s.sendBuffer()/2-64, maxStreamPiece+maxStreamPages)
		s.push(t, x, m, m.Data[sent:sent+n])
		m.Rights = nil
		sent += n
	}
	if sent == 0 && len(m.Data) > 0 {
		return 0, unix.EAGAIN
	}
	return sent, 0
}

// Sends reports whether the sender's buffer has room for a packet.
func (s *Socket) Sends() bool { return s.charged < s.sendBuffer() }

// sendPacket sends a datagram, or a record of a SOCK_SEQPACKET connection.
func (s *Socket) sendPacket(t *kernel.Thread, m *socket.OutMsg) (int, kernel.Errno) {
	if s.passesCreds() && s.addr == nil {
		s.autobind()
	}
	switch {
	case !s.isDgram() && !s.connected:
		return 0, unix.ENOTCONN
	case len(m.Data) > s.sendBuffer()-32:
		return 0, unix.EMSGSIZE
	case s.Err != 0:
		return 0, s.TakeError()
	case s.shut&socket.ShutWrite != 0:
		return 0, unix.EPIPE
	case !s.Sends():
		return 0, unix.EAGAIN
	}
	x, e := s.receiver(t, m.To)
	switch {
	case e != 0:
		return 0, e
	case x.dead && s.isDgram():
		if s.peer == x {
			s.setReceiver(nil)
		}
		return 0, unix.ECONNREFUSED
	case x.dead, x.shut&socket.ShutRead != 0:
		return 0, unix.EPIPE
	case s.isDgram() && x.peer != nil && x.peer != s:
		return 0, unix.EPERM
	case s.blockedBy(x):
		return 0, unix.EAGAIN
	}
	s.push(t, x, m, m.Data)
	return len(m.Data), 0
}

// receiver is who gets a packet sent to the address, or without one.
func (s *Socket) receiver(t *kernel.Thread, to []byte) (*Socket, kernel.Errno) {
	switch {
	case s.isDgram() && to != nil:
		if e := checkAddr(to); e != 0 {
			return nil, e
		}
		return s.find(t, to)
	case s.peer == nil:
		return nil, unix.ENOTCONN
	}
	return s.peer, 0
}

// push puts bytes into x's queue, with the rights and credentials of m.
func (s *Socket) push(t *kernel.Thread, x *Socket, m *socket.OutMsg, data []byte) {
	msg := message{from: s, data: append([]byte(nil), data...), charge: s.charge(len(data)),
		creds: kernel.Creds{PID: 0, UID: overflowID, GID: overflowID}, rights: slices.Clone(m.Rights)}
	switch {
	case m.Creds != nil:
		msg.creds = *m.Creds
	case s.passesCreds() || x.passesCreds():
		msg.creds = senderCreds(t)
	}
	for i := range msg.rights {
		msg.rights[i] = socket.Carry(t, msg.rights[i])
	}
	if len(msg.rights) > 0 {
		msg.user = t.Cred.UID.Real
		flightsOf.Of(s.Node).add(msg.user, len(msg.rights))
	}
	s.charged += msg.charge
	x.queue = append(x.queue, msg)
	x.Waiters.Notify(kernel.In | kernel.RdNorm)
}

// Linux's buffers (struct sk_buff): a part in one piece behind the bookkeeping, and pages.
const (
	pageSize = 4096
	headSize = 256 // sizeof(struct sk_buff), aligned
	infoSize = 320 // sizeof(struct skb_shared_info), aligned
	// maxPiece is the most bytes of a packet in one piece (SKB_MAX_ALLOC), and maxPages the most in
	// pages (MAX_SKB_FRAGS).
	maxPiece = 4*pageSize - infoSize
	maxPages = 17 * pageSize
	// maxStreamPiece is the most bytes of a stream in one piece (SKB_MAX_HEAD), and maxStreamPages
	// the most in pages (UNIX_SKB_FRAGS_SZ).
	maxStreamPiece = pageSize - infoSize
	maxStreamPages = 8 * pageSize
)

// charge is what Linux charges the sender for a buffer of n bytes (skb->truesize), as
// unix_stream_sendmsg and unix_dgram_sendmsg allocate it.
func (s *Socket) charge(n int) int {
	paged := min(toPages(max(n-maxPiece, 0)), maxPages)
	if s.isStream() {
		paged = min(n, toPages(max(n-maxStreamPiece, 0)))
	}
	piece := 512 // kmalloc's sizes
	for piece < n-paged+infoSize {
		piece *= 2
	}
	return piece + headSize + toPages(paged)
}

// toPages rounds a size up to whole pages.
func toPages(n int) int { return (n + pageSize - 1) / pageSize * pageSize }

// Recv implements Socket.
func (s *Socket) Recv(_ *kernel.Thread, m *socket.InMsg) kernel.Errno {
	switch {
	case m.Flags&unix.MSG_OOB != 0 && s.isStream():
		return unix.EINVAL // no urgent data
	case m.Flags&unix.MSG_OOB != 0:
		return unix.EOPNOTSUPP
	case s.isStream():
		return s.recvStream(m)
	}
	return s.recvPacket(m)
}

func (s *Socket) recvStream(m *socket.InMsg) kernel.Errno {
	if !s.connected {
		return unix.EINVAL
	}
	ended := s.Err != 0 || s.shut&socket.ShutRead != 0
	switch have, bounded := s.joined(m); {
	case bounded || have >= max(1, m.Least) || have > 0 && ended:
		s.takeStream(m)
	case !ended:
		return unix.EAGAIN
	case s.Err != 0:
		if e := s.TakeError(); m.Got == 0 {
			return e
		}
		// After a part of MSG_WAITALL Linux forgets the error.
	}
	if m.Data == nil && m.Got == 0 && s.passesCreds() {
		m.Creds = &kernel.Creds{} // of nobody, at the end
	}
	return 0
}

// joined returns how many bytes of a stream one call may take as one, and whether what
// comes later could not be joined to them: they came with rights, or the next are
// another's while the receiver asks whose they are.
func (s *Socket) joined(m *socket.InMsg) (n int, bounded bool) {
	sender := m.Sender
	for i := range s.queue {
		msg := &s.queue[i]
		if s.passesCreds() {
			if sender == nil {
				sender = &msg.creds
			}
			if msg.creds != *sender {
				return n, true
			}
		}
		n += len(msg.data)
		if msg.rights != nil {
			return n, true
		}
	}
	return n, false
}

// Buffered implements Sized.
func (s *Socket) Buffered() int {
	if !s.isStream() && len(s.queue) > 0 {
		return len(s.queue[0].data)
	}
	return s.total()
}

func (s *Socket) total() int {
	n := 0
	for i := range s.queue {
		n += len(s.queue[i].data)
	}
	return n
}

// takeStream hands bytes over. Data with rights ends the call; with SO_PASSCRED so does a change of
// sender.
func (s *Socket) takeStream(m *socket.InMsg) {
	first := s.queue[0]
	m.From = first.from.senderName()
	if s.passesCreds() {
		m.Creds = m.Sender
		if m.Creds == nil {
			m.Creds = &first.creds
		}
	}
	peek := m.Flags&unix.MSG_PEEK != 0
	// Rights of the first bytes come even when none of these are asked for.
	for i, begun := 0, false; i < len(s.queue) && (!begun || len(m.Data) < m.Max); begun = true {
		msg := &s.queue[i]
		if m.Creds != nil && msg.creds != *m.Creds {
			m.Last = true
			break
		}
		n := min(len(msg.data), m.Max-len(m.Data))
		m.Data = append(m.Data, msg.data[:n]...)
		rights := msg.rights
		s.passRights(m, msg)
		switch {
		case peek:
			i++
		case n < len(msg.data):
			msg.data = kernel.WithoutPrefix(msg.data, n)
		default:
			s.pop()
		}
		if rights != nil {
			m.Last = true
			break
		}
	}
	m.Len = len(m.Data)
}

// senderName is the address that a receiver is told: none at all for an unnamed
// sender.
func (s *Socket) senderName() []byte {
	if s.addr == nil {
		return nil
	}
	return sockaddrUn(s.addr)
}

// passRights hands the rights of msg to the receiver; a peeked message keeps
// them too.
func (s *Socket) passRights(m *socket.InMsg, msg *message) {
	if m.Flags&unix.MSG_PEEK != 0 {
		for _, r := range msg.rights {
			r.File.Hold()
		}
		m.Rights = msg.rights
		return
	}
	m.Rights = s.takeRights(msg)
}

// takeRights takes the rights out of a message: they are in flight no longer.
func (s *Socket) takeRights(msg *message) (rights []socket.Right) {
	if rights, msg.rights = msg.rights, nil; len(rights) > 0 {
		flightsOf.Of(s.Node).add(msg.user, -len(rights))
	}
	return rights
}

// pop takes the first message off, which gives its sender room.
func (s *Socket) pop() {
	msg := s.queue[0]
	s.queue = kernel.WithoutFirst(s.queue)
	x := msg.from
	x.charged -= msg.charge
	if x.writable() {
		x.Waiters.Notify(kernel.Out | kernel.WrNorm | kernel.WrBand)
	}
}

func (s *Socket) recvPacket(m *socket.InMsg) kernel.Errno {
	if !s.isDgram() && !s.connected {
		return unix.ENOTCONN
	}
	if e := s.TakeError(); e != 0 {
		return e
	}
	if len(s.queue) == 0 {
		if s.shut&socket.ShutRead != 0 && !(s.isDgram() && m.NoWait) {
			return 0
		}
		return unix.EAGAIN
	}
	msg := &s.queue[0]
	m.From = msg.from.senderName()
	m.Len, m.Data = len(msg.data), msg.data[:min(m.Max, len(msg.data))]
	if len(m.Data) < len(msg.data) {
		m.OutFlags |= unix.MSG_TRUNC
	}
	if s.passesCreds() {
		creds := msg.creds
		m.Creds = &creds
	}
	s.passRights(m, msg)
	if m.Flags&unix.MSG_PEEK == 0 {
		s.pop()
		s.roomMade()
	}
	return 0
}

// Read implements Reader.
func (s *Socket) Read(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) == 0 && s.isStream() {
		return 0, 0
	}
	m := socket.InMsg{Max: len(b)}
	e := s.Recv(t, &m)
	for _, r := range m.Rights {
		socket.DropRight(s.Node, r, false)
	}
	return copy(b, m.Data), e
}

// Write implements Writer.
func (s *Socket) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	return s.Send(t, &socket.OutMsg{Data: b})
}

// Shutdown implements Socket.
func (s *Socket) Shutdown(how int) kernel.Errno {
	if how < 0 || how > 2 {
		return unix.EINVAL
	}
	bits := uint8(how + 1)
	s.shut |= bits
	if x := s.peer; x != nil && !s.isDgram() {
		if bits&socket.ShutRead != 0 {
			x.shut |= socket.ShutWrite
		}
		if bits&socket.ShutWrite != 0 {
			x.shut |= socket.ShutRead
		}
		x.Waiters.Notify(0)
	}
	s.Waiters.Notify(0)
	return 0
}

// Release implements File, as unix_release_sock does.
func (s *Socket) Release(n *kernel.Node) {
	s.dead = true
	s.forget()
	if x := s.peer; x != nil && !s.isDgram() {
		x.shut = socket.ShutRead | socket.ShutWrite
		// An empty record at the front does not count (Linux 6.16 and later).
		if len(s.queue) > 1 || s.total() > 0 {
			x.Err = unix.ECONNRESET
		}
		x.Waiters.Notify(0)
	}
	s.discard()
	for _, end := range s.pending {
		if end.peer != nil {
			end.peer.Err = unix.ECONNRESET
		}
		end.Release(n)
	}
	s.pending = nil
	s.roomMade()
}

// discard throws away what was not received.
func (s *Socket) discard() {
	for len(s.queue) > 0 {
		rights := s.takeRights(&s.queue[0])
		s.pop()
		for _, r := range rights {
			socket.DropRight(s.Node, r, false)
		}
	}
}

// LocalAddr and RemoteAddr implement Socket.
func (s *Socket) LocalAddr() []byte { return sockaddrUn(s.addr) }

func (s *Socket) RemoteAddr() ([]byte, kernel.Errno) {
	if s.peer == nil {
		return nil, unix.ENOTCONN
	}
	return sockaddrUn(s.peer.addr), 0
}

// Ioctl implements Ioctler.
func (s *Socket) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	n := 0
	switch cmd {
	case unix.SIOCINQ:
		if s.listening {
			return 0, unix.EINVAL
		}
		n = s.Buffered()
		if s.Type == unix.SOCK_SEQPACKET {
			n = s.total()
		}
	case unix.SIOCOUTQ:
		n = s.charged
	default:
		return iface.Ioctl(&s.Sock, t, cmd, arg)
	}
	return 0, t.StoreInt(arg, n)
}

// GetOption and SetOption implement Socket.
func (s *Socket) GetOption(_ *kernel.Thread, level, name int) ([]byte, kernel.Errno) {
	if level != unix.SOL_SOCKET {
		return nil, unix.EOPNOTSUPP
	}
	switch name {
	case unix.SO_PEERCRED:
		c := s.peerCreds
		return slices.Concat(iface.CInt(c.PID), iface.CInt(c.UID), iface.CInt(c.GID)), 0
	case unix.SO_PEERGROUPS:
		if s.peerCreds == noPeer {
			return nil, unix.ENODATA
		}
		return iface.CInt(s.peerCreds.GID), 0
	}
	return nil, unix.ENOPROTOOPT
}

func (s *Socket) SetOption(_ *kernel.Thread, level, _ int, _ []byte) kernel.Errno {
	if level != unix.SOL_SOCKET {
		return unix.EOPNOTSUPP
	}
	return unix.ENOPROTOOPT
}
