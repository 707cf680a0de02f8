package check_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// killedSearch in the environment makes this program a search in memory, which goes
// on where an earlier one was killed: "STRATEGY DIRECTORY SPEC", where the spec "-" is
// the small system of slow nodes.
const killedSearch = "ARIADNE_TEST_KILLED_SEARCH"

// searched returns the system and the options of such a search.
func searched(strategy, dir, path string) (*spec.Spec, check.Options, error) {
	o := check.Options{System: system.Options{Version: "test"}, KeepGoing: true, Workers: 2,
		Search: check.Search{Strategy: strategy}}
	if strategy == "default" {
		o.Workers = 1 // a second one makes random rounds meanwhile, as many as it can
	}
	if strategy == "walks" {
		o.Workers, o.Executions = 1, 50_000 // the same ones each time
		if os.Getenv("ARIADNE_LONG") != "" {
			o.Executions *= 4
		}
	}
	if path == "-" {
		f := &systemtest.Fakes{Programs: worldtest.TwoPhaseCommit}
		o.System.Nodes, o.System.CallName = slow{systemtest.Freezable{Fakes: f}}, worldtest.CallName
		return systemtest.SpecIn(dir, 3, 2, 0), o, nil
	}
	s, err := spec.Read(path)
	o.Depth, o.Search.Deviations, o.Search.Timers = 40, space.AtMost(2), space.AtMost(1)
	return s, o, err
}

// slow are nodes whose steps take a while.
type slow struct{ systemtest.Freezable }

func (f slow) Start(c system.NodeConfig) (memo.Instance, error) {
	n, err := f.Freezable.Start(c)
	if m, ok := n.(memo.Freezable); ok {
		n = slowMachine{m}
	}
	return n, err
}

type slowMachine struct{ memo.Freezable }

func (m slowMachine) Apply(in ariadne.Input) (ariadne.Output, error) {
	time.Sleep(time.Millisecond)
	return m.Freezable.Apply(in)
}

func (m slowMachine) Freeze() (memo.Frozen, error) {
	f, err := m.Freezable.Freeze()
	return slowFrozen{f}, err
}

type slowFrozen struct{ memo.Frozen }

func (f slowFrozen) Thaw() (memo.Freezable, error) {
	m, err := f.Frozen.Thaw()
	return slowMachine{m}, err
}

