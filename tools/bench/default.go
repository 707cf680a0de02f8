package main

import (
	"fmt"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// longSystems are examples whose executions are long, by name. Their servers may crash once, and
// the network may be parted once.
var longSystems = []struct{ name, spec string }{
	{"raft", "examples/raftkv/raftkv.yaml"},
	{"pysyncobj", "examples/pysyncobj/pysyncobj.yaml"},
	{"nats", "examples/nats/nats.yaml"},
	{"etcd", "examples/etcd/etcd-3.5.yaml"},
	{"serf", "examples/serf/serf.yaml"},
	{"consul", "examples/consul/consul.yaml"},
	{"sentinel", "examples/redis/sentinel.yaml"},
	{"postgres", "examples/postgres/postgres.yaml"},
	{"zookeeper", "examples/zookeeper/zookeeper.yaml"},
}

// longFaults are what may go wrong there.
var longFaults = []string{"--faults", "none,crash:1,cut:1"}

// longRepeat is how often each is measured at most: they take minutes.
const longRepeat = 3

// measureDefault measures how many executions the default search completes of each of these systems
// in the time of -long, with one worker, and how many steps it takes over those of random, which
// neither freezes nor remembers anything. With -old it measures the executions of the other binary,
// too: one search of each after the other.
func (b *bench) measureDefault() error {
	was := *b.ariadne
	was.Binary = b.old
	for _, s := range longSystems {
		if !b.fetch(s.spec) {
			continue
		}
		var executions, old, ratios []float64
		for range min(b.repeat, longRepeat) {
			n, steps, err := b.long(b.ariadne, s.spec, "default", longFaults...)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			_, others, err := b.long(b.ariadne, s.spec, "random", longFaults...)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			executions, ratios = append(executions, n), append(ratios, steps/others)
			if b.old == "" {
				continue
			}
			if n, _, err = b.long(&was, s.spec, "default", longFaults...); err != nil {
				return fmt.Errorf("%s: %s: %w", s.name, b.old, err)
			}
			old = append(old, n)
		}
		b.keep("default_executions."+s.name, "", executions)
		b.keep("default_over_random_steps."+s.name, "", ratios)
		if len(old) > 0 {
			b.keep("default_executions_old."+s.name, "", old)
		}
	}
	return nil
}

// faulty are systems that are searched for hours, with the faults of their specs.
var faulty = []string{"etcd", "consul", "redis", "craft"}

// measureFaulty measures how many executions the default search completes of each of these systems
// in the time of -long, with one worker, and how many random executions are made of those of
// returning that are small. With another binary, of -old, it also measures over how many that one
// completes, by turns.
func (b *bench) measureFaulty() error {
	for _, name := range faulty {
		if err := b.measureCompleted("faulty", name, "examples/findings/"+name+".yaml", "default"); err != nil {
			return err
		}
	}
	for _, s := range returning[:3] {
		if err := b.measureCompleted("random", s.name, s.spec, "random", longFaults...); err != nil {
			return err
		}
	}
	return nil
}

// measureCompleted measures how many executions of a system a strategy completes.
func (b *bench) measureCompleted(kind, name, spec, strategy string, flags ...string) error {
	if !b.fetch(spec) {
		return nil
	}
	was := *b.ariadne
	was.Binary = b.old
	var executions, ratios []float64
	for range min(b.repeat, longRepeat) {
		n, _, err := b.long(b.ariadne, spec, strategy, flags...)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		executions = append(executions, n)
		if b.old == "" {
			continue
		}
		m, _, err := b.long(&was, spec, strategy, flags...)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, b.old, err)
		}
		ratios = append(ratios, n/max(m, 1))
	}
	b.keep(kind+"_executions."+name, "", executions)
	if len(ratios) > 0 {
		b.keep(kind+"_executions_ratio."+name, "", ratios)
	}
	return nil
}

// long searches a system.
func (b *bench) long(a *harness.Ariadne, spec, strategy string, flags ...string) (executions, steps float64,
	err error) {
	r, err := a.Cold(b.ctx, filepath.Join(b.dir, "run"), "check", spec, append([]string{"--strategy", strategy,
		"--time", b.longTime.String(), "--jobs", "1", "--keep-going"}, flags...)...)
	if err != nil {
		return 0, 0, err
	}
	return float64(r.Executions), float64(r.Steps), nil
}
