package udp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// closedPort is one at which nobody listens, on the host neither.
const closedPort = 1

// end is a socket of ours and one of Linux's, both bound to the same port of 127.0.0.1.
type end struct {
	ours  *Socket
	linux int
	addr  []byte
	to    unix.SockaddrInet4
}

// both is some such sockets on one machine.
type both struct {
	by   *kernel.Thread
	ends []end
}

func newBoth(t *testing.T, count int) *both {
	n := kerneltest.Network(1)[0]
	b := &both{by: kerneltest.Caller(n)}
	for range count {
		x := end{ours: New(n, unix.AF_INET)}
		x.linux, x.to = bound(t)
		x.addr = kerneltest.Sockaddr("127.0.0.1", x.to.Port)
		if e := x.ours.Bind(b.by, x.addr); e != 0 {
			t.Fatal(e)
		}
		b.ends = append(b.ends, x)
	}
	return b
}

// bound is a socket of Linux's that has asked for its port, and its address. A port that the kernel
// has chosen is lost when the socket is disconnected.
func bound(t *testing.T) (fd int, to unix.SockaddrInet4) {
	to.Addr = [4]byte{127, 0, 0, 1}
	for {
		var err error
		if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		err = unix.Bind(fd, &to)
		if err == nil && to.Port != 0 {
			t.Cleanup(func() { unix.Close(fd) })
			return fd, to
		}
		if err != nil && err != unix.EADDRINUSE {
			t.Fatal(err)
		}
		name, err := unix.Getsockname(fd)
		if err != nil {
			t.Fatal(err)
		}
		to.Port = name.(*unix.SockaddrInet4).Port
		unix.Close(fd)
	}
}

// result is that of a call as both have it.
func result(n int, e kernel.Errno) string {
	if e != 0 {
		return unix.ErrnoName(e)
	}
	return fmt.Sprint(n)
}

func errno(err error) (e kernel.Errno) {
	errors.As(err, &e)
	return e
}

// peer is an address to send to: that of an end, or of the closed port behind them.
func (b *both) peer(i int) ([]byte, *unix.SockaddrInet4) {
	if i < len(b.ends) {
		return b.ends[i].addr, &b.ends[i].to
	}
	return kerneltest.Sockaddr("127.0.0.1", closedPort),
		&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: closedPort}
}

// send sends from an end to a peer, or with -1 without an address.
func (b *both) send(i, to int, data []byte) (ours, linux string) {
	m := &socket.OutMsg{Data: data}
	var sa unix.Sockaddr
	if to >= 0 {
		m.To, sa = b.peer(to)
	}
	n, e := b.ends[i].ours.Send(b.by, m)
	k, err := unix.SendmsgN(b.ends[i].linux, data, nil, sa, 0)
	return result(n, e), result(max(k, 0), errno(err))
}

func (b *both) receive(i, most, flags int) (ours, linux string) {
	m := &socket.InMsg{Max: most, Flags: flags, NoWait: true}
	e := b.ends[i].ours.Recv(b.by, m)
	buf := make([]byte, most)
	n, _, got, from, err := unix.Recvmsg(b.ends[i].linux, buf, nil, flags)
	if err != nil || e != 0 {
		return result(0, e), result(0, errno(err))
	}
	length := len(m.Data)
	if flags&unix.MSG_TRUNC != 0 {
		length = m.Len
	}
	const told = unix.MSG_TRUNC | unix.MSG_CTRUNC
	peer := int(m.From[2])<<8 | int(m.From[3])
	return fmt.Sprintf("%d %x %#x from %d", length, m.Data, m.OutFlags&told, peer),
		fmt.Sprintf("%d %x %#x from %d", n, buf[:min(n, most)], got&told, from.(*unix.SockaddrInet4).Port)
}

func (b *both) poll(i int) (ours, linux string) {
	const asked = unix.POLLIN | unix.POLLOUT | unix.POLLRDHUP
	p := []unix.PollFd{{Fd: int32(b.ends[i].linux), Events: asked}}
	if _, err := unix.Poll(p, 0); err != nil {
		return "", err.Error()
	}
	ready := b.ends[i].ours.Ready() & (asked | kernel.Err | kernel.Hup)
	return fmt.Sprintf("%#x", uint(ready)), fmt.Sprintf("%#x", p[0].Revents)
}

func (b *both) connect(i, to int) (ours, linux string) {
	addr, sa := b.peer(to)
	return result(0, b.ends[i].ours.Connect(b.by, addr)), result(0, errno(unix.Connect(b.ends[i].linux, sa)))
}

