package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// returning are examples whose nodes are brought back to checkpoints all the time, by name.
var returning = []struct{ name, spec string }{
	{"raftkv", "examples/raftkv/raftkv.yaml"},
	{"redis", "examples/redis/replication.yaml"},
	{"etcd", "examples/etcd/one-write.yaml"},
	{"memcached", "examples/memcached/memcached.yaml"},
	{"postgres", "examples/postgres/postgres.yaml"},
	{"zookeeper", "examples/zookeeper/zookeeper.yaml"},
}

// measureCheckpoints measures how many transitions that nobody has seen a breadth-first search
// makes in a second, with one worker, over how many it makes where nodes go back to checkpoints
// only in copies of processes; with another binary, of -old, also over how many that one makes.
// measureKept is a part of it.
func (b *bench) measureCheckpoints() error {
	was := *b.ariadne
	was.Binary = b.old
	for _, s := range returning {
		if !b.fetch(s.spec) {
			continue
		}
		var rates, overCopies, overOld []float64
		for range b.repeat {
			in, err := b.newTransitions(b.ariadne, s.spec)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			copies, err := b.newTransitions(b.ariadne, s.spec, "--copies")
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rates, overCopies = append(rates, in), append(overCopies, in/copies)
			if b.old == "" {
				continue
			}
			old, err := b.newTransitions(&was, s.spec)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.name, b.old, err)
			}
			overOld = append(overOld, in/old)
		}
		b.keep("new_transitions_per_s."+s.name, "1/s", rates)
		b.keep("new_transition_ratio_copies."+s.name, "", overCopies)
		if len(overOld) > 0 {
			b.keep("new_transition_ratio."+s.name, "", overOld)
		}
	}
	return b.measureKept()
}

// kept are examples of which it is measured how large checkpoints are.
var kept = []string{"raftkv", "etcd"}

// measureKept measures how much memory a checkpoint holds when it is made, and how many of them a
// breadth-first search keeps that may take a gigabyte for all.
func (b *bench) measureKept() error {
	for _, s := range returning {
		if !slices.Contains(kept, s.name) || !b.fetch(s.spec) {
			continue
		}
		var kilobytes, most []float64
		for range b.repeat {
			r, err := b.cold("check", s.spec, "--strategy", "breadth-first", "--time", b.longTime.String(),
				"--jobs", "1", "--keep-going", "--memory", "1G", "--checkpoints", "1000000")
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if r.Coverage == nil || r.Coverage.Kept == 0 {
				return fmt.Errorf("%s: no checkpoint was kept in %v", s.spec, b.longTime)
			}
			kilobytes = append(kilobytes, r.Coverage.CheckpointKB)
			most = append(most, float64(r.Coverage.Kept))
		}
		b.keep("checkpoint_kb."+s.name, "KB", kilobytes)
		b.keep("checkpoints_per_gb."+s.name, "", most)
	}
	return nil
}

// newTransitions is how many are made in a second. The time of loading the programs is part of it,
// and none that is spent on what comes after the search.
func (b *bench) newTransitions(a *harness.Ariadne, spec string, flags ...string) (perSecond float64, err error) {
	flags = append([]string{"--strategy", "breadth-first", "--time", b.budget.String(), "--jobs", "1", "--keep-going"},
		flags...)
	if a == b.ariadne { // old binaries may not know it, and keep nothing for the next check
		flags = append(flags, "--fresh")
	}
	r, err := a.Cold(b.ctx, filepath.Join(b.dir, "run"), "check", spec, flags...)
	if err != nil {
		return 0, err
	}
	if r.Coverage == nil || r.Coverage.Executed == 0 {
		return 0, fmt.Errorf("%s: no transition was made in %v", spec, b.budget)
	}
	return float64(r.Coverage.Executed) / r.RealTime.Seconds(), nil
}

// still are examples of which it is measured how often a step leaves memory as it was, besides
// those of returning.
var still = []struct{ name, spec string }{
	{"nats", "examples/nats/nats.yaml"},
	{"pysyncobj", "examples/pysyncobj/pysyncobj.yaml"},
	{"consul", "examples/consul/consul.yaml"},
	{"serf", "examples/serf/serf.yaml"},
}

// measureUnchanged measures in how many steps of a breadth-first search no page of the node's
// processes gets another content, of those in which pages were compared. Segments without data are
// left out, which the kernel alone takes.
func (b *bench) measureUnchanged() error {
	for _, s := range slices.Concat(returning, still) {
		if !b.fetch(s.spec) {
			continue
		}
		shares, err := b.repeated(func() (float64, error) {
			r, err := b.cold("check", s.spec, "--strategy", "breadth-first", "--time", b.budget.String(),
				"--jobs", "1", "--keep-going", "--fresh")
			if err != nil {
				return 0, err
			}
			if r.Coverage == nil || r.Coverage.Compared == 0 {
				return -1, nil
			}
			return float64(r.Coverage.Unchanged) / float64(r.Coverage.Compared), nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if slices.Contains(shares, -1) {
			b.missing = append(b.missing,
				fmt.Sprintf("unchanged_memory.%s: no memory was compared in %v", s.name, b.budget))
			continue
		}
		b.keep("unchanged_memory."+s.name, "", shares)
	}
	return nil
}
