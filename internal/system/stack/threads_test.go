//go:build linux

package stack

import (
	"context"
	"strings"
	"testing"
	"time"
)

// threaded is a stack whose file system has threads.
func threaded(t *testing.T, lines ...string) *Config {
	t.Helper()
	c := ext4(t)
	for _, line := range lines {
		c.Components[1].Threads = append(c.Components[1].Threads, []string{"/bin/sh", "-c", line})
	}
	c.Timeout = 5 * time.Second
	return c
}

// beside is a step with threads of the file system beside it.
func beside(s Step, threads ...int) Step {
	for _, n := range threads {
		s.Beside = append(s.Beside, Thread{"ext4", n})
	}
	return s
}

// noneSleeps is a step that fails where a program sleep runs.
func noneSleeps() Step { return run("! cat /proc/[0-9]*/comm 2>/dev/null | grep -qx sleep") }

// TestThreadsBeside: threads and a step run at the same time, and threads alone as well. Each waits
// for the others.
func TestThreadsBeside(t *testing.T) {
	const wait = `for n in a b c; do until [ -e $n ]; do sleep 0.01; done; done; `
	w, disks := start(t, threaded(t, "cd $ARIADNE_MOUNT; : >a; "+wait+": >d", "cd $ARIADNE_MOUNT; : >b; "+wait+": >e"))
	do(t, w, Step{Kind: Mount, Nodes: w.Serve(disks, nil, false)}, beside(run(": >c; "+wait), 0, 1),
		run("rm a b c d e; : >c"),
		beside(Step{Kind: Pass}, 0, 1), run("cat d e"), noneSleeps(), Step{Kind: Unmount})
}

// TestThreadsFail: a thread that fails, takes too long, or leaves something at work is a failure of
// its component. Nothing of it goes on, also where the step beside it fails.
func TestThreadsFail(t *testing.T) {
	for _, c := range []struct {
		step, thread    string
		want, component string
		late            bool
	}{
		{"true", "echo no room; exit 3", "threads: exit status 3", "ext4", false},
		{"true", "sleep 1000", "threads: it did not end within 5s", "ext4", true},
		{"true", "sleep 1000 & exit 0", "threads: processes of the command are still at work", "ext4", false},
		{"exit 7", "sleep 1000", "exit status 7", "", false},
		{"exit 7", "sleep 0.2; exit 3", "exit status 7", "", false},
	} {
		w, disks := start(t, threaded(t, "true", c.thread))
		began := time.Now()
		r, err := w.Do(context.Background(), []Step{{Kind: Mount, Nodes: w.Serve(disks, nil, false)},
			beside(run(c.step), 0, 1), {Kind: Unmount, Always: true}}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 4*time.Second && !c.late {
			t.Errorf("%+v: it took %v", c, took)
		}
		if got := r[1]; !strings.HasPrefix(got.Failed, c.want) || got.Component != c.component || got.Late != c.late {
			t.Errorf("%+v: %+v", c, got)
		}
		if r[2].Failed != "" {
			t.Errorf("%+v: unmount: %+v", c, r[2])
		}
		do(t, w, Step{Kind: Mount, Nodes: w.Serve(disks, nil, false)}, noneSleeps(), Step{Kind: Unmount})
	}
}
