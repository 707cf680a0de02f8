package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system/native/probe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// TestAttachToLoadedEtcd: a watch attaches to an etcd server under load 200 times, with probes at a
// function that each write calls. No write fails, and nothing is left in the kernel, in etcd and in
// the process that watches. Afterwards writes cost etcd what they cost before.
func TestAttachToLoadedEtcd(t *testing.T) {
	if os.Getenv("ARIADNE_LONG") == "" {
		t.Skip("takes 15 min; set ARIADNE_LONG")
	}
	if k, err := probe.Open(); err != nil {
		t.Skip(probe.Explain(err))
	} else if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("../../../examples/etcd/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	e := startEtcd(t)
	s := specOf(t, fmt.Sprintf(`
nodes: [{name: server}]
expose: {put: {function: 'etcdserver.(*EtcdServer).Put', fields: {lease: r.Lease}}}
properties: {nothing is exposed: {never: 'len(put) > 1'}}
watch: {nodes: {server: {pid: %d, before: nothing}}}
`, e.cmd.Process.Pid))
	const quiet = 20 * time.Second
	attach := func() {
		during := 0
		r := watchFor(t, s, Options{Time: 500 * time.Millisecond, OnBegin: func() { during = programs() }})
		if len(r.Doubts) > 0 || r.Properties[0].Events == 0 || during == 0 {
			t.Fatalf("%+v %q, %d BPF programs", r.Properties, r.Doubts, during)
		}
	}
	attach() // what is made once
	first := e.costs(t, quiet)
	before := resourcesOf(t, e)
	for range 200 {
		attach()
	}
	after := resourcesOf(t, e)
	for range 100 { // the kernel frees programs later
		if after.programs <= before.programs && after.links <= before.links {
			break
		}
		time.Sleep(100 * time.Millisecond)
		after = resourcesOf(t, e)
	}
	last := e.costs(t, quiet)
	t.Logf("before %+v %+v", before, first)
	t.Logf("after  %+v %+v", after, last)
	if err := errors.Join(e.wrong[:]...); err != nil {
		t.Error(err)
	}
	heap := after.heap - before.heap
	if after.heap = before.heap; after != before || heap > 4<<20 {
		t.Errorf("after 200 times there are %+v, before %+v, %d bytes more of memory", after, before, heap)
	}
	if last.processor > first.processor*3/2 {
		t.Errorf("a write costs %v, and before %v", last.processor, first.processor)
	}
}

// etcd is a server under load.
type etcd struct {
	cmd       *exec.Cmd
	addr      string
	client    http.Client
	mu        sync.Mutex
	measures  bool
	latencies []time.Duration // of writes, while it measures
	wrong     [clients]error  // by client
}

// clients is how many there are.
const clients = 4

// startEtcd starts a server on the loopback interface, and clients that each write one value after
// the other until the test ends.
func startEtcd(t *testing.T) *etcd {
	t.Helper()
	dir := t.TempDir()
	// Each client keeps its connection.
	e := &etcd{addr: "http://127.0.0.1:23795",
		client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	e.cmd = exec.Command("../../../examples/etcd/bin/etcd", "--data-dir", filepath.Join(dir, "data"),
		"--unsafe-no-fsync", "--log-level", "error",
		"--listen-client-urls", e.addr, "--advertise-client-urls", e.addr,
		"--listen-peer-urls", "http://127.0.0.1:23805", "--initial-advertise-peer-urls", "http://127.0.0.1:23805",
		"--initial-cluster", "default=http://127.0.0.1:23805")
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = e.cmd.Process.Kill()
		_ = e.cmd.Wait() // it was killed
	})
	for n := 0; e.put(ctx) != nil; n++ {
		if n == 100 {
			t.Fatal("etcd did not begin to serve within 10 s")
		}
		time.Sleep(100 * time.Millisecond)
	}
	for i := range e.wrong {
		running.Go(func() {
			for ctx.Err() == nil && e.wrong[i] == nil {
				began := time.Now()
				err := e.put(ctx)
				took := time.Since(began)
				e.mu.Lock()
				if e.measures {
					e.latencies = append(e.latencies, took)
				}
				if ctx.Err() == nil {
					e.wrong[i] = err
				}
				e.mu.Unlock()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return e
}

// put writes a value.
func (e *etcd) put(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.addr+"/v3/kv/put",
		strings.NewReader(`{"key":"a2V5","value":"dmFsdWU="}`))
	if err != nil {
		return err
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("put: %s", answer.Status)
	}
	return err
}

// writeCosts are what writes cost: medians, and the server's processor time for each.
type writeCosts struct {
	writes                    int
	median, most99, processor time.Duration
}

func (e *etcd) costs(t *testing.T, d time.Duration) (c writeCosts) {
	t.Helper()
	e.mu.Lock()
	e.latencies, e.measures = nil, true
	e.mu.Unlock()
	before := processorTime(t, e.cmd.Process.Pid)
	time.Sleep(d)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.measures = false
	slices.Sort(e.latencies)
	c.writes = len(e.latencies)
	c.median, c.most99 = e.latencies[c.writes/2], e.latencies[c.writes*99/100]
	c.processor = (processorTime(t, e.cmd.Process.Pid) - before) / time.Duration(c.writes)
	e.latencies = nil
	return c
}

// processorTime is how much the threads of a process have taken so far.
func processorTime(t *testing.T, pid int) (all time.Duration) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		var own int64
		if _, err := fmt.Sscan(string(text), &own); err != nil {
			t.Fatal(err)
		}
		all += time.Duration(own)
	}
	return all
}

// resources are what a watch may leave.
type resources struct {
	programs, links  int // BPF, of the kernel
	probes           string
	own, descriptors int // of this process and of etcd
	goroutines       int
	heap             int64
}

func resourcesOf(t *testing.T, e *etcd) (r resources) {
	t.Helper()
	r.programs = programs()
	links := new(link.Iterator)
	for links.Next() {
		r.links++
	}
	if err := links.Err(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		// where it is not mounted, there are none
		text, _ := os.ReadFile(filepath.Join(dir, "uprobe_events"))
		r.probes = cmp.Or(r.probes, string(text))
	}
	r.own, r.descriptors = descriptors(t, os.Getpid()), descriptors(t, e.cmd.Process.Pid)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.heap, r.goroutines = int64(m.HeapAlloc), runtime.NumGoroutine()
	return r
}

// programs is how many BPF programs the kernel has.
func programs() (n int) {
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		n++
	}
	return n
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
