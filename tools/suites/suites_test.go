package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	good := outcome{passed: 3}
	for _, c := range []struct {
		native, here outcome
		want         verdict
	}{
		{good, good, passes},
		{good, outcome{passed: 2}, differs},
		{good, outcome{passed: 3, failed: 1}, differs},
		{good, outcome{status: 2}, differs},
		{good, outcome{status: 1, refused: []string{"ptrace"}}, refused},
		{good, outcome{status: -1}, endless},
		{outcome{status: 1}, good, failsNatively},
		{outcome{failed: 1}, good, failsNatively},
	} {
		if got := judge(c.native, c.here); got != c.want {
			t.Errorf("natively %v, here %v: %v, want %v", c.native, c.here, got, c.want)
		}
	}
}

func TestChecks(t *testing.T) {
	got := checks("a.c:1: TPASS: x\nb   1  TFAIL  :  y\nTCONF: z\nEXIT-SUCCESS\n")
	if got.passed != 2 || got.failed != 1 || got.skipped != 1 {
		t.Errorf("%v", got)
	}
}

// TestSuites runs a suite of three scripts: one passes, one fails natively, one notices that it
// is inside of a node.
func TestSuites(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare")
	}
	if out, err := exec.Command("unshare", "--net", "--mount", "--pid", "--ipc", "--fork", "--mount-proc",
		"true").CombinedOutput(); err != nil && os.Getuid() == 0 {
		t.Skipf("needs namespaces: %s", out)
	}
	// In a place that nodes see: /tmp is their own.
	dir, err := os.MkdirTemp("/var/lib", "suites-test")
	if err != nil {
		t.Skip("needs a directory that nodes see: ", err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(t.TempDir(), "ariadne")
	if out, err := exec.Command("go", "build", "-o", binary,
		"github.com/ariadne-mc/ariadne/cmd/ariadne").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"passes": `test $$ != 1 && echo TPASS`, "fails": "echo TFAIL; exit 1",
		"notices": `test "$(uname -n)" != test && echo TPASS`, "none": "",
	} {
		mode := os.FileMode(0o755)
		if name == "none" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "gtest"), []byte(gtestScript), 0o755); err != nil {
		t.Fatal(err)
	}
	o := options{ariadne: binary, limit: 30 * time.Second, env: []string{"PATH=" + os.Getenv("PATH")}}
	var results []result
	for _, name := range []string{"passes", "fails", "notices", "gtest"} {
		results = append(results, o.both(filepath.Join(dir, name))...)
	}
	wants := []verdict{passes, failsNatively, differs, passes, failsNatively, differs, differs, passes, failsNatively}
	if len(results) != len(wants) {
		t.Fatal(results)
	}
	for i, want := range wants {
		if results[i].verdict != want {
			t.Errorf("%v, want %v", results[i], want)
		}
	}
	if s := summary(3, results[:3]); !strings.HasPrefix(s, "3 programs; 2 pass natively; 1 of these pass here too (50 %)") {
		t.Error(s)
	}
	if s := summary(4, results); !strings.HasPrefix(s, "9 tests of 4 programs; 6 pass natively; 3 of these pass here too (50 %)") {
		t.Error(s)
	}
}

// gtestScript is what a program of Google Test is from outside.
const gtestScript = `#!/bin/sh
for t in S.Passes S.Fails S.Notices S.Dies P/S.Passes/0 S.Skips; do
	case ":${GTEST_FILTER:-$t}:" in *":$t:"*) ;; *) continue ;; esac
	printf 'also: [ RUN      ] %s\n' $t
	mark="       OK "
	here=$(uname -n)
	case $t in
	S.Fails) mark="  FAILED  " ;;
	S.Skips) mark="  SKIPPED " ;;
	S.Notices) test $here = test && mark="  FAILED  " ;;
	S.Dies) test $here = test && kill -9 $$ ;;
	esac
	echo "[$mark] $t, where GetParam() = 1 (0 ms)"
done
echo "[  FAILED  ] S.Fails"
`

func TestGtests(t *testing.T) {
	g := gtests("[ RUN      ] A.B/0\nx[       OK ] A.B/0 (12 ms)\n[ RUN      ] A.C\n[  FAILED  ] A.C, where GetParam() = 7 (0 ms)\n"+
		"[ RUN      ] A.D\n[  SKIPPED ] A.D (0 ms)\n[ RUN      ] A.E\n[  FAILED  ] A.B/0\n", outcome{status: 139, passed: 9})
	for name, want := range map[string]string{"A.B/0": "status 0, 1 passed, 0 failed, 0 skipped",
		"A.C": "status 1, 0 passed, 1 failed, 0 skipped",
		"A.D": "status 1, 0 passed, 0 failed, 1 skipped", "A.E": "status 139, 0 passed, 1 failed, 0 skipped"} {
		if got := g.outcomes[name].String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if len(g.names) != 4 {
		t.Errorf("%q", g.names)
	}
}

func TestFilterful(t *testing.T) {
	long := strings.Repeat("x", 60<<10)
	for _, c := range []struct {
		names []string
		want  int
	}{{nil, 0}, {[]string{"a"}, 1}, {[]string{long, long}, 1}, {[]string{long + long}, 1}} {
		if got := filterful(c.names); got != c.want {
			t.Errorf("%d names: %d, want %d", len(c.names), got, c.want)
		}
	}
}

// TestRestore changes a file that stands for a setting back.
func TestRestore(t *testing.T) {
	name := filepath.Join(t.TempDir(), "setting")
	if err := os.WriteFile(name, []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, now := machine{settings: map[string]string{name: "1"}}, machine{settings: map[string]string{name: "2"}}
	left := before.restore(now)
	if b, err := os.ReadFile(name); err != nil || string(b) != "1" || len(left) != 1 {
		t.Errorf("%q, %v, told %q", b, err, left)
	}
	here := lookAround(t.TempDir())
	if left := here.restore(here); len(left) > 0 || len(here.settings) == 0 {
		t.Errorf("%d settings, told %q", len(here.settings), left)
	}
}
