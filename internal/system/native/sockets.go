package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Stream is how far a process has come with a TCP connection, in bytes from its beginning, as the
// kernel tells everybody (sock_diag(7)). The numbers are bounds: the process has read Read bytes at
// least, and written Written bytes at most.
type Stream struct {
	Local, Remote netip.AddrPort
	Written, Read uint32
	inode         uint32
}

// The message of a TCP socket (struct inet_diag_msg), in bytes, and what is read of its struct
// tcp_info.
const (
	diagSize      = 72
	diagInfo      = 2 // INET_DIAG_INFO
	bytesAcked    = 120
	bytesReceived = 128
)

// Streams returns the TCP connections of this network namespace, by the inodes of their sockets.
func Streams() (map[uint32]Stream, error) {
	first, err := diagnose()
	if err != nil {
		return nil, err
	}
	second, err := diagnose()
	if err != nil {
		return nil, err
	}
	all := map[uint32]Stream{}
	for inode, a := range first {
		b, ok := second[inode]
		if !ok {
			continue
		}
		// The kernel takes the length of a queue before the number of bytes that went through it.
		// So unread bytes of the second time are at least those that were unread at the first.
		// Opening and closing a connection may each count as a byte.
		all[inode] = Stream{Local: a.local, Remote: a.remote, inode: inode,
			Written: uint32(a.acked) + a.unacknowledged + 1, Read: uint32(a.received) - b.unread - 1}
	}
	return all, nil
}

// ErrNoStreams says that the kernel has no sock_diag, or tells nobody how far connections are.
var ErrNoStreams = errors.New("the kernel does not say how far TCP connections are (sock_diag)")

// diagnosed is what the kernel tells of a socket.
type diagnosed struct {
	local, remote          netip.AddrPort
	unread, unacknowledged uint32
	acked, received        uint64
}

// diagnose asks for all TCP sockets, by inode.
func diagnose() (map[uint32]diagnosed, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if errors.Is(err, unix.EPROTONOSUPPORT) || errors.Is(err, unix.EAFNOSUPPORT) {
		return nil, ErrNoStreams
	} else if err != nil {
		return nil, fmt.Errorf("sock_diag: %w", err)
	}
	defer unix.Close(fd)
	all := map[uint32]diagnosed{}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		err := diagnoseFamily(fd, family, all)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOENT) {
			return nil, ErrNoStreams
		} else if err != nil {
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
	}
	return all, nil
}

func diagnoseFamily(fd int, family byte, all map[uint32]diagnosed) error {
	const request = 16 + 56 // struct nlmsghdr, struct inet_diag_req_v2
	b := make([]byte, request)
	binary.NativeEndian.PutUint32(b, request)
	binary.NativeEndian.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b[16], b[17], b[18] = family, unix.IPPROTO_TCP, 1<<(diagInfo-1)
	binary.NativeEndian.PutUint32(b[20:], ^uint32(0)) // in all states
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buffer := make([]byte, 1<<16)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return err
		}
		for m := buffer[:n]; len(m) >= 16; {
			size := int(binary.NativeEndian.Uint32(m))
			if size < 16 || size > len(m) {
				return errors.New("a message is too short")
			}
			switch binary.NativeEndian.Uint16(m[4:]) {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				return unix.Errno(-int32(binary.NativeEndian.Uint32(m[16:])))
			}
			if inode, d, ok := diagnosedIn(m[16:size]); ok {
				all[inode] = d
			}
			m = m[min(len(m), (size+3)&^3):]
		}
	}
}

// diagnosedIn reads a message. ok: it is of a connection with a socket.
func diagnosedIn(m []byte) (inode uint32, d diagnosed, ok bool) {
	if len(m) < diagSize {
		return 0, d, false
	}
	addr := func(at int) netip.Addr {
		if m[0] == unix.AF_INET6 {
			return netip.AddrFrom16([16]byte(m[at:])).Unmap()
		}
		return netip.AddrFrom4([4]byte(m[at:]))
	}
	d.local = netip.AddrPortFrom(addr(8), binary.BigEndian.Uint16(m[4:]))
	d.remote = netip.AddrPortFrom(addr(24), binary.BigEndian.Uint16(m[6:]))
	d.unread, d.unacknowledged = binary.NativeEndian.Uint32(m[56:]), binary.NativeEndian.Uint32(m[60:])
	inode = binary.NativeEndian.Uint32(m[68:])
	for a := m[diagSize:]; len(a) >= 4; {
		size := int(binary.NativeEndian.Uint16(a))
		if size < 4 || size > len(a) {
			break
		}
		if binary.NativeEndian.Uint16(a[2:]) == diagInfo && size >= 4+bytesReceived+8 {
			d.acked = binary.NativeEndian.Uint64(a[4+bytesAcked:])
			d.received = binary.NativeEndian.Uint64(a[4+bytesReceived:])
			return inode, d, inode != 0
		}
		a = a[min(len(a), (size+3)&^3):]
	}
	return 0, d, false
}

// SocketsOf returns the inodes of the sockets that processes have open.
func SocketsOf(pids []int) map[uint32]bool {
	all := map[uint32]bool{}
	for _, pid := range pids {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended, or is another user's
		}
		for _, e := range entries {
			to, err := os.Readlink(dir + "/" + e.Name())
			if err != nil {
				continue // it was closed
			}
			inode := uint32(0)
			if _, err := fmt.Sscanf(to, "socket:[%d]", &inode); err == nil && strings.HasPrefix(to, "socket:") {
				all[inode] = true
			}
		}
	}
	return all
}
