package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// built is where TestMain keeps Ariadne while the tests run.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = dir
	closeInherited()
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// closeInherited keeps what we were given to hold open, such as a lock, from the programs: natively
// they would find it.
func closeInherited() {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// ariadne builds Ariadne's command once and returns its path.
var ariadne = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "ariadne")
	out, err := exec.Command("go", "build", "-o", path, "github.com/ariadne-mc/ariadne/cmd/ariadne").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building ariadne: %v\n%s", err, out)
	}
	return path, nil
})

// node is one program of a system.
type node struct {
	name    string
	program program
	file    string // in the directory of the spec
	args    []string
}

// emulate runs a system of one program per node once, in the natural schedule.
// dir holds the programs; the spec is written beside them.
func emulate(t *testing.T, dir string, nodes []node) map[string]outcome {
	t.Helper()
	command, err := ariadne()
	if err != nil {
		t.Fatal(err)
	}
	spec := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(spec, []byte(describe(nodes)), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, "run", "--json", "--out", filepath.Join(dir, "run"), spec)
	o := finish(t, cmd)
	return observed(t, o, nodes)
}

// describe writes the spec of a system.
func describe(nodes []node) string {
	var b strings.Builder
	b.WriteString("name: guest\nnodes:\n")
	for _, n := range nodes {
		fmt.Fprintf(&b, "  - name: %s\n    command: %q\n", n.name,
			strings.Join(append([]string{"./" + n.file}, n.args...), " "))
		b.WriteString("    client: true\n    may_fail: true\n    env: {HOME: /root}\n")
		if n.program.stdin != "" {
			fmt.Fprintf(&b, "    stdin: %q\n", n.program.stdin)
		}
	}
	return b.String()
}

// event is what "ariadne run --json" prints, as far as it is looked at.
type event struct {
	Event string
	Node  string
	Logs  []struct {
		Stream int
		Text   string
	}
	Exits []struct{ Status, Signal int }
}

// observed reads what each node did. A run with a bug, a refusal that matters or
// a program that did not end fails the test.
func observed(t *testing.T, run outcome, nodes []node) map[string]outcome {
	t.Helper()
	out, ended := outcomes(t, run)
	status := 0
	if nodes[0].program.spins {
		status = 3 // a step that was preempted may go differently the next time
	}
	if run.status != status {
		t.Errorf("ariadne: status %d\n%s%s", run.status, last(run.stdout, 2000), run.stderr)
	}
	for _, n := range nodes {
		if !ended[n.name] {
			t.Errorf("%s did not end", n.name)
		}
	}
	return out
}

// outcomes reads what each node did, and which have ended.
func outcomes(t *testing.T, run outcome) (out map[string]outcome, ended map[string]bool) {
	t.Helper()
	out, ended = map[string]outcome{}, map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader([]byte(run.stdout)))
	for dec.More() {
		var e event
		if err := dec.Decode(&e); err != nil {
			t.Fatalf("ariadne: status %d: %v\n%s%s", run.status, err, run.stdout, run.stderr)
		}
		o := out[e.Node]
		for _, l := range e.Logs {
			if l.Stream == 1 {
				o.stdout += l.Text + "\n"
			} else {
				o.stderr += l.Text + "\n"
			}
		}
		for _, x := range e.Exits {
			ended[e.Node] = true
			o.status = x.Status
			if x.Signal != 0 {
				o.status = 128 + x.Signal
			}
		}
		out[e.Node] = o
	}
	return out, ended
}

// last is the end of a text.
func last(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}
