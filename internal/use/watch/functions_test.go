package watch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// caller is a program whose function is called every 100 ms. A line says that it has been called.
// With an argument, it ends after 2 s, and that file, if it is there, comes in place of its own.
// With another one, it goes on as that program.
const caller = `
#include <stdio.h>
#include <unistd.h>
static volatile int held;
__attribute__((noinline)) void hold(int k) { held = k; }
int main(int argc, char **argv) {
	for (int k = 1;; k++) {
		hold(k);
		if (k == 1) { printf("held\n"); fflush(stdout); }
		if (k == 3 && argc > 2) execl(argv[2], argv[2], (char *)0);
		if (k == 20 && argc > 1) { rename(argv[1], argv[0]); return 0; }
		usleep(100000);
	}
}
`

// TestWithoutFunction: a node whose program lacks a function is not one that never calls it.
// A program that a script begins is found, and what it has called before is unknown.
func TestWithoutFunction(t *testing.T) {
	program := compiled(t, caller)
	dir := filepath.Dir(program)
	stripped := func(name string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.Command("strip", "-o", path, program).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	copied := func(name string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.Command("cp", program, path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	again := copied("again")
	const never = "node n2: never found: function hold in a program with debug information"
	for _, c := range []struct {
		name, start, doubt string
		outcome            record.Outcome
	}{
		{"the same program", program, "", record.Nothing},
		{"a program without debug information", stripped("bare"), never, record.Suspected},
		{"a script", script("first", "sleep 0.5; exec "+program), "", record.Nothing},
		{"a script that begins another program", script("second", "sleep 0.5; exec "+copied("another")),
			"it ran before its functions were watched", record.Inconclusive},
		{"a script that begins another program later", script("third", program+" nothing; "+copied("third.prog")),
			"it ran before its functions were watched", record.Inconclusive},
		{"a script that begins programs without functions",
			script("fourth", "(while :; do /bin/true; sleep 0.01; done) & exec "+program), "", record.Nothing},
		{"a program that begins one without debug information", program + " nothing " + stripped("last"), never,
			record.Inconclusive},
		{"a program that was replaced", again + " " + stripped("next"), never, record.Suspected},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
expose: {holds: {function: hold, fields: {k: k}}, held: held}
properties: {who says so has held: {always: 'len(set([h.node for h in held]) - set([h.node for h in holds])) == 0'}}
watch: {nodes: {n1: {start: '%s'}, n2: {start: '%s'}}}
`, program, c.start))
			r := watchFor(t, s, Options{Restart: true, Time: 5 * time.Second})
			doubts := strings.Join(r.Doubts, "\n")
			if r.Outcome != c.outcome || (doubts == "") != (c.doubt == "") || !strings.Contains(doubts, c.doubt) {
				t.Errorf("%v %q %+v", r.Outcome, r.Doubts, r.Findings)
			}
		})
	}
}

// TestPausedBetween: a call between the last look at calls and the moment at which probes are taken
// out is not told, because it would be told behind the loss, and count as known.
func TestPausedBetween(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}, {name: n3}]
expose:
  x: {function: take, fields: {k: k}, nodes: [n1, n2]}
  y: {function: keep, fields: {k: k}, stays: true, nodes: [n1, n2]}
properties: {one: {one: x}, another: {one: y}}
watch:
  max_calls: 10
  pause_probes: true
  nodes: {n1: {pid: 1, before: nothing}, n2: {pid: 1, before: nothing}, n3: {pid: 1, before: nothing}}
`)
	a, err := newAgent(s, NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		if a.nodes[i].process, err = native.Attach(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	a.kernel, a.of = &probe.Kernel{}, []*spec.Probe{&s.Probes[0], &s.Probes[1]}
	a.made, a.dropped = []uint64{11, 0, 0}, make([]probe.Dropped, 3)
	a.second = a.now()
	if complete, err := a.readCalls(); !complete || err != nil || !a.isPaused() {
		t.Fatal(complete, err, a.isPaused())
	}
	a.showCall(&probe.Call{At: a.pausedAt + 1 + a.base - native.FromKernel(0), Values: []string{"1"}})
	names := make([][]string, 3)
	for _, r := range a.batch {
		if r.Kind != live.Lost || r.After != a.pausedAt || r.At <= r.After {
			t.Errorf("%+v", r)
		}
		names[r.Node] = append(names[r.Node], r.Names...)
	}
	// A node that is down can only have what stays.
	if want := [][]string{{"x", "y"}, {"y"}, nil}; !reflect.DeepEqual(names, want) {
		t.Errorf("%q are unknown, want %q", names, want)
	}
	for _, i := range []int{0, 2} {
		if err := a.nodes[i].process.Close(); err != nil {
			t.Fatal(err)
		}
		a.nodes[i].process = nil
	}
	a.kernel = nil
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnread: until a program that a node has begun is read, no time after its begin is told as
// known. If it has the functions, its calls are lost from the begin on, and its node's end is told
// behind that.
func TestUnread(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
expose: {x: {function: take, fields: {k: k}}, y: {function: keep, fields: {k: k}}}
properties: {one: {one: x}, another: {one: y}}
watch: {nodes: {n1: {pid: 1, before: nothing}, n2: {pid: 1, before: nothing}}}
`)
	a, err := newAgent(s, NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.base -= ariadne.Time(time.Second) // so that a Beat is due at each look
	program1 := exec.Command("sleep", "9")
	if err := program1.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			program1.Process.Kill()
			program1.Wait()
		}
	}()
	for i, pid := range []int{program1.Process.Pid, os.Getpid()} {
		if a.nodes[i].process, err = native.Attach(pid); err != nil {
			t.Fatal(err)
		}
	}
	a.kernel, a.of = &probe.Kernel{}, []*spec.Probe{&s.Probes[0], &s.Probes[1]}
	a.made, a.dropped = make([]uint64, 2), make([]probe.Dropped, 2)
	observed := func() (kinds []live.Kind, beats [2]ariadne.Time, lost live.Record) {
		t.Helper()
		a.batch, a.beat, a.placed = nil, 0, 0
		if err := a.observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, r := range a.batch {
			if kinds = append(kinds, r.Kind); r.Kind == live.Beat {
				beats[r.Node] = r.At
			} else if r.Kind == live.Lost {
				lost = r
			}
		}
		return kinds, beats, lost
	}
	id := native.FileID{Inode: 1}
	at := a.now()
	a.programs = map[native.FileID]*program{id: {}}
	a.begun = []begun{{a.nodes[0], at, id, false}, {a.nodes[0], at + 5, id, false}}
	if kinds, beats, _ := observed(); beats[0] != at-1 || beats[1] < at || len(kinds) != 2 {
		t.Errorf("%v %v, the program began at %v", kinds, beats, at)
	}
	program1.Process.Kill()
	program1.Wait()
	ended = true
	for !a.nodes[0].process.Ended() {
		time.Sleep(time.Millisecond)
	}
	if kinds, beats, _ := observed(); beats[0] != at-1 || len(kinds) != 2 {
		t.Errorf("%v %v, the program began at %v", kinds, beats, at)
	}
	// The end is not told as long as another program is not read. It was at a time after checked.
	a.begun[0].at, a.begun[1].at = a.now(), a.now()
	if kinds, beats, _ := observed(); beats[0] != a.nodes[0].checked || len(kinds) != 2 {
		t.Errorf("%v %v, the node was last seen at %v", kinds, beats, a.nodes[0].checked)
	}
	a.begun[0].at, a.begun[1].at = at, at+5
	a.programs[id] = &program{ready: true, functions: []int{1}, probed: native.Now()}
	kinds, beats, lost := observed()
	want := []live.Kind{live.Lost, live.Lost, live.Down, live.Beat, live.Beat}
	if !reflect.DeepEqual(kinds, want) || beats[0] < at+5 ||
		lost.After != at+5 || lost.At < lost.After || !reflect.DeepEqual(lost.Names, []string{"y"}) {
		t.Errorf("%v %v %+v", kinds, beats, lost)
	}
	if err := a.nodes[1].process.Close(); err != nil {
		t.Fatal(err)
	}
	a.nodes[1].process, a.kernel = nil, nil
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}

// TestOtherDevice: a program that has probes keeps them when the kernel tells of its file by
// another device than the file system does.
func TestOtherDevice(t *testing.T) {
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
	id, err := native.IdentifyPath("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	known := &program{ready: true, functions: []int{0}}
	a.of = []*spec.Probe{&s.Probes[0]}
	a.programs, a.others = map[native.FileID]*program{id: known}, map[native.FileID]native.FileID{}
	b := probe.Begun{PID: os.Getpid(), File: id}
	b.File.Device++
	a.hearBegun(b)
	if a.programs[id] != known || a.others[b.File] != id || len(a.begun) != 1 || a.begun[0].id != id {
		t.Errorf("%+v %v %+v", a.programs, a.others, a.begun)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}
