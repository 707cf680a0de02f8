package watch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// turnsSpec has two nodes that write lines again and again. At each moment both expose a number,
// and one of them leads.
const turnsSpec = `
name: turns
nodes: [{name: n1}, {name: n2}]
expose:
  number: {line: 'number (?P<is>\d+)'}
  leader: leads
properties:
  both count: {always: 'len(number) in [0, 1, 2]'}
  somebody leads: {always: 'len(number) < 2 or len(leader) > 0'}
watch:
  nodes:
    n1: {start: 'echo leads; for i in $(seq 9999); do echo number $i; sleep 0.05; done'}
    n2: {start: 'for i in $(seq 9999); do echo number $i; sleep 0.07; done'}
`

// turnsTest is a watch with agents, whose properties change.
type turnsTest struct {
	*testing.T
	spec     *spec.Spec
	reload   chan struct{}
	reloaded chan error
	shown    chan string // changes, unless nobody takes them
	at       string
}

// change writes another spec, and has the watch read it.
func (t *turnsTest) change(was, is string) error {
	t.Helper()
	text, err := os.ReadFile(t.spec.Path)
	if err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(string(text), was, is, 1)
	if next == string(text) {
		t.Errorf("the spec has no %q", was)
	}
	if err := os.WriteFile(t.spec.Path, []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	t.reload <- struct{}{}
	select {
	case err = <-t.reloaded:
	case <-time.After(20 * time.Second):
		t.Error("a change of properties has neither begun nor been refused")
	}
	if err != nil {
		if err := os.WriteFile(t.spec.Path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return err
}

// watchTurns watches a spec while f runs, beside agents that are started by f.
func watchTurns(t *testing.T, text string, f func(context.Context, *turnsTest)) *Report {
	t.Helper()
	x := &turnsTest{T: t, spec: specOf(t, text), reload: make(chan struct{}), reloaded: make(chan error, 9),
		shown: make(chan string, 100)}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var done sync.WaitGroup
	r, err := Watch(ctx, x.spec, Options{Shared: Shared{Listen: "127.0.0.1:0"}, Reload: x.reload,
		OnReload: func(err error) { x.reloaded <- err },
		OnShow: func(r live.Record) {
			select {
			case x.shown <- fmt.Sprintf("n%d %s", r.Node+1, What(&r)):
			default:
			}
		},
		OnLog: func(at, _ string) {
			x.at = at
			done.Go(func() {
				defer cancel()
				f(ctx, x)
			})
		}})
	done.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// await waits until a change is shown.
func (t *turnsTest) await(what string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case is := <-t.shown:
			if strings.Contains(is, what) {
				return
			}
		case <-late:
			t.Errorf("nothing has shown %q", what)
			return
		}
	}
}

// TestTurns: the properties of a watch with two agents change three times while nodes go on, and
// two changes are refused. A verifier is killed, and its part of all turns is judged again. All
// moments are right, so a finding would be a false one; at last, a property that never holds is
// found.
func TestTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 20 s")
	}
	r := watchTurns(t, turnsSpec, func(ctx context.Context, t *turnsTest) {
		other := exec.Command("/proc/self/exe")
		own := filepath.Join(t.TempDir(), "spec.yaml")
		if err := os.WriteFile(own, []byte(turnsSpec), 0o600); err != nil {
			t.Fatal(err)
		}
		other.Env = append(os.Environ(), "ARIADNE_TEST_LOG="+t.at, "ARIADNE_TEST_SPEC="+own)
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = other.Process.Kill() // it may have ended
			_ = other.Wait()
		}()
		// The agent of n2 has the same spec, in a directory without what it may name.
		elsewhere, err := spec.Read(own)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 2)
		for name, s := range map[string]*spec.Spec{"n1": t.spec, "n2": elsewhere} {
			go func() { ended <- RunAgent(ctx, s, AgentOptions{Shared: Shared{Log: t.at}, Nodes: []string{name}}) }()
		}
		if err := os.WriteFile(filepath.Join(t.spec.Dir, "more.star"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.await("n2 number")
		time.Sleep(2 * time.Second)
		for i, c := range []struct{ was, is, wrong string }{
			{"'len(number) < 2 or len(leader) > 0'", "'len(up) < 2 or len(leader) > 0'", ""},
			{"n2: {start", "n2: {log: /dev/null, start", "start the watch again"},
			{"'len(up) < 2 or len(leader) > 0'", "'len(up) == 2 and len(number) == 2 and len(leader) > 0'", ""},
			{"properties:", "definitions: more.star\nproperties:", "the agent of n2 on "},
			{"'len(number) in [0, 1, 2]'", "'len(number) < 2'", ""},
		} {
			err := t.change(c.was, c.is)
			if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("change %d: %v, want %q", i, err, c.wrong)
			}
			if i == 2 {
				if err := other.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second) // the killed process's part is taken over
		select {
		case err := <-ended:
			t.Errorf("an agent has ended: %v", err)
		default:
		}
	})
	if len(r.Findings) != 1 || r.Outcome != record.Violated || r.Findings[0].Property != "both count" ||
		len(r.Doubts) > 0 {
		t.Errorf("%v %+v %q", r.Outcome, r.Findings, r.Doubts)
	}
	turning := 0
	for turn := range 4 {
		for _, name := range []string{"both count", "somebody leads"} {
			i := slices.IndexFunc(r.Properties, func(p Property) bool { return p.Name == name && p.Turn == turn })
			// In turn 0 the agent of one node may begin much earlier than the other one.
			if i < 0 || r.Properties[i].Judged == 0 || turn > 0 && r.Properties[i].Unknown > 0 {
				t.Errorf("turn %d of %s: %+v", turn, name, r.Properties)
				continue
			}
			turning += r.Properties[i].Turning
		}
	}
	if r.Turns != 3 || r.Findings[0].Turn != 3 {
		t.Errorf("%d turns, and the finding is in turn %d, want 3", r.Turns, r.Findings[0].Turn)
	}
	if turning == 0 || turning > 200 {
		t.Errorf("%d moments were not judged while the properties changed", turning)
	}
}

