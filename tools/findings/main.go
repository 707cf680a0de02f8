// Command findings lets the default strategy look for whatever there is in real programs of
// examples/, under ready-made properties and with faults, and writes docs/results/findings.md: how
// long it looked, at how much, and what it found, as examples/findings.yaml explains that.
//
//	go run ./tools/findings [flags]
//
// A search that is interrupted, or has not had its time within -patience, goes on with -resume. It
// keeps the results of a target below the work directory, so the page always has all targets. A
// target that is not searched now has its last results. Of what is explained a trace goes to
// examples/findings/traces. Exit status 1: a finding is not explained, or did not come again.
//
// Read next: search.go, then page.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// target is a system that is searched.
type target struct {
	Spec, What string // the spec is relative to the list's directory
	Triage     harness.Triage
	Notes      string // on what the search looked at, say
}

func readTargets(name string) ([]*target, error) {
	all, err := harness.ReadList[*target](name)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Spec == "" || t.What == "" {
			return nil, fmt.Errorf("%s: spec and what are needed: %+v", name, *t)
		}
	}
	return all, nil
}

type options struct {
	ctx                 context.Context
	list, ariadne, work string
	traces              string // directory
	// real time of a search, in all its parts, and of one part at most
	time, patience time.Duration
	shrink         time.Duration
	jobs           int
	fetch, resume  bool
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	o := options{ctx: ctx}
	flag.StringVar(&o.list, "list", "examples/findings.yaml", "the list of targets")
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.work, "work", "ariadne-runs/findings", "directory of runs and results")
	flag.StringVar(&o.traces, "traces", "examples/findings/traces", "directory of traces of what is explained")
	flag.DurationVar(&o.time, "time", 30*time.Minute, "real time of each search, in all its parts")
	flag.DurationVar(&o.patience, "patience", 2*time.Hour, "real time of one part of a search")
	flag.DurationVar(&o.shrink, "shrink", 20*time.Second, "real time to look for a smaller execution, for each kind of violation")
	flag.IntVar(&o.jobs, "jobs", 0, "workers of each search; 0: one per processor")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	flag.BoolVar(&o.resume, "resume", false, "go on with searches that have not had their time, and keep those that have")
	only := flag.String("only", "", "search the targets whose spec matches this regular expression; what others showed is kept")
	page := flag.String("page", "docs/results/findings.md", "the page to write")
	flag.Parse()
	ok, err := o.run(*only, *page)
	harness.End("findings", ok, err)
}

// run searches the wanted targets and writes the page of all. It says whether all is explained.
func (o *options) run(only, page string) (bool, error) {
	if flag.NArg() > 0 {
		return false, fmt.Errorf("unexpected %q; targets are chosen by -only", flag.Arg(0))
	}
	if err := harness.Absolute(&o.ariadne, &o.work, &o.list, &o.traces); err != nil {
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
	good := true
	var rows []row
	for _, t := range targets {
		r, err := harness.Kept[result](o.file(t))
		if err == nil && wanted.MatchString(t.Spec) && !(o.resume && r != nil && r.had(o.time)) {
			r, err = o.search(t)
			if err == nil {
				err = harness.Keep(o.file(t), r)
			}
			fmt.Printf("%s: %s\n", t.Spec, r)
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.Spec, err)
		}
		if r != nil {
			if err := o.copyTraces(t, r); err != nil {
				return false, fmt.Errorf("%s: %w", t.Spec, err)
			}
		}
		rows = append(rows, row{t, r})
		good = good && r != nil && r.good(t)
	}
	earlier, err := harness.ReadPage(page)
	if err != nil {
		return false, err
	}
	copied, err := filepath.Glob(filepath.Join(o.traces, "*"))
	if err != nil {
		return false, err
	}
	for i := range copied {
		copied[i] = filepath.Base(copied[i])
	}
	return good, os.WriteFile(page, writePage(rows, copied, earlier), 0o644)
}

func (o *options) spec(t *target) string { return filepath.Join(filepath.Dir(o.list), t.Spec) }

// dir is where the search of a target is.
func (o *options) dir(t *target) string {
	return filepath.Join(o.work, strings.ReplaceAll(strings.TrimSuffix(t.Spec, ".yaml"), "/", "_"))
}

func (o *options) file(t *target) string { return o.dir(t) + ".json" }
