package watch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// watchUntilKilled watches a system, in a process that is killed.
func watchUntilKilled(path string) int {
	s, err := spec.Read(path)
	if err == nil {
		_, err = Watch(context.Background(), s, Options{OnBegin: func() { fmt.Println("begun") }})
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// processesWith are the ids of processes that have an argument.
func processesWith(t *testing.T, arg string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, _ := os.ReadFile(path) // it may have ended
		if slices.Contains(strings.Split(string(text), "\x00"), arg) {
			all = append(all, path)
		}
	}
	return all
}

// TestKilledWatch: when SIGKILL ends a watch, all ends that its programs have started, also what
// runs in the background or has left its parent and session.
func TestKilledWatch(t *testing.T) {
	const times = 20
	for i := range times {
		mark := fmt.Sprintf("9%07d%02d", os.Getpid(), i) // seconds that nobody else sleeps
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'sleep %[1]s & (sleep %[1]s & setsid sh -c "sleep %[1]s & sleep %[1]s" &); sleep %[1]s; echo'}
    n2: {start: 'setsid -f sleep %[1]s; sleep %[1]s'}
`, mark)+leader)
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), "ARIADNE_TEST_KILLED="+s.Path)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); len(processesWith(t, mark)) < 7; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > 20*time.Second {
				t.Fatalf("%d processes have started", len(processesWith(t, mark)))
			}
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		for began := time.Now(); len(processesWith(t, mark)) > 0; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("%s run after the watch was killed, the %dth time", processesWith(t, mark), i+1)
			}
		}
	}
}
