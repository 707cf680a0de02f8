package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// measure is what is counted per second. new begins to measure a system; nothing is kept from one
// system to the next.
type measure struct {
	name string
	new  func(o *options, spec string) rate
}

// rate measures a binary once; its files go below dir.
type rate func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error)

var measures = []measure{
	{"executions", func(o *options, spec string) rate {
		return o.cold(spec, "random", func(r *harness.Run) int { return r.Executions })
	}},
	{"transitions", func(o *options, spec string) rate {
		return o.cold(spec, "default", func(r *harness.Run) int { return r.Coverage.Executed })
	}},
	{"remembered", (*options).remembered},
}

// cold is the rate of checks by a strategy that remember nothing from before.
func (o *options) cold(spec, strategy string, count func(*harness.Run) int) rate {
	return func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error) {
		r, err := a.Cold(ctx, filepath.Join(dir, strategy), "check", spec, "--keep-going", "--jobs", o.jobs,
			"--strategy", strategy, "--time", o.time.String())
		if err != nil {
			return 0, err
		}
		if r.Outcome == harness.ToolBug || r.RealTime == 0 {
			return 0, fmt.Errorf("%s after %v: %q", r.Outcome, r.RealTime, r.Bugs)
		}
		return float64(count(r)) / r.RealTime.Seconds(), nil
	}
}

// remembered explores a window of the executions when a binary is first asked.
func (o *options) remembered(spec string) rate {
	known := map[*harness.Ariadne]*harness.Known{}
	return func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error) {
		if known[a] == nil {
			k, err := a.Know(ctx, filepath.Join(dir, "window"), spec)
			if err != nil {
				return 0, err
			}
			known[a] = k
		}
		return known[a].Rate(ctx, o.time)
	}
}

// rounded measures both binaries in turns; the one that begins changes from round to round.
func (o *options) rounded(ctx context.Context, spec string, m measure) (old, new []float64, err error) {
	of := m.new(o, spec)
	sides := []struct {
		ariadne *harness.Ariadne
		dir     string
		to      *[]float64
	}{{&o.old, filepath.Join(o.work, "old"), &old}, {&o.new, filepath.Join(o.work, "new"), &new}}
	for _, s := range sides {
		if err := os.RemoveAll(s.dir); err != nil {
			return nil, nil, err
		}
	}
	for i := range o.rounds {
		for j := range sides {
			s := sides[(i+j)%2]
			v, err := of(ctx, s.ariadne, s.dir)
			if err == nil && v == 0 {
				err = errors.New("nothing was done: more seconds are needed")
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", s.ariadne.Binary, err)
			}
			*s.to = append(*s.to, v)
		}
	}
	return old, new, nil
}
