package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTooLittleMemory: where a limit on memory is too small one line says which, also when Go's
// runtime could not even begin. That is so in the program that make build links; one that is linked
// without its beginning says it as well when it comes that far.
func TestTooLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program")
	}
	dir := t.TempDir()
	linked, plain := filepath.Join(dir, "linked"), filepath.Join(dir, "plain")
	for _, args := range [][]string{{"build", "-ldflags=-E main.start", "-o", linked, "."},
		{"build", "-o", plain, "."}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil || !strings.Contains(string(makefile), "build -ldflags='-E main.start' -o bin/ariadne ./cmd/ariadne") {
		t.Errorf("make build links something else: %v", err)
	}
	const space, data = "ariadne: the limit on address space is too small: ",
		"ariadne: the limit on data is too small: "
	for _, c := range []struct {
		program, limit, want string // want: how its one line begins; "": it works
	}{
		{linked, "-v 100000", space}, {linked, "-v 300000", space}, {linked, "-v 2000000", space},
		{plain, "-v 2000000", space},
		{linked, "-d 50000", data}, {linked, "-d 200000", data}, {plain, "-d 200000", data},
		{linked, "-v unlimited", ""}, {linked, "-d 300000", ""}, {linked, "-c 0", ""},
	} {
		cmd := exec.Command("bash", "-c", "ulimit "+c.limit+" && exec "+c.program+" version")
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		err := cmd.Run()
		status := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			status = exit.ExitCode()
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		last := lines[len(lines)-1] // before it there may be one of a package's that has begun
		switch {
		case c.want == "" && (status != 0 || !strings.HasPrefix(out.String(), "ariadne ")):
			t.Errorf("%s of %s: status %d, %q, %q", c.limit, filepath.Base(c.program), status, out.String(),
				said.String())
		case c.want != "" && (status != statusUsage || !strings.HasPrefix(last, c.want) || len(lines) > 2):
			t.Errorf("%s of %s: status %d, %q", c.limit, filepath.Base(c.program), status, said.String())
		}
	}
}
