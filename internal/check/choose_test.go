//go:build linux

package check_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ariadne/internal/check"
	"ariadne/internal/record"
	"ariadne/internal/run"
	"ariadne/internal/search/strategy"
	"ariadne/internal/spec"
	"ariadne/internal/system/systemtest"
)

// askers are programs that ask twice, which of three numbers and then which of three words, and
// fail when they are told 2 and put. The clients are those of docs/explore.md.
var askers = []struct{ name, command, source string }{
	{"sh", "sh ask.sh", `choose() {
	[ -c /dev/ariadne ] || { echo 0; return; }
	{ echo "choose $*" >&3; read -r c <&3; } 3<>/dev/ariadne
	echo "$c"
}
a=$(choose 3)
b=$(choose get put del)
echo "told $a $b"
[ "$a $b" != "2 put" ] || kill -ABRT $$
`},
	{"py", "python3 ask.py", `import os
def choose(*what):
    if not os.path.exists("/dev/ariadne"): return "0"
    fd = os.open("/dev/ariadne", os.O_RDWR)
    os.write(fd, ("choose " + " ".join(map(str, what))).encode())
    try: return os.read(fd, 99).decode().strip()
    finally: os.close(fd)
a, b = choose(3), choose("get", "put", "del")
print("told", a, b, flush=True)
if (a, b) == ("2", "put"): os.abort()
`},
	{"c", "./ask", `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int choose(int n) {
	char b[16] = "0";
	int fd = open("/dev/ariadne", O_RDWR);
	if (fd >= 0 && dprintf(fd, "choose %d\n", n) > 0 && read(fd, b, sizeof b) <= 0) abort();
	if (fd >= 0) close(fd);
	return atoi(b);
}
int main(void) {
	const char *words[] = {"get", "put", "del"};
	int a = choose(3);
	const char *b = words[choose(3)];
	printf("told %d %s\n", a, b);
	fflush(stdout);
	if (a == 2 && !strcmp(b, "put")) abort();
	return 0;
}
`},
}

// asking returns the spec of a program of askers.
func asking(t *testing.T, name, command, source string) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "ask."+name)
	systemtest.Write(t, file, source)
	if name == "c" {
		if out, err := exec.Command("cc", "-O1", "-Wall", "-o", filepath.Join(dir, "ask"), file).CombinedOutput(); err != nil {
			t.Skipf("cc: %v\n%s", err, out)
		}
	}
	systemtest.Write(t, filepath.Join(dir, "spec.yaml"), "nodes:\n  - command: "+command+"\n    client: true\n")
	s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProgramsChoose: what a program asks for is tried in all combinations, each once, by every
// strategy that is exhaustive, and drawn by all others; the trace has it and replays.
func TestProgramsChoose(t *testing.T) {
	for _, a := range askers {
		t.Run(a.name, func(t *testing.T) {
			s := asking(t, a.name, a.command, a.source)
			for _, row := range strategy.Rows() {
				if row.Asks || a.name != "sh" && row.Name != strategy.DefaultName && row.Name != "random" {
					continue
				}
				o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Executions: 100, Workers: 2, KeepGoing: true, Search: check.Search{Strategy: row.Name}}
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
				if r.Coverage.Exhausted && !row.Lives && (r.Coverage.LocalStates[0] != 9 || row.Name == "depth-first" && r.Executions != 9) {
					t.Errorf("%s: %d executions to %v local states, want 9", row.Name, r.Executions, r.Coverage.LocalStates)
				}
				switch row.Name {
				case "depth-first", "breadth-first", "deviations", "dpor", "sleep-sets", "all-paths":
					if !r.Coverage.Exhausted {
						t.Errorf("%s: not exhausted: %s", row.Name, r.Coverage.Missed)
					}
				}
				path := r.Violations[0].Trace
				if text := systemtest.Read(t, path); !strings.Contains(text, "with choose:2@") || !strings.Contains(text, "/choose:3#1,choose:") {
					t.Errorf("the trace:\n%s", text)
				}
				for _, loose := range []bool{false, true} {
					again, err := run.Replay(t.Context(), nil, path, run.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Loose: loose})
					if err != nil || again.Mismatch != nil || again.Outcome != record.Violated || again.Violations[0].Message != r.Violations[0].Message {
						t.Fatalf("%s, loose %v: %+v, %v", row.Name, loose, again, err)
					}
				}
			}
		})
	}
}

// TestChoicesAreRemembered: a search with choices that is ended and resumed comes to the same
// as a whole one, and executes nothing again.
func TestChoicesAreRemembered(t *testing.T) {
	for _, name := range []string{"depth-first", "dpor", "deviations"} {
		s := asking(t, askers[0].name, askers[0].command, askers[0].source)
		o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, KeepGoing: true, Search: check.Search{Strategy: name}}
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
		if n := first.Coverage.Nodes.Executed + rest.Coverage.Nodes.Executed; !rest.Coverage.Exhausted || rest.Executions != whole.Executions || n != whole.Coverage.Nodes.Executed {
			t.Errorf("%s: %d executions and %d transitions in parts, as a whole %d and %d", name, rest.Executions, n, whole.Executions, whole.Coverage.Nodes.Executed)
		}
	}
}

// TestNothingFailsWhileFaultsAreOff: what a program does between "fault off" and "fault on" goes
// well, and what comes after may fail.
func TestNothingFailsWhileFaultsAreOff(t *testing.T) {
	dir := t.TempDir()
	systemtest.Write(t, filepath.Join(dir, "setup.sh"), `echo fault off >/dev/ariadne
echo a >f && echo b >>f || kill -ABRT $$
echo fault on >/dev/ariadne
echo c >>f || echo noticed
`)
	systemtest.Write(t, filepath.Join(dir, "spec.yaml"), "faults: {fail: 1}\nnodes:\n  - command: sh setup.sh\n    client: true\n")
	s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Check(t.Context(), s, check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, Search: check.Search{Strategy: "depth-first"}})
	if err != nil || r.Outcome != record.Nothing || r.Executions != 3 || !r.Coverage.Exhausted { // as it is, ENOSPC, EIO
		t.Errorf("%+v, %v", r, err)
	}
}

// TestWhatIsNotUnderstoodIsRefused, and the run is inconclusive for that.
func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	s := asking(t, "sh", "sh ask.sh", "echo chose 3 >/dev/ariadne || echo no\n")
	r, err := run.Run(t.Context(), s, run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
	if err != nil || r.Outcome != record.Inconclusive || len(r.Nodes[0].Refusals) != 1 || r.Nodes[0].Refusals[0].Name != "write to /dev/ariadne" {
		t.Errorf("%+v, %v", r, err)
	}
}
