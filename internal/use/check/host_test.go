package check_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// TestAnswersOfTheHost: whatever a program asks of the host is an answer that what it does rests
// on: each of these asks something in its own way, and what is done to the host then changes the
// answer. A check with the memory of an earlier one must say the same as one without.
func TestAnswersOfTheHost(t *testing.T) {
	for _, c := range []struct{ name, asks, changes string }{
		{"a missing file", `[ -e /spec/bad ] && exit 1`, `touch bad`},
		{"a file that goes", `[ -e /spec/good ] && exit 1`, `rm good`},
		{"a size", `[ -s /spec/empty ] && exit 1`, `echo 1 >empty`},
		{"a mode", `[ -x /spec/good ] && exit 1`, `chmod a+x good`},
		{"a listing", `ls /spec/dir | grep -q two && exit 1`, `touch dir/two`},
		{"a kind in a listing", `find /spec/dir -type d -name one | grep -q . && exit 1`, `rm dir/one; mkdir dir/one`},
		{"a listing of a subdirectory by a pattern", `for f in /spec/*/two; do [ -f $f ] && exit 1; done`,
			`touch dir/two`},
		{"a link", `[ "$(readlink /spec/link)" = good ] || exit 1`, `ln -sf empty link`},
		{"a link on the way", `cat /spec/to/one | grep -q other && exit 1`,
			`mkdir d2; echo other >d2/one; rm to; ln -s d2 to`},
		{"a link of the node's own to the host", `ln -s /spec/bad own; cat own 2>/dev/null && exit 1`, `touch bad`},
		{"a relative path", `cd /spec/dir; [ -e ../bad ] && exit 1`, `touch bad`},
		{"a path by a descriptor", `exec 3</spec/dir; [ -e /proc/self/fd/3/two ] && exit 1`, `touch dir/two`},
		{"a path by the working directory", `cd /spec/dir; [ -e /proc/self/cwd/two ] && exit 1`, `touch dir/two`},
		{"a program that is not found", `PATH=/spec/dir:$PATH; tool 2>/dev/null && exit 1`,
			`printf '#!/bin/sh\nexit 0\n' >dir/tool; chmod +x dir/tool`},
		{"a program found earlier", `PATH=/spec/dir:/spec/bin:$PATH; tool && exit 1`,
			`printf '#!/bin/sh\nexit 0\n' >dir/tool; chmod +x dir/tool`},
		{"an interpreter by a link", `/spec/script && exit 1`, `ln -sf /bin/true interpreter`},
		{"an interpreter that is missing", `/spec/orphan 2>/dev/null && exit 1`, `ln -s /bin/true parent`},
		{"what a directory would be made over", `mkdir /spec/new 2>&1 | grep -q exists && exit 1`, `mkdir new`},
		{"where one changes to", `cd /spec/new 2>/dev/null && exit 1`, `mkdir new`},
		{"what is copied", `[ -e two ] && exit 1`, `touch dir/two`},
		{"a link that is copied", `[ "$(readlink l)" = x ] || exit 1`, `ln -sf y dir/l`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sh(t, dir, `echo 1 >good; : >empty; mkdir dir bin; echo 1 >dir/one; ln -s good link; ln -s dir to; ln -s x dir/l
				printf '#!/bin/sh\nexit 1\n' >bin/tool; ln -s /bin/false interpreter
				printf '#!/spec/interpreter\n' >script; printf '#!/spec/parent\n' >orphan; chmod +x bin/tool script orphan`)
			copied := ""
			if strings.Contains(c.name, "copied") {
				copied = "    dir: dir\n"
			}
			path := filepath.Join(dir, "s.yaml")
			systemtest.Write(t, path, fmt.Sprintf("nodes:\n  - name: a\n    client: true\n%s    command: |\n      sleep 1; %s; exit 0\n", copied, c.asks))
			check := func(out string) (violated bool, executed int) {
				s, err := spec.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				r, err := check.Check(t.Context(), s,
					check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(dir, out), Executions: 1,
						Workers: 1, Time: time.Minute,
						Search: check.Search{Strategy: "depth-first"}})
				var setup *ariadne.SetupError
				if errors.As(err, &setup) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Bugs)+len(r.Doubts) > 0 {
					t.Errorf("bugs %q, doubts %q", r.Bugs, r.Doubts)
				}
				return len(r.Violations) > 0, r.Coverage.Nodes.Executed
			}
			before, _ := check("out")
			if again, n := check("out"); again != before || n != 0 {
				t.Errorf("nothing has changed, and %d transitions are executed", n)
			}
			sh(t, dir, c.changes)
			warm, n := check("out")
			cold, _ := check("cold")
			if cold == before {
				t.Errorf("the program does not notice the change: violated %v", before)
			}
			if warm != cold || n == 0 {
				t.Errorf("after the change: violated %v, with nothing remembered %v; %d transitions are executed", warm, cold, n)
			}
		})
	}
}