// TestTurnAway: where an agent is away, nothing changes, and the message names its node. A question
// of a process that has died goes away after its time, and with it what agents have prepared.
func TestTurnAway(t *testing.T) {
	r := watchTurns(t, turnsSpec, func(ctx context.Context, t *turnsTest) {
		first := make(chan error, 1)
		n2, stop := context.WithCancel(ctx)
		defer stop()
		for name, ctx := range map[string]context.Context{"n1": ctx, "n2": n2} {
			go func() {
				first <- RunAgent(ctx, t.spec, AgentOptions{Shared: Shared{Log: t.at}, Nodes: []string{name}})
			}()
		}
		t.await("n1 number")
		t.await("n2 number")
		askAndDie(ctx, t)
		err := errors.New("not asked yet")
		// The process that is asked may be told of the end of the question a little later.
		for end := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(end); {
			err = t.change("len(number) in", "len(number) not in [3] and len(number) in")
			if err != nil && !strings.Contains(err.Error(), "try again") {
				break
			}
		}
		if err != nil {
			t.Errorf("after a process has died that asked: %v", err)
		}
		stop()
		<-first
		err = t.change("len(number) not in [3]", "len(number) not in [4]")
		if err == nil || !strings.Contains(err.Error(), "node n2 has no agent") {
			t.Errorf("without an agent: %v", err)
		}
	})
	if len(r.Findings) > 0 {
		t.Errorf("%+v", r.Findings)
	}
}

// askAndDie asks for other properties, and never begins them. It waits until agents refuse.
func askAndDie(ctx context.Context, t *turnsTest) {
	t.Helper()
	c, err := stream.Connect(ctx, t.at, "turns", stream.TLS{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Open(ctx, nil); err != nil {
		t.Fatal(err)
	}
	_, text, err := readTexts(t.spec.Path)
	if err != nil {
		t.Fatal(err)
	}
	following, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	turns, err := followTurns(following, c, t.spec, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	ask := stream.Step{Kind: stream.Ask, ID: rand.Text(), Text: text, Within: time.Second}
	if ask.Number, err = c.Take(ctx, ask, 0); err != nil {
		t.Fatal(err)
	}
	for ready := 0; ; {
		now, more := turns.state()
		ready = max(ready, len(now.ready))
		if now.refused != nil {
			if ready != 2 || !strings.Contains(now.refused.Why, "has not begun") {
				t.Errorf("%d agents were ready: %+v", ready, now.refused)
			}
			// A process that was only slow cannot begin it any more.
			if n, err := c.Take(ctx, stream.Step{Kind: stream.Begin, ID: ask.ID}, ask.Number); n != 0 || err != nil {
				t.Errorf("a turn begins that was refused: %d %v", n, err)
			}
			return
		}
		select {
		case <-more:
		case <-following.Done():
			t.Errorf("agents wait without end: %+v", now)
			return
		}
	}
}
