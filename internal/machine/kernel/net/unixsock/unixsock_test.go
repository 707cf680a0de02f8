package unixsock

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// both is a pair of connected sockets of ours and one of Linux's.
type both struct {
	by    *kernel.Thread
	ours  [2]*Socket
	linux [2]int
	gone  [2]bool
}

func newBoth(t *testing.T, typ int) *both {
	n := kerneltest.Network(1)[0]
	b := &both{by: kerneltest.Caller(n)}
	b.ours[0], b.ours[1] = Pair(n, b.by, typ)
	var err error
	if b.linux, err = unix.Socketpair(unix.AF_UNIX, typ|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for i, fd := range b.linux {
			if !b.gone[i] {
				unix.Close(fd)
			}
		}
	})
	for i, fd := range b.linux { // what a machine of ours begins with
		for _, name := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} {
			n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, name)
			if err != nil {
				t.Fatal(err)
			}
			b.ours[i].SetOpt(unix.SOL_SOCKET, name, n)
		}
	}
	return b
}

// say tells the result of a call as both have it.
func say(n int, e kernel.Errno, data []byte) string {
	if e != 0 {
		return unix.ErrnoName(e)
	}
	return fmt.Sprintf("%d %x", n, data)
}

func errno(err error) (e kernel.Errno) {
	errors.As(err, &e)
	return e
}

func (b *both) send(i int, data []byte) (ours, linux string) {
	n, e := b.ours[i].Send(b.by, &socket.OutMsg{Data: data, Flags: unix.MSG_NOSIGNAL})
	m, err := unix.SendmsgN(b.linux[i], data, nil, nil, unix.MSG_NOSIGNAL)
	return say(n, e, nil), say(m, errno(err), nil)
}

func (b *both) receive(i, most, flags int) (ours, linux string) {
	m := &socket.InMsg{Max: most, Flags: flags, NoWait: true}
	e := b.ours[i].Recv(b.by, m)
	buf := make([]byte, most)
	n, _, got, _, err := unix.Recvmsg(b.linux[i], buf, nil, flags)
	if err != nil {
		n = 0
	}
	ours, linux = say(len(m.Data), e, m.Data), say(n, errno(err), buf[:min(n, most)])
	if e == 0 && err == nil {
		const told = unix.MSG_TRUNC | unix.MSG_CTRUNC | unix.MSG_EOR
		ours, linux = fmt.Sprintf("%s %#x", ours, m.OutFlags&told), fmt.Sprintf("%s %#x", linux, got&told)
	}
	return ours, linux
}

func (b *both) poll(i int) (ours, linux string) {
	const asked = unix.POLLIN | unix.POLLOUT | unix.POLLRDHUP
	p := []unix.PollFd{{Fd: int32(b.linux[i]), Events: asked}}
	if _, err := unix.Poll(p, 0); err != nil {
		return "", err.Error()
	}
	ready := b.ours[i].Ready() & (asked | kernel.Err | kernel.Hup)
	return fmt.Sprintf("%#x", uint(ready)), fmt.Sprintf("%#x", p[0].Revents)
}

// TestLikeLinux: random calls on the two ends of a pair answer as they do on one of Linux's: what
// is taken, what comes, where a packet is cut off, what is ready, and what remains of an end that
// was shut down or closed.
func TestLikeLinux(t *testing.T) {
	for name, typ := range map[string]int{"stream": unix.SOCK_STREAM, "datagrams": unix.SOCK_DGRAM,
		"packets": unix.SOCK_SEQPACKET} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, uint64(typ)))
				b := newBoth(t, typ)
				var log []string
				size := 1 << r.IntN(18)
				for range 120 {
					i := r.IntN(2)
					if b.gone[i] {
						continue
					}
					var what, ours, linux string
					switch k := r.IntN(100); {
					case k < 40:
						data := bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(size+1))
						what = fmt.Sprintf("send %d bytes at %d", len(data), i)
						ours, linux = b.send(i, data)
					case k < 75:
						most, flags := r.IntN(size+2), 0
						if r.IntN(6) == 0 {
							flags = unix.MSG_PEEK
						}
						what = fmt.Sprintf("receive %d bytes at %d, %#x", most, i, flags)
						ours, linux = b.receive(i, most, flags)
					case k < 96:
						what = fmt.Sprintf("poll %d", i)
						ours, linux = b.poll(i)
					case k < 99:
						how := r.IntN(3)
						what = fmt.Sprintf("shut down %d, %d", i, how)
						ours, linux = say(0, b.ours[i].Shutdown(how), nil),
							say(0, errno(unix.Shutdown(b.linux[i], how)), nil)
					default:
						what = fmt.Sprintf("close %d", i)
						b.ours[i].Release(b.by.Node())
						unix.Close(b.linux[i])
						b.gone[i] = true
					}
					if log = append(log, what); ours != linux {
						if len(ours)+len(linux) > 400 {
							ours, linux = fmt.Sprintf("%.60q (%d)", ours, len(ours)),
								fmt.Sprintf("%.60q (%d)", linux, len(linux))
						}
						t.Fatalf("seed %d: %s: %s, Linux: %s\nbehind %q", seed, what, ours, linux, log)
					}
				}
			}
		})
	}
}

