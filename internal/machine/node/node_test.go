//go:build linux

package node

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// runAlone runs one command as a system of one node along its natural schedule,
// until it has ended or steps inputs were given.
func runAlone(t *testing.T, steps int, args ...string) (logs []string, last ariadne.Output) {
	t.Helper()
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
	n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1), TraceCalls: os.Getenv("CALLS") != ""})
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	in := ariadne.Input{Kind: ariadne.Start}
	for range steps {
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range out.CallTrace {
			t.Logf("%d %s = %d", c.TID, callName(c.NR), c.Result)
		}
		for _, r := range out.Refusals {
			t.Logf("refused %d x %s %s by %s", r.Count, r.Name, r.Detail, r.Program)
		}
		for _, l := range out.Logs {
			logs = append(logs, l.Text)
		}
		last = out
		if out.Done || out.Diverged != "" || out.Deadline == ariadne.Never {
			break
		}
		in = ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
	}
	return logs, last
}

func TestEcho(t *testing.T) {
	logs, out := runAlone(t, 1, "/bin/echo", "hello")
	if got := strings.Join(logs, "\n"); got != "hello" || !out.Done {
		t.Errorf("logs %q, done %v, %+v", got, out.Done, out)
	}
}

func TestShellPipeline(t *testing.T) {
	logs, out := runAlone(t, 20, "/bin/sh", "-c", "echo b a | tr ' ' '\\n' | sort; sleep 3; exit 7")
	if got := strings.Join(logs, " "); got != "a b" || !out.Done || len(out.Exits) != 1 || out.Exits[0].Status != 7 {
		t.Errorf("logs %q, %+v", got, out)
	}
	if out.Clock < 3e9 {
		t.Errorf("clock is %v after sleep 3", out.Clock)
	}
}
