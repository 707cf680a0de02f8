package kernel

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unixSockets are the Unix sockets that some process has open, by age.
func (n *Node) unixSockets() []*Unix {
	found := map[uint64]*Unix{}
	for _, pid := range n.PIDs() {
		t := n.Procs[pid].FDs
		if t == nil {
			continue
		}
		for _, fd := range t.Numbers() {
			if u, ok := t.Get(fd).File.(*Unix); ok {
				found[u.ID] = u
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *Unix) int { return cmp.Compare(a.ID, b.ID) })
}

// UnixTable is /proc/net/unix, without the sockets that only wait to be accepted.
func (n *Node) UnixTable() string {
	const acceptConn, unconnected, connected = 0x10000, 1, 3
	s := "Num       RefCount Protocol Flags    Type St Inode Path\n"
	for _, u := range n.unixSockets() {
		flags, state := 0, unconnected
		if u.listening {
			flags = acceptConn
		}
		if u.connected {
			state = connected
		}
		path := ""
		if u.addr != nil {
			path = " " + strings.ReplaceAll(strings.TrimSuffix(string(u.addr), "\x00"), "\x00", "@")
		}
		s += fmt.Sprintf("%016x: %08X %08X %08X %04X %02X %5d%s\n", 0, 2, 0, flags, u.Type, state, u.ID, path)
	}
	return s
}

// RouteTable is /proc/net/route.
func (n *Node) RouteTable() string {
	s := fmt.Sprintf("%-127s\n", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT")
	word := func(a netip.Addr) uint32 { return binary.LittleEndian.Uint32(a.AsSlice()) }
	for _, l := range n.links() {
		for _, p := range l.addrs {
			if p.Addr().Is4() && !p.Addr().IsLoopback() {
				s += fmt.Sprintf("%-127s\n", fmt.Sprintf("%s\t%08X\t%08X\t%04X\t%d\t%d\t%d\t%08X\t%d\t%d\t%d", l.name,
					word(p.Masked().Addr()), 0, 1, 0, 0, 0, word(maskOf(p)), 0, 0, 0))
			}
		}
	}
	return s
}

// Inet6Table is /proc/net/if_inet6, from which Java learns of IPv6.
func (n *Node) Inet6Table() string {
	s := ""
	for _, l := range n.links() {
		for _, p := range l.addrs {
			scope := 0
			if p.Addr().IsLoopback() {
				scope = 0x10
			}
			if p.Addr().Is6() {
				s += fmt.Sprintf("%x %02x %02x %02x %02x %8s\n", p.Addr().AsSlice(), l.index, p.Bits(), scope, unix.IFA_F_PERMANENT, l.name)
			}
		}
	}
	return s
}
