package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/native"
)

// TestNeverFound: a watch is inconclusive if it has never found a node's process, or a file with
// its lines, and says what it has looked for. A property that the node may keep is then only
// suspected.
func TestNeverFound(t *testing.T) {
	for _, c := range []struct{ node, want string }{
		{"pidfile: nowhere", "a process whose id is in DIR/nowhere"},
		{"match: 'no such process [x]'", `a process whose arguments match "no such process [x]"`},
		{"cgroup: nosuch.scope", `a process in a control group "nosuch.scope"`},
		{"start: 'sleep 99', log: nowhere.log", "the log file DIR/nowhere.log"},
	} {
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}, error: broken}
properties: {at most one leader: {one: leader}, no leader: {always: 'len(leader) == len(error)'}}
watch:
  nodes:
    n1: {start: 'sleep 0.1; echo leads 1; sleep 9'}
    n2: {%s}
`, c.node))
		r := watchFor(t, s, Options{Time: 600 * time.Millisecond})
		want := "node n2: never found: " + strings.ReplaceAll(c.want, "DIR", filepath.Dir(s.Path))
		if r.Outcome != record.Suspected || !slices.Equal(r.Doubts, []string{want}) || len(r.Findings) != 1 ||
			!slices.Equal(r.Findings[0].Without, []string{"n2"}) ||
			!slices.Contains(r.Notes, "no node has exposed error") {
			t.Errorf("%s: %v, doubts %q, notes %q, findings %+v", c.node, r.Outcome, r.Doubts, r.Notes, r.Findings)
		}
	}
}

// TestFoundLate: what a watch finds late counts from then on, and a violation that was suspected
// without it is certain if the property still does not hold.
func TestFoundLate(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}}
properties: {at most one leader: {one: leader}, no leader: {always: 'len(leader) == 0'}}
watch:
  nodes:
    n1: {start: 'sleep 0.1; echo leads 1; sleep 9'}
    n2: {start: 'sleep 9', log: late.log}
`)
	late := func() {
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.Path), "late.log"), []byte("x\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
	r := watchFor(t, s, Options{Time: time.Second, OnBegin: func() { time.AfterFunc(500*time.Millisecond, late) }})
	if r.Outcome != record.Violated || len(r.Doubts) > 0 || len(r.Findings) != 2 || r.Findings[0].Without == nil ||
		r.Findings[1].Without != nil {
		t.Errorf("%v %q %+v", r.Outcome, r.Doubts, r.Findings)
	}
}

// TestUnfoundAndStages: further values can make "one" hold of a stage, and of a node that exposes
// some values and whose other lines were never found.
func TestUnfoundAndStages(t *testing.T) {
	definitions := filepath.Join(t.TempDir(), "defs.star")
	text := "def active(leader, over):\n    return [l for l in leader if not over]\n"
	if err := os.WriteFile(definitions, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ property, n2, n3 string }{
		{"one: active", "pidfile: nowhere", "start: 'sleep 0.1; echo leads 2; sleep 9'"},
		{"one: leader", "start: 'sleep 0.1; echo leads 2; sleep 9', log: nowhere.log", "start: 'sleep 9'"},
	} {
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}, {name: n3}]
definitions: %s
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}, over: 'over (?P<term>\d+)'}
stages: {active: {of: [leader, over], execute: active}}
properties: {at most one: {%s}}
watch:
  nodes:
    n1: {start: 'sleep 0.1; echo leads 1; sleep 9'}
    n2: {%s}
    n3: {%s}
`, definitions, c.property, c.n2, c.n3))
		r := watchFor(t, s, Options{Time: 600 * time.Millisecond})
		if r.Outcome != record.Suspected || len(r.Findings) != 1 ||
			!slices.Equal(r.Findings[0].Without, []string{"n2"}) {
			t.Errorf("%s: %v %+v", c.property, r.Outcome, r.Findings)
		}
	}
}

// TestFoundByAnother: what one agent has never found counts as found when the next agent of the
// node finds it.
func TestFoundByAnother(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}]
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}}
properties: {no leader: {always: 'len(leader) == 0'}}
watch:
  nodes:
    n1: {start: 'sleep 9', log: late.log, before: log}
`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	agents := make(chan error, 1)
	r, err := Watch(ctx, s, Options{Shared: Shared{Listen: "127.0.0.1:0"},
		OnLog: func(at, _ string) {
			go func() {
				o := AgentOptions{Shared: Shared{Log: at}, Nodes: []string{"n1"}}
				first, stop := context.WithCancel(ctx)
				o.OnBegin = func() { time.AfterFunc(500*time.Millisecond, stop) }
				if err := RunAgent(first, s, o); err == nil {
					t.Error("the first agent has found a file that is not there")
				}
				err := os.WriteFile(filepath.Join(filepath.Dir(s.Path), "late.log"), []byte("leads 1\n"), 0o644)
				if err != nil {
					t.Error(err)
				}
				o.OnBegin = func() { time.AfterFunc(2*time.Second, cancel) }
				agents <- RunAgent(ctx, s, o)
			}()
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-agents; err != nil {
		t.Error(err)
	}
	if slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.Contains(d, "never found") }) {
		t.Errorf("doubts %q", r.Doubts)
	}
}

