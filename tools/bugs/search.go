package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// outcome is what came of one search.
type outcome struct {
	Spec       string
	Seed       int
	Budget     time.Duration
	Found      bool   // the documented violation
	Wrong      string // what else came of it: another violation, "inconclusive", ...
	RealTime   time.Duration
	Executions int
	Executed   int      // transitions made by living nodes
	Exhausted  bool     // everything within the bounds was explored
	Faults     []string // of the execution that was found, by kind, in its order
	// Of the execution that one more search has found and shrunk: how large it was and became (the
	// same: none smaller was found), whether the smaller one replays, and the critical transition
	// of what must happen.
	From, To *harness.Size `json:",omitempty"`
	Replays  bool          `json:",omitzero"`
	Critical string        `json:",omitzero"`
	Origin   harness.Origin
}

// Kinds of searches: for a bug with one seed after the other, once more to shrink what is found,
// and beside it.
const (
	seeded  = "seed"
	shrunk  = "shrunk"
	sibling = "sibling"
)

// result is all that is known of a bug.
type result struct {
	bug     *bug
	seeds   []outcome
	sibling *outcome // nil: not searched yet
	shrunk  *outcome // what was found once more, and shrunk; nil: not yet
}

// look searches for a bug with one seed after the other, then beside it for as long as all of
// them took together.
func (o *options) look(b *bug) error {
	if o.fetch {
		for _, spec := range slices.Compact([]string{b.Spec, b.Sibling}) {
			if err := harness.Fetch(o.ctx, o.path(spec)); err != nil {
				return err
			}
		}
	}
	if !o.resume {
		if err := o.forget(b); err != nil {
			return err
		}
	}
	if o.kinds.MatchString(shrunk) {
		if _, err := o.search(b, b.Spec, shrunk, 0, o.budget); err != nil {
			return err
		}
	}
	for seed := 0; seed < o.seeds && o.kinds.MatchString(seeded); seed++ {
		if _, err := o.search(b, b.Spec, seeded, seed, o.budget); err != nil {
			return err
		}
	}
	if !o.kinds.MatchString(sibling) {
		return nil
	}
	all, err := o.load(b)
	if err != nil {
		return err
	}
	var took time.Duration
	for _, s := range all.seeds {
		took += s.RealTime
	}
	_, err = o.search(b, b.Sibling, sibling, 0, min(max(took, o.least), o.budget).Round(time.Second))
	return err
}

// search runs a check and keeps what came of it.
func (o *options) search(b *bug, spec, kind string, seed int, budget time.Duration) (*outcome, error) {
	dir := o.file(b, kind, strconv.Itoa(seed))
	if known, err := harness.Kept[outcome](dir + ".json"); known != nil || err != nil {
		return known, err
	}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return nil, err
	}
	a := harness.Ariadne{Binary: o.ariadne, Limit: budget + 10*time.Minute}
	var shrink time.Duration
	if kind == shrunk {
		shrink = o.shrink
	}
	report, err := a.Cold(o.ctx, dir, "check", o.path(spec), "--strategy", "default", "--seed", strconv.Itoa(seed),
		"--time", budget.String(), "--shrink", shrink.String(), "--until", b.Violation)
	if err != nil {
		return nil, err
	}
	r, err := newOutcome(b, &report.Report)
	if err != nil {
		return nil, err
	}
	r.Spec, r.Seed, r.Budget = spec, seed, budget
	if kind == shrunk && r.Found {
		if err := o.enterShrunk(r, &a, report, b.documented(&report.Report)); err != nil {
			return nil, err
		}
	}
	if r.Origin, err = a.Origin(); err != nil {
		return nil, err
	}
	fmt.Printf("%-44s seed %d  %s\n", spec, seed, r)
	// The run directory is as large as the search was long.
	return r, errors.Join(os.RemoveAll(dir), harness.Keep(dir+".json", r))
}

// enterShrunk enters what came of shrinking the execution that a check has found, and whether the
// smaller one replays.
func (o *options) enterShrunk(r *outcome, a *harness.Ariadne, report *harness.Run, v *harness.Violation) error {
	trace, goal := v.Trace, v.Goal
	r.From = v.Size
	if s := v.Shrunk; s != nil {
		trace, r.To = s.Trace, &s.To
		if s.Goal != nil {
			goal = s.Goal
		}
	}
	if goal != nil && goal.Critical > 0 {
		r.Critical = strings.Join(append([]string{goal.CriticalName}, goal.CriticalLines...), ", ")
	}
	again, err := a.Cold(o.ctx, filepath.Join(report.Out, "again"), "replay", trace)
	if err != nil {
		return err
	}
	r.Replays = again.Outcome == report.Outcome && again.Mismatch == nil && len(again.Violations) == 1 &&
		again.Violations[0].NodeName == v.NodeName
	return nil
}

