package tcp

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// pair is two nodes, and what is on its way between them in the order in which it was sent.
type pair struct {
	t     *testing.T
	nodes []*kernel.Node
	by    []*kernel.Thread
	way   []ariadne.Message
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, nodes: kerneltest.Network(2)}
	for _, n := range p.nodes {
		p.by = append(p.by, kerneltest.Caller(n))
	}
	return p
}

// rest ends a step of both nodes: what they have left to send is on its way.
func (p *pair) rest() {
	for _, n := range p.nodes {
		Flush(n)
		p.way = append(p.way, n.Out...)
		n.Out = nil
	}
}

// deliver lets the next message of a direction arrive. It reports whether there was one.
func (p *pair) deliver(to int) bool {
	p.rest()
	for i, m := range p.way {
		if int(m.To) == to {
			p.way = append(p.way[:i:i], p.way[i+1:]...)
			Deliver(p.nodes[to], &m)
			p.rest()
			return true
		}
	}
	return false
}

// settle lets all arrive that is on its way, and what comes of it.
func (p *pair) settle() {
	for p.deliver(0) || p.deliver(1) {
	}
}

// listen has node 1 listen on a port.
func (p *pair) listen(port int) *Socket {
	p.t.Helper()
	l := New(p.nodes[1], unix.AF_INET)
	if e := l.Bind(p.by[1], kerneltest.Sockaddr("10.0.0.2", port)); e != 0 {
		p.t.Fatal(e)
	}
	if e := l.Listen(p.by[1], 5); e != 0 {
		p.t.Fatal(e)
	}
	return l
}

// connect has node 0 begin a connection to a port of node 1.
func (p *pair) connect(port int) *Socket {
	p.t.Helper()
	c := New(p.nodes[0], unix.AF_INET)
	if e := c.Connect(p.by[0], kerneltest.Sockaddr("10.0.0.2", port)); e != unix.EINPROGRESS {
		p.t.Fatalf("connect: %v", e)
	}
	return c
}

// connected returns both ends of a connection.
func (p *pair) connected() (ends [2]*Socket) {
	p.t.Helper()
	l := p.listen(80)
	ends[0] = p.connect(80)
	p.settle()
	s, _, e := l.Accept(p.by[1], true)
	if e != 0 {
		p.t.Fatalf("accept: %v", e)
	}
	ends[1] = s.(*Socket)
	l.Release(p.nodes[1])
	return ends
}

// read takes at most so many bytes.
func (p *pair) read(s *Socket, most int) ([]byte, kernel.Errno) {
	m := &socket.InMsg{Max: most, NoWait: true}
	e := s.Recv(p.by[0], m)
	return m.Data, e
}

// TestStream: what each end reads is what the other one wrote, whatever pieces they write and read
// and however long messages take. The end of a stream comes behind all of it, and both ends leave
// nothing.
func TestStream(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := newPair(t)
		ends := p.connected()
		var wrote, got [2][]byte
		var over, ended [2]bool
		size := 1 << r.IntN(19)
		for turn := 0; !ended[0] || !ended[1]; turn++ {
			if turn > 1e6 {
				t.Fatalf("seed %d: stands still with %d and %d bytes written, %d and %d read", seed, len(wrote[0]), len(wrote[1]), len(got[1]), len(got[0]))
			}
			i := r.IntN(2)
			switch r.IntN(3) {
			case 0:
				if over[i] {
					continue
				}
				if len(wrote[i]) >= size {
					over[i] = true
					if e := ends[i].Shutdown(unix.SHUT_WR); e != 0 {
						t.Fatalf("seed %d: shutdown: %v", seed, e)
					}
					continue
				}
				b := make([]byte, 1+r.IntN(size))
				for j := range b {
					b[j] = byte(r.Uint32())
				}
				n, e := ends[i].Write(p.by[i], b)
				if e != 0 && e != unix.EAGAIN {
					t.Fatalf("seed %d: write: %v", seed, e)
				}
				if e == unix.EAGAIN && ends[i].Ready()&kernel.Out != 0 {
					t.Fatalf("seed %d: may be written and takes nothing", seed)
				}
				wrote[i] = append(wrote[i], b[:n]...)
			case 1:
				ready := ends[i].Ready()&kernel.In != 0
				b, e := p.read(ends[i], 1+r.IntN(size))
				if (e == 0) != ready {
					t.Fatalf("seed %d: ready to read: %v, and %v", seed, ready, e)
				}
				if got[i] = append(got[i], b...); e == 0 && len(b) == 0 {
					if ended[i] = true; !over[1-i] {
						t.Fatalf("seed %d: the end of what goes on", seed)
					}
				}
			case 2:
				p.deliver(i)
			}
		}
		for i := range ends {
			if !bytes.Equal(got[i], wrote[1-i]) {
				t.Errorf("seed %d: end %d read %d of %d bytes, or others", seed, i, len(got[i]), len(wrote[1-i]))
			}
			ends[i].Release(p.nodes[i])
		}
		p.settle()
		for i, n := range p.nodes {
			n.Now += 2 * timeWaitTime
			stackOf(n).expire(n)
			if s := stackOf(n); len(s.conns) > 0 || len(List(n, unix.AF_INET)) > 0 {
				t.Errorf("seed %d: node %d has %d connections in the end", seed, i, len(s.conns))
			}
		}
	}
}

