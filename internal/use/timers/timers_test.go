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
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-g", "-O0", "-Wall", "-o", filepath.Join(dir, "lease"),
		"testdata/lease.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	path := filepath.Join(dir, "spec.yaml")
	systemtest.Write(t, path, "nodes:\n  - {name: server, address: 10.0.0.1, command: ./lease server "+how+"}\n  - {name: client, command: ./lease client, client: true}\n")
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
	if len(l.Boundaries) != 1 || l.Probing.Turns == 0 || l.Schedules != 2 || l.Stopped != "" {
		t.Fatalf("%+v", l)
	}
	b := l.Boundaries[0]
	if b.Node != "server" || !strings.HasPrefix(b.Message, "deliver udp client:") || len(b.Was) != 1 ||
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
		if len(l.Boundaries) > 0 || l.Probing.Messages == 0 {
			t.Errorf("%+v", l)
		}
	}
}
