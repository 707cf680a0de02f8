// Command bugs lets the default strategy look for documented bugs of real, unmodified programs, and
// writes docs/results/bugs.md: how many seeds find each, after how long and how much work, and
// which faults it takes; and that nothing is found beside it, in the version or with the setting
// that does not have the bug.
//
//	go run ./tools/bugs [flags] [bug...]
//
// The list of bugs is examples/bugs/list.yaml. With -papers it is examples/papers.yaml, of bugs
// that papers describe, in programs of ours, and the page is docs/results/papers.md. Results
// are kept: for a bug that is not searched for this time, the page has its last results. Exit
// status 1: a bug is missed, another violation than the documented one is found, or something is
// found beside it.
//
// Read next: list.go, search.go, page.go.
package main

import (
	"cmp"
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

type options struct {
	ctx                 context.Context
	ariadne, work, list string
	seeds               int
	budget, least       time.Duration
	fetch, resume       bool
	shrink              time.Duration
	kinds               *regexp.Regexp // of searches
	papers              bool           // the list is of papers' bugs
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	o := options{ctx: ctx}
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.BoolVar(&o.papers, "papers", false, "look for bugs that papers describe, which changes what list, page and work are by default")
	flag.StringVar(&o.work, "work", "", "directory of runs and results (default ariadne-runs/bugs)")
	flag.StringVar(&o.list, "list", "", "the list of bugs (default examples/bugs/list.yaml)")
	flag.IntVar(&o.seeds, "seeds", 5, "searches for each bug")
	flag.DurationVar(&o.budget, "budget", 10*time.Minute, "real time of one search, at most")
	flag.DurationVar(&o.least, "least", time.Minute, "real time of the search beside a bug, at least")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	flag.BoolVar(&o.resume, "resume", false, "keep the searches that were made before, and make only the others")
	flag.DurationVar(&o.shrink, "shrink", 10*time.Second, "real time to look for a smaller execution")
	kinds := flag.String("kinds", "", "make the searches whose kind matches this regular expression, of shrunk, seed and sibling; what others showed is kept")
	search := flag.Bool("search", true, "search; otherwise only write the page of what was found before")
	page := flag.String("page", "", "the page to write (default docs/results/bugs.md)")
	flag.Parse()
	work, list, to := "ariadne-runs/bugs", "examples/bugs/list.yaml", "docs/results/bugs.md"
	if o.papers {
		work, list, to = "ariadne-runs/papers", "examples/papers.yaml", "docs/results/papers.md"
	}
	o.work, o.list, *page = cmp.Or(o.work, work), cmp.Or(o.list, list), cmp.Or(*page, to)
	var err error
	if o.kinds, err = regexp.Compile(*kinds); err != nil {
		harness.End("bugs", false, err)
	}
	ok, err := o.run(*search, *page, flag.Args())
	harness.End("bugs", ok, err)
}

// run looks for the bugs that are wanted, and writes the page of all that is known. It says whether
// all is as it should be.
func (o *options) run(search bool, page string, wanted []string) (bool, error) {
	if err := harness.Absolute(&o.ariadne, &o.work); err != nil {
		return false, err
	}
	bugs, err := readBugs(o.list)
	if err != nil {
		return false, err
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(bugs, func(b *bug) bool { return b.Name == name }) {
			return false, fmt.Errorf("%s has no bug %q", o.list, name)
		}
	}
	for _, b := range bugs {
		if search && (len(wanted) == 0 || slices.Contains(wanted, b.Name)) {
			if err := o.look(b); err != nil {
				return false, fmt.Errorf("%s: %w", b.Name, err)
			}
		}
	}
	ok := true
	var all []result
	for _, b := range bugs {
		r, err := o.load(b)
		if err != nil {
			return false, err
		}
		all = append(all, r)
		ok = ok && r.good()
	}
	earlier, err := harness.ReadPage(page)
	if err != nil {
		return false, err
	}
	text := o.writePage
	if o.papers {
		text = o.writePapers
	}
	data, err := text(all, earlier)
	if err != nil {
		return false, err
	}
	return ok, os.WriteFile(page, data, 0o644)
}
