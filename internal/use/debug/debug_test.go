//go:build linux

package debug

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// open debugs a spec below examples, and skips where nothing can be executed.
func open(t *testing.T, path string) *Debugger {
	t.Helper()
	path = filepath.Join("../../../examples", path)
	if out, err := exec.Command(filepath.Join(filepath.Dir(path), "fetch")).CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	return openSpec(t, path)
}

func openSpec(t *testing.T, path string) *Debugger {
	t.Helper()
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), s, Options{System: system.Options{Version: "test"}, Memory: 300 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	var setup *ariadne.SetupError
	if _, err := d.Execute("next"); errors.As(err, &setup) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestVisitsAreTheSame: at each visit of a step, from whichever side, each node is the same to the
// last byte of its memory, also with faults, choices of programs, and threads that were preempted.
func TestVisitsAreTheSame(t *testing.T) {
	for _, c := range []struct{ spec, wanted string }{
		{"planted/commit.yaml", ""},
		{"faults/ledger-bug.yaml", " fail:"},
		{"threads/locks-bug.yaml", " preempt"},
		{"choose/counter-bug.yaml", "start n1 with choose:1@3/choose:2#1"},
		{"", "crash"},
	} {
		t.Run(c.spec, func(t *testing.T) {
			var d *Debugger
			if c.spec == "" {
				d = openSpec(t, "testdata/down.yaml")
			} else {
				d = open(t, c.spec)
			}
			r := rand.New(rand.NewPCG(1, 2))
			wander(t, d, r, 60, c.wanted)
			visits, seen := map[int][][sha256.Size]byte{}, 0
			for range 3 {
				for _, step := range r.Perm(len(d.known) + 1)[:min(20, len(d.known)+1)] {
					if err := d.Goto(step); err != nil {
						t.Fatal(err)
					}
					var sums [][sha256.Size]byte
					for id := range d.names {
						sum, err := d.digest(ariadne.NodeID(id))
						if err != nil {
							t.Fatal(err)
						}
						sums = append(sums, sum)
					}
					before, ok := visits[step]
					for id := range before {
						if seen++; before[id] != sums[id] {
							t.Errorf("step %d: %s is %x and was %x", step, d.names[id], sums[id][:4], before[id][:4])
						}
					}
					if !ok {
						visits[step] = sums
					}
				}
			}
			if seen == 0 {
				t.Error("no step was visited twice")
			}
		})
	}
}

// wander takes steps to the end: those whose names have a text where there are some.
func wander(t *testing.T, d *Debugger, r *rand.Rand, most int, wanted string) {
	t.Helper()
	if err := d.Goto(0); err != nil {
		t.Fatal(err)
	}
	took := false
	for range most {
		all := d.session.Enabled()
		if len(all) == 0 {
			break
		}
		name := all[0].Name
		if _, _, varied := strings.Cut(wanted, " with "); varied && !took {
			name, took = wanted, true // searches draw what programs ask for, and no list has it
		}
		for _, c := range all {
			if wanted != "" && !took && strings.Contains(c.Name, wanted) && r.IntN(3) == 0 {
				name, took = c.Name, true
			}
		}
		if _, err := d.Execute("choose " + name); err != nil {
			t.Fatal(err)
		}
	}
	if wanted != "" && !took {
		t.Errorf("there was no choice with %q", wanted)
	}
}

// TestCommands: what commands answer where nodes crash, stand still and are paused.
func TestCommands(t *testing.T) {
	d := openSpec(t, "testdata/down.yaml")
	for _, c := range []struct{ line, want string }{
		{"run", `^step \d+ of \d+.*\nthe execution ends here: clients done\n$`},
		{"keep natural", `^> natural, \d+ steps\n$`},
		{"goto start", `^step 0 of \d+ on natural: nothing has happened yet\n$`},
		{"nodes", `(?m)^server was not switched on yet$`},
		{"threads server", `^server: there is no thread \(was not switched on yet\)\n$`},
		{"next 2", `^step 2 of `},
		{"node server", `(?m)^server runs, clock .*\n.*\n +1 .* up$`},
		{"threads server", `^thread \d+ sh: read on /tmp/in\n|thread`},
		{"back", `^step 1 of `},
		{"next line ^beat", `\| beat`},
		{"back kind start", `^step 2 of \d+.*: client  start`},
		{"goto line ^beat", `\| beat`},
		{"goto 0.1s", `^step \d+ of `},
		{"list kind start", `(?m)^ +1 .* start.*\n.* 2 .* start`},
		{"choices", `(?m)^ *\d+ .* crash server for 2s$`},
		{"choose crash server for 2s", `^step (\d+) of \d+, .*: server  crash server for 2s`},
		{"node server", `^server is down \(crash\) until \d+\.\d+s, clock`},
		{"list -1-1", ``},
		{"run", `the execution ends here: clients done\n$`},
		{"lines server", `(?m) up$[^$]* up$`},
		{"back kind fault", `crash server`},
		{"diff server 1 2", `^server, behind step 1 \(-\) and step 2 \(\+\)\n`},
		{"keep crashed", `(?m)^> crashed, \d+ steps$`},
		{"branch natural", `the execution ends here: clients done\n$`},
		{"branches", `(?m)^> natural, .*\n  crashed`},
		{"help goto", `PLACE is one of`},
		{"help", `(?m)^ +g goto PLACE `},
	} {
		if c.want == "" {
			if _, err := d.Execute(c.line); err == nil {
				t.Errorf("%s: no error", c.line)
			}
			continue
		}
		got, err := d.Execute(c.line)
		if err != nil || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %v, want %s, got:\n%s", c.line, err, c.want, got)
		}
	}
}

