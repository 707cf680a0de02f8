package check_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// inMemory runs a check in memory.
func inMemory(t *testing.T, s *spec.Spec, programs func() []worldtest.Program, o check.Options) *record.Report {
	t.Helper()
	f := &systemtest.Fakes{Programs: programs}
	if o.Search.Strategy == "script" && o.Search.Script == nil {
		o.Search.Script = loadScript(t, s.Dir, "def explore(path, state, enabled):\n    return [(a, state.deviations + a.index) for a in enabled]\n")
	}
	o.System = systemtest.Freezable{Fakes: f}.Options()
	r, err := check.Check(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Made() > 0 { // to confirm a violation
		f.Closed(t)
	}
	return r
}

// strategies are those that remember.
func strategies() (names []string) {
	for _, r := range strategy.Rows() {
		if !r.Lives {
			names = append(names, r.Name)
		}
	}
	return names
}

func TestEveryStrategyFindsAndConfirms(t *testing.T) {
	for _, name := range strategies() {
		t.Run(name, func(t *testing.T) {
			s := systemtest.Spec(t, 3, 2, 1, 2)
			r := inMemory(t, s, worldtest.LostUpdate,
				check.Options{Executions: 1000, Search: check.Search{Strategy: name}})
			if r.Outcome != record.Violated || len(r.Violations) != 1 || r.Stopped != search.StopViolation {
				t.Fatalf("%v, %d violations, stopped: %s, doubts %q, bugs %q", r.Outcome, len(r.Violations), r.Stopped,
					r.Doubts, r.Bugs)
			}
			v := r.Violations[0]
			if !strings.Contains(v.Message, "update lost") {
				t.Error(v.Message)
			}
			if !strings.Contains(systemtest.Read(t, v.Dir, "trace.txt"), "violation") {
				t.Error("no violation in the trace")
			}
		})
	}
}

func TestExhausted(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 0)
	for _, name := range []string{"default", "depth-first", "breadth-first", "deviations", "sleep-sets", "script"} {
		for _, workers := range []int{1, 3} {
			r := inMemory(t, s, worldtest.TwoPhaseCommit,
				check.Options{KeepGoing: true, Workers: workers, Search: check.Search{Strategy: name}})
			c := r.Coverage
			if r.Stopped != check.StopExplored || !c.Exhausted || c.States != 1027 || r.Outcome != record.Violated {
				t.Errorf("%s, %d workers: %v, stopped: %s, %+v", name, workers, r.Outcome, r.Stopped, c)
			}
		}
	}
}

// TestDPORBySeveral: any number of workers takes one path of each trace.
func TestDPORBySeveral(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 0)
	var alone *record.Coverage
	for _, workers := range []int{1, 2, 5} {
		r := inMemory(t, s, worldtest.TwoPhaseCommit,
			check.Options{KeepGoing: true, Workers: workers, Search: check.Search{Strategy: "dpor"}})
		c := r.Coverage
		if alone == nil {
			alone = c
		}
		if r.Stopped != check.StopExplored || !c.Exhausted || c.Paths == 0 || c.Paths != alone.Paths ||
			c.Traces != alone.Traces || c.Locals != alone.Locals || r.Outcome != record.Violated {
			t.Errorf("%d workers: %v, stopped: %s, %+v, want %+v", workers, r.Outcome, r.Stopped, c, alone)
		}
	}
}

func TestWarmStartAndCoverageFiles(t *testing.T) {
	s := systemtest.Spec(t, 3, 1)
	o := check.Options{Out: filepath.Join(s.Dir, "out"), Search: check.Search{Strategy: "depth-first", Audit: 1,
		States: expose.Rules{{Line: regexp.MustCompile("commit|abort")}}}}
	first := inMemory(t, s, worldtest.TwoPhaseCommit, with(o, func(o *check.Options) { o.KeepGoing = true }))
	second := inMemory(t, s, worldtest.TwoPhaseCommit, with(o, func(o *check.Options) { o.KeepGoing = true }))
	a, b := first.Coverage, second.Coverage
	if a.Nodes.Executed == 0 || a.Nodes.Audited != a.Nodes.Executed || a.Nodes.Mismatches != 0 {
		t.Errorf("first: %+v", a.Nodes)
	}
	if b.Nodes.Executed != 0 || b.States != a.States || b.Traces != a.Traces {
		t.Errorf("second: %+v", b)
	}
	if a.Protocol != 2 {
		t.Errorf("%d protocol states", a.Protocol)
	}
	lines := strings.Split(strings.TrimSpace(systemtest.Read(t, o.Out, "coverage.csv")), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "seconds,paths") {
		t.Errorf("%q", lines)
	}
	if err := xml.Unmarshal([]byte(systemtest.Read(t, o.Out, "coverage.svg")), new(struct{})); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(o.Out, "memo.db")); err != nil {
		t.Error(err)
	}
}

