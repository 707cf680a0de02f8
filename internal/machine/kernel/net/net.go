// Package net is a node's network stack, put together. Data that leaves the node is a Message. Data
// that stays inside (loopback, own addresses) arrives at once, and is never a Message. The bytes
// that one step wrote to one connection leave in one message, at the end of the step.
//
// Read next: socket, then inet, tcp and udp; iface has the addresses.
package net

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/udp"
)

// Deliver takes in a message that another node sent.
func Deliver(n *kernel.Node, m *ariadne.Message) {
	switch m.Flow.Proto {
	case ariadne.TCP:
		tcp.Deliver(n, m)
	case ariadne.UDP:
		udp.Deliver(n, m)
	case ariadne.Expiry:
		tcp.GiveUp(n, m)
	}
}

// Limits are how long connections to other nodes let nothing get through; nil: as when they were
// asked for last.
func Limits(n *kernel.Node) *[]ariadne.Limit { return tcp.Limits(n) }

// Flush sends what this step left to send. The node layer calls it when the
// node is quiescent.
func Flush(n *kernel.Node) { tcp.Flush(n) }

// Sockets lists the sockets of a protocol and family that have a port.
func Sockets(n *kernel.Node, proto ariadne.Protocol, family int) []inet.Entry {
	if proto == ariadne.UDP {
		return udp.List(n, family)
	}
	return tcp.List(n, family)
}
