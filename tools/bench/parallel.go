//go:build linux

package main

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// measureParallel measures how much faster a search that executes real nodes is on
// two processors than on one: the same exhaustive search of raftkv, from nothing, to
// the same set of global states, with as many workers as there are processors. And
// how much faster it is with two workers than with one when there are two processors
// both times; one worker leaves the second one to Go's collector and the store. parallel_replays is
// how many steps two workers replay over how many one replays.
func (b *bench) measureParallel() error {
	const spec, name = "examples/raftkv/raftkv.yaml", "parallel_speedup"
	if runtime.NumCPU() < 2 {
		b.missing = append(b.missing, name+": there is one processor only")
		return nil
	}
	if !b.fetch(spec) {
		return nil
	}
	var one, two, worker []float64  // seconds
	replayed := map[int][]float64{} // by workers
	digest := ""
	measure := func(processors, workers int) (float64, error) {
		r, err := onProcessors(processors, func() (*harness.Run, error) {
			return b.cold("check", spec, "--strategy", "deviations", "--deviations", "3", "--timers", "1", "--depth",
				"70",
				"--keep-going", "--time", "10m", "--jobs", fmt.Sprint(workers))
		})
		if err != nil {
			return 0, err
		}
		c := r.Coverage
		if !c.Exhausted || digest != "" && c.Digest != digest {
			return 0, fmt.Errorf("%s: a search by %d workers is not like another one: %+v", spec, workers, c)
		}
		digest = c.Digest
		if processors == workers {
			replayed[workers] = append(replayed[workers], float64(c.Replayed))
		}
		return r.RealTime.Seconds(), nil
	}
	for range b.repeat {
		for _, m := range []struct {
			processors, workers int
			times               *[]float64
		}{{1, 1, &one}, {2, 2, &two}, {2, 1, &worker}} {
			t, err := measure(m.processors, m.workers)
			if err != nil {
				return err
			}
			*m.times = append(*m.times, t)
		}
	}
	b.keep(name, "", ratios(one, two))
	b.keep(name+".workers_alone", "", ratios(worker, two))
	b.keep("parallel_replays", "", ratios(replayed[2], replayed[1]))
	return nil
}

// ratios divides each of a by that of b.
func ratios(a, b []float64) []float64 {
	var r []float64
	for i := range a {
		r = append(r, a[i]/b[i])
	}
	return r
}

// onProcessors calls f on a thread that, with the processes it starts, may use the
// first n processors of this one alone.
func onProcessors(n int, f func() (*harness.Run, error)) (r *harness.Run, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // it ends with the goroutine
		var all, set unix.CPUSet
		if err = unix.SchedGetaffinity(0, &all); err != nil {
			return
		}
		for i := 0; set.Count() < n; i++ {
			if all.IsSet(i) {
				set.Set(i)
			}
		}
		if err = unix.SchedSetaffinity(0, &set); err == nil {
			r, err = f()
		}
	}()
	<-done
	return r, err
}
