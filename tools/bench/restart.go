package main

import (
	"fmt"
	"strconv"
)

// restarting are the examples whose machines stop and start again: one server each, which writes
// what it acknowledges to its disk.
var restarting = []string{"redis", "etcd", "postgres"}

// The machines may stop within so many steps from the client's first write.
const (
	restartFrom  = "/^wrote 0/"
	restartSteps = 30
)

// measureRestarts measures what a machine's stop costs: how long it takes, by real time, until it
// serves again; how many states that a stop leaves are one disk, when the machine stops once at
// each place within a number of steps; and how many executions with a stop the default search makes
// in a second from there.
func (b *bench) measureRestarts() error {
	for _, name := range restarting {
		spec := "examples/restart/" + name + ".yaml"
		if !b.fetch(spec) {
			continue
		}
		var ready []float64
		for range b.repeat {
			lines, err := b.goBenchmark("./internal/machine/node", "BenchmarkRestart/"+name+"$", "20x")
			if err != nil {
				return err
			}
			µs, ok := lines["BenchmarkRestart/"+name]["ready-µs"]
			if !ok {
				return fmt.Errorf("benchmark of %s: no figure for its restart", name)
			}
			ready = append(ready, µs/1e3)
		}
		b.keep("restart_ms."+name, "ms", ready)
		r, err := b.cold("check", spec, "--strategy", "deviations", "--deviations", "1", "--from", restartFrom,
			"--depth", strconv.Itoa(restartSteps), "--keep-going", "--time", "1h")
		if err != nil {
			return err
		}
		if c := r.Coverage; !c.Exhausted || c.Disks == 0 {
			return fmt.Errorf("%s: %s, %d stops leave %d disks", spec, r.Outcome, c.Stopped, c.Disks)
		}
		b.keep("restart_sharing."+name, "", []float64{float64(r.Coverage.Stopped) / float64(r.Coverage.Disks)})
		faulty, err := b.repeated(func() (float64, error) {
			r, err := b.cold("check", spec, "--strategy", "default", "--from", restartFrom, "--keep-going",
				"--executions", "100", "--time", (6 * b.budget).String())
			if err != nil {
				return 0, err
			}
			n := 0
			for _, f := range r.Coverage.Faults {
				n += f.Executions
			}
			return float64(n) / r.RealTime.Seconds(), nil
		})
		if err != nil {
			return err
		}
		b.keep("faulty_executions_per_s."+name, "1/s", faulty)
	}
	return nil
}
