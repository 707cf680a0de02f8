//go:build linux

package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestMemoryStaysWithinItsBudget: Ariadne with all its nodes, living and frozen. The
// longer it runs, the fuller is all that may fill up.
func TestMemoryStaysWithinItsBudget(t *testing.T) {
	length, budget := 15*time.Second, int64(400<<20)
	if os.Getenv("ARIADNE_LONG") != "" {
		length = 30 * time.Minute
	}
	if out, err := exec.Command("../../../examples/raftkv/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	s, err := spec.Read("../../../examples/raftkv/raftkv.yaml")
	if err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()                                                 // what earlier tests left
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(check.Heap(budget))) // as cmd/ariadne does
	done := make(chan struct{})
	var peak, ownPeak, nodesPeak int64
	processes := 0
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			own, nodes, n := memoryOfAll()
			peak, ownPeak, nodesPeak, processes = max(peak, own+nodes), max(ownPeak, own), max(nodesPeak, nodes),
				max(processes, n)
			select {
			case <-done:
				return
			case <-time.After(time.Second):
			}
		}
	})
	r, err := check.Check(t.Context(), s,
		check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"), Time: length,
			KeepGoing: true,
			Search:    check.Search{Strategy: "default", Memory: budget}})
	close(done)
	watcher.Wait()
	if err != nil {
		t.Fatal(err)
	}
	c := r.Coverage
	t.Logf("%d MB at most, Ariadne %d, nodes %d, %d processes; %d paths, %d states, %d transitions executed, %d forgotten, %d checkpoints made, %d evicted; full: %v",
		peak>>20, ownPeak>>20, nodesPeak>>20, processes, c.Paths, c.States, c.Nodes.Executed, c.Memo.Forgotten,
		c.Nodes.Freezes, c.Nodes.Evictions, c.Full)
	if peak > budget {
		t.Errorf("%d MB, the budget is %d", peak>>20, budget>>20)
	}
	if len(r.Bugs) > 0 || c.Nodes.Executed == 0 || processes < 8 {
		t.Errorf("%d processes, %d executed, bugs %q", processes, c.Nodes.Executed, r.Bugs)
	}
}

// memoryOfAll is what this process and those that it traces have in memory, in bytes,
// what they share counted once, and how many these are.
func memoryOfAll() (own, nodes int64, processes int) {
	own = resident("self")
	statuses, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range statuses {
		status, _ := os.ReadFile(path)
		_, after, _ := strings.Cut(string(status), "\nTracerPid:\t")
		tracer, _, _ := strings.Cut(after, "\n")
		if _, err := os.Stat("/proc/self/task/" + tracer); tracer != "" && err == nil {
			nodes += resident(filepath.Base(filepath.Dir(path)))
			processes++
		}
	}
	return own, nodes, processes
}

// resident is a process's proportional share of memory in bytes; 0 when it is gone.
func resident(pid string) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%s/smaps_rollup", pid))
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}
