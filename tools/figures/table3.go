package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// table3 asks for the table of performance: what paths cost in real time, what time they would have
// taken, and which share of the cost is Ariadne's.
const table3 = "table3"

// performers are the systems of the table; their specs are seen from the directory of paxos.
var performers = []struct{ name, spec string }{
	{"Berkeley DB", "../berkeleydb/berkeleydb.yaml"},
	{"Paxos", "paxos.yaml"},
}

// performance is one search. Times are seconds.
type performance struct {
	paths       int
	real, slept float64
	own         float64 // share of the processor time, of 1
}

const table3Head = `# Performance: MODIST's table 3

MODIST (NSDI 2009, section 4.6) measures how long it takes to explore 1,000 paths of Berkeley DB and of a Paxos. This page redoes
it, by ` + "`go run ./tools/figures -only table3`" + `, with one worker that remembers nothing from before:

    bin/ariadne check SPEC --strategy random --jobs 1 --executions %[1]d --keep-going
    bin/ariadne check SPEC --strategy dpor --jobs 1 --executions %[1]d --keep-going

*real*: seconds of real time. *sleep*: seconds of virtual time that the paths took, which the programs would have waited.
*speed-up*: sleep over real. *overhead*: Ariadne's share of the processor time; the rest was spent in the programs, with what Linux
did for their system calls and stops. Mean and standard deviation of %[2]d runs. DPOR goes back to where paths part and executes
what is new; its sleep is that of all paths, each counted from the start.

%[3]s

| system | strategy | paths | real, s | sleep, s | speed-up | overhead, %% |
| --- | --- | --- | --- | --- | --- | --- |
`

// performance measures the table and writes its page.
func (f *figures) performance() error {
	if f.tablePaths < 1 || f.tableRuns < 2 {
		return errors.New("table 3 wants paths, and at least two runs for a spread")
	}
	origin, err := f.ariadne.Origin()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, table3Head, f.tablePaths, f.tableRuns, origin)
	for _, p := range performers {
		spec := filepath.Join(f.examples, p.spec)
		if err := harness.Fetch(f.ctx, spec); err != nil {
			return err
		}
		for _, strategy := range []string{"random", "dpor"} {
			var runs []performance
			for range f.tableRuns {
				r, err := f.perform(spec, strategy)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, strategy, err)
				}
				runs = append(runs, *r)
			}
			b.WriteString(performanceRow(p.name, strategy, runs))
		}
	}
	return os.WriteFile(filepath.Join(f.out, "table3.md"), []byte(b.String()), 0o644)
}

// perform makes one search, and refuses what cannot be.
func (f *figures) perform(spec, strategy string) (*performance, error) {
	r, err := f.ariadne.Cold(f.ctx, filepath.Join(f.work, table3), "check", spec, "--strategy", strategy, "--jobs", "1",
		"--executions", strconv.Itoa(f.tablePaths), "--time", f.time.String(), "--keep-going")
	if err != nil {
		return nil, err
	}
	if r.Outcome == harness.ToolBug || r.Executions == 0 || r.RealTime <= 0 || r.VirtualTime <= 0 || r.Own <= 0 ||
		r.All <= r.Own {
		return nil, fmt.Errorf("%s (%s): %d paths in %v of real and %v of virtual time, %v of processor time, Ariadne's own %v",
			r.Outcome, r.Stopped, r.Executions, r.RealTime, r.VirtualTime, r.All, r.Own)
	}
	return &performance{r.Executions, r.RealTime.Seconds(), float64(r.VirtualTime) / 1e9,
		r.Own.Seconds() / r.All.Seconds()}, nil
}

// performanceRow is a line of the table.
func performanceRow(system, strategy string, runs []performance) string {
	column := func(format string, of func(performance) float64) string {
		var v []float64
		for _, r := range runs {
			v = append(v, of(r))
		}
		mean, deviation := spread(v)
		return fmt.Sprintf(format+" ± "+format, mean, deviation)
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s |\n", system, strategy, runs[0].paths,
		column("%.1f", func(p performance) float64 { return p.real }),
		column("%.0f", func(p performance) float64 { return p.slept }),
		column("%.1f", func(p performance) float64 { return p.slept / p.real }),
		column("%.1f", func(p performance) float64 { return 100 * p.own }))
}

// spread is the mean and the standard deviation of a sample.
func spread(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(deviation)
}