// TestSlowSearch: while a node's process is looked for, the watch goes on to see what other nodes
// do. Here systemctl takes long.
func TestSlowSearch(t *testing.T) {
	dir := t.TempDir()
	// The first question is asked before the watch begins.
	script := fmt.Sprintf("#!/bin/sh\nif [ -e %[1]s/asked ]; then sleep 5; fi\ntouch %[1]s/asked\necho 0\n", dir)
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'sleep 0.5; echo leads 1; sleep 9'}
    n2: {unit: nothing}
`+leader)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	seen := false
	if _, err := Watch(ctx, s, Options{OnShow: func(r live.Record) {
		if r.Kind == live.Show && ctx.Err() == nil {
			seen = true
			cancel()
		}
	}}); err != nil {
		t.Error(err)
	}
	if !seen {
		t.Error("nothing was seen of a node while the process of another one was looked for")
	}
}

// TestLastLine: a line without an end that a program wrote last does not count. If it
// would have exposed something that stays, that is unknown.
func TestLastLine(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
expose:
  leader: 'leads (?P<term>\d+)'
  vow: {line: 'leads (?P<term>\d+)', stays: true}
  begun: 'begins (?P<name>\w+)'
properties:
  no leader: {always: 'len(leader) == 0'}
  no vow: {always: 'len(vow) == 0'}
  begun: {never: 'len(begun) > 0'}
watch:
  nodes:
    n1: {start: 'sleep 0.6; printf "leads 1"'}
    n2: {start: 'printf "begins now"; sleep 0.1; echo; sleep 9'}
`)
	r := watchFor(t, s, Options{Time: 2 * time.Second})
	if len(r.Findings) != 1 || r.Findings[0].Property != "begun" || len(r.Doubts) != 1 ||
		!strings.Contains(r.Doubts[0], "a line of it was divided, or has no end: what it exposes as vow is unknown") {
		t.Errorf("%v %q %+v", r.Outcome, r.Doubts, r.Findings)
	}
}

