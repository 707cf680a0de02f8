package main

import (
	"strconv"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// exposing are systems of which functions and variables are exposed by their debug information, and
// the same ones without that.
var exposing = []struct{ name, without, with string }{
	{"etcd", "examples/etcd/one-write.yaml", "examples/etcd/functions.yaml"},
	{"redis", "examples/redis-source/replication.yaml", "examples/redis-source/functions.yaml"},
	{"craft", "examples/craft/craft.yaml", "examples/craft/functions.yaml"},
}

// measureExposing measures what looking into programs costs of the processor time of a step, and
// what to read their debug information does, which is done once: random executions with and without
// it take turns. Many executions differ from few by their steps.
func (b *bench) measureExposing() error {
	const few, many = 2, 22
	for _, e := range exposing {
		if !b.fetch(e.without) {
			continue
		}
		var overhead, reading []float64
		for range b.repeat {
			var step, began [2]float64
			for i, spec := range []string{e.without, e.with} {
				var runs [2]*harness.Run
				for k, n := range []int{few, many} {
					var err error
					if runs[k], err = b.cold("check", spec, "--strategy", "random", "--keep-going", "--jobs", "1",
						"--time", "1h", "--executions", strconv.Itoa(n)); err != nil {
						return err
					}
				}
				step[i] = (runs[1].All - runs[0].All).Seconds() / float64(runs[1].Steps-runs[0].Steps)
				began[i] = runs[0].All.Seconds()
			}
			overhead = append(overhead, step[1]/step[0]-1)
			reading = append(reading, began[1]-began[0])
		}
		b.keep("expose_overhead."+e.name, "", overhead)
		b.keep("expose_reading_s."+e.name, "s", reading)
	}
	return nil
}
