package timerfd

import (
	"encoding/binary"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

func (f *File) read(t *testing.T) int {
	t.Helper()
	var b [8]byte
	if _, e := f.Read(nil, b[:]); e == unix.EAGAIN {
		return 0
	} else if e != 0 {
		t.Fatal(e)
	}
	return int(binary.LittleEndian.Uint64(b[:]))
}

// at moves the node's clock and fires what is due on the way.
func at(n *kernel.Node, when ariadne.Time) {
	for tm := n.NextTimer(true); tm != nil && tm.When <= when; tm = n.NextTimer(true) {
		n.Now = tm.When
		n.FireTimer(tm)
	}
	n.Now = when
}

func TestTimerFD(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
	f := New(n, unix.CLOCK_MONOTONIC)
	expect := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	f.Set(100, 0)
	expect("before", f.read(t), 0)
	at(n, 99)
	left, _ := f.Get()
	expect("left", int(left), 1)
	at(n, 100)
	expect("events", int(f.Ready()), int(kernel.In))
	expect("once", f.read(t), 1)
	expect("again", f.read(t), 0)

	f.Set(200, 10)
	at(n, 235)
	expect("interval", f.read(t), 4)
	if tm := n.NextTimer(true); tm == nil || tm.When != 240 {
		t.Errorf("next timer: %+v", tm)
	}
	at(n, 261)
	left, every := f.Get() // sets it for 270, and counts
	expect("left", int(left), 9)
	expect("interval", int(every), 10)
	at(n, 270)
	expect("expirations", f.read(t), 4)

	f.Set(1, 10) // in the past
	expect("overdue", f.read(t), 27)
	f.Set(ariadne.Never, 0)
	f.Release(n)
	if tm := n.NextTimer(true); tm != nil {
		t.Errorf("a timer is left: %+v", tm)
	}
}

func TestClockIsSet(t *testing.T) {
	n := kernel.NewNode(0, "n", 1)
	n.RealBase = 1000e9
	f, g := New(n, unix.CLOCK_REALTIME), New(n, unix.CLOCK_REALTIME)
	f.SetReal(5e9, 0, false)
	g.SetReal(5e9, 0, true)
	n.SetReal(1002e9)
	if left, _ := f.Get(); left != 3e9 || f.Ready() != 0 {
		t.Errorf("%v is left, ready %v", left, f.Ready())
	}
	if g.Ready() != kernel.In {
		t.Error("a cancelled timer is not ready")
	}
	if _, e := g.Read(nil, make([]byte, 8)); e != unix.ECANCELED {
		t.Errorf("cancelled: %v", e)
	}
	if _, e := g.Read(nil, make([]byte, 8)); e != unix.EAGAIN {
		t.Errorf("cancelled once: %v", e)
	}
	g.Set(5e9, 0)
	f.Release(n)
	n.SetReal(1000e9)
	if left, _ := g.Get(); left != 5e9 || g.Ready() != 0 {
		t.Errorf("set again: %v is left, ready %v", left, g.Ready())
	}
}
