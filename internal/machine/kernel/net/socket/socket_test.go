package socket

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// families are the kinds of sockets whose options are compared with Linux.
var families = map[string][3]int{
	"TCP":              {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP},
	"TCP over IPv6":    {unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP},
	"UDP":              {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDP},
	"UDP over IPv6":    {unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP},
	"Unix stream":      {unix.AF_UNIX, unix.SOCK_STREAM, 0},
	"Unix datagrams":   {unix.AF_UNIX, unix.SOCK_DGRAM, 0},
	"Unix sequenced":   {unix.AF_UNIX, unix.SOCK_SEQPACKET, 0},
	"netlink datagram": {unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_ROUTE},
}

// elsewhere are options whose answers hang on the machine or on who asks, or that other packages
// answer: they are left out of the comparison with Linux.
var elsewhere = map[optKey]string{
	{unix.SOL_SOCKET, unix.SO_DEBUG}:             "only who administers the network sets it",
	{unix.SOL_SOCKET, unix.SO_MARK}:              "likewise",
	{unix.SOL_SOCKET, unix.SO_RCVMARK}:           "likewise",
	{unix.SOL_SOCKET, unix.SO_PRIORITY}:          "likewise, from 7 on",
	{unix.SOL_SOCKET, unix.SO_BUSY_POLL}:         "likewise, to raise it",
	{unix.SOL_SOCKET, unix.SO_PREFER_BUSY_POLL}:  "likewise",
	{unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX}:     "there must be such an interface",
	{unix.IPPROTO_IP, unix.IP_TRANSPARENT}:       "only who administers the network sets it",
	{unix.IPPROTO_IPV6, unix.IPV6_TRANSPARENT}:   "likewise",
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF}:  "there must be such an interface",
	{unix.SOL_SOCKET, unix.SO_SNDBUF}:            "net.core.wmem_max is the machine's",
	{unix.SOL_SOCKET, unix.SO_RCVBUF}:            "likewise",
	{unix.SOL_SOCKET, unix.SO_RCVLOWAT}:          "net.ipv4.tcp_rmem is the machine's",
	{unix.SOL_SOCKET, unix.SO_INCOMING_CPU}:      "-1 before anything has arrived, and here 0 at all times",
	{unix.IPPROTO_TCP, unix.TCP_FASTOPEN}:        "net.core.somaxconn is the machine's",
	{unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP}:    "hangs on the buffer",
	{unix.IPPROTO_TCP, unix.TCP_MAXSEG}:          "sys answers what is not set",
	{unix.IPPROTO_TCP, unix.TCP_TX_DELAY}:        "loads a scheduler of packets",
	{unix.IPPROTO_IPV6, unix.IPV6_AUTOFLOWLABEL}: "a setting of the machine",
}

// TestOptionsLikeLinux sets each option of each kind of socket to values at and beyond its bounds.
// The error, and what is read back, are Linux's.
func TestOptionsLikeLinux(t *testing.T) {
	n := kerneltest.Network(1)[0]
	compared := 0
	for _, family := range slices.Sorted(maps.Keys(families)) {
		f := families[family]
		for _, k := range slices.SortedFunc(maps.Keys(intOptions), func(a, b optKey) int {
			return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.name, b.name))
		}) {
			if elsewhere[k] != "" {
				continue
			}
			ours := New(n, f[0], f[1], f[2])
			fd, err := unix.Socket(f[0], f[1]|unix.SOCK_CLOEXEC, f[2])
			if err != nil {
				t.Fatal(err)
			}
			if !ours.HasIntOption(k.level, k.name) {
				unix.Close(fd)
				continue // which options other families answer is for who has the call
			}
			v, e := ours.IntOption(k.level, k.name)
			got := fmt.Sprint("fresh: ", v, " ", e)
			want := "fresh: " + getLinux(fd, k)
			for _, set := range []int{0, 1, 2, 3, 5, -1, 64, 255, 256, 300, math.MaxInt32, math.MinInt32, 0} {
				a := ours.SetIntOption(k.level, k.name, set)
				b := setLinux(fd, k, set)
				v, e := ours.IntOption(k.level, k.name)
				got += fmt.Sprintf("; %d: %s %d %v", set, unix.ErrnoName(a), v, e)
				want += fmt.Sprintf("; %d: %s %s", set, unix.ErrnoName(b), getLinux(fd, k))
				compared++
			}
			if got != want {
				t.Errorf("%s, option %d of level %d:\n%s\nLinux:\n%s", family, k.name, k.level, got, want)
			}
			unix.Close(fd)
		}
	}
	if compared < 3000 {
		t.Errorf("only %d settings were compared", compared)
	}
}

