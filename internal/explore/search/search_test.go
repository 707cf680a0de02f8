package search_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// system is a small system with what is known of it.
type system struct {
	name     string
	programs func() []worldtest.Program
	clients  []int
	delays   int
	bug      string // in the violation's message; "" when there is none
	natural  bool   // the natural schedule shows the bug already
	walks    int    // within so many walks it must be found
}

var systems = []system{
	{name: "ping-pong", programs: pingPong, clients: []int{0}, delays: 3},
	{name: "race", programs: worldtest.Race, bug: "came first", walks: 10},
	{name: "lost update", programs: worldtest.LostUpdate, clients: []int{1, 2}, delays: 2, bug: "update lost",
		walks: 30},
	{name: "lost update without delays", programs: worldtest.LostUpdate, clients: []int{1, 2}},
	{name: "two-phase commit", programs: worldtest.TwoPhaseCommit, clients: []int{0}, delays: 1,
		bug: "told to commit what was refused", walks: 60},
	{name: "two-phase commit without delays", programs: worldtest.TwoPhaseCommit, clients: []int{0}},
	{name: "stuck", programs: worldtest.Stuck, clients: []int{0}, bug: "n1 has not ended", natural: true},
}

func pingPong() []worldtest.Program {
	return []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 3}, worldtest.Pong{}}
}

// execution returns a fresh execution of the system.
func (s system) execution(e strategy.Explorer) *search.Execution {
	nodes := worldtest.Nodes(s.programs()...)
	for _, i := range s.clients {
		nodes[i].Client = true
	}
	var checked []property.Subject
	for _, n := range nodes {
		checked = append(checked, property.Subject{Name: n.Name, Commands: []string{"program"}, Client: n.Client})
	}
	y := world.NewSystem(world.Rules{Latency: time.Millisecond, Delays: s.delays}, nodes)
	return &search.Execution{
		Space: space.Live(y, memotest.Living(y, s.programs)), Explorer: e, Limits: search.Limits{Steps: 1000},
		Checks: func() []property.Check { return property.Generic(checked) },
	}
}

// walk is the execution of an index.
func walk(seed uint64, index int) *strategy.Random {
	drawn := false
	return &strategy.Random{Seed: seed, Draw: func() (int, bool) {
		defer func() { drawn = true }()
		return index, !drawn
	}}
}

func run(t *testing.T, e *search.Execution) search.Result {
	t.Helper()
	r, err := e.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNaturalScheduleShowsNoPlantedBug(t *testing.T) {
	for _, s := range systems {
		r := run(t, s.execution(&strategy.Natural{}))
		if got := r.Violation != nil; got != s.natural {
			t.Errorf("%s: violation %v, ended: %s", s.name, r.Violation, r.End)
		}
	}
}

func TestRandomWalksFindPlantedBugs(t *testing.T) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			walks := max(s.walks, 200)
			found := 0
			for i := 1; i <= walks && found == 0; i++ {
				v := run(t, s.execution(walk(1, i))).Violation
				if v == nil {
					continue
				}
				found = i
				if s.bug == "" || !strings.Contains(v.Message, s.bug) {
					t.Fatalf("walk %d: %+v", i, v)
				}
			}
			if s.bug != "" && !s.natural && (found == 0 || found > s.walks) {
				t.Errorf("found by walk %d, not within %d", found, s.walks)
			}
		})
	}
}

// trail is an execution in one text: each step's name and digest.
func trail(t *testing.T, e *search.Execution) string {
	var b strings.Builder
	e.Watch = func(s ariadne.Step) bool {
		fmt.Fprintln(&b, s.Index, s.At, s.Name, s.Output.Digest)
		return true
	}
	r := run(t, e)
	fmt.Fprintln(&b, r.End)
	return b.String()
}

func TestSameSeedSameExecution(t *testing.T) {
	for _, s := range systems {
		for i := range 20 {
			first := trail(t, s.execution(walk(5, i)))
			if again := trail(t, s.execution(walk(5, i))); again != first {
				t.Errorf("%s, execution %d:\n%s\nand then:\n%s", s.name, i, first, again)
			}
		}
	}
}

