package inet

import (
	"net/netip"
	"slices"
)

// Entry is a line of /proc/net/tcp and its kin.
type Entry struct {
	Local, Remote netip.AddrPort // zero when there is none
	State         uint8          // Linux's number
	// Sending and Receiving are bytes that wait; of a listener, Receiving is
	// how many connections wait to be accepted, and Backlog how many may.
	Sending, Receiving, Backlog int
	UID                         int
	Inode                       uint64 // 0 when no descriptor refers to the socket
	ID                          uint64 // also then
	Shut                        uint8  // what of it was shut down: shutRead, shutWrite
	V6Only                      bool
	Hidden                      bool
}

// Entries lists the sockets of a family that have a port, by their ports and then in the order of
// binding. Linux's order is that of its hash table.
func (p *Ports) Entries(family int) []Entry {
	var list []Entry
	var ports []uint16
	for port := range p.used {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	for _, port := range ports {
		for _, x := range p.used[port] {
			if e := x.Entry(); x.Inet().Domain == family && !e.Hidden {
				list = append(list, e)
			}
		}
	}
	return list
}

// NewEntry is what a socket's addresses say.
func (i *Endpoint) NewEntry(s State) Entry {
	return Entry{Local: i.Local, Remote: i.Remote, State: uint8(s), UID: i.UID, Inode: i.ID, ID: i.ID,
		V6Only: i.V6Only()}
}
