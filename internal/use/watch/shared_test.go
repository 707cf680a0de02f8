package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// joinWatch judges what agents tell in a log, in a process that is killed.
func joinWatch(path, at string) int {
	checkpointEvery = time.Second
	s, err := spec.Read(path)
	if err == nil {
		_, err = Watch(context.Background(), s, Options{Shared: Shared{Log: at}})
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// sharedSpec has five properties that fail twice: before and after a verifier is killed. The last
// one is divided, and each of its parts fails.
const sharedSpec = `
name: shared
nodes: [{name: n1}, {name: n2}]
expose:
  leader: {line: 'leads (?P<term>\d+)', until: follows}
  held: {line: 'holds (?P<lock>\w+)', key: lock, until: follows}
properties: {p1: {one: leader}, p2: {one: leader}, p3: {one: leader}, p4: {one: leader}, p5: {one: held, per: lock}}
watch:
  parts: 2
  nodes:
    n1: {start: 'echo leads 1; echo holds a; echo holds x; sleep 99'}
    n2: {start: 'sleep 6; echo leads 2; echo holds a; echo holds x; sleep 0.5; echo follows; sleep 9;
      echo leads 3; echo holds x; echo holds a; sleep 99'}
`

// agents runs an agent for each node until ctx ends. The channel has what came of each.
func agents(ctx context.Context, s *spec.Spec, at string) <-chan error {
	ended := make(chan error, len(s.Nodes))
	for i := range s.Nodes {
		go func() {
			ended <- RunAgent(ctx, s, AgentOptions{Shared: Shared{Log: at}, Nodes: []string{s.Nodes[i].Name}})
		}()
	}
	return ended
}

// TestTakeOver: agents tell of their nodes in a log, and two processes share the properties. One is
// killed, so the other one judges its properties from its checkpoints. Each violation is found
// once: those that both processes have found are the same, or the watch would say so. A third
// process, which is there to the end, reports the same as the first one.
func TestTakeOver(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 20 s")
	}
	s := specOf(t, sharedSpec)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var mu sync.Mutex
	var ended <-chan error
	var other *exec.Cmd
	third := make(chan *Report, 1)
	found := map[string]int{}
	r, err := Watch(ctx, s, Options{Shared: Shared{Listen: "127.0.0.1:0"},
		OnLog: func(at, _ string) {
			ended = agents(ctx, s, at)
			go func() {
				r, err := Watch(t.Context(), s, Options{Shared: Shared{Log: at}})
				if err != nil {
					t.Error(err)
				}
				third <- r
			}()
			other = exec.Command("/proc/self/exe")
			other.Env = append(os.Environ(), "ARIADNE_TEST_LOG="+at, "ARIADNE_TEST_SPEC="+s.Path)
			if err := other.Start(); err != nil {
				t.Error(err)
				cancel()
			}
		},
		OnFinding: func(f Finding) {
			mu.Lock()
			defer mu.Unlock()
			found[f.Property]++
			n := 0
			for _, k := range found {
				n += k
			}
			switch n {
			case 6:
				if err := other.Process.Kill(); err != nil {
					t.Error(err)
				}
				_ = other.Wait()
			case 12:
				cancel()
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for range s.Nodes {
		if err := <-ended; err != nil {
			t.Errorf("an agent: %v", err)
		}
	}
	same := <-third
	if same == nil {
		t.Fatal("the third process has no report")
	}
	if a, b := reported(t, r), reported(t, same); a != b {
		t.Errorf("two processes report\n%s\n%s", a, b)
	}
	if r.Outcome != record.Violated || len(r.Findings) != 12 || r.TakenOver+same.TakenOver == 0 ||
		r.Restored+same.Restored == 0 || len(r.Properties) != 5 {
		t.Errorf("%v, %d findings, %d taken over, %d restored, %q", r.Outcome, len(r.Findings), r.TakenOver, r.Restored,
			r.Doubts)
	}
	for _, p := range r.Properties {
		want := 2 * max(p.Parts, 1)
		if p.Findings != want || found[p.Name] != want || !p.Broken || (p.Parts == 2) != (p.Name == "p5") {
			t.Errorf("%+v, violated %d times", p, found[p.Name])
		}
	}
}

// reported is what all processes report that are there to the end.
func reported(t *testing.T, r *Report) string {
	t.Helper()
	own := *r
	own.Elapsed, own.TakenOver, own.Restored = 0, 0, 0
	own.Findings = slices.Clone(r.Findings)
	for i := range own.Findings {
		own.Findings[i].Delay = 0 // from when it happened to when the process got it
	}
	text, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAgentGone: an agent that goes takes its node out of the snapshots. A finding then is only
// suspected, and the watch says that there is a gap.
func TestAgentGone(t *testing.T) {
	s := specOf(t, `
name: gone
nodes: [{name: n1}, {name: n2}]
expose: {leader: leads, ready: ready}
properties: {somebody leads: {always: 'len(leader) > 0 or len(ready) == 0'}}
watch:
  timeout: 1s
  nodes:
    n1: {start: 'echo leads; sleep 99'}
    n2: {start: 'sleep 2; echo ready; sleep 99'}
`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 2)
	ready := false
	r, err := Watch(ctx, s, Options{Shared: Shared{Listen: "127.0.0.1:0"},
		OnLog: func(at, _ string) {
			for name, ctx := range map[string]context.Context{"n1": first, "n2": ctx} {
				go func() {
					ended <- RunAgent(ctx, s, AgentOptions{Shared: Shared{Log: at}, Nodes: []string{name}})
				}()
			}
		},
		OnShow: func(r live.Record) {
			if strings.Contains(What(&r), "ready") && !ready {
				ready = true
				time.AfterFunc(time.Second, stop)
				time.AfterFunc(6*time.Second, cancel)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for range s.Nodes {
		if err := <-ended; err != nil {
			t.Errorf("an agent: %v", err)
		}
	}
	if len(r.Findings) != 1 || !slices.Equal(r.Findings[0].Without, []string{"n1"}) || r.Outcome != record.Suspected ||
		!slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.Contains(d, "n1: no record came") }) {
		t.Errorf("%v %+v %q", r.Outcome, r.Findings, r.Doubts)
	}
}

// TestOtherSpec: an agent with another spec is refused, and so is a node without a way to find it.
func TestOtherSpec(t *testing.T) {
	s, other := specOf(t, sharedSpec), specOf(t, sharedSpec+"  settle: 2ms\n")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var wrong, unknown error
	_, err := Watch(ctx, s, Options{Shared: Shared{Listen: "127.0.0.1:0"}, OnLog: func(at, _ string) {
		go func() {
			wrong = RunAgent(ctx, other, AgentOptions{Shared: Shared{Log: at}, Nodes: []string{"n1"}})
			unknown = RunAgent(ctx, s, AgentOptions{Shared: Shared{Log: at}, Nodes: []string{"n7"}})
			cancel()
		}()
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{{wrong, "has another spec"}, {unknown, `no node is called "n7"`}} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

// TestLease: a lease is one process's until it releases it.
func TestLease(t *testing.T) {
	server, at, err := stream.Serve("127.0.0.1:0", t.TempDir(), stream.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.WaitForShutdown()
	defer server.Shutdown()
	c, err := stream.Connect(t.Context(), at, "leases", stream.TLS{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := c.Hold(t.Context(), "x y")
	if a == nil || err != nil {
		t.Fatal(a, err)
	}
	if b, err := c.Hold(t.Context(), "x y"); b != nil || err != nil {
		t.Error(b, err)
	}
	if held, err := a.Renew(t.Context()); !held || err != nil {
		t.Error(held, err)
	}
	if err := a.Release(t.Context()); err != nil {
		t.Error(err)
	}
	b, err := c.Hold(t.Context(), "x y")
	if b == nil || err != nil {
		t.Fatal(b, err)
	}
	if held, err := a.Renew(t.Context()); held || err != nil {
		t.Error(held, err)
	}
	time.Sleep(stream.LeaseFor + time.Second)
	if d, err := c.Hold(t.Context(), "x y"); d == nil || err != nil {
		t.Errorf("a lease that nobody renews stays: %v %v", d, err)
	}
}
