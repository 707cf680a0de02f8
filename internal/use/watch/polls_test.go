package watch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// holder has a lease while its input says so: in a variable behind a pointer, and in a file. Or it
// counts as fast as it can.
const holder = `
package main

import ("bufio"; "fmt"; "os"; "runtime")

var pair [2]int

var word int

var large []byte

//go:noinline
func count() { pair[0]++; pair[1]++; word++ }

type lease struct { term int; holder string }

type state struct { pad [9]int; lease *lease }

var own state

//go:noinline
func set(l *lease) { own.lease = l }

func main() {
	term := 7
	for s := bufio.NewScanner(os.Stdin); s.Scan(); term++ {
		if s.Text() == "grow" {
			large = make([]byte, 100<<20)
			for i := 0; i < len(large); i += 4096 { large[i] = 1 }
			word = 1
			continue
		}
		if s.Text() == "count" {
			for { count() }
		}
		if s.Text() == "hold" {
			set(&lease{term, "me"})
			os.WriteFile("term.new", []byte(fmt.Sprintf("term %d\n", term)), 0o644)
			os.Rename("term.new", "term")
		} else {
			set(nil)
			os.Remove("term")
		}
	}
	runtime.KeepAlive(own)
}
`

// buildHolder builds it once.
func buildHolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "holder")
	if err := os.WriteFile(src, []byte(holder), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("go", "build", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// startFed starts a program, and returns its input.
func startFed(t *testing.T, cmd *exec.Cmd) io.WriteCloser {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in
}

// whats are the changes of a watch in words, by node and record.
type whats []string

func (w *whats) show(r live.Record) { *w = append(*w, fmt.Sprintf("n%d %s", r.Node+1, What(&r))) }

// TestPolls: variables and files of programs are exposed as they are when they are read, also
// behind pointers; a property that reads one is suspected where it does not hold.
func TestPolls(t *testing.T) {
	path := buildHolder(t)
	s := specOf(t, fmt.Sprintf(`
nodes:
  - {name: n1, command: "sh -c '(sleep 0.3; echo hold; sleep 1.5; echo drop; sleep 9) | %[1]s'"}
  - {name: n2, command: "sh -c '(sleep 0.9; echo hold; sleep 9) | %[1]s'"}
expose:
  lease: {variable: main.own.lease, fields: {term: term, holder: holder}}
  file: {file: term, match: 'term (?P<term>\d+)'}
properties:
  one has the lease: {never: 'len([l for l in lease if l.term != "nil"]) > 1'}
  one has the file: {one: file}
watch: {poll: 10ms}
`, path))
	var all whats
	r := watchFor(t, s, Options{Time: 3 * time.Second, OnShow: all.show})
	if r.Outcome != record.Suspected || len(r.Doubts) > 0 || len(r.Findings) != 2 {
		t.Errorf("%v %+v %q", r.Outcome, r.Findings, r.Doubts)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if len(f.Polled) != 1 || !isSuspicion(f) || len(f.Without) > 0 {
			t.Errorf("%+v", f)
		}
	}
	of := map[string]string{}
	for _, what := range all {
		of[what[:2]] += what[2:] + ","
	}
	for _, want := range []struct{ node, what string }{
		{"n1", " is up, lease(term=nil, holder=nil),"},
		{"n1", "file(term=7)"}, {"n1", "lease(term=7, holder=me)"}, {"n1", "no file"},
		{"n2", "file(term=7)"}, {"n2", "lease(term=7, holder=me)"},
	} {
		if n := strings.Count(of[want.node], want.what); n != 1 {
			t.Errorf("%s shows %q %d times: %q", want.node, want.what, n, all)
		}
	}
	if strings.Contains(of["n2"], "no ") {
		t.Errorf("%q", all)
	}
}

// TestPolledInMidst: a word that changes all the time is exposed as it was at some moment. Two
// words may be of two values, so they are unknown.
func TestPolledInMidst(t *testing.T) {
	path := buildHolder(t)
	for name, c := range map[string]struct{ fields, together string }{
		"a word":    {"variable: main.word", "True"},
		"two words": {"variable: main.pair, fields: {a: '[0]', b: '[1]'}", "int(c.a) - int(c.b) in (0, 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1, command: "sh -c 'echo count | %s'"}]
expose: {counts: {%s}}
properties: {together: {always: 'all([%s for c in counts])'}}
watch: {poll: 10ms}
`, path, c.fields, c.together))
			r := watchFor(t, s, Options{Time: 2 * time.Second})
			if len(r.Findings) > 0 || name == "a word" && (len(r.Doubts) > 0 || r.Properties[0].Judged < 20) {
				t.Errorf("%v %+v %q", r.Findings, r.Properties, r.Doubts)
			}
			says := strings.Contains(strings.Join(r.Doubts, "\n"), "it changes while it is read")
			if r.Properties[0].Judged < 20 && !says {
				t.Errorf("%+v %q", r.Properties, r.Doubts)
			}
		})
	}
}

// TestPolledUnread: what cannot be read is unknown, and the watch says so.
func TestPolledUnread(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "users")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "60")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	for file, want := range map[string]string{"users": "file users cannot be read: it leads out", "none": ""} {
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}]
expose: {users: {file: %s}}
properties: {some: {never: 'len(users) > 1'}}
watch: {nodes: {n1: {pid: %d}}}
`, file, cmd.Process.Pid))
		r := watchFor(t, s, Options{Time: 400 * time.Millisecond})
		if is := strings.Join(r.Doubts, "\n"); (want == "") != (is == "") || !strings.Contains(is, want) {
			t.Errorf("%s: %v %q", file, r.Outcome, r.Doubts)
		}
	}
}

// TestPollsReload: properties may read other files from some moment on, which are known at once.
// All keys stay known that an unchanged rule has exposed.
func TestPollsReload(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
expose:
  a: {file: a}
  k: {file: k, match: 'k=(?P<id>\d)', key: id}
properties: {one has a: {one: a}}
watch:
  poll: 10ms
  nodes:
    n1: {start: "sh -c 'echo k=1 >k; echo 1 >b1; sleep 0.5; echo k=2 >k; sleep 0.5; echo 1 >a1; mv a1 a; sleep 9'", dir: one}
    n2: {start: 'sleep 9', dir: two}
`)
	for _, dir := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(s.Dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reload, reloaded := make(chan struct{}), make(chan error, 1)
	var all whats
	begun := make(chan struct{})
	var once sync.Once
	go func() {
		<-begun
		text, err := os.ReadFile(s.Path)
		if err == nil {
			text = []byte(strings.Replace(string(text), "properties: {",
				"  b: {file: b1}\nproperties: {b is 1: {always: 'not b or b[0].values[0] == \"2\"'}, k 1 went: {never: 'len(k) > 1'}, ", 1))
			err = os.WriteFile(s.Path, text, 0o644)
		}
		if err != nil {
			t.Error(err)
		}
		reload <- struct{}{}
		if err := <-reloaded; err != nil {
			t.Error(err)
		}
		time.Sleep(300 * time.Millisecond)
		cancel()
	}()
	r, err := Watch(ctx, s, Options{Reload: reload, OnReload: func(err error) { reloaded <- err },
		OnShow: func(r live.Record) {
			if all.show(r); all[len(all)-1] == "n1 a(1)" {
				once.Do(func() { close(begun) })
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range r.Findings {
		found = append(found, fmt.Sprintf("%s in turn %d", f.Property, f.Turn))
	}
	slices.Sort(found)
	if want := []string{"b is 1 in turn 1", "k 1 went in turn 1"}; !slices.Equal(found, want) || len(r.Doubts) > 0 {
		t.Errorf("%q %q %q", found, r.Doubts, all)
	}
}

// TestPolledLater: a variable is also found in a program that a process runs later. A node whose
// programs do not have the variable makes the result inconclusive, since it may hold anything.
func TestPolledLater(t *testing.T) {
	path := buildHolder(t)
	for _, lacks := range []bool{false, true} {
		run := "exec " + path
		if lacks {
			run = "exec sleep 60"
		}
		cmd := exec.Command("sh", "-c", "sleep 0.3; "+run)
		in := startFed(t, cmd)
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}]
expose: {word: {variable: main.word}}
properties: {one: {one: word}}
watch: {poll: 10ms, nodes: {n1: {pid: %d}}}
`, cmd.Process.Pid))
		var all whats
		r := watchFor(t, s, Options{Time: 1500 * time.Millisecond, OnShow: all.show})
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
		says := strings.Contains(strings.Join(r.Doubts, "\n"), "never found: variable main.word in a program")
		if says != lacks || lacks && len(all) != 1 || !lacks && (all[len(all)-1] != "n1 word(0)" || len(r.Doubts) > 0) {
			t.Errorf("%v %q %q", r.Outcome, r.Doubts, all)
		}
	}
}

