package replay_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

const maxSteps = 500

func newSpace(programs []worldtest.Program) (*space.Space, func() []property.Check) {
	nodes := worldtest.Nodes(programs...)
	var checked []property.Subject
	for i := range nodes {
		nodes[i].Client = i > 0
		checked = append(checked, property.Subject{Name: nodes[i].Name, Commands: []string{"program"}, Client: i > 0})
	}
	y := world.NewSystem(world.Rules{Latency: time.Millisecond, Delays: 2}, nodes)
	return space.Live(y, memotest.Living(y, func() []worldtest.Program { return programs })),
		func() []property.Check { return property.Generic(checked) }
}

// walk is the execution of an index.
func walk(index int) *strategy.Random {
	drawn := false
	return &strategy.Random{Seed: 1, Draw: func() (int, bool) {
		defer func() { drawn = true }()
		return index, !drawn
	}}
}

// record runs walk index and returns its trace and the file of its calls.
func record(t *testing.T, programs []worldtest.Program, index int) (*trace.Trace, *bytes.Buffer) {
	t.Helper()
	s, checks := newSpace(programs)
	tr := &trace.Trace{Header: trace.Header{MaxSteps: maxSteps}}
	var file bytes.Buffer
	calls, err := trace.NewCallWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	e := search.Execution{Space: s, Checks: checks, Explorer: walk(index),
		Limits: search.Limits{Steps: maxSteps},
		Watch: func(s ariadne.Step) bool {
			tr.Steps = append(tr.Steps, trace.NewStep(s))
			return calls.Step(s.Output.CallTrace) == nil
		}}
	r, err := e.Run()
	if err != nil {
		t.Fatal(err)
	}
	if err := calls.Close(); err != nil {
		t.Fatal(err)
	}
	tr.End = r.End
	tr.Violation = trace.NewViolation(r.Violation, s.System.Names().Node)
	return tr, &file
}

func follow(t *testing.T, programs []worldtest.Program, tr *trace.Trace, file *bytes.Buffer) (search.Result,
	*replay.Mismatch) {
	t.Helper()
	s, checks := newSpace(programs)
	r := replay.Replay{Space: s, Trace: tr, Checks: checks, CallName: worldtest.CallName}
	if file != nil {
		var err error
		if r.Calls, err = trace.NewCallReader(bytes.NewReader(file.Bytes())); err != nil {
			t.Fatal(err)
		}
	}
	result, m, err := r.Run()
	if err != nil {
		t.Fatal(err)
	}
	return result, m
}

func systems() map[string]func() []worldtest.Program {
	return map[string]func() []worldtest.Program{
		"race": worldtest.Race, "lost update": worldtest.LostUpdate,
		"two-phase commit": worldtest.TwoPhaseCommit, "stuck": worldtest.Stuck,
	}
}

// TestWhateverHappenedCanBeReplayed: walks with and without violations.
func TestWhateverHappenedCanBeReplayed(t *testing.T) {
	for name, programs := range systems() {
		violations := 0
		for i := range 60 {
			tr, file := record(t, programs(), i)
			result, m := follow(t, programs(), tr, file)
			if m != nil {
				t.Fatalf("%s, walk %d: %v", name, i, m)
			}
			if result.End != tr.End || (result.Violation != nil) != (tr.Violation != nil) {
				t.Errorf("%s, walk %d: ended with %s, %v, not %s, %v", name, i, result.End, result.Violation, tr.End,
					tr.Violation)
			}
			if tr.Violation != nil {
				violations++
			}
		}
		if violations == 0 {
			t.Errorf("%s: no walk with a violation", name)
		}
	}
}

func TestTraceOfAStoppedExecutionIsFollowedToItsEnd(t *testing.T) {
	tr, file := record(t, worldtest.TwoPhaseCommit(), 0)
	tr.Steps, tr.End = tr.Steps[:4], search.EndStopped
	result, m := follow(t, worldtest.TwoPhaseCommit(), tr, file)
	if m != nil || result.Steps != 4 {
		t.Errorf("%d steps, %v", result.Steps, m)
	}
}

// otherPong answers with another word from its second answer on.
type otherPong struct {
	worldtest.Idle
	count int
	extra bool // one call more instead
}

func (p *otherPong) Receive(c *worldtest.Ctx, m ariadne.Message) {
	if p.count++; p.count < 2 || p.extra {
		c.Send(m.From, "pong")
	} else {
		c.Send(m.From, "p0ng")
	}
	if p.extra {
		c.Log("")
	}
}

func pingPong(pong worldtest.Program) []worldtest.Program {
	return []worldtest.Program{pong, &worldtest.Ping{Peer: 0, Count: 3}}
}

