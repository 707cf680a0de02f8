package tcp

import (
	"cmp"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"

	"golang.org/x/sys/unix"
)

// Between nodes nothing is sent again, and nothing is acknowledged. How long a connection would go
// on while the network is parted the node tells the network, which knows when it is.

// firstTry is when Linux sends again what is not acknowledged for the second time, on a
// line as fast as this: TCP_USER_TIMEOUT counts from there.
const firstTry = 400 * time.Millisecond

// Limits are how long connections to other nodes let nothing get through, if they have a limit of
// their own, by flow; nil: as when they were asked for last.
func Limits(n *kernel.Node) *[]ariadne.Limit {
	s := stackOf(n)
	changed, limits := false, 0
	for _, c := range s.conns {
		l := c.limit()
		if l == (ariadne.Limit{Flow: l.Flow}) {
			l = ariadne.Limit{}
		} else {
			limits++
		}
		if l != c.told {
			c.told, changed = l, true
		}
	}
	if !changed && limits == s.limits {
		return nil
	}
	s.limits = limits
	var all []ariadne.Limit
	for _, c := range s.conns {
		if c.told != (ariadne.Limit{}) {
			all = append(all, c.told)
		}
	}
	slices.SortFunc(all, func(a, b ariadne.Limit) int {
		return cmp.Or(a.Flow.Src.Compare(b.Flow.Src), a.Flow.Dst.Compare(b.Flow.Dst))
	})
	return &all
}

// limit is that of this end: of TCP_USER_TIMEOUT and keep-alive. The probes of keep-alive count
// until there are enough of them or, with TCP_USER_TIMEOUT, until that is over.
func (c *Socket) limit() (l ariadne.Limit) {
	if c.flow == nil || c.orphan || c.state != inet.Established && c.state != inet.CloseWait &&
		c.state != inet.FinWait {
		return l
	}
	l.Flow = c.flowOut()
	user := time.Duration(c.userTimeout())
	if user > 0 {
		l.Data = firstTry + user
	}
	if c.Opt(unix.SOL_SOCKET, unix.SO_KEEPALIVE) != 0 {
		seconds := func(option int) time.Duration {
			return time.Duration(c.Opt(unix.IPPROTO_TCP, option)) * time.Second
		}
		idle, interval := seconds(unix.TCP_KEEPIDLE), seconds(unix.TCP_KEEPINTVL)
		probes := time.Duration(c.Opt(unix.IPPROTO_TCP, unix.TCP_KEEPCNT))
		if user > 0 {
			probes = max(1, (user-idle+interval-1)/interval)
		}
		l.Idle, l.First, l.Every = idle+probes*interval, idle, interval
	}
	return l
}

// GiveUp ends a connection that has let nothing get through for as long as it may, as tcp_write_err
// does, or of which a probe has found that the peer has none. The network has nothing of it on its
// way any more.
func GiveUp(n *kernel.Node, m *ariadne.Message) {
	c := stackOf(n).conns[inet.Pair{Local: m.Flow.Src, Remote: m.Flow.Dst}]
	switch {
	case m.Flags&ariadne.RST == 0 || c == nil || c.state == inet.TimeWait || c.flow == nil || c.epoch != m.Flow.Epoch:
	case m.Flags&ariadne.ACK != 0:
		c.wasReset()
	default:
		c.fail(unix.ETIMEDOUT)
	}
}
