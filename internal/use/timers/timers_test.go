//go:build linux

package timers_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/session"
	"github.com/ariadne-mc/ariadne/internal/use/timers"
)

func leases(t *testing.T, how string) *spec.Spec {
	t.Helper()
	return build(t, "lease", "nodes:\n  - {name: server, address: 10.0.0.1, command: ./lease server "+how+"}\n"+
		"  - {name: client, command: ./lease client, client: true}\n")
}

// build compiles a program of testdata, and returns a spec of it.
func build(t *testing.T, program, nodes string) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-g", "-O0", "-Wall", "-o", filepath.Join(dir, program),
		"testdata/"+program+".c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	path := filepath.Join(dir, "spec.yaml")
	systemtest.Write(t, path, nodes)
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func find(t *testing.T, s *spec.Spec, window time.Duration) *timers.List {
	t.Helper()
	l, err := timers.Find(t.Context(), s,
		timers.Options{System: system.Options{Version: "test"}, Time: 5 * time.Minute, Schedules: 2, Window: window})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLease: the time at which a lease is over is found, to a millisecond, with the function that
// reads the clock for it, which is not the only one that does. Looking for it takes no processor
// time, which the server reads too. Nothing is found where the server
// does not decide by the clock, nor in a window that is too short.
func TestLease(t *testing.T) {
	l := find(t, leases(t, "clock"), time.Hour)
	if len(l.Timers) != 1 || l.Probing.Turns == 0 || l.Schedules != 2 || l.Stopped != "" {
		t.Fatalf("%+v", l)
	}
	b := l.Timers[0]
	if b.Seen != 1 || !slices.Equal(b.Nodes, []string{"server"}) || !slices.Equal(b.Events, []string{"message"}) {
		t.Errorf("%d times, %v, %v", b.Seen, b.Nodes, b.Events)
	}
	if b.Node != "server" || !strings.HasPrefix(b.Name, "deliver udp client:") || len(b.Was) != 1 ||
		!strings.Contains(b.Was[0], "held") || len(b.Is) != 1 || !strings.Contains(b.Is[0], "over") {
		t.Errorf("%+v", b)
	}
	if d := time.Duration(b.After - b.Arrives); b.After-b.Before > ariadne.Time(time.Millisecond) ||
		d < 9900*time.Millisecond || d > 10*time.Second {
		t.Errorf("between %v and %v, %v after it arrives", b.Before, b.After, d)
	}
	if b.Number != 3 || b.Reads != 5 || len(b.Read) < 3 || b.Read[0].Function != "now" ||
		b.Read[1].Function != "lease_is_over" || b.Read[2].Function != "server" {
		t.Fatalf("read %d of %d: %+v", b.Number, b.Reads, b.Read)
	}
	if r := b.Read[1]; filepath.Base(r.File) != "lease.c" || r.Line != 32 {
		t.Errorf("%s:%d", r.File, r.Line)
	}
	if c := b.Branch; c == nil || !c.Confirmed || len(c.Stack) < 2 || c.Stack[0].Function != "lease_is_over" ||
		c.Stack[0].Line != 33 || len(c.Operands) != 2 ||
		!slices.Contains(c.Operands, session.Operand{Before: "10000000000", After: "10000000001"}) {
		t.Errorf("%+v", c)
	}
	for _, l := range []*timers.List{find(t, leases(t, "blind"), time.Hour),
		find(t, leases(t, "clock"), 9*time.Second)} {
		if len(l.Timers) > 0 || l.Probing.Messages == 0 {
			t.Errorf("%+v", l)
		}
	}
}

// TestStartsAndTimers: what a program decides by the clock when it starts and when its timer fires
// is found, too, and nothing in a program that does not.
func TestStartsAndTimers(t *testing.T) {
	l := find(t, ticks(t, "clock"), time.Hour)
	seen := map[int]timers.Timer{}
	for _, x := range l.Timers {
		if x.Branch != nil && x.Branch.Confirmed && x.Branch.Stack[0].Function == "main" {
			seen[x.Branch.Stack[0].Line] = x
		}
	}
	start, tick := seen[27], seen[33]
	if len(l.Timers) != 2 || !slices.Equal(start.Events, []string{"start"}) ||
		!slices.Equal(tick.Events, []string{"timer"}) {
		t.Fatalf("%+v", l)
	}
	for _, x := range []struct {
		timers.Timer
		want time.Duration
		says string
		is   session.Operand
	}{{start, 601 * time.Second, "out of date", session.Operand{Before: "1700000600999", After: "1700000601000"}},
		{tick, 4900 * time.Millisecond, "gone", session.Operand{Before: "5000", After: "5001"}}} {
		if d := time.Duration(x.After - x.Arrives); d < x.want-30*time.Millisecond || d > x.want+30*time.Millisecond ||
			len(x.Is) == 0 || !strings.Contains(x.Is[0], x.says) || !slices.Contains(x.Branch.Operands, x.is) {
			t.Errorf("%v: %+v, %+v", d, x, x.Branch)
		}
	}
	if l := find(t, ticks(t, "blind"), time.Hour); len(l.Timers) > 0 || l.Probing.Messages < 4 {
		t.Errorf("%+v", l)
	}
}

func ticks(t *testing.T, how string) *spec.Spec {
	t.Helper()
	return build(t, "tick", "nodes:\n  - {name: clock, command: ./tick "+how+", client: true}\n")
}
