//go:build linux

package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
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
			file := filepath.Join(dir, "ends.yaml")
			text := "nodes: [{name: n, command: sleep 0.001; exec " + command + ", may_fail: true}]\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			sp, err := spec.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := session.Open(t.Context(), sp, session.Options{System: system.Options{Version: "test"}})
			s = open(t, s, err)
			for s.Now().End == "" {
				if _, err := s.Natural(); err != nil {
					t.Fatal(err)
				}
			}
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
