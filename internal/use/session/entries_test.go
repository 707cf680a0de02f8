//go:build linux

package session_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnters: the steps in which a node enters a function are those in which its own lines say so.
func TestEnters(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-gcflags=-l", "-o", filepath.Join(dir, "peer"),
		"testdata/origins/peer.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := executed(t, dir, fmt.Sprintf(peers, "./peer server"))
	end, told := s.Steps(), 0
	for i, step := range s.Taken() {
		var lines []string
		for l := range step.Output.Lines() {
			lines = append(lines, l.Text)
		}
		for _, name := range []string{"main.say", "say"} {
			entry, err := s.Enters(i+1, name)
			if err != nil {
				t.Fatal(err)
			}
			begins := strings.HasPrefix(step.Name, "start ") // its process does not exist before
			if is := len(lines) > 0 && !begins; (entry != nil) != is {
				t.Errorf("step %d, %s, wrote %q: entered %s: %v", i+1, step.Name, lines, name, entry)
			}
			if entry != nil {
				told++
				if f := entry.Frames[0].Function; f != "main.say" {
					t.Errorf("step %d entered %s", i+1, f)
				}
			}
		}
		if entry, err := s.Enters(i+1, "main.nothing"); entry != nil || err != nil {
			t.Errorf("step %d: %v, %v", i+1, entry, err)
		}
	}
	if told == 0 || s.Steps() != end {
		t.Errorf("%d entries, and the session stands behind step %d of %d", told, s.Steps(), end)
	}
}