func TestWhyAnExecutionEnds(t *testing.T) {
	ping := systems[0]
	fatal := func() []worldtest.Program { return []worldtest.Program{cannotGoOn{}} }
	cut := func() []worldtest.Program { return []worldtest.Program{tooLong{}} }
	for _, c := range []struct {
		name   string
		system system
		change func(*search.Execution)
		end    string
		steps  int
	}{
		{"clients", ping, func(*search.Execution) {}, search.EndClients, 8},
		{"quiet", system{programs: pingPong}, func(*search.Execution) {}, search.EndQuiet, 8},
		{"steps", ping, func(e *search.Execution) { e.Limits.Steps = 3 }, search.EndSteps, 3},
		{"time", ping, func(e *search.Execution) { e.Limits.Time = 2e6 }, search.EndTime, 3},
		{"violation", systems[6], func(*search.Execution) {}, search.EndViolation, 3},
		{"fatal", system{programs: fatal}, func(*search.Execution) {}, search.EndFatal, 1},
		{"cut", system{programs: cut}, func(*search.Execution) {}, search.EndCut, 1},
		{"stopped", ping, func(e *search.Execution) {
			steps := 0
			e.Watch = func(ariadne.Step) bool { steps++; return true }
			e.Stopped = func() bool { return steps == 4 }
		}, search.EndStopped, 4},
		{"watch", ping, func(e *search.Execution) { e.Watch = func(s ariadne.Step) bool { return s.Index < 5 } },
			search.EndStopped, 5},
		{"strategy", ping, func(e *search.Execution) { e.Explorer = &tired{} }, search.EndStrategy, 2},
	} {
		e := c.system.execution(&strategy.Natural{})
		c.change(e)
		r := run(t, e)
		if r.End != c.end || r.Steps != c.steps {
			t.Errorf("%s: ended with %q after %d steps, want %q after %d", c.name, r.End, r.Steps, c.end, c.steps)
		}
		if (c.end == search.EndFatal) != (r.Fatal != "") {
			t.Errorf("%s: fatal %q", c.name, r.Fatal)
		}
		if (c.end == search.EndCut) != (r.Cut != "") {
			t.Errorf("%s: cut %q", c.name, r.Cut)
		}
	}
}

// tooLong dies in a step that is cut off, before or after that: who knows.
type tooLong struct{ worldtest.Idle }

func (tooLong) Start(c *worldtest.Ctx) {
	c.Output().Cut = "too long"
	c.Exit(1)
}

// flood sends datagram after datagram before the first one arrives, in a step each.
type flood struct {
	worldtest.Idle
	left int
}

func (f *flood) Start(c *worldtest.Ctx) { f.Fire(c) }

func (f *flood) Fire(c *worldtest.Ctx) {
	c.SendDatagram(1, strings.Repeat("x", 1000))
	if f.left--; f.left > 0 {
		c.SetTimer(time.Microsecond)
	}
}

// TestWhatHasNotArrivedIsBounded: a node whose messages on their way take more than they may is cut
// off. Messages that have arrived do not count.
func TestWhatHasNotArrivedIsBounded(t *testing.T) {
	for _, c := range []struct {
		latency time.Duration
		end     string
	}{{time.Second, search.EndCut}, {time.Microsecond, search.EndQuiet}} {
		programs := func() []worldtest.Program { return []worldtest.Program{&flood{left: 50}, worldtest.Idle{}} }
		nodes := worldtest.Nodes(programs()...)
		nodes[0].Transit = 20 << 10
		y := world.NewSystem(world.Rules{Latency: c.latency}, nodes)
		e := &search.Execution{
			Space: space.Live(y, memotest.Living(y, programs)), Explorer: &strategy.Natural{},
			Limits: search.Limits{Steps: 1000},
			Checks: func() []property.Check { return property.Generic([]property.Subject{{Name: "n1"}, {Name: "n2"}}) },
		}
		r := run(t, e)
		if r.End != c.end || c.end == search.EndCut && (r.Cut == "" || r.CutNode != 0 || r.Steps < 10 || r.Steps > 20) {
			t.Errorf("with a latency of %v: ended with %q after %d steps: node %d, %s", c.latency, r.End, r.Steps, r.CutNode, r.Cut)
		}
	}
}

