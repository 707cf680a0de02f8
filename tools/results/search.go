package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ariadne/internal/run"
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
	script := filepath.Join("examples", filepath.Dir(spec), "fetch")
	if said, err := exec.Command(script).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", script, err, said)
	}
	return nil
}

// search runs a check, by so many workers (0: one per processor), and keeps what came of it.
func (o *options) search(kind, spec, strategy string, seed, workers int, budget time.Duration, more ...string) (*outcome, error) {
	name := strings.Join([]string{kind, strings.TrimSuffix(strings.ReplaceAll(spec, "/", "-"), ".yaml"), strategy, strconv.Itoa(seed), budget.String()}, "_")
	if workers > 0 {
		name += "_" + strconv.Itoa(workers)
		more = append(more, "--jobs", strconv.Itoa(workers))
	}
	dir := filepath.Join(o.work, name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(o.work, 0o755)); err != nil {
		return nil, err
	}
	args := append([]string{"check", filepath.Join("examples", spec), "--strategy", strategy, "--seed", strconv.Itoa(seed),
		"--time", budget.String(), "--quiet", "--out", dir}, more...)
	said, err := exec.Command(o.ariadne, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, fmt.Errorf("ariadne %v left no report: %s", args, said)
	}
	var report run.Report
	if err := json.Unmarshal(b, &report); err != nil {
		return nil, err
	}
	r := newOutcome(&report)
	r.Spec, r.Strategy, r.Seed, r.Workers, r.Budget = spec, strategy, seed, workers, budget
	fmt.Printf("%-32s %-14s seed %d  %s\n", spec, strategy, seed, r)
	if b, err = json.MarshalIndent(r, "", "\t"); err != nil {
		return nil, err
	}
	// The run directory is as large as the search was long.
	return r, errors.Join(os.RemoveAll(dir), os.WriteFile(dir+".json", b, 0o644))
}

func newOutcome(report *run.Report) *outcome {
	r := &outcome{Found: report.Outcome == run.Violated, RealTime: report.RealTime, Executions: report.Executions, Steps: report.Steps}
	if report.Outcome != run.Violated && report.Outcome != run.Nothing {
		r.Wrong = strings.Join(append(append([]string{report.Outcome.String()}, report.Bugs...), report.Doubts...), ": ")
	}
	if c := report.Coverage; c != nil {
		r.Memory, r.Exhausted = true, c.Exhausted
		r.Paths, r.Traces, r.States = c.Paths, c.Traces, c.States
		r.Executed, r.Remembered, r.Audits = c.Nodes.Executed, c.Nodes.Remembered, c.Nodes.Audited
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
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var r outcome
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		kind, _, _ := strings.Cut(filepath.Base(f), "_")
		all[kind] = append(all[kind], r)
	}
	return all, nil
}
