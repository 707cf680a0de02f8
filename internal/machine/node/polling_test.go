//go:build linux

package node

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// started makes a node of one command, of which a step may make 10,000 calls.
func started(t *testing.T, args ...string) *Node {
	t.Helper()
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 20 * time.Second, Calls: 10_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
	n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestPollingComesToRest: a program that polls without a clock rests after so many calls, each time
// a little longer; when nothing comes for long, nothing but an input makes it go on.
func TestPollingComesToRest(t *testing.T) {
	const socket = "import select,socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
	for name, c := range map[string]struct {
		program  string
		calls    string
		unheeded bool
	}{
		"in vain":  {socket + "s.bind(('',7));s.setblocking(False)\nwhile True:\n  try: s.recv(9)\n  except BlockingIOError: pass", "recvfrom (", false},
		"unheeded": {socket + "p=select.poll();p.register(s,4)\nwhile True: p.poll()", "poll (", true},
	} {
		t.Run(name, func(t *testing.T) {
			n := started(t, "/usr/bin/python3", "-c", c.program)
			in := ariadne.Input{Kind: ariadne.Start}
			var rests []ariadne.Time
			for steps, calls := 0, 0; in.At != ariadne.Never; steps++ {
				out, err := n.Apply(in)
				if err != nil || out.Diverged != "" || !strings.HasPrefix(out.Polling, c.calls) ||
					out.Unheeded != c.unheeded {
					t.Fatalf("step %d: %v, %+v", steps, err, out)
				}
				if calls += out.Calls; calls > 20000 {
					t.Fatalf("%d calls and no end", calls)
				}
				rests = append(rests, out.Deadline-out.Clock)
				in = ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
			}
			if len(rests) < 10 || rests[8] < 4*rests[1] {
				t.Errorf("rests %v", rests)
			}
		})
	}
}

// TestDivergenceSaysWhatItLoopsOn: a loop that does not poll never comes to rest, and what it does
// is said.
func TestDivergenceSaysWhatItLoopsOn(t *testing.T) {
	n := started(t, "/usr/bin/python3", "-c", "import os\nwhile True: os.getppid(); os.getuid(); os.getuid()")
	out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
	if err != nil || !strings.Contains(out.Diverged, "most of them getuid, getppid") {
		t.Errorf("%v, %+v", err, out)
	}
}