func (b *both) disconnect(i int) (ours, linux string) {
	var none unix.RawSockaddr // AF_UNSPEC
	_, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(b.ends[i].linux), uintptr(unsafe.Pointer(&none)),
		unix.SizeofSockaddrInet4)
	return result(0, b.ends[i].ours.Connect(b.by, make([]byte, unix.SizeofSockaddrInet4))), result(0, e)
}

// state is what the calls that only ask tell of an end.
func (b *both) state(i int) (ours, linux string) {
	x := b.ends[i]
	peer, e := x.ours.RemoteAddr()
	port := 0
	if e == 0 {
		port = int(peer[2])<<8 | int(peer[3])
	}
	ours = fmt.Sprintf("%d bytes, peer %d %s, error %d", x.ours.Buffered(), port, result(0, e), x.ours.TakeError())
	name, err := unix.Getpeername(x.linux)
	port = 0
	if err == nil {
		port = name.(*unix.SockaddrInet4).Port
	}
	bytes, _ := unix.IoctlGetInt(x.linux, unix.SIOCINQ)
	pending, _ := unix.GetsockoptInt(x.linux, unix.SOL_SOCKET, unix.SO_ERROR)
	return ours, fmt.Sprintf("%d bytes, peer %d %s, error %d", bytes, port, result(0, errno(err)), pending)
}

// TestLikeLinux: random calls on some sockets of a machine answer as they do on Linux's loopback:
// what arrives where and from whom, where a datagram is cut off, which socket learns that nobody is
// at a port, and what remains of one that was connected, disconnected or shut down.
func TestLikeLinux(t *testing.T) {
	const count = 3
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 17))
		b := newBoth(t, count)
		var log []string
		waiting := 0 // bytes in all queues at most: none is to be full
		for range 150 {
			i := r.IntN(count)
			var what, ours, linux string
			switch k := r.IntN(100); {
			case k < 35:
				size, to := r.IntN(200), r.IntN(count+2)-1
				if r.IntN(20) == 0 {
					size = max4 - 2 + r.IntN(40)
				}
				if waiting += size + skbOverhead; waiting > 1<<17 {
					continue
				}
				what = fmt.Sprintf("send %d bytes from %d to %d", size, i, to)
				ours, linux = b.send(i, to, bytes.Repeat([]byte{byte(r.IntN(256))}, size))
			case k < 65:
				most, flags := r.IntN(250), 0
				if r.IntN(4) == 0 {
					flags |= unix.MSG_PEEK
				}
				if r.IntN(4) == 0 {
					flags |= unix.MSG_TRUNC
				}
				what = fmt.Sprintf("receive %d bytes at %d, %#x", most, i, flags)
				ours, linux = b.receive(i, most, flags)
			case k < 80:
				what = fmt.Sprintf("poll %d", i)
				ours, linux = b.poll(i)
			case k < 87:
				what = fmt.Sprintf("state of %d", i)
				ours, linux = b.state(i)
			case k < 94:
				to := r.IntN(count + 1)
				what = fmt.Sprintf("connect %d to %d", i, to)
				ours, linux = b.connect(i, to)
			case k < 98:
				what = fmt.Sprintf("disconnect %d", i)
				ours, linux = b.disconnect(i)
			default:
				how := r.IntN(4)
				what = fmt.Sprintf("shut down %d, %d", i, how)
				ours, linux = result(0, b.ends[i].ours.Shutdown(how)),
					result(0, errno(unix.Shutdown(b.ends[i].linux, how)))
			}
			if log = append(log, what); ours != linux {
				t.Fatalf("seed %d: %s: %.200s, Linux: %.200s\nbehind %q", seed, what, ours, linux, log)
			}
		}
	}
}

// pair is a socket on each of two nodes, and the messages between them.
type pair struct {
	t     *testing.T
	nodes []*kernel.Node
	by    []*kernel.Thread
	ends  [2]*Socket
}

var addresses = [2]string{"10.0.0.1", "10.0.0.2"}

const port = 53

func newPair(t *testing.T) *pair {
	p := &pair{t: t, nodes: kerneltest.Network(2)}
	for i, n := range p.nodes {
		p.by = append(p.by, kerneltest.Caller(n))
		p.ends[i] = New(n, unix.AF_INET)
		if e := p.ends[i].Bind(p.by[i], kerneltest.Sockaddr(addresses[i], port)); e != 0 {
			t.Fatal(e)
		}
	}
	return p
}

