package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// living are the systems of MaceMC's figure 2, here: those in which something must happen and does.
var living = []struct{ name, spec string }{
	{"tree", "tree/eventually.yaml"},
	{"ring", "ring/ranges.yaml"},
	{"transport", "transport/syn.yaml"},
	{"primarybackup", "primarybackup/prepared.yaml"},
	{"election", "election/recovery.yaml"},
	{"mps", "mps/stuck.yaml"},
}

// weightings are how random choices of walks are biased.
var weightings = []struct{ name, weights string }{
	{"unbiased", ""},
	{"messages", "deliver=10"},
	{"timers", "timer=10"},
}

const (
	live      = "live" // what the part is called
	liveSeeds = 10     // checks of each system, each of which takes 30 walks
)

// live draws after how many steps walks come to their first live state: from states of the natural
// schedule, without faults, as checks sample them to find out how long walks are to be. The cost of
// biased ones is written beside it.
func (f *figures) live() error {
	table := "weights,system,walks,median,nine_of_ten,most\n"
	plot := coverage.Plot{Title: "first live state", XName: "steps, and one more", YName: "walks of a hundred"}
	for _, w := range weightings {
		for _, s := range living {
			steps, err := f.sampled(filepath.Join(filepath.Dir(f.examples), s.spec), w.weights)
			if err != nil {
				return err
			}
			table += fmt.Sprintf("%s,%s,%d,%d,%d,%d\n", w.name, s.name, len(steps), steps[len(steps)/2],
				steps[len(steps)*9/10], steps[len(steps)-1])
			if w.weights == "" {
				plot.Series = append(plot.Series, distribution(s.name, steps))
			}
		}
	}
	return cmp.Or(write(filepath.Join(f.out, "live.svg"), &plot),
		os.WriteFile(filepath.Join(f.out, "live.csv"), []byte(table), 0o644))
}

// sampled returns how many steps walks of a system took, in order.
func (f *figures) sampled(spec, weights string) (steps []int, err error) {
	if err := harness.Fetch(f.ctx, spec); err != nil {
		return nil, err
	}
	for seed := range liveSeeds {
		flags := []string{"--strategy", "default", "--executions", "2", "--jobs", "1", "--seed", fmt.Sprint(seed)}
		if weights != "" {
			flags = append(flags, "--weights", weights)
		}
		r, err := f.ariadne.Cold(f.ctx, filepath.Join(f.work, live), "check", spec, flags...)
		if err != nil {
			return nil, err
		}
		if r.Outcome != harness.Nothing || r.Coverage == nil || r.Coverage.Liveness == nil {
			return nil, fmt.Errorf("%s: %s: %s", spec, r.Outcome, strings.Join(append(r.Doubts, r.Bugs...), "; "))
		}
		steps = append(steps, r.Coverage.Liveness.Sampled...)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: no walk was live", spec)
	}
	slices.Sort(steps)
	return steps, nil
}

// distribution is which share of walks was live by a number of steps. Since the axis is
// logarithmic, one step more is drawn.
func distribution(name string, steps []int) coverage.Series {
	s := coverage.Series{Name: name}
	for i, n := range steps {
		if i+1 == len(steps) || steps[i+1] != n {
			s.X, s.Y = append(s.X, float64(n+1)), append(s.Y, 100*float64(i+1)/float64(len(steps)))
		}
	}
	return s
}
