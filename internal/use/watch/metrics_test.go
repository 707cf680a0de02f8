package watch

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
)

// TestMetrics: while two nodes lead, the metrics say so.
func TestMetrics(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
watch:
  nodes:
    n1: {start: 'echo leads 1; sleep 9'}
    n2: {start: 'sleep 0.3; echo leads 2; sleep 9'}
`+leader)
	var statuses func() []*Status
	text := ""
	r := watchFor(t, s, Options{Time: 3 * time.Second, OnStatus: func(f func() []*Status) { statuses = f },
		OnFinding: func(Finding) {
			time.Sleep(statusEvery + 300*time.Millisecond)
			m, err := ServeMetrics("127.0.0.1:0", []string{"n1", "n2"}, statuses)
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := http.Get("http://" + m.Addr().String() + "/metrics")
			if err != nil {
				t.Error(err)
				return
			}
			all, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Error(err)
			}
			text = string(all)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}})
	if r.Outcome != record.Violated {
		t.Errorf("%v %q", r.Outcome, r.Doubts)
	}
	for _, want := range []string{
		`ariadne_watch_broken{property="at most one leader"} 1`,
		`ariadne_watch_violations_total{property="at most one leader"} 1`,
		`ariadne_watch_moments_total{outcome="unknown",property="at most one leader"} 0`,
		`ariadne_watch_node_up{node="n2"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

// TestCommand: the command runs once for each finding, which is its input. That it fails is said.
func TestCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var failed []string
	text := `cat >> ` + out + `; echo "$ARIADNE_PROPERTY" >> ` + out + `
test "$ARIADNE_KIND" != bad || { echo broken; exit 3; }`
	c := NewCommand(text, func(text string) { failed = append(failed, text) })
	c.Run(Finding{Property: "p", Message: "m 1"})
	c.Run(Finding{Property: "q", Message: "m 2", Kind: "bad"})
	c.Close()
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"message":"m 1"`, "\np\n", `"message":"m 2"`, "\nq\n"} {
		if !strings.Contains(string(written), want) {
			t.Errorf("%q is not in %s", want, written)
		}
	}
	if len(failed) != 1 || !strings.Contains(failed[0], "exit status 3: broken") {
		t.Errorf("%q", failed)
	}
}

// TestCommandTooLong: a command that takes too long ends with all that it has started.
func TestCommandTooLong(t *testing.T) {
	var failed []string
	c := NewCommand("sleep 60 & sleep 60", func(text string) { failed = append(failed, text) })
	c.limit = 100 * time.Millisecond
	began := time.Now()
	c.Run(Finding{Property: "p"})
	c.Close()
	if len(failed) != 1 || !strings.Contains(failed[0], "more than 100ms") || time.Since(began) > 10*time.Second {
		t.Errorf("%q after %v", failed, time.Since(began))
	}
}
