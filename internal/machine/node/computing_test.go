//go:build linux

package node

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestComputingPastATimer: long computing expires a timer for which nobody waits: how soon depends
// on the machine, and the clock shows it from then on, so the step is marked.
func TestComputingPastATimer(t *testing.T) {
	if os.Getenv("ARIADNE_LONG") == "" {
		t.Skip("computes for long; set ARIADNE_LONG")
	}
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	args := []string{"/usr/bin/python3", "-c", `import ctypes,os,struct
l=ctypes.CDLL(None);fd=l.timerfd_create(1,0);l.timerfd_settime(fd,0,struct.pack('4q',0,0,0,1000000),0)
for i in range(200000000): pass
print(os.read(fd,8)[0])`}
	s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: time.Minute, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
	n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
	defer n.Close()
	out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
	if err != nil {
		t.Fatal(err)
	}
	if !out.Unreplayable || out.Clock < ariadne.Time(time.Second) {
		t.Errorf("marked %v, clock %v: %v", out.Unreplayable, out.Clock, out.Logs)
	}
}