// file is where a search leaves its files, without an ending.
func (o *options) file(b *bug, kind, seed string) string {
	return filepath.Join(o.work, strings.Join([]string{b.Name, kind, seed}, "_"))
}

// forget removes what is known of a bug, of the kinds of searches that are wanted.
func (o *options) forget(b *bug) error {
	for _, kind := range []string{shrunk, seeded, sibling} {
		if !o.kinds.MatchString(kind) {
			continue
		}
		files, err := filepath.Glob(o.file(b, kind, "*") + ".json")
		for _, f := range files {
			err = errors.Join(err, os.Remove(f))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load reads what is known of a bug.
func (o *options) load(b *bug) (result, error) {
	r := result{bug: b}
	for _, kind := range []string{seeded, sibling, shrunk} {
		files, err := filepath.Glob(o.file(b, kind, "*") + ".json")
		if err != nil {
			return r, err
		}
		for _, f := range files {
			one, err := harness.Kept[outcome](f)
			if err != nil {
				return r, err
			}
			switch kind {
			case seeded:
				r.seeds = append(r.seeds, *one)
			case sibling:
				r.sibling = one
			case shrunk:
				r.shrunk = one
			}
		}
	}
	return r, nil
}

func newOutcome(b *bug, report *harness.Report) (*outcome, error) {
	r := &outcome{RealTime: report.RealTime, Executions: report.Executions}
	if c := report.Coverage; c != nil {
		r.Executed, r.Exhausted = c.Executed, c.Exhausted
	}
	switch {
	case report.Outcome == harness.Violated || report.Outcome == harness.Suspected:
		v := b.documented(report)
		if r.Found = b.violation.MatchString(v.Message); !r.Found {
			r.Wrong = fmt.Sprintf("another violation: %s: %s", v.NodeName, v.Message)
		}
		trace, err := os.Open(v.Trace)
		if err != nil {
			return nil, err
		}
		defer trace.Close()
		r.Faults, err = faults(trace)
		return r, err
	case report.Outcome != harness.Nothing:
		r.Wrong = strings.Join(append(append([]string{report.Outcome.String()}, report.Bugs...), report.Doubts...),
			": ")
	}
	return r, nil
}

// documented is the documented violation among those of a check, else the first one.
func (b *bug) documented(report *harness.Report) *harness.Violation {
	i := slices.IndexFunc(report.Violations, func(v harness.Violation) bool {
		return b.violation.MatchString(v.Message)
	})
	return &report.Violations[max(i, 0)]
}

// faults are the kinds of faults in a trace, as they come: events that are neither a start, an
// arrival, a timer nor a fault's end, and what was varied in a step.
func faults(trace *os.File) (all []string, err error) {
	lines := bufio.NewScanner(trace)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		// number, time, digest, calls, messages, lines, mark, action
		if len(words) < 8 {
			continue
		}
		if _, err := strconv.Atoi(words[0]); err != nil {
			continue
		}
		action := words[7:]
		if kind := action[0]; !slices.Contains([]string{"start", "deliver", "timer", "heal"}, kind) {
			all = append(all, kind)
		}
		if i := slices.Index(action, "with"); i >= 0 && i+1 < len(action) {
			for choice := range strings.SplitSeq(action[i+1], ",") {
				alternative, _, _ := strings.Cut(choice, "@")
				kind, _, _ := strings.Cut(alternative, ":")
				all = append(all, kind)
			}
		}
	}
	return all, lines.Err()
}

func (r *outcome) String() string {
	what := "nothing found"
	switch {
	case r.Found:
		what = "found"
	case r.Wrong != "":
		what = r.Wrong
	}
	if len(r.Faults) > 0 {
		what += " (" + strings.Join(r.Faults, ", ") + ")"
	}
	return fmt.Sprintf("%s in %.1f s, %d executions", what, r.RealTime.Seconds(), r.Executions)
}
