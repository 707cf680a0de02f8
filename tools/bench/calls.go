package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

//go:embed testdata/calls.c
var callsSource []byte

// kinds are the calls measured; clock_gettime_stop passes the vDSO by, clock_read,
// measured apart, does not.
var kinds = []string{"getppid", "pipe_read", "clock_gettime_stop", "epoll_wait"}

// measureCalls measures what one call costs: natively, under Ariadne, and under
// strace for comparison.
func (b *bench) measureCalls() error {
	source := filepath.Join(b.dir, "calls.c")
	if err := os.WriteFile(source, callsSource, 0o644); err != nil {
		return err
	}
	program := filepath.Join(b.dir, "calls")
	if out, err := b.command("gcc", "-O2", "-o", program, source).CombinedOutput(); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("calls: gcc: %v %s", err, out))
		return nil
	}
	const traced, native = 20_000, 2_000_000
	var ours, straces []float64
	for _, kind := range kinds {
		us, err := b.perCall(traced, b.underAriadne(kind))
		if err != nil {
			return err
		}
		b.keep("emulated_call_us."+kind, "µs", us)
		ours = append(ours, median(us))
		us, err = b.perCall(native, b.under(program, kind))
		if err != nil {
			return err
		}
		b.keep("native_call_us."+kind, "µs", us)
		if _, err := exec.LookPath("strace"); err != nil {
			continue
		}
		us, err = b.perCall(traced, b.under("strace", "-f", "-o", "/dev/null", program, kind))
		if err != nil {
			return err
		}
		b.keep("strace_call_us."+kind, "µs", us)
		straces = append(straces, median(us))
	}
	b.keep("emulated_call_us", "µs", ours)
	if len(straces) > 0 {
		var ratios []float64
		for i := range ours {
			ratios = append(ratios, straces[i]/ours[i])
		}
		b.keep("strace_ratio", "", ratios)
	} else {
		b.missing = append(b.missing, "strace_ratio: strace is not installed")
	}
	clock, err := b.perCall(native, b.underAriadne("clock_read"))
	if err != nil {
		return err
	}
	b.keep("clock_read_us", "µs", clock)
	nativeClock, err := b.perCall(native, b.under(program, "clock_read"))
	if err == nil {
		b.keep("native_clock_read_us", "µs", nativeClock)
	}
	return err
}

// timed runs a program that makes count calls, and says how long it took.
type timed func(count int) (time.Duration, error)

// perCall is the time of one call in microseconds: that of many, less that of none.
func (b *bench) perCall(count int, run timed) ([]float64, error) {
	return b.repeated(func() (float64, error) {
		none, err := run(0)
		if err != nil {
			return 0, err
		}
		all, err := run(count)
		return float64(all-none) / float64(count) / 1e3, err
	})
}

// under runs a command whose last argument is the count.
func (b *bench) under(args ...string) timed {
	return func(count int) (time.Duration, error) {
		cmd := b.command(args[0], append(args[1:], strconv.Itoa(count))...)
		begin := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%v: %w\n%s", args, err, out)
		}
		return time.Since(begin), nil
	}
}

// underAriadne runs the same as the only node of a system.
func (b *bench) underAriadne(kind string) timed {
	return func(count int) (time.Duration, error) {
		path := filepath.Join(b.dir, "calls.yaml")
		text := fmt.Sprintf("nodes: [{command: ./calls %s %d}]\nlimits: {calls: 100000000, divergence: 5m}\n", kind, count)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return 0, err
		}
		r, err := b.cold("run", path)
		if err != nil {
			return 0, err
		}
		if r.ExitStatus != 0 {
			return 0, fmt.Errorf("calls %s: %s", kind, r.Outcome)
		}
		return r.RealTime, nil
	}
}