func setLinux(fd int, k optKey, v int) unix.Errno {
	value := int32(v)
	_, _, e := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(k.level), uintptr(k.name),
		uintptr(unsafe.Pointer(&value)), 4, 0)
	return e
}

func getLinux(fd int, k optKey) string {
	value, size := int32(0), int32(4)
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(k.level), uintptr(k.name),
		uintptr(unsafe.Pointer(&value)), uintptr(unsafe.Pointer(&size)), 0)
	return fmt.Sprint(value, " ", e)
}

// TestInherit: an accepted socket has its listener's options, and is its own afterwards.
func TestInherit(t *testing.T) {
	n := kerneltest.Network(1)[0]
	listener, accepted := New(n, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP),
		New(n, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP)
	listener.SetIntOption(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	listener.KeepOption(unix.IPPROTO_TCP, unix.TCP_CONGESTION, []byte("reno"))
	listener.RecvTimeout, listener.LingerOn, listener.Linger = 5, true, 3
	accepted.Inherit(&listener)
	check := func(s *Sock, alive int, congestion string) {
		t.Helper()
		kept, _ := s.KeptOption(unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if s.Opt(unix.SOL_SOCKET, unix.SO_KEEPALIVE) != alive || string(kept) != congestion || s.RecvTimeout != 5 ||
			!s.LingerOn || s.Linger != 3 {
			t.Errorf("keep-alive %d, %q, %+v", s.Opt(unix.SOL_SOCKET, unix.SO_KEEPALIVE), kept, s)
		}
	}
	check(&accepted, 1, "reno")
	accepted.SetIntOption(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0)
	accepted.KeepOption(unix.IPPROTO_TCP, unix.TCP_CONGESTION, []byte("cubic"))
	check(&listener, 1, "reno")
	check(&accepted, 0, "cubic")
}

// TestUnseen: only a value that differs from a fresh socket's makes Linux do what is not done here.
func TestUnseen(t *testing.T) {
	s := New(kerneltest.Network(1)[0], unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDP)
	for _, c := range []struct {
		name, value int
		unseen      bool
	}{{unix.SO_TIMESTAMP, 0, false}, {unix.SO_TIMESTAMP, 1, true}, {unix.SO_TIMESTAMP, 0, false},
		{unix.SO_KEEPALIVE, 1, false}} {
		s.SetIntOption(unix.SOL_SOCKET, c.name, c.value)
		if got := s.Unseen(unix.SOL_SOCKET, c.name); got != c.unseen {
			t.Errorf("option %d = %d: %v", c.name, c.value, got)
		}
	}
}

// TestError: SO_ERROR gives an error once.
func TestError(t *testing.T) {
	s := Sock{Err: unix.ECONNRESET}
	if a, b := s.TakeError(), s.TakeError(); a != unix.ECONNRESET || b != 0 {
		t.Errorf("%v, then %v", a, b)
	}
}

// released is a file that knows whether it was released.
type released struct {
	kernel.HostFile
	times int
}

func (f *released) Release(*kernel.Node) { f.times++ }

// TestRights: a file on its way to another process stays open, whoever closes it, until it is
// received and closed there, or dropped.
func TestRights(t *testing.T) {
	n := kerneltest.Network(1)[0]
	sender, receiver := kerneltest.Caller(n), kerneltest.Caller(n)
	for name, end := range map[string]func(r Right) int{
		"received": func(r Right) int {
			fd, e := Receive(receiver, r, true)
			if e != 0 || receiver.FDs().Get(fd) != r.File || !receiver.FDs().CloseOnExec(fd) {
				t.Errorf("descriptor %d, %v", fd, e)
			}
			DropRight(n, r, false)
			return fd
		},
		"dropped": func(r Right) int { DropRight(n, r, false); return -1 },
	} {
		f := &released{}
		fd, e := sender.NewFD(f, 0)
		if e != 0 {
			t.Fatal(e)
		}
		r := Carry(sender, Right{File: sender.FDs().Get(fd), FD: fd})
		if sender.FDs().Close(n, fd); f.times != 0 {
			t.Errorf("%s: released on its way", name)
		}
		if at := end(r); at >= 0 {
			if f.times != 0 {
				t.Errorf("%s: released although it is open", name)
			}
			receiver.FDs().Close(n, at)
		}
		if f.times != 1 {
			t.Errorf("%s: released %d times", name, f.times)
		}
	}
}
