package tcp

import (
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
)

const pageSize = 4096

// memory is net.ipv4.tcp_mem: pages that all connections together may hold. The last number is the
// limit, three parts in 32 of the machine's memory.
var memory = kernel.NewMemorySetting("net/ipv4/tcp_mem", 0, math.MaxInt64, func(memory int64) []int64 {
	pages := max(memory/pageSize/16, 128)
	return []int64{pages / 4 * 3, pages, pages / 4 * 3 * 2}
})

// least is what a connection may hold whatever the others do (net.ipv4.tcp_wmem).
const least = 4096

// account enters what a connection holds: what its program has not read and, when the other end is
// another node, what that has certainly not read. It tells of what it has read by updateAfter.
func (c *Socket) account() {
	now, s := len(c.in), c.net()
	if c.flow != nil && (c.state == inet.Established || c.state == inet.CloseWait || c.state == inet.FinWait) {
		now += max(maxWindow-c.window-updateAfter, 0)
	}
	s.held += now - c.held
	less := now < c.held
	c.held = now
	if !less || len(s.starved) == 0 || s.held >= s.most(c.Node) {
		return
	}
	starved := s.starved
	s.starved = nil
	for _, x := range starved {
		x.Waiters.Notify(kernel.Out | kernel.WrNorm)
	}
}

// most is how many bytes all connections may hold.
func (s *stack) most(n *kernel.Node) int {
	all := memory.All(n)
	return int(min(all[len(all)-1], math.MaxInt32)) * pageSize
}

// room is how many bytes more may be held of what a connection sends.
func (c *Socket) room() int {
	s := c.net()
	room := max(s.most(c.Node)-s.held, 0)
	if c.flow != nil {
		return room + max(updateAfter-(maxWindow-c.window), 0)
	}
	if peer := s.conns[inet.Pair{Local: c.Remote, Remote: c.Local}]; peer != nil && room < least {
		room = max(room, least-len(peer.in))
	}
	return room
}

// starve notes that a connection waits for others to hold less.
func (c *Socket) starve() {
	if s := c.net(); !slices.Contains(s.starved, c) {
		s.starved = append(s.starved, c)
	}
}
