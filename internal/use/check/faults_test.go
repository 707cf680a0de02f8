package check_test

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// once is a server that takes it for granted that what is sent once comes once.
type once struct {
	worldtest.Idle
	got bool
}

func (o *once) Receive(c *worldtest.Ctx, m ariadne.Message) {
	if o.got {
		c.Panic("%s came twice", m.Data)
		return
	}
	o.got = true
	c.Send(m.From, "thanks")
}

// sender sends a datagram and waits for the answer.
type sender struct{ worldtest.Idle }

func (sender) Start(c *worldtest.Ctx)                      { c.SendDatagram(0, "hello") }
func (sender) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.Exit(0) }

// TestFaults: what needs a fault is found by every strategy when the spec has a budget for
// it, and replays; without one it never is.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		kind     string
		programs func() []worldtest.Program
	}{
		{"duplicate", func() []worldtest.Program { return []worldtest.Program{&once{}, &sender{}} }},
		{"lose", func() []worldtest.Program { return []worldtest.Program{worldtest.Pong{}, &sender{}} }},
	} {
		t.Run(c.kind, func(t *testing.T) { testFault(t, c.kind, c.programs) })
	}
}

func testFault(t *testing.T, kind string, programs func() []worldtest.Program) {
	for _, r := range strategy.Rows() {
		if r.Once || r.Name == strategy.LateName { // paths on which there are no faults
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			s := systemtest.Spec(t, 2, 0, 1)
			o := check.Options{Executions: 300, Search: check.Search{Strategy: r.Name}}
			if got := inMemory(t, s, programs, o); got.Outcome != record.Nothing {
				t.Errorf("without faults: %v", got.Outcome)
			}
			s.Faults = worldtest.Faults(kind, 1)
			got := inMemory(t, s, programs, o)
			if got.Outcome != record.Violated || len(got.Violations) != 1 {
				t.Fatalf("%v, bugs %q, doubts %q", got.Outcome, got.Bugs, got.Doubts)
			}
			text := systemtest.Read(t, got.Violations[0].Trace)
			if !strings.Contains(text, "\nfault "+kind+" 1\n") || !strings.Contains(text, " "+kind+" udp n2:") {
				t.Errorf("the trace:\n%s", text)
			}
			s.Faults = worldtest.Faults(kind, 0)
			if again := replay(t, s, &systemtest.Fakes{Programs: programs},
				got.Violations[0].Trace); again.Outcome != record.Violated {
				t.Errorf("replay: %+v", again)
			}
		})
	}
}
