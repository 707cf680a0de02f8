package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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
	Executed     int      `json:"executed"`
	Unreplayable int      `json:"unreplayable"` // of executed: a thread was preempted
	Unfrozen     int      `json:"unfrozen"`     // states that could not be frozen
	Audited      int      `json:"audited"`
	Incomparable int      `json:"incomparable"` // of audited: after a preemption
	Mismatches   int      `json:"mismatches"`
	bugs         []string // what the report says of them
}

func (a *audit) String() string {
	return fmt.Sprintf("%d transitions executed (%d unreplayable, %d states not frozen), %d again: %d different, %d not comparable",
		a.Executed, a.Unreplayable, a.Unfrozen, a.Audited, a.Mismatches, a.Incomparable)
}

// measureAudits executes a share of each system's transitions a second time.
func (b *bench) measureAudits() error {
	different := 0.0
	for _, s := range audited {
		if !b.fetch(s.spec) {
			continue
		}
		a, err := auditSystem(b.command, b.ariadne, s.spec, b.dir, b.audit, 0.1, b.budget)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", s.name, a)
		for _, bug := range a.bugs {
			fmt.Printf("  %s\n", bug)
		}
		b.keep("audited_transitions."+s.name, "", []float64{float64(a.Audited)})
		different += float64(a.Mismatches)
		b.keep("audit_mismatches", "", []float64{different})
	}
	return nil
}

// auditSystem executes at least so many transitions of a system, and a share of them
// twice. One seed after the other is searched for a time.
func auditSystem(command func(name string, args ...string) *exec.Cmd, ariadne, spec, dir string, transitions int, share float64, each time.Duration) (*audit, error) {
	var sum audit
	for seed := 0; sum.Executed < transitions; seed++ {
		out := filepath.Join(dir, "audit")
		if err := os.RemoveAll(out); err != nil {
			return nil, err
		}
		cmd := command(ariadne, "check", spec, "--strategy", "default", "--seed", fmt.Sprint(seed), "--audit", fmt.Sprint(share),
			"--time", each.String(), "--keep-going", "--json", "--quiet", "--out", out)
		var said, complaints strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &complaints
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return nil, err
		}
		var r struct {
			Coverage *audit   `json:"coverage"`
			Bugs     []string `json:"bugs"`
		}
		if err := json.Unmarshal([]byte(said.String()), &r); err != nil {
			return nil, fmt.Errorf("%s: %w: %s%s", spec, err, said.String(), complaints.String())
		}
		if r.Coverage == nil || r.Coverage.Executed == 0 {
			return nil, fmt.Errorf("%s: nothing was executed: %s", spec, said.String())
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
