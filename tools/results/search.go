package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// outcome is what came of one search.
type outcome struct {
	Spec, Strategy string
	Seed           int
	Workers        int `json:",omitempty"` // 0: one per processor
	Budget         time.Duration
	Found          bool   // a violation
	Wrong          string // anything but "nothing found" and the violation: "bug in ariadne", ...
	RealTime       time.Duration
	Executions     int
	Steps          int
	// Of searches in memory.
	Memory                       bool
	Paths, Traces, States        int
	Executed, Remembered, Audits int
	Exhausted                    bool
	Origin                       harness.Origin
}

// set is all outcomes that are known.
type set []outcome

// look lets the strategies look for a bug, and some of them where it is mended.
func (o *options) look(b bug, only []string) error {
	if err := o.bring(b.spec); err != nil {
		return err
	}
	for _, s := range only {
		for seed := range o.seeds {
			r, err := o.search("bug", b.spec, s, seed, 0, o.budget)
			if err != nil {
				return err
			}
			if !r.Found {
				break
			}
		}
	}
	for _, s := range only[:min(careful, len(only))] {
		if _, err := o.search("mended", b.mended, s, 0, 0, o.budget); err != nil {
			return err
		}
	}
	return nil
}

// cover searches systems without a known bug.
func (o *options) cover(only []string) error {
	for _, spec := range systems {
		if len(o.spans) == 0 {
			return nil
		}
		if err := o.bring(spec); err != nil {
			return err
		}
		for _, span := range o.spans {
			for _, s := range only[:min(careful, len(only))] {
				if _, err := o.search("coverage", spec, s, 0, 0, span, "--keep-going"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bring runs the fetch script of an example.
func (o *options) bring(spec string) error {
	if !o.fetch {
		return nil
	}
	return harness.Fetch(o.ctx, filepath.Join("examples", spec))
}

// search runs a check, by so many workers (0: one per processor), and keeps what came of it.
func (o *options) search(kind, spec, strategy string, seed, workers int, budget time.Duration,
	more ...string) (*outcome, error) {
	name := strings.Join([]string{kind, strings.TrimSuffix(strings.ReplaceAll(spec, "/", "-"), ".yaml"), strategy,
		strconv.Itoa(seed), budget.String()}, "_")
	if workers > 0 {
		name += "_" + strconv.Itoa(workers)
		more = append(more, "--jobs", strconv.Itoa(workers))
	}
	dir := filepath.Join(o.work, name)
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return nil, err
	}
	a := harness.Ariadne{Binary: o.ariadne, Limit: budget + 10*time.Minute}
	with := strategy
	if strategy == before {
		a.Binary, with = o.before, "default"
	}
	report, err := a.Cold(o.ctx, dir, "check", filepath.Join("examples", spec),
		append([]string{"--strategy", with, "--seed", strconv.Itoa(seed),
			"--time", budget.String(), "--shrink", "0s"}, more...)...)
	if err != nil {
		return nil, err
	}
	r := newOutcome(&report.Report)
	if r.Origin, err = a.Origin(); err != nil {
		return nil, err
	}
	r.Spec, r.Strategy, r.Seed, r.Workers, r.Budget = spec, strategy, seed, workers, budget
	fmt.Printf("%-32s %-14s seed %d  %s\n", spec, strategy, seed, r)
	// The run directory is as large as the search was long.
	return r, errors.Join(os.RemoveAll(dir), harness.Keep(dir+".json", r))
}

func newOutcome(report *harness.Report) *outcome {
	r := &outcome{Found: report.Outcome == harness.Violated, RealTime: report.RealTime, Executions: report.Executions,
		Steps: report.Steps}
	if report.Outcome != harness.Violated && report.Outcome != harness.Nothing {
		r.Wrong = strings.Join(append(append([]string{report.Outcome.String()}, report.Bugs...), report.Doubts...),
			": ")
	}
	// Whole executions remember nothing, whatever else is known of them.
	if c := report.Coverage; c != nil && c.Strategy != "random" {
		r.Memory, r.Exhausted = true, c.Exhausted
		r.Paths, r.Traces, r.States = c.Paths, c.Traces, c.States
		r.Executed, r.Remembered, r.Audits = c.Executed, c.Remembered, c.Audited
	}
	return r
}

func (r *outcome) String() string {
	what := "nothing found"
	switch {
	case r.Found:
		what = "found"
	case r.Wrong != "":
		what = r.Wrong
	}
	return fmt.Sprintf("%s in %.1f s, %d executions", what, r.RealTime.Seconds(), r.Executions)
}

// load reads all that was kept, by kind.
func (o *options) load() (map[string]set, error) {
	files, err := filepath.Glob(filepath.Join(o.work, "*_*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	all := map[string]set{}
	for _, f := range files {
		r, err := harness.Kept[outcome](f)
		if err != nil {
			return nil, err
		}
		kind, _, _ := strings.Cut(filepath.Base(f), "_")
		all[kind] = append(all[kind], *r)
	}
	return all, nil
}
