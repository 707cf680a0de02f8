package kernel

import "ariadne"

// Deliver takes in a message that another node sent.
func Deliver(n *Node, m *ariadne.Message) {
	switch m.Flow.Proto {
	case ariadne.TCP:
		DeliverTCP(n, m)
	case ariadne.UDP:
		DeliverUDP(n, m)
	}
}

// Flush sends what this step left to send. The node layer calls it when the
// node is quiescent.
func Flush(n *Node) { FlushTCP(n) }

// Sockets lists the sockets of a protocol and family that have a port.
func Sockets(n *Node, proto ariadne.Protocol, family int) []SocketEntry {
	if proto == ariadne.UDP {
		return UDPSockets(n, family)
	}
	return TCPSockets(n, family)
}
