// Package socket is what the sockets of all families have in common.
//
// Read next: option.go.
package socket

import (
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Socket is a File for the socket calls. Like every File it answers EAGAIN for
// "not now". Addresses are struct sockaddr as the program has them.
type Socket interface {
	kernel.File
	kernel.Reader
	kernel.Writer
	kernel.Ioctler
	// Base is what all families have in common.
	Base() *Sock
	Bind(t *kernel.Thread, addr []byte) kernel.Errno
	Listen(t *kernel.Thread, backlog int) kernel.Errno
	// Connect begins a connection or, called again, tells how it goes on:
	// EINPROGRESS or EALREADY while it waits for the peer, EAGAIN while it
	// waits for room in the peer's backlog.
	Connect(t *kernel.Thread, addr []byte) kernel.Errno
	// Accept also returns the peer's address. nonblock: the caller does not wait.
	Accept(t *kernel.Thread, nonblock bool) (Socket, []byte, kernel.Errno)
	Send(t *kernel.Thread, m *OutMsg) (int, kernel.Errno)
	Recv(t *kernel.Thread, m *InMsg) kernel.Errno
	Shutdown(how int) kernel.Errno
	LocalAddr() []byte
	RemoteAddr() ([]byte, kernel.Errno)
	// GetOption and SetOption treat the options that only this family has;
	// ENOPROTOOPT for all others.
	GetOption(t *kernel.Thread, level, name int) ([]byte, kernel.Errno)
	SetOption(t *kernel.Thread, level, name int, value []byte) kernel.Errno
}

// Unreader is a stream that takes back bytes which could not be stored.
type Unreader interface{ Unread(b []byte) }

// Listener is a Socket that may be waiting for connections (SO_ACCEPTCONN).
type Listener interface{ Listening() bool }

// OutMsg is what one send call sends. A stream may take a part of Data.
type OutMsg struct {
	To     []byte // nil: the connected peer
	Data   []byte
	Flags  int // MSG_*
	Rights []Right
	Creds  *kernel.Creds
	// Controls are the control messages of other levels than SOL_SOCKET.
	Controls []Control
}

// InMsg is what one receive call asks for and gets.
type InMsg struct {
	Max    int  // bytes wanted
	Flags  int  // MSG_* asked
	NoWait bool // the caller does not wait
	Least  int  // a stream waits for so many, unless no more can come
	Got    int  // bytes that this call has received before
	// Sender is who sent those, when the call tells; a stream joins only his bytes to them.
	Sender *kernel.Creds

	Data     []byte
	From     []byte // nil: no address
	Len      int    // true length, with MSG_TRUNC in OutFlags
	OutFlags int    // MSG_* answered
	Last     bool   // nothing may be joined to Data (MSG_WAITALL)
	Rights   []Right
	Creds    *kernel.Creds
	Controls []Control
}

// Right is an open file on its way to another process (SCM_RIGHTS).
type Right struct {
	File *kernel.OpenFile
	FD   int // the sender's number
	// Host is, for a host file in flight, the supervisor's own descriptor of it:
	// the sender may close its own before the receiver has one. Else nil.
	Host *kernel.Carried
}

// Control is one control message (cmsg(3)).
type Control struct {
	Level, Type int
	Data        []byte
}

// MaxBacklog is how many connections may wait to be accepted (net.core.somaxconn).
const MaxBacklog = 4096

// Bits of sk_shutdown.
const (
	ShutRead  = 1
	ShutWrite = 2
)

// Sock is what the sockets of all families have in common.
type Sock struct {
	Node     *kernel.Node
	Domain   int
	Type     int // SOCK_STREAM, ...
	Protocol int
	ID       uint64 // the inode number that programs see
	UID      int    // of who made it

	// Zero: none.
	RecvTimeout, SendTimeout ariadne.Time
	// Linger is how long close waits for data to be acknowledged, when LingerOn.
	Linger   int
	LingerOn bool

	Err     kernel.Errno // SO_ERROR
	Waiters kernel.Queue
	opts    []option          // integer options that were set, in order
	others  map[optKey][]byte // options without effect
	HasPort bool              // of TCP and UDP: stands in the port table under local's port
}

type optKey struct{ level, name int }

func New(n *kernel.Node, domain, typ, proto int) Sock {
	s := Sock{Node: n, Domain: domain, Type: typ, Protocol: proto, ID: n.Sequence(), others: map[optKey][]byte{}}
	if domain == unix.AF_INET6 {
		s.SetOpt(unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0) // set only for IPv4's own
	}
	return s
}

// Base implements Socket.
func (s *Sock) Base() *Sock { return s }

// Changed implements File.
func (s *Sock) Changed() *kernel.Queue { return &s.Waiters }

// Describe implements Describer.
func (s *Sock) Describe() string { return "socket:[" + strconv.FormatUint(s.ID, 10) + "]" }

// SignalsIO implements IOSignaler.
func (s *Sock) SignalsIO() {}

// StatMode is st_mode.
func (s *Sock) StatMode() uint32 { return unix.S_IFSOCK | 0o777 }

// Timeouts implements Timeouter.
func (s *Sock) Timeouts() (read, write ariadne.Time) { return s.RecvTimeout, s.SendTimeout }

// TakeError returns the pending error and forgets it, as SO_ERROR does.
func (s *Sock) TakeError() kernel.Errno {
	e := s.Err
	s.Err = 0
	return e
}
