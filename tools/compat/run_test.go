package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// TestShort holds a few targets to what the page says of all: it is the part of
// `make compat` that continuous integration has the time for.
func TestShort(t *testing.T) {
	hold(t, options{runs: 5, walks: 5}, func(target *target) bool { return target.Short })
}

func TestLong(t *testing.T) {
	if os.Getenv("ARIADNE_LONG") == "" {
		t.Skip("long: set ARIADNE_LONG=1")
	}
	hold(t, options{runs: 5, walks: 20}, func(target *target) bool { return true })
}

func hold(t *testing.T, o options, chosen func(*target) bool) {
	dir := t.TempDir()
	o.list, o.ariadne, o.work = list, filepath.Join(dir, "ariadne"), filepath.Join(dir, "work")
	o.patience, o.fetch = 10*time.Minute, true
	o.ctx = t.Context()
	if err := harness.Build("../..", o.ariadne); err != nil {
		t.Fatal(err)
	}
	if err := (&harness.Ariadne{Binary: o.ariadne}).Possible(); err != nil {
		t.Skip(err)
	}
	if err := o.prepare(); err != nil {
		t.Fatal(err)
	}
	targets, err := readTargets(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if !chosen(target) {
			continue
		}
		t.Run(target.name(), func(t *testing.T) {
			results, err := o.measure(target)
			if err != nil {
				t.Fatal(err)
			}
			r := results[0]
			if !r.Fetched {
				t.Skip("its programs could not be fetched")
			}
			if !r.good(target) {
				t.Errorf("%s\n%s%s\n%+v", r.verdict(target), r.RunDifference, r.ReplayDifference, r.Walks.Violations)
			}
		})
	}
}
