package sys

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"

	"golang.org/x/sys/unix"
)

// socketsText returns what makes /proc/net/tcp, tcp6, udp or udp6.
func socketsText(proto ariadne.Protocol, family int) func(v *view) string {
	return func(v *view) string {
		var b strings.Builder
		b.WriteString(socketsHead(proto, family))
		for i, e := range net.Sockets(v.caller.Node(), proto, family) {
			line := fmt.Sprintf("%4d: %s %s %02X %08X:%08X 00:00000000 00000000 %5d        0 %d %s",
				i, hexAddr(e.Local, family), hexAddr(e.Remote, family), e.State, e.Sending, e.Receiving,
				e.UID, e.Inode, socketTail(proto, e))
			fmt.Fprintf(&b, "%-*s\n", socketsWidth(proto, family), line)
		}
		return b.String()
	}
}

// socketsHead is the first line of a file. Linux pads all lines of the IPv4 files to its width
// (tcp4_seq_show, udp4_seq_show).
func socketsHead(proto ariadne.Protocol, family int) string {
	sl, tail := "  sl", ""
	if proto == ariadne.UDP {
		tail = " ref pointer drops"
		if family == unix.AF_INET {
			sl = "   sl"
		}
	}
	addresses := "  local_address rem_address   "
	if family == unix.AF_INET6 {
		addresses = "  local_address                         remote_address                        "
	}
	head := sl + addresses + "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode" + tail
	return fmt.Sprintf("%-*s\n", socketsWidth(proto, family), head)
}

func socketsWidth(proto ariadne.Protocol, family int) int {
	switch {
	case family == unix.AF_INET6:
		return 0
	case proto == ariadne.UDP:
		return 127
	}
	return 149
}

// socketTail is the rest of a line: references, pointer, and measurements as of a
// quiet connection.
func socketTail(proto ariadne.Protocol, e inet.Entry) string {
	const tcpTimeWait, tcpListening = 6, 10
	switch {
	case proto == ariadne.UDP:
		return "2 0000000000000000 0"
	case e.State == tcpListening:
		return "1 0000000000000000 100 0 0 10 0"
	case e.State == tcpTimeWait:
		return "3 0000000000000000"
	}
	return "1 0000000000000000 20 4 30 10 -1"
}

// hexAddr is an address as these files have it: 32-bit words of network order,
// printed as numbers of the machine.
func hexAddr(a netip.AddrPort, family int) string {
	ip := make([]byte, 4)
	if family == unix.AF_INET6 {
		ip = make([]byte, 16)
	}
	switch {
	case !a.Addr().IsValid():
	case family == unix.AF_INET6:
		b := a.Addr().As16()
		copy(ip, b[:])
	default:
		b := a.Addr().Unmap().As4()
		copy(ip, b[:])
	}
	var s strings.Builder
	for w := ip; len(w) > 0; w = w[4:] {
		fmt.Fprintf(&s, "%08X", binary.LittleEndian.Uint32(w))
	}
	fmt.Fprintf(&s, ":%04X", a.Port())
	return s.String()
}
