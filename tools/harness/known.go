package harness

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Known is a window of a system's executions, some steps from a third of the natural schedule on,
// all of whose transitions a binary has made and remembered.
type Known struct {
	ariadne   *Ariadne
	out, spec string
	flags     []string
}

// Know explores the window. Its files go to the directory out, which is made empty first.
func (a *Ariadne) Know(ctx context.Context, out, spec string) (*Known, error) {
	natural, err := a.Cold(ctx, out, "run", spec)
	if err != nil {
		return nil, err
	}
	k := &Known{a, out, spec,
		[]string{"--keep-going", "--jobs", "1", "--from", strconv.Itoa(max(1, natural.Steps/3)), "--depth", "14",
			"--timers", "1"}}
	r, err := a.Cold(ctx, out, "check", spec, append(k.flags, "--strategy", "depth-first", "--time", "10m")...)
	if err == nil && !r.Coverage.Exhausted {
		err = fmt.Errorf("%s: not all of %v was explored: %s", spec, k.flags, r.Stopped)
	}
	return k, err
}

// Rate walks through the window for a time, by random choices, and returns how many remembered
// transitions a second that takes: with one worker, and all that a check does.
func (k *Known) Rate(ctx context.Context, d time.Duration) (float64, error) {
	r, err := k.ariadne.Run(ctx, k.out, "check", k.spec,
		append(k.flags, "--strategy", "walks", "--time", d.String())...)
	if err != nil {
		return 0, err
	}
	if r.Coverage.Executed > 0 || r.RealTime == 0 {
		return 0, fmt.Errorf("%s: %d transitions were not remembered, in %v", k.spec, r.Coverage.Executed, r.RealTime)
	}
	return float64(r.Coverage.Remembered) / r.RealTime.Seconds(), nil
}
