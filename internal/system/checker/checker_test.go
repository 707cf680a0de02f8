//go:build linux

package checker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is a command that a shell runs in an empty directory.
func shell(t *testing.T, script string) *Command {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(); in.Close() })
	return &Command{Program: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin", "WORD=yes"},
		In:  in, Out: out, Timeout: time.Minute}
}

// TestRun: how a command ended, and what it has said.
func TestRun(t *testing.T) {
	for _, x := range []struct{ script, how, said string }{
		{"echo $WORD; pwd >&2; exit 0", "", "yes\nDIR\n"},
		{"echo no; exit 3", "exit status 3", "no\n"},
		{"kill -SEGV $$", "signal: segmentation fault", ""},
		{"kill -KILL $$", "signal: killed", ""}, // not by us
	} {
		c := shell(t, x.script)
		how, late, err := c.Run(t.Context())
		if how != x.how || late || err != nil {
			t.Errorf("%s: %q, late %v, %v", x.script, how, late, err)
		}
		if want := strings.ReplaceAll(x.said, "DIR", c.Dir); c.Said() != want {
			t.Errorf("%s: said %q, want %q", x.script, c.Said(), want)
		}
	}
	c := shell(t, "")
	c.Program = "/there/is/no/such/program"
	if _, _, err := c.Run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
}

// TestSaidIsTheEnd: of what a command says, the end counts.
func TestSaidIsTheEnd(t *testing.T) {
	c := shell(t, "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done")
	if _, _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := c.Said(); len(s) != mostSaid || !strings.HasSuffix(s, "\nline 8999\n") {
		t.Errorf("%d bytes, the last %q", len(s), s[max(0, len(s)-20):])
	}
}

// TestLate: a command that takes too long is killed with everything in its group.
func TestLate(t *testing.T) {
	c := shell(t, "sleep 1000 & echo $!; wait")
	c.Timeout = 300 * time.Millisecond
	how, late, err := c.Run(t.Context())
	if !late || err != nil || !strings.Contains(how, "300ms") {
		t.Errorf("%q, late %v, %v", how, late, err)
	}
	isGone(t, c)

	// So are processes that a command leaves running.
	c = shell(t, "sleep 1000 & echo $!")
	if how, late, err := c.Run(t.Context()); how != "" || late || err != nil {
		t.Errorf("%q, late %v, %v", how, late, err)
	}
	isGone(t, c)

	// A command that nobody waits for any more is neither late nor failed.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if how, late, err := shell(t, "sleep 1000").Run(ctx); how != "" || late || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %q, late %v, %v", how, late, err)
	}
}

// isGone wants the process whose number the command has written to have ended.
func isGone(t *testing.T, c *Command) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(c.Said()))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") && syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d still runs: %s", pid, stat)
	}
}

// TestRemove: directories that nobody may write to are removed, too.
func TestRemove(t *testing.T) {
	make := func() string {
		dir := filepath.Join(t.TempDir(), "image")
		if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a", "b", "file"), nil, 0o400); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a/b", "a"} {
			if err := os.Chmod(filepath.Join(dir, name), 0o500); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dir := make()
	if err := Empty(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the emptied directory: %v %v", left, err)
	}
	dir = make()
	if Remove(dir); exists(dir) {
		t.Error("the removed directory is there")
	}
}

func exists(name string) bool { _, err := os.Lstat(name); return err == nil }
