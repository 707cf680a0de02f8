//go:build linux

package node

import (
	"errors"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

// TestKilledFromOutside: what kills a process of a node from outside is not the node's death.
func TestKilledFromOutside(t *testing.T) {
	wants := func(err error) {
		t.Helper()
		var killed *ariadne.KilledError
		if !errors.As(err, &killed) {
			t.Errorf("err = %v", err)
		}
	}
	real := func(n *Node) int {
		for _, th := range n.threads {
			return th.tr.PID
		}
		panic("no process")
	}
	// With the goroutine of a subtest its thread ends, and with the tracer what it traces: so a
	// node is closed by the subtest that has started it.
	start := func(t *testing.T, program string) (*Node, ariadne.Output) {
		n := started(t, "/usr/bin/python3", "-c", program)
		n.cfg.Limits.Calls = 0
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		if err != nil {
			t.Fatal(err)
		}
		return n, out
	}
	const sleeper = "import time\ntime.sleep(1)\nwhile True: pass"
	t.Run("waiting", func(t *testing.T) {
		n, out := start(t, sleeper)
		if err := unix.Kill(real(n), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_, err := n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		wants(err)
	})
	t.Run("running", func(t *testing.T) {
		n, out := start(t, sleeper)
		pid := real(n)
		time.AfterFunc(300*time.Millisecond, func() { unix.Kill(pid, unix.SIGKILL) })
		_, err := n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		wants(err)
	})
	t.Run("sharing", func(t *testing.T) {
		n, out := start(t, `import mmap, os, time
m = mmap.mmap(-1, 4096)
other = os.fork() == 0
while True:
    time.sleep(1)
    m[other] += 1`)
		n.cfg.Pages = true
		for range 10 {
			c, err := n.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Drop()
			if out, err = n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}); err != nil {
				t.Fatal(err)
			}
		}
		if n.paging.shown == nil && !cannotFollow.Load() {
			t.Error("the shared memory is not known")
		}
		if err := unix.Kill(n.processes()[1].pid(), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		// It can be closed: what it had written there is not looked at.
	})
	t.Run("frozen", func(t *testing.T) {
		n, _ := start(t, sleeper)
		c, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(c.forks.procs[0].tr.PID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_, err = c.Thaw()
		wants(err)
		if err := c.Drop(); err != nil {
			t.Error(err)
		}
	})
}
