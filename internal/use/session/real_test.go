//go:build linux

package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

func planted(t *testing.T, name string) *spec.Spec {
	t.Helper()
	if out, err := exec.Command("../../../examples/planted/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	s, err := spec.Read(filepath.Join("../../../examples/planted", name+".yaml"))
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
	if out, err := exec.Command("../../../examples/faults/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	sp, err := spec.Read("../../../examples/faults/ledger-bug.yaml")
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
	read := 0
	if err := s.Go(steps[len(steps)/2]); err != nil {
		t.Fatal(err)
	}
	for i, n := range look() {
		if n.Inside == nil {
			continue
		}
		if err := s.Visit(ariadne.NodeID(i), func(m inspect.Machine) error {
			read++
			return peek(m, n.Inside)
		}); err != nil {
			t.Error(err)
		}
	}
	if read < 2 {
		t.Errorf("%d nodes were looked into", read)
	}
	if got, want := text(look()), text(views[steps[len(steps)/2]]); got != want {
		t.Errorf("after it was looked into\n%s\nbefore\n%s", got, want)
	}
	middle := text(views[steps[len(steps)/2]])
	t.Log(middle)
	for _, want := range []string{`(?m)^  process \d+ .*commit`, `(?m)^    thread \d+ .*(poll|recv|read|epoll_wait|select|accept)`, `(?m)^    fd \d+ socket:\[\d+\] [\d.]+:\d+`, `(?m)^    fd 1 pipe:\[2\]`} {
		if !regexp.MustCompile(want).MatchString(middle) {
			t.Errorf("%s is not in\n%s", want, middle)
		}
	}
}

// peek reads what a machine is said to have: programs in memory where threads stand in code, and
// files.
func peek(m inspect.Machine, v *inspect.View) error {
	for _, p := range v.Processes {
		if p.Zombie {
			continue
		}
		all, err := m.Mappings(p.PID)
		if err != nil {
			return err
		}
		at := func(address uint64) *inspect.Mapping {
			for i := range all {
				if address >= all[i].Start && address < all[i].End {
					return &all[i]
				}
			}
			return &inspect.Mapping{}
		}
		first := slices.IndexFunc(all, func(a inspect.Mapping) bool {
			return a.Offset == 0 && strings.HasSuffix(a.Name, path.Base(p.Exe))
		})
		if first < 0 {
			return fmt.Errorf("process %d has no %s among %v", p.PID, p.Exe, all)
		}
		head := make([]byte, 8192)
		if n, err := m.ReadMemory(p.PID, all[first].Start, head[:4]); err != nil || n != 4 ||
			string(head[:4]) != "\x7fELF" {
			return fmt.Errorf("%s begins with %q, %v", p.Exe, head[:n], err)
		}
		last := &all[len(all)-1]
		for i := range all { // at the end of a mapping with a gap behind it
			if i+1 < len(all) && all[i].Read && all[i].End < all[i+1].Start && !strings.HasPrefix(all[i].Name, "[") {
				last = &all[i]
			}
		}
		if n, err := m.ReadMemory(p.PID, last.End-4096, head); n != 4096 {
			return fmt.Errorf("%d bytes at the end of %v, %v", n, last, err)
		}
		if _, err := m.ReadMemory(p.PID, 8, head); err == nil {
			return errors.New("there is memory at 8")
		}
		for _, th := range p.Threads {
			r, err := m.Registers(th.TID)
			if err != nil {
				return err
			}
			ip, _ := r.Of("rip")
			sp, _ := r.Of("rsp")
			if !at(ip).Execute || !at(sp).Write || len(r.Extended) < 512 {
				return fmt.Errorf("thread %v stands at %#x with its stack at %#x and %d bytes of other registers", th, ip, sp, len(r.Extended))
			}
		}
	}
	for _, f := range v.Files {
		if f.Mode&0o170000 != 0o100000 {
			continue
		}
		if n, err := m.ReadFile(f.Path, 0, make([]byte, f.Size+10)); err != nil || int64(n) != f.Size {
			return fmt.Errorf("%s has %d bytes and not %d, %v", f.Path, n, f.Size, err)
		}
	}
	return nil
}

// text is what nodes look like.
func text(nodes []session.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "node %s, on %v, %d steps, clock %v, deadline %v\n", n.Name, n.Started, n.Steps, n.Clock,
			n.Deadline)
		for _, l := range n.Logs {
			fmt.Fprintf(&b, "  log %v %s\n", l.At, l.Text)
		}
		if n.Inside == nil {
			continue
		}
		for _, p := range n.Inside.Processes {
			fmt.Fprintf(&b, "  process %d of %d: %s %q in %s, zombie %v\n", p.PID, p.Parent, p.Exe, p.Args, p.Cwd,
				p.Zombie)
			for _, th := range p.Threads {
				fmt.Fprintf(&b, "    thread %v\n", th)
			}
			for _, d := range p.Descriptors {
				fmt.Fprintf(&b, "    fd %d %s %#o, %d unread, %d unsent\n", d.FD, d.What, d.Flags, d.Unread, d.Unsent)
			}
		}
		for _, timer := range n.Inside.Timers {
			fmt.Fprintf(&b, "  timer %v of %s, silent %v\n", timer.At, timer.Of, timer.Silent)
		}
		for _, f := range n.Inside.Files {
			fmt.Fprintf(&b, "  file %s %o %d %s\n", f.Path, f.Mode, f.Size, f.Target)
		}
	}
	return b.String()
}

// TestCancelReal: a step of real processes that does not end by itself is cancelled where it is,
// and can be tried again.
func TestCancelReal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spin.yaml")
	text := `name: spin
limits: {divergence: 60s}
nodes:
  - name: n1
    command: sh -c 'while :; do :; done'
    client: true
  - name: n2
    command: sleep 1
`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	sp, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), sp, session.Options{System: system.Options{Version: "test"}, Memory: 300 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	take := func(name string) error {
		began, ended := time.Now(), make(chan error, 1)
		go func() {
			_, err := s.Step(name)
			ended <- err
		}()
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Second):
			s.Cancel()
		}
		err := <-ended
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("a step was cancelled after %v", took)
		}
		return err
	}
	var setup *ariadne.SetupError
	for range 2 {
		if err := take("start n1"); errors.As(err, &setup) {
			t.Skip(err)
		} else if !errors.Is(err, session.ErrCancelled) || s.Steps() != 0 {
			t.Fatalf("%v at step %d", err, s.Steps())
		}
	}
	// However slow the machine is, nobody cancels this one.
	if _, err := s.Step("start n2"); err != nil || s.Steps() != 1 {
		t.Errorf("%v at step %d", err, s.Steps())
	}
}
