//go:build linux

package node

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestLoopsWithoutCalls: a loop that comes to the same state again is proved, and what counts,
// waits for another thread, for a signal or for the clock is cut off as it was.
func TestLoopsWithoutCalls(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-Wall", "-pthread", "-o", filepath.Join(dir, "loops"),
		"testdata/loops.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	for _, c := range []struct {
		how    string
		proved bool
	}{{"list", true}, {"calls", true}, {"counter", false}, {"random", false}, {"timer", false}, {"thread", false},
		{"clock", false}, {"child", false}} {
		t.Run(c.how, func(t *testing.T) {
			runtime.LockOSThread()
			if err := tracee.Pin(0); err != nil {
				t.Fatal(err)
			}
			s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 300 * time.Millisecond, Calls: 1_000_000},
				Nodes: []spec.Node{{Name: "n1", CPUs: 1,
					Commands: []spec.Command{{Args: []string{"/spec/loops", c.how}}}}}}
			n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
			defer n.Close()
			out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
			if err != nil {
				t.Fatal(err)
			}
			if proved := strings.Contains(out.Diverged, "computes without end"); proved != c.proved ||
				(out.Cut != "") == c.proved {
				t.Errorf("diverged %q, cut %q", out.Diverged, out.Cut)
			}
			if c.proved && out.Unreplayable {
				t.Error("it would not replay")
			}
		})
	}
}
