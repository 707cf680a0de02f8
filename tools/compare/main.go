// Command compare says whether one binary of Ariadne is as fast as another one.
//
//	go run ./tools/compare -old OLD -new NEW [flags] [spec...]
//
// The two take turns on the same machine, so that what else goes on there meets both. Of each
// system (a path below examples/) it measures whole executions per second, new transitions per
// second of the default search, and remembered ones of a search that finds all of them in the
// store.
//
// Each round gives a ratio of new to old. Printed are the median ratio and its 95 % interval, by
// bootstrap. The new binary passes when the interval reaches 0.97: what is slower than that beyond
// doubt does not. Exit status 1 when one does not pass.
//
// Read next: measure.go, then statistics.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// enough is the ratio that the interval has to reach.
const enough = 0.97

var defaultSpecs = []string{"raftkv/raftkv.yaml", "memcached/memcached.yaml", "redis/replication.yaml"}

type options struct {
	old, new harness.Ariadne
	examples string
	work     string
	rounds   int
	time     time.Duration // of one check
	jobs     string
	only     string // measure, or ""
}

func main() {
	var o options
	flag.StringVar(&o.old.Binary, "old", "", "the binary to compare with")
	flag.StringVar(&o.new.Binary, "new", "bin/ariadne", "the binary to judge")
	flag.StringVar(&o.examples, "examples", "examples", "directory of the specs")
	flag.IntVar(&o.rounds, "rounds", 20, "times that each binary is measured")
	seconds := flag.Float64("seconds", 5, "real time of each measurement")
	flag.StringVar(&o.only, "only", "", "the one rate to measure: executions, transitions or remembered")
	jobs := flag.Int("jobs", 1, "workers of a check")
	flag.Parse()
	specs := flag.Args()
	if len(specs) == 0 {
		specs = defaultSpecs
	}
	o.time, o.jobs = time.Duration(*seconds*float64(time.Second)), strconv.Itoa(*jobs)
	named := func(m measure) bool { return o.only == m.name }
	if o.only != "" && !slices.ContainsFunc(measures, named) {
		fmt.Fprintf(os.Stderr, "compare: -only %s: there is no such rate\n", o.only)
		os.Exit(2)
	}
	if o.old.Binary == "" || o.rounds < 5 || o.time < time.Second {
		fmt.Fprintln(os.Stderr, "compare: -old is wanted, at least 5 rounds and 1 second")
		os.Exit(2)
	}
	ctx, stop := child.UntilAsked()
	defer stop()
	ok, err := o.compare(ctx, specs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// compare measures all systems and prints a line for each rate.
func (o *options) compare(ctx context.Context, specs []string) (bool, error) {
	var err error
	if o.work, err = os.MkdirTemp("", "compare"); err != nil {
		return false, err
	}
	defer os.RemoveAll(o.work)
	ok := true
	fmt.Printf("%-24s %-14s %10s %10s  %s\n", "spec", "per second", "old", "new", "ratio, 95 % interval")
	for _, spec := range specs {
		path := filepath.Join(o.examples, spec)
		if err := harness.Fetch(ctx, path); err != nil {
			return false, err
		}
		for _, m := range measures {
			if o.only != "" && o.only != m.name {
				continue
			}
			old, new, err := o.rounded(ctx, path, m)
			if err != nil {
				return false, fmt.Errorf("%s: %s: %w", spec, m.name, err)
			}
			r := newRatio(old, new)
			verdict := "passes"
			if r.high < enough {
				verdict, ok = "SLOWER", false
			}
			fmt.Printf("%-24s %-14s %10.0f %10.0f  %.3f, %.3f to %.3f  %s\n", spec, m.name, median(old), median(new),
				r.median, r.low, r.high, verdict)
		}
	}
	return ok, nil
}
