package netlink

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/udp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"

	"golang.org/x/sys/unix"
)

// What NETLINK_SOCK_DIAG tells of sockets (sock_diag(7)): dumps, as ss asks for them.

const (
	sockDiagByFamily = 20
	sizeofInetDiag   = 56 // struct inet_diag_req_v2
	sizeofUnixDiag   = 24 // struct unix_diag_req

	inetDiagSKV6Only, inetDiagShutdown = 11, 8

	unixDiagName, unixDiagPeer, unixDiagIcons, unixDiagRQLen, unixDiagShutdown, unixDiagUID = 0, 2, 3, 4, 6, 7
	udiagName, udiagPeer, udiagIcons, udiagRQLen, udiagUID                                  = 1, 4, 8, 16, 64
)

// diag answers one request.
func (s *Socket) diag(t *kernel.Thread, b []byte) {
	// Who is refused reads /proc/net, as on a kernel without this family.
	refuse := func(what string, e kernel.Errno) {
		s.Node.Refuse(t, "netlink socket diagnosis", what, true)
		s.acknowledge(b, e)
	}
	typ, flags := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])
	body := b[sizeofNlHdr:]
	switch {
	case typ != sockDiagByFamily, flags&unix.NLM_F_DUMP != unix.NLM_F_DUMP:
		refuse(fmt.Sprintf("type %d, flags %#x", typ, flags), unix.EOPNOTSUPP)
	case len(body) < 2:
		s.acknowledge(b, unix.EINVAL)
	case body[0] == unix.AF_UNIX && len(body) >= sizeofUnixDiag:
		show := binary.LittleEndian.Uint32(body[12:])
		if rest := show &^ (udiagName | udiagPeer | udiagIcons | udiagRQLen | udiagUID); rest != 0 {
			refuse(fmt.Sprintf("attributes %#x of Unix sockets", rest), unix.EOPNOTSUPP)
			return
		}
		s.dump(b, unixDiag(unixsock.List(s.Node), binary.LittleEndian.Uint32(body[4:]), show))
	case (body[0] == unix.AF_INET || body[0] == unix.AF_INET6) && len(body) >= sizeofInetDiag:
		ext, sockets := body[2], tcp.List
		switch {
		case body[1] == unix.IPPROTO_UDP:
			sockets = udp.List
		case body[1] != unix.IPPROTO_TCP: // a kernel without the module for it
			s.acknowledge(b, unix.ENOENT)
			return
		}
		if ext != 0 || len(body) > sizeofInetDiag {
			refuse(fmt.Sprintf("extensions %#x, or a filter", ext), unix.EOPNOTSUPP)
			return
		}
		family := int(body[0])
		s.dump(b, inetDiag(sockets(s.Node, family), family, binary.LittleEndian.Uint32(body[4:])))
	default: // ss asks for packet, netlink and vsock sockets too
		s.acknowledge(b, unix.ENOENT)
	}
}

// inetDiag describes the sockets in one of the states by a struct inet_diag_msg each.
func inetDiag(sockets []inet.Entry, family int, states uint32) [][]byte {
	var parts [][]byte
	for _, e := range sockets {
		if states>>e.State&1 == 0 {
			continue
		}
		listening := e.State == uint8(inet.Listening)
		wait := e.Sending
		if listening {
			wait = e.Backlog
		}
		le := binary.LittleEndian
		b := []byte{byte(family), e.State, 0, 0}
		b = binary.BigEndian.AppendUint16(b, e.Local.Port())
		b = binary.BigEndian.AppendUint16(b, e.Remote.Port())
		b = append(append(b, diagAddr(e.Local, family)...), diagAddr(e.Remote, family)...)
		b = le.AppendUint32(b, 0) // interface
		b = le.AppendUint64(b, e.ID)
		for _, v := range []int{0, e.Receiving, wait, e.UID, int(e.Inode)} {
			b = le.AppendUint32(b, uint32(v))
		}
		b = attr(b, inetDiagShutdown, []byte{e.Shut})
		if family == unix.AF_INET6 && (listening || e.State == uint8(inet.Closed)) {
			only := byte(0)
			if e.V6Only {
				only = 1
			}
			b = attr(b, inetDiagSKV6Only, []byte{only})
		}
		parts = append(parts, message(sockDiagByFamily, b))
	}
	return parts
}

// diagAddr is an address in 16 bytes.
func diagAddr(a netip.AddrPort, family int) []byte {
	b := make([]byte, 16)
	switch ip := a.Addr(); {
	case !ip.IsValid():
	case family == unix.AF_INET6:
		v := ip.As16()
		if !ip.IsUnspecified() {
			copy(b, v[:])
		}
	default:
		copy(b, ip.Unmap().AsSlice())
	}
	return b
}

// unixDiag describes the Unix sockets in one of the states by a struct unix_diag_msg each.
func unixDiag(sockets []unixsock.Entry, states, show uint32) [][]byte {
	var parts [][]byte
	for _, u := range sockets {
		state := inet.Closed
		switch {
		case u.Listening:
			state = inet.Listening
		case u.Connected:
			state = inet.Established
		}
		if states>>state&1 == 0 {
			continue
		}
		le := binary.LittleEndian
		b := []byte{unix.AF_UNIX, byte(u.Type), byte(state), 0}
		b = le.AppendUint64(le.AppendUint32(b, uint32(u.ID)), u.ID)
		if show&udiagName != 0 && len(u.Addr) > 0 {
			b = attr(b, unixDiagName, u.Addr)
		}
		if show&udiagPeer != 0 && u.HasPeer {
			b = attr(b, unixDiagPeer, le.AppendUint32(nil, uint32(u.Peer)))
		}
		if show&udiagIcons != 0 && u.Listening {
			var icons []byte
			for _, id := range u.Pending {
				icons = le.AppendUint32(icons, uint32(id))
			}
			b = attr(b, unixDiagIcons, icons)
		}
		if show&udiagRQLen != 0 {
			b = attr(b, unixDiagRQLen, le.AppendUint32(le.AppendUint32(nil, uint32(u.Receiving)), uint32(u.Sending)))
		}
		if show&udiagUID != 0 {
			b = attr(b, unixDiagUID, le.AppendUint32(nil, uint32(u.UID)))
		}
		parts = append(parts, message(sockDiagByFamily, attr(b, unixDiagShutdown, []byte{u.Shut})))
	}
	return parts
}
