package check_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// divided are systems whose search is divided, by name.
var divided = map[string]struct {
	spec     func(t *testing.T) *spec.Spec
	programs func() []worldtest.Program
}{
	"commit": {func(t *testing.T) *spec.Spec { return systemtest.Spec(t, 3, 2, 0) }, worldtest.TwoPhaseCommit},
	"update": {func(t *testing.T) *spec.Spec { return systemtest.Spec(t, 3, 2, 1, 2) }, worldtest.LostUpdate},
}

func options(t *testing.T, programs func() []worldtest.Program, strategy string) check.Options {
	return check.Options{Out: filepath.Join(t.TempDir(), "out"), Workers: 1, KeepGoing: true, Shrink: 5 * time.Second,
		System: systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: programs}}.Options(),
		Search: check.Search{Strategy: strategy}}
}

// do does a unit that was sent here, and returns its result as it is sent back.
func do(t *testing.T, s *spec.Spec, o check.Options, data []byte) []byte {
	t.Helper()
	w, err := work.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	o.Out = filepath.Join(t.TempDir(), "unit")
	r, err := check.DoWork(t.Context(), s, o, w)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func encoded(t *testing.T, w *work.Work) []byte {
	t.Helper()
	data, err := w.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func merge(t *testing.T, j *check.Joint, data []byte) {
	t.Helper()
	r, err := work.DecodeResult(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Merge(r); err != nil {
		t.Fatal(err)
	}
}

// TestDividedSearch: units of a search that share nothing come to what one search comes to.
func TestDividedSearch(t *testing.T) {
	for name, d := range divided {
		for _, strategy := range []string{"depth-first", "breadth-first", "dpor", "all-paths"} {
			if name == "commit" && (strategy == "all-paths" || strategy == "dpor") {
				continue // parts of it have many traces in common
			}
			t.Run(name+"/"+strategy, func(t *testing.T) {
				s := d.spec(t)
				whole, err := check.Check(t.Context(), s, options(t, d.programs, strategy))
				if err != nil || !whole.Coverage.Exhausted {
					t.Fatal(whole, err)
				}
				o := options(t, d.programs, strategy)
				j, err := check.NewJoint(t.Context(), s, o, max(whole.Executions/2, 3))
				if err != nil {
					t.Fatal(err)
				}
				units := 0
				for w, ok := j.Next(); ok; w, ok = j.Next() {
					units++
					merge(t, j, do(t, s, o, encoded(t, &w)))
				}
				r, err := j.Close(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				a, b := whole.Coverage, r.Coverage
				t.Logf("%d units, %d executions, not %d", units, r.Executions, whole.Executions)
				if units < 3 || !b.Exhausted || r.Stopped != check.StopExplored || a.Traces != b.Traces ||
					r.Outcome != whole.Outcome {
					t.Errorf("%d units: exhausted %v, stopped: %s, %d traces, %v; not %d, %v", units, b.Exhausted, r.Stopped, b.Traces, r.Outcome, a.Traces, whole.Outcome)
				}
				if strategy != "dpor" &&
					(a.StatesDigest != b.StatesDigest || !slices.Equal(a.LocalStates, b.LocalStates)) {
					t.Errorf("%d states and %v, not %d and %v", b.States, b.LocalStates, a.States, a.LocalStates)
				}
				if got, want := kinds(r), kinds(whole); !slices.Equal(got, want) {
					t.Errorf("violations %q, not %q", got, want)
				}
				for _, v := range r.Violations {
					if text := systemtest.Read(t, v.Trace); !strings.Contains(text, "violation") {
						t.Error(text)
					}
					if v.Shrunk != nil && !strings.HasPrefix(v.Shrunk.Trace, v.Dir) {
						t.Errorf("%+v", v.Shrunk)
					}
				}
			})
		}
	}
}

func kinds(r *record.Report) (all []string) {
	for _, v := range r.Violations {
		all = append(all, v.NodeName+": "+v.Kind)
	}
	slices.Sort(all)
	return all
}

// TestResultsInAnyOrder: a report depends on the Results alone, whoever has made them, wherever,
// and in whatever order they come.
func TestResultsInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		strategy string
		share    int
	}{{"random", 4}, {"depth-first", 1}, {"dpor", 1}} {
		t.Run(c.strategy, func(t *testing.T) {
			d := divided["update"]
			s := d.spec(t)
			o := options(t, d.programs, c.strategy)
			o.Executions = 24
			begin := func() (j *check.Joint, works []work.Work) {
				o.Out = filepath.Join(t.TempDir(), "out")
				if c.strategy != "random" {
					o.Executions = 0
				}
				j, err := check.NewJoint(t.Context(), s, o, c.share)
				if err != nil {
					t.Fatal(err)
				}
				for w, ok := j.Next(); ok; w, ok = j.Next() {
					works = append(works, w)
				}
				return j, works
			}
			// The first unit of a search in memory leaves the others.
			_, works := begin()
			var first []byte
			if len(works) == 1 {
				first = do(t, s, o, encoded(t, &works[0]))
			}
			next := func() (j *check.Joint, works []work.Work) {
				if j, works = begin(); first == nil {
					return j, works
				}
				merge(t, j, first)
				works = nil
				for w, ok := j.Next(); ok; w, ok = j.Next() {
					w.Most = 0
					works = append(works, w)
				}
				return j, works
			}
			_, works = next()
			if len(works) < 2 {
				t.Fatalf("%d units", len(works))
			}
			results := make([][]byte, len(works))
			for i := range works {
				data := encoded(t, &works[i])
				if i%2 == 0 {
					results[i] = do(t, s, o, data)
				} else {
					results[i] = elsewhere(t, c.strategy, data)
				}
			}
			want := ""
			for seed := range uint64(6) {
				j, _ := next()
				order := rand.New(rand.NewPCG(seed, 1)).Perm(len(results))
				for _, i := range order {
					merge(t, j, results[i])
					merge(t, j, results[order[0]]) // what comes twice counts once
				}
				r, err := j.Close(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Violations) == 0 || r.Executions < len(results) {
					t.Fatalf("%d executions, %d violations", r.Executions, len(r.Violations))
				}
				if got := timeless(t, r); want == "" {
					want = got
				} else if got != want {
					t.Fatalf("in order %v\n%s\nnot\n%s", order, got, want)
				}
			}
		})
	}
}

// timeless is a report without real times and where it lies.
func timeless(t *testing.T, r *record.Report) string {
	t.Helper()
	r.RealTime, r.Coverage.Elapsed, r.Checksum = 0, 0, ""
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), r.Out, "OUT")
}

