package sys_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// sendTo sends a datagram.
func (u *user) sendTo(fd uint64, s, to string) {
	u.Helper()
	u.m.Poke(dataAt, []byte(s))
	at, n := u.sockaddr(to)
	u.call(int64(len(s)), unix.SYS_SENDTO, fd, dataAt, uint64(len(s)), 0, at, n)
}

// readFrom receives a datagram and its sender.
func (u *user) readFrom(fd uint64, max, flags int) string {
	u.Helper()
	u.m.Poke(sizeAt, intBytes(128))
	n := u.d.Must(u.t, unix.SYS_RECVFROM, fd, dataAt, uint64(max), uint64(flags), addrAt, sizeAt)
	if n < 0 {
		return kernel.Errno(-n).Error()
	}
	return fmt.Sprintf("%d %q %s", n, u.m.Peek(dataAt, min(int(n), max)), u.address())
}

func TestUDPBetweenNodes(t *testing.T) {
	w := newNetwork(t, 2)
	a, b := w.user(0), w.user(1)
	s := b.socket(unix.AF_INET6, unix.SOCK_DGRAM)
	b.bind(s, "[::]:53")
	c := a.socket(unix.AF_INET, unix.SOCK_DGRAM)
	a.sendTo(c, "one", "10.0.0.2:53")
	a.sendTo(c, "", "10.0.0.2:53")
	a.sendTo(c, "three", "10.0.0.2:53")
	w.settle()
	b.wantReady(s, readable_|writable_|kernel.WrBand)
	for _, want := range []string{`3 "one" [::ffff:10.0.0.1]:32768`, `0 "" [::ffff:10.0.0.1]:32768`} {
		if got := b.readFrom(s, 100, 0); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got, want := b.readFrom(s, 2, unix.MSG_PEEK|unix.MSG_TRUNC), `5 "th" [::ffff:10.0.0.1]:32768`; got != want {
		t.Errorf("peek: got %s, want %s", got, want)
	}
	if got, want := b.readFrom(s, 2, 0), `2 "th" [::ffff:10.0.0.1]:32768`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := b.readFrom(s, 2, unix.MSG_DONTWAIT); got != unix.EAGAIN.Error() {
		t.Errorf("got %s", got)
	}
	b.sendTo(s, "back", "[::ffff:10.0.0.1]:32768")
	w.settle()
	if got, want := a.readFrom(c, 100, 0), `4 "back" 10.0.0.2:53`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(w.sent) != 4 || w.sent[2].Seq != 3 || w.sent[0].Flow.Proto != ariadne.UDP {
		t.Errorf("sent %+v", w.sent)
	}
}

func TestUDPPortUnreachable(t *testing.T) {
	for _, peer := range []string{"127.0.0.1:9", "10.0.0.2:9"} {
		w := newNetwork(t, 2)
		a := w.user(0)
		c := a.socket(unix.AF_INET, unix.SOCK_DGRAM)
		at, n := a.sockaddr(peer)
		a.call(0, unix.SYS_CONNECT, c, at, n)
		a.write(c, "x")
		w.settle()
		a.wantReady(c, writable_|kernel.WrBand|kernel.Err)
		a.wantRead(c, unix.ECONNREFUSED.Error())
		a.wantRead(c, unix.EAGAIN.Error())
		d := a.socket(unix.AF_INET, unix.SOCK_DGRAM)
		a.sendTo(d, "x", peer)
		w.settle()
		a.wantRead(d, unix.EAGAIN.Error())
	}
}

func TestUDPConnectedTakesItsPeerOnly(t *testing.T) {
	w := newNetwork(t, 1)
	u := w.user(0)
	x, y, z := u.socket(unix.AF_INET, unix.SOCK_DGRAM), u.socket(unix.AF_INET, unix.SOCK_DGRAM),
		u.socket(unix.AF_INET, unix.SOCK_DGRAM)
	u.bind(x, "127.0.0.1:1000")
	u.bind(y, "127.0.0.1:2000")
	u.bind(z, "127.0.0.1:3000")
	at, n := u.sockaddr("127.0.0.1:2000")
	u.call(0, unix.SYS_CONNECT, x, at, n)
	u.sendTo(z, "stranger", "127.0.0.1:1000")
	u.sendTo(y, "friend", "127.0.0.1:1000")
	u.wantRead(x, "friend")
	u.wantRead(x, unix.EAGAIN.Error())
	at, n = u.sockaddr("127.0.0.1:1000")
	u.fails(unix.EADDRINUSE, unix.SYS_BIND, u.socket(unix.AF_INET, unix.SOCK_DGRAM), at, n)
}

func TestUDPBroadcastAndMulticast(t *testing.T) {
	w := newNetwork(t, 3)
	u, member, other := w.user(0), w.user(1), w.user(2)
	s := u.socket(unix.AF_INET, unix.SOCK_DGRAM)
	x, y := member.socket(unix.AF_INET, unix.SOCK_DGRAM), other.socket(unix.AF_INET, unix.SOCK_DGRAM)
	member.bind(x, "0.0.0.0:9")
	other.bind(y, "0.0.0.0:9")
	for _, to := range []string{"255.255.255.255:9", "10.0.0.255:9"} {
		at, n := u.sockaddr(to)
		u.set(s, unix.SOL_SOCKET, unix.SO_BROADCAST, 0)
		u.fails(unix.EACCES, unix.SYS_SENDTO, s, dataAt, 1, 0, at, n)
		u.set(s, unix.SOL_SOCKET, unix.SO_BROADCAST, 1)
		u.sendTo(s, to, to)
		w.settle()
		member.wantRead(x, to)
		other.wantRead(y, to)
	}
	group := []byte{239, 0, 0, 7, 0, 0, 0, 0}
	member.m.Poke(valueAt, group)
	member.call(0, unix.SYS_SETSOCKOPT, x, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, valueAt, 8)
	u.sendTo(s, "joined", "239.0.0.7:9")
	u.sendTo(s, "all hosts", "224.0.0.1:9")
	u.set(s, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, 0)
	u.sendTo(s, "within", "239.0.0.7:9")
	w.settle()
	member.wantRead(x, "joined")
	member.wantRead(x, "all hosts")
	member.wantRead(x, unix.EAGAIN.Error())
	other.wantRead(y, "all hosts")
	other.wantRead(y, unix.EAGAIN.Error())
	member.call(0, unix.SYS_CLOSE, x)
	x = member.socket(unix.AF_INET, unix.SOCK_DGRAM)
	member.bind(x, "0.0.0.0:9")
	u.set(s, unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, 1)
	u.sendTo(s, "left", "239.0.0.7:9")
	w.settle()
	member.wantRead(x, unix.EAGAIN.Error())
}

// dump asks a netlink socket for everything of one kind, as glibc does, and
// returns each message's type and body.
func (u *user) dump(typ uint16, family byte) (types []uint16, bodies [][]byte) {
	u.Helper()
	s := u.fd(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	req := make([]byte, 20)
	le.PutUint32(req, 20)
	le.PutUint16(req[4:], typ)
	le.PutUint16(req[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	le.PutUint32(req[8:], 77)
	req[16] = family
	u.m.Poke(dataAt, req)
	u.call(20, unix.SYS_SENDTO, s, dataAt, 20, 0, 0, 0)
	defer u.call(0, unix.SYS_CLOSE, s)
	for {
		b := []byte(u.read(s, 0))
		for len(b) > 0 {
			n := int(le.Uint32(b))
			typ := le.Uint16(b[4:])
			if le.Uint32(b[8:]) != 77 || int(le.Uint32(b[12:])) != u.t.Proc.PID {
				u.Fatalf("header % x", b[:16])
			}
			if typ == unix.NLMSG_DONE {
				return
			}
			types, bodies = append(types, typ), append(bodies, b[16:n])
			b = b[(n+3)&^3:]
		}
	}
}

// attribute finds a routing attribute.
func attribute(b []byte, typ uint16) string {
	for len(b) >= 4 {
		n := int(le.Uint16(b))
		if le.Uint16(b[2:]) == typ {
			return string(b[4:n])
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return ""
}

func TestNetlinkDumps(t *testing.T) {
	w := newNetwork(t, 2)
	u := w.user(1)
	_, links := u.dump(unix.RTM_GETLINK, 0)
	var names []string
	for _, b := range links {
		names = append(names, strings.TrimRight(attribute(b[16:], unix.IFLA_IFNAME), "\x00"))
	}
	if fmt.Sprint(names) != "[lo eth0]" {
		t.Errorf("links %v", names)
	}
	if mac := attribute(links[1][16:], unix.IFLA_ADDRESS); mac != "\x02\x00\x00\x00\x00\x02" {
		t.Errorf("mac %q", mac)
	}
	_, addrs := u.dump(unix.RTM_GETADDR, 0)
	var got []string
	for _, b := range addrs {
		got = append(got, fmt.Sprintf("%d %x/%d", le.Uint32(b[4:]), attribute(b[8:], unix.IFA_ADDRESS), b[1]))
	}
	want := "[1 7f000001/8 2 0a000002/24 1 00000000000000000000000000000001/128 2 fd000000000000000000000000000002/64 2 fe80000000000000000000fffe000002/64]"
	if fmt.Sprint(got) != want {
		t.Errorf("addresses %v, want %s", got, want)
	}
	if _, v4 := u.dump(unix.RTM_GETADDR, unix.AF_INET); len(v4) != 2 {
		t.Errorf("%d IPv4 addresses", len(v4))
	}
	if _, routes := u.dump(unix.RTM_GETROUTE, unix.AF_INET); len(routes) != 1 ||
		attribute(routes[0][12:], unix.RTA_DST) != "\x0a\x00\x00\x00" {
		t.Errorf("routes %q", routes)
	}
	if types, _ := u.dump(unix.RTM_GETNEIGH, 0); types != nil {
		t.Errorf("neighbours %v", types)
	}
}

func TestInterfaceIoctls(t *testing.T) {
	w := newNetwork(t, 2)
	u := w.user(1)
	s := u.socket(unix.AF_INET, unix.SOCK_DGRAM)
	ask := func(cmd uint64) []byte {
		u.m.Poke(dataAt, append([]byte("eth0"), make([]byte, 36)...))
		u.call(0, unix.SYS_IOCTL, s, cmd, dataAt)
		return u.m.Peek(dataAt+16, 24)
	}
	if b := ask(unix.SIOCGIFADDR); string(b[4:8]) != "\x0a\x00\x00\x02" {
		t.Errorf("address % x", b)
	}
	if b := ask(unix.SIOCGIFNETMASK); string(b[4:8]) != "\xff\xff\xff\x00" {
		t.Errorf("mask % x", b)
	}
	if b := ask(unix.SIOCGIFINDEX); b[0] != 2 {
		t.Errorf("index % x", b)
	}
	u.m.Poke(valueAt, append(intBytes(400), 0, 0, 0, 0))
	u.m.Poke(valueAt+8, le.AppendUint64(nil, dataAt))
	u.call(0, unix.SYS_IOCTL, s, unix.SIOCGIFCONF, valueAt)
	if n := le.Uint32(u.m.Peek(valueAt, 4)); n != 80 {
		t.Errorf("SIOCGIFCONF gave %d bytes", n)
	}
}