func (p *pair) send(from, port int, data string) {
	p.t.Helper()
	n, e := p.ends[from].Send(p.by[from],
		&socket.OutMsg{Data: []byte(data), To: kerneltest.Sockaddr(addresses[1-from], port)})
	if e != 0 || n != len(data) {
		p.t.Fatalf("send: %d, %v", n, e)
	}
}

// take takes the messages that a node has sent.
func (p *pair) take(from int) []ariadne.Message {
	out := p.nodes[from].Out
	p.nodes[from].Out = nil
	return out
}

// deliver has all messages arrive that a node has sent, and returns how many there were.
func (p *pair) deliver(from int) int {
	all := p.take(from)
	for i := range all {
		Deliver(p.nodes[1-from], &all[i])
	}
	return len(all)
}

func (p *pair) receive(at int) (string, kernel.Errno) {
	m := &socket.InMsg{Max: 1 << 16, NoWait: true}
	e := p.ends[at].Recv(p.by[at], m)
	return string(m.Data), e
}

// TestBoundaries: each datagram is one message between nodes and is received by itself, in
// whatever order they arrive, also one that is empty, and one that arrives twice.
func TestBoundaries(t *testing.T) {
	p := newPair(t)
	for _, text := range []string{"one", "", "three"} {
		p.send(0, port, text)
	}
	sent := p.take(0)
	if len(sent) != 3 {
		t.Fatalf("%d messages", len(sent))
	}
	for _, i := range []int{2, 0, 1, 0} {
		Deliver(p.nodes[1], &sent[i])
	}
	for _, text := range []string{"three", "one", "", "one"} {
		if got, e := p.receive(1); e != 0 || got != text {
			t.Errorf("received %q, %v, not %q", got, e, text)
		}
	}
	if got, e := p.receive(1); e != unix.EAGAIN {
		t.Errorf("received %q, %v from an empty queue", got, e)
	}
}

// TestNobodyAtThePort: the node answers a datagram to a port without a socket, and only a sender
// that is connected to that port learns of it, once.
func TestNobodyAtThePort(t *testing.T) {
	for _, connected := range []bool{false, true} {
		p := newPair(t)
		if connected {
			if e := p.ends[0].Connect(p.by[0], kerneltest.Sockaddr(addresses[1], port+1)); e != 0 {
				t.Fatal(e)
			}
		}
		p.send(0, port+1, "x")
		if n := p.deliver(0); n != 1 {
			t.Fatalf("%d messages", n)
		}
		if n := p.deliver(1); n != 1 {
			t.Fatalf("%d answers", n)
		}
		if p.nodes[0].Out != nil {
			t.Error("the answer is answered")
		}
		first := unix.EAGAIN
		if connected {
			first = unix.ECONNREFUSED
		}
		for _, want := range []kernel.Errno{first, unix.EAGAIN} {
			if _, e := p.receive(0); e != want {
				t.Errorf("connected %v: received %v, not %v", connected, e, want)
			}
		}
	}
}

// TestQueueLimit: what finds a queue full is lost, and there is room again behind a datagram that
// was received. A queue without anything takes one of any size.
func TestQueueLimit(t *testing.T) {
	p := newPair(t)
	const size = 1000
	fit := p.ends[1].Opt(unix.SOL_SOCKET, unix.SO_RCVBUF) / (size + skbOverhead)
	send := func(count, size int) {
		for i := range count {
			p.send(0, port, string(bytes.Repeat([]byte{byte(i)}, size)))
		}
		p.deliver(0)
	}
	receive := func() (n int) {
		for {
			text, e := p.receive(1)
			if e != 0 {
				return n
			}
			if len(text) > 0 && text[0] != byte(n) {
				t.Fatalf("received number %d in place of %d", text[0], byte(n))
			}
			n++
		}
	}
	send(fit+5, size)
	if n := receive(); n != fit {
		t.Errorf("received %d of %d, with room for %d", n, fit+5, fit)
	}
	if s := stackOf(p.nodes[1]); s.held != 0 {
		t.Errorf("the queues hold %d bytes when all was received", s.held)
	}
	send(fit, size)
	if n := receive(); n != fit {
		t.Errorf("received %d of %d the second time", n, fit)
	}
	p.ends[1].SetOpt(unix.SOL_SOCKET, unix.SO_RCVBUF, size)
	send(2, 10*size)
	if n := receive(); n != 1 {
		t.Errorf("an empty queue took %d datagrams that are larger than it", n)
	}
	send(3, size)
	p.ends[1].Release(p.nodes[1])
	if s := stackOf(p.nodes[1]); s.held != 0 {
		t.Errorf("the queues hold %d bytes when all sockets are closed", s.held)
	}
}