// TestDefaultIsTheSameAgain: with one worker, whether transitions are remembered from before
// changes nothing about which paths are taken. The findings of earlier checks are another matter
// (TestCorpus).
func TestDefaultIsTheSameAgain(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 0)
	o := check.Options{Out: filepath.Join(s.Dir, "out"), KeepGoing: true, Workers: 1, Executions: 300,
		Search: check.Search{Strategy: "default", Fresh: true}}
	cold := inMemory(t, s, worldtest.TwoPhaseCommit, o).Coverage
	warm := inMemory(t, s, worldtest.TwoPhaseCommit, o).Coverage
	// What was tried at other times costs nothing any more, so the sample of that is larger.
	if cold.Nodes.Executed == 0 || warm.Nodes.Executed > cold.Nodes.Executed/10 {
		t.Errorf("%d and %d transitions executed", cold.Nodes.Executed, warm.Nodes.Executed)
	}
	if cold.Paths == 0 || cold.StatesDigest != warm.StatesDigest || cold.Paths != warm.Paths ||
		cold.Steps != warm.Steps {
		t.Errorf("%d paths, %d steps, states %s; then %d, %d, %s", cold.Paths, cold.Steps, cold.StatesDigest,
			warm.Paths, warm.Steps, warm.StatesDigest)
	}
}

// drifting says at each start how many there were.
type drifting struct{ worldtest.Idle }

var starts atomic.Int64

func (drifting) Start(c *worldtest.Ctx) {
	c.Log("node is on")
	c.Log("start %d", starts.Add(1))
}

// TestAuditNamesTheCall: a node that is no function is a bug, and the report says
// where it went astray.
func TestAuditNamesTheCall(t *testing.T) {
	s := systemtest.Spec(t, 1, 0)
	r := inMemory(t, s, func() []worldtest.Program { return []worldtest.Program{drifting{}} },
		check.Options{KeepGoing: true, Search: check.Search{Strategy: "depth-first", Audit: 1}})
	if r.Outcome != record.ToolBug || len(r.Bugs) != 1 || r.Coverage.Nodes.Mismatches != 1 {
		t.Fatalf("%v, bugs %q, %+v", r.Outcome, r.Bugs, r.Coverage.Nodes)
	}
	if want := "first different system call, number 2 of the step:\n    expected log"; !strings.Contains(r.Bugs[0], want) {
		t.Errorf("%q is not in %q", want, r.Bugs[0])
	}
}

func with(o check.Options, f func(*check.Options)) check.Options {
	f(&o)
	return o
}

// TestSlowModeSeesTheSame: without memo and checkpoints the same states are found,
// with more executions.
func TestSlowModeSeesTheSame(t *testing.T) {
	s := systemtest.Spec(t, 3, 1)
	o := check.Options{KeepGoing: true, Search: check.Search{Strategy: "depth-first"}}
	fast := inMemory(t, s, worldtest.TwoPhaseCommit, o).Coverage
	o.Search.NoMemo, o.Search.NoCheckpoints = true, true
	slow := inMemory(t, s, worldtest.TwoPhaseCommit, o).Coverage
	if slow.States != fast.States || slow.StatesDigest != fast.StatesDigest || slow.Nodes.Thaws != 0 ||
		slow.Nodes.Executed < 3*fast.Nodes.Executed {
		t.Errorf("fast %+v, slow %+v", fast, slow)
	}
}

func TestSearchInMemoryKeepsToItsTime(t *testing.T) {
	s := systemtest.Spec(t, 3, 50)
	began := time.Now()
	chaos := func() []worldtest.Program {
		return []worldtest.Program{&worldtest.Chaos{Nodes: 3}, &worldtest.Chaos{Nodes: 3}, &worldtest.Chaos{Nodes: 3}}
	}
	r := inMemory(t, s, chaos,
		check.Options{Time: time.Second, KeepGoing: true, Workers: 2, Search: check.Search{Strategy: "default"}})
	if d := time.Since(began); r.Stopped != search.StopTime || d > 20*time.Second || len(r.Bugs) > 0 ||
		r.Executions == 0 {
		t.Errorf("stopped: %s after %v, %d executions, bugs %q", r.Stopped, d, r.Executions, r.Bugs)
	}
}

