//go:build linux

package node

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
)

// TestKill: what others of a node see of a process that a fault kills is what they see on Linux
// of one that somebody kills.
func TestKill(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kill")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-Wno-unused-result", "-static", "-pthread", "-o", program,
		"testdata/kill.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	native := exec.Command(program, "itself")
	native.Dir = t.TempDir()
	b, err := native.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(b)), "\n")
	n, apply := downOf(t, world.Kill, filepath.Dir(program), "/spec/kill")
	first := apply(ariadne.Input{Kind: ariadne.Start})
	if first.Processes == nil || !slices.Equal(*first.Processes, []string{"kill#1", "kill#2"}) {
		t.Fatalf("its processes are %v", first.Processes)
	}
	c, err := n.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Drop()
	fault := ariadne.Input{Kind: ariadne.Fault, At: first.Clock, Fault: ariadne.Kill{Process: "kill#2"}}
	out := apply(fault)
	if got := append(lines(&first), lines(&out)...); !slices.Equal(got, want) {
		t.Errorf("it says\n%s\nand natively\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(out.Exits) != 1 || out.Exits[0].Status != 0 || !out.Ended {
		t.Errorf("its commands end so: %v", out.Exits)
	}
	copied, err := c.Thaw()
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if again, err := copied.Apply(fault); err != nil || again.Digest != out.Digest {
		t.Errorf("a copy does something else: %v, %q", err, lines(&again))
	}
}

// TestKillOfACommand: a command that a fault kills has ended and has not died, nor has the shell
// that ends with its status; what ends otherwise has.
func TestKillOfACommand(t *testing.T) {
	for _, c := range []struct {
		command, victim string
		ended           bool
		status          []int // of those that died
	}{
		{"exec sleep 9", "sleep#1", true, nil},
		{"sleep 9; exit $?", "sleep#1", true, nil},
		{"sleep 9; exit 1", "sleep#1", true, []int{1}},
		{"sleep 9 & wait", "sh#1", true, nil},
		{"sleep 9; sleep 9; sleep 9", "sleep#1", false, nil},
	} {
		_, apply := downOf(t, world.Kill, t.TempDir(), "sh", "-c", c.command)
		first := apply(ariadne.Input{Kind: ariadne.Start})
		out := apply(ariadne.Input{Kind: ariadne.Fault, At: first.Clock, Fault: ariadne.Kill{Process: c.victim}})
		var status []int
		for _, e := range out.Exits {
			status = append(status, e.Status)
		}
		if out.Ended != c.ended || !slices.Equal(status, c.status) {
			t.Errorf("%s: ended %v, died with %v", c.command, out.Ended, status)
		}
	}
}

// TestKilledCommandRunsAgain: a command that was killed, or a shell that passes that on, runs again
// when the time has come, by what the spec has in its place; not when the node has gone down
// meanwhile. Other deaths are deaths.
func TestKilledCommandRunsAgain(t *testing.T) {
	const log = `echo x >>log; wc -l <log; `
	for _, c := range []struct {
		command, victim string
		restart         []string
		crash           bool
		says            []string // when it runs again; nil: it does not
	}{
		{command: log + "exec sleep 900", victim: "sleep#1", says: []string{"2"}},
		{command: log + "sleep 900; exit $?", victim: "sleep#1", says: []string{"2"}},
		{command: log + "sleep 900; exit $?", victim: "sh#1", says: []string{"2"}},
		{command: log + "sleep 900; exit 1", victim: "sleep#1"},
		{command: log + "sleep 900; sleep 900", victim: "sleep#1"},
		{command: log + "exec sleep 900", victim: "sleep#1", restart: []string{"sh", "-c", "cat log; echo again"},
			says: []string{"x", "again"}},
		{command: log + "exec sleep 900", victim: "sleep#1", crash: true},
	} {
		n, apply := downOf(t, world.Kill, t.TempDir(), "sh", "-c", c.command)
		n.cfg.Faults.Kill.Restart, n.joins = 3*time.Second, true
		if c.restart != nil {
			n.cfg.Restart = []config.Command{{Args: c.restart}}
		}
		first := apply(ariadne.Input{Kind: ariadne.Start})
		out := apply(ariadne.Input{Kind: ariadne.Fault, At: first.Clock, Fault: ariadne.Kill{Process: c.victim}})
		if c.crash {
			out = apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
				Fault: ariadne.Outage{Down: ariadne.Crashed, For: time.Minute}})
		}
		if again := out.Timer == "restart/0"; again != (c.says != nil) || again &&
			(out.Ended || out.Done || out.Deadline > out.Clock.Add(3*time.Second)) {
			t.Errorf("%s, %s killed: timer %q at %v, ended %v, done %v", c.command, c.victim, out.Timer, out.Deadline,
				out.Ended, out.Done)
		}
		if out.Timer != "restart/0" {
			continue
		}
		frozen, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		defer frozen.Drop()
		fire := ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
		out = apply(fire)
		if got := lines(&out); !slices.Equal(got, c.says) {
			t.Errorf("%s, %s killed: then it says %q, want %q", c.command, c.victim, got, c.says)
		}
		copied, err := frozen.Thaw()
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		if again, err := copied.Apply(fire); err != nil || again.Digest != out.Digest {
			t.Errorf("%s, %s killed: a copy does something else: %v, %q", c.command, c.victim, err, lines(&again))
		}
	}
}

// TestKillWithinAStep: before what its process sends or writes, also the first such thing, before
// it ends, and at no other call.
func TestKillWithinAStep(t *testing.T) {
	const program = `(echo a >a; echo b >b); cat a b 2>/dev/null; : >c; echo over`
	boot := func(v ariadne.Variation) ariadne.Output {
		_, apply := downOf(t, world.Kill, t.TempDir(), "sh", "-c", program)
		return apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
	}
	undisturbed := boot("")
	got := map[string]bool{}
	for _, p := range undisturbed.Places {
		for _, a := range p.Alternatives {
			v := ariadne.Variation(a + "@" + p.Name)
			out := boot(v)
			if out.Variation() != v {
				t.Errorf("%s: it is varied %q", v, out.Variation())
			}
			got[strings.Join(lines(&out), " ")] = true
		}
	}
	// The shell itself is killed before it makes c, and no more is said. Where one of its children
	// is killed as it ends, or the shell is, all is done.
	if want := map[string]bool{"Killed over": true, "Killed a over": true, "a b": true, "Killed a b over": true,
		"a b over": true}; !maps.Equal(got, want) {
		t.Errorf("it says %v, want %v; places %v", got, want, undisturbed.Places)
	}
}
