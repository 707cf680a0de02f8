package inspect

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

func TestThread(t *testing.T) {
	for _, x := range []struct {
		thread     Thread
		text, json string
	}{
		{Thread{TID: 2, Name: "main", Until: ariadne.Never},
			"2 main: goes on", `{"tid":2,"name":"main"}`},
		{Thread{TID: 3, Name: "io", Call: "read", Args: [6]uint64{5}, On: "pipe:[2]", Until: ariadne.Never},
			"3 io: read on pipe:[2]",
			`{"tid":3,"name":"io","call":"read","on":"pipe:[2]","args":["0x5","0x0","0x0","0x0","0x0","0x0"]}`},
		{Thread{TID: 4, Name: "nap", Call: "futex", Args: [6]uint64{1 << 60, 2, 3}, Until: ariadne.Time(time.Second)},
			"4 nap: futex(0x1000000000000000, 0x2, 0x3) until 1.000000s",
			`{"tid":4,"name":"nap","call":"futex","args":["0x1000000000000000","0x2","0x3","0x0","0x0","0x0"],"until_ns":1000000000}`},
	} {
		if got := x.thread.String(); got != x.text {
			t.Errorf("%q, want %q", got, x.text)
		}
		if got, err := json.Marshal(x.thread); err != nil || string(got) != x.json {
			t.Errorf("%s %v, want %s", got, err, x.json)
		}
	}
}

func TestRegisters(t *testing.T) {
	r := Registers{Named: []Register{{"rax", 1}, {"rip", 1<<63 + 1}}}
	if v, ok := r.Of("rip"); !ok || v != 1<<63+1 {
		t.Errorf("rip: %d %v", v, ok)
	}
	if _, ok := r.Of("eax"); ok {
		t.Error("there is a register eax")
	}
	b, err := json.Marshal(r)
	if want := `{"named":[{"name":"rax","value":"1"},{"name":"rip","value":"9223372036854775809"}]}`; err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
}
