package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"

	"golang.org/x/sys/unix"
)

var le = binary.LittleEndian

// both is a socket of ours and one of Linux's.
type both struct {
	by    *kernel.Thread
	ours  *Socket
	linux int
}

func newBoth(t *testing.T, protocol int) *both {
	n := kerneltest.Network(1)[0]
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		t.Skipf("no netlink here: %v", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &both{kerneltest.Caller(n), New(n, unix.SOCK_RAW, protocol), fd}
}

func errno(err error) (e kernel.Errno) {
	errors.As(err, &e)
	return e
}

// answers are what each of them has to say to a request.
func (b *both) answers(t *testing.T, request []byte) (ours, linux []string) {
	t.Helper()
	n, e := b.ours.Send(b.by, &socket.OutMsg{Data: request, To: sockaddrNl(0)})
	m, err := unix.SendmsgN(b.linux, request, nil, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}, 0)
	if n != max(m, 0) || e != errno(err) {
		t.Errorf("send % x: %d, %v; Linux: %d, %v", request, n, e, m, err)
	}
	for {
		m := &socket.InMsg{Max: 1 << 16, NoWait: true}
		if e := b.ours.Recv(b.by, m); e != 0 {
			break
		}
		ours = append(ours, said(m.Data, b.ours.port)...)
	}
	port, err := unix.Getsockname(b.linux)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<16)
	for {
		n, _, _, _, err := unix.Recvmsg(b.linux, buf, nil, 0)
		if err != nil {
			return ours, linux
		}
		linux = append(linux, said(buf[:n], port.(*unix.SockaddrNetlink).Pid)...)
	}
}

// compared are the attributes of which Linux says the same of any machine's loopback interface.
var compared = map[uint16][]uint16{
	unix.RTM_NEWLINK: {unix.IFLA_IFNAME, unix.IFLA_TXQLEN, unix.IFLA_OPERSTATE, unix.IFLA_LINKMODE, unix.IFLA_MTU,
		unix.IFLA_QDISC, unix.IFLA_ADDRESS, unix.IFLA_BROADCAST},
	unix.RTM_NEWADDR: {unix.IFA_ADDRESS, unix.IFA_LOCAL, unix.IFA_BROADCAST, unix.IFA_LABEL, unix.IFA_FLAGS},
}

// said are the messages in a datagram, in words. Of interfaces and addresses those of the loopback
// interface are there, of routes none: the machines have different ones.
func said(b []byte, port uint32) (all []string) {
	for len(b) >= sizeofNlHdr {
		n := int(le.Uint32(b))
		typ, body := le.Uint16(b[4:]), b[sizeofNlHdr:n]
		what := fmt.Sprintf("type %d, flags %#x, sequence %d, to its port %v", typ, le.Uint16(b[6:]), le.Uint32(b[8:]),
			le.Uint32(b[12:]) == port)
		switch typ {
		case unix.NLMSG_ERROR, unix.NLMSG_DONE:
			what += fmt.Sprintf(": %x", body)
		case unix.RTM_NEWLINK:
			what += fmt.Sprintf(": %x%s", body[:12], attributes(body[unix.SizeofIfInfomsg:], compared[typ]))
		case unix.RTM_NEWADDR:
			what += fmt.Sprintf(": %x%s", body[:8], attributes(body[unix.SizeofIfAddrmsg:], compared[typ]))
		}
		if typ < unix.NLMSG_MIN_TYPE || typ == unix.RTM_NEWLINK && le.Uint32(body[4:]) == iface.Lo ||
			typ == unix.RTM_NEWADDR && le.Uint32(body[4:]) == iface.Lo {
			all = append(all, what)
		}
		b = b[min(len(b), align(n)):]
	}
	return all
}

// attributes are some of those in a message, in order of their numbers.
func attributes(b []byte, which []uint16) string {
	values := map[uint16][]byte{}
	for len(b) >= 4 {
		n := int(le.Uint16(b))
		values[le.Uint16(b[2:])] = b[4:n]
		b = b[min(len(b), align(n)):]
	}
	which = slices.Sorted(slices.Values(which))
	text := ""
	for _, typ := range which {
		if v, ok := values[typ]; ok {
			text += fmt.Sprintf(" %d=%x", typ, v)
		}
	}
	return text
}

// request is a message of a type, with flags, a sequence number and a body.
func request(typ, flags uint16, sequence uint32, body []byte) []byte {
	b := message(typ, body)
	le.PutUint16(b[6:], flags)
	le.PutUint32(b[8:], sequence)
	return b
}

