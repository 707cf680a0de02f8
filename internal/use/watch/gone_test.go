package watch

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// goneWatch is a watch whose log's server a test ends.
type goneWatch struct {
	*testing.T
	dir, at  string
	server   *server.Server
	agent    chan error
	verifier chan *Report
	said     chan string
	end      func()
}

func newGoneWatch(t *testing.T) *goneWatch {
	t.Helper()
	s := specOf(t, `
name: gone
nodes: [{name: n1}]
watch: {nodes: {n1: {start: 'echo leads 1; sleep 99'}}}
`+leader)
	w := &goneWatch{T: t, dir: t.TempDir(), agent: make(chan error, 1), verifier: make(chan *Report, 1),
		said: make(chan string, 100)}
	w.serve("127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	w.end = cancel
	t.Cleanup(func() {
		cancel()
		w.server.Shutdown()
		w.server.WaitForShutdown()
	})
	begun := make(chan struct{})
	go func() {
		r, err := Watch(ctx, s, Options{Shared: Shared{Log: w.at}, OnWait: func(text string) { w.said <- text },
			OnBegin: func() { close(begun) }})
		if err != nil {
			t.Error(err)
		}
		w.verifier <- r
	}()
	<-begun
	watching := make(chan struct{})
	go func() {
		w.agent <- RunAgent(ctx, s, AgentOptions{Shared: Shared{Log: w.at}, Nodes: []string{"n1"},
			OnBegin: func() { close(watching) }})
	}()
	select {
	case <-watching:
	case err := <-w.agent:
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // the verifier has taken its part
	return w
}

func (w *goneWatch) serve(address string) {
	w.Helper()
	var err error
	if w.server, w.at, err = stream.Serve(address, w.dir, stream.TLS{}); err != nil {
		w.Fatal(err)
	}
}

func (w *goneWatch) shutdown() {
	w.server.Shutdown()
	w.server.WaitForShutdown()
}

// after is for how long the log may be away in a test.
func after(t *testing.T, d time.Duration) {
	t.Helper()
	was := goneAfter
	goneAfter = d
	t.Cleanup(func() { goneAfter = was })
}

// outcome returns how the processes have ended, which takes some time at most.
func (w *goneWatch) outcome(within time.Duration) (r *Report, agent error) {
	w.Helper()
	late := time.After(within)
	for range 2 {
		select {
		case r = <-w.verifier:
		case agent = <-w.agent:
		case <-late:
			w.Fatalf("after %v a process has not ended: verifier %+v, agent %v", within, r, agent)
		}
	}
	if r == nil {
		w.FailNow()
	}
	return r, agent
}

// TestLogGone: processes end when the log's server does not come back, and do not say so again and
// again.
func TestLogGone(t *testing.T) {
	after(t, 5*time.Second)
	w := newGoneWatch(t)
	w.shutdown()
	r, agent := w.outcome(50 * time.Second)
	if !errors.Is(agent, errGone) || strings.Contains(agent.Error(), "\n") {
		t.Errorf("the agent: %v", agent)
	}
	if r.Outcome != record.Inconclusive ||
		!slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.Contains(d, "does not answer any more") }) {
		t.Errorf("%v %q", r.Outcome, r.Doubts)
	}
	close(w.said)
	n := 0
	for text := range w.said {
		if strings.Contains(text, "does not answer") {
			n++
		}
	}
	if n < 1 || n > 2 { // a call that was under way may say it, too
		t.Errorf("it was said %d times that the log does not answer", n)
	}
}

// TestLogEnded: a process that has not seen the end of the watch, and then finds no server, ends
// soon.
func TestLogEnded(t *testing.T) {
	after(t, 10*time.Minute)
	w := newGoneWatch(t)
	c, err := stream.Connect(t.Context(), w.at, "gone", stream.TLS{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.TellEnded(); err != nil {
		t.Error(err)
	}
	c.Close()
	w.shutdown()
	r, agent := w.outcome(50 * time.Second)
	if agent != nil && !strings.Contains(agent.Error(), "could not be written") {
		t.Errorf("the agent: %v", agent)
	}
	if r.Outcome != record.Inconclusive || len(r.Doubts) == 0 {
		t.Errorf("%v %q", r.Outcome, r.Doubts)
	}
}

// TestLogAway: when the server is only restarted, all go on.
func TestLogAway(t *testing.T) {
	w := newGoneWatch(t)
	u, err := url.Parse(w.at)
	if err != nil {
		t.Fatal(err)
	}
	w.shutdown()
	time.Sleep(8 * time.Second)
	w.serve(u.Host)
	for text := range w.said {
		if text == "the log answers again" {
			break
		}
	}
	select {
	case r := <-w.verifier:
		t.Errorf("the verifier has ended: %+v", r)
	case err := <-w.agent:
		t.Errorf("the agent has ended: %v", err)
	case <-time.After(5 * time.Second):
	}
	w.end()
	if _, agent := w.outcome(50 * time.Second); agent != nil {
		t.Error(agent)
	}
}

// TestSilence: only the time in which a process asks counts.
func TestSilence(t *testing.T) {
	after(t, time.Minute)
	var said []string
	s := &silence{onWait: func(text string) { said = append(said, text) }}
	wrong := errors.New("no")
	if s.enter(nil) || s.enter(wrong) {
		t.Error("gone at once")
	}
	s.asked = time.Now().Add(-time.Hour) // it was stopped
	if s.enter(wrong) {
		t.Error("gone after a stop")
	}
	if s.enter(nil) {
		t.Error("gone with an answer")
	}
	for gone := 0; gone < 30; gone++ {
		s.asked = time.Now().Add(-2 * time.Second)
		if is := s.enter(wrong); is != (gone >= 29) {
			t.Errorf("after %d s gone is %v", 2*gone+2, is)
		}
	}
	if len(said) != 3 {
		t.Errorf("said %q", said)
	}
}