// TestRights: open files go with the bytes with which they were sent, stay open while they are on
// their way, and are closed where nobody takes them.
func TestRights(t *testing.T) {
	n := kerneltest.Network(1)[0]
	by := kerneltest.Caller(n)
	a, b := Pair(n, by, unix.SOCK_STREAM)
	x, _ := Pair(n, by, unix.SOCK_STREAM)
	of := &kernel.OpenFile{File: x}
	of.Hold()
	send := func(text string, rights ...socket.Right) {
		t.Helper()
		if _, e := a.Send(by, &socket.OutMsg{Data: []byte(text), Rights: rights}); e != 0 {
			t.Fatal(e)
		}
	}
	send("before")
	send("with", socket.Right{File: of})
	send("behind")
	var got []string
	for range 2 {
		m := &socket.InMsg{Max: 100, NoWait: true}
		if e := b.Recv(by, m); e != 0 {
			t.Fatal(e)
		}
		got = append(got, fmt.Sprintf("%s %d", m.Data, len(m.Rights)))
	}
	if fmt.Sprint(got) != "[beforewith 1 behind 0]" {
		t.Errorf("received %q", got)
	}
	send("lost", socket.Right{File: of})
	if f := flightsOf.Of(n); f.count[by.Cred.UID.Real] != 1 {
		t.Errorf("%v in flight", f.count)
	}
	b.Release(n)
	if f := flightsOf.Of(n); len(f.count) != 0 {
		t.Errorf("the receiver is gone, and %v are in flight", f.count)
	}
}

// TestNames: an abstract name is of one socket of its type, and free when that one is closed; who
// connects to nobody is refused.
func TestNames(t *testing.T) {
	n := kerneltest.Network(1)[0]
	by := kerneltest.Caller(n)
	name := append([]byte{unix.AF_UNIX, 0, 0}, "name"...)
	l := New(n, by, unix.SOCK_STREAM)
	if e := l.Bind(by, name); e != 0 {
		t.Fatal(e)
	}
	if e := New(n, by, unix.SOCK_STREAM).Bind(by, name); e != unix.EADDRINUSE {
		t.Errorf("the same name twice: %v", e)
	}
	if e := New(n, by, unix.SOCK_DGRAM).Bind(by, name); e != 0 {
		t.Errorf("the same name for another type: %v", e)
	}
	c := New(n, by, unix.SOCK_STREAM)
	if e := c.Connect(by, name); e != unix.ECONNREFUSED {
		t.Errorf("nobody listens: %v", e)
	}
	if e := l.Listen(by, 0); e != 0 {
		t.Fatal(e)
	}
	if e := c.Connect(by, name); e != 0 {
		t.Errorf("connect: %v", e)
	}
	late := New(n, by, unix.SOCK_STREAM)
	if e := late.Connect(by, name); e != unix.EAGAIN {
		t.Errorf("the backlog is full: %v", e)
	}
	if _, _, e := l.Accept(by, true); e != 0 {
		t.Errorf("accept: %v", e)
	}
	if e := late.Connect(by, name); e != 0 {
		t.Errorf("there is room: %v", e)
	}
	l.Release(n)
	if _, e := late.Read(by, make([]byte, 1)); e != unix.ECONNRESET {
		t.Errorf("the listener went, and a connection that it had not accepted reads %v", e)
	}
	if e := New(n, by, unix.SOCK_STREAM).Bind(by, name); e != 0 {
		t.Errorf("the name is free: %v", e)
	}
}
