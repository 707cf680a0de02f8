package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// audited are the examples whose transitions are executed twice, by name: C, Go, Go,
// and a JVM.
var audited = []struct{ name, spec string }{
	{"redis", "examples/redis/replication.yaml"},
	{"etcd", "examples/etcd/etcd-3.5.yaml"},
	{"nats", "examples/nats/nats.yaml"},
	{"zookeeper", "examples/zookeeper/zookeeper.yaml"},
}

// audit is what came of executing transitions again.
type audit struct {
	harness.Coverage
	bugs []string // what the reports say of mismatches
}

func (a *audit) String() string {
	return fmt.Sprintf("%d transitions executed (%d unreplayable, %d states not frozen), %d again: %d different, %d not comparable",
		a.Executed, a.Unreplayable, a.Unfrozen, a.Audited, a.Mismatches, a.Incomparable)
}

// measureAudits executes a share of each system's transitions a second time.
func (b *bench) measureAudits() error {
	for _, s := range audited {
		if !b.fetch(s.spec) {
			continue
		}
		a, err := auditSystem(b.ctx, b.ariadne, s.spec, filepath.Join(b.dir, "audit"), b.audit, 0.1, b.budget)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", s.name, a)
		for _, bug := range a.bugs {
			fmt.Printf("  %s\n", bug)
		}
		for name, n := range map[string]int{"executed": a.Executed, "unreplayable": a.Unreplayable,
			"unfrozen": a.Unfrozen,
			"again":    a.Audited, "incomparable": a.Incomparable, "mismatches": a.Mismatches} {
			b.keep("audit."+s.name+"."+name, "", []float64{float64(n)})
		}
	}
	return nil
}

// auditSystem executes at least so many transitions of a system, and a share of them
// twice. One seed after the other is searched for a time.
func auditSystem(ctx context.Context, ariadne *harness.Ariadne, spec, out string, transitions int, share float64,
	each time.Duration) (*audit, error) {
	var sum audit
	for seed := 0; sum.Executed < transitions; seed++ {
		r, err := ariadne.Cold(ctx, out, "check", spec, "--strategy", "default", "--seed", fmt.Sprint(seed), "--audit",
			fmt.Sprint(share),
			"--time", each.String(), "--keep-going")
		if err != nil {
			return nil, err
		}
		if r.Coverage == nil || r.Coverage.Executed == 0 {
			return nil, fmt.Errorf("%s: nothing was executed: %s", spec, r.Outcome)
		}
		sum.Executed += r.Coverage.Executed
		sum.Unreplayable += r.Coverage.Unreplayable
		sum.Unfrozen += r.Coverage.Unfrozen
		sum.Audited += r.Coverage.Audited
		sum.Incomparable += r.Coverage.Incomparable
		sum.Mismatches += r.Coverage.Mismatches
		sum.bugs = append(sum.bugs, r.Bugs...)
	}
	return &sum, nil
}
