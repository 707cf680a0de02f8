package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// measureParallel measures how much faster a search that executes real nodes is with
// an executor on each of two processors than with one: the same exhaustive search of
// raftkv, from nothing, to the same set of global states.
func (b *bench) measureParallel() error {
	const spec, name = "examples/raftkv/raftkv.yaml", "parallel_speedup"
	if runtime.NumCPU() < 2 {
		b.missing = append(b.missing, name+": there is one processor only")
		return nil
	}
	if !b.fetch(spec) {
		return nil
	}
	speedups, err := b.repeated(func() (float64, error) {
		var times [2]float64
		digest := ""
		for i := range times {
			if err := os.RemoveAll(filepath.Join(b.dir, "run")); err != nil { // with what is remembered
				return 0, err
			}
			r, err := b.report("check", spec, "--strategy", "deviations", "--deviations", "2", "--timers", "1", "--depth", "70",
				"--keep-going", "--time", "10m", "--jobs", fmt.Sprint(i+1))
			if err != nil {
				return 0, err
			}
			c := r.Coverage
			if !c.Exhausted || i > 0 && c.Digest != digest {
				return 0, fmt.Errorf("%s: a search with %d executors is not like one with 1: %+v", spec, i+1, c)
			}
			digest, times[i] = c.Digest, r.RealTime
		}
		return times[0] / times[1], nil
	})
	if err == nil {
		b.keep(name, "", speedups)
	}
	return err
}
