package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// probed are the systems of which the default search is measured, and after how many executions it
// ends. With few of them the figure says little: one path more of a strategy whose paths are long
// changes it by a tenth.
var probed = []struct {
	name, spec string
	executions int
}{
	{"raftkv", "examples/raftkv/raftkv.yaml", 100},
	{"redis", "examples/redis/replication.yaml", 100},
	{"etcd", "examples/etcd/one-write.yaml", 100},
	{"zookeeper", "examples/zookeeper/zookeeper.yaml", 30},
}

// measureClocks measures what it costs that the default search tries messages at other times: how
// many transitions it executes over those that are on its paths, and how long a number of
// executions takes over as many where it tries no other times. The time has the paths of late in
// it, too.
func (b *bench) measureClocks() error {
	for _, s := range probed {
		if !b.fetch(s.spec) {
			continue
		}
		var costs, times []float64
		for range b.repeat {
			with, err := b.probing(s.spec, s.executions, "some")
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			without, err := b.probing(s.spec, s.executions, "none")
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			costs = append(costs, with.executed/with.onPaths)
			times = append(times, with.seconds/without.seconds)
		}
		b.keep("probing_cost."+s.name, "", costs)
		b.keep("probing_time."+s.name, "", times)
	}
	return nil
}

// effort is what a search has taken: transitions that were executed, those of them that are on its
// paths, and real time.
type effort struct{ executed, onPaths, seconds float64 }

// probing executes a default search with one worker, which tries these messages at other times.
func (b *bench) probing(spec string, executions int, messages string) (e effort, err error) {
	r, err := b.ariadne.Cold(b.ctx, filepath.Join(b.dir, "run"), "check", spec, "--strategy", "default", "--executions",
		strconv.Itoa(executions),
		"--jobs", "1", "--keep-going", "--fresh", "--probe-clocks="+messages)
	if err != nil {
		return e, err
	}
	if r.Coverage == nil {
		return e, fmt.Errorf("%s: no transition was made", spec)
	}
	for _, s := range r.Coverage.Strategies {
		e.onPaths += float64(s.Transitions)
	}
	if e.onPaths == 0 {
		return e, fmt.Errorf("%s: no transition is on a path", spec)
	}
	e.executed, e.seconds = float64(r.Coverage.Executed), r.RealTime.Seconds()
	return e, nil
}
