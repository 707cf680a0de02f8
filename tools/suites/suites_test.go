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
	got := checks("a.c:1: TPASS: x\nb   1  TFAIL  :  y\nTCONF: z\n[       OK ] A.B (0 ms)\nEXIT-SUCCESS\n")
	if got.passed != 3 || got.failed != 1 || got.skipped != 1 {
		t.Errorf("%v", got)
	}
}

// TestSuites runs a suite of three scripts: one passes, one fails natively, one notices that it
// is inside of a node.
func TestSuites(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare")
	}
	if out, err := exec.Command("unshare", "--net", "--mount", "--pid", "--ipc", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil && os.Getuid() == 0 {
		t.Skipf("needs namespaces: %s", out)
	}
	// In a place that nodes see: /tmp is their own.
	dir, err := os.MkdirTemp("/var/lib", "suites-test")
	if err != nil {
		t.Skip("needs a directory that nodes see: ", err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(t.TempDir(), "ariadne")
	if out, err := exec.Command("go", "build", "-o", binary, "ariadne/cmd/ariadne").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"passes": `test $$ != 1 && echo TPASS`, "fails": "echo TFAIL; exit 1", "notices": `test "$(uname -n)" != test && echo TPASS`, "none": "",
	} {
		mode := os.FileMode(0o755)
		if name == "none" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	o := options{ariadne: binary, limit: 30 * time.Second, env: []string{"PATH=" + os.Getenv("PATH")}}
	var results []result
	for _, name := range []string{"passes", "fails", "notices"} {
		results = append(results, o.both(filepath.Join(dir, name)))
	}
	for i, want := range []verdict{passes, failsNatively, differs} {
		if results[i].verdict != want {
			t.Errorf("%v, want %v", results[i], want)
		}
	}
	if s := summary(results); !strings.HasPrefix(s, "3 programs; 2 pass natively; 1 of these pass here too (50 %)") {
		t.Error(s)
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
	here := lookAround()
	if left := here.restore(here); len(left) > 0 || len(here.settings) == 0 {
		t.Errorf("%d settings, told %q", len(here.settings), left)
	}
}