// elsewhere does a unit in another process.
func elsewhere(t *testing.T, strategy string, data []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	systemtest.Write(t, filepath.Join(dir, "work"), string(data))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnitElsewhere$")
	cmd.Env = append(os.Environ(), "ARIADNE_UNIT="+dir, "ARIADNE_STRATEGY="+strategy)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return []byte(systemtest.Read(t, dir, "result"))
}

// TestUnitElsewhere is the other process.
func TestUnitElsewhere(t *testing.T) {
	dir := os.Getenv("ARIADNE_UNIT")
	if dir == "" {
		t.Skip("it is called by TestResultsInAnyOrder")
	}
	d := divided["update"]
	s := d.spec(t)
	data := do(t, s, options(t, d.programs, os.Getenv("ARIADNE_STRATEGY")), []byte(systemtest.Read(t, dir, "work")))
	systemtest.Write(t, filepath.Join(dir, "result"), string(data))
}

// TestWorkOfOthersIsRefused: nobody does work that is of something else, nor counts what is of
// other work.
func TestWorkOfOthersIsRefused(t *testing.T) {
	d := divided["update"]
	s := d.spec(t)
	o := options(t, d.programs, "depth-first")
	j, err := check.NewJoint(t.Context(), s, o, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := j.Next()
	for what, change := range map[string]func(w *work.Work){
		"is not the spec":       func(w *work.Work) { w.Spec[0]++ },
		"seed 2":                func(w *work.Work) { w.Seed = 2 },
		"other properties":      func(w *work.Work) { w.Properties[0]++ },
		"other budgets":         func(w *work.Work) { w.Faults = "crash 1" },
		"unknown strategy":      func(w *work.Work) { w.Strategy = "none" },
		`no path has "nothing"`: func(w *work.Work) { w.Begins = []string{"nothing"} },
	} {
		other := w
		change(&other)
		o.Out = filepath.Join(t.TempDir(), "unit")
		if _, err := check.DoWork(t.Context(), s, o, &other); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, not %s", err, what)
		}
	}
	for what, r := range map[string]*work.Result{
		"not given": {Source: work.Source{Unit: 7}},
		"with executions": {Source: work.Source{Unit: 1}, Counts: work.Counts{Executions: 5},
			Ended: []work.Span{{From: 0, To: 5}}},
	} {
		if err := j.Merge(r); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, not %s", err, what)
		}
	}
}
