package tcp

import (
	"encoding/binary"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"

	"golang.org/x/sys/unix"
)

// Ioctl implements Ioctler.
func (c *Socket) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	n := 0
	switch cmd {
	case unix.SIOCINQ:
		if c.state == inet.Listening {
			return 0, unix.EINVAL
		}
		n = c.Buffered()
	case unix.SIOCOUTQ:
		if c.state == inet.Listening {
			return 0, unix.EINVAL
		}
		n = len(c.out)
	case unix.SIOCATMARK:
	default:
		return iface.Ioctl(&c.Sock, t, cmd, arg)
	}
	return 0, t.StoreInt(arg, n)
}

// infoSize is the size of struct tcp_info up to what is filled in here.
const infoSize = 104

// info is TCP_INFO: the state is meant, the measurements are those of a quiet line.
func (c *Socket) info() []byte {
	b := make([]byte, infoSize)
	b[0] = byte(c.state)
	if c.awaitsAck() {
		b[0] = inet.FinWait1
	}
	for _, f := range []struct{ at, v int }{
		{8, 200_000}, // rto, us
		{12, 40_000}, // ato, us
		{16, 1448},   // snd_mss
		{20, 1448},   // rcv_mss
		{24, len(c.queue)},
		{28, c.backlog},
		{60, 1500}, // pmtu
		{68, 1000}, // rtt, us
		{72, 500},  // rttvar, us
		{80, 10},   // snd_cwnd
		{84, 1448}, // advmss
	} {
		binary.LittleEndian.PutUint32(b[f.at:], uint32(f.v))
	}
	if c.state != inet.Listening {
		clear(b[24:32])
	}
	return b
}

// awaitsAck reports whether the end of the connection that was sent counts as not acknowledged yet.
func (c *Socket) awaitsAck() bool {
	return c.state == inet.FinWait && c.Node.Now < c.finAt+delayedAck
}

// List lists the sockets of a family that have a port.
func List(n *kernel.Node, family int) []inet.Entry {
	s := stackOf(n)
	s.expire(n)
	return s.ports.Entries(family)
}

// Entry implements inet.Socket. One that is only bound stands in none of Linux's tables, a
// half-open one is no socket yet.
func (c *Socket) Entry() inet.Entry {
	e := c.NewEntry(inet.State(c.info()[0]))
	e.Sending, e.Receiving, e.Shut = len(c.out), len(c.in), c.shut
	if c.state == inet.Listening {
		e.Receiving, e.Backlog = len(c.queue), c.backlog
	}
	if c.orphan || c.listener != nil {
		e.Inode = 0
	}
	e.Hidden = e.State == uint8(inet.Closed) || e.State == uint8(inet.SynRcvd)
	return e
}

// LowWaterChanged is called when SO_RCVLOWAT was set: what is enough now is news to epoll.
func (c *Socket) LowWaterChanged() {
	if c.gotFIN || len(c.in) >= max(1, c.Opt(unix.SOL_SOCKET, unix.SO_RCVLOWAT)) {
		c.Waiters.Notify(kernel.In | kernel.RdNorm)
	}
}

// GetOption implements Socket.
func (c *Socket) GetOption(_ *kernel.Thread, level, name int) ([]byte, kernel.Errno) {
	if level != unix.IPPROTO_TCP {
		return c.Endpoint.GetOption(level, name)
	}
	switch name {
	case unix.TCP_INFO:
		if c.awaitsAck() {
			c.Node.TellTime()
		}
		return c.info(), 0
	case unix.TCP_CONGESTION:
		return append([]byte("cubic"), make([]byte, 11)...), 0
	case unix.TCP_MAXSEG:
		return iface.CInt(c.segmentSize()), 0
	}
	return nil, unix.ENOPROTOOPT
}

// segmentSize is TCP_MAXSEG: what was asked for, or what a connection has without its time stamps.
func (c *Socket) segmentSize() int {
	const unknown, stamps, most = 536, 12, 1448
	asked := c.Opt(unix.IPPROTO_TCP, unix.TCP_MAXSEG)
	switch closed := c.state == inet.Closed || c.state == inet.Listening; {
	case closed && asked == 0:
		return unknown
	case closed:
		return asked
	case asked == 0:
		return most
	}
	return min(most, asked-stamps)
}

// SetOption implements Socket.
func (c *Socket) SetOption(_ *kernel.Thread, level, name int, v []byte) kernel.Errno {
	if level == unix.IPPROTO_TCP && name == unix.TCP_CONGESTION {
		if s := strings.TrimRight(string(v), "\x00"); s != "cubic" && s != "reno" {
			return unix.ENOENT
		}
		return 0
	}
	return c.Endpoint.SetOption(level, name, v)
}
