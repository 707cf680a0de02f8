package sys

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/netlink"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/udp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"

	"golang.org/x/sys/unix"
)

// sockFlags are the flags that socket, socketpair and accept4 take.
const sockFlags = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC

// sysSocket implements socket(2).
func sysSocket(t *kernel.Thread, a Args) kernel.Result {
	s, e := newSocket(t, int(int32(a[0])), int(int32(a[1])), int(int32(a[2])))
	if e != 0 {
		return kernel.Fail(e)
	}
	s.Base().UID = t.Cred.UID.Effective
	return retSocket(t, s, int(int32(a[1])))
}

// retSocket gives a new socket a descriptor; flags are those of socket(2).
func retSocket(t *kernel.Thread, s socket.Socket, flags int) kernel.Result {
	fd, e := t.NewFD(s, unix.O_RDWR|flags&sockFlags)
	return kernel.RetOr(fd, e)
}

// newSocket makes a socket of the family and type asked for.
func newSocket(t *kernel.Thread, domain, typ, proto int) (socket.Socket, kernel.Errno) {
	typ &^= sockFlags
	if typ < 0 || typ > unix.SOCK_PACKET {
		return nil, unix.EINVAL
	}
	switch domain {
	case unix.AF_INET, unix.AF_INET6:
		return newInetSocket(t, domain, typ, proto)
	case unix.AF_UNIX:
		return newUnixSocket(t, typ, proto)
	case unix.AF_NETLINK:
		return newNetlinkSocket(t, typ, proto)
	case unix.AF_PACKET:
		return refuseSocket(t, "socket AF_PACKET", unix.EPERM, true)
	}
	return refuseSocket(t, fmt.Sprintf("socket of family %d", domain), unix.EAFNOSUPPORT, true)
}

// refuseSocket says that there is no such socket.
func refuseSocket(t *kernel.Thread, what string, e kernel.Errno, harmless bool) (socket.Socket, kernel.Errno) {
	t.Node().Refuse(t, what, formatArgs(t.Call.NR, t.Call.Args), harmless)
	return nil, e
}

func newInetSocket(t *kernel.Thread, domain, typ, proto int) (socket.Socket, kernel.Errno) {
	if proto < 0 || proto > unix.IPPROTO_MPTCP {
		return nil, unix.EINVAL
	}
	switch typ {
	case unix.SOCK_STREAM:
		if proto == 0 || proto == unix.IPPROTO_TCP {
			return tcp.New(t.Node(), domain), 0
		}
		if proto == unix.IPPROTO_MPTCP {
			// As a kernel built without it answers Go, which asks for it first.
			return nil, unix.EPROTONOSUPPORT
		}
	case unix.SOCK_DGRAM:
		switch proto {
		case 0, unix.IPPROTO_UDP:
			return udp.New(t.Node(), domain), 0
		case unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6:
			return refuseSocket(t, "socket for ping", unix.EACCES, true)
		}
	case unix.SOCK_RAW:
		if proto == 0 {
			return nil, unix.EPROTONOSUPPORT
		}
		return refuseSocket(t, "raw socket", unix.EPERM, true)
	default:
		return refuseSocket(t, fmt.Sprintf("internet socket of type %d", typ), unix.ESOCKTNOSUPPORT, true)
	}
	return refuseSocket(t, fmt.Sprintf("internet socket of protocol %d", proto), unix.EPROTONOSUPPORT, true)
}

// unixType checks the type and protocol of an AF_UNIX socket.
func unixType(typ, proto int) (int, kernel.Errno) {
	switch {
	case typ < 0 || typ > unix.SOCK_PACKET:
		return 0, unix.EINVAL
	case proto != 0 && proto != unix.AF_UNIX:
		return 0, unix.EPROTONOSUPPORT
	case typ == unix.SOCK_RAW: // an old name of datagrams
		return unix.SOCK_DGRAM, 0
	case typ == unix.SOCK_STREAM, typ == unix.SOCK_DGRAM, typ == unix.SOCK_SEQPACKET:
		return typ, 0
	}
	return 0, unix.ESOCKTNOSUPPORT
}

