// Command compat runs the real programs of examples/targets.yaml with the ariadne
// binary, as a user would, and writes docs/compatibility.md from what came of it:
// whether each becomes ready, whether its runs and replays are equal step by step,
// what random walks find, which calls were refused.
//
//	go run ./internal/compat [flags] [target...]
//
// Targets are given by their spec ("etcd/etcd-3.5.yaml") or its folder; without
// any, all are run. What a target showed is kept beside the other results, so the
// page always has all targets: those not run now as they were last.
//
// It knows no more of Ariadne than its command line, its traces and its reports.
// Exit status 1: a target is not as it should be, or a violation has no triage.
//
// Read next: measure.go, then page.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.list, "list", "examples/targets.yaml", "the list of targets")
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.work, "work", "ariadne-runs/compat", "directory of runs and results")
	flag.IntVar(&o.runs, "runs", 20, "natural runs, and replays of a walk, to compare")
	flag.IntVar(&o.walks, "walks", 100, "random walks")
	flag.DurationVar(&o.patience, "patience", 30*time.Minute, "real time that one command may take")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	page := flag.String("page", "docs/compatibility.md", "the page to write")
	flag.Parse()
	ok, err := compat(o, *page, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// compat measures the wanted targets and writes the page of all. It says whether
// all that the page shows is as it should be.
func compat(o options, page string, wanted []string) (bool, error) {
	targets, err := readTargets(o.list)
	if err != nil {
		return false, err
	}
	chosen, err := choose(targets, wanted)
	if err != nil {
		return false, err
	}
	if err := o.absolute(); err != nil {
		return false, err
	}
	for _, t := range chosen {
		fmt.Printf("%s\n", t.Spec)
		r, err := o.measure(t)
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.Spec, err)
		}
		if err := r.save(o.resultPath(t)); err != nil {
			return false, err
		}
		fmt.Printf("  %s\n", r.verdict(t))
	}
	var rows []row
	good := true
	for _, t := range targets {
		r, err := loadResult(o.resultPath(t))
		if err != nil {
			return false, err
		}
		rows = append(rows, row{t, r})
		good = good && r != nil && r.good(t)
	}
	return good, os.WriteFile(page, writePage(rows), 0o644)
}

// absolute makes the paths independent of the working directory.
func (o *options) absolute() error {
	for _, p := range []*string{&o.list, &o.ariadne, &o.work} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return os.MkdirAll(o.work, 0o755)
}
