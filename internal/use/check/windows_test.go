//go:build linux

package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// window is a program of testdata/windows in which something goes wrong at certain times, and does
// not where its server is the fixed one.
type window struct {
	name  string
	build []string // the command that makes the program in directory OUT, from the file behind it
	run   string   // the program
	more  string   // of the spec
	alone bool     // there is no client
	long  bool     // it takes more time than a test has each day
}

var windows = []window{
	{name: "writer", build: []string{"cc", "-O1", "-o", "OUT/writer", "writer.c"}, run: "./writer"},
	{name: "twice", build: []string{"cc", "-O1", "-o", "OUT/twice", "twice.c"}, run: "./twice",
		more: "faults:\n  pause: {count: 1, reads: true}\n"},
	{name: "hidden", build: []string{"cc", "-O1", "-o", "OUT/hidden", "hidden.c"}, run: "./hidden"},
	{name: "cache", build: []string{"go", "build", "-o", "OUT/cache", "cache.go"}, run: "./cache", long: true},
	{name: "quota", build: []string{"go", "build", "-o", "OUT/quota", "quota.go"}, run: "./quota", long: true},
	{name: "session", build: []string{"cp", "session.py", "OUT"}, run: "python3 session.py", long: true},
	{name: "renew", build: []string{"cp", "renew.py", "OUT"}, run: "python3 renew.py", more: "clock_error: 100ms\n",
		alone: true, long: true},
	{name: "dedupe", build: []string{"cp", "dedupe.js", "OUT"}, run: "node dedupe.js", long: true},
	{name: "grace", build: []string{"cp", "grace.js", "OUT"}, run: "node grace.js", long: true},
	{name: "Lock", build: []string{"javac", "-d", "OUT", "Lock.java"},
		run: "java -cp /spec -Xint -XX:+UseSerialGC Lock", long: true},
	{name: "Breaker", build: []string{"javac", "-d", "OUT", "Breaker.java"},
		run: "java -cp /spec -Xint -XX:+UseSerialGC Breaker", long: true},
}

// spec is that of the program with the server that is planted, or fixed.
func (w *window) spec(t *testing.T, how string) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	for i, arg := range w.build {
		w.build[i] = strings.ReplaceAll(arg, "OUT", dir)
	}
	c := exec.Command(w.build[0], w.build[1:]...)
	c.Dir = "testdata/windows"
	out, err := c.CombinedOutput()
	for i, arg := range w.build {
		w.build[i] = strings.ReplaceAll(arg, dir, "OUT")
	}
	if err != nil {
		t.Skipf("%s: %v\n%s", w.name, err, out)
	}
	path := filepath.Join(dir, "spec.yaml")
	server := "nodes:\n  - {name: server, address: 10.0.0.1, command: " + w.run
	nodes := server + " server " + how + "}\n  - {name: client, command: " + w.run + " client, client: true}\n"
	if w.alone {
		nodes = server + " " + how + "}\n"
	}
	systemtest.Write(t, path, w.more+nodes)
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWindows: the default strategy finds what happens at certain times alone, without being told,
// and finds nothing in the fixed siblings. The traces replay.
func TestWindows(t *testing.T) {
	for _, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			if w.long && os.Getenv("ARIADNE_LONG") == "" {
				t.Skip("takes long; set ARIADNE_LONG")
			}
			o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1, Executions: 4000,
				Time: 2 * time.Minute, Search: check.Search{Strategy: "default", Fresh: true, Audit: 0.2}}
			r, err := check.Check(t.Context(), w.spec(t, "planted"), o)
			if err != nil {
				t.Fatal(err)
			}
			if found := r.Outcome == record.Violated; !found || r.Coverage.Nodes.Mismatches > 0 {
				t.Fatalf("found: %v; %q, %+v: %s", found, r.Stopped, r.Coverage.Probing,
					strings.Join(append(r.Doubts, r.Bugs...), "; "))
			}
			replays := 1
			if os.Getenv("ARIADNE_LONG") != "" {
				replays = 100
			}
			for i := 0; i < replays; i++ {
				again, err := run.Replay(t.Context(), nil, r.Violations[0].Trace,
					run.Options{System: version, Out: filepath.Join(t.TempDir(), "out")})
				if err != nil || again.Outcome != record.Violated || again.Mismatch != nil {
					t.Fatalf("replayed: %v, %+v", err, again)
				}
			}
			o.Out, o.Executions = filepath.Join(t.TempDir(), "out"), 300
			if r, err = check.Check(t.Context(), w.spec(t, "fixed"), o); err != nil || r.Outcome != record.Nothing {
				t.Errorf("the fixed one: %v, %+v", err, r)
			}
		})
	}
}

// TestProbesByStrategy: the default strategy tries some messages at other times unless it is told
// not to, and others try none.
func TestProbesByStrategy(t *testing.T) {
	for _, c := range []struct {
		strategy string
		probes   check.ClockProbes
		noMemo   bool
		tries    bool
	}{
		{"default", check.ProbeByStrategy, false, true}, {"default", check.ProbeNone, false, false},
		{"default", check.ProbeByStrategy, true, false},
		{"deviations", check.ProbeByStrategy, false, false}, {"deviations", check.ProbeSome, false, true},
	} {
		o := check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
			Executions: 5,
			Search:     check.Search{Strategy: c.strategy, ProbeClocks: c.probes, NoMemo: c.noMemo, Fresh: true}}
		r, err := check.Check(t.Context(), leaseSpec(t, "clock", ""), o)
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Coverage.Probing.Tries; n > 0 != c.tries {
			t.Errorf("%+v: %d tries", c, n)
		}
	}
}