// TestRefusalsAreRemembered: what is not modelled makes a search inconclusive, also one that
// remembers all and executes nothing, and one that meets it on the way to a known state only.
func TestRefusalsAreRemembered(t *testing.T) {
	s := systemtest.Spec(t, 3, 1)
	refusing := func() []worldtest.Program {
		programs := worldtest.TwoPhaseCommit()
		return append(programs[:2], refuser{programs[2]})
	}
	o := check.Options{Out: filepath.Join(s.Dir, "out"), KeepGoing: true, Search: check.Search{Strategy: "depth-first"}}
	want := "node n3: /bin/p asks for bpf, which is not modelled"
	for _, kind := range []string{"first", "warm"} {
		r := inMemory(t, s, refusing, o)
		if !slices.Contains(r.Doubts, want) || len(r.Refusals) != 1 || r.Refusals[0].Node != "n3" ||
			r.Refusals[0].Count < 2 {
			t.Errorf("%s: doubts %q, refusals %+v", kind, r.Doubts, r.Refusals)
		}
		for _, v := range r.Violations {
			if !strings.Contains(v.Suspect, want) {
				t.Errorf("%s: %s is suspect: %q", kind, v.Message, v.Suspect)
			}
		}
		if kind == "warm" && r.Coverage.Nodes.Executed > 0 {
			t.Errorf("%d transitions executed", r.Coverage.Nodes.Executed)
		}
	}
}

// refuser asks for what is not modelled whenever it gets a message.
type refuser struct{ worldtest.Program }

func (p refuser) Receive(c *worldtest.Ctx, m ariadne.Message) {
	c.Output().Refusals = []ariadne.Refusal{{Name: "bpf", Program: "/bin/p", Count: 1}}
	p.Program.Receive(c, m)
}

// TestFrom: what is found beyond the natural schedule's beginning replays from the
// start; when the schedule never comes there, the check does not claim anything.
func TestFrom(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	at := func(n int) func(ariadne.Step) bool { return func(s ariadne.Step) bool { return s.Index == n } }
	for _, name := range strategies() {
		r := inMemory(t, s, worldtest.LostUpdate,
			check.Options{Executions: 1000, Search: check.Search{Strategy: name, From: at(4)}})
		if r.Outcome != record.Violated || len(r.Violations) != 1 || len(r.Bugs) > 0 {
			t.Errorf("%s: %v, %d violations, bugs %q", name, r.Outcome, len(r.Violations), r.Bugs)
		}
	}
	// A depth counts from there; the execution that is replayed has the steps before it too.
	r := inMemory(t, s, worldtest.LostUpdate,
		check.Options{Depth: 8, Search: check.Search{Strategy: "depth-first", From: at(4)}})
	if r.Outcome != record.Violated || len(r.Violations) != 1 || r.Violations[0].Step <= 8 {
		t.Errorf("%v, violations %v, bugs %q", r.Outcome, r.Violations, r.Bugs)
	}
	r = inMemory(t, s, worldtest.LostUpdate,
		check.Options{Search: check.Search{Strategy: "depth-first", From: at(1000)}})
	if r.Outcome != record.Inconclusive || r.Stopped != check.StopNowhere || r.Coverage.Exhausted ||
		r.Executions != 1 || len(r.Doubts) != 1 {
		t.Errorf("%v, stopped: %s, %d executions, doubts %q", r.Outcome, r.Stopped, r.Executions, r.Doubts)
	}
}

func TestUnknownStrategy(t *testing.T) {
	s := systemtest.Spec(t, 3, 1)
	_, err := check.Check(t.Context(), s,
		check.Options{System: system.Options{Nodes: systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.Race}}}, Search: check.Search{Strategy: "best"}})
	if err == nil || !strings.Contains(err.Error(), `unknown strategy "best": default, all-paths, breadth-first`) {
		t.Errorf("err = %v", err)
	}
	_, err = check.Check(t.Context(), s,
		check.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: worldtest.Race}},
			Search: check.Search{Strategy: "dpor"}})
	if err == nil || !strings.Contains(err.Error(), "cannot be frozen") {
		t.Errorf("err = %v", err)
	}
}

// housekeeper is a runtime with nothing to do but to wake every minute. It tells the client what it
// finds at the third time, if anything.
type housekeeper struct {
	worldtest.Idle
	tells bool
	calm  ariadne.Time
	wakes int
}

