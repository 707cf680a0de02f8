package iface

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// RouteTable is /proc/net/route.
func RouteTable(n *kernel.Node) string {
	s := fmt.Sprintf("%-127s\n", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT")
	word := func(a netip.Addr) uint32 { return binary.LittleEndian.Uint32(a.AsSlice()) }
	for _, l := range Links(n) {
		for _, p := range l.Addrs {
			if p.Addr().Is4() && !p.Addr().IsLoopback() {
				s += fmt.Sprintf("%-127s\n", fmt.Sprintf("%s\t%08X\t%08X\t%04X\t%d\t%d\t%d\t%08X\t%d\t%d\t%d", l.Name,
					word(p.Masked().Addr()), 0, 1, 0, 0, 0, word(MaskOf(p)), 0, 0, 0))
			}
		}
	}
	return s
}

// Inet6Table is /proc/net/if_inet6, from which Java learns of IPv6.
func Inet6Table(n *kernel.Node) string {
	s := ""
	for _, l := range Links(n) {
		for _, p := range l.Addrs {
			scope := 0
			if p.Addr().IsLoopback() {
				scope = 0x10
			} else if p.Addr().IsLinkLocalUnicast() {
				scope = 0x20
			}
			if p.Addr().Is6() {
				s += fmt.Sprintf("%x %02x %02x %02x %02x %8s\n", p.Addr().AsSlice(), l.Index, p.Bits(), scope,
					unix.IFA_F_PERMANENT, l.Name)
			}
		}
	}
	return s
}
