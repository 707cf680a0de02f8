package kernel

import (
	"net/netip"
	"slices"

	"ariadne"
)

// SocketEntry is a line of /proc/net/tcp and its kin.
type SocketEntry struct {
	Local, Remote netip.AddrPort // zero when there is none
	State         uint8          // Linux's number
	// Sending and Receiving are bytes that wait; of a listener, Receiving is
	// how many connections wait to be accepted.
	Sending, Receiving int
	UID                int
	Inode              uint64 // 0 when no descriptor refers to the socket
}

// Sockets lists the sockets of a protocol and family that have a port, by their
// ports and then in the order of binding. Linux's order is that of its hash table.
func (s *Net) Sockets(n *Node, proto ariadne.Protocol, family int) []SocketEntry {
	var list []SocketEntry
	s.eachListed(n, proto, family, func(_ inetSocket, e SocketEntry) { list = append(list, e) })
	return list
}

// eachListed calls f with the sockets that Sockets lists.
func (s *Net) eachListed(n *Node, proto ariadne.Protocol, family int, f func(inetSocket, SocketEntry)) {
	s.expire(n)
	table := &s.tcp
	if proto == ariadne.UDP {
		table = &s.udp
	}
	var ports []uint16
	for p := range table.used {
		ports = append(ports, p)
	}
	slices.Sort(ports)
	for _, p := range ports {
		for _, x := range table.used[p] {
			if e := entry(x); x.inetPart().Domain == family && (proto == ariadne.UDP || e.listed()) {
				f(x, e)
			}
		}
	}
}

// listed reports whether Linux's table has a TCP socket in the entry's state: one
// that is only bound stands in none, a half-open one is no socket yet.
func (e SocketEntry) listed() bool {
	return e.State != uint8(tcpClosed) && e.State != uint8(tcpSynRcvd)
}

func entry(x inetSocket) SocketEntry {
	i := x.inetPart()
	e := SocketEntry{Local: i.local, Remote: i.remote, State: uint8(tcpClosed), UID: i.UID, Inode: i.ID}
	switch x := x.(type) {
	case *TCP:
		e.State = x.info()[0]
		e.Sending, e.Receiving = len(x.out), len(x.in)
		if x.state == tcpListening {
			e.Receiving = len(x.queue)
		}
		if x.orphan || x.listener != nil {
			e.Inode = 0
		}
	case *UDP:
		if i.remote.IsValid() {
			e.State = uint8(tcpEstablished)
		}
		for _, d := range x.queue {
			e.Receiving += len(d.data)
		}
	}
	return e
}