// TestMismatches: each way in which an execution can leave its trace is told.
func TestMismatches(t *testing.T) {
	natural := func(t *testing.T) (*trace.Trace, *bytes.Buffer) { return record(t, pingPong(worldtest.Pong{}), 0) }
	for _, c := range []struct {
		name     string
		programs []worldtest.Program
		change   func(*trace.Trace)
		noCalls  bool
		want     []string
	}{
		{name: "another message", programs: pingPong(&otherPong{}), want: []string{
			"step 5 (deliver n2:1000>n1:1001 #2), node n1: it does something else: expected digest ",
			"first different system call, number 1 of the step",
			"expected send = 4 in thread 1", "got      send = 4 in thread 1", "same result, but its arguments"}},
		{name: "one call more", programs: pingPong(&otherPong{extra: true}), want: []string{
			"step 3 (deliver n2:1000>n1:1001 #1), node n1: it does something else: expected system calls 1, got 2",
			"number 2 of the step", "expected no further call", "got      log = 0 in thread 1"}},
		{name: "no calls recorded", programs: pingPong(&otherPong{}), noCalls: true, want: []string{
			"step 5 (deliver n2:1000>n1:1001 #2), node n1: it does something else: expected digest "}},
		{name: "same calls", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) {
			tr.Steps[1].Digest++
		}, want: []string{
			"step 2 (start n2), node n2: it does something else: expected digest ", "; its system calls are the same"}},
		{name: "another time", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) { tr.Steps[2].At++ },
			want: []string{
				"expected time (ns) 1001001, got 1001000"}},
		{name: "not enabled", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) {
			tr.Steps[2].Action = "timer n2"
		}, want: []string{
			"step 3 (timer n2): it is not enabled; enabled are: deliver n2:1000>n1:1001 #1"}},
		{name: "no such action", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) {
			tr.Steps[2].Action = "start n9"
		}, want: []string{
			`step 3 (start n9): bad action "start n9": no node "n9"`}},
		{name: "more to happen", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) {
			tr.Steps = tr.Steps[:4]
		}, want: []string{
			"step 5: the trace ends here (clients done), but there is more to happen: deliver n2:1000>n1:1001 #2"}},
		{name: "less to happen", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) {
			tr.Steps = append(tr.Steps, trace.Step{Index: 9, Action: "timer n1"})
		}, want: []string{"step 8 (deliver n1:1001>n2:1000 #3): the execution ends here (clients done), but the trace has 9 steps"}},
		{name: "another end", programs: pingPong(worldtest.Pong{}), change: func(tr *trace.Trace) {
			tr.End = "step limit"
		}, want: []string{
			"the execution ends otherwise: expected step limit, got clients done"}},
		{name: "unreplayable", programs: pingPong(&otherPong{}), change: func(tr *trace.Trace) {
			tr.Steps[4].Mark = trace.Unreplayable
		}, want: []string{
			"step 6 (deliver n1:1001>n2:1000 #2)", "a step before went differently because it took long"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, file := natural(t)
			if c.change != nil {
				c.change(tr)
			}
			if c.noCalls {
				file = nil
			}
			_, m := follow(t, c.programs, tr, file)
			if m == nil {
				t.Fatal("it replayed")
			}
			for _, want := range c.want {
				if !strings.Contains(m.String(), want) {
					t.Errorf("%q is not in:\n%s", want, m)
				}
			}
		})
	}
}

func TestAnotherViolation(t *testing.T) {
	tr, file := record(t, worldtest.Stuck(), 0)
	tr.Violation.Message = "something else"
	_, m := follow(t, worldtest.Stuck(), tr, file)
	if m == nil || !strings.Contains(m.String(), "the violation is another: expected deadlock of n2 at step 3: something else, got deadlock of n2 at step 3: no message") {
		t.Errorf("got %v", m)
	}
}

// long does something else each time, in a step that is cut off.
type long struct {
	worldtest.Idle
	did string
	cut bool
}

func (l long) Start(c *worldtest.Ctx) {
	c.Log("%s", l.did)
	if l.cut {
		c.Output().Cut = "no rest within 10s"
	}
}

// TestCutStepsAreNotCompared: what real time has cut off is no violation, and says
// nothing about a replay that differs.
func TestCutStepsAreNotCompared(t *testing.T) {
	for _, c := range []struct {
		name            string
		recorded, again long
		excused         bool // there is a mismatch, which is excused
	}{
		{"both", long{did: "1", cut: true}, long{did: "2", cut: true}, false},
		{"not again", long{did: "1", cut: true}, long{did: "1 2"}, false},
		{"only now", long{did: "1 2"}, long{did: "1", cut: true}, true},
	} {
		tr, file := record(t, []worldtest.Program{c.recorded}, 0)
		if (tr.End == search.EndCut) != c.recorded.cut || tr.Violation != nil {
			t.Errorf("%s: recorded %s, %v", c.name, tr.End, tr.Violation)
		}
		result, m := follow(t, []worldtest.Program{c.again}, tr, file)
		if result.Violation != nil || (m != nil) != c.excused || m != nil && !m.Excused {
			t.Errorf("%s: %+v, %v", c.name, result, m)
		}
	}
}

// spin diverges in its first step.
type spin struct {
	worldtest.Idle
	what string
}

func (s spin) Start(c *worldtest.Ctx) {
	c.Diverge()
	c.Log("%s", s.what)
}

// TestDivergenceIsCompared: it is counted in calls, and so the same each time.
func TestDivergenceIsCompared(t *testing.T) {
	tr, file := record(t, []worldtest.Program{spin{what: "1"}}, 0)
	if result, m := follow(t, []worldtest.Program{spin{what: "1"}}, tr, file); m != nil || result.Violation == nil {
		t.Errorf("violation %v, %v", result.Violation, m)
	}
	if _, m := follow(t, []worldtest.Program{spin{what: "2"}}, tr, file); m == nil {
		t.Error("a step that did something else is the same")
	}
}

func TestDamagedCallsAreAnError(t *testing.T) {
	tr, file := record(t, worldtest.Race(), 0)
	damaged := file.Bytes()
	damaged[len("ariadne calls 1\n")] = 0x07 // no such kind of block
	r := replay.Replay{Trace: tr}
	r.Space, r.Checks = newSpace(worldtest.Race())
	var err error
	if r.Calls, err = trace.NewCallReader(bytes.NewReader(damaged)); err != nil {
		t.Fatal(err)
	}
	if _, _, err = r.Run(); err == nil || !strings.Contains(err.Error(), "the file of system calls is damaged") {
		t.Errorf("err = %v", err)
	}
}
