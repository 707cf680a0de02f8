package watch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

func TestMain(m *testing.M) {
	if native.IsStarter() {
		os.Exit(native.RunStarter())
	}
	if path := os.Getenv("ARIADNE_TEST_KILLED"); path != "" {
		os.Exit(watchUntilKilled(path))
	}
	if at := os.Getenv("ARIADNE_TEST_LOG"); at != "" {
		os.Exit(joinWatch(os.Getenv("ARIADNE_TEST_SPEC"), at))
	}
	os.Exit(m.Run())
}

// specOf reads a spec, in a directory of its own.
func specOf(t *testing.T, text string) *spec.Spec {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// leader is what the nodes of these tests expose, and what must hold.
const leader = `
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}}
properties: {at most one leader: {one: leader}}
`

// watchFor watches a system for some time.
func watchFor(t *testing.T, s *spec.Spec, o Options) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := Watch(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLines: programs are started, and judged by their lines, when one leads after the other, and
// when two lead at the same time.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, second string
		want         record.Outcome
	}{
		{"one after the other", "sleep 1.5; echo leads 2", record.Nothing},
		{"together", "sleep 0.1; echo leads 2", record.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'echo leads 1; sleep 1; echo follows; sleep 9'}
    n2: {start: '%s; sleep 9'}
`, c.second)+leader)
			r := watchFor(t, s, Options{Time: 2500 * time.Millisecond})
			if r.Outcome != c.want || len(r.Doubts) > 0 {
				t.Errorf("%v %q, want %v", r.Outcome, r.Doubts, c.want)
			}
			if c.want == record.Nothing {
				return
			}
			f := r.Findings[0]
			if len(r.Findings) != 1 || f.Message != "at most one leader: n1 leader(term=1), n2 leader(term=2)" ||
				f.At < 1e8 || f.At > 1e9 || f.Delay > time.Second {
				t.Errorf("%+v", r.Findings)
			}
			var what []string
			for _, h := range f.History {
				what = append(what, h.Node+" "+h.What)
			}
			if !slices.Contains(what, "n1 leader(term=1)") || what[len(what)-1] != "n2 leader(term=2)" {
				t.Errorf("%q", what)
			}
		})
	}
}

// TestEnds: what a program exposes goes when it ends, so that another one may lead.
func TestEnds(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'echo leads 1; sleep 0.2'}
    n2: {start: 'sleep 0.5; echo leads 2; sleep 9'}
`+leader)
	var all []string
	r := watchFor(t, s, Options{Time: time.Second, OnShow: func(r live.Record) {
		all = append(all, fmt.Sprintf("n%d %s", r.Node+1, What(&r)))
	}})
	if r.Outcome != record.Nothing {
		t.Errorf("%v %+v %q", r.Outcome, r.Findings, r.Doubts)
	}
	if want := []string{"n1 leader(term=1)", "n1 is down", "n2 leader(term=2)"}; !slices.Equal(all[2:], want) {
		t.Errorf("%q, want %q", all[2:], want)
	}
}

// TestProcessesEnd: no process of a program that was started outlives the watch, or the program.
func TestProcessesEnd(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'sleep 9731 & echo leads 1; wait'}
    n2: {start: 'sleep 9732 & echo starts'}
`+leader)
	watchFor(t, s, Options{Time: time.Second})
	lists, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, name := range lists {
		line, _ := os.ReadFile(name) // it may have ended
		if words := strings.ReplaceAll(string(line), "\x00", " "); strings.HasPrefix(words, "sleep 973") {
			t.Errorf("%s is left: %s", name, words)
		}
	}
}

// TestSample: of keys a sample is watched, the same ones on all nodes, and the others are counted.
// A property that is not one of each key by itself is not judged.
func TestSample(t *testing.T) {
	definitions := filepath.Join(t.TempDir(), "held.star")
	const held = `def held(stored): return [{"node": n, "tuples": len([t for t in stored if t.node == n])} for n in ["n1", "n2"]]`
	if err := os.WriteFile(definitions, []byte(held), 0o600); err != nil {
		t.Fatal(err)
	}
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
expose: {stored: {line: 'stored (?P<key>\w+) (?P<value>\w+)', key: key, stays: true}}
properties:
  all store the same: {agree: stored}
  as many: {always: 'len(stored) % 2 == 0'}
  as many on each: {agree: held}
stages: {held: {of: stored, execute: held}}
definitions: `+definitions+`
watch:
  sample: {stored: 8}
  nodes:
    n1: {start: 'for i in $(seq 64); do echo stored k$i a; done; sleep 9'}
    n2: {start: 'sleep 0.2; for i in $(seq 64); do echo stored k$i b; done; sleep 9'}
`)
	r := watchFor(t, s, Options{Time: time.Second})
	if r.Outcome != record.Violated || len(r.Properties) != 1 || len(r.Doubts) > 0 {
		t.Fatalf("%+v", r)
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "stored: one key in 8 is watched") ||
		!strings.Contains(notes, `property "as many" is not judged`) ||
		!strings.Contains(notes, `property "as many on each" is not judged`) {
		t.Errorf("%q", r.Notes)
	}
	last := r.Findings[len(r.Findings)-1].Snapshot
	seen := len(last[0].Tuples)
	if left := r.LeftOut["stored"]; seen == 0 || seen > 30 || left != 2*(64-seen) {
		t.Errorf("%d of 64 keys were watched, %d changes were left out", seen, left)
	}
}