// TestDownExposes: a node that was started here and is down exposes only what stays, whatever its
// children write. Of a node that somebody else has started, lines may come before its process is
// found: what they have exposed is unknown then.
func TestDownExposes(t *testing.T) {
	for _, c := range []struct {
		how     string
		started bool
	}{{"start: 'sleep 9'", true}, {"match: 'no such process [x]', before: nothing", false}} {
		s := specOf(t, `
nodes: [{name: n1}]
expose: {leader: 'leads (?P<term>\d+)', vow: {line: 'vows (?P<term>\d+)', stays: true}}
properties: {one: {always: 'len(leader) + len(vow) <= 1'}}
watch: {nodes: {n1: {`+c.how+`}}}
`)
		a, err := newAgent(s, NewMemory(), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := a.nodes[0]
		n.met = true
		a.showLine(n, "leads 1", a.now())
		a.showLine(n, "vows 1", a.now())
		p, err := native.Attach(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := a.enterProcess(n, p, a.now()); err != nil {
			t.Fatal(err)
		}
		var shown, lost []string
		for _, r := range a.batch {
			lost = append(lost, r.Names...)
			for _, change := range r.Changes {
				shown = append(shown, change.Name)
			}
		}
		want, unknown := []string{"vow"}, []string(nil)
		if !c.started {
			unknown = []string{"leader", "leader"} // up to its begin, and from then on
		}
		if !slices.Equal(shown, want) || !slices.Equal(lost, unknown) {
			t.Errorf("%s: %q are shown, %q lost", c.how, shown, lost)
		}
		a.waiter.Drop(p.Descriptor())
		n.process = nil
		if err := errors.Join(p.Close(), a.close()); err != nil {
			t.Fatal(err)
		}
	}
}

// pidfileAgent is an agent of one node, which exposes a leader and has the id of its process in a
// file.
func pidfileAgent(t *testing.T) *Agent {
	t.Helper()
	s := specOf(t, `
nodes: [{name: n1}]
expose: {leader: leads}
properties: {one: {one: leader}}
watch: {nodes: {n1: {pidfile: n1.pid}}}
`)
	a, err := newAgent(s, NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFoundAgain: a watch goes on when it cannot tell for a while which process is that of a node.
func TestFoundAgain(t *testing.T) {
	a := pidfileAgent(t)
	var said []string
	a.onWait = func(text string) { said = append(said, text) }
	n := a.nodes[0]
	var before ariadne.Time
	for _, text := range []string{"", "starting", "starting", fmt.Sprint(os.Getpid())} {
		if err := os.WriteFile(n.native.PIDFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before, a.looked, a.batch = n.absent, a.now(), nil
		a.showLine(n, "leads", a.now())
		// Its process may have begun before the line was read, even before the last look.
		if at := a.knownUpTo(n, a.now()); at > n.before {
			t.Errorf("all is known up to %v, but nobody was there at %v", at, n.before)
		}
		a.findBeside(t.Context(), n)
		(<-a.calls)()
		if n.process == nil && n.absent != a.looked {
			t.Errorf("nobody was there at %v, not %v", a.looked, n.absent)
		}
	}
	if a.failed != nil || n.process == nil || len(said) != 1 || !strings.Contains(said[0], "n1.pid") {
		t.Errorf("%v, process %v, said %q", a.failed, n.process, said)
	}
	kinds := mapped(a.batch, func(r live.Record) live.Kind { return r.Kind })
	if len(kinds) < 3 || !slices.Equal(kinds[:3], []live.Kind{live.Lost, live.Up, live.Lost}) ||
		a.batch[1].After != before {
		t.Errorf("nobody was there at %v: %+v", before, a.batch)
	}
	// Somebody has written a line and was never found.
	p := n.process
	a.waiter.Drop(p.Descriptor())
	n.process, n.absent, n.before = nil, a.now(), a.now()
	a.showLine(n, "leads", a.now())
	before, a.batch, a.looked = n.before, nil, a.now()+1
	if err := os.WriteFile(n.native.PIDFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.findBeside(t.Context(), n)
		(<-a.calls)()
	}
	if len(a.batch) != 2 || a.batch[0].Kind != live.Lost || a.batch[0].After != before ||
		!slices.Equal(a.batch[0].Names, []string{"leader"}) || a.batch[1].Kind != live.Down {
		t.Errorf("a line while nobody was found: %+v", a.batch)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}

// TestOtherProcess: the watch says when a pidfile names another process than the one that it
// watches. It sees nothing of the other one.
func TestOtherProcess(t *testing.T) {
	a := pidfileAgent(t)
	n := a.nodes[0]
	p, err := native.Attach(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.enterProcess(n, p, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pid    string
		sought bool
	}{{fmt.Sprint(os.Getpid()), false}, {"", false}, {"1x", false}, {"1", true}, {"999999999", false},
		{fmt.Sprint(os.Getpid()), false}} {
		if err := os.WriteFile(n.native.PIDFile, []byte(c.pid), 0o600); err != nil {
			t.Fatal(err)
		}
		a.looked = -ariadne.Time(time.Second)
		a.lookRarely(t.Context())
		if (n.sought != "") != c.sought {
			t.Errorf("the pidfile has %q: sought %q", c.pid, n.sought)
		}
	}
	if !slices.Equal(n.unknown, []string{"leader"}) {
		t.Errorf("unknown are %q: the other process may have written lines", n.unknown)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}

// TestFollowingProcess: a line may be of the next process if that had begun when the line was read,
// even if it counts as one of the process before, or of none.
func TestFollowingProcess(t *testing.T) {
	begin := func() *native.Process {
		c := exec.Command("sleep", "99")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		p, err := native.Attach(c.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		how string
		// comes before: 0 the next process, 1 the end of the first one, 2 the next one is found
		line int
		want []string
	}{
		{"before the next process", 0, nil},
		{"while both are there", 1, []string{"leader"}},
		{"while none is known", 2, []string{"leader", "leader"}},
	} {
		a := pidfileAgent(t)
		n := a.nodes[0]
		show := func(at int) {
			if at == c.line {
				a.showLine(n, "leads", a.now())
			}
		}
		if err := a.enterProcess(n, begin(), 0); err != nil {
			t.Fatal(err)
		}
		show(0)
		time.Sleep(30 * time.Millisecond) // begins are known to 10 ms
		next := begin()
		show(1)
		if err := a.went(n); err != nil {
			t.Fatal(err)
		}
		show(2)
		a.batch = nil
		if err := a.enterProcess(n, next, n.absent); err != nil {
			t.Fatal(err)
		}
		var lost []string
		for _, r := range a.batch {
			lost = append(lost, r.Names...)
		}
		if !slices.Equal(lost, c.want) {
			t.Errorf("a line %s: %q are lost, want %q", c.how, lost, c.want)
		}
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
	}
}
