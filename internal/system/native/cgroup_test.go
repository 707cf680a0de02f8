package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFindGroup: the oldest process in a control group is found by the group's path or the end of
// it, also in a group below. Several groups with processes are an error.
func TestFindGroup(t *testing.T) {
	roots, err := hierarchies()
	if err != nil {
		t.Skip(err)
	}
	name := fmt.Sprintf("ariadne-test-%d", os.Getpid())
	group := filepath.Join(roots[0], name)
	inner := filepath.Join(group, "init.scope")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Skipf("a control group cannot be made: %v", err)
	}
	t.Cleanup(func() {
		for _, dir := range []string{inner, group + "-2", group} {
			err := os.Remove(dir)
			// processes are just ending
			for n := 0; n < 100 && err != nil && !os.IsNotExist(err); n++ {
				time.Sleep(20 * time.Millisecond)
				err = os.Remove(dir)
			}
			if err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
		}
	})
	if pid, err := FindGroup(name); pid != 0 || err != nil {
		t.Errorf("an empty group: %d %v", pid, err)
	}
	enter := func(group string) int {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
		if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(cmd.Process.Pid)),
			0); err != nil {
			t.Skipf("a process cannot enter a control group: %v", err)
		}
		return cmd.Process.Pid
	}
	first := enter(inner)
	time.Sleep(30 * time.Millisecond) // the kernel counts times of processes in 10 ms
	enter(inner)
	for _, pattern := range []string{name, "/" + name + "/", name[:len(name)-1] + "*", name + "/init.scope"} {
		if pid, err := FindGroup(pattern); pid != first || err != nil {
			t.Errorf("%s: process %d %v, want %d", pattern, pid, err, first)
		}
	}
	if pid, err := FindGroup(name + "x"); pid != 0 || err != nil {
		t.Errorf("a group that is not there: %d %v", pid, err)
	}
	if err := os.Mkdir(group+"-2", 0o755); err != nil {
		t.Fatal(err)
	}
	if pid, err := FindGroup(name + "*"); pid != first || err != nil {
		t.Errorf("with an empty second group: %d %v, want %d", pid, err, first)
	}
	enter(group + "-2")
	if pid, err := FindGroup(name + "*"); err == nil || !strings.Contains(err.Error(), "both have processes") {
		t.Errorf("two groups: %d %v", pid, err)
	}
}
