package sys_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// TestTCPMemory: what all connections of a node hold is bounded. A sender without room waits for
// others to read, and each may send a page within the node. To other nodes each may send a MiB, of
// which it is not told whether it was read.
func TestTCPMemory(t *testing.T) {
	const page, more = 4096, 1 << 20
	for _, far := range []bool{false, true} {
		w := newNetwork(t, 2)
		a := w.user(0)
		b, first, second := a, "127.0.0.1:80", "127.0.0.1:81"
		chunk, most1, most2 := uint64(page), 4*page, page
		if far {
			b, first, second = w.user(1), "10.0.0.2:80", "10.0.0.2:81"
			chunk, most1, most2 = 16*page, more+4*page, more
		}
		if e := kernel.WriteSetting(a.d.Node, "net/ipv4/tcp_mem", "1 2 4"); e != 0 {
			t.Fatal(e)
		}
		c1, s1, _ := pair(a, b, first)
		c2, s2, _ := pair(a, b, second)
		send := func(c uint64) (n int) {
			for {
				r := a.d.Must(a.t, unix.SYS_SENDTO, c, dataAt, chunk, unix.MSG_DONTWAIT, 0, 0)
				w.settle()
				if r <= 0 {
					return n
				}
				n += int(r)
			}
		}
		if got := send(c1); got != most1 {
			t.Errorf("far %v: the first connection takes %d bytes, want %d", far, got, most1)
		}
		if got := send(c2); got != most2 {
			t.Errorf("far %v: the second connection takes %d bytes, want %d", far, got, most2)
		}
		a.wantReady(c2, 0)
		a.d.Waits(a.t, unix.SYS_SENDTO, c2, dataAt, page, 0, 0, 0)
		other := a.thread()
		if far {
			other = b
		}
		for left := most1; left > 0; left -= int(chunk) {
			other.call(int64(min(int(chunk), left)), unix.SYS_RECVFROM, s1, dataAt, chunk, 0, 0, 0)
		}
		w.settle()
		a.done(page)
		other.call(page, unix.SYS_RECVFROM, s2, dataAt, page, 0, 0, 0)
	}
}
