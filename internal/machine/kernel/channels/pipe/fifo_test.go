package pipe

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// opening drives one open of a named pipe as openat's handler does.
func opening(n *kernel.Node, t *kernel.Thread, flags int) (*End, kernel.Errno) {
	end, wait, resumed := ResumeOpen(n, t)
	e := kernel.Errno(0)
	if !resumed {
		end, wait, e = OpenNamed(n, t, inode.Key{Dev: 1, Ino: 2}, flags)
	}
	if wait != nil {
		t.Block(kernel.RestartSA, wait)
		t.Park()
	} else {
		t.EndWait()
	}
	return end, e
}

func TestFIFO(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
	p, a := n.NewProcess(nil)
	b := p.NewThread()
	if _, e := opening(n, a, unix.O_WRONLY|unix.O_NONBLOCK); e != unix.ENXIO {
		t.Errorf("writer without a reader: %v", e)
	}
	if end, _ := opening(n, a, unix.O_RDONLY); end != nil {
		t.Fatal("reader did not wait for a writer")
	}
	w, e := opening(n, b, unix.O_WRONLY)
	if w == nil || e != 0 {
		t.Fatalf("writer: %v", e)
	}
	if n.NextReady() != a {
		t.Fatal("the reader was not woken")
	}
	r, e := opening(n, a, unix.O_RDONLY)
	if r == nil || r.Pipe != w.Pipe || e != 0 {
		t.Fatalf("reader: %v", e)
	}
	w.Write(nil, []byte("x"))
	w.Release(n)
	if ev := r.Ready(); ev != kernel.In|kernel.RdNorm|kernel.Hup {
		t.Errorf("events %#x", ev)
	}
	r.Release(n)

	// A reader that does not wait sees no hang-up before there was a writer.
	r, _ = opening(n, a, unix.O_RDONLY|unix.O_NONBLOCK)
	if ev := r.Ready(); ev != 0 {
		t.Errorf("events before the first writer: %#x", ev)
	}
	w, _ = opening(n, b, unix.O_WRONLY)
	w.Release(n)
	if ev := r.Ready(); ev != kernel.Hup {
		t.Errorf("events after the writer: %#x", ev)
	}
	r.Release(n)

	// One that dies while it waits is no reader.
	opening(n, a, unix.O_RDONLY)
	a.State = kernel.Dead
	abandonOpens(n, a)
	if _, e := opening(n, b, unix.O_WRONLY|unix.O_NONBLOCK); e != unix.ENXIO {
		t.Errorf("writer after the reader died: %v", e)
	}
	both, _ := opening(n, b, unix.O_RDWR)
	if both == nil || both.Ready() != kernel.Out|kernel.WrNorm {
		t.Error("open for both")
	}
	both.Release(n)
	if len(named.Of(n).open) != 0 {
		t.Errorf("%d named pipes are left", len(named.Of(n).open))
	}
}
