package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// systemToAudit is an example whose transitions are executed twice. late is a step of the natural
// execution from which faults are tried.
type systemToAudit struct {
	name, spec string
	late       int
}

// audited are systems in C, Go, Python and Java.
var audited = []systemToAudit{
	{"redis", "examples/redis/replication.yaml", 30},
	{"etcd", "examples/etcd/etcd-3.5.yaml", 100},
	{"nats", "examples/nats/nats.yaml", 100},
	{"zookeeper", "examples/zookeeper/zookeeper.yaml", 100},
	{"raftkv", "examples/raftkv/raftkv.yaml", 100},
	{"memcached", "examples/memcached/memcached.yaml", 10},
	{"postgres", "examples/postgres/postgres.yaml", 100},
	{"consul", "examples/consul/consul.yaml", 100},
	{"craft", "examples/craft/craft.yaml", 100},
	{"pysyncobj", "examples/pysyncobj/pysyncobj.yaml", 100},
}

// auditedFaults are the faults of an audit: programs that are ended and begin again, machines that
// stop or lose their power, and partitions.
const auditedFaults = "none,crash,stop,cut,power,kill"

// auditSearches are the searches whose transitions are executed twice. tenths is how many tenths of
// the transitions of a system each of them has at least. A breadth-first search goes back to a
// checkpoint for nearly each transition, and the second execution is always that of a copy. So the
// first search compares nodes that went back in place with copies.
var auditSearches = []struct {
	name   string
	tenths int
	flags  []string
	late   bool // it begins at the late step
}{
	{"orders", 6, []string{"--strategy", "breadth-first", "--faults", "none"}, false},
	{"copies", 1, []string{"--strategy", "breadth-first", "--faults", "none", "--copies"}, false},
	{"faults", 2, []string{"--strategy", "breadth-first", "--faults", auditedFaults}, true},
	{"walks", 1, []string{"--strategy", "walks", "--faults", auditedFaults}, false},
}

// audit is what came of executing transitions again.
type audit struct {
	harness.Coverage
	faults map[string]int // that were taken, by kind
	bugs   []string       // what the reports say of mismatches
}

func (a *audit) String() string {
	return fmt.Sprintf("%d transitions executed (%d unreplayable, %d states not frozen), nodes went back %d times (%d in place), %d executed again: %d different, %d not comparable; faults taken: %v",
		a.Executed, a.Unreplayable, a.Unfrozen, a.Thaws, a.InPlace, a.Audited, a.Mismatches, a.Incomparable, a.faults)
}

// add enters what a search has audited.
func (a *audit) add(r *harness.Run) {
	a.Executed += r.Coverage.Executed
	a.Unreplayable += r.Coverage.Unreplayable
	a.Unfrozen += r.Coverage.Unfrozen
	a.Thaws += r.Coverage.Thaws
	a.InPlace += r.Coverage.InPlace
	a.Audited += r.Coverage.Audited
	a.Incomparable += r.Coverage.Incomparable
	a.Mismatches += r.Coverage.Mismatches
	a.bugs = append(a.bugs, r.Bugs...)
	for _, f := range r.Coverage.Faults {
		a.faults[f.Kind] += f.Taken
	}
}

// measureAudits executes transitions of each system a second time.
func (b *bench) measureAudits() error {
	var failed []error
	for _, s := range audited {
		if !b.fetch(s.spec) {
			continue
		}
		a, err := auditSystem(b.ctx, b.ariadne, s.spec, filepath.Join(b.dir, "audit"), s.late, b.audit, b.budget)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Printf("%s: %v\n", s.name, a)
		for _, bug := range a.bugs {
			fmt.Printf("  %s\n", bug)
		}
		for name, n := range map[string]int{"executed": a.Executed, "unreplayable": a.Unreplayable,
			"unfrozen": a.Unfrozen, "in_place": a.InPlace,
			"again": a.Audited, "incomparable": a.Incomparable, "mismatches": a.Mismatches} {
			b.keep("audit."+s.name+"."+name, "", []float64{float64(n)})
		}
	}
	return errors.Join(failed...)
}

// emptyRuns is how many searches in a row may end before they have executed a transition twice.
const emptyRuns = 3

// auditSystem executes so many transitions of a system twice, in all searches together. Each search
// takes one seed after the other, for a time each. Faults begin at the step late.
func auditSystem(ctx context.Context, ariadne *harness.Ariadne, spec, out string, late, transitions int,
	each time.Duration) (*audit, error) {
	sum := &audit{faults: map[string]int{}}
	for _, s := range auditSearches {
		flags := s.flags
		if s.late {
			flags = append(flags[:len(flags):len(flags)], "--from", strconv.Itoa(late))
		}
		done, empty := 0, 0
		for seed := 0; done < transitions*s.tenths/10; seed++ {
			r, err := ariadne.Cold(ctx, out, "check", spec, append(flags[:len(flags):len(flags)],
				"--seed", strconv.Itoa(seed), "--audit", "1", "--time", each.String(), "--jobs", "1",
				"--memory", "1G", "--keep-going")...)
			if err != nil {
				return nil, err
			}
			if r.Coverage == nil {
				return nil, fmt.Errorf("%s: search %s: no coverage: %s", spec, s.name, r.Outcome)
			}
			now := r.Coverage.Audited - r.Coverage.Incomparable
			if empty++; now > 0 {
				empty = 0
			}
			if empty == emptyRuns {
				return nil, fmt.Errorf("%s: search %s: %d times no transition was compared in %v: give it more time (-budget)",
					spec, s.name, empty, each)
			}
			done += now
			sum.add(r)
		}
	}
	return sum, nil
}
