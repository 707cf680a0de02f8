package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// endless sets one timer after the other and sends a message each time, and so never
// ends.
type endless struct{ worldtest.Idle }

func (endless) Start(c *worldtest.Ctx) { c.SetTimer(time.Second) }

func (endless) Fire(c *worldtest.Ctx) {
	c.SendDatagram(1, "tick")
	c.SetTimer(time.Second)
}

// patient is a client that is done when so many messages have come.
type patient struct {
	worldtest.Idle
	left int
}

func (p *patient) Receive(c *worldtest.Ctx, _ ariadne.Message) {
	if p.left--; p.left == 0 {
		c.Exit(0)
	}
}

// TestRestIsAnEnd: without a client that waits, housekeeping beyond the time limit leaves
// nothing to happen that anybody would look at.
func TestRestIsAnEnd(t *testing.T) {
	for _, strategy := range append(strategies(), "random") {
		s := systemtest.Spec(t, 2, 0)
		programs := func() []worldtest.Program { return []worldtest.Program{&housekeeper{}, waiter{}} }
		r := inMemory(t, s, programs, check.Options{Executions: 3, Search: check.Search{Strategy: strategy}})
		if r.Outcome != record.Nothing || r.Executions == 0 || r.Ends[search.EndQuiet] != r.Executions {
			t.Errorf("%q: %v, %d executions, ends %v, doubts %q", strategy, r.Outcome, r.Executions, r.Ends, r.Doubts)
		}
	}
}

// TestAllCutOffIsNoVerdict: whoever searches, executions that limits cut off have checked
// next to nothing, and a report that says "nothing found" of them would be wrong.
func TestAllCutOffIsNoVerdict(t *testing.T) {
	for _, c := range []struct {
		name     string
		clients  bool
		messages int // until the client is done
		byTime   bool
		steps    int // limit; 0: plenty
		depth    int
		end      string
		doubt    string
	}{
		{name: "a client in time", clients: true, messages: 5, end: search.EndClients},
		{name: "a client too slow", clients: true, messages: 50, end: search.EndTime,
			doubt: "were cut off by the time limit of 10s before the clients were done: raise limits.time in the spec, or write ends: time if the limit is intended"},
		{name: "meant", clients: true, messages: 50, byTime: true, end: search.EndTime},
		{name: "no client", messages: 50, end: search.EndTime,
			doubt: "were cut off by the time limit of 10s, and no node is a client: write client: true at the nodes whose end ends an execution, or ends: time if the limit is intended"},
		{name: "no client, meant", messages: 50, byTime: true, end: search.EndTime},
		{name: "steps", clients: true, messages: 50, byTime: true, steps: 6, end: search.EndSteps,
			doubt: "were cut off by the limit of 6 steps: raise limits.steps in the spec"},
		{name: "a bound", clients: true, messages: 50, depth: 6, end: search.EndBounds},
	} {
		for _, strategy := range []string{"", "depth-first", "deviations", "rounds", "walks", "dpor", "default",
			"natural"} {
			if c.clients && c.name == "a bound" && strategy == "natural" {
				continue // it has no bounds
			}
			s := systemtest.Spec(t, 2, 0)
			s.Nodes[1].Client = c.clients
			s.Limits.Time, s.EndsByTime = 10*time.Second, c.byTime
			if c.steps > 0 {
				s.Limits.Steps = c.steps
			}
			programs := func() []worldtest.Program { return []worldtest.Program{endless{}, &patient{left: c.messages}} }
			var r *record.Report
			if strategy == "natural" {
				var err error
				if r, err = run.Run(t.Context(), s,
					run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: programs}}}); err != nil {
					t.Fatal(err)
				}
			} else {
				r = inMemory(t, s, programs,
					check.Options{Executions: 8, Depth: c.depth, Search: check.Search{Strategy: strategy}})
				if r.Ends[c.end] == 0 {
					t.Errorf("%s, %q: ends %v, want %s", c.name, strategy, r.Ends, c.end)
				}
			}
			doubted := slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.HasSuffix(d, c.doubt) })
			switch {
			case c.doubt == "" && (r.Outcome != record.Nothing || len(r.Doubts) > 0):
				t.Errorf("%s, %q: %v, doubts %q", c.name, strategy, r.Outcome, r.Doubts)
			case c.doubt != "" && (r.Outcome != record.Inconclusive || !doubted):
				t.Errorf("%s, %q: %v, doubts %q, ends %v", c.name, strategy, r.Outcome, r.Doubts, r.Ends)
			}
		}
	}
}
