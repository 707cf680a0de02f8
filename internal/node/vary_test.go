//go:build linux

package node

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/spec"
	"ariadne/internal/tracee"
	"ariadne/internal/world"
)

// varied runs one step of a node of one command, whose calls may fail, and gives it up.
func varied(t *testing.T, dir string, args []string, errors map[string][]string, v ariadne.Variation) ariadne.Output {
	t.Helper()
	s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000}, Fail: spec.Fail{Errors: errors},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
	s.Faults[world.Fail] = 1
	n := Start(Config{Spec: s, Seed: 1})
	out, err := n.Apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	return out
}

func lines(o *ariadne.Output) (all []string) {
	for _, l := range o.Logs {
		all = append(all, l.Text)
	}
	return all
}

// TestCallsFailAsOnLinux: a program that has no more descriptors, or no room on its disk, sees
// the same on Linux as where all calls fail that may: those fail that would look for what is
// missing, and no others.
func TestCallsFailAsOnLinux(t *testing.T) {
	program := filepath.Join(t.TempDir(), "lacking")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", program, "testdata/lacking.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	for _, c := range []struct {
		what, error string
		calls       string
		from        string // the first place
		native      []string
	}{
		{"files", "EMFILE", "open openat creat socket accept accept4 pipe pipe2 epoll_create1 eventfd2", "/openat:/etc/passwd#1", []string{program, "files", "really"}},
		{"room", "ENOSPC", "write writev pwrite64 pwritev pwritev2 fallocate", "/write:/node/file#1",
			[]string{"unshare", "-Urm", "sh", "-c", "mount -t tmpfs -o size=16k none /mnt && cd /mnt && exec " + program + " room really"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			runtime.LockOSThread()
			if err := tracee.Pin(0); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(c.native[0], c.native[1:]...)
			cmd.Dir = t.TempDir()
			native, err := cmd.CombinedOutput()
			if err != nil && strings.Contains(string(native), "unshare: ") || strings.Contains(string(native), "mount: ") {
				t.Skipf("no tmpfs of our own: %s", native)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, native)
			}
			errors := map[string][]string{}
			for call := range strings.FieldsSeq(c.calls) {
				errors[call] = []string{c.error}
			}
			args := []string{"/spec/lacking", c.what}
			out := varied(t, filepath.Dir(program), args, errors, "")
			for {
				more := out.More()
				from := 0
				if out.Variation() == "" {
					from = slices.IndexFunc(more, func(m ariadne.Choice) bool { return strings.HasSuffix(m.Place, c.from) })
				}
				if from < 0 {
					t.Fatalf("no place %s among %v: %q %v", c.from, out.Places, lines(&out), out.Exits)
				}
				if from == len(more) {
					break
				}
				v := out.Variation().And(more[from])
				if out = varied(t, filepath.Dir(program), args, errors, v); out.Variation() != v {
					t.Fatalf("varied by %s and not by %s: %v %q %v", out.Variation(), v, out.Places, lines(&out), out.Exits)
				}
			}
			if got := strings.Join(lines(&out), "\n") + "\n"; got != string(native) {
				t.Errorf("here\n%s\non Linux\n%s", got, native)
			}
		})
	}
}

// TestVariationsAreDrawn: a draw comes to the alternatives one after the other, and varies
// the step as the same variation does when it is said; beyond them the step is undisturbed.
func TestVariationsAreDrawn(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: []string{"/bin/sh", "-c", "echo a >f; echo b >>f; echo c | cat >g"}}}}}}
	s.Faults[world.Fail] = 1
	step := func(in ariadne.Input) ariadne.Output {
		n := Start(Config{Spec: s, Seed: 1})
		in.Kind = ariadne.Start
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		return out
	}
	plain := step(ariadne.Input{})
	all := plain.More()
	if len(all) != 6 || plain.Variation() != "" { // three writes, each with ENOSPC and EIO
		t.Fatalf("places %v", plain.Places)
	}
	for i, c := range all {
		drawn := step(ariadne.Input{Draw: &ariadne.Draw{Nth: i + 1, Kinds: []string{"fail"}}})
		said := step(ariadne.Input{Vary: ariadne.Variation(c.String())})
		if drawn.Variation() != ariadne.Variation(c.String()) || drawn.Digest != said.Digest {
			t.Errorf("number %d is %s, want %s; digests %v and %v", i+1, drawn.Variation(), c, drawn.Digest, said.Digest)
		}
		if said.Digest == plain.Digest {
			t.Errorf("%s changes nothing", c)
		}
	}
	for _, d := range []ariadne.Draw{{Nth: len(all) + 1, Kinds: []string{"fail"}}, {Nth: 1, Kinds: []string{"other"}}, {Nth: 1}} {
		if out := step(ariadne.Input{Draw: &d}); out.Digest != plain.Digest {
			t.Errorf("%+v: %s", d, out.Variation())
		}
	}
	s.Fail.Paths = []string{"*/g"}
	if out := step(ariadne.Input{}); len(out.Places) != 0 {
		t.Errorf("no path is like */g, and there are %v", out.Places)
	}
	s.Fail.Paths = []string{"/node/*"}
	if out := step(ariadne.Input{}); len(out.Places) != 3 {
		t.Errorf("on /node/* are %v", out.Places)
	}
}
