//go:build linux

package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestThreadsSleep: when a thread sleeps by the call by which Go's runtime naps, the node has a
// timer, and is busy with more than a runtime's housekeeping when the thread waits after that.
func TestThreadsSleep(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-Wall", "-pthread", "-o", filepath.Join(dir, "sleeper"),
		"testdata/sleeper.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	_, apply := start(t, alone(dir, "/spec/sleeper"))
	out := apply(ariadne.Input{Kind: ariadne.Start})
	for _, ms := range []ariadne.Time{5, 1005} {
		if out.Deadline < ms*1e6 || out.Deadline > ms*1e6+1e6 || out.Calm != 0 {
			t.Fatalf("the next timer is at %v, not at %d ms; housekeeping until %v", out.Deadline, ms, out.Calm)
		}
		out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
	}
	if l := strings.Join(lines(&out), ""); !strings.Contains(l, "slept") || !out.Done {
		t.Errorf("it says %q, and has ended: %v", l, out.Done)
	}
}

const waitsForEver = `package main

import "os"

func main() {
	r, _, _ := os.Pipe()
	go println("begins")
	var b [1]byte
	r.Read(b[:])
}
`

// TestGoNaps: naps of Go's runtime are no timers of the node, however the program was built. A
// program that waits for ever has those of housekeeping.
func TestGoNaps(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "waits.go")
	if err := os.WriteFile(source, []byte(waitsForEver), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, how := range [][]string{{}, {"-ldflags=-s -w"}, {"-buildmode=pie", "-ldflags=-s -w"}} {
		build := exec.Command("go",
			append(append([]string{"build", "-o", filepath.Join(dir, "waits")}, how...), source)...)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go: %v\n%s", err, out)
		}
		_, apply := start(t, alone(dir, "/spec/waits"))
		out := apply(ariadne.Input{Kind: ariadne.Start})
		if l := strings.Join(lines(&out), ""); !strings.Contains(l, "begins") || out.Done {
			t.Fatalf("%v: it says %q, and has ended: %v", how, l, out.Done)
		}
		if out.Deadline < 1e9 || out.Calm == 0 {
			t.Errorf("%v: a timer is at %v, housekeeping until %v", how, out.Deadline, out.Calm)
		}
	}
}
