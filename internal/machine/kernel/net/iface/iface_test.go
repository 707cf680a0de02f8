package iface

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

// questions are the ioctls about one interface.
var questions = map[string]uint64{
	"SIOCGIFNAME": unix.SIOCGIFNAME, "SIOCGIFFLAGS": unix.SIOCGIFFLAGS, "SIOCGIFADDR": unix.SIOCGIFADDR,
	"SIOCGIFDSTADDR": unix.SIOCGIFDSTADDR, "SIOCGIFBRDADDR": unix.SIOCGIFBRDADDR, "SIOCGIFNETMASK": unix.SIOCGIFNETMASK,
	"SIOCGIFMETRIC": unix.SIOCGIFMETRIC, "SIOCGIFMTU": unix.SIOCGIFMTU, "SIOCGIFHWADDR": unix.SIOCGIFHWADDR,
	"SIOCGIFINDEX": unix.SIOCGIFINDEX, "SIOCGIFTXQLEN": unix.SIOCGIFTXQLEN, "SIOCGIFMAP": unix.SIOCGIFMAP,
}

// TestLoopbackLikeLinux: the ioctls about lo, and about an interface that is not there, answer what
// Linux answers, byte by byte.
func TestLoopbackLikeLinux(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil || lo.Flags&net.FlagUp == 0 || lo.Index != Lo || lo.MTU != 65536 {
		t.Skipf("lo of this machine is set up in another way: %+v, %v", lo, err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	th := kerneltest.Caller(kerneltest.Network(1)[0])
	s := socket.New(th.Node(), unix.AF_INET, unix.SOCK_DGRAM, 0)
	const addr = kerneltest.Base
	for name, cmd := range questions {
		for _, link := range []string{"lo", "nosuch", ""} {
			req := make([]byte, sizeofIfreq)
			copy(req, link)
			if cmd == unix.SIOCGIFNAME {
				binary.LittleEndian.PutUint32(req[ifNameSize:], map[string]uint32{"lo": Lo, "nosuch": 99}[link])
			}
			m := th.M.(*kerneltest.Tracee)
			m.Poke(addr, req)
			_, e := Ioctl(&s, th, cmd, addr)
			_, _, real := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(cmd), uintptr(unsafe.Pointer(&req[0])))
			if e != real {
				t.Errorf("%s of %q: %v, Linux %v", name, link, e, real)
			} else if got := m.Peek(addr, sizeofIfreq); e == 0 && !slices.Equal(got, req) {
				t.Errorf("%s of %q: % x, Linux % x", name, link, got, req)
			}
		}
	}
	const unknown = 0x4242
	_, e := Ioctl(&s, th, unknown, addr)
	if _, _, real := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unknown, 0); e != real {
		t.Errorf("an ioctl that nobody knows: %v, Linux %v", e, real)
	}
}

// TestList: SIOCGIFCONF gives as many whole entries as there is room for, and without a buffer says
// how much room they take.
func TestList(t *testing.T) {
	th := kerneltest.Caller(kerneltest.Network(1)[0])
	s := socket.New(th.Node(), unix.AF_INET, unix.SOCK_DGRAM, 0)
	m := th.M.(*kerneltest.Tracee)
	const conf, buf = kerneltest.Base, kerneltest.Base + 0x100
	for _, c := range []struct {
		room int
		buf  uint64
		want string
	}{
		{0, 0, "80"}, {sizeofIfreq - 1, buf, "0"}, {sizeofIfreq, buf, "40 lo:127.0.0.1"},
		{1000, buf, "80 lo:127.0.0.1 eth0:10.0.0.1"}, {-1, buf, "0"},
	} {
		m.Poke(conf,
			binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(uint32(c.room))), c.buf))
		if _, e := Ioctl(&s, th, unix.SIOCGIFCONF, conf); e != 0 {
			t.Fatal(e)
		}
		size := int(binary.LittleEndian.Uint32(m.Peek(conf, 4)))
		got := fmt.Sprint(size)
		for i := 0; c.buf != 0 && i < size; i += sizeofIfreq {
			req := m.Peek(buf+uint64(i), sizeofIfreq)
			a, e := InetAddr(req[ifNameSize:])
			if e != 0 {
				t.Fatal(e)
			}
			got += " " + unix.ByteSliceToString(req[:ifNameSize]) + ":" + a.Addr().String()
		}
		if got != c.want {
			t.Errorf("room for %d bytes: %s, want %s", c.room, got, c.want)
		}
	}
}

// TestInet6TableLikeLinux: the line of lo is that of Linux.
func TestInet6TableLikeLinux(t *testing.T) {
	real, err := os.ReadFile("/proc/net/if_inet6")
	if err != nil {
		t.Skip(err)
	}
	loLine := func(table string) string {
		for line := range strings.Lines(table) {
			if strings.HasSuffix(line, " lo\n") && strings.HasPrefix(line, strings.Repeat("0", 31)+"1 ") {
				return line
			}
		}
		return ""
	}
	want := loLine(string(real))
	if want == "" {
		t.Skip("lo of this machine has no address of IPv6")
	}
	if got := loLine(Inet6Table(kerneltest.Network(1)[0])); got != want {
		t.Errorf("%q, Linux %q", got, want)
	}
}

