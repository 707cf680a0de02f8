//go:build linux

package session_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOriginsOfEnds: a session finds the function and the line that ended a program: by an exit, a
// fault or an abort. A program that another one kills has none, and a panic of Go, which ends the
// program on a stack of the runtime, names its place itself.
func TestOriginsOfEnds(t *testing.T) {
	dir := t.TempDir()
	for _, build := range [][]string{
		{"gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", filepath.Join(dir, "ends"),
			"testdata/origins/ends.c"},
		{"go", "build", "-o", filepath.Join(dir, "panics"), "testdata/origins/panics.go"},
	} {
		if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for command, want := range map[string]string{
		"./ends exit":   "leave (ends.c:9)",
		"./ends fault":  "fault (ends.c:14)",
		"./ends abort":  "give_up (ends.c:19)",
		"./ends killed": "",
		"./panics":      "",
		"./panics nil":  "",
		"./panics exit": "main.main (panics.go:24)",
	} {
		t.Run(command, func(t *testing.T) {
			s := executed(t, dir, "nodes: [{name: n, command: sleep 0.001; exec "+command+", may_fail: true}]\n")
			steps := s.Taken()
			last := len(steps)
			for len(steps[last-1].Output.Exits) == 0 {
				last--
			}
			o, err := s.Origins(last)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(o.Exits, ","); got != want {
				t.Errorf("ended by %q, want %q", got, want)
			}
		})
	}
}
