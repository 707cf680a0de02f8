package watch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
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

// links are the names of the network's links of this process.
func links(t *testing.T) (names []string) {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		names = append(names, link.Name)
	}
	slices.Sort(names)
	return names
}

// TestKilledWhileCut: when SIGKILL ends a watch that has cut off a node, also in one direction, no
// process and no network of it is left: so no link and no filter of that network.
func TestKilledWhileCut(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a network for nodes needs root")
	}
	for _, name := range []string{"ip", "tc"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("cuts need the commands ip and tc")
		}
	}
	before := links(t)
	for _, what := range []string{"is cut off", "is reached by no other", "does not reach", "is not reached by"} {
		killWhileCut(t, what)
	}
	if after := links(t); !slices.Equal(after, before) {
		t.Errorf("links %q, before the watch %q", after, before)
	}
}

// killWhileCut kills a watch in a cut that begins with some words.
func killWhileCut(t *testing.T, what string) {
	t.Helper()
	mark := fmt.Sprintf("8%07d", os.Getpid()) // seconds that nobody else sleeps
	s := specOf(t, fmt.Sprintf("nodes: [{name: 'n{i}', count: 3, command: sleep %s}]", mark)+leader)
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
			t.Fatalf("no cut began with %q", what)
		}
		if strings.HasPrefix(lines.Text(), what) && len(processesWith(t, mark)) == 3 {
			break
		}
	}
	own := networks(t, strconv.Itoa(c.Process.Pid)) // that of the nodes' bridge
	for _, path := range processesWith(t, mark) {
		maps.Copy(own, networks(t, filepath.Base(filepath.Dir(path))))
	}
	maps.DeleteFunc(own, func(name string, _ bool) bool { return networks(t, "self")[name] })
	if len(own) != 4 {
		t.Fatalf("the watch has the networks %v, want 4", own)
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

// TestSlowEnd: while a program takes long to end, with all that it has started, the watch goes on
// to see what other nodes do. Here its keeper is stopped, which ends it.
func TestSlowEnd(t *testing.T) {
	mark := fmt.Sprintf("7%07d", os.Getpid()) // seconds that nobody else sleeps
	flag := filepath.Join(t.TempDir(), "flag")
	s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'sleep %s'}
    n2: {start: 'until [ -e %s ]; do sleep 0.01; done; echo leads 1; sleep 9'}
`, mark, flag)+leader)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var keeper int
	began, shown := make(chan struct{}), make(chan struct{})
	go func() {
		defer cancel()
		<-began
		found := processesWith(t, mark)
		for ; len(found) == 0 && ctx.Err() == nil; found = processesWith(t, mark) {
			time.Sleep(5 * time.Millisecond)
		}
		if len(found) == 0 {
			return
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(found[0])))
		if err != nil {
			t.Error(err)
			return
		}
		var state rune
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil {
			_, err = fmt.Sscanf(string(status[bytes.LastIndexByte(status, ')'):]), ") %c %d", &state, &keeper)
		}
		if err == nil {
			err = errors.Join(syscall.Kill(keeper, syscall.SIGSTOP), syscall.Kill(pid, syscall.SIGKILL))
		}
		if err == nil {
			time.Sleep(200 * time.Millisecond)
			err = os.WriteFile(flag, nil, 0o644)
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case <-shown:
		case <-time.After(10 * time.Second):
			t.Error("nothing was seen of a node while another one ended")
		}
		if err := syscall.Kill(keeper, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}()
	r, err := Watch(ctx, s, Options{OnBegin: func() { close(began) }, OnShow: func(r live.Record) {
		if r.Kind == live.Show {
			close(shown)
		}
	}})
	if err != nil || r.Outcome != record.Nothing {
		t.Errorf("%v: %+v", err, r)
	}
}
