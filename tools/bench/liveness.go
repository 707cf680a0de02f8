package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// stuck are examples in which something that must happen does not, by name.
var stuck = []struct{ name, spec string }{
	{"tree", "examples/tree/eventually-bug.yaml"},
	{"rejoin", "examples/tree/rejoin-bug.yaml"},
	{"primarybackup", "examples/primarybackup/prepared-bug.yaml"},
	{"election", "examples/election/recovery-bug.yaml"},
	{"transport", "examples/transport/syn-bug.yaml"},
	{"mps", "examples/mps/newer-bug.yaml"},
}

// shrinking are bugs whose executions are shrunk, besides those of stuck.
var shrinking = []struct{ name, spec string }{
	{"lost-promotion", "examples/primarybackup/primaries-bug.yaml"},
	{"reader-and-writer", "examples/locks/restart-bug.yaml"},
	{"stable-preparing", "examples/mps/transition-bug.yaml"},
	{"late-request", "examples/election/panic-bug.yaml"},
	{"two-parents", "examples/tree/parents-bug.yaml"},
	{"self-loop", "examples/ring/loop-bug.yaml"},
}

// measureLiveness measures how long it takes, by real time, to find the critical transition of an
// execution in which something that must happen does not, as the default search of each seed has
// found one; which share of five hunts for that of the first of these executions, with walks of
// their own, name the same step; which share of the seeds name steps that are alike, in what these
// are shrunk to; and what shrinking takes and saves. How much longer it would take to execute each
// walk from the start is reckoned by its steps and by what one of random executions of the same
// system costs, their starts included.
func (b *bench) measureLiveness() error {
	for _, s := range stuck {
		if !b.fetch(s.spec) {
			continue
		}
		step, err := b.livingStep(s.spec)
		if err != nil {
			return err
		}
		named, most := map[string]int{}, 0
		var took, ratios []float64
		stable := -1.0
		err = b.shrink(s.name, s.spec, func(v *harness.Violation) error {
			g := v.Goal
			if g == nil || g.Critical == 0 {
				return fmt.Errorf("%s: no critical transition: %s", s.spec, v.Message)
			}
			took = append(took, g.Took.Seconds())
			ratios = append(ratios, float64(g.FromStart)*step/g.Took.Seconds())
			if stable < 0 {
				if stable, err = b.stable(v.Trace); err != nil {
					return err
				}
			}
			if less := v.Shrunk; less != nil && less.Goal != nil && less.Goal.Critical > 0 {
				g = less.Goal
			}
			name := number.ReplaceAllString(g.CriticalName, "0")
			named[name]++
			most = max(most, named[name])
			return nil
		})
		if err != nil {
			return err
		}
		b.keep("critical_transition_s."+s.name, "s", took)
		b.keep("critical_from_start."+s.name, "", ratios)
		b.keep("critical_transition_stable."+s.name, "", []float64{stable})
		b.keep("critical_same."+s.name, "", []float64{float64(most) / float64(len(took))})
	}
	for _, s := range shrinking {
		if !b.fetch(s.spec) {
			continue
		}
		if err := b.shrink(s.name, s.spec, func(*harness.Violation) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// stable is which share of some hunts for the critical transition of one execution, with other
// walks each, name the same step.
func (b *bench) stable(trace string) (float64, error) {
	const hunts = 5
	named, most := map[int]int{}, 0
	for seed := range hunts {
		r, err := b.ariadne.Run(b.ctx, filepath.Join(b.dir, "hunt"), "replay", trace, "--critical", "--walk-seed",
			strconv.Itoa(seed+1))
		if err != nil {
			return 0, err
		}
		if len(r.Violations) == 0 || r.Violations[0].Goal == nil || r.Violations[0].Goal.Critical == 0 {
			return 0, fmt.Errorf("%s, walk seed %d: no critical transition", trace, seed+1)
		}
		step := r.Violations[0].Goal.Critical
		named[step]++
		most = max(most, named[step])
	}
	return float64(most) / hunts, nil
}

// number is what differs between the names of like steps.
var number = regexp.MustCompile(`\d+`)

// shrink measures what it takes to shrink the first violation that the default search finds by each
// of some seeds, and how many times more steps it had. see is told of each.
func (b *bench) shrink(name, spec string, see func(*harness.Violation) error) error {
	var took, ratios []float64
	for seed := range b.repeat {
		r, err := b.cold("check", spec, "--strategy", "default", "--seed", strconv.Itoa(seed), "--time", "10m",
			"--shrink", "2m")
		if err != nil {
			return err
		}
		if len(r.Violations) == 0 {
			return fmt.Errorf("%s, seed %d: %s", spec, seed, r.Outcome)
		}
		v := &r.Violations[0]
		if err := see(v); err != nil {
			return err
		}
		if s := v.Shrunk; s != nil {
			took = append(took, s.Took.Seconds())
			ratios = append(ratios, float64(s.From.Steps)/float64(s.To.Steps))
		}
	}
	if len(took) == 0 {
		b.missing = append(b.missing, fmt.Sprintf("shrink_ratio.%s: no execution that was found has a smaller one", name))
		return nil
	}
	b.keep("shrink_s."+name, "s", took)
	b.keep("shrink_ratio."+name, "", ratios)
	return nil
}

// livingStep is how many seconds a step of random executions of a system takes, with what it costs
// to start.
func (b *bench) livingStep(spec string) (float64, error) {
	plain, err := b.without(spec, "properties:")
	if err != nil {
		return 0, err
	}
	r, err := b.cold("check", plain, "--strategy", "random", "--keep-going", "--jobs", "1", "--time", "1h",
		"--executions", "20")
	if err != nil {
		return 0, err
	}
	return r.RealTime.Seconds() / float64(r.Steps), nil
}

// without writes the spec of an example up to a line, and returns where. Copies of the example's
// programs are beside it.
func (b *bench) without(spec, line string) (string, error) {
	data, err := os.ReadFile(spec)
	if err != nil {
		return "", err
	}
	text, _, ok := strings.Cut(string(data), "\n"+line)
	if !ok {
		return "", fmt.Errorf("%s has no line %q", spec, line)
	}
	dir, err := os.MkdirTemp(b.dir, "without-")
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, filepath.Base(spec))
	return to,
		errors.Join(os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(filepath.Join(filepath.Dir(spec), "bin"))),
			os.WriteFile(to, []byte(text+"\n"), 0o644))
}

// predicatePairs are searches with and without properties for each measurement, whose median
// counts: one of them takes a third of a second, which differs by some percent each time.
const predicatePairs = 40

// judged is the system whose properties are judged, and the window of its executions in which it is
// searched with and without.
const judged = "examples/raftkv/properties.yaml"

// measurePredicates measures how many states that nobody has seen are judged in a second, and how
// much longer the same search takes with properties than without: all states of a window, by one
// worker. The cost of properties is the same whether the steps of the nodes are executed or
// remembered, and is little beside executing them. So it is measured where all are remembered
// (predicate_overhead_remembered), by the processor time of searches with and without by turns, and
// predicate_overhead is that difference as a part of what the search takes from nothing.
func (b *bench) measurePredicates() error {
	rates, err := b.repeated(func() (float64, error) {
		lines, err := b.goBenchmark("./internal/judge", "BenchmarkJudge$", "50000x")
		return lines["BenchmarkJudge"]["states/s"], err
	})
	if err != nil {
		return err
	}
	b.keep("predicate_states_per_s", "1/s", rates)
	if err := b.measureStages(); err != nil {
		return err
	}
	if !b.fetch(judged) {
		return nil
	}
	plain, err := b.without(judged, "expose:")
	if err != nil {
		return err
	}
	specs := []string{plain, judged}
	search := func(i int,
		run func(context.Context, string, string, string, ...string) (*harness.Run, error)) (*harness.Run, error) {
		r, err := run(b.ctx, filepath.Join(b.dir, fmt.Sprint("judged-", i)), "check", specs[i], "--strategy",
			"depth-first", "--faults", "none", "--from", "/election won/", "--timers", "2", "--depth", "30", "--jobs",
			"1", "--keep-going", "--time", "1h")
		if err == nil && !r.Coverage.Exhausted {
			err = fmt.Errorf("%s: not all was explored: %s", specs[i], r.Stopped)
		}
		return r, err
	}
	var cold float64 // of the one with properties
	var states [2]int
	for i := range specs {
		r, err := search(i, b.ariadne.Cold)
		if err != nil {
			return err
		}
		cold, states[i] = r.All.Seconds(), r.Coverage.States
	}
	if states[0] != states[1] {
		return fmt.Errorf("%s: %d states with properties, %d without", judged, states[1], states[0])
	}
	var overhead, remembered []float64
	for range b.repeat {
		var more, part []float64
		for i := range predicatePairs {
			var took [2]float64
			for j := range took {
				k := (i + j) % 2 // neither is always the first
				r, err := search(k, b.ariadne.Run)
				if err != nil {
					return err
				}
				took[k] = r.All.Seconds()
			}
			more, part = append(more, took[1]-took[0]), append(part, took[1]/took[0]-1)
		}
		slices.Sort(more)
		slices.Sort(part)
		overhead = append(overhead, more[predicatePairs/2]/cold)
		remembered = append(remembered, part[predicatePairs/2])
	}
	b.keep("predicate_overhead", "", overhead)
	b.keep("predicate_overhead_remembered", "", remembered)
	return nil
}

// measureStages measures how many states are judged in a second in which one of 256 tuples is
// another than before, by a sum of all: as an expression, a stage, a stage for each node, and by
// what has changed.
func (b *bench) measureStages() error {
	rates := map[string][]float64{}
	for range b.repeat {
		lines, err := b.goBenchmark("./internal/judge", "BenchmarkStages", "5000x")
		if err != nil {
			return err
		}
		for _, way := range stageWays {
			rates[way] = append(rates[way], lines["BenchmarkStages/"+way]["states/s"])
		}
	}
	for _, way := range stageWays {
		b.keep("predicate_states_per_s."+way, "1/s", rates[way])
	}
	return nil
}

// stageWays are the ways of BenchmarkStages.
var stageWays = []string{"expression", "execute", "change", "keys", "keys-change"}
