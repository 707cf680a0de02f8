// Command explained looks for the bugs of examples/explained.yaml, has Ariadne explain the
// violation of each, and writes docs/results/explained.md: the stories, and whether each names the
// step that was known to be at fault.
//
//	go run ./tools/explained [flags] [bug...]
//
// It keeps the result of each bug. For a bug that is not looked for this time, the page has its
// last result. Exit status 1: a bug was not found, or its story does not name the step at fault.
//
// Read next: judge.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// bug is an entry of the list.
type bug struct {
	Name  string
	Spec  string // below the list's directory
	Paper string // "": a real program
	Kind  string // liveness or power, where it is one
	Fault string
	Steps []harness.Pattern
}

// result is what came of a bug.
type result struct {
	Found bool
	Story []string // as the patterns have its lines
	Text  string   // what explain prints
	// Named are by pattern the numbers of the lines that match, from 1; 0: none does.
	Named []int
	Tried int
}

// good reports whether the story names the step at fault.
func (r *result) good() bool { return r.Found && !slices.Contains(r.Named, 0) }

type options struct {
	ariadne, work, list, page string
	budget, limit             time.Duration
	search, fetch             bool
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	var o options
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.work, "work", "ariadne-runs/explained", "directory of runs and results")
	flag.StringVar(&o.list, "list", "examples/explained.yaml", "the list of bugs")
	flag.StringVar(&o.page, "page", "docs/results/explained.md", "the page to write")
	flag.DurationVar(&o.budget, "budget", 10*time.Minute, "real time of one search, at most")
	flag.DurationVar(&o.limit, "time", time.Minute, "real time of the executions that explain one violation")
	flag.BoolVar(&o.search, "search", true, "search again also where the trace of an earlier search is there")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	flag.Parse()
	ok, err := o.run(ctx, flag.Args())
	harness.End("explained", ok, err)
}

func (o *options) run(ctx context.Context, wanted []string) (bool, error) {
	if err := harness.Absolute(&o.ariadne, &o.work); err != nil {
		return false, err
	}
	bugs, err := harness.ReadList[bug](o.list)
	if err != nil {
		return false, err
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(bugs, func(b bug) bool { return b.Name == name }) {
			return false, fmt.Errorf("%s has no bug %q", o.list, name)
		}
	}
	all := make([]*result, len(bugs))
	good := true
	for i := range bugs {
		b, kept := &bugs[i], filepath.Join(o.work, bugs[i].Name+".json")
		if len(wanted) == 0 || slices.Contains(wanted, b.Name) {
			r, err := o.look(ctx, b)
			if err != nil {
				return false, fmt.Errorf("%s: %w", b.Name, err)
			}
			if err := harness.Keep(kept, r); err != nil {
				return false, err
			}
		}
		if all[i], err = harness.Kept[result](kept); err != nil {
			return false, err
		}
		good = good && all[i] != nil && all[i].good()
	}
	return good, os.WriteFile(o.page, page(bugs, all), 0o644)
}

// look looks for a bug, unless there is a trace of it and it is not to be searched for again, and
// explains it.
func (o *options) look(ctx context.Context, b *bug) (*result, error) {
	spec, out := filepath.Join(filepath.Dir(o.list), b.Spec), filepath.Join(o.work, b.Name)
	if err := os.MkdirAll(o.work, 0o777); err != nil {
		return nil, err
	}
	a := harness.Ariadne{Binary: o.ariadne, Limit: o.budget + time.Minute}
	trace := smallest(out)
	if o.search || trace == "" {
		if o.fetch {
			if err := harness.Fetch(ctx, spec); err != nil {
				return nil, err
			}
		}
		run, err := a.Cold(ctx, out, "check", spec, "--time", o.budget.String())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s: %s after %d executions\n", b.Name, run.Outcome, run.Executions)
		if trace = smallest(out); len(run.Violations) == 0 || trace == "" {
			return &result{Named: make([]int, len(b.Steps))}, nil
		}
	}
	x, text, err := a.Explain(ctx, trace, o.limit)
	if err != nil {
		return nil, err
	}
	r := judge(b, x)
	r.Text = text
	fmt.Fprintf(os.Stderr, "%s: lines at fault %v of %d\n", b.Name, r.Named, len(r.Story))
	return r, nil
}

// smallest is the trace of the first violation in a run directory: that of the smaller execution
// where there is one. "": there is none.
func smallest(out string) string {
	for _, path := range []string{"violation-1/shrunk/trace.txt", "violation-1/trace.txt"} {
		if _, err := os.Stat(filepath.Join(out, path)); err == nil {
			return filepath.Join(out, path)
		}
	}
	return ""
}
