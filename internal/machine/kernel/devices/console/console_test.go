package console

import (
	"reflect"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

func TestConsole(t *testing.T) {
	n := kernel.NewNode(0, "n0", 1)
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
		if ev := in.Ready(); open && ev != 0 || !open && ev != kernel.Hup {
			t.Errorf("events at the end, open %v: %#x", open, ev)
		}
	}
}