// TestCutStepsAreNoViolation: nor does a search in memory judge what real time has cut off.
func TestCutStepsAreNoViolation(t *testing.T) {
	s := system{programs: func() []worldtest.Program { return []worldtest.Program{tooLong{}, worldtest.Pong{}} }}
	got := map[string]int{}
	x := s.small().exploration(t, &strategy.DepthFirst{})
	x.Ended = func(_ *space.Path, end string, v *ariadne.Violation) bool {
		if got[end]++; v != nil {
			t.Errorf("%v", v)
		}
		return true
	}
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	if got[search.EndCut] == 0 || got[search.EndViolation]+got[search.EndClients]+got[search.EndQuiet] > 0 {
		t.Errorf("ends: %v", got)
	}
}

type cannotGoOn struct{ worldtest.Idle }

func (cannotGoOn) Start(c *worldtest.Ctx) { c.Output().Fatal = "io_uring" }

type tired struct{ strategy.Natural }

func (*tired) Next(p *space.Path) (int, bool) { return 0, p.Len() < 2 }

// backwards breaks the contract of a node.
type backwards struct{ worldtest.Idle }

func (backwards) Start(c *worldtest.Ctx) {
	c.Output().Messages = []ariadne.Message{{From: 1, To: 7}}
}

func TestToolBugStopsAnExecution(t *testing.T) {
	s := system{programs: func() []worldtest.Program { return []worldtest.Program{worldtest.Pong{}, backwards{}} }}
	if r, err := s.execution(&strategy.Natural{}).Run(); err == nil ||
		!strings.Contains(err.Error(), "broke its contract") || r.Steps != 1 {
		t.Errorf("%d steps, err = %v", r.Steps, err)
	}
}

// hourly is a server with a timer of an hour that answers what it gets.
type hourly struct{ worldtest.Pong }

func (hourly) Start(c *worldtest.Ctx) { c.SetTimer(time.Hour) }
func (hourly) Fire(c *worldtest.Ctx)  { c.SetTimer(time.Hour) }

// TestNothingBeyondTheTimeLimitIsChosen: what lies beyond the limit overtakes nothing and
// ends no execution as long as anything else can happen, whoever chooses.
func TestNothingBeyondTheTimeLimitIsChosen(t *testing.T) {
	s := system{programs: func() []worldtest.Program {
		return []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 3}, hourly{}}
	}, clients: []int{0}, delays: 3}
	limit := ariadne.Time(time.Minute)
	late := 0
	for i := range 100 {
		e := s.execution(walk(7, i+1))
		if r := run(t, e); r.Time > limit {
			late++ // without a limit
		}
		e = s.execution(walk(7, i+1))
		e.Limits.Time = limit
		if r := run(t, e); r.End != search.EndClients || r.Time > limit {
			t.Fatalf("walk %d: %s at %v", i+1, r.End, r.Time)
		}
	}
	if late == 0 {
		t.Error("no walk draws the timer without a limit")
	}
	small := s.small()
	small.bounds.Time = limit
	explorers := sampling(1)
	explorers["depth first"] = &strategy.DepthFirst{}
	explorers["DPOR"] = &strategy.DPOR{}
	for name, e := range explorers {
		x := small.exploration(t, e)
		paths := 0
		x.Ended = func(p *space.Path, end string, _ *ariadne.Violation) bool {
			if end == search.EndTime || p.Last().State.Now > limit {
				t.Errorf("%s: %s at %v", name, end, p.Last().State.Now)
			}
			paths++
			return paths < 100
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	}
}
