//go:build linux

package node

import (
	"runtime"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/spec"
	"ariadne/internal/tracee"
)

// A node goes on from a checkpoint as it went on itself: each step's digest
// covers every call, message and log line.
func TestFreezeAndThawAtEveryStep(t *testing.T) {
	for _, args := range [][]string{
		{"/bin/sh", "-c", "for i in 1 2 3; do sleep $i; echo $i | tr 1-3 a-c; done; exit 3"},
		{"/usr/bin/python3", "-c", "import threading,time\nfor i in range(3):\n  threading.Timer(i+0.5,print,(i,)).start()\n"},
		
	} {
		freezeAndThaw(t, args)
	}
}

func freezeAndThaw(t *testing.T, args []string) {
	t.Helper()
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
	n := Start(Config{Spec: s, Seed: 1})
	var outs []ariadne.Output
	var points []*Checkpoint
	apply := func(n *Node, in ariadne.Input) (ariadne.Output, ariadne.Input) {
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		return out, ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
	}
	more := func(o ariadne.Output) bool { return !o.Done && o.Deadline != ariadne.Never && o.Diverged == "" }
	out, in := apply(n, ariadne.Input{Kind: ariadne.Start})
	for {
		outs = append(outs, out)
		if !more(out) {
			break
		}
		c, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, c)
		out, in = apply(n, in)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	for i := len(points) - 1; i >= 0; i-- {
		m, err := points[i].Thaw()
		if err != nil {
			t.Fatal(err)
		}
		out := outs[i]
		for j := i + 1; more(out); j++ {
			out, _ = apply(m, ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			if out.Digest != outs[j].Digest {
				t.Errorf("%v: thawed after step %d, step %d is %+v, was %+v", args, i, j, out, outs[j])
				break
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := points[i].Drop(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%v: %d steps", args, len(outs))
}
