package watch

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// watchUntilKilled watches a system, in a process that is killed. Nodes with networks of their own
// are cut off.
func watchUntilKilled(path string) int {
	s, err := spec.Read(path)
	if err == nil {
		_, err = Watch(context.Background(), s, Options{Cut: 20 * time.Millisecond,
			OnBegin: func() { fmt.Println("begun") }, OnFault: func(c Change) { fmt.Println(c.What) }})
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

// networks are the network namespaces of all threads of processes, by a pattern of their ids.
func networks(t *testing.T, pids string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("/proc/" + pids + "/task/*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, path := range paths {
		if name, err := os.Readlink(path); err == nil { // it may have ended
			all[name] = true
		}
	}
	return all
}

// TestKilledWhileCut: when SIGKILL ends a watch that has cut off a node, no process and no network
// of it is left.
func TestKilledWhileCut(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a network for nodes needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("nodes need the command ip")
	}
	mark := fmt.Sprintf("8%07d", os.Getpid()) // seconds that nobody else sleeps
	s := specOf(t, fmt.Sprintf("nodes: [{name: 'n{i}', count: 2, command: sleep %s}]", mark)+leader)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "ARIADNE_TEST_KILLED="+s.Path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); ; {
		if !lines.Scan() {
			t.Fatal("no node was cut off")
		}
		if strings.HasPrefix(lines.Text(), "is cut off") && len(processesWith(t, mark)) == 2 {
			break
		}
	}
	own := networks(t, strconv.Itoa(c.Process.Pid)) // that of the nodes' bridge
	for _, path := range processesWith(t, mark) {
		maps.Copy(own, networks(t, filepath.Base(filepath.Dir(path))))
	}
	maps.DeleteFunc(own, func(name string, _ bool) bool { return networks(t, "self")[name] })
	if len(own) != 3 {
		t.Fatalf("the watch has the networks %v, want 3", own)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		left := networks(t, "[0-9]*")
		maps.DeleteFunc(left, func(name string, _ bool) bool { return !own[name] })
		if len(left) == 0 && len(processesWith(t, mark)) == 0 {
			return
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("networks %v and processes %v are left", left, processesWith(t, mark))
		}
	}
}
