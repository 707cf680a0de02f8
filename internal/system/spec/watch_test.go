package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWatch: nodes are found by what is written for them or for their template, and mistakes are
// said with their lines.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	read := func(text string) (*Spec, error) {
		path := filepath.Join(dir, "spec.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return Read(path)
	}
	s, err := read(`
nodes: [{name: 'n{i}', count: 2}, {name: c, command: echo}, {name: d}]
watch:
  settle: 5ms
  nodes:
    n{i}: {match: 'server --name {name} {i}$', log: ['log/{name}'], before: log}
    d: {start: 'bin/d "a b"'}
`)
	if err != nil {
		t.Fatal(err)
	}
	w := s.Watch
	if w.Settle != 5*time.Millisecond || w.Heartbeat != DefaultWatch.Heartbeat {
		t.Errorf("%+v", w)
	}
	for i, name := range []string{"n1", "n2"} {
		n := w.Native[i]
		if want := "server --name " + name + " " + name[1:] + "$"; !n.Found || n.Command.String() != want ||
			!slices.Equal(n.Logs, []string{filepath.Join(dir, "log", name)}) || n.Before != BeforeInLog {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if w.Native[2].Found {
		t.Error("a node with a command is found otherwise")
	}
	if want := []string{filepath.Join(dir, "bin/d"), "a b"}; !slices.Equal(w.Native[3].Start, want) {
		t.Errorf("%q, want %q", w.Native[3].Start, want)
	}
	if _, err := read("nodes: [{name: a, command: echo}]\nexpose: {x: {}}"); err != nil {
		t.Error("a name that programs expose themselves:", err)
	}
	for _, c := range []struct{ text, want string }{
		{"nodes: [{name: a}]", "node a: no command"},
		{"nodes: [{name: a}]\nwatch: {nodes: {b: {pid: 1}}}", "node a: no command, and watch: nodes does not name it"},
		{"nodes: [{name: a, command: echo}]\nexpose: {x: {variable: ''}}", "x: file, command, function or variable is empty"},
		{"nodes: [{name: a, command: echo}]\nwatch: {pause_probes: true}", "pause_probes needs max_calls"},
		{"nodes: [{name: a, command: echo}]\nwatch: {poll: 500us}", `bad duration "500us": 1ms at least`},
		{"nodes: [{name: a, command: echo}]\nwatch: {nodes: {b: {pid: 1}}}", `no node is called "b"`},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {pid: 1, unit: x}}}", "one of start, pid"},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {cgroup: x, unit: x}}}", "one of start, pid"},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {cgroup: 'x[' }}}", "is no pattern"},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {cgroup: ''}}}", "the name of a control group"},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {match: '('}}}", "watch: match"},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {pid: 1, before: log}}}", "log is missing"},
		{"nodes: [{name: a}]\nwatch: {nodes: {a: {start: ''}}}", "the command is empty"},
		{"nodes: [{name: a, command: echo}]\nwatch: {sample: {x: 8}}", `no tuple is called "x"`},
		{"nodes: [{name: a, command: echo}]\nexpose: {x: line}\nwatch: {sample: {x: 8}}", "x has no key"},
		{"nodes: [{name: a, command: echo}]\nwatch: {max_calls: 1}", "from 10 to"},
	} {
		if _, err := read(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}