// TestPrintable: bytes that are no text are told apart, and lose nothing.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{"a\tb\n": "a\tb\n", "é\xff\x00x": `é\xff\x00x`, "\u0085": `\xc2\x85`} {
		if is := printable(text); is != want {
			t.Errorf("%q is %q, want %q", text, is, want)
		}
	}
}

// TestPolledEnds: a process that is killed exposes what it did until it is down, however long that
// takes.
func TestPolledEnds(t *testing.T) {
	cmd := exec.Command(buildHolder(t))
	in := startFed(t, cmd)
	s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}]
expose: {word: {variable: main.word, stays: true}}
properties: {one: {one: word}}
watch: {poll: 1ms, nodes: {n1: {pid: %d}}}
`, cmd.Process.Pid))
	fmt.Fprintln(in, "grow")
	var all whats
	r := watchFor(t, s, Options{Time: 6 * time.Second, OnShow: func(r live.Record) {
		if all.show(r); strings.Contains(all[len(all)-1], "word(1)") {
			cmd.Process.Kill()
		}
	}})
	cmd.Process.Kill()
	cmd.Wait()
	if want := []string{"n1 is up", "n1 word(0)", "n1 word(1)", "n1 is down"}; fmt.Sprint(all) != fmt.Sprint(want) &&
		fmt.Sprint(all) != fmt.Sprint(slices.Delete(want, 1, 2)) || len(r.Doubts) > 0 {
		t.Errorf("%q %q", all, r.Doubts)
	}
}

// TestPolledBehind: a value that was left out, because verifiers were behind, is told when they are
// not any more, though it has not changed since.
func TestPolledBehind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "term")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}]
expose: {term: {file: %s}}
properties: {low: {never: 'any([int(t.value) > 9 for t in term])'}}
watch: {poll: 1ms, nodes: {n1: {start: 'sleep 30'}}}
`, file))
	log := &slowLog{Memory: NewMemory()}
	a, err := newAgent(s, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	reader := log.Reader()
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := a.attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	look := func() {
		t.Helper()
		if err := a.observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.addRecord(a.nodes[0], live.Record{Kind: live.Beat}) // a reader waits for no other one
		a.flush()
	}
	// observe has the agent look until some record is in words as wanted.
	observe := func(want string) {
		t.Helper()
		var all []string
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			look()
			records, _ := reader.Next()
			for i := range records {
				if records[i].Kind == live.Beat {
					continue
				}
				all = append(all, What(&records[i]))
				if all[len(all)-1] == want {
					return
				}
			}
		}
		t.Fatalf("%q, want %q", all, want)
	}
	observe("term(1)")
	log.behind = mostBehind + 1
	look() // it notes that
	write("2")
	observe("is partly unknown: changes came faster than they were judged")
	log.behind = 0
	observe("no term, term(2)")
}