func (p *housekeeper) Start(c *worldtest.Ctx) {
	p.calm = c.Now() + 430e9
	p.rest(c)
}

func (p *housekeeper) Fire(c *worldtest.Ctx) {
	if p.wakes++; p.tells && p.wakes == 3 {
		c.Send(1, "closed")
	}
	p.rest(c)
}

func (p *housekeeper) rest(c *worldtest.Ctx) {
	c.SetTimer(time.Minute)
	c.Output().Calm = p.calm
}

// waiter is a client that waits for a message.
type waiter struct{ worldtest.Idle }

func (waiter) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.Exit(0) }

// TestDeadlockBehindHousekeeping: housekeeping hides no deadlock, and is not taken for one when
// something comes of it.
func TestDeadlockBehindHousekeeping(t *testing.T) {
	for _, name := range append(strategies(), "random") {
		for _, tells := range []bool{false, true} {
			s := systemtest.Spec(t, 2, 0, 1)
			s.EndsByTime = tells
			programs := func() []worldtest.Program { return []worldtest.Program{&housekeeper{tells: tells}, waiter{}} }
			r := inMemory(t, s, programs, check.Options{Executions: 3, Search: check.Search{Strategy: name}})
			switch {
			case len(r.Bugs)+len(r.Doubts) > 0:
				t.Errorf("%q: bugs %q, doubts %q", name, r.Bugs, r.Doubts)
			case tells && len(r.Violations) > 0:
				t.Errorf("%q: %s", name, r.Violations[0].Message)
			case !tells &&
				(len(r.Violations) != 1 || r.Violations[0].Kind != "deadlock" || r.Violations[0].At < 430e9-60e9):
				t.Errorf("%q: no deadlock: %+v", name, r.Violations)
			}
		}
	}
}

// loader is a node that runs code of two files.
type loader struct{ worldtest.Program }

func (p loader) Start(c *worldtest.Ctx) {
	c.Output().Files = []ariadne.File{{Path: "/spec/data"}, {Path: "/spec/lib.so", Use: ariadne.FileCode}}
	p.Program.Start(c)
}

func loading() []worldtest.Program {
	programs := worldtest.LostUpdate()
	return append([]worldtest.Program{loader{programs[0]}}, programs[1:]...)
}

// TestChangedFilesAreNoticed: what nodes used, and not only what the spec names, must be as it was.
func TestChangedFilesAreNoticed(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	for _, file := range []string{"data", "lib.so"} {
		systemtest.Write(t, filepath.Join(s.Dir, "data"), "1")
		systemtest.Write(t, filepath.Join(s.Dir, "lib.so"), "1")
		o := check.Options{Out: filepath.Join(s.Dir, file+"-out"), KeepGoing: true, Workers: 1,
			Search: check.Search{Strategy: "depth-first"}}
		first := inMemory(t, s, loading, o)
		again := inMemory(t, s, loading, o)
		if len(first.Violations) == 0 || first.Coverage.Nodes.Executed == 0 || again.Coverage.Nodes.Executed != 0 {
			t.Fatalf("%+v, then %+v", first, again)
		}
		systemtest.Write(t, filepath.Join(s.Dir, file), "22")
		f := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: loading}}
		_, err := run.Replay(t.Context(), s, first.Violations[0].Trace, run.Options{System: f.Options()})
		if err == nil || !strings.Contains(err.Error(), "file /spec/"+file+" has changed") {
			t.Errorf("replay: %v", err)
		}
		if r := inMemory(t, s, loading, o); r.Coverage.Nodes.Executed != first.Coverage.Nodes.Executed {
			t.Errorf("%s has changed, and %d transitions are executed", file, r.Coverage.Nodes.Executed)
		}
	}
}

// TestFromTheEnd: when the execution is over where the paths begin, there is one path, though
// messages are still in flight.
func TestFromTheEnd(t *testing.T) {
	for _, row := range strategy.Rows() {
		if row.Asks || row.Once {
			continue
		}
		s := systemtest.Spec(t, 3, 0, 1, 2)
		r := inMemory(t, s, worldtest.Race,
			check.Options{Executions: 50,
				Search: check.Search{Strategy: row.Name, From: func(s ariadne.Step) bool { return s.Index == 3 }}})
		if r.Outcome != record.Nothing || r.Executions != 1 || !r.Coverage.Exhausted {
			t.Errorf("%s: %v after %d executions, stopped: %s", row.Name, r.Outcome, r.Executions, r.Stopped)
		}
	}
}