// TestWindow: a writer whose peer reads nothing stops, and goes on when it has read.
func TestWindow(t *testing.T) {
	p := newPair(t)
	ends := p.connected()
	sent := 0
	for {
		n, e := ends[0].Write(p.by[0], make([]byte, 1<<16))
		if e != 0 {
			break
		}
		if sent += n; sent > 1<<26 {
			t.Fatal("a peer that does not read takes 64 MiB")
		}
		p.settle()
	}
	if ends[0].Ready()&kernel.Out != 0 {
		t.Error("full, and may be written")
	}
	for left := sent; left > 0; {
		b, e := p.read(ends[1], 1<<16)
		if e != 0 {
			t.Fatalf("%v with %d bytes left", e, left)
		}
		left -= len(b)
	}
	p.settle()
	if ends[0].Ready()&kernel.Out == 0 {
		t.Error("all was read, and it may not be written")
	}
}

// TestReset: what a connection's end learns when the other one goes in other ways than after all
// was read.
func TestReset(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		p := newPair(t)
		c := p.connect(81)
		p.settle()
		if c.Ready()&(kernel.Err|kernel.Hup) != kernel.Err|kernel.Hup {
			t.Errorf("ready for %v", c.Ready())
		}
		if e := c.Connect(p.by[0], kerneltest.Sockaddr("10.0.0.2", 81)); e != unix.ECONNREFUSED {
			t.Errorf("connect: %v", e)
		}
	})
	t.Run("closed with unread data", func(t *testing.T) {
		p := newPair(t)
		ends := p.connected()
		ends[0].Write(p.by[0], []byte("unread"))
		p.settle()
		ends[1].Release(p.nodes[1])
		p.settle()
		if _, e := p.read(ends[0], 10); e != unix.ECONNRESET {
			t.Errorf("read: %v", e)
		}
		if _, e := p.read(ends[0], 10); e != 0 {
			t.Errorf("the error is told twice: %v", e)
		}
		if _, e := ends[0].Write(p.by[0], []byte("x")); e != unix.EPIPE {
			t.Errorf("write: %v", e)
		}
	})
	t.Run("closed before more comes", func(t *testing.T) {
		p := newPair(t)
		ends := p.connected()
		ends[1].Release(p.nodes[1])
		p.settle()
		if b, e := p.read(ends[0], 10); e != 0 || len(b) > 0 {
			t.Errorf("read: %q, %v: not the end", b, e)
		}
		if _, e := ends[0].Write(p.by[0], []byte("x")); e != 0 {
			t.Errorf("the first write: %v", e)
		}
		p.settle()
		if _, e := ends[0].Write(p.by[0], []byte("x")); e != unix.EPIPE {
			t.Errorf("the second write: %v", e)
		}
	})
	t.Run("the listener goes", func(t *testing.T) {
		p := newPair(t)
		l := p.listen(80)
		c := p.connect(80)
		p.settle()
		l.Release(p.nodes[1])
		p.settle()
		if _, e := p.read(c, 10); e != unix.ECONNRESET {
			t.Errorf("read: %v", e)
		}
	})
}

// TestBacklog: who comes when as many wait as the backlog says is not answered until some are
// accepted.
func TestBacklog(t *testing.T) {
	p := newPair(t)
	l := p.listen(80)
	if e := l.Listen(p.by[1], 1); e != 0 {
		t.Fatal(e)
	}
	var all []*Socket
	for range 4 {
		all = append(all, p.connect(80))
	}
	p.settle()
	established := func() (n int) {
		for _, c := range all {
			if c.Ready()&kernel.Out != 0 {
				n++
			}
		}
		return n
	}
	if n := established(); n != 2 {
		t.Errorf("%d are connected with a backlog of 1", n)
	}
	for range 2 {
		if _, _, e := l.Accept(p.by[1], true); e != 0 {
			t.Errorf("accept: %v", e)
		}
	}
	for established() < 4 {
		n := p.nodes[0]
		tm := n.NextTimer(true)
		if tm == nil {
			t.Fatalf("%d are connected, and nobody tries again", established())
		}
		n.Now = tm.When
		n.FireTimer(tm)
		p.settle()
	}
}

// TestLimits: a change of how long a connection lets nothing get through is told once.
func TestLimits(t *testing.T) {
	p := newPair(t)
	ends := p.connected()
	n := p.nodes[0]
	told := func(what string, want ...ariadne.Limit) {
		t.Helper()
		got := Limits(n)
		switch {
		case got == nil:
			t.Fatalf("%s: nothing is told", what)
		case !slices.Equal(*got, want):
			t.Fatalf("%s: %v, not %v", what, *got, want)
		case Limits(n) != nil:
			t.Fatalf("%s: it is told again", what)
		}
	}
	if got := Limits(n); got != nil {
		t.Fatalf("a connection without a limit: %v", *got)
	}
	set := func(level, name, v int) {
		t.Helper()
		if e := ends[0].SetIntOption(level, name, v); e != 0 {
			t.Fatal(e)
		}
	}
	flow := ends[0].flowOut()
	set(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	told("defaults of keep-alive",
		ariadne.Limit{Flow: flow, Idle: (7200 + 9*75) * time.Second, First: 7200 * time.Second,
			Every: 75 * time.Second})
	set(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 10)
	set(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5)
	set(unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 2)
	told("its options",
		ariadne.Limit{Flow: flow, Idle: 20 * time.Second, First: 10 * time.Second, Every: 5 * time.Second})
	set(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0)
	set(unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 3000)
	told("the user's timeout", ariadne.Limit{Flow: flow, Data: firstTry + 3*time.Second})
	if got := Limits(p.nodes[1]); got != nil {
		t.Fatalf("the other end has a limit: %v", *got)
	}
	ends[0].Release(n)
	told("a closed connection")
}
