package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// sought are searches for a bug of a system that reads the clock, and one in the system without it.
type sought struct {
	Name   string
	Found  []found // by seed
	Silent string  // what the search in the system without the bug said, or "" if it found nothing
	Fixed  int     // executions of that
	Budget time.Duration
	Origin harness.Origin
}

// found is what one search came to.
type found struct {
	Found      bool
	Took       time.Duration
	Executions int
	Wrong      string // why the search says nothing, or ""
}

// soughtDirs are where the systems are, below the list's directory.
var soughtDirs = []string{"timers", "redsync"}

const plantedName = "Planted programs"

// soughtSystems are the systems, each as DIRECTORY/NAME, in order.
func (o *options) soughtSystems() (names []string, err error) {
	for _, dir := range soughtDirs {
		specs, err := filepath.Glob(filepath.Join(filepath.Dir(o.list), dir, "*-bug.yaml"))
		if err != nil {
			return nil, err
		}
		for _, s := range specs {
			names = append(names, dir+"/"+strings.TrimSuffix(filepath.Base(s), "-bug.yaml"))
		}
	}
	return names, nil
}

// seek looks for the bugs of the systems that were asked for, and returns what is known of all.
// good: each was found with each seed, and nothing where there is none.
func (o *options) seek(ctx context.Context) (all []*sought, good bool, err error) {
	names, err := o.soughtSystems()
	if err != nil {
		return nil, false, err
	}
	good = true
	for _, name := range names {
		kept := filepath.Join(o.work, strings.ReplaceAll(name, "/", "_")+".json")
		if o.only.MatchString(name + "-bug.yaml") {
			s, err := o.seekOne(ctx, name)
			if err != nil {
				return nil, false, fmt.Errorf("%s: %w", name, err)
			}
			if err := harness.Keep(kept, s); err != nil {
				return nil, false, err
			}
		}
		s, err := harness.Kept[sought](kept)
		if err != nil {
			return nil, false, err
		}
		if s != nil {
			all = append(all, s)
			good = good && s.Silent == "" && !slices.ContainsFunc(s.Found, func(f found) bool { return !f.Found })
		}
	}
	return all, good, nil
}

// seekOne looks for one bug with each seed. All searches have one worker, and nothing is remembered
// of the search before.
func (o *options) seekOne(ctx context.Context, name string) (*sought, error) {
	spec := filepath.Join(filepath.Dir(o.list), name)
	if err := harness.Fetch(ctx, spec+"-bug.yaml"); err != nil {
		return nil, err
	}
	s := &sought{Name: path.Base(name), Budget: o.budget}
	var err error
	if s.Origin, err = o.ariadne.Origin(); err != nil {
		return nil, err
	}
	for seed := range o.seeds {
		r, err := o.check(ctx, spec+"-bug.yaml", seed)
		if err != nil {
			return nil, err
		}
		f := found{Found: r.Outcome == harness.Violated, Took: r.RealTime, Executions: r.Executions, Wrong: wrong(r)}
		fmt.Printf("%s-bug seed %d: %+v\n", name, seed, f)
		s.Found = append(s.Found, f)
	}
	r, err := o.check(ctx, spec+".yaml", 0)
	if err != nil {
		return nil, err
	}
	if s.Fixed, s.Silent = r.Executions, wrong(r); r.Outcome == harness.Violated {
		s.Silent = r.Outcome.String()
	}
	fmt.Printf("%s: %d executions %s\n", name, s.Fixed, s.Silent)
	return s, nil
}

func (o *options) check(ctx context.Context, spec string, seed int) (*harness.Run, error) {
	out := filepath.Join(o.work, "check")
	defer os.RemoveAll(out)
	return o.ariadne.Cold(ctx, out, "check", spec, "--fresh", "--jobs", "1", "--shrink", "0s",
		"--seed", strconv.Itoa(seed), "--time", o.budget.String())
}

// wrong is why a check says nothing, or "".
func wrong(r *harness.Run) string {
	if r.Outcome == harness.Violated || r.Outcome == harness.Nothing {
		return ""
	}
	return strings.Join(slices.Concat([]string{r.Outcome.String()}, r.Bugs, r.Doubts), ": ")
}

// plantedSection is the page's section of the planted systems, or what the earlier page has.
func plantedSection(all []*sought, earlier harness.Page) string {
	if len(all) == 0 {
		return earlier.Section(plantedName)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `## %s

Small systems that read the clock and decide by it, written for this
([examples/timers](../../examples/timers/README.md)). They set no timer for that time. The last row
is a lease service of real programs, Redis and go-redsync
([examples/redsync](../../examples/redsync/README.md)). Each search
has %v, the default strategy, one worker and one processor, and begins without what earlier searches
remembered. Cells have the time until the bug was found, and after how many executions, for each
seed. The last column is a search of the system without the bug, with seed 0. Before the default
strategy had a share for late, it missed backoff, bucket and ttl (seed 0), and found the others.

%s

`, plantedName, all[0].Budget, all[0].Origin)
	b.WriteString("| system |")
	for seed := range all[0].Found {
		fmt.Fprintf(&b, " seed %d |", seed)
	}
	b.WriteString(" without the bug |\n| --- |" + strings.Repeat(" --- |", len(all[0].Found)+1) + "\n")
	for _, s := range all {
		fmt.Fprintf(&b, "| `%s` |", s.Name)
		for _, f := range s.Found {
			switch {
			case f.Found:
				fmt.Fprintf(&b, " %.1f s, %d |", f.Took.Seconds(), f.Executions)
			case f.Wrong != "":
				fmt.Fprintf(&b, " %s |", cell(f.Wrong))
			default:
				fmt.Fprintf(&b, " not found in %d |", f.Executions)
			}
		}
		if s.Silent != "" {
			fmt.Fprintf(&b, " %s |\n", cell(s.Silent))
		} else {
			fmt.Fprintf(&b, " nothing in %d |\n", s.Fixed)
		}
	}
	return b.String()
}
