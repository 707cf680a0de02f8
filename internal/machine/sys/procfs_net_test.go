package sys

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

func TestSocketFiles(t *testing.T) {
	d, a, m := newProcess(t)
	bound := func(family, typ int, addr ...byte) uint64 {
		fd := uint64(d.Must(a, unix.SYS_SOCKET, uint64(family), uint64(typ), 0))
		m.Poke(setAt, append([]byte{byte(family), 0}, addr...))
		want(t, "bind", d.Must(a, unix.SYS_BIND, fd, setAt, uint64(2+len(addr))), 0)
		return fd
	}
	l := bound(unix.AF_INET, unix.SOCK_STREAM, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
	want(t, "listen", d.Must(a, unix.SYS_LISTEN, l, 5), 0)
	bound(unix.AF_INET6, unix.SOCK_DGRAM, append([]byte{0, 53, 0, 0, 0, 0, 15: 0, 21: 1}, 0, 0, 0, 0)...)

	file := func(proto ariadne.Protocol, family int) []string {
		return strings.Split(socketsText(proto, family)(&view{caller: a, proc: a.Proc}), "\n")
	}
	// As Linux prints them, but for the inode number and the pointer.
	tcp := "   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
	if lines := file(ariadne.TCP, unix.AF_INET); len(lines) != 3 || !strings.HasPrefix(lines[1], tcp) ||
		len(lines[1]) != 149 {
		t.Errorf("tcp: %q", lines)
	}
	udp := "   0: 00000000000000000000000001000000:0035 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 "
	if lines := file(ariadne.UDP, unix.AF_INET6); len(lines) != 3 || !strings.HasPrefix(lines[1], udp) {
		t.Errorf("udp6: %q", lines)
	}
	if lines := file(ariadne.TCP, unix.AF_INET6); len(lines) != 2 {
		t.Errorf("tcp6: %q", lines)
	}
}