// TestPauseProbes: a program that calls a function too often makes nearly as many calls as without
// a watch, where its probes are taken out; and the watch says that it has not seen all.
func TestPauseProbes(t *testing.T) {
	if why, _ := probe.Check(); why != "" {
		t.Skip(why)
	}
	path := buildHolder(t)
	made := func(pause bool) (n int) {
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1, command: "sh -c '(echo count; sleep 9) | %s'"}]
expose: {counts: {function: main.count}, word: {variable: main.word}}
properties: {some: {never: len(counts) > 1 and len(word) > 1}}
watch: {poll: 10ms, max_calls: 100, pause_probes: %v}
`, path, pause))
		calls := 0
		r := watchFor(t, s, Options{Time: 3 * time.Second, OnShow: func(r live.Record) {
			for _, c := range r.Changes {
				switch {
				case c.Ends:
				case c.Name == "counts":
					calls++
				default:
					fmt.Sscan(c.Values[0], &n)
				}
			}
		}})
		doubts := strings.Join(r.Doubts, "\n")
		if r.Outcome != record.Inconclusive || calls == 0 || calls > 1000 ||
			strings.Contains(doubts, "probes were taken out") != pause {
			t.Errorf("%v after %d calls: %q", r.Outcome, calls, r.Doubts)
		}
		return n
	}
	all, some := made(true), made(false)
	t.Logf("%d and %d calls", all, some)
	if all < 10*some || some == 0 {
		t.Errorf("%d calls were made where probes are taken out, and %d where not", all, some)
	}
}

// restless takes something before it says that it is ready. It then calls as much as it can, ends,
// and is to be started again.
const restless = `
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) void take(int k) { __asm__ volatile("" :: "r"(k)); }
__attribute__((noinline)) void noise(int k) { __asm__ volatile("" :: "r"(k)); }

