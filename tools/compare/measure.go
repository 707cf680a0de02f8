package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"ariadne/tools/harness"
)

// measure is a rate. prepare makes ready one binary, whose files are in dir, and of returns one
// measurement.
type measure struct {
	name    string
	prepare func(o *options, ctx context.Context, spec string) (rate, error)
}

// rate measures a binary once.
type rate func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error)

var measures = []measure{
	{"executions", func(o *options, _ context.Context, spec string) (rate, error) {
		return func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error) {
			r, err := o.check(ctx, a, filepath.Join(dir, "random"), spec, "--strategy", "random", "--time", o.time.String())
			if err != nil {
				return 0, err
			}
			return float64(r.Executions) / r.RealTime, nil
		}, nil
	}},
	{"transitions", func(o *options, _ context.Context, spec string) (rate, error) {
		return func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error) {
			r, err := o.check(ctx, a, filepath.Join(dir, "default"), spec, "--strategy", "default", "--time", o.time.String())
			if err != nil {
				return 0, err
			}
			return float64(r.Coverage.Executed) / r.RealTime, nil
		}, nil
	}},
	{"remembered", (*options).remembered},
}

// check runs a check that remembers nothing from before.
func (o *options) check(ctx context.Context, a *harness.Ariadne, out, spec string, flags ...string) (*harness.Run, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	return o.again(ctx, a, out, spec, flags...)
}

// again runs a check that finds what one in the same directory has remembered.
func (o *options) again(ctx context.Context, a *harness.Ariadne, out, spec string, flags ...string) (*harness.Run, error) {
	r, err := a.Run(ctx, out, "check", spec, append([]string{"--keep-going", "--jobs", o.jobs}, flags...)...)
	if err == nil && r.Outcome == harness.ToolBug {
		err = fmt.Errorf("%s: %q", r.Outcome, r.Bugs)
	}
	if err == nil && r.RealTime == 0 {
		err = errors.New("a check took no time")
	}
	return r, err
}

// remembered prepares walks in a window of the executions, from a third of the natural schedule on,
// all of whose transitions were made and remembered before.
func (o *options) remembered(ctx context.Context, spec string) (rate, error) {
	natural, err := o.old.Cold(ctx, filepath.Join(o.work, "natural"), "run", spec)
	if err != nil {
		return nil, err
	}
	window := []string{"--from", strconv.Itoa(max(1, natural.Steps/3)), "--depth", "14", "--timers", "1"}
	return func(ctx context.Context, a *harness.Ariadne, dir string) (float64, error) {
		out := filepath.Join(dir, "window")
		if _, err := os.Stat(out); errors.Is(err, os.ErrNotExist) {
			r, err := o.check(ctx, a, out, spec, append([]string{"--strategy", "depth-first", "--time", "10m"}, window...)...)
			if err != nil {
				return 0, err
			}
			if !r.Coverage.Exhausted {
				return 0, fmt.Errorf("not all of %v was explored: %s", window, r.Stopped)
			}
		}
		r, err := o.again(ctx, a, out, spec, append([]string{"--strategy", "walks", "--time", o.time.String()}, window...)...)
		if err != nil {
			return 0, err
		}
		if r.Coverage.Executed > 0 {
			return 0, fmt.Errorf("%d transitions were not remembered", r.Coverage.Executed)
		}
		return float64(r.Coverage.Remembered) / r.RealTime, nil
	}, nil
}

// rounded measures both binaries in turns; the one that begins changes from round to round.
func (o *options) rounded(ctx context.Context, spec string, m measure) (old, new []float64, err error) {
	of, err := m.prepare(o, ctx, spec)
	if err != nil {
		return nil, nil, err
	}
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
