package unixsock

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// Entry is a socket in a list of them.
type Entry struct {
	ID                   uint64
	Type                 int
	Addr                 []byte // struct sockaddr_un without the family, or nil
	Listening, Connected bool
	HasPeer              bool
	Peer                 uint64   // its ID; 0 of one that waits to be accepted
	Pending              []uint64 // a listener's: who wait to be accepted
	// Receiving is what SIOCINQ says, Sending what others have not read; of a listener, how many
	// connections wait, and may.
	Receiving, Sending int
	UID                int
	Shut               uint8
}

// List are the sockets that some process has open, by age.
func List(n *kernel.Node) []Entry {
	var list []Entry
	all := openSockets(n)
	for _, u := range all {
		e := Entry{ID: u.ID, Type: u.Type, Addr: u.addr, Listening: u.listening, Connected: u.connected, UID: u.UID,
			Shut:    u.shut,
			HasPeer: u.peer != nil, Sending: u.charged}
		if slices.Contains(all, u.peer) {
			e.Peer = u.peer.ID
		}
		switch {
		case u.listening:
			e.Receiving, e.Sending = len(u.pending), u.backlog
			for _, x := range u.pending {
				id := uint64(0)
				if x.peer != nil {
					id = x.peer.ID
				}
				e.Pending = append(e.Pending, id)
			}
		case len(u.queue) > 0 && u.isDgram():
			e.Receiving = len(u.queue[0].data) // of datagrams the first alone
		default:
			e.Receiving = u.total()
		}
		list = append(list, e)
	}
	return list
}

// openSockets are the Unix sockets that some process has open, by age.
func openSockets(n *kernel.Node) []*Socket {
	found := map[uint64]*Socket{}
	for _, pid := range n.PIDs() {
		t := n.Procs[pid].FDs
		if t == nil {
			continue
		}
		for _, fd := range t.Numbers() {
			if u, ok := t.Get(fd).File.(*Socket); ok {
				found[u.ID] = u
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *Socket) int { return cmp.Compare(a.ID, b.ID) })
}

// ProcText is /proc/net/unix, without the sockets that only wait to be accepted.
func ProcText(n *kernel.Node) string {
	const acceptConn, unconnected, connected = 0x10000, 1, 3
	s := "Num       RefCount Protocol Flags    Type St Inode Path\n"
	for _, u := range List(n) {
		flags, state := 0, unconnected
		if u.Listening {
			flags = acceptConn
		}
		if u.Connected {
			state = connected
		}
		path := ""
		if u.Addr != nil {
			path = " " + strings.ReplaceAll(strings.TrimSuffix(string(u.Addr), "\x00"), "\x00", "@")
		}
		s += fmt.Sprintf("%016x: %08X %08X %08X %04X %02X %5d%s\n", 0, 2, 0, flags, u.Type, state, u.ID, path)
	}
	return s
}