func newUnixSocket(t *kernel.Thread, typ, proto int) (socket.Socket, kernel.Errno) {
	typ, e := unixType(typ, proto)
	if e != 0 {
		return nil, e
	}
	return unixsock.New(t.Node(), t, typ), 0
}

// sysSocketpair implements socketpair(2).
func sysSocketpair(t *kernel.Thread, a Args) kernel.Result {
	domain, flags := int(int32(a[0])), int(int32(a[1]))
	if domain != unix.AF_UNIX {
		if _, e := newSocket(t, domain, flags, int(int32(a[2]))); e != 0 {
			return kernel.Fail(e)
		}
		return kernel.Fail(unix.EOPNOTSUPP)
	}
	typ, e := unixType(flags&^sockFlags, int(int32(a[2])))
	if e != 0 {
		return kernel.Fail(e)
	}
	x, y := unixsock.Pair(t.Node(), t, typ)
	fd := retSocket(t, x, flags)
	if fd.Value < 0 {
		return fd
	}
	gd := retSocket(t, y, flags)
	if gd.Value < 0 {
		closeFD(t, int(fd.Value))
		return gd
	}
	if e := t.M.WriteMem(a[3], append(intBytes(int(fd.Value)), intBytes(int(gd.Value))...)); e != 0 {
		closeFD(t, int(fd.Value))
		closeFD(t, int(gd.Value))
		return kernel.Fail(e)
	}
	return kernel.Ret(0)
}

// absentNetlink are the families of netlink that a kernel may be built without.
var absentNetlink = map[int]bool{unix.NETLINK_NETFILTER: true, unix.NETLINK_AUDIT: true,
	unix.NETLINK_KOBJECT_UEVENT: true, unix.NETLINK_SELINUX: true, unix.NETLINK_XFRM: true}

func newNetlinkSocket(t *kernel.Thread, typ, proto int) (socket.Socket, kernel.Errno) {
	if typ != unix.SOCK_RAW && typ != unix.SOCK_DGRAM {
		return nil, unix.ESOCKTNOSUPPORT
	}
	if proto != unix.NETLINK_ROUTE && proto != unix.NETLINK_SOCK_DIAG {
		return refuseSocket(t, fmt.Sprintf("netlink socket of protocol %d", proto), unix.EPROTONOSUPPORT,
			absentNetlink[proto])
	}
	return netlink.New(t.Node(), typ, proto), 0
}

// socketOf returns the socket behind fd.
func socketOf(t *kernel.Thread, fd uint64) (socket.Socket, *kernel.OpenFile, kernel.Errno) {
	of := t.Target(fdOf(fd))
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return nil, nil, unix.EBADF
	}
	s, ok := of.File.(socket.Socket)
	if !ok {
		return nil, nil, unix.ENOTSOCK
	}
	return s, of, 0
}

// waitSocket waits until s changes, no longer than limit (0: for ever); e is the
// answer after that. A wait with a limit is not restarted after a signal.
func waitSocket(t *kernel.Thread, s socket.Socket, limit ariadne.Time, e kernel.Errno) kernel.Result {
	if limit == 0 {
		return t.Block(kernel.RestartSA, s.Changed())
	}
	t.SetDeadline(t.Node().Now + limit)
	if t.Wait.TimedOut {
		return kernel.Fail(e)
	}
	return t.Block(kernel.RestartNever, s.Changed())
}

// readSockaddr reads a socket address of the caller.
func readSockaddr(t *kernel.Thread, addr, size uint64) ([]byte, kernel.Errno) {
	if size > sizeofStorage {
		return nil, unix.EINVAL
	}
	return readBytes(t, addr, int(size))
}

const sizeofStorage = 128 // struct sockaddr_storage

