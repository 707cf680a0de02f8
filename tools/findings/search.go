package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"ariadne/tools/harness"
)

// result is what the search of a target showed.
type result struct {
	Origin   harness.Origin
	Whole    bool          // it has had all its time, or there was nothing left to look at
	RealTime time.Duration // of all its parts
	// Executions ended in so many ways, and made so many transitions in this part of the search.
	Executions, Transitions int
	Exhausted               bool
	Ends                    map[string]int
	Tried                   []harness.Tried
	Findings                []finding
	Doubts                  []string // why there is no verdict, and where Ariadne contradicted itself
}

// finding is one kind of violation.
type finding struct {
	Kind, Node, Message string
	Count               int
	Steps               int  // of the execution that was found first
	Again               bool // the replay of its trace has come to it again
}

// search searches a target, or goes on with a search that has not had its time.
func (o *options) search(t *target) (*result, error) {
	spec := filepath.Join(filepath.Dir(o.list), t.Spec)
	if o.fetch {
		if err := harness.Fetch(o.ctx, spec); err != nil {
			return nil, err
		}
	}
	a := &harness.Ariadne{Binary: o.ariadne, Limit: o.patience}
	origin, err := a.Origin()
	if err != nil {
		return nil, err
	}
	before, err := harness.Kept[result](o.file(t))
	if err != nil {
		return nil, err
	}
	var run *harness.Run
	if o.resume && before != nil {
		run, err = a.Run(o.ctx, o.dir(t), "check", spec, append(o.flags(), "--resume")...)
	} else {
		run, err = a.Cold(o.ctx, o.dir(t), "check", spec, o.flags()...)
	}
	if err != nil {
		return nil, err
	}
	r := &result{Origin: origin, Whole: !run.Interrupted && o.ctx.Err() == nil, RealTime: time.Duration(run.RealTime * 1e9), Executions: run.Executions,
		Ends: run.Ends, Doubts: slices.Concat(run.Doubts, run.Bugs)}
	if c := run.Coverage; c != nil {
		r.Transitions, r.Exhausted, r.Tried = c.Executed, c.Exhausted, c.Faults
	}
	for _, v := range run.Violations {
		f := finding{Kind: v.Kind, Node: v.Node, Message: v.Message, Count: v.Count}
		if v.Trace != "" {
			again, err := a.Cold(o.ctx, o.dir(t)+"-again", "replay", v.Trace)
			if err != nil {
				return nil, err
			}
			f.Steps = again.Steps
			f.Again = again.Mismatch == nil && len(again.Bugs) == 0 && slices.ContainsFunc(again.Violations, func(w harness.Violation) bool {
				return w.Kind == v.Kind && w.Node == v.Node && w.Message == v.Message
			})
		}
		r.Findings = append(r.Findings, f)
	}
	return r, nil
}

// String is the result in one line, for the terminal.
func (r *result) String() string {
	if r == nil {
		return "nothing"
	}
	return fmt.Sprintf("%v, %d executions, %d transitions, %d kinds of violations", r.RealTime.Round(time.Second), r.Executions, r.Transitions, len(r.Findings))
}

// good says whether all that a target showed is explained.
func (r *result) good(t *target) bool {
	for _, f := range r.Findings {
		if !f.Again || t.Triage.Of(f.Message) == "" {
			return false
		}
	}
	return r.Whole && len(r.Doubts) == 0
}
