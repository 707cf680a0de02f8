//go:build linux

package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ariadne"
	"ariadne/internal/run"
	"ariadne/internal/session"
	"ariadne/internal/spec"
	"ariadne/internal/system"
)

func planted(t *testing.T, name string) *spec.Spec {
	t.Helper()
	if out, err := exec.Command("../../examples/planted/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	s, err := spec.Read(filepath.Join("../../examples/planted", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open opens a session of real nodes, and skips where there cannot be any.
func open(t *testing.T, s *session.Session, err error) *session.Session {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var setup *ariadne.SetupError
	if _, err := s.Natural(); errors.As(err, &setup) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealNodes: nodes of real processes go forth, back and another way, and do what they do
// in fresh executions.
func TestRealNodes(t *testing.T) {
	for _, name := range []string{"commit", "election"} {
		t.Run(name, func(t *testing.T) {
			sp, o := planted(t, name), system.Options{Version: "test"}
			s, err := session.Open(t.Context(), sp, session.Options{System: o, Memory: 300 << 20})
			s = open(t, s, err)
			r := rand.New(rand.NewPCG(3, 4))
			for range 3 {
				kept := wander(t, s, r, 40)
				compare(t, s, sp, o)
				for _, p := range kept[:min(len(kept), 2)] {
					if err := s.Return(p); err != nil {
						t.Fatal(err)
					}
					compare(t, s, sp, o)
				}
			}
			if changed := s.Changed(); len(changed) > 0 {
				t.Errorf("%q", changed)
			}
		})
	}
}

// TestVariations: what may go otherwise within a step is a choice like any other.
func TestVariations(t *testing.T) {
	if out, err := exec.Command("../../examples/faults/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	sp, err := spec.Read("../../examples/faults/ledger-bug.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := system.Options{Version: "test"}
	s, err := session.Open(t.Context(), sp, session.Options{System: o, Memory: 300 << 20})
	s = open(t, s, err)
	varied := 0
	for choices := s.Enabled(); len(choices) > 0; choices = s.Enabled() {
		at := s.Position()
		for _, c := range choices {
			if c.Action.Vary == "" {
				continue
			}
			varied++
			step, err := s.Step(c.Name)
			if err != nil || step.Action.Vary != c.Action.Vary {
				t.Fatalf("%s: %v, %v", c.Name, step.Action, err)
			}
			if varied%4 == 1 {
				compare(t, s, sp, o)
			}
			if err := s.Return(at); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Natural(); err != nil {
			t.Fatal(err)
		}
	}
	if varied == 0 {
		t.Error("no step can be varied")
	}
	compare(t, s, sp, o)
}

// TestInside: a node shows its processes, threads, descriptors, files and log where the
// session stands, also after it has gone back; and to look changes nothing.
func TestInside(t *testing.T) {
	sp, o := planted(t, "commit"), system.Options{Version: "test"}
	r, err := run.Run(t.Context(), sp, run.Options{System: o, Out: filepath.Join(t.TempDir(), "run")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.OpenTrace(t.Context(), sp, r.Trace, session.Options{System: o, Memory: 300 << 20})
	s = open(t, s, err)
	look := func() (all []session.Node) {
		for i := range sp.Nodes {
			n, err := s.Node(ariadne.NodeID(i))
			if err != nil {
				t.Fatal(err)
			}
			if n.Started != (n.Inside != nil) {
				t.Errorf("node %s is on: %v, inside %v", n.Name, n.Started, n.Inside)
			}
			all = append(all, n)
		}
		return all
	}
	views := map[int][]session.Node{}
	for n := range len(s.Line()) + 1 {
		if err := s.Go(n); err != nil {
			t.Fatal(err)
		}
		if n%3 == 0 {
			views[n] = look()
		}
	}
	if end, _ := s.End(); end != r.End {
		t.Errorf("%s, the run: %s", end, r.End)
	}
	compare(t, s, sp, o)
	var steps []int
	for n := range views {
		steps = append(steps, n)
	}
	slices.Sort(steps)
	for _, n := range slices.Backward(steps) {
		if err := s.Go(n); err != nil {
			t.Fatal(err)
		}
		if got, want := text(look()), text(views[n]); got != want {
			t.Errorf("after step %d, on the way there\n%s\nand back\n%s", n, want, got)
		}
	}
	middle := text(views[steps[len(steps)/2]])
	t.Log(middle)
	for _, want := range []string{`(?m)^  process \d+ .*commit`, `(?m)^    thread \d+ .*(poll|recv|read|epoll_wait|select|accept)`, `(?m)^    fd \d+ socket:\[\d+\] [\d.]+:\d+`, `(?m)^    fd 1 pipe:\[2\]`} {
		if !regexp.MustCompile(want).MatchString(middle) {
			t.Errorf("%s is not in\n%s", want, middle)
		}
	}
}

// text is what nodes look like.
func text(nodes []session.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "node %s, on %v, %d steps, clock %v, deadline %v\n", n.Name, n.Started, n.Steps, n.Clock, n.Deadline)
		for _, l := range n.Logs {
			fmt.Fprintf(&b, "  log %v %s\n", l.At, l.Text)
		}
		if n.Inside == nil {
			continue
		}
		for _, p := range n.Inside.Processes {
			fmt.Fprintf(&b, "  process %d of %d: %s %q in %s, zombie %v\n", p.PID, p.Parent, p.Exe, p.Args, p.Cwd, p.Zombie)
			for _, th := range p.Threads {
				fmt.Fprintf(&b, "    thread %v\n", th)
			}
			for _, d := range p.Descriptors {
				fmt.Fprintf(&b, "    fd %d %s %#o\n", d.FD, d.What, d.Flags)
			}
		}
		for _, f := range n.Inside.Files {
			fmt.Fprintf(&b, "  file %s %o %d %s\n", f.Path, f.Mode, f.Size, f.Target)
		}
	}
	return b.String()
}
