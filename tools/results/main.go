// Command results lets each strategy look for known bugs in real programs, and
// writes docs/results/strategies.md: which strategy finds which bug, after how long and after how
// much work, and that nothing is found where the bug is fixed; then how much of a
// system without a known bug is seen in a given time.
//
//	go run ./tools/results [flags] [bug...] [planted] [twofaults] [coverage]
//
// Bugs are given by name, those planted in examples/planted and examples/twofaults by these
// directories; without any, all are looked for, and coverage is measured. It keeps the results of
// searches, so the page always has all of them. A search that is not run now has its last results.
// Like tools/compat it knows no more of Ariadne than its command line and its reports. Exit status
// 1: the default strategy misses a bug, or something is found where nothing is wrong.
//
// Read next: search.go, then planted.go and page.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// bug is a known bug in a program.
type bug struct {
	name   string
	what   string // a sentence for the page
	spec   string // below examples/
	mended string // the same system without the bug
}

var bugs = []bug{
	{"raftkv", "a write is acknowledged before a majority has it (planted)", "raftkv/raftkv-bug.yaml",
		"raftkv/raftkv.yaml"},
	{"paxos", "acceptors forget what they promised (planted)", "paxos/paxos-bug.yaml", "paxos/paxos-rivals.yaml"},
	{"etcd-watch", "etcd 3.5.15: a watch from the compacted revision misses its delete (etcd#18089; fixed in 3.5.16)",
		"etcd-watch/etcd-3.5.15.yaml", "etcd-watch/etcd-3.5.18.yaml"},
	{"hashicorp-raft", "hashicorp/raft 1.7.0: a follower refuses the pre-vote of the node that it takes for the leader (raft#606; fixed in 1.7.1)",
		"hashicorp-raft/raft-1.7.0.yaml", "hashicorp-raft/raft-1.7.1.yaml"},
}

// strategies are tried in this order. The first ones also search where the bug is
// mended, and for coverage.
var strategies = []string{"default", "random", "priorities", "slow", "walks", "rounds", "deviations", "novelty",
	"periphery",
	"dpor", "sleep-sets", "breadth-first", "depth-first"}

// before stands for the default strategy of another binary.
const before = "before"

const careful = 3 // strategies that also search where nothing should be found

// systems are searched for coverage only.
var systems = []string{"redis/replication.yaml", "etcd/etcd-3.5.yaml", "raftkv/raftkv.yaml"}

// coverageName asks for searches of systems, beside the names of bugs.
const coverageName = "coverage"

type options struct {
	ctx           context.Context
	ariadne, work string
	before        string // another binary, or ""
	seeds         int
	budget        time.Duration
	spans         []time.Duration // of searches for coverage
	fetch         bool
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	o := options{ctx: ctx}
	flag.StringVar(&o.ariadne, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.before, "before", "", "another binary, whose default strategy looks for bugs that take two faults, too")
	flag.StringVar(&o.work, "work", "ariadne-runs/results", "directory of runs and results")
	flag.IntVar(&o.seeds, "seeds", 3, "searches by each strategy, as long as it finds the bug")
	flag.DurationVar(&o.budget, "budget", 2*time.Minute, "real time of one search for a bug")
	flag.IntVar(&plantedFamily.seeds, "planted-seeds", 10, "searches for each planted bug by each strategy")
	flag.DurationVar(&plantedFamily.budget, "planted-budget", 20*time.Second,
		"real time of one search for a planted bug")
	flag.IntVar(&twoFaults.seeds, "twofaults-seeds", 3, "searches for each bug that takes two faults by each strategy")
	flag.DurationVar(&twoFaults.budget, "twofaults-budget", time.Minute, "real time of one search for such a bug")
	coverage := flag.String("coverage", "10s,1m", "real times of searches for coverage; empty: none")
	only := flag.String("strategies", strings.Join(strategies, ","), "strategies to try")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	search := flag.Bool("search", true, "search; otherwise only write the page of what was found before")
	page := flag.String("page", "docs/results/strategies.md", "the page to write")
	flag.Parse()
	wanted := flag.Args()
	var err error
	if *search {
		err = o.searchAll(*coverage, strings.Split(*only, ","), wanted)
	}
	ok := false
	if err == nil {
		ok, err = o.write(*page)
	}
	harness.End("results", ok, err)
}

// searchAll makes the searches that are wanted.
func (o *options) searchAll(coverage string, only, wanted []string) error {
	for _, name := range wanted {
		if name != coverageName && !slices.ContainsFunc(families, func(f *family) bool { return f.name == name }) &&
			!slices.ContainsFunc(bugs, func(b bug) bool { return b.name == name }) {
			return fmt.Errorf("no bug %q is known", name)
		}
	}
	for _, s := range strings.Split(coverage, ",") {
		if s == "" {
			continue
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return err
		}
		o.spans = append(o.spans, d)
	}
	if err := harness.Absolute(&o.ariadne, &o.work, &o.before); err != nil {
		return err
	}
	for _, b := range bugs {
		if len(wanted) > 0 && !slices.Contains(wanted, b.name) {
			continue
		}
		if err := o.look(b, only); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	for _, f := range families {
		if len(wanted) > 0 && !slices.Contains(wanted, f.name) {
			continue
		}
		if err := o.plant(f, only); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if len(wanted) == 0 || slices.Contains(wanted, coverageName) {
		return o.cover(only)
	}
	return nil
}

// write writes the page of all that is known. It says whether that is as it should be.
func (o *options) write(page string) (bool, error) {
	all, err := o.load()
	if err != nil {
		return false, err
	}
	if err := possible(all["coverage"]); err != nil {
		return false, err
	}
	return good(all), os.WriteFile(page, writePage(all), 0o644)
}