// TestSampleOfNothing: where no key of the sample comes, nothing was judged.
func TestSampleOfNothing(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}]
expose: {stored: {line: 'stored (?P<key>\w+) (?P<value>\w+)', key: key}}
properties:
  all store the same: {agree: stored}
watch:
  sample: {stored: 1000000}
  nodes:
    n1: {start: 'for i in $(seq 64); do echo stored k$i a; done; sleep 9'}
`)
	r := watchFor(t, s, Options{Time: time.Second / 2})
	doubts := strings.Join(r.Doubts, "\n")
	if r.Outcome != record.Inconclusive || !strings.Contains(doubts, "no node exposed a key of stored") {
		t.Errorf("%v %q", r.Outcome, r.Doubts)
	}
}

// TestIsSampled: about one key in n is in the sample, whatever the keys have in common.
func TestIsSampled(t *testing.T) {
	for _, form := range []string{"%d", "k%[1]d k%[1]d", "%08x", "node-%d.example:80"} {
		for _, n := range []int{2, 3, 4, 16, 100} {
			const keys = 20000
			got := 0
			for i := range keys {
				if isSampled(fmt.Sprintf(form, i), n) {
					got++
				}
			}
			if want := keys / n; got < want*3/4 || got > want*5/4 {
				t.Errorf("%d of %d keys of the form %q, with one in %d", got, keys, form, n)
			}
		}
	}
}

// TestGoal: what must become true within a time is a finding when it does not.
func TestGoal(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}]
expose: {waits: {line: waits, until: done}}
properties:
  done: {eventually: not waits, within: 300ms}
watch: {nodes: {n1: {start: 'echo waits; sleep 0.1; echo done; sleep 0.1; echo waits; sleep 9'}}}
`)
	r := watchFor(t, s, Options{Time: time.Second})
	if len(r.Findings) != 1 || r.Findings[0].Kind != "liveness" || r.Findings[0].At < 2e8 {
		t.Errorf("%+v %q", r.Findings, r.Doubts)
	}
}

// running starts a program that somebody else watches. It writes lines to a file.
func running(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", script}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd
}

