// Command faulty runs real programs of examples/ through random executions with faults, and writes
// docs/results/faulty.md from what came of it: how many faults there were, how executions ended,
// and what the violations are, as examples/faulty.yaml explains them. Some executions with faults
// are replayed, and so is each violation. A tenth of the transitions of a search with faults is
// executed again.
//
//	go run ./tools/faulty [flags]
//
// It keeps the results of a target below the work directory, so the page always has all targets. A
// target that is not run now has its last results, or else those that are on the page. It knows no
// more of Ariadne than its command line, its traces and its reports. Exit status 1: a target is not
// as it should be, or a violation is not explained.
//
// Read next: measure.go, then page.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// target is a system that meets faults.
type target struct {
	Spec       string // below the list's directory
	What       string
	Faults     string // budgets, as of the flag --faults
	Executions int
	Triage     harness.Triage
	Notes      string // on other ends than the clients', say
}

// Of a target that does not say it.
const (
	usualFaults     = "crash,stop,cut"
	usualExecutions = 1000
)

func readTargets(name string) ([]*target, error) {
	all, err := harness.ReadList[*target](name)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Spec == "" || t.What == "" {
			return nil, fmt.Errorf("%s: spec and what are needed: %+v", name, *t)
		}
		if t.Faults == "" {
			t.Faults = usualFaults
		}
		if t.Executions == 0 {
			t.Executions = usualExecutions
		}
	}
	return all, nil
}

type options struct {
	ctx                 context.Context
	list, ariadne, work string
	executions          int // 0: those of the list
	replays             int // of all targets together
	audit               int // transitions, likewise
	patience            time.Duration
	fetch               bool
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	o := options{ctx: ctx}
	flag.StringVar(&o.list, "list", "examples/faulty.yaml", "the list of targets")
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.work, "work", "ariadne-runs/faulty", "directory of runs and results")
	flag.IntVar(&o.executions, "executions", 0, "random executions of each target; 0: as many as the list says")
	flag.IntVar(&o.replays, "replays", 200, "executions with faults that are replayed, of all targets that are run together")
	flag.IntVar(&o.audit, "audit", 20_000, "transitions of searches with faults of which a tenth is executed again and compared, of all targets that are run together")
	flag.DurationVar(&o.patience, "patience", 2*time.Hour, "real time that one command may take")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	only := flag.String("only", "", "run the targets whose spec matches this regular expression; what others showed is kept")
	page := flag.String("page", "docs/results/faulty.md", "the page to write")
	flag.Parse()
	ok, err := o.run(*only, *page)
	harness.End("faulty", ok, err)
}

// run runs the wanted targets and writes the page of all. It says whether all is as it should be.
func (o *options) run(only, page string) (bool, error) {
	if flag.NArg() > 0 {
		return false, fmt.Errorf("unexpected %q; targets are chosen by -only", flag.Arg(0))
	}
	if err := harness.Absolute(&o.ariadne, &o.work, &o.list); err != nil {
		return false, err
	}
	targets, err := readTargets(o.list)
	if err != nil {
		return false, err
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	run := slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return !wanted.MatchString(t.Spec) })
	if n := len(run); n > 0 { // each its share, rounded up
		o.replays, o.audit = (o.replays+n-1)/n, (o.audit+n-1)/n
	}
	good := true
	var rows []row
	for _, t := range targets {
		if wanted.MatchString(t.Spec) {
			r, err := o.measure(t)
			if err == nil {
				err = harness.Keep(o.file(t), r)
			}
			if err != nil {
				return false, fmt.Errorf("%s: %w", t.Spec, err)
			}
			fmt.Printf("%s: %s\n", t.Spec, r)
		}
		r, err := harness.Kept[result](o.file(t))
		if err != nil {
			return false, err
		}
		rows = append(rows, row{t, r})
		good = good && r != nil && r.good(t)
	}
	earlier, err := harness.ReadPage(page)
	if err != nil {
		return false, err
	}
	return good, os.WriteFile(page, writePage(rows, earlier), 0o644)
}