// linkBody is the body of RTM_GETLINK by an interface's index or, unless it is "", its name.
func linkBody(index int, name string) []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	le.PutUint32(b[4:], uint32(index))
	if name != "" {
		b = attr(b, unix.IFLA_IFNAME, []byte(name+"\x00"))
	}
	return b
}

// TestLikeLinux: random requests are answered as Linux answers them, as far as they are about what
// is the same on each machine: the loopback interface, and what is wrong with a request.
func TestLikeLinux(t *testing.T) {
	requests := []struct {
		name string
		typ  uint16
		body []byte
		dump bool // whether it may be asked for all
		one  bool // whether it may be asked for one
	}{
		{"link by index", unix.RTM_GETLINK, linkBody(iface.Lo, ""), true, true},
		{"link by name", unix.RTM_GETLINK, linkBody(0, "lo"), true, true},
		{"no such index", unix.RTM_GETLINK, linkBody(99999, ""), false, true},
		{"no such name", unix.RTM_GETLINK, linkBody(0, "none0"), true, true},
		{"by another name", unix.RTM_GETLINK, attr(linkBody(0, ""), unix.IFLA_ALT_IFNAME, []byte("lo\x00")), true,
			true},
		{"neither index nor name", unix.RTM_GETLINK, linkBody(0, ""), true, true},
		{"short body", unix.RTM_GETLINK, make([]byte, 5), true, true},
		{"no body", unix.RTM_GETLINK, nil, false, true},
		{"IPv4 addresses", unix.RTM_GETADDR, []byte{unix.AF_INET, 0, 0, 0, 0, 0, 0, 0}, true, false},
		{"routes", unix.RTM_GETROUTE, append([]byte{unix.AF_INET}, make([]byte, 11)...), true, false},
		{"neighbours", unix.RTM_GETNEIGH, append([]byte{unix.AF_INET}, make([]byte, 11)...), true, false},
		{"links of packet sockets", unix.RTM_GETLINK, append([]byte{unix.AF_PACKET}, linkBody(0, "")[1:]...), true,
			false},
		{"addresses of packet sockets", unix.RTM_GETADDR, []byte{unix.AF_PACKET, 0, 0, 0, 0, 0, 0, 0}, true, false},
		{"addresses of local sockets", unix.RTM_GETADDR, []byte{unix.AF_UNIX, 0, 0, 0, 0, 0, 0, 0}, true, false},
		{"addresses of no family", unix.RTM_GETADDR, []byte{200, 0, 0, 0, 0, 0, 0, 0}, true, false},
		{"routes of packet sockets", unix.RTM_GETROUTE, append([]byte{unix.AF_PACKET}, make([]byte, 11)...), true,
			false},
		{"no operation", unix.NLMSG_NOOP, linkBody(iface.Lo, ""), true, true},
		{"control", 8, linkBody(iface.Lo, ""), false, true},
	}
	b := newBoth(t, unix.NETLINK_ROUTE)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		var datagram []byte
		var log []string
		for range 1 + r.IntN(3) {
			q := requests[r.IntN(len(requests))]
			var flags uint16
			if r.IntN(8) > 0 {
				flags |= unix.NLM_F_REQUEST
			}
			if r.IntN(3) == 0 {
				flags |= unix.NLM_F_ACK
			}
			if q.dump && (!q.one || r.IntN(2) == 0) {
				flags |= unix.NLM_F_DUMP
			}
			log = append(log, fmt.Sprintf("%s, flags %#x", q.name, flags))
			datagram = append(datagram, request(q.typ, flags, uint32(i), q.body)...)
			if flags&unix.NLM_F_DUMP != 0 {
				break // Linux refuses the next one while a dump is under way
			}
		}
		switch r.IntN(20) {
		case 0:
			datagram = datagram[:r.IntN(len(datagram))]
			log = append(log, fmt.Sprintf("cut off at %d", len(datagram)))
		case 1:
			le.PutUint32(datagram, uint32(r.IntN(40)))
			log = append(log, fmt.Sprintf("length %d", le.Uint32(datagram)))
		}
		ours, linux := b.answers(t, datagram)
		if !slices.Equal(ours, linux) {
			t.Fatalf("request %d: %q: % x\nanswered %q\nLinux:   %q", i, log, datagram, ours, linux)
		}
	}
}
