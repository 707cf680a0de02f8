//go:build linux

package check_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// asker is a program that speaks with who searches.
type asker struct{ name, language, command, source string }

// askers are programs that ask twice, which of three things, and fail when they are told the last
// and then the second. How they ask is CLIENT, which stands in docs/guides/programs.md.
var askers = []asker{
	{"sh", "sh", "sh ask.sh", `CLIENT
a=$(choose 3)
b=$(choose 3)
echo "told $a $b"
[ "$a $b" != "2 1" ] || kill -ABRT $$
`},
	{"py", "Python", "python3 ask.py", `import os
CLIENT
a, b = choose(3), choose(3)
print("told", a, b, flush=True)
if (a, b) == (2, 1): os.abort()
`},
	{"c", "C", "./ask", `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
CLIENT
int main(void) {
	int a = choose(3), b = choose(3);
	printf("told %d %d\n", a, b);
	fflush(stdout);
	if (a == 2 && b == 1) abort();
	return 0;
}
`},
	{"go", "Go", "./ask", `package main
import ("fmt"; "os"; "syscall")
CLIENT
func main() {
	a, b := choose(3), choose(3)
	fmt.Println("told", a, b)
	if a == 2 && b == 1 { syscall.Kill(os.Getpid(), syscall.SIGABRT) }
}
`},
}

// documented is how a language asks or tells, as docs/guides/programs.md says it: the function that
// its program calls.
func documented(t *testing.T, a asker) string {
	t.Helper()
	function := "event("
	for _, f := range []string{"choose", "tell"} {
		if strings.Contains(a.source, f+"(") || strings.Contains(a.source, f+" ") {
			function = f + "("
		}
	}
	for line := range strings.Lines(systemtest.Read(t, "../../../docs/guides/programs.md")) {
		if rest, ok := strings.CutPrefix(line, "| "+a.language+" | `"); ok && strings.Contains(rest, function) {
			return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(rest), "` |"), "\\|", "|")
		}
	}
	t.Fatalf("docs/guides/programs.md has no %s) for %s", function, a.language)
	return ""
}

// asking returns the spec of a program, which is told nothing where nobody searches.
func asking(t *testing.T, a asker) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "ask."+a.name)
	systemtest.Write(t, file, strings.Replace(a.source, "CLIENT", documented(t, a), 1))
	build := map[string][]string{"c": {"cc", "-O1", "-Wall", "-pthread", "-o"}, "go": {"go", "build", "-o"}}[a.name]
	if build != nil {
		if out, err := exec.Command(build[0],
			append(build[1:], filepath.Join(dir, "ask"), file)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", build[0], err, out)
		}
	}
	args := strings.Fields(a.command)
	if strings.HasPrefix(args[0], "./") || len(args) > 1 {
		args[len(args)-1] = filepath.Join(dir, args[len(args)-1])
	}
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil || string(out) != "told 0 0\n" {
		t.Errorf("where nobody searches: %q, %v", out, err)
	}
	systemtest.Write(t, filepath.Join(dir, "spec.yaml"), "nodes:\n  - command: "+a.command+"\n    client: true\n")
	s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// replays sees to it that the trace of the first violation shows it again.
func replays(t *testing.T, strategy string, r *record.Report) {
	t.Helper()
	for _, loose := range []bool{false, true} {
		again, err := run.Replay(t.Context(), nil, r.Violations[0].Trace,
			run.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Loose: loose})
		if err != nil || again.Mismatch != nil || again.Outcome != record.Violated ||
			again.Violations[0].Message != r.Violations[0].Message {
			t.Fatalf("%s, loose %v: %+v, %v", strategy, loose, again, err)
		}
	}
}

