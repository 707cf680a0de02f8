// Command compat runs the real programs of examples/targets.yaml with the ariadne
// binary, as a user would, and writes docs/results/compatibility.md from what came of it:
// whether each becomes ready, whether its runs and replays are equal step by step,
// what random walks and a check find, which calls were refused.
//
//	go run ./tools/compat [flags]
//
// Run by root, it measures each target twice: as root and as an ordinary user. It keeps the results
// of a target below the work directory, so the page always has all targets. A target that is not
// run now has its last results, with the day and the version.
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
	"os/user"
	"regexp"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	o := options{ctx: ctx}
	flag.StringVar(&o.list, "list", "examples/targets.yaml", "the list of targets")
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.work, "work", "ariadne-runs/compat", "directory of runs and results")
	flag.IntVar(&o.runs, "runs", 10, "natural runs, and replays of a walk, to compare")
	flag.IntVar(&o.walks, "walks", 100, "random walks")
	flag.DurationVar(&o.walkTime, "walk-time", 0, "real time for the random walks; 0: as long as they take")
	flag.DurationVar(&o.check, "check", time.Minute, "real time of a check by the default strategy; 0: none")
	flag.DurationVar(&o.patience, "patience", 30*time.Minute, "real time that one command may take")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	other := flag.String("user", ordinary(), "measure as this user too; needs root")
	only := flag.String("only", "", "measure the targets whose spec matches this regular expression; what others showed is kept")
	page := flag.String("page", "docs/results/compatibility.md", "the page to write")
	flag.Parse()
	ok, err := compat(o, *page, *only, *other)
	harness.End("compat", ok, err)
}

// ordinary is the user whom root measures as besides.
func ordinary() string {
	if os.Geteuid() == 0 {
		return "nobody"
	}
	return ""
}

// compat measures the wanted targets and writes the page of all. It says whether
// all that the page shows is as it should be.
func compat(o options, page, only, other string) (bool, error) {
	if flag.NArg() > 0 {
		return false, fmt.Errorf("unexpected %q; targets are chosen by -only", flag.Arg(0))
	}
	targets, err := readTargets(o.list)
	if err != nil {
		return false, err
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	if err := o.prepare(other); err != nil {
		return false, err
	}
	for _, t := range choose(targets, wanted) {
		fmt.Printf("%s\n", t.Spec)
		results, err := o.measure(t)
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.Spec, err)
		}
		for _, r := range results {
			fmt.Printf("  %s: %s\n", r.User, r.verdict(t))
		}
	}
	var rows []row
	good := true
	for _, t := range targets {
		results, err := o.kept(t)
		if err != nil {
			return false, err
		}
		rows = append(rows, row{t, results})
		good = good && len(results) > 0
		for _, r := range results {
			good = good && r.good(t)
		}
	}
	earlier, err := harness.ReadPage(page)
	if err != nil {
		return false, err
	}
	return good, os.WriteFile(page, writePage(rows, earlier), 0o644)
}

// prepare makes the paths independent of the working directory, and finds out who
// measures what.
func (o *options) prepare(users ...string) error {
	if err := harness.Absolute(&o.list, &o.ariadne, &o.work); err != nil {
		return err
	}
	self, err := user.Current()
	if err != nil {
		return err
	}
	o.users = []*user.User{self}
	for _, name := range users {
		if name == "" || name == self.Username {
			continue
		}
		u, err := user.Lookup(name)
		if err != nil {
			return err
		}
		if os.Geteuid() != 0 {
			return fmt.Errorf("only root can measure as %s; set -user ''", name)
		}
		o.users = append(o.users, u)
	}
	if o.version, err = (&harness.Ariadne{Binary: o.ariadne}).Version(); err != nil {
		return err
	}
	return os.MkdirAll(o.work, 0o755)
}