// TestRouteTable: each line has Linux's width, and the node's network goes by eth0.
func TestRouteTable(t *testing.T) {
	var routes []string
	for line := range strings.Lines(RouteTable(kerneltest.Network(1)[0])) {
		if len(line) != 128 {
			t.Errorf("a line of %d bytes", len(line))
		}
		routes = append(routes, strings.Join(strings.Fields(line)[:8], " "))
	}
	// the addresses as words in the machine's order of bytes: 10.0.0.0, and 255.255.255.0
	if len(routes) != 2 || routes[1] != "eth0 0000000A 00000000 0001 0 0 0 00FFFFFF" {
		t.Errorf("routes %q", routes)
	}
}

// TestSockaddr: an address comes back from the bytes in which a socket shows it, and short or
// foreign ones are refused as Linux does.
func TestSockaddr(t *testing.T) {
	for _, c := range []struct {
		family int
		addr   string
		want   string
	}{
		{unix.AF_INET, "10.0.0.1:80", "10.0.0.1:80"},
		{unix.AF_INET6, "[fd00::1]:80", "[fd00::1]:80"},
		{unix.AF_INET6, "10.0.0.1:80", "10.0.0.1:80"}, // mapped, and back
		{unix.AF_INET6, "[fe80::1]:80", "[fe80::1]:80"},
	} {
		b := InetSockaddr(c.family, netip.MustParseAddrPort(c.addr))
		if got, e := InetAddr(b); e != 0 || got.String() != c.want || SockaddrFamily(b) != c.family {
			t.Errorf("%s: %s, %v, family %d", c.addr, got, e, SockaddrFamily(b))
		}
		wantScope := 0
		if c.addr == "[fe80::1]:80" {
			wantScope = Eth0
		}
		if got := ScopeOf(b); got != wantScope {
			t.Errorf("%s: scope %d", c.addr, got)
		}
	}
	for _, c := range []struct {
		family, size int
		want         kernel.Errno
	}{
		{unix.AF_INET, 1, unix.EINVAL}, {unix.AF_INET, SizeofInet4 - 1, unix.EINVAL}, {unix.AF_INET, SizeofInet4, 0},
		{unix.AF_INET6, MinInet6 - 1, unix.EINVAL}, {unix.AF_INET6, MinInet6, 0}, {unix.AF_UNIX, 28, unix.EAFNOSUPPORT},
	} {
		b := make([]byte, 28)
		b[0] = byte(c.family)
		if _, e := InetAddr(b[:c.size]); e != c.want {
			t.Errorf("%d bytes of family %d: %v, want %v", c.size, c.family, e, c.want)
		}
	}
}

// TestNetworks: masks and broadcast addresses are those that package net computes bit by bit.
func TestNetworks(t *testing.T) {
	for bits := 1; bits <= 32; bits++ {
		p := netip.PrefixFrom(netip.MustParseAddr("10.93.201.77"), bits)
		mask := net.CIDRMask(bits, 32)
		ip := p.Addr().As4()
		for i := range ip {
			ip[i] |= ^mask[i]
		}
		if got := MaskOf(p); got.String() != net.IP(mask).String() {
			t.Errorf("/%d: mask %s", bits, got)
		}
		if got := BroadcastOf(p); got != netip.AddrFrom4(ip) {
			t.Errorf("/%d: broadcast %s, want %s", bits, got, netip.AddrFrom4(ip))
		}
	}
}

// TestWhoIsWho: which addresses are a node's own, a neighbour's, everybody's or nobody's, and from
// which one it sends.
func TestWhoIsWho(t *testing.T) {
	nodes := kerneltest.Network(2)
	n := nodes[0]
	neighbour := LinkLocal(nodes[1].ID)
	for _, c := range []struct{ addr, want string }{
		{"127.0.0.1", "own from 127.0.0.1"},
		{"127.0.0.9", "own from 127.0.0.1"},
		{"::1", "own from ::1"},
		{"10.0.0.1", "own n0 from 10.0.0.1"},
		{"10.0.0.2", "n1 from 10.0.0.1"},
		{"10.0.0.9", "from 10.0.0.1"},
		{"10.0.0.255", "all from 10.0.0.1"},
		{"10.0.1.255", "from 10.0.0.1"},
		{"255.255.255.255", "all from 10.0.0.1"},
		{"127.255.255.255", "own all from 127.0.0.1"},
		{LinkLocal(n.ID).String(), "own n0 from " + LinkLocal(n.ID).String()},
		{neighbour.String(), "n1 from " + LinkLocal(n.ID).String()},
		{"fd00::1", "from invalid IP"},
	} {
		a := netip.MustParseAddr(c.addr)
		var is []string
		if IsOwn(n, a) {
			is = append(is, "own")
		}
		if id, ok := Owner(n, a); ok {
			is = append(is, n.Hosts[id].Name)
		}
		if IsBroadcast(n, a) {
			is = append(is, "all")
		}
		is = append(is, "from "+SourceFor(n, a).String())
		if got := strings.Join(is, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.addr, got, c.want)
		}
	}
	// On another network an address of the link alone is nobody's.
	far := kerneltest.Network(2)
	for i := range far[0].Hosts {
		far[0].Hosts[i].Addrs = []netip.Addr{netip.AddrFrom4([4]byte{10, 0, byte(i), 1})}
	}
	far[0].Addrs = far[0].Hosts[0].Addrs
	if id, ok := Owner(far[0], neighbour); ok {
		t.Errorf("node %d is reached over a link that it is not on", id)
	}
}
