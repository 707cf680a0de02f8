package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// result is what a target showed.
type result struct {
	Origin     harness.Origin
	Faults     string
	Wanted     int
	Executions int
	Steps      int
	RealTime   time.Duration
	Ends       map[string]int
	Tried      []harness.Tried
	Violations []harness.Seen
	Doubts     []string // why there is no verdict, and where Ariadne contradicted itself
	// Replays of executions that had faults: how many, how many had the digest of the trace at
	// each step, the first difference, and how many of the executions had faults of which kind.
	Replays, EqualReplays int
	Difference            string
	Replayed              map[string]int
	Audit                 audit
}

// audit is what came of a search with faults of which a tenth was executed again.
type audit struct {
	Wanted, Transitions, Audited, Different int
	Faults                                  map[string]int // that were taken
}

// measure does all that the page says of a target. An error is one of the machine; what goes wrong
// with the target is in the result.
func (o *options) measure(t *target) (*result, error) {
	spec := filepath.Join(filepath.Dir(o.list), t.Spec)
	if o.fetch {
		if err := harness.Fetch(o.ctx, spec); err != nil {
			return nil, err
		}
	}
	r := &result{Faults: t.Faults, Wanted: t.Executions}
	if o.executions > 0 {
		r.Wanted = o.executions
	}
	a := &harness.Ariadne{Binary: o.ariadne, Limit: o.patience}
	var err error
	if r.Origin, err = a.Origin(); err != nil {
		return nil, err
	}
	check := o.random(a, t, spec, r.Faults)
	all, err := check("all", 1, r.Wanted)
	if err != nil {
		return nil, err
	}
	r.Executions, r.Steps, r.RealTime, r.Ends = all.Executions, all.Steps, all.RealTime, all.Ends
	r.Doubts = slices.Concat(all.Doubts, all.Bugs)
	if all.Coverage != nil {
		r.Tried = all.Coverage.Faults
	}
	for _, v := range all.Violations {
		seen, err := a.Replay(o.ctx, filepath.Join(o.dir(t), "again"), v)
		if err != nil {
			return nil, err
		}
		r.Violations = append(r.Violations, seen)
	}
	if err := o.replay(a, r, check); err != nil {
		return nil, err
	}
	return r, o.auditOf(a, t, spec, r)
}

// random makes random executions with faults, from a number on, in a directory of the target's.
func (o *options) random(a *harness.Ariadne, t *target, spec, faults string) func(out string, first,
	executions int) (*harness.Run, error) {
	return func(out string, first, executions int) (*harness.Run, error) {
		return a.Cold(o.ctx, filepath.Join(o.dir(t), out), "check", spec, "--strategy", "random", "--keep-going",
			"--faults", faults, "--first", strconv.Itoa(first), "--executions", strconv.Itoa(executions))
	}
}

// auditPaths is how many random paths are taken before it is looked at how many transitions they
// had.
const auditPaths = 5

// auditOf executes a tenth of the transitions of random paths again, until there were as many as
// wanted.
func (o *options) auditOf(a *harness.Ariadne, t *target, spec string, r *result) error {
	r.Audit = audit{Wanted: o.audit, Faults: map[string]int{}}
	for seed := 1; r.Audit.Transitions < o.audit; seed++ {
		run, err := a.Cold(o.ctx, filepath.Join(o.dir(t), "audit"), "check", spec, "--strategy", "walks",
			"--keep-going", "--audit", "0.1",
			"--faults", r.Faults, "--seed", strconv.Itoa(seed), "--executions", strconv.Itoa(auditPaths))
		if err != nil {
			return err
		}
		c := run.Coverage
		if c == nil || c.Executed == 0 || run.Interrupted {
			return fmt.Errorf("the search with seed %d had no transitions, or was interrupted", seed)
		}
		r.Audit.Transitions += c.Executed
		r.Audit.Audited += c.Audited
		r.Audit.Different += c.Mismatches
		for _, f := range c.Faults {
			r.Audit.Faults[f.Kind] += f.Taken
		}
		r.Doubts = append(r.Doubts, run.Bugs...)
	}
	return nil
}

// replay makes single executions again, in turn, and replays those that have faults: each replay
// compares every step with the trace.
func (o *options) replay(a *harness.Ariadne, r *result,
	check func(out string, first, executions int) (*harness.Run, error)) error {
	r.Replayed = map[string]int{}
	for i := 1; i <= r.Wanted && r.Replays < o.replays; i++ {
		one, err := check("one", i, 1)
		if err != nil {
			return err
		}
		if one.Coverage == nil ||
			!slices.ContainsFunc(one.Coverage.Faults, func(f harness.Tried) bool { return f.Taken > 0 }) {
			continue
		}
		traces, err := one.Traces()
		if err != nil || len(traces) == 0 { // of a violation there are two, of the same execution
			return errors.Join(err, fmt.Errorf("no trace below %s", one.Out))
		}
		again, err := a.Cold(o.ctx, one.Out+"-again", "replay", traces[0])
		if err != nil {
			return err
		}
		r.Replays++
		for _, f := range one.Coverage.Faults {
			r.Replayed[f.Kind] += f.Executions
		}
		switch {
		case again.Mismatch == nil && len(again.Bugs) == 0 && !again.Interrupted:
			r.EqualReplays++
		case r.Difference == "" && again.Mismatch != nil:
			r.Difference = fmt.Sprintf("execution %d: %s", i, again.Mismatch.Message)
		case r.Difference == "":
			r.Difference = fmt.Sprintf("execution %d: %s", i, strings.Join(append(again.Bugs, "interrupted")[:1], ""))
		}
	}
	return nil
}

// dir is where the runs and the result of a target are.
func (o *options) dir(t *target) string {
	name := strings.TrimSuffix(t.Spec, ".yaml")
	if t.Faults != usualFaults {
		name += "-" + t.Faults
	}
	return filepath.Join(o.work, strings.NewReplacer("/", "_", ",", "_", ":", "_").Replace(name))
}

func (o *options) file(t *target) string { return o.dir(t) + ".json" }
