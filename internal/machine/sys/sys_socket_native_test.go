package sys_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// TestSocketsAnswerAsLinux does the same random operations on connected sockets
// here and in Linux, and compares every answer and what poll says after it.
func TestSocketsAnswerAsLinux(t *testing.T) {
	for _, kind := range []struct {
		name        string
		domain, typ int
	}{
		{"tcp", unix.AF_INET, unix.SOCK_STREAM},
		{"tcp6", unix.AF_INET6, unix.SOCK_STREAM},
		{"udp", unix.AF_INET, unix.SOCK_DGRAM},
		{"unix stream", unix.AF_UNIX, unix.SOCK_STREAM},
		{"unix dgram", unix.AF_UNIX, unix.SOCK_DGRAM},
		{"unix seqpacket", unix.AF_UNIX, unix.SOCK_SEQPACKET},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for seed := range uint64(100) {
				d := newDuel(t, seed)
				d.connect(kind.domain, kind.typ)
				for range 60 {
					d.operate()
				}
				d.end()
			}
		})
	}
}

// duel is the same two sockets here and in Linux.
type duel struct {
	*user
	r    *rand.Rand
	inet bool
	ours [2]uint64
	real [2]int
	open [2]bool
	log  []string
}

func newDuel(t *testing.T, seed uint64) *duel {
	return &duel{user: newNetwork(t, 1).user(0), r: rand.New(rand.NewPCG(seed, 7)), open: [2]bool{true, true}}
}

func (d *duel) end() {
	for i, fd := range d.real {
		if d.open[i] {
			unix.Close(fd)
		}
	}
}

// connect makes the two ends on both sides.
func (d *duel) connect(domain, typ int) {
	d.inet = domain != unix.AF_UNIX
	switch {
	case domain == unix.AF_UNIX:
		fds, err := unix.Socketpair(domain, typ, 0)
		d.must(err)
		d.real = fds
		d.ours[0], d.ours[1] = d.socketpair(typ)
	case typ == unix.SOCK_DGRAM:
		d.connectUDP()
	default:
		d.connectTCP(domain)
	}
}