// TestProgramsChoose: what a program asks for is tried in all combinations, each once, by every
// strategy that is exhaustive, and drawn by all others; the trace has it and replays.
func TestProgramsChoose(t *testing.T) {
	for _, a := range askers {
		t.Run(a.name, func(t *testing.T) {
			s := asking(t, a)
			for _, row := range strategy.Rows() {
				if row.Asks || row.Name == strategy.LateName || // it chooses nothing but times
					a.name != "sh" && row.Name != strategy.DefaultName && row.Name != "random" {
					continue
				}
				o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Executions: 100, Workers: 2,
					KeepGoing: true, Search: check.Search{Strategy: row.Name}}
				if row.Lives {
					o.Workers = 1
				} else {
					o.Search.Audit = 1
				}
				r, err := check.Check(t.Context(), s, o)
				if err != nil || len(r.Bugs) > 0 || len(r.Doubts) > 0 {
					t.Fatalf("%s: %v, %v", row.Name, err, r)
				}
				if row.Once {
					if r.Outcome != record.Nothing {
						t.Errorf("%s: %v", row.Name, r.Outcome)
					}
					continue
				}
				if r.Outcome != record.Violated || len(r.Violations) != 1 {
					t.Fatalf("%s: %v after %d executions", row.Name, r.Outcome, r.Executions)
				}
				if a.name == "sh" && r.Coverage.Exhausted && !row.Lives &&
					(r.Coverage.LocalStates[0] != 9 || row.Name == "depth-first" && r.Executions != 9) {
					t.Errorf("%s: %d executions to %v local states, want 9", row.Name, r.Executions,
						r.Coverage.LocalStates)
				}
				switch row.Name {
				case "depth-first", "breadth-first", "deviations", "dpor", "sleep-sets", "all-paths":
					if !r.Coverage.Exhausted {
						t.Errorf("%s: not exhausted: %s", row.Name, r.Coverage.Missed)
					}
				}
				path := r.Violations[0].Trace
				if text := systemtest.Read(t, path); !strings.Contains(text, "with choose:2@") ||
					!strings.Contains(text, "/choose:3#1,choose:1@") {
					t.Errorf("the trace:\n%s", text)
				}
				replays(t, row.Name, r)
			}
		})
	}
}

// TestChoicesAreRemembered: a search with choices that is ended and resumed comes to the same
// as a whole one, and executes nothing again.
func TestChoicesAreRemembered(t *testing.T) {
	for _, name := range []string{"depth-first", "dpor", "deviations"} {
		s := asking(t, askers[0])
		o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, KeepGoing: true,
			Search: check.Search{Strategy: name}}
		check := func() *record.Report {
			r, err := check.Check(t.Context(), s, o)
			if err != nil || len(r.Bugs) > 0 {
				t.Fatal(err, r)
			}
			return r
		}
		whole := check()
		o.Out, o.Executions = filepath.Join(t.TempDir(), "parts"), 4
		first := check()
		o.Resume, o.Executions = true, 0
		rest := check()
		if n := first.Coverage.Nodes.Executed + rest.Coverage.Nodes.Executed; !rest.Coverage.Exhausted ||
			rest.Executions != whole.Executions || n != whole.Coverage.Nodes.Executed {
			t.Errorf("%s: %d executions and %d transitions in parts, as a whole %d and %d", name, rest.Executions, n, whole.Executions, whole.Coverage.Nodes.Executed)
		}
	}
}

// TestNothingFailsWhileFaultsAreOff: what a program does between "fault off" and "fault on" goes
// well, and what comes after may fail.
func TestNothingFailsWhileFaultsAreOff(t *testing.T) {
	executions := func(faults, script string) int {
		t.Helper()
		dir := t.TempDir()
		systemtest.Write(t, filepath.Join(dir, "setup.sh"), script)
		systemtest.Write(t, filepath.Join(dir, "spec.yaml"),
			"faults: {"+faults+"}\nnodes:\n  - command: sh setup.sh\n    client: true\n")
		s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Check(t.Context(), s,
			check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
				Search: check.Search{Strategy: "depth-first"}})
		if err != nil || r.Outcome != record.Nothing || !r.Coverage.Exhausted {
			t.Errorf("%+v, %v", r, err)
		}
		return r.Executions
	}
	if n := executions("fail: 1", `echo fault off >/dev/ariadne
echo a >f && echo b >>f || kill -ABRT $$
echo fault on >/dev/ariadne
echo c >>f || echo noticed
`); n != 3 { // as it is, ENOSPC, EIO
		t.Errorf("with calls that fail %d executions", n)
	}
	threads := "(echo a; echo b) | cat\n"
	if n := executions("preempt: 1", "echo fault off >/dev/ariadne\n"+threads); n != 1 {
		t.Errorf("with threads that are late %d executions", n)
	}
	if n := executions("preempt: 1", threads); n < 2 {
		t.Errorf("no thread was late")
	}
}

// TestWhatIsNotUnderstoodIsRefused, and the run is inconclusive for that.
func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	dir := t.TempDir()
	systemtest.Write(t, filepath.Join(dir, "spec.yaml"), "nodes:\n  - command: sh -c 'echo chose 3 >/dev/ariadne || echo no'\n    client: true\n")
	s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Run(t.Context(), s, run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || r.Outcome != record.Inconclusive || len(r.Refusals) != 1 ||
		r.Refusals[0].Name != "write to /dev/ariadne" {
		t.Errorf("%+v, %v", r, err)
	}
}