func searchUntilKilled(what string) {
	f := strings.Fields(what)
	out := filepath.Join(f[1], "out")
	s, o, err := searched(f[0], f[1], f[2])
	if err == nil {
		o.Out, o.Resume = out, systemtest.Exists("out")
		_, err = check.Check(context.Background(), s, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestSearchResumesAfterAnyKill: a search that is killed at any moment, and resumed,
// any number of times, comes to what an undisturbed one comes to.
func TestSearchResumesAfterAnyKill(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		s := systemtest.Spec(t, 3, 2, 0)
		for _, strategy := range []string{"deviations", "depth-first", "dpor", "default", "walks"} {
			killAndResume(t, strategy, s.Dir, "-")
		}
	})
	t.Run("raftkv", func(t *testing.T) {
		example, err := filepath.Abs("../../../examples/raftkv")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(filepath.Join(example, "fetch")).CombinedOutput(); err != nil {
			t.Skipf("not fetched: %v\n%s", err, out)
		}
		dir := t.TempDir()
		t.Chdir(dir)
		killAndResume(t, "deviations", dir, filepath.Join(example, "raftkv.yaml"))
	})
}

func killAndResume(t *testing.T, strategy, dir, path string) {
	t.Helper()
	kills := 3
	if os.Getenv("ARIADNE_LONG") != "" {
		kills = 50
	}
	for _, d := range []string{"out", "whole"} {
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
	}
	s, o, err := searched(strategy, dir, path)
	if err != nil {
		t.Fatal(err)
	}
	o.Out = "whole"
	began := time.Now()
	whole, err := check.Check(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if whole.Coverage.Exhausted != (strategy != "walks") || len(whole.Bugs) > 0 {
		t.Fatalf("%s: stopped: %s, %q", strategy, whole.Stopped, whole.Bugs)
	}

	killed, ended, next := 0, 0, 0
	for killed < kills && ended < 2*kills {
		p := exec.Command(os.Args[0])
		p.Dir = dir
		p.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", killedSearch, strategy, dir, path))
		var complaints strings.Builder
		p.Stderr = &complaints
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 1)
		go func() { end <- p.Wait() }()
		select {
		case err = <-end:
			took -= took / 20 // the machine was slower before, or little was left
		case <-time.After(time.Duration(rand.Int64N(int64(took) + 1))):
			if err := p.Process.Kill(); err != nil && err != os.ErrProcessDone {
				t.Fatal(err)
			}
			err = <-end
		}
		switch {
		case complaints.Len() > 0:
			t.Fatalf("%s: %s", strategy, complaints.String())
		case err == nil: // it had come to its end
			ended++
			sameSearch(t, loadReport(t), whole)
			if err := os.RemoveAll("out"); err != nil {
				t.Fatal(err)
			}
		default:
			if killed++; systemtest.Exists("out/report.json") {
				next = loadReport(t).Next
			}
		}
	}
	o.Out, o.Resume = "out", systemtest.Exists("out")
	began = time.Now()
	last, err := check.Check(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %v; killed %d times, at its end %d times before; then %v, %d of %d transitions executed; %d paths before, %d in all",
		strategy, took, killed, ended, time.Since(began), last.Coverage.Nodes.Executed, whole.Coverage.Nodes.Executed,
		next, last.Executions)
	sameSearch(t, last, whole)
	grows(t, "out")
}

// sameSearch: nothing is lost and nothing counted twice.
func sameSearch(t *testing.T, last, whole *record.Report) {
	t.Helper()
	a, b := whole.Coverage, last.Coverage
	// Through which states two workers lead the paths of DPOR depends on who comes first.
	if a.Strategy != "dpor" && (b.StatesDigest != a.StatesDigest || b.States != a.States) || b.Traces != a.Traces ||
		b.Locals != a.Locals || b.Bounded != a.Bounded || b.Exhausted != a.Exhausted ||
		b.Paths != a.Paths || b.Earlier > 0 {
		t.Errorf("%s: %+v, want %+v", a.Strategy, b, a)
	}
	if last.Executions != whole.Executions || last.Outcome != whole.Outcome || !maps.Equal(last.Ends, whole.Ends) ||
		len(last.Violations) != len(whole.Violations) || len(last.Bugs) > 0 {
		t.Errorf("%s: %d executions, %v, ends %v, %d violations, want %d, %v, %v, %d; bugs %q", a.Strategy, last.Executions, last.Outcome, last.Ends, len(last.Violations),
			whole.Executions, whole.Outcome, whole.Ends, len(whole.Violations), last.Bugs)
	}
	counts := map[string]int{}
	for _, v := range whole.Violations {
		counts[v.Message] += v.Count
	}
	for _, v := range last.Violations {
		if counts[v.Message] -= v.Count; counts[v.Message] != 0 {
			t.Errorf("%s: %s: %d times, %+d", a.Strategy, v.Message, v.Count, -counts[v.Message])
		}
	}
}

// grows: no counter in the coverage of a run directory goes back.
func grows(t *testing.T, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(systemtest.Read(t, out, "coverage.csv")), "\n")
	if lines[0]+"\n" != coverage.Header {
		t.Errorf("%q", lines[0])
	}
	last := make([]float64, strings.Count(lines[0], ",")+1)
	for _, line := range lines[1:] {
		for i, field := range strings.Split(line, ",") {
			n, err := strconv.ParseFloat(field, 64)
			if err != nil || n < last[i] {
				t.Fatalf("%s goes back from %v to %s (%v)", strings.Split(lines[0], ",")[i], last[i], field, err)
			}
			last[i] = n
		}
	}
}

