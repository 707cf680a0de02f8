//go:build linux

package check_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// killedNodes in the environment makes this program a check of real nodes in that directory, which
// goes on until somebody kills it. The nodes have it in their environments, too.
const killedNodes = "ARIADNE_TEST_KILLED_NODES"

const raftkvSpec = "../../../examples/raftkv/raftkv.yaml"

// checkNodesUntilKilled checks raftkv by one search after the other. Two workers adopt each other's
// checkpoints, and there is so little memory that pages move to disk.
func checkNodesUntilKilled(dir string) {
	for n := 0; ; n++ {
		if err := checkNodes(dir, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func checkNodes(dir string, n int) error {
	path, err := filepath.Abs(raftkvSpec)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	marked := strings.ReplaceAll(string(text), "    command:",
		fmt.Sprintf("    env: {%s: %s}\n    command:", killedNodes,
			dir))
	s, err := spec.Parse(path, []byte(marked))
	if err != nil {
		return err
	}
	search := check.Search{Strategy: []string{"breadth-first", "default", "depth-first"}[n%3], Memory: 100 << 20}
	out := "out"
	if n > 0 {
		out = fmt.Sprint("out-", n) // what is left of an earlier one stays
	}
	_, err = check.Check(context.Background(), s, check.Options{System: system.Options{Version: "test"},
		Out: filepath.Join(dir, out), KeepGoing: true, Workers: 2, Search: search, Time: time.Minute})
	return err
}

// leftOf is what there is of a check in a directory: processes that have its name in their
// environments, mounts below it that any process sees, and temporary files.
func leftOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, pattern := range []struct{ files, mark string }{
		{"/proc/[0-9]*/environ", killedNodes + "=" + dir},
		{"/proc/[0-9]*/mountinfo", dir},
	} {
		files, err := filepath.Glob(pattern.files)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(pattern.mark)) {
				all = append(all, name)
			}
		}
	}
	temporary, err := filepath.Glob(filepath.Join(dir, "tmp", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(all, temporary...)
}

// hasOpen reports whether a process has a file of such a name and size open: what follows the pages
// of nodes, or the file of pages that have moved to disk.
func hasOpen(t *testing.T, pid int, is func(file string, size int64) bool) bool {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		file, err := os.Readlink(fd)
		if err != nil {
			continue // it was closed meanwhile
		}
		if info, err := os.Stat(fd); err == nil && is(file, info.Size()) {
			return true
		}
	}
	return false
}

// leastProcesses is how many processes a check of raftkv has at work, or more.
const leastProcesses = 20

// TestNothingLeftOfKilledChecks: a check of real nodes that is killed at a random moment leaves no
// process, mount or temporary file, while nodes go back to checkpoints in place, and pages of
// checkpoints are on disk.
func TestNothingLeftOfKilledChecks(t *testing.T) {
	if out, err := exec.Command(filepath.Join(filepath.Dir(raftkvSpec), "fetch")).CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	times := 6
	if os.Getenv("ARIADNE_LONG") != "" {
		times = 100
	}
	most, followed, moved, slowest := 0, 0, 0, time.Duration(0)
	for i := range times {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o777); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), killedNodes+"="+dir, "TMPDIR="+filepath.Join(dir, "tmp"))
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rand.Int64N(int64(8 * time.Second)))
		time.Sleep(after)
		most = max(most, len(leftOf(t, dir)))
		// A busy machine may take longer than that to start nodes, so the last check is at work.
		for began := time.Now(); i == times-1 && most < leastProcesses && time.Since(began) < time.Minute; {
			time.Sleep(20 * time.Millisecond)
			most = max(most, len(leftOf(t, dir)))
		}
		if hasOpen(t, c.Process.Pid, func(file string, _ int64) bool {
			return file == "anon_inode:[userfaultfd]"
		}) {
			followed++
		}
		if hasOpen(t, c.Process.Pid, func(file string, size int64) bool {
			return size > 0 && strings.HasPrefix(file, dir) && strings.HasSuffix(file, " (deleted)")
		}) {
			moved++
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if c.Wait(); c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("it ended by itself: %s", &said)
		}
		var all []string
		for all = leftOf(t, dir); len(all) > 0 && time.Since(began) < 20*time.Second; all = leftOf(t, dir) {
			time.Sleep(20 * time.Millisecond)
		}
		if len(all) > 0 {
			t.Fatalf("killed after %v, these are left:\n%s", after, strings.Join(all, "\n"))
		}
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("%d kills, of up to %d processes; gone within %v; pages of nodes were followed in %d, pages of checkpoints were on disk in %d",
		times, most, slowest, followed, moved)
	if most < leastProcesses {
		t.Errorf("no check had more than %d processes when it was killed: the test says nothing", most)
	}
}
