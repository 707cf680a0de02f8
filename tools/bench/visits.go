package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/use/debug"
)

// visited are the systems whose natural execution is debugged.
var visited = []struct{ name, spec string }{
	{"raftkv", "examples/raftkv/raftkv.yaml"},
	{"redis", "examples/redis/replication.yaml"},
	{"etcd", "examples/etcd/etcd-3.5.yaml"},
	{"raft", "examples/bugs/raft-demoted/raft-1.3.10.yaml"}, // 2,000 steps
	{"zookeeper", "examples/zookeeper/zookeeper.yaml"},
}

const (
	visits      = 200
	visitMemory = 1 << 30 // of the debugger and its nodes
)

// measureVisits measures how long the debugger takes to any step of an execution, and to show the
// threads of a node there: the median, and what 95 of 100 visits take at most.
func (b *bench) measureVisits() error {
	for _, s := range visited {
		if !b.fetch(s.spec) {
			continue
		}
		dir := filepath.Join(b.dir, "visited")
		r, err := b.ariadne.Cold(b.ctx, dir, "run", s.spec)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		times, err := b.visit(filepath.Join(dir, "trace.txt"))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		slices.Sort(times)
		b.keep("visit_ms."+s.name, "ms", times)
		b.keep("visit_ms_of_95."+s.name, "ms", []float64{times[len(times)*95/100]})
		b.keep("visited_steps."+s.name, "", []float64{float64(r.Steps)})
	}
	return nil
}

// visit goes to steps of a trace at random, and returns how long each visit took, in ms.
func (b *bench) visit(trace string) (times []float64, err error) {
	d, err := debug.OpenTrace(b.ctx, nil, trace,
		debug.Options{System: system.Options{Version: "bench"}, Memory: visitMemory, Force: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := d.Close(); err == nil {
			err = e
		}
	}()
	steps, r := d.Step(), rand.New(rand.NewPCG(1, 2))
	for range visits {
		began := time.Now()
		if err := d.Goto(1 + r.IntN(steps)); err != nil {
			return nil, err
		}
		if _, err := d.Execute("threads " + d.Names()[r.IntN(len(d.Names()))]); err != nil {
			return nil, err
		}
		times = append(times, float64(time.Since(began).Microseconds())/1000)
	}
	return times, nil
}
