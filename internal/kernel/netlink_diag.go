package kernel

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"ariadne"

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
func (s *Netlink) diag(t *Thread, b []byte) {
	// Who is refused reads /proc/net, as on a kernel without this family.
	refuse := func(what string, e Errno) {
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
		s.dump(b, s.Node.unixDiag(binary.LittleEndian.Uint32(body[4:]), show))
	case (body[0] == unix.AF_INET || body[0] == unix.AF_INET6) && len(body) >= sizeofInetDiag:
		ext, proto := body[2], ariadne.TCP
		switch {
		case body[1] == unix.IPPROTO_UDP:
			proto = ariadne.UDP
		case body[1] != unix.IPPROTO_TCP: // a kernel without the module for it
			s.acknowledge(b, unix.ENOENT)
			return
		}
		if ext != 0 || len(body) > sizeofInetDiag {
			refuse(fmt.Sprintf("extensions %#x, or a filter", ext), unix.EOPNOTSUPP)
			return
		}
		s.dump(b, s.Node.inetDiag(proto, int(body[0]), binary.LittleEndian.Uint32(body[4:])))
	default: // ss asks for packet, netlink and vsock sockets too
		s.acknowledge(b, unix.ENOENT)
	}
}

// inetDiag describes the sockets in one of the states by a struct inet_diag_msg each.
func (n *Node) inetDiag(proto ariadne.Protocol, family int, states uint32) [][]byte {
	var parts [][]byte
	NetOf(n).eachListed(n, proto, family, func(x inetSocket, e SocketEntry) {
		if states>>e.State&1 == 0 {
			return
		}
		wait, shut := e.Sending, uint8(0)
		switch x := x.(type) {
		case *TCP:
			shut = x.shut
			if x.state == tcpListening {
				wait = x.backlog
			}
		case *UDP:
			shut = x.shut
		}
		le := binary.LittleEndian
		b := []byte{byte(family), e.State, 0, 0}
		b = binary.BigEndian.AppendUint16(b, e.Local.Port())
		b = binary.BigEndian.AppendUint16(b, e.Remote.Port())
		b = append(append(b, diagAddr(e.Local, family)...), diagAddr(e.Remote, family)...)
		b = le.AppendUint32(b, 0) // interface
		b = le.AppendUint64(b, x.inetPart().ID)
		for _, v := range []int{0, e.Receiving, wait, e.UID, int(e.Inode)} {
			b = le.AppendUint32(b, uint32(v))
		}
		b = attr(b, inetDiagShutdown, []byte{shut})
		if listening := e.State == uint8(tcpListening) || e.State == uint8(tcpClosed); family == unix.AF_INET6 && listening {
			only := byte(0)
			if x.inetPart().v6only() {
				only = 1
			}
			b = attr(b, inetDiagSKV6Only, []byte{only})
		}
		parts = append(parts, nlMessage(sockDiagByFamily, b))
	})
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
func (n *Node) unixDiag(states, show uint32) [][]byte {
	var parts [][]byte
	open := map[*Unix]bool{}
	for _, u := range n.unixSockets() {
		open[u] = true
	}
	for _, u := range n.unixSockets() {
		state := tcpClosed
		switch {
		case u.listening:
			state = tcpListening
		case u.connected:
			state = tcpEstablished
		}
		if states>>state&1 == 0 {
			continue
		}
		le := binary.LittleEndian
		b := []byte{unix.AF_UNIX, byte(u.Type), byte(state), 0}
		b = le.AppendUint64(le.AppendUint32(b, uint32(u.ID)), u.ID)
		if show&udiagName != 0 && len(u.addr) > 0 {
			b = attr(b, unixDiagName, u.addr)
		}
		if show&udiagPeer != 0 && u.peer != nil {
			id := uint32(0) // of one that waits to be accepted
			if open[u.peer] {
				id = uint32(u.peer.ID)
			}
			b = attr(b, unixDiagPeer, le.AppendUint32(nil, id))
		}
		if show&udiagIcons != 0 && u.listening {
			var icons []byte
			for _, x := range u.pending {
				id := uint32(0)
				if x.peer != nil {
					id = uint32(x.peer.ID)
				}
				icons = le.AppendUint32(icons, id)
			}
			b = attr(b, unixDiagIcons, icons)
		}
		if show&udiagRQLen != 0 {
			receiving, sending := 0, u.charged
			if u.listening {
				receiving, sending = len(u.pending), u.backlog
			} else if len(u.queue) > 0 {
				receiving = u.diagQueued()
			}
			b = attr(b, unixDiagRQLen, le.AppendUint32(le.AppendUint32(nil, uint32(receiving)), uint32(sending)))
		}
		if show&udiagUID != 0 {
			b = attr(b, unixDiagUID, le.AppendUint32(nil, uint32(u.UID)))
		}
		parts = append(parts, nlMessage(sockDiagByFamily, attr(b, unixDiagShutdown, []byte{u.shut})))
	}
	return parts
}

// diagQueued is what SIOCINQ says: of datagrams the first alone.
func (s *Unix) diagQueued() int {
	if s.isDgram() {
		return len(s.queue[0].data)
	}
	n := 0
	for _, m := range s.queue {
		n += len(m.data)
	}
	return n
}
