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

// The tables of sockets and interfaces in /proc/net, proc_pid_net(5).

// NetTable returns the content of a file of /proc/net; false for those that are
// not made here.
func (n *Node) NetTable(name string) (string, bool) {
	switch name {
	case "tcp":
		return n.tcpTable(unix.AF_INET), true
	case "tcp6":
		return n.tcpTable(unix.AF_INET6), true
	case "udp":
		return n.udpTable(unix.AF_INET), true
	case "udp6":
		return n.udpTable(unix.AF_INET6), true
	case "unix":
		return n.unixTable(), true
	case "route":
		return n.routeTable(), true
	case "if_inet6":
		return n.inet6Table(), true
	}
	return "", false
}

// NetTables are the names that NetTable knows.
var NetTables = []string{"tcp", "tcp6", "udp", "udp6", "unix", "route", "if_inet6"}

// byPort lists the sockets of a port table by port, then in order of binding.
func (p *portTable) byPort() []inetSocket {
	var out []inetSocket
	for _, port := range slices.Sorted(maps.Keys(p.used)) {
		out = append(out, p.used[port]...)
	}
	return out
}

// hexAddr is an address as the tables have it: words as they lie in memory, read
// as the processor reads them.
func hexAddr(family int, a netip.AddrPort) string {
	b := make([]byte, 16)
	switch {
	case family == unix.AF_INET && a.Addr().Is4():
		b = a.Addr().AsSlice()
	case family == unix.AF_INET:
		b = b[:4]
	case a.Addr().IsValid():
		ip := a.Addr().As16()
		b = ip[:]
	}
	var s strings.Builder
	for ; len(b) > 0; b = b[4:] {
		fmt.Fprintf(&s, "%08X", binary.LittleEndian.Uint32(b))
	}
	return s.String() + fmt.Sprintf(":%04X", a.Port())
}

func (n *Node) tcpTable(family int) string {
	n.Net.expire(n)
	head, width := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", 149
	if family == unix.AF_INET6 {
		head, width = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", 0
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%-*s\n", width, head)
	i := 0
	for _, x := range n.Net.tcp.byPort() {
		c := x.(*TCP)
		if c.Domain != family || c.state == tcpClosed || c.state == tcpSynRcvd {
			continue
		}
		received, refs, inode := len(c.in), 1, c.ID
		switch {
		case c.state == tcpListening:
			received = len(c.queue)
		case c.state == tcpTimeWait:
			refs, inode = 3, 0
		case c.orphan:
			inode = 0
		}
		line := fmt.Sprintf("%4d: %s %s %02X %08X:%08X %02X:%08X %08X %5d %8d %d %d %016x", i, hexAddr(family, c.local),
			hexAddr(family, c.remote), uint8(c.state), len(c.out), received, 0, 0, 0, c.UID, 0, inode, refs, 0)
		if c.state != tcpTimeWait {
			line += " 100 0 0 10 0"
		}
		fmt.Fprintf(&s, "%-*s\n", width, line)
		i++
	}
	return s.String()
}

func (n *Node) udpTable(family int) string {
	head, width := "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops", 127
	if family == unix.AF_INET6 {
		head, width = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops", 0
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%-*s\n", width, head)
	for _, x := range n.Net.udp.byPort() {
		u := x.(*UDP)
		if u.Domain != family {
			continue
		}
		state := tcpClosed
		if u.remote.IsValid() {
			state = tcpEstablished
		}
		fmt.Fprintf(&s, "%-*s\n", width, fmt.Sprintf("%5d: %s %s %02X %08X:%08X %02X:%08X %08X %5d %8d %d %d %016x %d",
			u.local.Port(), hexAddr(family, u.local), hexAddr(family, u.remote), uint8(state), 0, u.size, 0, 0, 0, u.UID, 0, u.ID, 2, 0, 0))
	}
	return s.String()
}

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

func (n *Node) unixTable() string {
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

func (n *Node) routeTable() string {
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

func (n *Node) inet6Table() string {
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
