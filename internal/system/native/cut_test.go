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
	"strings"
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

// newTestLab is a lab for machines, and what they see as /etc/hosts.
func newTestLab(t *testing.T) (l *Lab, hosts string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a network for machines needs root")
	}
	for _, name := range []string{"ip", "tc"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("machines need the commands ip and tc")
		}
	}
	l, err := NewLab(true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	hosts = filepath.Join(t.TempDir(), "hosts")
	if err := Hosts(hosts, nil, nil); err != nil {
		t.Fatal(err)
	}
	return l, hosts
}

// come are the numbers of each kind that have come from another machine after one that it has sent.
func (k *talker) come(after uint64) (udp, tcp uint64) {
	return k.udp.Load() - min(k.udp.Load(), after), k.tcp.Load() - min(k.tcp.Load(), after)
}

// TestCut: packets are lost on the ways of a cut and on no others, also to and from a machine that
// has started again. Connections go on when the machines are joined. A way is lost until all cuts
// with it have ended.
func TestCut(t *testing.T) {
	l, hosts := newTestLab(t)
	there, back := []Way{{1, 2}}, []Way{{2, 1}}
	both := append(there, back...)
	for _, version := range []string{"10.0.0.%d", "fd00::%d"} {
		addr := func(n int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf(version, n)) }
		boot := func(n, peer int) *talker { return bootTalker(t, l, hosts, n, addr(peer), addr(n)) }
		cut := func(change func([]Way) error, ways []Way) {
			t.Helper()
			if err := change(ways); err != nil {
				t.Fatal(err)
			}
		}
		a, b := boot(1, 2), boot(2, 1)
		for _, k := range []*talker{a, b} {
			waitUntil(t, "first udp", &k.udp, 10)
			waitUntil(t, "first tcp", &k.tcp, 10)
		}
		// flows checks on which ways datagrams come.
		flows := func(toA, toB bool) {
			t.Helper()
			// Datagrams that were sent before may be on their way to the lines of their receivers.
			fromA, fromB := a.sent.Load()+3, b.sent.Load()+3
			waitUntil(t, "n1 sends", &a.sent, fromA+100)
			waitUntil(t, "n2 sends", &b.sent, fromB+100)
			for _, end := range []struct {
				name string
				*talker
				after uint64
				flows bool
			}{{"n1", a, fromB, toA}, {"n2", b, fromA, toB}} {
				udp, tcp := end.come(end.after)
				switch {
				case !end.flows && udp+tcp > 0:
					t.Errorf("%s: %s: %d by udp and %d by tcp have come through a cut", version, end.name, udp, tcp)
				case end.flows && udp < 80:
					t.Errorf("%s: %s: %d datagrams have come, of 100 that were sent", version, end.name, udp)
				}
			}
		}
		flows(true, true)
		cut(l.Cut, both)
		flows(false, false)
		cut(l.Join, there)
		flows(false, true)
		cut(l.Cut, there)
		cut(l.Join, back)
		flows(true, false)
		cut(l.Cut, both)
		cut(l.Join, both)
		flows(true, false) // as long as the other cut lasts
		fromA, fromB := a.sent.Load(), b.sent.Load()
		cut(l.Join, there)
		flows(true, true)
		waitUntil(t, "n1 tcp", &a.tcp, fromB)
		waitUntil(t, "n2 tcp", &b.tcp, fromA)
		if a.dials.Load() != 1 || b.dials.Load() != 1 {
			t.Error("a connection was lost in a cut of two seconds")
		}

		cut(l.Cut, both)
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
		cut(l.Join, both)
		waitUntil(t, "n1 sends", &a.sent, 10)
		cut(l.Cut, both)
		a.running.End()
		b.running.End()
		// As Linux does by and by.
		if err := l.run(func() error { return l.remove(1) }); err != nil {
			t.Error(err)
		}
		if err := l.Join(both); err != nil {
			t.Errorf("a machine that has ended is joined: %v", err)
		}
	}
}

// TestLongCut: in a cut in one direction packets of the other one still come when machines ask for
// hardware addresses again, as they do after some seconds.
func TestLongCut(t *testing.T) {
	l, hosts := newTestLab(t)
	for _, version := range []string{"10.0.0.%d", "fd00::%d"} {
		addr := func(n int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf(version, n)) }
		a := bootTalker(t, l, hosts, 1, addr(2), addr(1))
		b := bootTalker(t, l, hosts, 2, addr(1), addr(2))
		waitUntil(t, "n1 sends", &a.sent, 10)
		waitUntil(t, "n2 sends", &b.sent, 10)
		if err := l.Cut([]Way{{1, 2}}); err != nil {
			t.Fatal(err)
		}
		pid := fmt.Sprint(b.running.cmd.Process.Pid)
		if out, err := exec.Command("nsenter", "-n", "-t", pid, "ip", "neigh", "flush", "dev",
			"eth0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		was := a.udp.Load()
		waitUntil(t, "n1 udp", &a.udp, was+100)
		if err := l.Join([]Way{{1, 2}}); err != nil {
			t.Fatal(err)
		}
		a.running.End()
		b.running.End()
	}
}

// TestDropFrom: the program has a place for as many machines as a spec has nodes.
func TestDropFrom(t *testing.T) {
	l, hosts := newTestLab(t)
	addr := netip.MustParseAddr("10.0.0.1")
	a := bootTalker(t, l, hosts, 1, addr, addr)
	var ways []Way
	for n := range 250 {
		ways = append(ways, Way{n + 2, 1})
	}
	if err := l.TryCut(); err != nil {
		t.Error(err)
	}
	if err := l.Cut(ways); err != nil {
		t.Error(err)
	}
	if err := l.Join(ways); err != nil {
		t.Error(err)
	}
	if err := l.run(func() error {
		out, err := exec.Command("tc", "qdisc", "show", "dev", l.link[1]).Output()
		if strings.Contains(string(out), "clsact") {
			t.Errorf("a filter is left: %s", out)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	a.running.End()
}
