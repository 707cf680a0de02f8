package native

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if IsStarter() {
		os.Exit(RunStarter())
	}
	if peer := os.Getenv("ARIADNE_TEST_PEER"); peer != "" {
		fmt.Fprintln(os.Stderr, talk(peer))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// talk sends numbered datagrams to a peer, and some of the numbers over a TCP connection. It says
// which number it sends next, which ones have come, and how many connections it has made.
func talk(peer string) error {
	l, err := net.Listen("tcp", ":7001")
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			for number := make([]byte, 8); err == nil; {
				if _, err = io.ReadFull(conn, number); err == nil {
					fmt.Println("tcp", binary.BigEndian.Uint64(number))
				}
			}
		}
	}()
	udp, err := net.ListenPacket("udp", ":7000")
	if err != nil {
		return err
	}
	go func() {
		for number := make([]byte, 8); ; {
			if n, _, err := udp.ReadFrom(number); err == nil && n == 8 {
				fmt.Println("udp", binary.BigEndian.Uint64(number))
			}
		}
	}()
	var tcp net.Conn
	fmt.Println("dials", 0)
	dials := 0
	dial := func() {
		for tcp = nil; tcp == nil; { // the peer may not be there yet
			tcp, _ = net.DialTimeout("tcp", net.JoinHostPort(peer, "7001"), time.Second)
		}
		dials++
		fmt.Println("dials", dials)
	}
	dial()
	to := &net.UDPAddr{IP: net.ParseIP(peer), Port: 7000}
	for i := uint64(1); ; i++ {
		fmt.Println("sends", i)
		number := binary.BigEndian.AppendUint64(nil, i)
		_, _ = udp.WriteTo(number, to) // the peer may be out of reach
		// So few that the socket has room for all that a cut keeps back.
		if i%10 == 0 {
			if _, err := tcp.Write(number); err != nil { // the peer has started again
				dial()
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// talker is a machine that runs talk, and the last numbers that it has said.
type talker struct {
	running               *Running
	sent, udp, tcp, dials atomic.Uint64
	begun                 chan struct{}
}

// bootTalker starts a machine of a lab, which talks to another one.
func bootTalker(t *testing.T, l *Lab, hosts string, number int, peer netip.Addr, own netip.Addr) *talker {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{begun: make(chan struct{})}
	m := Machine{Name: fmt.Sprintf("n%d", number), Number: number, Addrs: []netip.Addr{own}, Hosts: hosts,
		Programs: []Program{{Args: []string{program}, Dir: "/", Env: []string{"ARIADNE_TEST_PEER=" + peer.String()}}}}
	if k.running, err = l.Boot(m, to, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer from.Close()
		for s := bufio.NewScanner(from); s.Scan(); {
			var what string
			var n uint64
			if _, err := fmt.Sscan(s.Text(), &what, &n); err != nil {
				t.Errorf("n%d: %s", number, s.Text())
				return
			}
			if what == "dials" && n == 0 {
				close(k.begun)
			}
			map[string]*atomic.Uint64{"sends": &k.sent, "udp": &k.udp, "tcp": &k.tcp, "dials": &k.dials}[what].Store(n)
		}
	}()
	return k
}

// has reports whether a lab's network has a link.
func (l *Lab) has(link string) bool {
	return l.run(func() error {
		_, err := net.InterfaceByName(link)
		return err
	}) == nil
}

// waitUntil waits until a number is greater than another one.
func waitUntil(t *testing.T, what string, number *atomic.Uint64, than uint64) {
	t.Helper()
	for began := time.Now(); number.Load() <= than; time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%s: %d after 30 s, want more than %d", what, number.Load(), than)
		}
	}
}

// TestCut: a machine that is cut off gets nothing, and nothing of it arrives, also after it has
// started again. Connections go on when it is joined.
func TestCut(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a network for machines needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("machines need the command ip")
	}
	l, err := NewLab(true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := Hosts(hosts, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"10.0.0.%d", "fd00::%d"} {
		addr := func(n int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf(version, n)) }
		boot := func(n, peer int) *talker { return bootTalker(t, l, hosts, n, addr(peer), addr(n)) }
		a, b := boot(1, 2), boot(2, 1)
		for _, k := range []*talker{a, b} {
			waitUntil(t, "first udp", &k.udp, 10)
			waitUntil(t, "first tcp", &k.tcp, 10)
		}
		if err := l.Cut(1); err != nil {
			t.Fatal(err)
		}
		// Datagrams that were sent before may be on their way to the lines of their receivers.
		fromA, fromB := a.sent.Load()+3, b.sent.Load()+3
		waitUntil(t, "n1 sends", &a.sent, fromA+100)
		waitUntil(t, "n2 sends", &b.sent, fromB+100)
		for what, n := range map[string]uint64{"n1 udp": a.udp.Load() - min(a.udp.Load(), fromB),
			"n1 tcp": a.tcp.Load() - min(a.tcp.Load(), fromB), "n2 udp": b.udp.Load() - min(b.udp.Load(), fromA),
			"n2 tcp": b.tcp.Load() - min(b.tcp.Load(), fromA)} {
			if n > 0 {
				t.Errorf("%s: %d have come after the cut", what, n)
			}
		}
		fromA, fromB = a.sent.Load(), b.sent.Load()
		if err := l.Join(1); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "n1 udp", &a.udp, fromB)
		waitUntil(t, "n2 udp", &b.udp, fromA)
		waitUntil(t, "n1 tcp", &a.tcp, fromB)
		waitUntil(t, "n2 tcp", &b.tcp, fromA)
		if a.dials.Load() != 1 || b.dials.Load() != 1 {
			t.Error("a connection was lost in a cut of half a second")
		}

		if err := l.Cut(1); err != nil {
			t.Fatal(err)
		}
		a.running.End()
		before := l.link[1]
		a = boot(1, 2)
		<-a.begun
		if l.has(before) {
			t.Error("a machine that has started again has its old link, too")
		}
		time.Sleep(300 * time.Millisecond)
		if a.sent.Load() > 0 {
			t.Error("a machine that has started again is not cut off any more")
		}
		if err := l.Join(1); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "n1 sends", &a.sent, 10)
		if err := l.Cut(1); err != nil {
			t.Fatal(err)
		}
		a.running.End()
		b.running.End()
		// As Linux does by and by.
		if err := l.run(func() error { return l.remove(1) }); err != nil {
			t.Error(err)
		}
		if err := l.Join(1); err != nil {
			t.Errorf("a machine that has ended is joined: %v", err)
		}
	}
}
