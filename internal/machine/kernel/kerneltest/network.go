package kerneltest

import (
	"fmt"
	"net/netip"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// Network returns so many nodes that have names and addresses (10.0.0.1 and on) and know each
// other's.
func Network(count int) []*kernel.Node {
	var hosts []kernel.Host
	for i := range count {
		hosts = append(hosts,
			kernel.Host{Name: fmt.Sprintf("n%d", i),
				Addrs: []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})}})
	}
	var nodes []*kernel.Node
	for i, h := range hosts {
		n := kernel.NewNode(ariadne.NodeID(i), h.Name, uint64(i)+1)
		n.Addrs, n.Hosts = h.Addrs, hosts
		nodes = append(nodes, n)
	}
	return nodes
}

// Caller is a thread of a new process of a node, for objects that want to know who calls.
func Caller(n *kernel.Node) *kernel.Thread {
	p, t := n.NewProcess(nil)
	t.M = NewMachine()
	p.FDs = kernel.NewFDTable()
	return t
}

// Sockaddr is the struct sockaddr_in of an address.
func Sockaddr(ip string, port int) []byte {
	a := netip.MustParseAddr(ip).As4()
	return append([]byte{2, 0, byte(port >> 8), byte(port), a[0], a[1], a[2], a[3]}, make([]byte, 8)...)
}