// TestErrors: what cannot be done is said, and the debugger stays where it is.
func TestErrors(t *testing.T) {
	d := openSpec(t, "testdata/down.yaml")
	for line, want := range map[string]string{
		"gto 4":          `no command is called "gto"`,
		"goto":           "goto wants PLACE",
		"goto 400":       "there is no step 400: steps 0 to 1 are known",
		"goto violation": "no violation is known on this branch",
		"goto soon":      `"soon" is no place`,
		"where now":      `where takes no argument, but there is "now"`,
		"node n9":        `no node is called "n9": there are server, client`,
		"next kind fire": `no kind of steps is called "fire"`,
		"next line (":    `line wants a regular expression, not "("`,
		"next often":     `"often" says no step`,
		"back 7":         "there are only 1 steps before",
		"choose 99":      "there is no choice 99",
		"choose jump":    "no such step",
		"branch b":       `no branch is called "b"`,
		"keep trace":     `"trace" cannot be the name of a branch`,
		"diff server":    "diff wants a node and one or two steps",
		"step 0":         "there is no step 0",
		"lines server x": `"x" is no number of lines`,
		"run x":          `"x" is no number of steps`,
	} {
		text, err := d.Execute(line)
		if err == nil || !strings.Contains(err.Error(), want) || text != "" {
			t.Errorf("%s: %q, %v, want %q", line, text, err, want)
		}
		if d.Step() != 1 {
			t.Fatalf("%s: it stands behind step %d", line, d.Step())
		}
	}
	if text, err := d.Execute(" # nothing "); text != "" || err != nil {
		t.Errorf("a remark: %q, %v", text, err)
	}
	if _, err := d.Execute("quit"); !errors.Is(err, ErrQuit) {
		t.Error(err)
	}
}

// TestHelpNamesAll: each command has a line of help, and a short name belongs to one alone.
func TestHelpNamesAll(t *testing.T) {
	names := map[string]bool{"quit": true, "q": true, "exit": true}
	text, err := (&Debugger{}).Execute("help")
	if err != nil {
		t.Fatal(err)
	}
	for i := range commands {
		for _, name := range strings.Fields(commands[i].names) {
			if names[name] {
				t.Errorf("two commands are called %s", name)
			}
			names[name] = true
		}
		if !strings.Contains(text, commands[i].name()) || commands[i].doc == "" {
			t.Errorf("%s is not in the help", commands[i].name())
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 121 {
			t.Errorf("a line of help has %d columns: %s", len(line), line)
		}
	}
}
