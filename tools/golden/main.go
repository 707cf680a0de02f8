// Command golden holds one binary of Ariadne to what another one did: it records what the systems
// of examples/ do in golden files, and compares.
//
//	go run ./tools/golden -ariadne OLD -write DIR [spec...]
//	go run ./tools/golden -ariadne NEW -check DIR [spec...]
//
// Specs are given by their path below examples/ ("etcd/etcd-3.5.yaml") or its folder; without any,
// all are run. Of each the natural run is recorded step by step: name, time, calls, messages, log
// lines. Of the small ones also what searches in memory count, within bounds that they come to
// without looking at a clock. Digests are not recorded: what they are made of may change.
//
// Nothing is compared from a step on in which a thread was preempted, since that depends on real
// time, nor where a system's programs are others than those recorded; both are said.
//
// Exit status: 1 when something differs, 2 when a system that can run could not be recorded.
//
// Read next: record.go, then compare.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

type options struct {
	ariadne  harness.Ariadne
	examples string
	work     string // for run directories
	fetch    bool
	searches bool
}

func main() {
	var o options
	flag.StringVar(&o.ariadne.Binary, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&o.examples, "examples", "examples", "directory of the specs")
	flag.DurationVar(&o.ariadne.Limit, "limit", 2*time.Minute, "real time of one command")
	flag.BoolVar(&o.fetch, "fetch", true, "run the fetch scripts first")
	flag.BoolVar(&o.searches, "searches", true, "search the small systems too")
	write := flag.String("write", "", "record golden files in this directory")
	check := flag.String("check", "", "compare with the golden files in this directory")
	flag.Parse()
	if (*write == "") == (*check == "") {
		fmt.Fprintln(os.Stderr, "golden: one of -write DIR and -check DIR is wanted")
		os.Exit(2)
	}
	ctx, stop := child.UntilAsked()
	defer stop()
	status, err := o.all(ctx, *write, *check, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		status = 2
	}
	os.Exit(status)
}

// all records or compares the wanted specs, and returns the exit status.
func (o *options) all(ctx context.Context, write, check string, wanted []string) (int, error) {
	specs, err := o.specs(wanted)
	if err != nil {
		return 0, err
	}
	if o.work, err = os.MkdirTemp("", "golden"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(o.work)
	fetched := map[string]error{} // by folder
	different, failed, skipped := 0, 0, 0
	for _, spec := range specs {
		say := func(format string, args ...any) { fmt.Printf("%-32s %s\n", spec, fmt.Sprintf(format, args...)) }
		folder := filepath.Dir(spec)
		if _, done := fetched[folder]; o.fetch && !done {
			fetched[folder] = harness.Fetch(ctx, filepath.Join(o.examples, spec))
		}
		if err := fetched[folder]; err != nil {
			skipped++
			say("skipped: not fetched: %s", firstLine(err))
			continue
		}
		file := filepath.Join(write+check, strings.TrimSuffix(spec, ".yaml")+".golden")
		want, err := load(file)
		if check != "" && errors.Is(err, os.ErrNotExist) {
			skipped++
			say("skipped: no golden file")
			continue
		}
		if check != "" && err != nil {
			return 0, err
		}
		began := time.Now()
		got, err := o.record(ctx, spec)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		var cannot *cannotRun
		switch took := time.Since(began).Round(100 * time.Millisecond); {
		case errors.As(err, &cannot):
			skipped++
			say("skipped: %s", firstLine(err))
		case err != nil:
			failed++
			say("failed: %v", err)
		case write != "":
			if err := got.save(file); err != nil {
				return 0, err
			}
			say("%s (%v)", got.summary(), took)
		default:
			c := compare(want, got)
			say("%s (%v)", c.verdict(), took)
			for _, line := range c.lines {
				fmt.Println("  " + line)
			}
			if c.different {
				different++
			}
		}
	}
	fmt.Printf("%d specs: %d differ, %d failed, %d skipped\n", len(specs), different, failed, skipped)
	switch {
	case different > 0:
		return 1, nil
	case failed > 0:
		return 2, nil
	}
	return 0, nil
}

// specs are the wanted ones below the examples, by path, or all.
func (o *options) specs(wanted []string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(o.examples, "*", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all, chosen []string
	for _, f := range files {
		spec, err := filepath.Rel(o.examples, f)
		if err != nil {
			return nil, err
		}
		all = append(all, spec)
	}
	if len(wanted) == 0 {
		return all, nil
	}
	for _, w := range wanted {
		some := slices.DeleteFunc(slices.Clone(all), func(spec string) bool {
			return spec != w && filepath.Dir(spec) != filepath.Clean(w)
		})
		if len(some) == 0 {
			return nil, fmt.Errorf("no spec %q below %s", w, o.examples)
		}
		chosen = append(chosen, some...)
	}
	return chosen, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}