int main(void) {
	take(1);
	usleep(20000);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 300; i++) {
		noise(i);
		usleep(30);
	}
}
`

// TestPausedRestart: of a process that begins while probes are out it is unknown what it exposes.
func TestPausedRestart(t *testing.T) {
	s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}]
expose:
  x: {function: take, fields: {k: k}}
  z: {function: noise, fields: {k: k}}
  ready: {line: ready}
properties: {taken before ready: {never: len(ready) > 0 and len(x) == 0}}
watch: {max_calls: 100, pause_probes: true, nodes: {n1: {start: '%s'}}}
`, compiled(t, restless)))
	r := watchFor(t, s, Options{Restart: true, Time: 6 * time.Second})
	if len(r.Findings) > 0 || r.Outcome != record.Inconclusive {
		t.Errorf("%v %+v %q", r.Outcome, r.Findings, r.Doubts)
	}
}

// TestPausedCalls: what calls expose while some probes are out is not told, and it is unknown of a
// process that may have begun then.
func TestPausedCalls(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}]
expose: {x: {function: take, fields: {k: k}}}
properties: {one: {one: x}}
watch: {nodes: {n1: {pid: 1, before: nothing}}}
`)
	a, err := newAgent(s, NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := a.nodes[0]
	a.base, a.of = 0, []*spec.Probe{&s.Probes[0]}
	a.pausedAt, a.resumedAt = 10, 20
	var shown []ariadne.Time
	if n.process, err = native.Attach(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	for _, at := range []ariadne.Time{9, 10, 11, 20, 21} {
		a.showCall(&probe.Call{At: at - native.FromKernel(0), Values: []string{"1"}})
	}
	if err := n.process.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.batch {
		shown = append(shown, r.At)
	}
	if want := []ariadne.Time{9, 10, 21}; !slices.Equal(shown, want) {
		t.Errorf("calls at %v are told, want %v", shown, want)
	}
	for _, c := range []struct {
		resumed, before ariadne.Time
		unknown         bool
	}{{0, 0, false}, {20, 19, true}, {20, 20, true}, {20, 21, false}, {ariadne.Never, 1 << 40, true}} {
		p, err := native.Attach(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		a.batch, a.resumedAt = nil, c.resumed
		if err := a.enterProcess(n, p, c.before); err != nil {
			t.Fatal(err)
		}
		lost := slices.ContainsFunc(a.batch, func(r live.Record) bool { return r.Kind == live.Lost })
		if lost != c.unknown || lost != slices.Contains(n.unknown, "x") {
			t.Errorf("%+v: unknown %v, noted %q", c, lost, n.unknown)
		}
		a.waiter.Drop(p.Descriptor())
		n.process = nil
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}
