package node

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// TestInspect: who looks into a node finds what its program has just made: a value in memory, a
// file, bytes that nobody has read, a timer. Nothing of that is another afterwards.
func TestInspect(t *testing.T) {
	n := started(t, "/usr/bin/python3", "-c", `
import ctypes, os, socket, time
open('f', 'w').write('content')
a, b = socket.socketpair()
a.send(b'unread')
r, w = os.pipe()
os.write(w, b'four')
value = ctypes.create_string_buffer(b'a needle in memory')
print(hex(ctypes.addressof(value)), flush=True)
time.sleep(100)
`)
	if out, err := n.Apply(ariadne.Input{Kind: ariadne.Start}); err != nil || len(out.Logs) != 1 {
		t.Fatal(err, out.Logs)
	}
	for range 2 {
		v, err := n.Look()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(v.Processes, func(p inspect.Process) bool { return strings.Contains(p.Exe, "python") })
		if i < 0 {
			t.Fatalf("no Python among %v", v.Processes)
		}
		p := v.Processes[i]
		unread := map[int]int{}
		for _, d := range p.Descriptors {
			unread[d.Unread]++
		}
		if unread[6] != 1 || unread[4] != 2 { // both ends of a pipe tell
			t.Errorf("unread: %v of %v", unread, p.Descriptors)
		}
		if !slices.ContainsFunc(v.Timers, func(x inspect.Timer) bool { return x.Of == "thread 2" && x.At > 100e9 }) {
			t.Errorf("timers: %v", v.Timers)
		}
		b := make([]byte, 20)
		if k, err := n.ReadFile("/node/f", 3, b); err != nil || string(b[:k]) != "tent" {
			t.Errorf("%q, %v", b[:k], err)
		}
		for _, name := range []string{"/node", "/node/none"} {
			if k, err := n.ReadFile(name, 0, b); err == nil {
				t.Errorf("%s: %q", name, b[:k])
			}
		}
		if _, err := n.Registers(99); err == nil {
			t.Error("thread 99 has registers")
		}
		r, err := n.Registers(p.Threads[0].TID)
		if err != nil {
			t.Fatal(err)
		}
		if nr, _ := r.Of("orig_rax"); nr != 230 { // clock_nanosleep
			t.Errorf("it is in call %d", nr)
		}
		all, err := n.Mappings(p.PID)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range all {
			if !m.Read || !m.Write {
				continue
			}
			b := make([]byte, m.End-m.Start)
			k, err := n.ReadMemory(p.PID, m.Start, b)
			if err != nil || k != len(b) {
				t.Errorf("%d bytes of %v, %v", k, m, err)
			}
			found += strings.Count(string(b), "a needle in memory")
		}
		if found == 0 {
			t.Error("no needle")
		}
		if k, err := n.ReadMemory(p.PID, 8, b); err == nil {
			t.Errorf("at 8: %v", binary.LittleEndian.Uint64(b[:k]))
		}
	}
}