// TestAttach: programs that run already are found by their ids and their arguments. Values that
// they exposed before are known only if the spec says how.
func TestAttach(t *testing.T) {
	for _, before := range []string{"unknown", "log", "nothing"} {
		t.Run(before, func(t *testing.T) {
			dir := t.TempDir()
			mark := fmt.Sprintf("watched-%d-%s", os.Getpid(), before)
			first := running(t, "echo leads 1 >> $0/n1; echo; sleep 9", dir)
			running(t, "touch $0/n2; echo; sleep 0.5; echo leads 2 >> $0/n2; sleep 9", dir, mark)
			pidfile := filepath.Join(dir, "pid")
			if err := os.WriteFile(pidfile, fmt.Appendf(nil, "%d\n", first.Process.Pid), 0o644); err != nil {
				t.Fatal(err)
			}
			s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {pidfile: %s, log: %s, before: %s}
    n2: {match: '%s$', log: %s, before: %s}
`, pidfile, filepath.Join(dir, "n1"), before, mark, filepath.Join(dir, "n2"), before)+leader)
			r := watchFor(t, s, Options{Time: time.Second})
			want := map[string]record.Outcome{"unknown": record.Inconclusive, "log": record.Violated,
				"nothing": record.Nothing}[before]
			if r.Outcome != want {
				t.Errorf("%v %+v %q, want %v", r.Outcome, r.Findings, r.Doubts, want)
			}
			if before == "unknown" && r.Properties[0].Unknown == 0 {
				t.Errorf("%+v", r.Properties)
			}
		})
	}
}

// TestNoGroup: a node whose control group is not there does not run.
func TestNoGroup(t *testing.T) {
	pid, err := pidOf(t.Context(), &spec.Native{Found: true, PID: os.Getpid(), Group: "ariadne-no-such-group"})
	if pid != 0 || err != nil {
		t.Error(pid, err)
	}
}

// TestReload: properties change while programs run, and what these expose stays known.
func TestReload(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'echo leads 1; sleep 9'}
    n2: {start: 'echo leads 1; sleep 9'}
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}}
properties: {never three: {always: len(leader) < 3}}
`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	leads, found := make(chan struct{}), make(chan struct{})
	reload, reloaded := make(chan struct{}), make(chan error, 2)
	shown := 0
	var errs [2]error
	go func() {
		defer cancel()
		<-leads // both
		text, err := os.ReadFile(s.Path)
		if err == nil {
			err = os.WriteFile(s.Path, []byte(strings.ReplaceAll(string(text), "len(leader) < 3", "len(leader) < 2")),
				0o644)
		}
		if err != nil {
			t.Error(err)
		}
		reload <- struct{}{}
		errs[0] = <-reloaded
		<-found
		if err := os.WriteFile(s.Path, []byte("nodes: [{name: n1}]\nwatch: {nodes: {n1: {pid: 1}}}\n"+leader),
			0o644); err != nil {
			t.Error(err)
		}
		reload <- struct{}{}
		errs[1] = <-reloaded
	}()
	r, err := Watch(ctx, s, Options{
		Reload:    reload,
		OnReload:  func(err error) { reloaded <- err },
		OnFinding: func(Finding) { close(found) },
		OnShow: func(r live.Record) {
			if n := len(r.Changes); n > 0 {
				if shown += n; shown == 2 {
					close(leads)
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if errs[0] != nil {
		t.Error(errs[0])
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "start the watch again") {
		t.Errorf("other nodes: %v", errs[1])
	}
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "n1 leader(term=1), n2 leader(term=1)") {
		t.Errorf("%+v %q", r.Findings, r.Doubts)
	}
	if r.Turns != 1 || r.Findings[0].Turn != 1 || len(r.Properties) != 2 || r.Properties[0].Turn != 0 ||
		r.Properties[1].Turn != 1 {
		t.Errorf("%d turns, a finding in turn %d, %+v", r.Turns, r.Findings[0].Turn, r.Properties)
	}
}

// TestMachines: nodes are started as the spec describes them for a check, each with its address and
// name, killed and started again, cut off and connected again; and nothing of them is left.
func TestMachines(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a network for nodes needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("nodes need the command ip")
	}
	before, err := filepath.Glob(filepath.Join(os.TempDir(), "ariadne-watch-*"))
	if err != nil {
		t.Fatal(err)
	}
	s := specOf(t, `
nodes:
  - {name: 'n{i}', count: 2, command: 'sh -c "hostname; grep -w n2 /etc/hosts; ls; echo leads {i}; exec sleep 9"'}
  - {name: c, command: echo client, client: true}
expose:
  host: {line: '^(n\d)$'}
  other: {line: '^(10.0.0.2) n2$'}
  started: {line: 'leads (\d)'}
properties: {never: {always: len(started) < 2 or len(up) < 2}}
`)
	starts, faults := map[string]int{}, map[string]int{}
	r := watchFor(t, s, Options{Time: 4 * time.Second, Kill: time.Second, Cut: time.Second / 2, Seed: 1,
		OnFault: func(c Change) {
			what, _, _ := strings.Cut(c.What, " for ")
			what, _, _ = strings.Cut(what, " behind a call")
			faults[what]++
			if c.Node == "c" {
				t.Errorf("the client %s", c.What)
			}
		},
		OnShow: func(r live.Record) {
			starts[fmt.Sprintf("n%d %s", r.Node+1, What(&r))]++
		}})
	for _, want := range []string{"n1 host(n1)", "n2 host(n2)", "n1 other(10.0.0.2)", "n3 is down"} {
		if starts[want] == 0 {
			t.Errorf("%v has no %s", starts, want)
		}
	}
	if r.Kills == 0 || starts["n1 is up"]+starts["n2 is up"] < 3 || r.Outcome != record.Violated {
		t.Errorf("%d kills, %v %v %q", r.Kills, starts, r.Outcome, r.Doubts)
	}
	cuts, ends := 0, 0
	for what, n := range faults {
		switch {
		case strings.Contains(what, "again"):
			ends += n
		case what != "is killed":
			cuts += n
		}
	}
	if r.Cuts == 0 || cuts != r.Cuts || faults["is killed"] != r.Kills || ends == 0 {
		t.Errorf("%d kills and %d cuts: %v", r.Kills, r.Cuts, faults)
	}
	after, err := filepath.Glob(filepath.Join(os.TempDir(), "ariadne-watch-*"))
	if err != nil || len(after) != len(before) {
		t.Errorf("%q are left: %v", after, err)
	}
}

// slowLog is a log whose readers are behind.
type slowLog struct {
	*Memory
	behind int
}

func (l *slowLog) Behind() int { return l.behind }

// TestBehind: where changes come faster than they are judged, they are left out, and that is told.
func TestBehind(t *testing.T) {
	s := specOf(t, "nodes: [{name: n1}]\nwatch: {nodes: {n1: {start: 'sleep 9'}}}\n"+leader)
	log := &slowLog{Memory: NewMemory()}
	reader := log.Reader()
	a, err := newAgent(s, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.dropped = make([]probe.Dropped, 1)
	if a.nodes[0].process, err = native.Attach(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	show := func() {
		t.Helper()
		a.showLine(a.nodes[0], "leads 1", a.now())
		if err := a.observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.flush()
	}
	show()
	log.behind = mostBehind + 1
	show() // it notes that
	show()
	log.behind = 0
	show()
	show()
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	log.Close()
	var kinds []live.Kind
	for {
		records, ok := reader.Next()
		if !ok {
			break
		}
		for _, r := range records {
			if r.Kind != live.Beat {
				kinds = append(kinds, r.Kind)
			}
		}
	}
	want := []live.Kind{live.Show, live.Show, live.Lost, live.Lost, live.Show}
	if !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

// TestLoseStays: what is unknown of a node stays so when properties change.
func TestLoseStays(t *testing.T) {
	s := specOf(t, "nodes: [{name: n1}]\nwatch: {nodes: {n1: {start: 'sleep 9'}}}\n"+leader)
	a, err := newAgent(s, NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := a.nodes[0]
	n.process = &native.Process{PID: 1}
	lost := func() (names []string) {
		a.batch = nil
		a.tellKnown(n, nil)
		for _, r := range a.batch {
			if r.Kind == live.Lost {
				names = append(names, r.Names...)
			}
		}
		return names
	}
	a.showLine(n, "leads 1", a.now())
	if names := lost(); names != nil {
		t.Errorf("%q are unknown, and nothing was lost", names)
	}
	for range 2 {
		a.lose(n, a.now(), a.now(), a.namesByLines(n), "lines were lost")
	}
	if names := lost(); !slices.Equal(names, []string{"leader"}) {
		t.Errorf("%q are unknown after lines were lost", names)
	}
	a.showLine(n, "follows", a.now())
	if names := lost(); names != nil {
		t.Errorf("%q are unknown, and were shown since", names)
	}
	n.process = nil
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}

// TestNumber: a property that is a number has its values over time, and is judged by its bounds.
func TestNumber(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}]
expose: {queue: {line: 'queue (?P<length>\d+)'}}
properties: {length: {number: 'int(queue[0].length) if queue else None', at_most: 5}}
watch: {nodes: {n1: {start: 'echo queue 3; sleep 0.1; echo queue 7; sleep 0.1; echo queue 1; sleep 9'}}}
`)
	r := watchFor(t, s, Options{Time: 600 * time.Millisecond})
	n := r.Properties[0].Number
	if n == nil || n.Min != 1 || n.Max != 7 || n.Beyond == nil || len(r.Findings) != 1 {
		t.Fatalf("%+v %+v", n, r.Findings)
	}
	var values []string
	for _, p := range n.Points {
		if p.Value != nil {
			values = append(values, fmt.Sprint(*p.Value))
		}
	}
	if got := strings.Join(values, " "); got != "3 7 1" {
		t.Errorf("%s", got)
	}
}