func sh(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// reader is a node that does what a file of the host says.
type reader struct {
	worldtest.Idle
	path string
}

func (p reader) Start(c *worldtest.Ctx) {
	b, _ := os.ReadFile(p.path)
	c.Log("%s", b)
	c.Output().Files = []ariadne.File{{Path: p.path}}
	if string(b) == "fail" {
		c.Exit(1)
	}
}

// TestReplayTellsWhatChangedOnTheHost: when a replay goes another way, and a file is not as it was
// that a trace does not hold for, it says which, and that is no bug.
func TestReplayTellsWhatChangedOnTheHost(t *testing.T) {
	s := systemtest.Spec(t, 1, 0)
	path := filepath.Join(t.TempDir(), "table")
	systemtest.Write(t, path, "1")
	programs := func() []worldtest.Program { return []worldtest.Program{reader{path: path}} }
	o := run.Options{System: (&systemtest.Fakes{Programs: programs}).Options(), Out: filepath.Join(s.Dir, "out")}
	r, err := run.Run(t.Context(), s, o)
	if err != nil || len(r.Bugs)+len(r.Doubts) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	host, err := os.ReadFile(r.Trace + ".host")
	user := "fact user root\n"
	if os.Geteuid() != 0 {
		user = fmt.Sprintf("fact user \"%d, group %d of ", os.Geteuid(), os.Getegid())
	}
	if err != nil || !strings.Contains(string(host), user) ||
		!strings.Contains(string(host), "fs/protected_hardlinks=") {
		t.Errorf("%v, %q is not in\n%s", err, user, host)
	}
	again := func() *record.Report {
		o.Out = ""
		p, err := run.Replay(t.Context(), s, r.Trace, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := again(); p.Outcome != record.Nothing {
		t.Errorf("as it was: %+v", p)
	}
	systemtest.Write(t, path, "another")
	p := again()
	if p.Outcome != record.Inconclusive || len(p.Doubts) != 1 ||
		!strings.Contains(p.Doubts[0], "file "+path+" has changed") {
		t.Errorf("changed: %v, %q, %q", p.Outcome, p.Doubts, p.Bugs)
	}
	if err := os.Remove(r.Trace + ".host"); err != nil {
		t.Fatal(err)
	}
	if p := again(); p.Outcome != record.Inconclusive || !strings.Contains(p.Doubts[0], ".host is missing") {
		t.Errorf("without %s.host: %v, %q, %q", r.Trace, p.Outcome, p.Doubts, p.Bugs)
	}
}

// changer is a node that finds another file each time.
type changer struct{ reader }

func (p changer) Start(c *worldtest.Ctx) {
	p.reader.Start(c)
	b, _ := os.ReadFile(p.path)
	os.WriteFile(p.path, append(b, 'x'), 0o666)
}

// TestHostChangesDuringACheck: what changes while a check is running is the host's doing, and makes
// it inconclusive.
func TestHostChangesDuringACheck(t *testing.T) {
	for _, strategy := range []string{"depth-first", "walks", "default"} {
		s := systemtest.Spec(t, 2, 1)
		path := filepath.Join(t.TempDir(), "table")
		systemtest.Write(t, path, "1")
		programs := func() []worldtest.Program {
			return []worldtest.Program{changer{reader{path: path}}, &worldtest.Chaos{Nodes: 2, Seed: 1}}
		}
		r := inMemory(t, s, programs,
			check.Options{Workers: 1, Executions: 20, Search: check.Search{Strategy: strategy, Audit: 1, NoMemo: true}})
		if r.Outcome != record.Inconclusive || len(r.Bugs) > 0 ||
			!strings.Contains(strings.Join(r.Doubts, "\n"), "file "+path+" has changed") {
			t.Errorf("%s: %v, doubts %q, bugs %q", strategy, r.Outcome, r.Doubts, r.Bugs)
		}
	}
}

// fickle is a node that does something else each time.
type fickle struct {
	worldtest.Idle
	count *int
}

func (p fickle) Start(c *worldtest.Ctx) {
	*p.count++
	c.Log("%d", *p.count)
}

// TestMismatchSaysWhere: who does not do the same twice is named, with the step and what to do.
func TestMismatchSaysWhere(t *testing.T) {
	s := systemtest.Spec(t, 2, 1)
	count := 0
	programs := func() []worldtest.Program {
		return []worldtest.Program{worldtest.Idle{}, fickle{count: &count}}
	}
	r := inMemory(t, s, programs,
		check.Options{Workers: 1, Executions: 3, Search: check.Search{Strategy: "depth-first", Audit: 1}})
	if r.Outcome != record.ToolBug || len(r.Bugs) == 0 {
		t.Fatalf("%v: %q", r.Outcome, r.Bugs)
	}
	for _, want := range []string{"node n2, its step 1 (start n2, at ", "two executions of the step differ",
		"first different system call, number 1", "docs/internals/limits.md"} {
		if !strings.Contains(r.Bugs[0], want) {
			t.Errorf("%q is not in %s", want, r.Bugs[0])
		}
	}
}

// lister is a node that lists the spec's directory, into which a file comes before it does
// so again. It may ask for that one by its name.
type lister struct {
	worldtest.Idle
	dir    string
	asks   bool
	starts *int
}

func (p lister) Start(c *worldtest.Ctx) {
	c.Output().Files = []ariadne.File{{Path: "/spec", Use: ariadne.FileList}}
	if *p.starts++; *p.starts == 1 {
		return
	}
	os.WriteFile(filepath.Join(p.dir, "new"), nil, 0o666)
	if p.asks {
		c.Output().Files = append(c.Output().Files, ariadne.File{Path: "/spec/new", Use: ariadne.FileName})
	}
}

// TestFileComesDuringACheck: a file that comes while a check is running, and that no node asks for
// by its name, is in no listing and changes nothing.
func TestFileComesDuringACheck(t *testing.T) {
	for _, asks := range []bool{false, true} {
		s := systemtest.Spec(t, 2, 1)
		starts := 0
		programs := func() []worldtest.Program {
			return []worldtest.Program{lister{dir: s.Dir, asks: asks, starts: &starts},
				&worldtest.Chaos{Nodes: 2, Seed: 1}}
		}
		r := inMemory(t, s, programs,
			check.Options{Workers: 1, Executions: 5, Search: check.Search{Strategy: "walks", NoMemo: true}})
		doubts := strings.Join(r.Doubts, "\n")
		if asks != strings.Contains(doubts, "file /spec/new is new, and a node asks for it by its name") || !asks &&
			len(r.Doubts) > 0 || len(r.Bugs) > 0 || starts < 2 {
			t.Errorf("asks for it by name: %v: %d starts, doubts %q, bugs %q", asks, starts, r.Doubts, r.Bugs)
		}
	}
}
