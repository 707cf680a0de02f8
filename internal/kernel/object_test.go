package kernel

import (
	"encoding/binary"
	"reflect"
	"testing"

	"ariadne"

	"golang.org/x/sys/unix"
)

func (f *TimerFD) read(t *testing.T) int {
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
func (n *Node) at(when ariadne.Time) {
	for tm := n.NextTimer(true); tm != nil && tm.When <= when; tm = n.NextTimer(true) {
		n.Now = tm.When
		n.FireTimer(tm)
	}
	n.Now = when
}

func TestTimerFD(t *testing.T) {
	n := NewNode(0, "n0", 1)
	f := n.NewTimerFD(unix.CLOCK_MONOTONIC)
	expect := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	f.Set(100, 0)
	expect("before", f.read(t), 0)
	n.at(99)
	left, _ := f.Get()
	expect("left", int(left), 1)
	n.at(100)
	expect("events", int(f.Ready()), int(In))
	expect("once", f.read(t), 1)
	expect("again", f.read(t), 0)

	f.Set(200, 10)
	n.at(235)
	expect("interval", f.read(t), 4)
	if tm := n.NextTimer(true); tm == nil || tm.When != 240 {
		t.Errorf("next timer: %+v", tm)
	}
	n.at(261)
	left, every := f.Get() // sets it for 270, and counts
	expect("left", int(left), 9)
	expect("interval", int(every), 10)
	n.at(270)
	expect("expirations", f.read(t), 4)

	f.Set(1, 10) // in the past
	expect("overdue", f.read(t), 27)
	f.Set(ariadne.Never, 0)
	f.Release(n)
	if tm := n.NextTimer(true); tm != nil {
		t.Errorf("a timer is left: %+v", tm)
	}
}

func TestConsole(t *testing.T) {
	n := NewNode(0, "n0", 1)
	p, th := n.NewProcess(nil)
	out := NewOutput(2)
	for _, s := range []string{"one\ntw", "", "o\n\nrest"} {
		if k, e := out.Write(th, []byte(s)); k != len(s) || e != 0 {
			t.Errorf("write %q: %d %v", s, k, e)
		}
		n.Now += 5
	}
	out.Release(n)
	want := []ariadne.LogLine{{At: 0, Stream: 2, PID: p.PID, Text: "one"}, {At: 10, Stream: 2, PID: p.PID, Text: "two"},
		{At: 10, Stream: 2, PID: p.PID, Text: ""}, {At: 15, Stream: 2, PID: p.PID, Text: "rest"}}
	if !reflect.DeepEqual(n.Logs, want) {
		t.Errorf("logs %v", n.Logs)
	}

	var b [3]byte
	for _, open := range []bool{false, true} {
		in := NewInput("abcd", open)
		in.Read(th, b[:])
		if k, e := in.Read(th, b[:]); k != 1 || e != 0 || b[0] != 'd' {
			t.Errorf("second read: %d %v", k, e)
		}
		k, e := in.Read(th, b[:])
		if open && e != unix.EAGAIN || !open && (k != 0 || e != 0) {
			t.Errorf("read at the end, open %v: %d %v", open, k, e)
		}
		if ev := in.Ready(); open && ev != 0 || !open && ev != Hup {
			t.Errorf("events at the end, open %v: %#x", open, ev)
		}
	}
}

// opening drives one open of a named pipe as openat's handler does.
func opening(n *Node, t *Thread, flags int) (*PipeEnd, Errno) {
	end, wait, e := n.OpenFIFO(t, FileKey{1, 2}, flags)
	if wait != nil {
		t.Block(RestartSA, wait)
		t.Park()
	} else {
		t.EndWait()
	}
	return end, e
}

func TestFIFO(t *testing.T) {
	n := NewNode(0, "n0", 1)
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
	if ev := r.Ready(); ev != In|RdNorm|Hup {
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
	if ev := r.Ready(); ev != Hup {
		t.Errorf("events after the writer: %#x", ev)
	}
	r.Release(n)

	// One that dies while it waits is no reader.
	opening(n, a, unix.O_RDONLY)
	a.State = Dead
	n.AbandonOpens(a)
	if _, e := opening(n, b, unix.O_WRONLY|unix.O_NONBLOCK); e != unix.ENXIO {
		t.Errorf("writer after the reader died: %v", e)
	}
	both, _ := opening(n, b, unix.O_RDWR)
	if both == nil || both.Ready() != Out|WrNorm {
		t.Error("open for both")
	}
	both.Release(n)
	if len(named.Of(n).open) != 0 {
		t.Errorf("%d named pipes are left", len(named.Of(n).open))
	}
}
