// Command bench measures Ariadne on this machine: what a system call costs, how
// many executions a check gets through, how much faster virtual time is than real
// time, what transitions cost and how much is saved by remembering them. It prints
// a table and writes bench.json: machine and day, and for each name value, unit, spread (the
// largest minus the smallest of the repetitions; values are medians) and how often it was
// measured. All that is compared is measured in the same run. With -document it writes the table
// of docs/results/costs.md, unless something in it cannot be.
//
// It knows no more of Ariadne than its command line and the Go benchmarks of its
// packages. It names things that this machine cannot measure, and leaves them out.
//
// Read next: calls.go, then systems.go, memory.go, audits.go, contention.go, dpor.go, choose.go,
// restart.go, crash.go, images.go, liveness.go, watch.go, shared.go,
// found.go, table.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// result is what was measured under one name.
type result struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Spread float64 `json:"spread"`
	Times  int     `json:"times"` // that it was measured
}

// bench carries the options and the results so far.
type bench struct {
	ctx      context.Context
	progress progress
	ariadne  *harness.Ariadne
	dir      string // for what is built and run
	repeat   int
	budget   time.Duration // of one check
	longTime time.Duration // of one check of a system whose executions are long
	old      string        // another binary, to compare with; "": none
	audit    int           // transitions of each system to execute twice
	results  map[string]result
	missing  []string // what could not be measured, and why
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	b := &bench{ctx: ctx, results: map[string]result{}}
	b.ariadne = &harness.Ariadne{Limit: 2 * time.Hour, Starting: b.progress.now}
	flag.StringVar(&b.ariadne.Binary, "ariadne", "bin/ariadne", "the binary")
	flag.IntVar(&b.repeat, "repeat", 5, "repetitions of each measurement")
	flag.DurationVar(&b.budget, "budget", 10*time.Second, "real time of one check")
	flag.DurationVar(&b.longTime, "long", 30*time.Second, "real time of one check of a system whose executions are long")
	flag.StringVar(&b.old, "old", "", "another binary, with which parts default, faulty and checkpoints compare")
	short := flag.Bool("short", false, "take about ten minutes: 2 repetitions of 4 s, of the parts "+strings.Join(shortParts, ", "))
	flag.IntVar(&b.audit, "audit", 100, "transitions of each system to execute twice")
	out := flag.String("out", "bench.json", "the file to write")
	document := flag.String("document", "", "write the table of costs in this document, from what -out has after this run")
	only := flag.String("only", "", "measure these alone, or none, and keep what -out has of the others: "+strings.Join(names(), ", "))
	flag.Parse()
	if *short {
		b.repeat, b.budget, b.longTime = 2, 4*time.Second, 4*time.Second
		if *only == "" {
			*only = strings.Join(shortParts, ",")
		}
	}
	if b.repeat < 1 || b.budget <= 0 || b.longTime <= 0 || b.audit < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: repeat, budget, long and audit are above 0, and there are no other arguments")
		os.Exit(2)
	}
	err := b.all(*out, *only)
	if err == nil && *document != "" {
		var m *measured
		if m, err = readMeasured(*out); err == nil {
			err = writeTable(*document, m)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parts are what is measured, in order.
var parts = []struct {
	name    string
	measure func(*bench) error
}{
	{"calls", (*bench).measureCalls},
	{"systems", (*bench).measureSystems},
	{"default", (*bench).measureDefault},
	{"faulty", (*bench).measureFaulty},
	{"audits", (*bench).measureAudits},
	{"dpor", (*bench).measureDPOR},
	{"choose", (*bench).measureChoose},
	{"restart", (*bench).measureRestarts},
	{"crash", (*bench).measureCrash},
	{"forming", (*bench).measureForming},
	{"disk", (*bench).measureDisk},
	{"parallel", (*bench).measureParallel},
	{"contention", (*bench).measureContention},
	{"transitions", (*bench).measureTransitions},
	{"checkpoints", (*bench).measureCheckpoints},
	{"unchanged", (*bench).measureUnchanged},
	{"clocks", (*bench).measureClocks},
	{"visits", (*bench).measureVisits},
	{"remembered", (*bench).measureRemembered},
	{"windows", (*bench).measureWindows},
	{"expose", (*bench).measureExposing},
	{"liveness", (*bench).measureLiveness},
	{"predicates", (*bench).measurePredicates},
	{"watch", (*bench).measureWatch},
	{"rates", (*bench).measureRates},
	{"parts", (*bench).measureParts},
	{"takeover", (*bench).measureTakeOver},
	{"found", (*bench).measureFound},
}

// shortParts are those whose ratios are enough for a comparison.
var shortParts = []string{"calls", "systems", "transitions", "checkpoints", "remembered"}

func names() (list []string) {
	for _, p := range parts {
		list = append(list, p.name)
	}
	return list
}

// all measures all parts, or some, named with commas between.
func (b *bench) all(out, only string) error {
	chosen := names()
	switch only {
	case "":
	case "none":
		return nil
	default:
		chosen = strings.Split(only, ",")
	}
	for _, name := range chosen {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("nothing to measure is called %q: %s", name, strings.Join(names(), ", "))
		}
	}
	dir, err := os.MkdirTemp("", "ariadne-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	origin, err := b.ariadne.Origin()
	if err != nil {
		return err
	}
	b.progress.start(b.ctx)
	var failed []error
	chosen = slices.DeleteFunc(names(), func(name string) bool { return !slices.Contains(chosen, name) })
	for i, name := range chosen {
		b.progress.begin(name, chosen[i+1:])
		// What fails keeps nothing else from being measured, unless we are asked to end.
		if err := measureOf(name)(b); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		if b.ctx.Err() != nil {
			return fmt.Errorf("interrupted: %s has what was measured before part %s", out, name)
		}
		if err := b.write(out, origin, true); err != nil {
			return err
		}
	}
	b.print()
	return errors.Join(append(failed, b.write(out, origin, only != ""))...)
}

func measureOf(part string) func(*bench) error {
	return parts[slices.Index(names(), part)].measure
}

// write writes the results to a file; keep: and what it has of others.
func (b *bench) write(out string, origin harness.Origin, keep bool) error {
	m := measured{origin, maps.Clone(b.results)}
	if keep {
		m.addKept(out)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(data, '\n'), 0o644)
}

func (b *bench) print() {
	fmt.Printf("\n%-36s %12s %-6s %12s\n", "name", "median", "unit", "spread")
	for _, name := range slices.Sorted(maps.Keys(b.results)) {
		r := b.results[name]
		fmt.Printf("%-36s %12.4g %-6s %12.2g\n", name, r.Value, r.Unit, r.Spread)
	}
	for _, m := range b.missing {
		fmt.Printf("not measured: %s\n", m)
	}
}

// keep enters the median of samples.
func (b *bench) keep(name, unit string, samples []float64) {
	b.results[name] = result{Value: median(samples), Unit: unit, Spread: slices.Max(samples) - slices.Min(samples),
		Times: len(samples)}
}

// repeated measures several times.
func (b *bench) repeated(measure func() (float64, error)) ([]float64, error) {
	var samples []float64
	for range b.repeat {
		s, err := measure()
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return samples, nil
}

func median(samples []float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	n := len(s)
	if n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[n/2]
}