func (d *duel) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *duel) connectUDP() {
	var at [2]unix.Sockaddr
	for i := range d.real {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		d.must(err)
		d.must(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
		d.real[i] = fd
		at[i], err = unix.Getsockname(fd)
		d.must(err)
		d.ours[i] = d.socket(unix.AF_INET, unix.SOCK_DGRAM)
		d.bind(d.ours[i], fmt.Sprintf("127.0.0.1:%d", 2000+i))
	}
	for i := range d.real {
		d.must(unix.Connect(d.real[i], at[1-i]))
		addr, n := d.sockaddr(fmt.Sprintf("127.0.0.1:%d", 2001-i))
		d.call(0, unix.SYS_CONNECT, d.ours[i], addr, n)
	}
}

func (d *duel) connectTCP(domain int) {
	var addr unix.Sockaddr = &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	ours := "127.0.0.1:80"
	if domain == unix.AF_INET6 {
		addr, ours = &unix.SockaddrInet6{Addr: [16]byte{15: 1}}, "[::1]:80"
	}
	l, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil && domain == unix.AF_INET6 {
		err = unix.Bind(l, addr)
	}
	if err != nil && domain == unix.AF_INET6 {
		d.Skip("no IPv6 here: ", err)
	}
	d.must(err)
	defer unix.Close(l)
	d.must(unix.Listen(l, 1))
	at, err := unix.Getsockname(l)
	d.must(err)
	if in4, ok := at.(*unix.SockaddrInet4); ok {
		in4.Addr = [4]byte{127, 0, 0, 1}
	}
	d.real[0], err = unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	d.must(err)
	d.must(unix.Connect(d.real[0], at))
	d.real[1], _, err = unix.Accept4(l, unix.SOCK_CLOEXEC)
	d.must(err)

	for _, fd := range d.real { // Nagle's algorithm would keep data back
		d.must(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
	listener := d.listen(domain, ours, 1)
	d.ours[0] = d.socket(domain, unix.SOCK_STREAM)
	a, n := d.sockaddr(ours)
	d.call(0, unix.SYS_CONNECT, d.ours[0], a, n)
	d.ours[1] = d.fd(unix.SYS_ACCEPT, listener, 0, 0)
	d.closeFD(listener)
}

// operate does one random operation on one end, on both sides.
func (d *duel) operate() {
	d.Helper()
	i := d.r.IntN(2)
	if !d.open[i] {
		i = 1 - i
	}
	if !d.open[i] {
		return
	}
	switch d.r.IntN(14) {
	case 0, 1, 2, 3:
		d.send(i)
	case 4, 5, 6, 7:
		d.receive(i)
	case 8:
		if d.r.IntN(4) == 0 {
			how := d.r.IntN(3)
			d.same(fmt.Sprintf("shutdown(%d, %d)", i, how), d.value(unix.SYS_SHUTDOWN, d.ours[i], uint64(how)),
				result(0, unix.Shutdown(d.real[i], how)))
		}
	case 9:
		v, err := unix.GetsockoptInt(d.real[i], unix.SOL_SOCKET, unix.SO_ERROR)
		d.same(fmt.Sprintf("SO_ERROR(%d)", i), int64(d.option(d.ours[i], unix.SOL_SOCKET, unix.SO_ERROR)),
			result(v, err))
	case 10:
		v, err := unix.IoctlGetInt(d.real[i], unix.SIOCINQ)
		ours := d.value(unix.SYS_IOCTL, d.ours[i], unix.SIOCINQ, valueAt)
		if ours == 0 {
			ours = int64(le.Uint32(d.m.Peek(valueAt, 4)))
		}
		d.same(fmt.Sprintf("SIOCINQ(%d)", i), ours, result(v, err))
	case 11:
		_, err := unix.Getpeername(d.real[i])
		d.m.Poke(sizeAt, intBytes(128))
		d.same(fmt.Sprintf("getpeername(%d)", i), d.value(unix.SYS_GETPEERNAME, d.ours[i], addrAt, sizeAt),
			result(0, err))
	case 12:
		if d.inet {
			d.must(unix.SetsockoptLinger(d.real[i], unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
			d.m.Poke(valueAt, append(intBytes(1), intBytes(0)...))
			d.call(0, unix.SYS_SETSOCKOPT, d.ours[i], unix.SOL_SOCKET, unix.SO_LINGER, valueAt, 8)
			d.log = append(d.log, fmt.Sprintf("SO_LINGER 0 (%d)", i))
		}
	case 13:
		if d.r.IntN(6) == 0 {
			d.open[i] = false
			d.same(fmt.Sprintf("close(%d)", i), d.value(unix.SYS_CLOSE, d.ours[i]), result(0, unix.Close(d.real[i])))
		}
	}
	d.samePoll()
}

// value makes a call and returns what it returns.
func (d *duel) value(nr int, args ...uint64) int64 {
	d.Helper()
	return d.d.Must(d.t, nr, args...)
}

// result is a real call's answer in the same form.
func result(n int, err error) int64 {
	if err != nil {
		return -int64(err.(kernel.Errno))
	}
	return int64(n)
}

func (d *duel) send(i int) {
	b := make([]byte, d.r.IntN(200))
	for j := range b {
		b[j] = byte(d.r.Uint32())
	}
	d.m.Poke(dataAt, b)
	const flags = unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT
	real := d.linux(unix.SYS_SENDTO, d.real[i], append(b, 0), len(b), flags)
	d.same(fmt.Sprintf("send(%d, %d bytes)", i, len(b)),
		d.value(unix.SYS_SENDTO, d.ours[i], dataAt, uint64(len(b)), flags, 0, 0), real)
}

// linux makes a real call that moves n bytes of b.
func (d *duel) linux(nr uintptr, fd int, b []byte, n, flags int) int64 {
	r, _, e := unix.Syscall6(nr, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(n), uintptr(flags), 0, 0)
	if e != 0 {
		return -int64(e)
	}
	return int64(r)
}

func (d *duel) receive(i int) {
	flags := unix.MSG_DONTWAIT | []int{0, 0, unix.MSG_PEEK, unix.MSG_TRUNC, unix.MSG_WAITALL,
		unix.MSG_PEEK | unix.MSG_TRUNC}[d.r.IntN(6)]
	b := make([]byte, 300)
	max := d.r.IntN(len(b))
	for j := range b {
		b[j] = '-'
	}
	d.m.Poke(dataAt, b)
	real := d.linux(unix.SYS_RECVFROM, d.real[i], b, max, flags)
	ours := d.value(unix.SYS_RECVFROM, d.ours[i], dataAt, uint64(max), uint64(flags), 0, 0)
	op := fmt.Sprintf("recv(%d, %d, %#x)", i, max, flags)
	d.same(op, ours, real)
	if string(d.m.Peek(dataAt, len(b))) != string(b) {
		d.fail(op + ": other bytes")
	}
}

// same records an operation and compares its answers.
func (d *duel) same(op string, ours, real int64) {
	d.Helper()
	d.log = append(d.log, fmt.Sprintf("%s = %d", op, real))
	if ours != real {
		d.fail(fmt.Sprintf("ours is %d", ours))
	}
}

func (d *duel) fail(why string) {
	d.Helper()
	for _, l := range d.log {
		d.Log(l)
	}
	d.Fatal(why)
}

// samePoll compares what poll says, which in Linux may take a moment to become
// true.
func (d *duel) samePoll() {
	d.Helper()
	const all = unix.POLLIN | unix.POLLPRI | unix.POLLOUT | unix.POLLRDHUP | 0x40 | 0x80 | 0x100 | 0x200
	for i := range d.real {
		if !d.open[i] {
			continue
		}
		ours := d.ready(d.ours[i])
		var real kernel.Events
		for try := range 100 {
			fds := []unix.PollFd{{Fd: int32(d.real[i]), Events: all}}
			_, err := unix.Poll(fds, 0)
			d.must(err)
			if real = kernel.Events(uint16(fds[0].Revents)); real == ours {
				break
			}
			time.Sleep(time.Duration(try) * time.Millisecond / 10)
		}
		if ours != real {
			d.fail(fmt.Sprintf("poll(%d) = %#x, ours is %#x", i, real, ours))
		}
	}
}

// TestBindAnswersAsLinux binds sockets with random options to one port, here and
// in Linux.
func TestBindAnswersAsLinux(t *testing.T) {
	port := freePort(t)
	for seed := range uint64(300) {
		d := &binding{user: newNetwork(t, 1).user(0), r: rand.New(rand.NewPCG(seed, 3)), port: port, share: seed%4 == 0}
		for range 12 {
			d.operate()
		}
		for _, fd := range d.real {
			unix.Close(fd)
		}
	}
}

// freePort returns a port that nothing on this machine uses.
func freePort(t *testing.T) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	a, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*unix.SockaddrInet4).Port
}

// binding is some bound sockets here and in Linux, under the same index. None is
// closed, and all or none share by SO_REUSEPORT: else Linux judges by what it once
// noted about the port.
type binding struct {
	*user
	r     *rand.Rand
	port  int
	share bool // SO_REUSEPORT
	ours  []uint64
	real  []int
	log   []string
}

func (d *binding) operate() {
	d.Helper()
	if len(d.real) > 0 && d.r.IntN(3) == 0 {
		i := d.r.IntN(len(d.real))
		d.same(fmt.Sprintf("listen(%d)", i), d.d.Must(d.t, unix.SYS_LISTEN, d.ours[i], 1),
			result(0, unix.Listen(d.real[i], 1)))
		return
	}
	d.bindOne()
}

// bindOne makes and binds a socket.
func (d *binding) bindOne() {
	d.Helper()
	domain, typ := unix.AF_INET, []int{unix.SOCK_STREAM, unix.SOCK_STREAM, unix.SOCK_DGRAM}[d.r.IntN(3)]
	addrs := []string{"0.0.0.0", "127.0.0.1", "127.0.0.2"}
	if d.r.IntN(2) == 0 {
		domain, addrs = unix.AF_INET6, []string{"[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]"}
	}
	fd, err := unix.Socket(domain, typ|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		d.Skip("no IPv6 here: ", err)
	}
	s := d.socket(domain, typ)
	d.real, d.ours = append(d.real, fd), append(d.ours, s)
	op := fmt.Sprintf("socket %d: domain %d, type %d", len(d.real)-1, domain, typ)
	for _, o := range [][2]int{{unix.SOL_SOCKET, unix.SO_REUSEADDR}, {unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}} {
		if d.r.IntN(2) == 0 && (o[0] == unix.SOL_SOCKET || domain == unix.AF_INET6) {
			d.set(s, o[0], o[1], 1)
			unix.SetsockoptInt(fd, o[0], o[1], 1)
			op += fmt.Sprintf(", option %d", o[1])
		}
	}
	if d.share {
		d.set(s, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}
	addr := fmt.Sprintf("%s:%d", addrs[d.r.IntN(len(addrs))], d.port)
	at, n := d.sockaddr(addr)
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&d.m.Peek(at, int(n))[0])), uintptr(n))
	d.same(op+", bind to "+addr, d.d.Must(d.t, unix.SYS_BIND, s, at, n), -int64(e))
}

func (d *binding) same(op string, ours, real int64) {
	d.Helper()
	d.log = append(d.log, fmt.Sprintf("%s = %d", op, real))
	if ours != real {
		for _, l := range d.log {
			d.Log(l)
		}
		d.Fatalf("ours is %d", ours)
	}
}