// writeSockaddr stores an address in a buffer whose size stands at sizeAddr, cut
// if need be, and its true size there.
func writeSockaddr(t *kernel.Thread, addr, sizeAddr uint64, b []byte) kernel.Errno {
	b4, e := readLate(t, sizeAddr, 4)
	if e != 0 {
		return e
	}
	size := le.Uint32(b4)
	if int32(size) < 0 {
		return unix.EINVAL
	}
	if e := t.M.WriteMem(addr, b[:min(len(b), int(size))]); e != 0 {
		return e
	}
	return writeU32(t, sizeAddr, uint32(len(b)))
}

// sysBind implements bind(2).
func sysBind(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	addr, e := readSockaddr(t, a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	path := ""
	if s.Base().Domain == unix.AF_UNIX {
		path = unixsock.Path(addr)
	}
	if e := mayReachSocket(t, path, true); e != 0 {
		return kernel.Fail(e)
	}
	e = s.Bind(t, addr)
	if e == 0 && path != "" {
		madeName(t, atCwd, path) // a socket file
	}
	return kernel.RetOr(0, e)
}

// sysListen implements listen(2).
func sysListen(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, s.Listen(t, int(int32(a[1]))))
}

// sysAccept implements accept(2).
func sysAccept(t *kernel.Thread, a Args) kernel.Result { return accept(t, a, 0) }

// sysAccept4 implements accept4(2).
func sysAccept4(t *kernel.Thread, a Args) kernel.Result {
	if of := t.FDs().Get(fdOf(a[0])); a[3]&^sockFlags != 0 && of != nil && of.Flags&unix.O_PATH == 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return accept(t, a, int(a[3]))
}

func accept(t *kernel.Thread, a Args, flags int) kernel.Result {
	s, of, e := socketOf(t, a[0])
	if e == unix.EBADF {
		return kernel.Fail(e)
	}
	// Linux takes a number first, so that no connection is lost for want of one.
	if limit, _ := t.Proc.Rlimit(unix.RLIMIT_NOFILE); !t.FDs().Room(limit) {
		return kernel.Fail(unix.EMFILE)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	c, peer, e := s.Accept(t, of.NonBlocking())
	if e == unix.EAGAIN && !of.NonBlocking() {
		return waitSocket(t, s, s.Base().RecvTimeout, unix.EAGAIN)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	r := retSocket(t, c, flags)
	if r.Value < 0 {
		c.Release(t.Node())
		return r
	}
	if a[1] == 0 {
		return r
	}
	if e := writeSockaddr(t, a[1], a[2], peer); e != 0 {
		closeFD(t, int(r.Value))
		return kernel.Fail(e)
	}
	return r
}

// sysConnect implements connect(2).
func sysConnect(t *kernel.Thread, a Args) kernel.Result {
	s, of, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	addr, e := readSockaddr(t, a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	e, wait := connect(t, s, addr, of.NonBlocking())
	if wait {
		return waitSocket(t, s, s.Base().SendTimeout, e)
	}
	return kernel.RetOr(0, e)
}

// connect connects a socket. With wait the call waits and fails with e when it has waited too long.
func connect(t *kernel.Thread, s socket.Socket, addr []byte, nonBlocking bool) (e kernel.Errno, wait bool) {
	if s.Base().Domain == unix.AF_UNIX {
		if e := mayReachSocket(t, unixsock.Path(addr), false); e != 0 {
			return e, false
		}
	}
	e = s.Connect(t, addr)
	if nonBlocking {
		return e, false
	}
	if e == unix.EINPROGRESS {
		e = s.Connect(t, addr) // it may be done already, inside the node
	}
	switch e {
	case unix.EALREADY:
		return unix.EINPROGRESS, true
	case unix.EAGAIN:
		return unix.EAGAIN, true
	}
	return e, false
}

// sysShutdown implements shutdown(2).
func sysShutdown(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, s.Shutdown(int(int32(a[1]))))
}

// sysGetsockname implements getsockname(2).
func sysGetsockname(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, writeSockaddr(t, a[1], a[2], s.LocalAddr()))
}

// sysGetpeername implements getpeername(2).
func sysGetpeername(t *kernel.Thread, a Args) kernel.Result {
	s, _, e := socketOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	addr, e := s.RemoteAddr()
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, writeSockaddr(t, a[1], a[2], addr))
}