// TestRandomSearchesGoOnCounting: what a search has seen before it was interrupted is
// counted with what it sees afterwards, as one set.
func TestRandomSearchesGoOnCounting(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 0)
	search := func(strategy, out string, executions int, resume bool) *record.Coverage {
		t.Helper()
		r := inMemory(t, s, worldtest.TwoPhaseCommit,
			check.Options{Out: out, Resume: resume, KeepGoing: true, Workers: 1, Executions: executions,
				Search: check.Search{Strategy: strategy,
					States: expose.Rules{{Line: regexp.MustCompile("commit|abort")}}}})
		c := r.Coverage
		if r.Executions != executions || c.Paths+c.Earlier != executions || len(r.Bugs) > 0 {
			t.Errorf("%s: %d executions, %d paths, bugs %q", strategy, r.Executions, c.Paths, r.Bugs)
		}
		return c
	}
	digest := func(c *record.Coverage) string {
		return fmt.Sprint(c.States, c.StatesDigest, c.Traces, c.LocalStates, c.Protocol, c.Global, c.Paths)
	}
	for _, strategy := range []string{"walks", "priorities", "novelty", "rounds"} {
		c := search(strategy, strategy, 20, false)
		for _, executions := range []int{20, 70, 150, 150} {
			was := c
			c = search(strategy, strategy, executions, true)
			if c.States < was.States || c.Traces < was.Traces || c.Locals < was.Locals || c.Protocol < was.Protocol ||
				c.Steps < was.Steps ||
				c.Nodes.Executed < was.Nodes.Executed || c.Earlier > 0 || c.Lost != "" {
				t.Errorf("%s: %+v, then %+v", strategy, was, c)
			}
			if was.Paths == executions && digest(c) != digest(was) {
				t.Errorf("%s: nothing was done, and there is %s after %s", strategy, digest(c), digest(was))
			}
		}
		grows(t, strategy)
		if strategy == "walks" {
			if whole := search(strategy, "whole", 150, false); digest(c) != digest(whole) || c.Steps != whole.Steps {
				t.Errorf("in parts %s, in one go %s", digest(c), digest(whole))
			}
		}
	}

	// What was lost is said, as long as the check goes on.
	file := filepath.Join("walks", "coverage.seen")
	text := []byte(systemtest.Read(t, file))
	text[len(text)/2] ^= 1
	systemtest.Write(t, file, string(text))
	for _, executions := range []int{160, 180} {
		c := search("walks", "walks", executions, true)
		if c.Earlier != 150 || c.Lost != file+": it is damaged" || c.Paths != executions-150 || c.States == 0 {
			t.Errorf("%+v", c)
		}
		grows(t, "walks")
	}
}

// TestResumedSearchDoesNotForgetRefusals: what was not modelled before an interruption
// is in the report, and counted once.
func TestResumedSearchDoesNotForgetRefusals(t *testing.T) {
	s := systemtest.Spec(t, 3, 1)
	refusing := func() []worldtest.Program {
		programs := worldtest.TwoPhaseCommit()
		return append(programs[:2], refuser{programs[2]})
	}
	o := check.Options{Out: "out", KeepGoing: true, Workers: 1, Executions: 500,
		Search: check.Search{Strategy: "walks"}}
	whole := inMemory(t, s, refusing, o)
	o.Out, o.Executions = "parts", 100
	inMemory(t, s, refusing, o)
	o.Resume, o.Executions = true, 500
	parts := inMemory(t, s, refusing, o)
	a, b := whole.Refusals, parts.Refusals
	if len(a) != 1 || len(b) != 1 || a[0].Count != b[0].Count || !slices.Equal(whole.Doubts, parts.Doubts) {
		t.Errorf("%+v %q, in parts %+v %q", a, whole.Doubts, b, parts.Doubts)
	}
}

// TestResumeOfOtherPrograms: a verdict on one program is none on another.
func TestResumeOfOtherPrograms(t *testing.T) {
	for _, strategy := range []string{"random", "walks", "depth-first"} {
		s := systemtest.Spec(t, 3, 2, 1, 2)
		o := check.Options{Out: "out", KeepGoing: true, Workers: 1, Executions: 20,
			Search: check.Search{Strategy: strategy}}
		inMemory(t, s, worldtest.LostUpdate, o)
		o.Resume, o.Executions = true, 25
		inMemory(t, s, worldtest.LostUpdate, o)
		systemtest.Write(t, filepath.Join(s.Dir, "program"), "#!/bin/true # another one\n")
		o.System.Nodes, o.System.CallName = systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.LostUpdate}}, worldtest.CallName
		if _, err := check.Check(t.Context(), s, o); err == nil ||
			!strings.Contains(err.Error(), "program /spec/program has changed") {
			t.Errorf("%s: err = %v", strategy, err)
		}
	}
}
