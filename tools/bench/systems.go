package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// systems are the examples whose checks are measured, by name.
var systems = []struct{ name, spec string }{
	{"raftkv", "examples/raftkv/raftkv.yaml"},
	{"redis", "examples/redis/replication.yaml"},
	{"etcd", "examples/etcd/etcd-3.5.yaml"},
}

// idle is a system of etcd's that nobody talks to.
//
//go:embed testdata/idle.yaml
var idle []byte

// measureSystems measures what checks get through, by whole executions and by the default search,
// and what Ariadne itself takes of memory meanwhile.
func (b *bench) measureSystems() error {
	for _, s := range systems {
		if !b.fetch(s.spec) {
			continue
		}
		var executions, events, random, explored []float64
		for range b.repeat {
			r, err := b.cold("check", s.spec, "--strategy", "random", "--time", b.budget.String(), "--keep-going")
			if err != nil {
				return err
			}
			executions = append(executions, float64(r.Executions)/r.RealTime.Seconds())
			events = append(events, float64(r.Steps)/r.RealTime.Seconds())
			random = append(random, r.MemoryMB)
			if r, err = b.cold("check", s.spec, "--strategy", "default", "--time", b.budget.String(),
				"--keep-going"); err != nil {
				return err
			}
			explored = append(explored, r.MemoryMB)
		}
		b.keep("executions_per_s."+s.name, "1/s", executions)
		b.keep("events_per_s."+s.name, "1/s", events)
		b.keep("supervisor_mb.random."+s.name, "MB", random)
		b.keep("supervisor_mb.default."+s.name, "MB", explored)
	}
	return b.measureIdle()
}

// measureIdle measures how fast virtual time passes where little happens. etcd
// has been fetched by now, if it can be had.
func (b *bench) measureIdle() error {
	program, err := os.ReadFile("examples/etcd/bin/etcd")
	if err != nil {
		b.missing = append(b.missing, "virtual_over_real.etcd_idle: "+err.Error())
		return nil
	}
	path := filepath.Join(b.dir, "idle.yaml")
	if err := errors.Join(os.WriteFile(path, idle, 0o644),
		os.WriteFile(filepath.Join(b.dir, "etcd"), program, 0o755)); err != nil {
		return err
	}
	ratios, err := b.repeated(func() (float64, error) {
		r, err := b.cold("run", path)
		if err != nil {
			return 0, err
		}
		return float64(r.VirtualTime) / float64(r.RealTime), nil
	})
	if err == nil {
		b.keep("virtual_over_real.etcd_idle", "", ratios)
	}
	return err
}

// fetch brings the programs of an example.
func (b *bench) fetch(spec string) bool {
	b.progress.now("fetching " + spec)
	if err := harness.Fetch(b.ctx, spec); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("%s: %v", spec, err))
		return false
	}
	return true
}

// cold runs ariadne with nothing remembered from before. Any result is fine.
func (b *bench) cold(verb, spec string, flags ...string) (*harness.Run, error) {
	return b.ariadne.Cold(b.ctx, filepath.Join(b.dir, "run"), verb, spec, flags...)
}
